"""From a definition to an SCXML document.

The document is valid SCXML 1.0: structure, events, timers and completions are written in its own words, so that other
engines run them. Attributes of our namespace add what is needed to read the same chart back. What has no words there,
policies and functions without a name, is an error.

Source: SCXML 1.0, sections 3 to 6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from stateward.chart.definition import Action, Activity, Block, Definition, Node, Transition
from stateward.chart.guard import Bound
from stateward.chart.tables import STATE_DONE
from stateward.errors import DefinitionError
from stateward.exchange.condition import write_condition
from stateward.exchange.content import CancelSend, Constant, Inside, Raise, Send
from stateward.exchange.names import ids_of, is_name, unused
from stateward.exchange.registry import Registry
from stateward.exchange.scxml_content import ACTIVITY_TYPE, DATAMODEL, OWN, SCXML
from stateward.exchange.scxml_ids import DO, outward
from stateward.exchange.tag import Tag
from stateward.exchange.written import Descriptors, refuse_policies, timers_of


def write_scxml(
    chart: Definition, *, registry: Registry | None = None, policy: object = None, without_policies: bool = False
) -> str:
    """Return the document that describes a chart; the same chart gives the same text.

    Args:
        chart: The chart.
        registry: Names of functions; what is not in it goes by its own name.
        policy: The policy of the whole chart, if it has one.
        without_policies: Whether to leave policies out, which SCXML cannot say.

    Raises:
        DefinitionError: Something cannot be written: a policy, a function without a name, a name that is no id.
    """
    refuse_policies(chart, policy=policy, without=without_policies)
    return _Writer(chart, registry=Registry.of_chart(chart, registry=registry)).document()


def time_of(seconds: float) -> str:
    """Return a number of seconds as a time, in decimal and exact.

    Args:
        seconds: Seconds, at least 0.

    >>> time_of(1.5), time_of(30.0), time_of(1e-07)
    ('1.5s', '30s', '0.0000001s')
    """
    text = f"{Decimal(repr(seconds)):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "s"


class _Writer:
    """One chart while it is written."""

    def __init__(self, chart: Definition, *, registry: Registry) -> None:
        self._chart = chart
        self._registry = registry
        self._descriptors = Descriptors(chart)
        root = chart.nodes[0]
        remembers = any(chart.nodes[child].kind == "history" for child in root.children)
        self._wrapped = bool(root.transitions or root.entry or root.exit or root.initial_actions or remembers)
        ids = ids_of(chart.nodes)
        self._ids = (unused("chart", taken=ids), *ids[1:]) if self._wrapped else ids
        for node in chart.nodes[1:]:
            if not is_name(self._ids[node.index]):
                raise DefinitionError(
                    f"`{node.name}` cannot be an id", where=node.path, fix="Use letters, digits, `_` and `-`."
                )

    def document(self) -> str:
        chart, root = self._chart, self._chart.nodes[0]
        guards = any(t.guard and not isinstance(t.guard.fn, Inside) for t in chart.transitions)
        computes = guards or any(isinstance(t.delay, Bound) for t in chart.transitions)
        computes = computes or any(node.data and not isinstance(node.data.fn, Constant) for node in chart.nodes)
        typed = " ".join(sorted(name for name, kind in chart.events.items() if kind))
        body = Tag("scxml")
        body.set("xmlns", SCXML).set("xmlns:sw", OWN).set("version", "1.0").set("name", chart.name, empty=True)
        body.set("datamodel", DATAMODEL if computes else "null").set("sw:version", "1").set("sw:events", typed)
        if self._wrapped:
            body.set("initial", self._ids[0])
            body.add(self._wrapper(root), self._end())
        else:
            body.set("initial", self._targets(root.initial))
            body.add(*(self._state(chart.nodes[child]) for child in root.children))
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.text()}'

    # What belongs to the chart as a whole

    def _wrapper(self, root: Node) -> Tag:
        """Return the state that stands for the chart: `<scxml>` itself has no transitions, actions or histories."""
        tag = Tag("state").set("id", self._ids[0]).set("sw:root", "root")
        ended = Tag("transition").set("event", STATE_DONE + self._ids[0]).set("target", self._end_id)
        return self._filled(tag, root, first=[ended.set("sw:root", "end")])

    def _end(self) -> Tag:
        return Tag("final").set("id", self._end_id).set("sw:root", "end")

    @property
    def _end_id(self) -> str:
        return unused("end", taken=self._ids)

    # States

    def _state(self, node: Node) -> Tag:
        id = self._ids[node.index]
        kinds = {"compound": "state", "atomic": "state"}
        tag = Tag(kinds.get(node.kind, node.kind)).set("id", id)
        if id != node.name:
            tag.set("sw:name", node.name)
        if node.kind == "history":
            tag.set("type", "deep" if node.deep else "shallow")
            return tag.add(self._arrow(node.default, node.default_actions, where=node.path))
        return self._filled(tag, node)

    def _filled(self, tag: Tag, node: Node, *, first: Iterable[Tag] = ()) -> Tag:
        if node.kind == "compound" and not node.initial_actions:
            tag.set("initial", self._targets(node.initial))
        elif node.kind == "compound":
            tag.add(Tag("initial").add(self._arrow(node.initial, node.initial_actions, where=node.path)))
        entry, leave = self._generated(node)
        for name, block, generated in (("onentry", node.entry, entry), ("onexit", node.exit, leave)):
            if block:
                tag.add(Tag(name).add(*self._block(block, where=node.path)))
            if generated:
                tag.add(Tag(name).set("sw:generated", "true").add(*generated))
        if node.activity:
            tag.add(self._invoke(node, activity=node.activity))
        if node.data:
            tag.add(Tag("donedata").add(self._content(node.data, where=node.path)))
        timers = timers_of(self._chart, node)
        tag.add(*first, *(self._transition(self._chart.transitions[t], timers=timers) for t in node.transitions))
        return tag.add(*(self._state(self._chart.nodes[child]) for child in node.children))

    def _generated(self, node: Node) -> tuple[list[Tag], list[Tag]]:
        """Return what entering and leaving a state does by itself in a chart, and has to be said in SCXML."""
        entry: list[Tag] = []
        leave: list[Tag] = []
        for timer in self._chart.tables.timers[node.index]:
            event = self._outward(timer.events[0], where=node.path)
            entry.append(self._delayed(Tag("send").set("event", event).set("id", event), timer, where=node.path))
            leave.append(Tag("cancel").set("sendid", event))
        own = STATE_DONE + node.path
        completes = any(own in self._chart.transitions[t].events for t in node.transitions)
        if node.kind == "atomic" and not node.activity and completes:
            entry.append(Tag("raise").set("event", self._outward(own, where=node.path)))
        return entry, leave

    def _delayed(self, tag: Tag, timer: Transition, *, where: str) -> Tag:
        if not isinstance(timer.delay, Bound):
            return tag.set("delay", time_of(timer.delay or 0.0))
        named = self._registry.name_of("delays", timer.delay.fn, where=where)
        return tag.set("delayexpr", named.name).set("sw:params", _json(named.params))

    def _invoke(self, node: Node, *, activity: Activity) -> Tag:
        named = self._registry.name_of("activities", activity.do, where=node.path)
        if named.params:
            raise DefinitionError(
                f"The activity `{named.name}` is a partial function",
                where=node.path,
                fix="Name the whole: `Registry.of(activities={'name': …})`.",
            )
        tag = Tag("invoke").set("type", ACTIVITY_TYPE).set("id", self._ids[node.index] + DO).set("src", named.name)
        tag.set("sw:model", activity.model or "").set("sw:tools", self._tools(activity, where=node.path))
        if isinstance(activity.output, str):
            tag.set("sw:contract", activity.output)
        elif activity.output is not None:
            tag.set("sw:output", self._registry.name_of("outputs", activity.output, where=node.path).name)
        tag.set("sw:asks", "true" if activity.asks else "")
        return tag.set("sw:timeout", "" if activity.timeout_s is None else time_of(activity.timeout_s))

    def _tools(self, activity: Activity, *, where: str) -> str:
        for tool in activity.tools:
            if not tool or re.search(r"\s", tool):
                raise DefinitionError(
                    f"The tool name {tool!r} cannot stand in a list", where=where, fix="Rename it without spaces."
                )
        return " ".join(activity.tools)

    # Transitions

    def _transition(self, transition: Transition, *, timers: frozenset[str]) -> Tag:
        where = self._chart.nodes[transition.source].path or self._chart.name
        tag = Tag("transition")
        raw = transition.events if transition.kind == "completion" else self._descriptors.written(transition)
        tag.set("event", " ".join(self._outward(each, where=where) for each in raw))
        if transition.guard:
            tag.set("cond", self._condition(transition.guard, where=where))
        tag.set("target", self._targets(transition.targets)).set("type", "internal" if transition.internal else "")
        if transition.kind == "completion":
            tag.set("sw:completion", "true")
        elif timers.intersection(transition.events):
            tag.set("sw:after", "true")
        if not tag.attributes:
            raise DefinitionError(
                "A transition without event, guard and target would be taken for ever", where=where, fix="Remove it."
            )
        return tag.add(*self._block(transition.actions, where=where))

    def _arrow(self, targets: tuple[int, ...], actions: Block, *, where: str) -> Tag:
        return Tag("transition").set("target", self._targets(targets)).add(*self._block(actions, where=where))

    def _targets(self, states: tuple[int, ...]) -> str:
        return " ".join(self._ids[state] for state in states)

    def _outward(self, descriptor: str, *, where: str) -> str:
        return outward(descriptor, chart=self._chart, ids=self._ids, where=where or self._chart.name)

    def _condition(self, guard: Bound, *, where: str) -> str:
        return write_condition(
            guard,
            registry=self._registry,
            locate=lambda path: self._ids[self._chart.by_path[path]],
            where=where,
        )

    # Content

    def _block(self, block: Block, *, where: str) -> list[Tag]:
        return [self._action(action, where=where or self._chart.name) for action in block]

    def _action(self, action: Action, *, where: str) -> Tag:
        said = action.fn.fn
        if isinstance(said, Raise):
            return Tag("raise").set("event", self._outward(said.event, where=where))
        if isinstance(said, Send):
            return self._send(said, where=where)
        if isinstance(said, CancelSend):
            return Tag("cancel").set("sendid", said.id)
        named = self._registry.name_of("actions", said, where=where)
        if named.name == "log" and _is_log(named.params):
            log = Tag("log")
            for key, value in named.params.items():
                log.set(key, str(value))
            return log
        return Tag("sw:action").set("name", named.name).set("params", _json(named.params))

    def _send(self, said: Send, *, where: str) -> Tag:
        tag = Tag("send").set("event", self._outward(said.event, where=where)).set("id", said.id)
        if said.after_s:
            tag.set("delay", time_of(said.after_s))
        params = said.data.items()
        return tag.add(*(Tag("param").set("name", name).set("expr", json.dumps(value)) for name, value in params))

    def _content(self, data: Bound, *, where: str) -> Tag:
        if isinstance(data.fn, Constant):
            return Tag("content", inner=json.dumps(data.fn.value))
        named = self._registry.name_of("data", data.fn, where=where)
        return Tag("content").set("expr", named.name).set("sw:params", _json(named.params))


def _is_log(params: Mapping[str, object]) -> bool:
    return set(params) == {"label", "expr"} and all(isinstance(value, str) for value in params.values())


def _json(params: Mapping[str, object]) -> str:
    return json.dumps(params, sort_keys=True) if params else ""
