"""A state's node: run the activity, then the kernel, and commit both as one update and one `goto`.

Each node is a generator of work (see `drive`), so that sync and async runs share every decision. A newcomer who
follows a tool call starts here: `_attempts` calls the activity with its `Run`.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from langgraph.types import Command

from stateward.chart.event import Occurrence
from stateward.chart.step import start
from stateward.errors import CheckpointError, DefinitionError, Diverged, RunError, UpdateRefused
from stateward.govern.gate import Failed, check
from stateward.run.checkpoint import CHANNEL, Control, decode
from stateward.run.commit import Committed, Progress, ask_commit, finish
from stateward.run.context import Core, Run, SyncRun, awithin, within
from stateward.run.data import ViewData
from stateward.run.deadline import Late, in_time, is_cancelled, own_cancellation
from stateward.run.door.activation import Activation
from stateward.run.door.door import Door
from stateward.run.door.signal import Signal, Suspend, Trip
from stateward.run.door.tool import ToolResult
from stateward.run.drive import Steps, Work, drive_async, drive_sync
from stateward.run.invocation import Invocation, invocation_of
from stateward.run.plan import Machine, StatePlan
from stateward.run.store.ask import Ask
from stateward.run.update import as_update
from stateward.run.view import View

Values = dict[str, Any]
_KINDS = {UpdateRefused: "update", Diverged: "diverged", DefinitionError: "definition"}
"""Which error event an exception of an activity becomes; any other is `error.activity`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An activity came to its end, well or badly: the events the chart gets, and what it wanted to commit."""

    events: tuple[Occurrence, ...]
    failure: Exception | None = None
    ask: Suspend | None = None
    """Who is asked, when the chart does not react to the event."""


class _TimedOut(TimeoutError):
    """The state's own limit ran out; a timeout that the activity raises itself is one of its errors."""


class StateNode(Runnable[Values, Command[Any]]):
    """The LangGraph node of one state; registered with both ways, so that it serves `invoke` and `ainvoke`.

    Args:
        name: The node's name.
        steps: Makes the generator of work for one visit.
    """

    def __init__(self, name: str, steps: Any) -> None:  # a function (values, config) -> Steps[Command]
        self.name = name
        self._steps = steps

    def invoke(self, input: Values, config: RunnableConfig | None = None, **kwargs: Any) -> Command[Any]:
        """Run the node in this thread.

        Args:
            input: The state's values.
            config: LangGraph's config.
            kwargs: Unused.
        """
        config = config or {}
        return drive_sync(self._steps(input, config), bridge=invocation_of(config).bridge)

    async def ainvoke(self, input: Values, config: RunnableConfig | None = None, **kwargs: Any) -> Command[Any]:
        """Run the node on this event loop.

        Args:
            input: The state's values.
            config: LangGraph's config.
            kwargs: Unused.
        """
        config = config or {}
        return await drive_async(self._steps(input, config), threads=invocation_of(config).threads)


def activity_steps(machine: Machine, plan: StatePlan, values: Values, config: RunnableConfig) -> Steps[Command[Any]]:
    """Run a state's activity and commit what it came to.

    Args:
        machine: The lowered chart.
        plan: The state.
        values: The state's values, with the control channel.
        config: LangGraph's config.

    Returns:
        A generator of work that returns LangGraph's command.
    """
    invocation = invocation_of(config)
    progress = begin(machine, values, where=plan.node.path)
    try:
        ended = yield from _attempts(machine, plan, progress, invocation)
    except Suspend as suspended:
        yield Work(fn=_put_asks, args=(invocation, suspended.asks))
        return ask_commit(machine, plan.node.index, progress, suspended.asks)
    committed = finish(machine, progress, ended.events)
    if len(ended.events) > 1 and _is_stopped_by(committed, ended):
        # What the activity raised before its end must not move the chart from where a raised limit lets it go on.
        committed = finish(machine, begin(machine, values, where=plan.node.path), ended.events[-1:])
    if ended.ask is not None and not committed.handled:
        yield Work(fn=_put_asks, args=(invocation, ended.ask.asks))
        return ask_commit(machine, plan.node.index, begin(machine, values, where=plan.node.path), ended.ask.asks)
    return told(committed, invocation, failure=ended.failure)


def _is_stopped_by(committed: Committed, ended: Ended) -> bool:
    event = (committed.reason or {}).get("event")
    return event == ended.events[-1].name and str(event).startswith("fuse.")


def _put_asks(invocation: Invocation, asks: Sequence[Ask]) -> None:
    invocation.database.asks.create(asks, fence=invocation.fence)


def enter_steps(machine: Machine, values: Values, config: RunnableConfig) -> Steps[Command[Any]]:
    """Enter a chart whose first state has no activity.

    Args:
        machine: The lowered chart.
        values: The state's values, with the control channel.
        config: LangGraph's config.

    Returns:
        A generator of work that returns LangGraph's command.
    """
    progress = begin(machine, values, where="the start")
    return told(finish(machine, progress, ()), invocation_of(config))
    yield  # pragma: no cover  # makes this a generator like the other nodes


def begin(machine: Machine, values: Values, *, where: str) -> Progress:
    """Read the control channel and, in the first step of a run, enter the initial configuration.

    Args:
        machine: The lowered chart.
        values: The state's values, with the control channel.
        where: The state path, for messages.

    Returns:
        Where the step stands.
    """
    raw = cast("Mapping[str, Any]", values.get(CHANNEL, {}))
    control = cast(Control, decode(raw, machine.chart))
    base = dict(values)
    base.pop(CHANNEL, None)
    view = View(machine.schema, base, where)
    data = ViewData(chart=machine.chart, view=view, marks=control.marks)
    step = None if control.started else start(machine.chart, data, limit=machine.microsteps)
    return Progress(control=control, view=view, data=data, step=step)


def _attempts(machine: Machine, plan: StatePlan, progress: Progress, invocation: Invocation) -> Steps[Ended]:
    """Call the activity, and again with feedback while the gate sends its output back."""
    visit = _Visit(machine, plan, progress, invocation)
    retries = plan.gate.retries if plan.gate else 0
    errors: object = None
    for _ in range(retries + 1):
        try:
            verdict = _gated(plan, as_update((yield from _called(visit)), where=plan.node.path))
            if not isinstance(verdict, Failed):
                progress.view.apply(verdict)
                return Ended(events=(*visit.raised, plan.done))
        except CheckpointError:
            raise
        except Trip as tripped:
            asks = Suspend([tripped.ask]) if tripped.ask else None
            return Ended(events=(*visit.raised, tripped.event), ask=asks)
        except Exception as error:  # noqa: BLE001  # it becomes an event of the chart, and the run's reason
            return Ended(events=(*visit.raised, _error(plan, error)), failure=error)
        visit.again(verdict.feedback)
        errors = verdict.errors
    reason = {"state": plan.node.path, "attempts": retries + 1, "errors": errors, "feedback": visit.run().feedback}
    return Ended(events=(Occurrence(name="error.contract", data=reason),))


class _Visit:
    """One visit of a state: its activity's run is made when somebody asks for it, which few activities do."""

    __slots__ = ("_invocation", "_machine", "_run", "plan", "progress")

    def __init__(self, machine: Machine, plan: StatePlan, progress: Progress, invocation: Invocation) -> None:
        self.plan = plan
        self.progress = progress
        self._machine = machine
        self._invocation = invocation
        self._run: Core[Any] | None = None

    def run(self) -> Core[Any]:
        if self._run is None:
            self._run = _make_run(self._machine, self.plan, self.progress, self._invocation)
        return self._run

    @property
    def raised(self) -> Sequence[Occurrence]:
        return self._run.raised if self._run is not None else ()

    @property
    def signal(self) -> Signal | None:
        return self._run.signal if self._run is not None else None

    def again(self, feedback: str) -> None:
        run = self.run()
        run.attempt += 1
        run.feedback = feedback
        run.raised.clear()


def _called(visit: _Visit) -> Steps[Any]:
    """Call the activity once; a signal of the door stands, whatever the activity made of it."""
    try:
        returned = yield _work(visit)
    except CancelledError as cancelled:
        if is_cancelled():
            # Its thread, or a task that does not stop, may go on: it pays for nothing more.
            visit.run().door.in_flight.close()
            raise
        raise visit.signal or own_cancellation() from cancelled
    except (Exception, Suspend, Trip):
        if visit.signal is not None:
            raise visit.signal from None
        raise
    if visit.signal is not None:
        raise visit.signal
    return returned


def _work(visit: _Visit) -> Work:
    plan, progress = visit.plan, visit.progress
    state = progress.view.schema.present(progress.visible())
    event = progress.control.event.value if progress.control.event else None
    bound = cast(Any, plan.bound)
    if plan.is_sync:
        run = visit.run() if plan.takes_run else None
        return Work(fn=within, args=(visit.run, bound, state, event, run), activity=True)
    run = visit.run()
    given = (state, event, run)
    if plan.runnable is not None:
        # Always awaited: every Runnable can be, one made of a coroutine function cannot be invoked, and only so does
        # its timeout hold.
        return Work(afn=_timed(run, plan.runnable.ainvoke, plan.timeout_s), args=(state,))
    return Work(afn=_timed(run, bound, plan.timeout_s), args=given)


def _timed(run: Core[Any], fn: Any, timeout_s: float | None) -> Any:
    call = awithin(run, fn)
    if timeout_s is None:
        return call

    async def bounded(*args: Any) -> Any:
        returned = await in_time(partial(call, *args), timeout_s=timeout_s)
        if isinstance(returned, Late):
            run.door.in_flight.close()
            raise _TimedOut(f"it took more than {timeout_s:g} s")
        return returned

    return bounded


def _make_run(machine: Machine, plan: StatePlan, progress: Progress, invocation: Invocation) -> Core[Any]:
    control, path = progress.control, plan.node.path
    number = progress.configuration.activation(plan.node.index)
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
                number=number,
                tenant=invocation.tenant,
            ),
            effective=plan.effective,
            tools=plan.tools,
            fence=invocation.fence,
            threads=invocation.threads,
            notify=lambda result: writer(_as_part(result, path=path)),
        )

    kind = SyncRun if plan.is_sync else Run
    return kind(
        path=path,
        activation=number,
        event=control.event,
        context=runtime.context,
        _invocation=invocation,
        _make_door=door,
        _roles=machine.roles,
        _declared_role=plan.role,
        _store=runtime.store,
        _writer=writer,
    )


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


def _gated(plan: StatePlan, update: Mapping[str, Any]) -> Mapping[str, Any] | Failed:
    gate = plan.gate
    if gate is None:
        return update
    value = update if gate.key is None else update.get(gate.key)
    verdict = check(gate.contract, value=value)
    if isinstance(verdict, Failed):
        return verdict
    return verdict.value if gate.key is None else {**update, gate.key: verdict.value}


def _error(plan: StatePlan, error: Exception) -> Occurrence:
    if isinstance(error, _TimedOut):
        return Occurrence(name="timeout", data={"state": plan.node.path, "timeout_s": plan.timeout_s})
    if isinstance(error, GraphBubbleUp):
        told = "`interrupt()` inside an activity; ask through a restricted tool or wait in a state"
        return _failed("interrupt", plan, error, told)
    kind = next((name for kind, name in _KINDS.items() if isinstance(error, kind)), "activity")
    return _failed(kind, plan, error, str(error))


def _failed(kind: str, plan: StatePlan, error: Exception, told: str) -> Occurrence:
    return Occurrence(
        name=f"error.{kind}",
        data={"state": plan.node.path, "type": type(error).__name__, "message": told},
    )


def told(committed: Committed, invocation: Invocation, *, failure: Exception | None = None) -> Command[Any]:
    """Keep what failed a run for whoever called the graph: it is raised there when the run is recorded.

    Args:
        committed: The step.
        invocation: Whose call it is.
        failure: The exception behind it, if there was one.

    Returns:
        LangGraph's command.
    """
    if committed.failed:
        invocation.failure = failure or _unrecorded(committed, invocation)
    return committed.command


def _unrecorded(committed: Committed, invocation: Invocation) -> RunError | None:
    """Make an error of a failed run that no checkpoint records: its caller has nowhere else to read of it."""
    if invocation.lease is not None:
        return None
    reason = committed.reason or {}
    return RunError(
        f"The run failed with `{reason.get('event')}`: {reason.get('data')}",
        where=str(reason.get("state")),
        fix="Give the chart a transition for it, or mend its cause.",
    )
