"""A Hypothesis state machine made of a chart: it walks through the chart at random and looks for what must not happen.

The walk is `Simulation`'s: no activity runs and no model is needed. Events come with data made from their types,
activities end or fail, time passes. What is looked for is an illegal configuration, a completed state without a way
out, a step that does not come to rest, a failure of a guard or action that nobody takes, and a property that breaks.
Hypothesis shrinks what it finds to a shortest sequence, and prints it as calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, cast

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from pydantic import ValidationError

from stateward.chart.definition import Definition, Node
from stateward.chart.event import Event, Occurrence, matches
from stateward.chart.property import Eventually, Safety, state_of
from stateward.errors import DefinitionError
from stateward.machine import Chart
from stateward.run.resume import is_internal
from stateward.simulation import Simulation
from stateward.testing.walk import ChartMachine, Data, Declared

ANYTHING = "anything"
"""The event that stands for all others where a chart reacts to `*`."""
_SAID = "the activity failed, says the walk"


def chart_machine(
    chart: Chart[Any] | Definition,
    *,
    state: Data | st.SearchStrategy[Data] | None = None,
    events: Mapping[str, st.SearchStrategy[Any]] | None = None,
    updates: Mapping[str, st.SearchStrategy[Data]] | None = None,
    properties: Iterable[Declared] = (),
) -> type[ChartMachine]:
    """Make a Hypothesis state machine of a chart; its `TestCase` is a test for pytest and unittest.

    Args:
        chart: The chart.
        state: The data it begins with, or a strategy for it; nothing if None.
        events: Strategies for the data of events, by name. An event that is not in it gets data made from its type, and
            none if it is a bare name. Names that the chart only knows by a prefix or `*` are sent if they are in it.
        updates: Strategies for what activities write, by the path of their state; nothing for others.
        properties: What has to hold of every walk, besides the chart's own `properties`: those of
            `stateward.properties`, or functions of the moments so far. `eventually` is looked at where a walk ends
            because nothing more can happen, and not where an activity's failure ended it.

    Returns:
        The class. `chart_machine(…).TestCase.settings` sets how many walks of how many steps are tried.

    Raises:
        DefinitionError: `events` has a name to which no transition reacts, or `updates` a path without activity.
        UnknownTarget: A property names a state the chart does not have.
    """
    definition = chart.definition if isinstance(chart, Chart) else chart
    own = chart.properties if isinstance(chart, Chart) else ()
    given, written, declared = dict(events or {}), dict(updates or {}), (*own, *properties)
    _refuse_unknown(definition, events=given, updates=written)
    for each in declared:
        _refuse_unknown_state(each, definition)
    begins = state if isinstance(state, st.SearchStrategy) else st.just(cast(Data, state or {}))
    rules: dict[str, object] = {"begin": initialize(state=begins)(ChartMachine.begin)}
    for name in _sendable(definition, given):
        rules[f"send_{_word(name)}"] = _sending(name, definition.events.get(name), given.get(name))
    for node in definition.nodes:
        if node.activity is not None:
            rules[f"end_{_word(node.path)}"] = _ending(node.path, written.get(node.path, st.just({})))
            rules[f"fail_{_word(node.path)}"] = _failing(node)
    rules["wait"] = _waiting()
    rules["nothing_more"] = _resting()
    simulate = chart.simulate if isinstance(chart, Chart) else _simulating(definition)
    constants = {"chart": definition, "properties": declared, "simulate": staticmethod(simulate)}
    return type(f"{_word(definition.name).title()}Machine", (ChartMachine,), {**constants, **rules})


def _refuse_unknown(chart: Definition, *, events: Mapping[str, object], updates: Mapping[str, object]) -> None:
    descriptors = _descriptors(chart)
    for name in events:
        if not any(matches((each,), name=name) for each in descriptors):
            raise DefinitionError(
                f"`events` has `{name}`, to which no transition of the chart reacts",
                where=chart.name,
                fix=f"Its transitions react to: {', '.join(f'`{each}`' for each in descriptors) or 'nothing'}.",
            )
    working = [node.path for node in chart.nodes if node.activity is not None]
    for path in updates:
        if path not in working:
            raise DefinitionError(
                f"`updates` has `{path}`, which is no state with an activity",
                where=chart.name,
                fix=f"States with one: {', '.join(f'`{each}`' for each in working) or 'none'}.",
            )


def _refuse_unknown_state(declared: Declared, chart: Definition) -> None:
    if isinstance(declared, Safety):
        declared.watch(chart)
    elif isinstance(declared, Eventually):
        state_of(declared.state, chart=chart)


def _descriptors(chart: Definition) -> tuple[str, ...]:
    """Return what transitions react to and may come from outside, each once."""
    found = (t.events[0] for t in chart.transitions if t.kind == "event" and t.delay is None)
    return tuple(dict.fromkeys(name for name in found if not is_internal(name)))


def _sendable(chart: Definition, given: Mapping[str, object]) -> tuple[str, ...]:
    names = (ANYTHING if name == "*" else name for name in _descriptors(chart))
    return tuple(dict.fromkeys((*names, *(name for name in given if not is_internal(name)))))


def _word(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _simulating(chart: Definition) -> Callable[[Data], Simulation]:
    return lambda state: Simulation(chart, state=dict(state))


def _sending(name: str, kind: type[Event] | None, given: st.SearchStrategy[Any] | None) -> object:
    if kind is None and given is None:

        def happen(walk: ChartMachine) -> None:
            walk.send(Occurrence(name=name))

        return _rule(happen, f"send_{_word(name)}", when=lambda walk: walk.awaits(name))
    data = given if given is not None else _made(cast("type[Event]", kind))

    def send(walk: ChartMachine, data: Any) -> None:
        typed = data if kind is None or isinstance(data, kind) else kind.model_validate(data)
        walk.send(Occurrence(name=name, data=typed))

    return _rule(send, f"send_{_word(name)}", when=lambda walk: walk.awaits(name), data=data)


@st.composite
def _made(draw: st.DrawFn, kind: type[Event]) -> Event:
    """Make an event of a type from its fields; what its own checks refuse is not tried."""
    needed: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in kind.model_fields.items():
        of = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        (needed if field.is_required() else optional)[name] = st.from_type(cast("type[Any]", of))
    try:
        return kind.model_validate(draw(st.fixed_dictionaries(needed, optional=optional)))
    except ValidationError:
        reject()


def _ending(path: str, update: st.SearchStrategy[Data]) -> object:
    def end(walk: ChartMachine, update: Data) -> None:
        walk.end(path, update)

    return _rule(end, f"end_{_word(path)}", when=lambda walk: path in walk.running, update=update)


def _failing(node: Node) -> object:
    path = node.path
    error: dict[str, object] = {"state": path, "type": "RuntimeError", "message": _SAID}
    events = [Occurrence(name="error.activity", data=error)]
    if node.activity is not None and node.activity.timeout_s is not None:
        events.append(Occurrence(name="timeout", data={"state": path, "timeout_s": node.activity.timeout_s}))
    if node.activity is not None and node.activity.output is not None:
        reason = {"state": path, "attempts": 1, "errors": _SAID, "feedback": _SAID}
        events.append(Occurrence(name="error.contract", data=reason))

    def fail(walk: ChartMachine, event: Occurrence) -> None:
        walk.fail(path, event)

    return _rule(fail, f"fail_{_word(path)}", when=lambda walk: path in walk.running, event=st.sampled_from(events))


def _waiting() -> object:
    def wait(walk: ChartMachine, timer: str) -> None:
        left = walk.simulation.pending[0][0] - walk.simulation.now
        walk.pass_time(left if timer == "is due" else left / 2)

    def when(walk: ChartMachine) -> bool:
        return not walk.is_over and bool(walk.simulation.pending)

    return _rule(wait, "wait", when=when, timer=st.sampled_from(("is due", "is not due yet")))


def _resting() -> object:
    """Hypothesis wants something to do in every state: where the chart has ended or is stuck, this."""

    def rest(walk: ChartMachine) -> None:
        return None

    return _rule(rest, "nothing_more", when=lambda walk: not walk.can_go_on)


def _rule(
    does: Callable[..., None], name: str, *, when: Callable[[ChartMachine], bool], **arguments: st.SearchStrategy[Any]
) -> object:
    """Return a rule in the form Hypothesis wants: named as it is printed, with a parameter for each strategy."""
    does.__name__ = name
    made = cast("Callable[..., Any]", rule)(**arguments)  # its overloads do not know parameters by name
    return precondition(cast("Callable[[Any], bool]", when))(made(does))
