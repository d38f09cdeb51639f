"""The straight way through a state: a sync activity returns an update, and the chart moves on.

Most steps of most charts are of this kind. Nothing is asked of a person, no gate looks at the output, nothing comes
from outside, and the kernel's step is the shortest one (`chart/shortcut.py`). Then the command is made here, without a
generator of work, and with what was worked out once for each move. Whatever turns out to be otherwise goes the long way
in `node`, on which the same step comes to the same command; see docs/design/lowering.md, "What a step costs".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from langgraph.graph import END
from langgraph.types import Command

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Route, Transition
from stateward.chart.route import MOST_ROUTES
from stateward.chart.shortcut import Move, move, moved, plain
from stateward.chart.step import PlainData, start
from stateward.run.activity import Ended, Visit, attempts
from stateward.run.checkpoint import CHANNEL, Control, Json, decode, history_delta
from stateward.run.current import within
from stateward.run.data import ViewData
from stateward.run.door.signal import Suspend
from stateward.run.drive import drive_sync
from stateward.run.handed import value_of
from stateward.run.invocation import Invocation
from stateward.run.node import Values, begin, landing
from stateward.run.plan import Machine, StatePlan
from stateward.run.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trail:
    """What of a move's command is the same every time."""

    way: Route
    at: tuple[str, ...]
    entered: tuple[tuple[int, str], ...]
    """The states entered, with their paths."""
    taken: str
    """How `history` shows the transition."""
    goto: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What entering the chart does, where no function has a say in it."""

    configuration: Configuration
    entered: tuple[tuple[int, str], ...]


class Straight:
    """The straight way of one state.

    Args:
        machine: The lowered chart.
        plan: The state.
        starts: Whether every run starts in it, with nothing to do on the way.
    """

    def __init__(self, machine: Machine, plan: StatePlan, *, starts: bool) -> None:
        self._machine = machine
        self._plan = plan
        self._start = _start(machine) if starts else None
        self._call = cast(Any, plan.bound)
        self._candidates = plain(machine.chart, plan.done.name, state=plan.node.index)
        self._trails: dict[tuple[int, int], _Trail] = {}

    def __call__(self, values: Values, invocation: Invocation) -> Command[Any] | None:
        """Run the state, if nothing said beforehand that it is of another kind.

        Args:
            values: The state's values, with the control channel.
            invocation: The call of the graph.

        Returns:
            LangGraph's command; None if nothing was done.
        """
        raw: Mapping[str, Any] = values.get(CHANNEL) or {}
        if raw.get("timers") or raw.get("asks"):
            return None
        control, begun = _control(self._machine, raw, invocation), None
        if control is None:
            return None
        if not control.started:
            begun = self._start
            if begun is None:
                return None
            control = Control(configuration=begun.configuration, event=None, raw=raw)
        base = values.copy()
        del base[CHANNEL]
        activation = control.configuration.activation(self._plan.node.index)
        visit = Visit(
            self._machine,
            self._plan,
            invocation,
            control=control,
            activation=activation,
            event=control.event,
            values=base,
        )
        try:
            returned = within(visit.run, self._call, self._machine.schema.present(base), value_of(control.event))
        except BaseException as error:  # noqa: BLE001  # the long way decides what it is
            return self._long(values, invocation, _ended(visit, error=error))
        if visit.is_used or type(returned) is not dict:
            return self._long(values, invocation, _ended(visit, returned=returned))
        command = self._committed(visit, base, cast("Values", returned), begun=begun)
        if command is not None:
            return command
        return self._long(values, invocation, Ended(events=(self._plan.done,), update=cast("Values", returned)))

    def _long(self, values: Values, invocation: Invocation, ended: Ended | Suspend) -> Command[Any]:
        progress = begin(self._machine, values, where=self._plan.node.path, invocation=invocation)
        steps = landing(self._machine, self._plan, values, progress, invocation, ended)
        return drive_sync(steps, bridge=invocation.bridge)

    def _committed(self, visit: Visit, base: Values, update: Values, *, begun: _Start | None) -> Command[Any] | None:
        """Make the commit; None if the step is not of this kind, and nothing has happened then."""
        machine, plan, control, invocation = self._machine, self._plan, visit.control, visit.invocation
        view = View(machine.schema, base, plan.node.path, {}, {}, invocation.serde)
        try:
            view.apply(update)
        except Exception:  # noqa: BLE001  # the long way makes an event of it
            return None
        before = control.configuration
        data = ViewData(chart=machine.chart, view=view, marks=control.marks)
        found = move(machine.chart, before, plan.done, candidates=self._candidates, data=data)
        if found is None or not (found[1].started or found[1].final):
            return None
        transition, way, _ = found
        trail = self._trail(transition, way)
        after = moved(before, way)
        entered = trail.entered if begun is None else (*begun.entered, *trail.entered)
        delta: Json = {"at": [*trail.at], "entries": {path: after.entries[state] for state, path in entered}}
        if way.kept:
            delta |= history_delta(before, after, machine.chart)
        delta["last"] = self._last(visit.activation, found, trail, update)
        if control.event is not None:
            delta["event"] = None
        delta["status"] = trail.status
        invocation.standing = (delta["last"], after)
        writes = {key: written[-1] for key, written in view.writes.items()}
        writes[CHANNEL] = delta
        return Command(update=writes, goto=trail.goto)

    def _last(self, activation: int, found: Move, trail: _Trail, update: Values) -> Json:
        transitions = self._machine.chart.transitions
        return {
            "state": self._plan.node.path,
            "activation": activation,
            "event": self._plan.done.name,
            "taken": [trail.taken],
            "verdicts": [[transitions[verdict.transition].guard_name, verdict.passed] for verdict in found[2]],
            "changed": sorted(update),
        }

    def _trail(self, transition: Transition, way: Route) -> _Trail:
        key = (transition.index, id(way))
        trail = self._trails.get(key)
        if trail is None:
            if len(self._trails) >= MOST_ROUTES:
                self._trails.clear()
            # It keeps the route, so that nothing else can come by its identity.
            trail = self._trails[key] = _trail(self._machine, transition, way)
        return trail


def straight(machine: Machine, plan: StatePlan, *, starts: bool) -> Straight | None:
    """Return the straight way of a state, where there can be one.

    Args:
        machine: The lowered chart.
        plan: The state.
        starts: Whether every run starts in it, with nothing to do on the way.

    Returns:
        None for an activity that is awaited, names `run`, has a gate or a limit in time, and for one whose end is more
        to the chart than a move.
    """
    if not plan.is_sync or plan.takes_run or plan.gate is not None or plan.timeout_s is not None or plan.is_measured:
        return None
    reacts = plain(machine.chart, plan.done.name, state=plan.node.index)
    return Straight(machine, plan, starts=starts) if reacts else None


def _start(machine: Machine) -> _Start:
    step, nodes = start(machine.chart, PlainData({}), limit=machine.microsteps), machine.chart.nodes
    entered = [(state, nodes[state].path) for micro in step.microsteps for state in micro.entered]
    return _Start(configuration=step.configuration, entered=tuple(entered))


def _trail(machine: Machine, transition: Transition, way: Route) -> _Trail:
    nodes = machine.chart.nodes
    return _Trail(
        way=way,
        at=tuple([nodes[state].path for state in way.atoms]),
        entered=tuple([(state, nodes[state].path) for state in way.entered]),
        taken=machine.chart.tables.arrows[transition.index],
        goto=END if way.final else machine.activity_node(way.started[0]),
        status="completed" if way.final else "running",
    )


def _control(machine: Machine, raw: Mapping[str, Any], invocation: Invocation) -> Control | None:
    """Return where the chart stands, from memory if it was this call that led it there; None if no run was started."""
    standing = invocation.standing
    if standing is not None and raw.get("last") is standing[0]:
        return Control(configuration=standing[1], event=None, raw=raw)
    return decode(raw, machine.chart)


def _ended(visit: Visit, *, returned: object = None, error: BaseException | None = None) -> Ended | Suspend:
    """Let the long way say how an activity ended that has been called already."""
    steps = attempts(visit)
    try:
        next(steps)
        if error is not None:
            steps.throw(error)
        steps.send(returned)
    except StopIteration as end:
        return cast(Ended, end.value)
    except Suspend as suspended:
        return suspended
    raise AssertionError("an activity without a gate is called once")  # pragma: no cover
