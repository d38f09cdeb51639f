"""From a definition to an XState v5 machine.

What XState says in its own words is written so that XState runs it; under `meta.stateward` stands what is needed to
read the same chart back. What has no words there, or would mean something else, is an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

from stateward.chart.definition import Block, Definition, Node, Transition
from stateward.chart.event import normal
from stateward.chart.guard import Bound
from stateward.errors import DefinitionError
from stateward.exchange.content import Raise, Send
from stateward.exchange.registry import Registry
from stateward.exchange.written import Descriptors, refuse_policies, timers_of
from stateward.exchange.xstate_content import META
from stateward.exchange.xstate_domain import (
    is_inside,
    leaves_source,
    refuse_hidden,
    refuse_skipped,
    returns,
    share,
    shows,
)
from stateward.exchange.xstate_events import FAILED, inward, outward, rank
from stateward.exchange.xstate_words import Words, Written


def write_xstate(
    chart: Definition, *, registry: Registry | None = None, policy: object = None, without_policies: bool = False
) -> dict[str, object]:
    """Return the machine that describes a chart, as plain JSON; the same chart gives the same machine.

    Args:
        chart: The chart.
        registry: Names of functions; what is not in it goes by its own name.
        policy: The policy of the whole chart, if it has one.
        without_policies: Whether to leave policies out, which XState cannot say.

    Raises:
        DefinitionError: Something cannot be written: a policy, a function without a name, a beginning in several
            states, a transition that XState would take otherwise.
    """
    refuse_policies(chart, policy=policy, without=without_policies)
    return _Writer(chart, registry=Registry.of_chart(chart, registry=registry)).machine()


def xstate_text(machine: Mapping[str, object]) -> str:
    """Return a machine as text.

    Args:
        machine: What `write_xstate` returned.
    """
    return json.dumps(machine, indent=2, ensure_ascii=False) + "\n"


class _Writer:
    """One chart while it is written."""

    def __init__(self, chart: Definition, *, registry: Registry) -> None:
        self._chart = chart
        self._nodes = chart.nodes
        self._words = Words(registry, find=self._id, known=_events_of(chart))
        self._known = _events_of(chart)
        self._spelling: dict[str, str] = {}
        self._timed = frozenset(t.source for t in chart.transitions if t.delay is not None)
        descriptors = Descriptors(chart)
        self._raw = [t.events if t.kind == "completion" else descriptors.written(t) for t in chart.transitions]

    def machine(self) -> Written:
        chart, root = self._chart, self._nodes[0]
        if root.entry or root.exit:
            raise DefinitionError(
                "The chart itself has entry or exit actions", where=chart.name, fix="Move them inside."
            )
        if not chart.name:
            raise DefinitionError(
                "The chart has no name", where="the chart", fix="Give it one: it is the machine's id."
            )
        refuse_hidden(chart.nodes, chart.transitions)
        refuse_skipped(chart.nodes, chart.transitions)
        body = self._inside(root)
        own: Written = {"version": 1}
        if typed := sorted(name for name, kind in chart.events.items() if kind):
            own["events"] = typed
        if self._spelling:
            own["spelling"] = dict(sorted(self._spelling.items()))
        return {"id": chart.name, **body, "meta": {META: own}}

    # States

    def _state(self, node: Node) -> Written:
        where = node.path
        if node.kind == "history":
            return self._history(node)
        body: Written = {"type": node.kind} if node.kind in ("parallel", "final") else {}
        own: Written = {}
        if node.entry:
            body["entry"] = self._words.actions(node.entry, where=where)
        if node.exit:
            body["exit"] = self._words.actions(node.exit, where=where)
        if node.activity:
            body["invoke"], said = self._words.activity(node.activity, id=where, where=where)
            own |= {"activity": said} if said else {}
        if node.data:
            self._words.data(node.data, body=body, own=own, where=where)
        body |= self._inside(node, invoke=body.get("invoke"))
        return body | ({"meta": {META: own}} if own else {})

    def _inside(self, node: Node, *, invoke: object = None) -> Written:
        body: Written = {}
        if node.kind == "compound":
            body["initial"] = self._initial(node)
        self._reactions(node, body=body, invoke=invoke)
        if node.children:
            body["states"] = {self._nodes[child].name: self._state(self._nodes[child]) for child in node.children}
        return body

    def _initial(self, node: Node) -> object:
        if len(node.initial) != 1 or self._nodes[node.initial[0]].parent != node.index:
            paths = ", ".join(f"`{self._nodes[state].path}`" for state in node.initial)
            raise DefinitionError(
                f"It begins in {paths}, but in XState `initial` is one state right inside",
                where=node.path or self._chart.name,
                fix="Let each superstate begin in one of its own states.",
            )
        name = self._nodes[node.initial[0]].name
        if not node.initial_actions:
            return name
        return {"target": name, "actions": self._words.actions(node.initial_actions, where=node.path)}

    def _history(self, node: Node) -> Written:
        parent = self._nodes[node.parent]
        body: Written = {"type": "history", "history": "deep" if node.deep else "shallow"}
        regions = tuple(child for child in parent.children if self._nodes[child].kind != "history")
        usual = parent.initial if parent.kind == "compound" else regions
        if node.default == usual and node.default_actions == parent.initial_actions:
            return body
        if node.default_actions or (node.default == parent.initial and parent.initial_actions):
            raise DefinitionError(
                "The default of a history has actions, or others than its parent's beginning",
                where=node.path,
                fix="Move them to the entry of the states it leads to.",
            )
        targets = [self._beyond(target, of=parent) for target in node.default]
        return body | {"target": targets[0] if len(targets) == 1 else targets}

    # Transitions

    def _reactions(self, node: Node, *, body: Written, invoke: object) -> None:
        """Put a state's transitions where XState wants them, and their order where it cannot be seen from there."""
        mine = [self._chart.transitions[index] for index in node.transitions]
        timers = timers_of(self._chart, node)
        self._check_twins(node, mine)
        slots = [self._slots(each, node=node, timers=timers, invoke=invoke) for each in mine]
        self._check_order(node, mine, slots=slots)
        self._check_timers(node, mine, slots=slots)
        order = _read_order(slots)
        marked = order != list(range(len(mine))) or any(len(each) > 1 for each in slots)
        grouped: dict[tuple[str, str], list[Written]] = {}
        for place, (transition, several) in enumerate(zip(mine, slots, strict=True)):
            written = self._transition(transition, own={"at": place} if marked else {})
            for slot in several:
                grouped.setdefault(slot, []).append(written)
        self._mark_completions(mine, slots=slots, grouped=grouped)
        for (part, key), candidates in grouped.items():
            _put(body, part, key, candidates, invoke=invoke)

    def _slots(
        self, transition: Transition, *, node: Node, timers: frozenset[str], invoke: object
    ) -> list[tuple[str, str]]:
        """Return where a transition stands: the key of the state, and the key in that."""
        where = node.path or self._chart.name
        if transition.kind == "always":
            return [("always", "")]
        if transition.kind == "completion":
            return [("always", "") if node.kind == "atomic" and not node.activity else ("done", "")]
        if timers.intersection(transition.events):
            return [("after", self._delay(transition, node=node))]
        if invoke is not None and transition.events == FAILED:
            return [("error", "")]
        return [("on", self._key(raw, where=where)) for raw in self._raw[transition.index]]

    def _key(self, raw: str, *, where: str) -> str:
        key = outward(raw, known=self._known, find=self._id, where=where)
        if inward(key, find=self._path, where=where) != raw:
            self._spelling[key] = raw
        return key

    def _delay(self, transition: Transition, *, node: Node) -> str:
        timer = next(t for t in self._chart.tables.timers[node.index] if t.events == transition.events)
        if isinstance(timer.delay, Bound):
            return self._words.delay(timer.delay, where=node.path or self._chart.name)
        text = f"{Decimal(repr(timer.delay)) * 1000:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text

    def _transition(self, transition: Transition, *, own: Written) -> Written:
        node = self._nodes[transition.source]
        where = node.path or self._chart.name
        inside = bool(transition.targets) and all(
            is_inside(self._nodes, target, of=node.index) for target in transition.targets
        )
        works = inside and node.kind == "compound" and node.index > 0 and node.index not in transition.targets
        back = returns(self._nodes, source=node.index, targets=transition.targets)
        reenter = (inside and node.index > 0 and not (works and transition.internal)) or back
        parallel = shows(self._nodes, transition, reenter=reenter, timed=self._timed)
        if parallel:
            raise DefinitionError(
                f"A transition leaves the parallel state `{parallel.path}` here and would not in XState",
                where=where,
                fix=f"Move what entering and leaving `{parallel.path}` does to a state around it.",
            )
        body: Written = {}
        if transition.targets:
            targets = [self._target(target, source=node) for target in transition.targets]
            body["target"] = targets[0] if len(targets) == 1 else targets
        if transition.guard:
            body["guard"] = self._words.guard(transition.guard, where=where)
        if transition.actions:
            body["actions"] = self._words.actions(transition.actions, where=where)
        if reenter:
            body["reenter"] = True
        said = {**own, **({"internal": True} if transition.internal and not works else {})}
        return body | ({"meta": {META: said}} if said else {})

    def _mark_completions(
        self,
        mine: Sequence[Transition],
        *,
        slots: Sequence[Sequence[tuple[str, str]]],
        grouped: Mapping[tuple[str, str], list[Written]],
    ) -> None:
        """Say what is a completion where it cannot be seen: `always`, and an `onDone` that may lead nowhere."""
        done = grouped.get(("done", ""), [])
        if done and "guard" in done[-1]:
            _mark(done[-1], "completion")
        places: dict[tuple[str, str], int] = {}
        for transition, several in zip(mine, slots, strict=True):
            for slot in several:
                place = places[slot] = places.get(slot, -1) + 1
                if slot == ("always", "") and transition.kind == "completion":
                    _mark(grouped[slot][place], "completion")

    # What XState would do otherwise

    def _check_order(
        self, node: Node, mine: Sequence[Transition], *, slots: Sequence[Sequence[tuple[str, str]]]
    ) -> None:
        """Check that XState, which prefers the narrower of two descriptors, tries them in the order they stand."""
        reacting = [(t, key) for t, several in zip(mine, slots, strict=True) for part, key in several if part == "on"]
        timers = [(t, key) for t, several in zip(mine, slots, strict=True) for part, key in several if part == "after"]
        for place, (first, key) in enumerate(reacting):
            behind = [*reacting[place + 1 :], *((t, "") for t, _ in timers if t.index > first.index)]
            for second, other in behind:
                if key != other and rank(key) > rank(other) and share(first, other=second):
                    raise DefinitionError(
                        f"`{key}` stands before `{other or second.events[0]}`, which XState would try first",
                        where=node.path or self._chart.name,
                        fix="Put the narrower event first.",
                    )

    def _check_twins(self, node: Node, mine: Sequence[Transition]) -> None:
        """Check that a completion is not reacted to twice: XState keeps one of `onDone` and its event in `on`."""
        completions = {t.events for t in mine if t.kind == "completion"}
        if any(t.events in completions for t in mine if t.kind == "event"):
            raise DefinitionError(
                "It has `to`, and `on` for the same completion, of which XState keeps one",
                where=node.path,
                fix="Put both into `to`.",
            )

    def _check_timers(
        self, node: Node, mine: Sequence[Transition], *, slots: Sequence[Sequence[tuple[str, str]]]
    ) -> None:
        """Check that timers with the same delay can be one, for XState sets one for them."""
        last: dict[tuple[str, str], Transition] = {}
        for transition, (slot, *_) in zip(mine, slots, strict=True):
            before = last.get(slot) if slot[0] == "after" else None
            if before is not None and before.events != transition.events and not self._is_one(before):
                raise DefinitionError(
                    f"Two timers of one delay, {slot[1]}, which XState would make one that does something else",
                    where=node.path or self._chart.name,
                    fix="Give them different delays, or let the first lead to another state.",
                )
            last[slot] = transition

    def _is_one(self, transition: Transition) -> bool:
        """Tell whether a timer may be one with the next: it leaves the state, or nobody takes its event."""
        chain = (transition.source, *self._chart.tables.ancestors[transition.source])
        around = (self._chart.transitions[t] for state in chain for t in self._nodes[state].transitions)
        if any("*" in each.events for each in around):
            return False
        inside = all(is_inside(self._nodes, target, of=transition.source) for target in transition.targets)
        reenter = inside and not (transition.internal and transition.source not in transition.targets)
        return leaves_source(
            self._nodes, source=transition.source, targets=transition.targets, reenter=reenter and transition.source > 0
        )

    # Names

    def _id(self, kind: str, path: str) -> str:
        if path not in self._chart.by_path:
            raise DefinitionError(
                f"An event speaks of the completion of `{path}`, which is no state", where=path, fix="Correct its path."
            )
        return path if kind == "actor" else f"{self._chart.name}.{path}"

    def _path(self, kind: str, id: str) -> str:
        return id if kind == "actor" else id.removeprefix(f"{self._chart.name}.")

    def _target(self, target: int, *, source: Node) -> str:
        around = self._nodes[max(source.parent, 0)]
        if source.index < target < source.end:
            return f".{self._beyond(target, of=source)}"
        if source.index == target or around.index < target < around.end:
            return self._beyond(target, of=around)
        id = self._chart.name.replace("\\", "\\\\").replace(".", "\\.")
        return f"#{id}.{self._nodes[target].path}"

    def _beyond(self, state: int, *, of: Node) -> str:
        path = self._nodes[state].path
        return path.removeprefix(f"{of.path}.") if of.path else path


def _events_of(chart: Definition) -> frozenset[str]:
    names = {normal(name) for name in chart.events}
    blocks: list[Block] = [t.actions for t in chart.transitions]
    for node in chart.nodes:
        blocks += [node.entry, node.exit, node.initial_actions, node.default_actions]
    said = (action.fn.fn for block in blocks for action in block)
    return frozenset(names | {each.event for each in said if isinstance(each, Raise | Send)})


def _read_order(slots: Sequence[Sequence[tuple[str, str]]]) -> list[int]:
    """Return the places of transitions in the order in which they are read back."""
    parts = ("done", "on", "error", "after", "wide", "always")
    keys: dict[tuple[str, str], int] = {}
    for several in slots:
        for slot in several:
            keys.setdefault(slot, len(keys))
    firsts = [several[0] for several in slots]
    return sorted(
        range(len(slots)),
        key=lambda n: (
            parts.index("wide" if firsts[n][0] == "on" and firsts[n][1].endswith("*") else firsts[n][0]),
            rank(firsts[n][1]) if firsts[n][0] == "on" else (False, 0),
            keys[firsts[n]],
            n,
        ),
    )


def _put(body: Written, part: str, key: str, candidates: list[Written], *, invoke: object) -> None:
    """Put the candidates of one trigger into a state, as shortly as XState allows."""
    only = candidates[0]
    value: object = candidates if len(candidates) > 1 else only
    if len(candidates) == 1 and set(only) == {"target"} and isinstance(only["target"], str):
        value = only["target"]
    if part in ("done", "error") and isinstance(invoke, dict):
        invoke["onDone" if part == "done" else "onError"] = value
    elif part == "done":
        body["onDone"] = value
    elif part == "always":
        body["always"] = value
    else:
        group = body.setdefault(part, {})
        assert isinstance(group, dict)
        group[key] = value


def _mark(written: Written, name: str) -> None:
    meta = written.setdefault("meta", {META: {}})
    assert isinstance(meta, dict)
    meta[META] = {**meta[META], name: True}
