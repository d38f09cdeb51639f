"""The alphabet of a chart: which events can happen where, and who raises them.

Guards, actions and activities are opaque, so every event that the kernel and the shell do not keep for themselves may
come at any time: from outside, from an activity, or from an action. Of their own events it is known who raises them:

| event | possible while |
|---|---|
| `done.activity.X` | the activity of X runs |
| `done.state.X` | the kernel has just made X complete |
| `after.X.n` | X is active |
| `error.activity`, `.update`, `.definition`, `.diverged`, `.interrupt` | an activity runs |
| `error.contract` | an activity with `output` runs |
| `timeout` | an activity with `timeout_s` runs, or one under a policy with `activity_timeout_s` |
| `fuse.turns`, `fuse.tokens`, `fuse.usd`, `fuse.policy` | an activity with a model runs; `fuse.usd`: or with tools |
| `fuse.calls`, `unknown_after_crash` | an activity with tools runs |
| `fuse.runtime_s` | an activity runs, or is about to |
| `ask.expired` | an activity with `asks` runs |
| `error.guard`, `error.action`, `error.delay` | the chart has a guard, an action, a function for a delay |

Which fuses can trip at all is a matter of policies; `Fuses` says so where they are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stateward.chart.definition import Definition, Node, Transition
from stateward.chart.event import matches
from stateward.chart.guard import Bound

ANY = "(any)"
"""Stands for an event that no transition names; only `*` reacts to it."""
OWN = ("done", "after", "error", "fuse", "timeout", "unknown_after_crash")
"""The first tokens of the events that the kernel and the shell keep for themselves."""

FAILURES = ("error.activity", "error.update", "error.definition", "error.diverged", "error.interrupt")
FUSES = ("fuse.turns", "fuse.tokens", "fuse.usd", "fuse.calls", "fuse.runtime_s", "fuse.policy")
KERNEL = ("error.guard", "error.action", "error.delay")
TIMEOUT = "timeout"
EXPIRED = "ask.expired"
KNOWN = (*FAILURES, "error.contract", TIMEOUT, *FUSES, "unknown_after_crash", *KERNEL)
"""Every name under `OWN` that is raised, but for completions and timers."""

Fuses = Mapping[int, frozenset[str]]
"""Per state with an activity: what can trip or surface in it, of `FUSES`, `unknown_after_crash` and `timeout`."""


class Alphabet:
    """What can happen to one chart.

    Args:
        chart: The chart.
        fuses: What can trip where; None to take every fuse for set.
    """

    def __init__(self, chart: Definition, *, fuses: Fuses | None = None) -> None:
        self._chart = chart
        self._fuses = fuses
        self._hears: dict[str, frozenset[int]] = {}
        self._tried = [frozenset(t.index for t in tried if t.kind == "event") for tried in chart.tables.triggered]
        self.outside = tuple(dict.fromkeys(_outside(chart)))
        """Events that anyone may raise."""
        self.raised = tuple(name for name in KERNEL if self._may_fail(name))
        """Events the kernel itself may raise in a step."""
        self._heard: dict[int, tuple[str, ...]] = {}

    def heard(self, atoms: tuple[int, ...], *, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of some names that a transition tried in these states reacts to.

        Args:
            atoms: The active innermost states.
            names: The names.
        """
        return tuple([name for name in names if any(self._reacts(atom, name) for atom in atoms)])

    def heard_outside(self, atom: int) -> tuple[str, ...]:
        """Return the events anyone may raise that are reacted to while an innermost state is active.

        Args:
            atom: The state.
        """
        if atom not in self._heard:
            self._heard[atom] = self.heard((atom,), names=self.outside)
        return self._heard[atom]

    def ends(self, state: int) -> tuple[str, ...]:
        """Return how a state's activity may end badly.

        Args:
            state: The state; it has an activity.
        """
        node = self._chart.nodes[state]
        known = None if self._fuses is None else self._fuses.get(state, frozenset[str]())
        ends = [name for name in _ends(node) if known is None or not _is_fuse(name) or name in known]
        is_limited = known is not None and TIMEOUT in known and TIMEOUT not in ends
        return (*ends, TIMEOUT) if is_limited else tuple(ends)

    def possible(self) -> frozenset[str]:
        """Return every name that can be raised at all, timers and completions left out."""
        ended = [name for node in self._chart.nodes if node.activity for name in self.ends(node.index)]
        return frozenset((*self.outside, *self.raised, *ended))

    def _reacts(self, atom: int, name: str) -> bool:
        if name not in self._hears:
            self._hears[name] = frozenset(
                t.index for t in self._chart.transitions if t.kind == "event" and matches(t.events, name=name)
            )
        return not self._hears[name].isdisjoint(self._tried[atom])

    def _may_fail(self, name: str) -> bool:
        chart = self._chart
        if name == "error.guard":
            return any(t.guard for t in chart.transitions)
        if name == "error.delay":
            return any(isinstance(t.delay, Bound) for t in chart.transitions)
        return any(t.actions for t in chart.transitions) or any(has_actions(node) or node.data for node in chart.nodes)


def has_actions(node: Node) -> bool:
    """Tell whether entering or leaving a state runs an action.

    Args:
        node: The state.
    """
    return bool(node.entry or node.exit or node.initial_actions or node.default_actions)


def is_own(name: str) -> bool:
    """Tell whether an event is the kernel's or the shell's, so that nobody else raises it.

    A kind of error that nobody knows is an author's: an action or activity may raise it.

    Args:
        name: An event's name or descriptor.
    """
    first = name.partition(".")[0]
    if first not in OWN:
        return name == EXPIRED
    return name in OWN or first in ("done", "after") or any(matches((name,), name=known) for known in KNOWN)


def cause_of(transition: Transition) -> str:
    """Say what a transition waits for, for a sentence.

    Args:
        transition: The transition.
    """
    if transition.kind == "completion":
        return "its completion"
    if transition.kind == "always":
        return "nothing"
    return "time" if transition.delay is not None else " or ".join(f"`{event}`" for event in transition.events)


def _outside(chart: Definition) -> Iterator[str]:
    for transition in chart.transitions:
        if transition.kind == "event" and transition.delay is None:
            for event in transition.events:
                if not is_own(event):
                    yield ANY if event == "*" else event


def _ends(node: Node) -> Iterator[str]:
    activity = node.activity
    if activity is None:
        return
    yield from FAILURES
    if activity.output is not None:
        yield "error.contract"
    if activity.timeout_s is not None:
        yield TIMEOUT
    yield "fuse.runtime_s"
    if activity.model:
        yield from ("fuse.turns", "fuse.tokens", "fuse.policy")
    if activity.model or activity.tools:
        yield "fuse.usd"
    if activity.tools:
        yield from ("fuse.calls", "unknown_after_crash")
    if activity.asks:
        yield EXPIRED


def _is_fuse(name: str) -> bool:
    return name in FUSES or name == "unknown_after_crash"
