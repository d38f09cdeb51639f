"""A finding: one thing the analysis says of a chart, with a shortest way that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from stateward.chart.delay import AFTER
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE

Severity = Literal["error", "warning", "note"]
"""How bad a finding is.

error: the chart cannot do what it says, or may do what it must not.
warning: something in it has no effect, or depends on luck.
note: nothing is wrong; the analysis says what it assumed or could not decide.
"""

Rule = Literal[
    "unreachable",
    "dead-end",
    "dead-activity",
    "deadlock",
    "trap",
    "no-end",
    "never-completes",
    "endless",
    "no-default",
    "shadowed",
    "never-taken",
    "never-raised",
    "race",
    "unused-history",
    "unset-history",
    "timing",
    "unbounded-cycle",
    "no-timeout",
    "unapproved",
    "forbidden-tool",
    "not-cleared",
    "repeated-effect",
    "idle-rule",
    "property",
    "undecided",
    "bound",
]
"""What a finding is about; docs/analysis.md tells each with an example.

unreachable: no path from the start enters the state.
dead-end: the chart can enter the state, and nothing ever leads out of it.
dead-activity: a state's activity ends, and nothing follows.
deadlock: the regions of a parallel state can come to stand so that nothing moves any of them.
trap: the chart can come into a circle from which it can no longer end.
no-end: the chart has final states at the top, but none can be reached.
never-completes: a superstate or parallel state has `to`, but can never be complete.
endless: a step can go round in eventless transitions until `fuse.microsteps` ends the run.
no-default: the guards of a state's `to` may all be false, and then the run fails.
shadowed: a transition before it is always taken, or has the same guard.
never-taken: a transition's source is reached, but states inside or beside it always react first.
never-raised: nothing can ever raise the event a transition waits for.
race: two regions react to one event in ways that exclude each other; document order decides.
unused-history: a superstate remembers, but no transition asks.
unset-history: a transition leads to a history that was never yet set when it is taken.
timing: a state key may be written by two regions, and its value depends on who is first.
unbounded-cycle: activities can follow each other in a circle that no fuse bounds.
no-timeout: nothing limits how long an activity takes.
unapproved: a tool needs an approval in one state, and in another it runs without.
forbidden-tool: a state declares a tool that its policies forbid.
not-cleared: a tool or model is not cleared for the data of a state that declares it.
repeated-effect: a tool that must not run twice is called in a state that can be entered again.
idle-rule: a rule of a policy holds for nothing in the chart.
property: a property that the chart declares does not hold.
undecided: a property could be neither proven nor refuted.
bound: the chart has more configurations than were explored; findings come from a coarser graph.
"""

RULES: tuple[str, ...] = get_args(Rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step of a witness: what was taken, what guards were assumed to say, and where the chart stands then."""

    took: str
    """The event as the kernel names it; `start` for the beginning."""
    assumed: tuple[str, ...] = ()
    """Guards by name, `not` before those that are false."""
    at: tuple[str, ...] = ()
    """The innermost active states' paths; empty where the run has failed."""

    def __str__(self) -> str:
        guards = f" [{', '.join(self.assumed)}]" if self.assumed else ""
        return f"{spoken(self.took)}{guards} -> {', '.join(self.at) or 'the run fails'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing the analysis says of a chart."""

    rule: Rule
    severity: Severity
    path: str
    """The state it is about; empty for the chart."""
    message: str
    witness: tuple[Hop, ...] = ()
    """A shortest way that shows it; empty if there is none to show."""

    def to_json(self) -> dict[str, object]:
        """Return the finding as plain JSON."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            "path": self.path,
            "message": self.message,
            "witness": [{"took": hop.took, "assumed": list(hop.assumed), "at": list(hop.at)} for hop in self.witness],
        }


def spoken(event: str) -> str:
    """Return what an event of the kernel's own means, in words; another event is its name.

    Args:
        event: The event's name.
    """
    if event.startswith(ACTIVITY_DONE):
        return f"{event.removeprefix(ACTIVITY_DONE)} ends"
    if event.startswith(STATE_DONE):
        return f"{event.removeprefix(STATE_DONE)} is complete"
    if event.startswith(AFTER):
        path = event.removeprefix(AFTER).rpartition(".")[0]
        return f"time passes in {path}" if path else "time passes"
    return event


def listed(paths: Sequence[str]) -> str:
    """Return names in backticks, joined for a sentence.

    Args:
        paths: The names.
    """
    return ", ".join(f"`{path}`" for path in paths)
