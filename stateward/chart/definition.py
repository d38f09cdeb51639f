"""The frozen tables a chart is compiled to: stepping, drawing, checking and replay read nothing else.

States and transitions are named by their index. Indexes follow document order and a state's descendants come
right after it, so "is a descendant" is a comparison of two numbers and "everything inside" is a range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from stateward.chart.delay import Cancel
from stateward.chart.event import Event
from stateward.chart.guard import Bound, qualified_name

NodeKind = Literal["compound", "parallel", "atomic", "final", "history"]
"""What a state is.

compound: has states inside, one of which is active.
parallel: has regions inside, all of which are active.
atomic: has nothing inside.
final: entering it completes its parent.
history: a stand-in for the states last active in its parent; never active itself.
"""

TransitionKind = Literal["event", "always", "completion"]
"""What triggers a transition.

event: an occurrence whose name matches one of `events`; with `delay`, the timer that entering its source set.
always: nothing; it is tested whenever the chart has taken a step.
completion: the one completion event of its source, matched by its whole name.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A pure function that runs on entry, on exit or during a transition."""

    fn: Bound
    name: str


Block = tuple[Action, ...]
"""Actions that run in order and stop together if one of them fails."""

Remembered = tuple[tuple[int, ...] | None, ...]
"""What some histories stand for; None for one whose parent was never left."""

Plan = tuple[tuple[int, tuple[Block, ...]], ...]
"""The states to enter, in document order, each with the blocks that run as it is entered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """The work of a state and what it may touch."""

    do: object
    model: str | None
    tools: tuple[str, ...]
    output: object
    timeout_s: float | None
    asks: bool = False
    """Whether it puts questions of its own to people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One state."""

    index: int
    name: str
    path: str
    """Names joined by dots from the top; the root's is empty."""
    kind: NodeKind
    parent: int
    """The index of the state around it; -1 for the root."""
    children: tuple[int, ...] = ()
    """History states included."""
    end: int
    """One past the last descendant."""
    initial: tuple[int, ...] = ()
    """Compound: where a plain entry leads."""
    initial_actions: Block = ()
    deep: bool = False
    """History: whether it remembers every depth."""
    default: tuple[int, ...] = ()
    """History: where it leads before its parent was ever left."""
    default_actions: Block = ()
    entry: tuple[Action, ...] = ()
    exit: tuple[Action, ...] = ()
    transitions: tuple[int, ...] = ()
    """In the order they are tried."""
    activity: Activity | None = None
    policy: object = None
    data: Bound | None = None
    """Final: the function whose value goes with the completion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One arrow."""

    index: int
    source: int
    kind: TransitionKind
    events: tuple[str, ...] = ()
    guard: Bound | None = None
    guard_name: str = ""
    actions: Block = ()
    targets: tuple[int, ...] = ()
    """Empty: it runs its actions and leaves no state."""
    internal: bool = False
    delay: float | Bound | None = None
    """For one of `after`: seconds from the entry of its source, or the function that says them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """One place on a route where something of the author's runs or is announced."""

    state: int
    blocks: tuple[Block, ...]
    active: tuple[int, ...]
    """What is active meanwhile, the state itself included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What taking transitions together comes to, from one set of active states: all that no function has a say in.

    Source: SCXML appendix D, exitStates and enterStates.
    """

    exited: tuple[int, ...]
    """In the order they are left."""
    kept: Mapping[int, tuple[int, ...]]
    """What histories remember of what is left."""
    exits: tuple[Stop, ...]
    """The states left that have exit actions."""
    cancels: tuple[Cancel, ...]
    """Of the timers of the states left."""
    between: tuple[int, ...]
    """What is active when all is left and nothing entered."""
    entered: tuple[int, ...]
    """In the order they are entered."""
    entries: tuple[Stop, ...]
    """The states entered that have entry actions or timers, or whose entry completes something."""
    active: tuple[int, ...]
    """What is active afterwards, in document order."""
    atoms: tuple[int, ...]
    """Of these, the states without states inside."""
    started: tuple[int, ...]
    """The states entered that have an activity, in document order."""
    silent: bool
    """Whether nothing happens on it but leaving and entering; an end of the chart without data is silent, too."""
    final: bool
    """Whether it ends the chart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What `define` works out once from the nodes and transitions, so that a step does not have to."""

    ancestors: tuple[tuple[int, ...], ...]
    """Per state: the states around it, nearest first, the root last."""
    chains: tuple[tuple[int, ...], ...]
    """Per state: the states around it and itself, in document order."""
    atoms: frozenset[int]
    """The states that have no states inside; final ones too."""
    finals: frozenset[int]
    """The final states at the top."""
    histories: tuple[tuple[int, ...], ...]
    """Per state: its history children."""
    triggered: tuple[tuple[Transition, ...], ...]
    """Per state: event and completion transitions of itself and its ancestors, innermost first."""
    always: tuple[tuple[Transition, ...], ...]
    """Per state: the same for eventless transitions."""
    timers: tuple[tuple[Transition, ...], ...]
    """Per state: its own transitions that have a delay."""
    domains: tuple[int | None, ...]
    """Per transition: the state whose inside is left; -1 for nothing; None if history decides."""
    plans: tuple[Plan | None, ...]
    """Per transition: what it enters; None if history decides."""
    start: Plan
    """What is entered at the very beginning."""
    completions: Mapping[str, int]
    """The state that a completion event speaks of."""
    has_always: bool
    has_history: bool
    has_parallel: bool
    has_timers: bool
    arrows: tuple[str, ...]
    """Per transition: `SOURCE -> TARGET`, as histories show it; with event and guard where several lead there."""
    asked: tuple[tuple[int, ...], ...]
    """Per transition: the histories that have a say in what it leaves and enters."""
    routes: dict[tuple[tuple[int, ...], tuple[int, ...], Remembered], Route] = field(
        default_factory=dict[tuple[tuple[int, ...], tuple[int, ...], Remembered], Route], compare=False, repr=False
    )
    """What `route` has worked out: by transitions, active states, and what the histories asked remember."""
    reacting: dict[tuple[str, int], tuple[Transition, ...]] = field(
        default_factory=dict[tuple[str, int], tuple[Transition, ...]], compare=False, repr=False
    )
    """What `selection` has found: by event name and innermost state, the transitions that react, innermost first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A compiled chart. Make it with `build`, or from nodes and transitions with `define`."""

    name: str
    nodes: tuple[Node, ...]
    transitions: tuple[Transition, ...]
    by_path: Mapping[str, int]
    events: Mapping[str, type[Event] | None]
    """Every event some transition names, with its type; None for a bare name."""
    tables: Tables

    def ancestors(self, state: int, *, upto: int = -1) -> tuple[int, ...]:
        """Return the states around one, nearest first, without `upto` and what is around that.

        Source: SCXML appendix D, getProperAncestors.
        """
        around = self.tables.ancestors[state]
        return around[: around.index(upto)] if upto in around else around

    def is_descendant(self, state: int, *, of: int) -> bool:
        """Tell whether a state is properly inside another."""
        return of < state < self.nodes[of].end

    def is_atomic(self, state: int) -> bool:
        """Tell whether a state has no states inside (a final state has none either)."""
        return state in self.tables.atoms

    def node(self, path: str) -> Node:
        """Return the state at a path.

        Raises:
            KeyError: There is no such path.
        """
        return self.nodes[self.by_path[path]]

    def to_json(self) -> dict[str, object]:
        """Return the chart's structure as plain JSON: what a hash of the chart is taken over.

        Policies are left out, for they have a hash of their own. Functions appear by qualified name, so a
        change of a body does not count as another chart.
        """
        return {
            "name": self.name,
            "states": [self._node_json(node) for node in self.nodes],
            "transitions": [self._transition_json(transition) for transition in self.transitions],
            "events": {name: qualified_name(kind) if kind else None for name, kind in sorted(self.events.items())},
        }

    def _paths(self, states: tuple[int, ...]) -> list[str]:
        return [self.nodes[state].path for state in states]

    def _node_json(self, node: Node) -> dict[str, object]:
        return {
            "path": node.path,
            "kind": node.kind,
            "initial": self._paths(node.initial),
            "initial_actions": _names(node.initial_actions),
            "deep": node.deep,
            "default": self._paths(node.default),
            "default_actions": _names(node.default_actions),
            "entry": _names(node.entry),
            "exit": _names(node.exit),
            "activity": _activity_json(node.activity) if node.activity else None,
            "data": node.data.name if node.data else None,
        }

    def _transition_json(self, transition: Transition) -> dict[str, object]:
        delay = transition.delay
        timer = {} if delay is None else {"delay": delay.name if isinstance(delay, Bound) else delay}
        return {
            **timer,
            "source": self.nodes[transition.source].path,
            "kind": transition.kind,
            "events": list(transition.events),
            "guard": transition.guard_name,
            "actions": _names(transition.actions),
            "targets": self._paths(transition.targets),
            "internal": transition.internal,
        }


def _names(actions: Block) -> list[str]:
    return [action.name for action in actions]


def _activity_json(activity: Activity) -> dict[str, object]:
    return {
        "do": qualified_name(activity.do),
        "model": activity.model,
        "tools": list(activity.tools),
        "output": activity.output if isinstance(activity.output, str | None) else qualified_name(activity.output),
        "timeout_s": activity.timeout_s,
        # Only where it says something: a run that was pinned before it could be said goes on.
        **({"asks": True} if activity.asks else {}),
    }
