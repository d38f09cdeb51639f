"""The tests that are not passed, each with its reason: nothing is skipped that does not stand here.

A run fails if a test that stands here passes, or comes to another verdict or for another cause than here, and if one
that does not stand here does not pass.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tests.conformance.runner import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Known:
    """Why a test is not passed."""

    verdict: Verdict
    shows: str
    """What the outcome says, so that it does not hide another cause."""
    reason: str


_HTTP = Known(
    "unsupported", "the HTTP processor", "it sends to the Basic HTTP event processor, which is optional and not built"
)
_MANUAL = "a manual test whose log a person is to compare; it expects a state `pass` that the document does not have"

KNOWN: Mapping[str, Known] = {
    "npm/error/error": Known(
        "failed",
        "after e1: ['fail']",
        "it wants a script engine's error objects, with the line and column of the element that failed",
    ),
    "npm/w3c-ecma/test201": _HTTP,
    "npm/w3c-ecma/test230": Known("failed", "after the start: ['s01'], expected ['pass']", _MANUAL),
    "npm/w3c-ecma/test250": Known("failed", "after the start: ['s0'], expected ['pass']", _MANUAL),
    "npm/w3c-ecma/test307": Known("failed", "after the start: ['final'], expected ['pass']", _MANUAL),
    "sdist/mandatory/test240": Known(
        "failed",
        "it ended in ['fail']",
        "its second inner document is illegal: a transition leads to `subFinal1`, which it does not have",
    ),
    "sdist/mandatory/test352": Known(
        "failed",
        "it ended in ['fail']",
        "it wants `scxml` as origintype; SCXML C.1 and the suite's own test198 want the processor's URI",
    ),
    "sdist/optional/test452": Known(
        "unsupported", "FunctionDef in a Python script", "its script defines a function with a class inside"
    ),
    **{f"sdist/optional/test{n}": _HTTP for n in (201, 509, 510, 518, 519, 520, 522, 531, 532, 534, 567, 577)},
}
"""By name of the test, for every way."""


def differences(outcomes: Sequence[Outcome], *, whole: Collection[str] = ()) -> list[str]:
    """Return what is not as the list says, one line each.

    Args:
        outcomes: What became of the tests.
        whole: The suites all tests of which were run, so that one on the list that did not occur is a mistake.
    """
    found = [line for outcome in outcomes if (line := _difference(outcome))]
    names = {outcome.case.name for outcome in outcomes}
    absent = [name for name in KNOWN if name.split("/")[0] in whole and name not in names]
    return found + [f"{name} is on the list, but its suite does not have it" for name in absent]


def _difference(outcome: Outcome) -> str:
    known = KNOWN.get(outcome.case.name)
    expected = known.verdict if known else "passed"
    if outcome.verdict == expected and (known is None or known.shows in outcome.reason):
        return ""
    listed = f"the list says {expected}: {known.shows}" if known else "it is not on the list"
    return f"{outcome.case.name} ({outcome.way}): {outcome.verdict}, but {listed}. {outcome.reason[:300]}".rstrip()
