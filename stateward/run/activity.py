"""One activity while it runs: it is called with its `Run`, called again when its output does not pass the gate, and
comes to an end that the chart is told.

A newcomer who follows a tool call starts here: `attempts` calls the activity, `Visit.run` makes its way to the door.
Nothing is committed here: `node` (one region) and `hub` (several) do that, each with the values of the moment.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime

from stateward.chart.delay import Timers
from stateward.chart.event import Occurrence
from stateward.errors import CheckpointError, ContractFailed, DefinitionError, Diverged, UpdateRefused
from stateward.govern.gate import Failed, check
from stateward.run.checkpoint import Control
from stateward.run.commit import Progress
from stateward.run.context import Core, Run, SyncRun, awithin, within
from stateward.run.deadline import Late, apart, in_time, is_cancelled, own_cancellation
from stateward.run.door.activation import Activation
from stateward.run.door.door import Door
from stateward.run.door.role import ModelRole
from stateward.run.door.signal import Signal, Suspend, Trip
from stateward.run.door.straggler import in_thread
from stateward.run.door.told import told
from stateward.run.door.tool import ToolResult
from stateward.run.drive import Steps, Work
from stateward.run.handed import happened, value_of
from stateward.run.inner import Told
from stateward.run.invocation import Invocation
from stateward.run.plan import Machine, StatePlan
from stateward.run.update import as_update

_KINDS = {UpdateRefused: "update", Diverged: "diverged", DefinitionError: "definition", ContractFailed: "contract"}
"""Which error event an exception of an activity becomes; any other is `error.activity`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An activity came to its end, well or badly: the events the chart gets, and what it wanted to commit."""

    events: tuple[Occurrence, ...]
    """What it raised, and then how it ended."""
    update: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it returned, past its gate; whether it fits the state is found out when it is taken."""
    earlier: Sequence[Mapping[str, Any]] = ()
    """Of a graph: updates of keys with a reducer that came before the last."""
    timers: Timers = ()
    """What it scheduled and cancelled."""
    failure: Exception | None = None
    ask: Suspend | None = None
    """Who is asked, when the chart does not react to the event."""


class _TimedOut(TimeoutError):
    """The state's own limit ran out; a timeout that the activity raises itself is one of its errors."""


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


def attempts(visit: Visit) -> Steps[Ended]:
    """Call the activity, and again with feedback while the gate sends its output back.

    Args:
        visit: Whose activity.

    Returns:
        A generator of work that returns how it ended.

    Raises:
        Suspend: A call needs a person.
        CheckpointError: The session was taken over, or the database failed.
    """
    plan = visit.plan
    retries = plan.gate.retries if plan.gate else 0
    errors: object = None
    for _ in range(retries + 1):
        try:
            came = _told((yield from _called(visit)), where=plan.node.path)
            verdict = _gated(plan, came)
            if not isinstance(verdict, Failed):
                done = (*visit.raised, plan.done)
                return Ended(events=done, update=verdict, earlier=came.earlier, timers=visit.timers)
        except CheckpointError:
            raise
        except Trip as tripped:
            asks = Suspend([tripped.ask]) if tripped.ask else None
            return Ended(events=(*visit.raised, tripped.event), timers=visit.timers, ask=asks)
        except Exception as error:  # noqa: BLE001  # it becomes an event of the chart, and the run's reason
            return Ended(events=(*visit.raised, _error(plan, error)), timers=visit.timers, failure=error)
        visit.again(verdict.feedback)
        errors = verdict.errors
    reason = {"state": plan.node.path, "attempts": retries + 1, "errors": errors, "feedback": visit.run().feedback}
    return Ended(events=(Occurrence(name="error.contract", data=reason),))


def failed(plan: StatePlan, error: Exception) -> Ended:
    """Return the end of an activity that failed and has nothing to commit.

    Args:
        plan: Whose activity.
        error: What it failed with.
    """
    return Ended(events=(_error(plan, error),), failure=error)


def applied(plan: StatePlan, progress: Progress, ended: Ended) -> Ended:
    """Take an activity's update in.

    Args:
        plan: The state.
        progress: Where the step stands; the update goes into its view.
        ended: How the activity ended.

    Returns:
        The same; with the event `error.update` in the place of its completion when the update does not fit.
    """
    progress.timers = ended.timers
    kept = progress.view.kept() if ended.earlier else None
    try:
        for each in (*ended.earlier, ended.update):
            progress.view.apply(each)
    except Exception as error:  # noqa: BLE001  # it becomes an event of the chart, and the run's reason
        if kept is not None:
            progress.view.put_back(kept)
        return replace(ended, events=(*ended.events[:-1], _error(plan, error)), update={}, earlier=(), failure=error)
    return ended


def _called(visit: Visit) -> Steps[Any]:
    """Call the activity once; a signal of the door stands, whatever the activity made of it."""
    try:
        returned = yield _work(visit)
    except CancelledError as cancelled:
        if is_cancelled():
            visit.run().leave()
            raise
        raise visit.signal or own_cancellation() from cancelled
    except (Exception, Suspend, Trip):
        if visit.signal is not None:
            raise visit.signal from None
        raise
    if visit.signal is not None:
        raise visit.signal
    return returned


def _work(visit: Visit) -> Work:
    plan = visit.plan
    state = visit.machine.schema.present(visit.values)
    event = value_of(visit.event)
    bound = cast(Any, plan.bound)
    if plan.is_sync:
        run = visit.run() if plan.takes_run else None
        return _sync_work(visit, partial(within, visit.run, bound, state, event, run))
    run = visit.run()
    given = (state, event, run)
    if plan.runnable is not None:
        # Always awaited: every Runnable can be, one made of a coroutine function cannot be invoked, and only so does
        # its timeout hold.
        return Work(afn=_timed(run, plan.runnable.ainvoke, plan.timeout_s), args=(state,))
    return Work(afn=_timed(run, bound, plan.timeout_s), args=given)


def _sync_work(visit: Visit, call: Callable[[], Any]) -> Work:
    invocation = visit.invocation
    beside = partial(
        in_thread,
        pool=invocation.threads.activities,
        stragglers=invocation.stragglers,
        what=f"the activity of `{visit.plan.node.path}`",
        spared=invocation.brake.spared,
    )
    return Work(fn=call, afn=partial(beside, call))


def _timed(run: Core[Any], fn: Any, timeout_s: float | None) -> Any:
    call = awithin(run, fn)

    async def bounded(*args: Any) -> Any:
        if timeout_s is None:
            return await apart(partial(call, *args))
        returned = await in_time(partial(call, *args), timeout_s=timeout_s)
        if isinstance(returned, Late):
            run.leave()
            raise _TimedOut(f"it took more than {timeout_s:g} s")
        return returned

    return bounded


def _make_run(visit: Visit) -> Core[Any]:
    plan, control, invocation = visit.plan, visit.control, visit.invocation
    path = plan.node.path
    runtime = get_runtime()
    writer = runtime.stream_writer

    def door() -> Door:
        return Door(
            database=invocation.database,
            activation=Activation(
                session=invocation.session,
                run=control.run,
                branch=control.branch,
                path=path,
                number=visit.activation,
                tenant=invocation.tenant,
            ),
            effective=plan.effective,
            tools=plan.tools,
            fence=invocation.fence,
            threads=invocation.threads,
            notify=lambda result: writer(_as_part(result, path=path)),
            script=invocation.script,
            stragglers=invocation.stragglers,
        )

    kind = SyncRun if plan.is_sync else Run
    return kind(
        path=path,
        activation=visit.activation,
        event=happened(visit.event) if visit.event else None,
        context=runtime.context,
        _invocation=invocation,
        _make_door=door,
        _roles=_roles(visit.machine, invocation),
        _declared_role=plan.role,
        _store=runtime.store,
        _writer=writer,
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


def _told(returned: object, *, where: str) -> Told:
    return returned if isinstance(returned, Told) else Told(update=as_update(returned, where=where))


def _gated(plan: StatePlan, told: Told) -> Mapping[str, Any] | Failed:
    gate, update = plan.gate, told.update
    if gate is None:
        return update
    seen = {**told.same, **update} if told.same else update
    value = seen if gate.key is None else seen.get(gate.key)
    verdict = check(gate.contract, value=value)
    if isinstance(verdict, Failed):
        return verdict
    return verdict.value if gate.key is None else {**update, gate.key: verdict.value}


def _error(plan: StatePlan, error: Exception) -> Occurrence:
    if isinstance(error, _TimedOut):
        return Occurrence(name="timeout", data={"state": plan.node.path, "timeout_s": plan.timeout_s})
    if isinstance(error, GraphBubbleUp):
        message = "`interrupt()` inside an activity; ask through a restricted tool or wait in a state"
        return _failed("interrupt", plan, error, message)
    kind = next((name for kind, name in _KINDS.items() if isinstance(error, kind)), "activity")
    return _failed(kind, plan, error, told(error))


def _failed(kind: str, plan: StatePlan, error: Exception, message: str) -> Occurrence:
    return Occurrence(
        name=f"error.{kind}",
        data={"state": plan.node.path, "type": type(error).__name__, "message": message},
    )
