"""The kernel: what a chart does with events, as a pure function of tables, configuration and data.

It is the algorithm of SCXML's appendix D without its outer loop: the shell owns the world and calls `advance`
with the events to process; the kernel runs them to completion and says what was left, what was entered and
which activities are to be started. There is no clock here, no id, no I/O. Author's functions are called
through `Data`.

Rules that are easy to miss:

- An event is processed, then eventless transitions until none is enabled, then the next event. Events raised
  on the way queue up behind those given.
- States are left innermost and last first, and entered outermost and first first.
- A completion transition fires only while its state is still complete: if the state was left since the
  completion was announced, even if it was entered again, the news is stale. A stale `done.activity` is
  dropped altogether.
- A state that is complete and whose `to` leads nowhere must have been left by the end, or `NoTransition` is
  raised.
- A guard or action that raises becomes the event `error.guard` or `error.action`; the guard counts as false,
  the rest of the block of actions is skipped. A guard is reported once in a step, or it would be so for ever.
- Entering a state sets its `after` timers when its entry actions have run, leaving it cancels them after its exit
  actions. A delay that is no number of seconds becomes `error.delay`, and that timer is not set.
- A step is whole or was not: when it raises, what its actions did to the data is taken back.
- When the chart reaches a final state at the top, it stops there: what is still queued is not processed, but failures
  of actions among it are reported as unhandled.

Known differences from SCXML are listed in docs/design/kernel.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from stateward.chart.configuration import Configuration
from stateward.chart.data import Data, PlainData
from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence
from stateward.chart.macrostep import Macrostep
from stateward.chart.shortcut import shortcut
from stateward.chart.trace import Microstep, Step, Verdict

__all__ = ["Data", "Microstep", "PlainData", "Step", "Verdict", "advance", "enabled", "start"]


def start(chart: Definition, data: Data, *, limit: int = 1000) -> Step:
    """Enter a chart at its beginning and run it until it rests; when it raises, the data has not changed.

    Args:
        chart: The chart.
        data: The data that guards and actions see.
        limit: How many microsteps it may take, at least 1.

    Raises:
        MicrostepLimit: It did not come to rest within `limit` microsteps.
        NoTransition: A completed state's `to` led nowhere.
        StatewardError: Whatever of this kind a guard or action raised.
    """
    run = Macrostep(chart, Configuration(), data=data, limit=limit)
    try:
        run.begin()
        return run.process(())
    except BaseException:
        run.undo()
        raise


def advance(
    chart: Definition,
    configuration: Configuration,
    events: Sequence[Occurrence],
    data: Data,
    *,
    limit: int = 1000,
) -> Step:
    """Process events in order and run the chart until it rests.

    With no events it only tests eventless transitions, which is right after data has changed. When it raises, nothing
    given has changed: what actions did to the data on the way is taken back.

    Args:
        chart: The chart.
        configuration: Where it stands.
        events: What happened, oldest first.
        data: The data that guards and actions see.
        limit: How many microsteps it may take, at least 1.

    Raises:
        MicrostepLimit: It did not come to rest within `limit` microsteps.
        NoTransition: A completed state's `to` led nowhere.
        StatewardError: Whatever of this kind a guard or action raised.
    """
    step = shortcut(chart, configuration, events, data=data)
    if step is not None:
        return step
    run = Macrostep(chart, configuration, data=data, limit=limit)
    try:
        return run.process(events)
    except BaseException:
        run.undo()
        raise


def enabled(chart: Definition, configuration: Configuration) -> tuple[str, ...]:
    """Return the names of events that some active state reacts to, innermost first, each once; no timers."""
    names: dict[str, None] = {}
    for state in configuration.atomic(chart):
        for transition in chart.tables.triggered[state]:
            if transition.kind == "event" and transition.delay is None:
                names.update(dict.fromkeys(transition.events))
    return tuple(names)
