"""The second oracle: a sketched chart as a `StateChart` of python-statemachine, and what it does with events.

Two things of the peer are put right before it is asked, for they would hide everything else; docs/design/oracle.md says
which, and `test_second_oracle` shows each on the peer as it comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from statemachine import State, StateChart
from statemachine.io import create_machine_class_from_definition
from statemachine.orderedset import OrderedSet

from stateward.chart.event import Occurrence
from tests.chart.random_charts import Act, Arrow, Box, Sketch, burn
from tests.chart.sketched import fresh, is_always, spending


class Model:
    """What the peer keeps its state and a sketch's data in."""

    def __init__(self) -> None:
        self.state: Any = None
        self.data = fresh()
        self.left: Counter[str] = Counter()
        """How often each state was left: a completion announced before that is stale."""


class Peer:
    """A sketched chart that python-statemachine runs."""

    def __init__(self, sketch: Sketch, *, mended: bool = True) -> None:
        self._model = Model()
        self._machine = machine_class(sketch, mended=mended)(self._model)

    @property
    def active(self) -> set[str]:
        """The names of the active states."""
        return {state.id for state in self._machine.configuration}

    @property
    def data(self) -> dict[str, Any]:
        """The data."""
        return self._model.data

    @property
    def has_ended(self) -> bool:
        """Whether nothing can happen any more."""
        return self._machine.is_terminated

    def send(self, event: Occurrence) -> None:
        """Let something happen."""
        self._machine.send(flat(event.name))


def flat(name: str) -> str:
    """Return an event's name as the peer knows it: completions name a state alone, not its path."""
    kind, dot, rest = name.partition(".")
    if kind != "done":
        return name
    which, _, path = rest.partition(".")
    return f"{kind}{dot}{which}.{path.rpartition('.')[2]}"


def machine_class(sketch: Sketch, *, mended: bool) -> type[StateChart[Any]]:
    """Return the sketch as a class of the peer's."""
    # What is written at the chart itself stands at every state at the top, after its own.
    states = {box.name: _state(box, sketch, first=box is _first(sketch.root)) for box in sketch.root.inside}
    made = create_machine_class_from_definition(
        "Sketched",
        states,
        validate_disconnected_states=False,
        validate_trap_states=False,
        validate_final_reachability=False,
        catch_errors_as_events=False,
    )
    return _mended(made) if mended else made


def _mended(made: type[StateChart[Any]]) -> type[StateChart[Any]]:
    order: dict[str, int] = {}
    for place, state in enumerate(_in_document_order(list(made.states))):
        state.document_order = order[state.id] = place + 1
    plain = StateChart.configuration

    def configuration(self: StateChart[Any]) -> OrderedSet[State]:
        return OrderedSet(sorted(plain.__get__(self), key=lambda state: order[state.id]))

    made.configuration = property(configuration, plain.__set__)
    return made


def _in_document_order(states: list[State]) -> Iterator[State]:
    for state in states:
        yield state
        yield from _in_document_order(state.states)


def _first(box: Box) -> Box:
    return next((inner for inner in box.inside if inner.name in box.initial), box.inside[0])


def _state(box: Box, sketch: Sketch, *, first: bool) -> dict[str, Any]:
    state: dict[str, Any] = {
        "initial": first,
        "final": box.kind == "final",
        "parallel": box.kind == "parallel",
        "enter": [partial(_perform, act) for act in box.entry],
        "exit": [*(partial(_perform, act) for act in box.exit), partial(_leave, box.name)],
        "on": _reactions(box, sketch),
        "transitions": [_transition(arrow, fuel=True) for arrow in box.arrows if is_always(arrow)],
    }
    if box.kind == "atomic" and box.to and not box.works:
        state["enter"].append(partial(_announce, box.name))
    if box.kind == "final":
        state["enter"].append(_stamp)
    if box.inside:
        straight = len(box.initial) == 1 and box.initial[0] in {inner.name for inner in box.inside}
        start = _first(box) if straight or not box.initial else None
        state["states"] = {
            inner.name: _state(inner, sketch, first=inner is start or box.kind == "parallel") for inner in box.inside
        }
        if box.initial and not straight:
            state["transitions"].insert(0, {"target": " ".join(box.initial), "initial": True})
    if box.history:
        state["history"] = {f"{box.name}_": {"type": box.history, "transitions": _defaults(box)}}
    return state


def _defaults(box: Box) -> list[dict[str, Any]]:
    if box.kind == "parallel":
        return [{"target": inner.name} for inner in box.inside]
    return [{"target": name} for name in box.initial or (box.inside[0].name,)]


def _reactions(box: Box, sketch: Sketch) -> dict[str, list[dict[str, Any]]]:
    done = f"done.{'activity' if box.works else 'state'}.{box.name}"
    reactions: dict[str, list[dict[str, Any]]] = {}
    if box.to:
        reactions[done] = [_transition(arrow, fresh=None if box.works else box) for arrow in box.to]
    number = 0
    path = ".".join(("after", *sketch.paths.get(box.name, ())))
    for arrow in (arrow for arrow in box.arrows if not is_always(arrow)):
        if arrow.after_s is not None:
            reactions[f"{path}.{number}"] = [_transition(arrow, fuel=True)]
            number += 1
        elif arrow.event:
            reactions.setdefault(arrow.event, []).append(_transition(arrow))
    return reactions


def _transition(arrow: Arrow, *, fuel: bool = False, fresh: Box | None = None) -> dict[str, Any]:
    guard = spending(arrow.guard) if fuel else arrow.guard
    conditions = [*([partial(_is_fresh, fresh)] if fresh else []), *([partial(_test, guard)] if guard else [])]
    return {
        "target": " ".join(name.replace("*", "_") for name in arrow.targets) or None,
        "internal": arrow.internal,
        "cond": conditions or None,
        "on": [partial(_perform, act) for act in ((burn,) if fuel else ()) + arrow.do] or None,
    }


def _test(guard: Any, machine: Any) -> bool:
    return guard(machine.model.data)


def _perform(act: Act | Any, machine: Any) -> None:
    returned = act(machine.model.data)
    changed, *raised = returned if isinstance(returned, list) else [returned]
    machine.model.data.update(changed)
    for event in raised:
        machine.raise_(event)


def _leave(name: str, machine: Any) -> None:
    machine.model.left[name] += 1


def _announce(name: str, machine: Any) -> None:
    machine.raise_(f"done.state.{name}", left=dict(machine.model.left))


def _stamp(machine: Any) -> dict[str, Any]:
    """Return what goes with the completion event of the state around: how things stood when it was announced."""
    return {"left": dict(machine.model.left)}


def _is_fresh(box: Box, machine: Any, left: Any = None) -> bool:
    """Tell whether a state is as complete as it was when that was announced: our rule about stale news."""
    active = {state.id for state in machine.configuration}
    return left is not None and left.get(box.name, 0) == machine.model.left[box.name] and _is_complete(box, active)


def _is_complete(box: Box, active: set[str]) -> bool:
    if box.kind == "parallel":
        return all(_is_complete(inner, active) for inner in box.inside)
    return box.kind == "atomic" or any(inner.kind == "final" and inner.name in active for inner in box.inside)
