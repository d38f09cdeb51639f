"""One activation of a state: what its activity sees, and its run with the door, made when somebody asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import get_runtime

from stateward.chart.delay import Timers
from stateward.chart.event import Occurrence
from stateward.run.checkpoint import Control
from stateward.run.commit import Progress
from stateward.run.context import Core, Run, SyncRun
from stateward.run.door.activation import Activation
from stateward.run.door.door import Door
from stateward.run.door.role import ModelRole
from stateward.run.door.signal import Signal
from stateward.run.door.time_left import TimeLeft
from stateward.run.door.tool import ToolResult
from stateward.run.door.working import Working
from stateward.run.events.calls import Calls
from stateward.run.handed import happened
from stateward.run.invocation import Invocation
from stateward.run.plan import Machine, StatePlan
from stateward.run.remembering import remembering
from stateward.run.telling import telling


class Visit:
    """One activation of a state: its activity's run is made when somebody asks for it, which few activities do.

    Args:
        machine: The lowered chart.
        plan: The state.
        invocation: The call of the graph.
        control: The run's control.
        activation: The n-th entry into the state.
        event: What brought the chart there, when that was an event.
        values: What the activity sees.
    """

    __slots__ = ("_run", "activation", "control", "event", "invocation", "machine", "plan", "values")

    def __init__(
        self,
        machine: Machine,
        plan: StatePlan,
        invocation: Invocation,
        *,
        control: Control,
        activation: int,
        event: Occurrence | None,
        values: Mapping[str, Any],
    ) -> None:
        self.machine = machine
        self.plan = plan
        self.invocation = invocation
        self.control = control
        self.activation = activation
        self.event = event
        self.values = values
        self._run: Core[Any] | None = None

    @property
    def key(self) -> tuple[int, int]:
        """State and activation."""
        return self.plan.node.index, self.activation

    def run(self) -> Core[Any]:
        """The run, made at the first call."""
        if self._run is None:
            self._run = _make_run(self)
        return self._run

    @property
    def is_used(self) -> bool:
        """Whether the activity asked for its run."""
        return self._run is not None

    @property
    def raised(self) -> Sequence[Occurrence]:
        """What the activity raised so far."""
        return self._run.raised if self._run is not None else ()

    @property
    def timers(self) -> Timers:
        """What the activity scheduled and cancelled so far."""
        return tuple(self._run.timers) if self._run is not None else ()

    @property
    def signal(self) -> Signal | None:
        """Why the activity must end here, or None."""
        return self._run.signal if self._run is not None else None

    def leave(self) -> None:
        """End the run, if somebody asked for it: the activity is over."""
        if self._run is not None:
            self._run.leave()

    def again(self, feedback: str) -> None:
        """Begin another attempt.

        Args:
            feedback: Why the gate sent the last one back.
        """
        run = self.run()
        run.attempt += 1
        run.feedback = feedback
        run.raised.clear()
        run.timers.clear()


def visit(machine: Machine, plan: StatePlan, progress: Progress, invocation: Invocation) -> Visit:
    """Make the visit of the one active state.

    Args:
        machine: The lowered chart.
        plan: The state.
        progress: Where the step stands.
        invocation: The call of the graph.

    Returns:
        The visit, which has not begun.
    """
    return Visit(
        machine,
        plan,
        invocation,
        control=progress.control,
        activation=progress.configuration.activation(plan.node.index),
        event=progress.control.event,
        values=progress.visible(),
    )


def _activation(visit: Visit) -> Activation:
    return Activation(
        session=visit.invocation.session,
        run=visit.control.run,
        branch=visit.control.branch,
        path=visit.plan.node.path,
        number=visit.activation,
        tenant=visit.invocation.tenant,
        container=visit.invocation.container,
    )


def working(visit: Visit) -> Working:
    """Return what measures for how long an activation works.

    Args:
        visit: The activation.
    """
    invocation = visit.invocation
    return Working(
        database=invocation.database,
        activation=_activation(visit),
        effective=visit.plan.effective,
        fence=invocation.fence,
        stopwatch=invocation.traffic.stopwatch,
        script=invocation.script,
    )


def _make_run(visit: Visit) -> Core[Any]:
    plan, invocation = visit.plan, visit.invocation
    path = plan.node.path
    runtime = get_runtime()
    listener = invocation.listener
    writer = telling(runtime.stream_writer if listener is None else listener.says(path), effective=plan.effective)
    time = TimeLeft(invocation.alarm)

    def door() -> Door:
        return Door(
            database=invocation.database,
            activation=_activation(visit),
            effective=plan.effective,
            tools=plan.tools,
            fence=invocation.fence,
            threads=invocation.threads,
            notify=lambda result: None if listener is not None else writer(_as_part(result, path=path)),
            events=None if listener is None else Calls(listener, plan.effective),
            script=invocation.script,
            stragglers=invocation.stragglers,
            traffic=invocation.traffic,
            time=time,
        )

    kind = SyncRun if plan.is_sync else Run
    return kind(
        path=path,
        activation=visit.activation,
        event=happened(visit.event) if visit.event else None,
        context=runtime.context,
        time=time,
        _invocation=invocation,
        _make_door=door,
        _roles=_roles(visit.machine, invocation),
        _declared_role=plan.role,
        _store=remembering(runtime.store, effective=plan.effective),
        _writer=writer,
        _tools=lambda: visit.machine.tools,
        _asks=plan.asks,
    )


def _roles(machine: Machine, invocation: Invocation) -> Mapping[str, ModelRole]:
    """The models by role: the session's own before those of the graph."""
    own = invocation.container.models if invocation.container is not None else None
    return {**machine.roles, **own} if own else machine.roles


def _as_part(result: ToolResult, *, path: str) -> dict[str, Any]:
    """A tool's result as a part of the `custom` stream."""
    return {
        "type": "tool",
        "path": path,
        "call": result.call,
        "name": result.name,
        "status": result.status,
        "value": result.value,
    }
