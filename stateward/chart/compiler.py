"""From the tree an author writes to frozen tables: names resolved, functions bound, mistakes refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from stateward.chart.declared import output_of
from stateward.chart.definition import (
    Action,
    Activity,
    Definition,
    Node,
    NodeKind,
    Transition,
    TransitionKind,
)
from stateward.chart.delay import AFTER, is_delay
from stateward.chart.event import Event, EventLike, event_name_of, normal
from stateward.chart.guard import Bound, Function, bind_all, bind_pure
from stateward.chart.scope import Scope
from stateward.chart.signature import Actions
from stateward.chart.state import AnyState, Final, Parallel, State, Superstate
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE, define
from stateward.chart.transition import After, Choice, Choices, History, On, Reactions, Targets, When
from stateward.chart.written import ROOT, check_written
from stateward.errors import DefinitionError

HISTORY_NAME = "(history)"
"""The last name in the path of a superstate's history state; no author's state can be called so."""

_Any = AnyState[Any]
_Composite = Superstate[Any] | Parallel[Any]


def build(
    name: str,
    children: Sequence[_Any],
    *,
    initial: str | Sequence[str] | None = None,
    on: Reactions[Any] | None = None,
    always: Choices[Any] | None = None,
) -> Definition:
    """Compile a tree of states to a definition.

    Args:
        name: The chart's name.
        children: The top states, in document order.
        initial: Where the chart begins, by name or dotted path, or several of them; the first child if None.
        on: Event transitions that hold in every state, tried last.
        always: Eventless transitions that hold in every state, tried last.

    Raises:
        UnknownTarget: A target or initial state does not exist.
        DefinitionError: Something that cannot stand where it stands, an illegal or duplicate name, a superstate without
            states, a final state as a region, a `History` without history, targets that cannot be active together, two
            event types of one name, a timeout that is not positive, a delay that is negative, or a function that cannot
            be bound.
    """
    top = Superstate(name, *children, initial=initial, on=on, always=always)
    check_written(name, top)
    nodes: list[_Draft] = []
    _lay_out(top, drafts=nodes, parent=-1, path="")
    return _Compiler(name, nodes).definition()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A node without transitions, beside what the author wrote."""

    node: Node
    written: _Any | None


def _lay_out(written: _Any, *, drafts: list[_Draft], parent: int, path: str) -> int:
    """Append a state and everything inside in document order; return its index."""
    where = path or "the chart"
    index = len(drafts)
    node = Node(index=index, name=written.name, path=path, kind=_kind(written), parent=parent, end=index + 1)
    drafts.append(_Draft(node=node, written=written))
    children: list[int] = []
    if isinstance(written, Superstate | Parallel):
        _check_inside(written, where=where)
        if written.history:
            children.append(_lay_out_history(written, drafts=drafts, parent=index, path=path))
        for child in _inside(written):
            inside = f"{path}.{child.name}" if path else child.name
            children.append(_lay_out(child, drafts=drafts, parent=index, path=inside))
    node = replace(_with_functions(node, written=written), children=tuple(children), end=len(drafts))
    drafts[index] = _Draft(node=node, written=written)
    return index


def _lay_out_history(written: _Composite, *, drafts: list[_Draft], parent: int, path: str) -> int:
    index = len(drafts)
    node = Node(
        index=index,
        name=HISTORY_NAME,
        path=f"{path}.{HISTORY_NAME}",
        kind="history",
        parent=parent,
        end=index + 1,
        deep=written.history == "deep",
    )
    drafts.append(_Draft(node=node, written=None))
    return index


def _kind(written: _Any) -> NodeKind:
    if isinstance(written, Superstate):
        return "compound"
    if isinstance(written, Parallel):
        return "parallel"
    return "final" if isinstance(written, Final) else "atomic"


def _inside(written: _Composite) -> Sequence[_Any]:
    return written.children if isinstance(written, Superstate) else written.regions


def _check_inside(written: _Composite, *, where: str) -> None:
    if isinstance(written, Parallel):
        _check_regions(written, where=where)
    seen: set[str] = set()
    for child in _inside(written):
        if child.name in seen:
            raise DefinitionError(f"Two states are named `{child.name}`", where=where, fix="Rename one of them.")
        seen.add(child.name)


def _check_regions(written: Parallel[Any], *, where: str) -> None:
    for region in written.regions:
        if isinstance(cast("object", region), Final):
            raise DefinitionError(
                f"The region `{region.name}` is a `Final`, but a region is complete when something inside it ends",
                where=where,
                fix=f"Make it a `Superstate` that has a `Final` inside: `Superstate({region.name!r}, …, Final(…))`.",
            )


def _with_functions(node: Node, *, written: _Any) -> Node:
    if isinstance(written, Final):
        data = None if written.data is None else bind_pure(written.data, where=node.path)
        return replace(node, entry=_actions(written.entry, where=node.path), data=data)
    return replace(
        node,
        entry=_actions(written.entry, where=node.path),
        exit=_actions(written.exit, where=node.path),
        activity=_activity(written, where=node.path) if isinstance(written, State) else None,
        policy=written.policy,
    )


def _activity(written: State[Any], *, where: str) -> Activity | None:
    if written.do is None:
        said = written.model or written.tools or written.asks
        if said or written.output is not None or written.timeout_s is not None:
            raise DefinitionError(
                "`model`, `tools`, `output`, `timeout_s` and `asks` speak of an activity, but there is no `do`",
                where=where,
                fix="Add `do=`, or drop them.",
            )
        return None
    return Activity(
        do=written.do,
        model=written.model,
        tools=written.tools,
        output=output_of(cast("object", written.do), written.output, where=where),
        timeout_s=written.timeout_s,
        asks=written.asks,
    )


def _actions(fns: Actions[Any], *, where: str) -> tuple[Action, ...]:
    return tuple(Action(fn=bound, name=bound.name) for bound in bind_all(fns, where=where))


class _Compiler:
    """Resolves what the drafts name."""

    def __init__(self, name: str, drafts: Sequence[_Draft]) -> None:
        self.name = name
        self.drafts = drafts
        self.scope = Scope([draft.node for draft in drafts])
        self.transitions: list[Transition] = []
        self.events: dict[str, type[Event] | None] = {}

    def definition(self) -> Definition:
        nodes = [self._node(draft) for draft in self.drafts]
        for node in nodes:
            if node.kind == "history":
                nodes[node.index] = replace(node, default=_default(nodes, nodes[node.parent]))
        return define(self.name, nodes=nodes, transitions=self.transitions, events=self.events)

    def _node(self, draft: _Draft) -> Node:
        node, written = draft.node, draft.written
        if written is None or isinstance(written, Final):
            return node
        if isinstance(written, Superstate):
            node = replace(node, initial=self._initial(node, written=written))
        begin = len(self.transitions)
        self._completions(node, to=written.to)
        timers = 0
        for reaction in written.on:
            if isinstance(reaction, After):
                self._timer(node, after=reaction, number=timers)
                timers += 1
            else:
                self._reaction(node, on=reaction)
        for choice in _choices(written.always):
            self._choice(node, choice=choice, kind="always", events=())
        return replace(node, transitions=tuple(range(begin, len(self.transitions))))

    def _initial(self, node: Node, *, written: Superstate[Any]) -> tuple[int, ...]:
        initial = written.children[0].name if written.initial is None else written.initial
        names = (initial,) if isinstance(initial, str) else initial
        states = tuple(self.scope.inside(name, superstate=node) for name in names)
        self.scope.together(states, where=node.path or "the chart")
        return states

    def _completions(self, node: Node, *, to: Choices[Any] | None) -> None:
        # First in document order: a wildcard in the same state's `on` must not swallow its completion.
        start = ACTIVITY_DONE if node.activity else STATE_DONE
        for choice in _choices(to):
            self._choice(node, choice=choice, kind="completion", events=(start + node.path,))

    def _choice(self, node: Node, *, choice: Choice[Any], kind: TransitionKind, events: tuple[str, ...]) -> None:
        if isinstance(choice, When):
            self._add(
                node,
                kind=kind,
                events=events,
                guard=choice.guard,
                target=choice.target,
                do=choice.do,
                internal=choice.internal,
            )
        else:
            self._add(node, kind=kind, events=events, guard=None, target=choice, do=())

    def _reaction(self, node: Node, *, on: On[Any]) -> None:
        name = normal(self._event(on.event, where=node.path or ROOT))
        self._add(
            node,
            kind="event",
            events=(name,),
            guard=on.guard,
            target=on.target,
            do=on.do,
            internal=on.internal,
        )

    def _timer(self, node: Node, *, after: After[Any], number: int) -> None:
        self._add(
            node,
            kind="event",
            events=(AFTER + (f"{node.path}.{number}" if node.path else str(number)),),
            guard=after.guard,
            target=after.target,
            do=after.do,
            internal=after.internal,
            delay=_delay(after.seconds, where=node.path),
        )

    def _add(
        self,
        node: Node,
        *,
        kind: TransitionKind,
        events: tuple[str, ...],
        guard: Function | None,
        target: Targets | None,
        do: Actions[Any],
        internal: bool = False,
        delay: float | Bound | None = None,
    ) -> None:
        bound = bind_pure(guard, where=node.path) if guard is not None else None
        transition = Transition(
            index=len(self.transitions),
            source=node.index,
            kind=kind,
            events=events,
            guard=bound,
            guard_name=bound.name if bound else "",
            actions=_actions(do, where=node.path),
            targets=() if target is None else self.scope.targets(target, source=node),
            internal=internal,
            delay=delay,
        )
        self.transitions.append(transition)

    def _event(self, event: EventLike, *, where: str) -> str:
        name = event_name_of(event, where=where)
        kind = None if isinstance(event, str) else event
        known = self.events.get(name)
        if known and kind and known is not kind:
            raise DefinitionError(
                f"Two event types are named `{name}`", where=where, fix="Set `event_name` in one of them."
            )
        self.events[name] = kind or known
        return name


def _choices(choices: Choices[Any] | None) -> tuple[Choice[Any], ...]:
    if choices is None:
        return ()
    if isinstance(choices, str | History | When):
        return (choices,)
    return tuple(choices)


def _default(nodes: Sequence[Node], remembering: Node) -> tuple[int, ...]:
    """Return where a history leads before its parent was ever left: where a plain entry of the parent leads."""
    if remembering.kind == "compound":
        return remembering.initial
    return tuple(child for child in remembering.children if nodes[child].kind != "history")


def _delay(seconds: object, *, where: str) -> float | Bound:
    if callable(seconds):
        return bind_pure(seconds, where=where)
    if is_delay(seconds):
        return float(cast("float", seconds))
    raise DefinitionError(
        f"`after` is given {seconds!r} for its seconds",
        where=where or "the chart",
        fix="Give a finite number from 0, or a function of the state that returns one.",
    )
