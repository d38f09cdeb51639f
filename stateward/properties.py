"""What can be stated of a chart, and is then proven by `check` and looked for by `stateward.testing.chart_machine`.

    from stateward.properties import always_before, eventually, never, separate

Give them to `Chart(…, properties=(…))` or to `chart.check(…)`; docs/analysis.md says what each means exactly.
"""

from stateward.chart.property import (
    AlwaysBefore,
    Eventually,
    Never,
    Property,
    Separate,
    always_before,
    eventually,
    never,
    separate,
)

__all__ = [
    "AlwaysBefore",
    "Eventually",
    "Never",
    "Property",
    "Separate",
    "always_before",
    "eventually",
    "never",
    "separate",
]
