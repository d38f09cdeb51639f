"""One activity while it runs: it is called with its `Run`, called again when its output does not pass the gate, and
comes to an end that the chart is told.

A newcomer who follows a tool call starts here: `attempts` calls the activity, `Visit.run` (in `visit`) makes its way to
the door.
Nothing is committed here: `node` (one region) and `hub` (several) do that, each with the values of the moment.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from stateward.chart.delay import Timers
from stateward.chart.event import Occurrence
from stateward.errors import CheckpointError, ContractFailed, DefinitionError, Diverged, UpdateRefused
from stateward.govern.gate import Failed, check
from stateward.run.bubble import steering, unsteered
from stateward.run.commit import Progress
from stateward.run.context import Core
from stateward.run.current import awithin, within
from stateward.run.deadline import Late, apart, in_time, is_cancelled, own_cancellation
from stateward.run.door.signal import Suspend, Trip
from stateward.run.door.straggler import in_thread
from stateward.run.door.told import told
from stateward.run.door.waiting import TIMED
from stateward.run.drive import Steps, Work
from stateward.run.handed import value_of
from stateward.run.inner import Told
from stateward.run.plan import StatePlan
from stateward.run.update import as_update
from stateward.run.visit import Visit as Visit
from stateward.run.visit import visit as visit
from stateward.run.visit import working

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


def attempts(visit: Visit) -> Steps[Ended]:
    """Call the activity, and again with feedback while the gate sends its output back.

    Args:
        visit: Whose activity.

    Returns:
        A generator of work that returns how it ended. Where a policy limits the working time, it is measured.

    Raises:
        Suspend: A call needs a person.
        CheckpointError: The session was taken over, or the database failed.
    """
    try:
        return (yield from (_measuring(visit) if visit.plan.is_measured else _attempts(visit)))
    finally:
        visit.leave()  # who has kept its run has no way out of a state that is left


def _measuring(visit: Visit) -> Steps[Ended]:
    measure = working(visit)
    over: Occurrence | None = yield Work(fn=measure.begin)
    if over is not None:
        return Ended(events=(over,))
    try:
        ended = yield from _attempts(visit)
    except BaseException as left:
        measure.end()
        if isinstance(left, Suspend):  # else somebody cut it: what was measured is kept with the next call
            yield Work(fn=measure.keep)
        raise
    measure.end()
    yield Work(fn=measure.keep)
    return ended


def _attempts(visit: Visit) -> Steps[Ended]:
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
            failure = unsteered(error, where=plan.node.path)
            return Ended(events=(*visit.raised, _error(plan, error)), timers=visit.timers, failure=failure)
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
    return Ended(events=(_error(plan, error),), failure=unsteered(error, where=plan.node.path))


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
        call = partial(within, visit.run, bound, state, event, run)
        return _sync_work(visit, call if plan.timeout_s is None else partial(_measured, visit, call, plan.timeout_s))
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


def _measured(visit: Visit, call: Callable[[], Any], timeout_s: float) -> Any:
    """Call a sync activity under a limit: it cannot be stopped, but its calls are, and its late end does not count."""
    run, script = visit.run(), visit.invocation.script
    run.time.begin(timeout_s)
    try:
        return call()
    finally:
        # Whatever it raised: it is late.
        key = run.door.activation.key(0)
        if run.time.is_over if script is None else script.of_time(key, "activity_timeout_s"):
            run.leave()
            late = f"it took more than {timeout_s:g} s"
            more = {TIMED: "activity_timeout_s", "rule": "timeouts"}
            run.door.report.write("timeout", visit.plan.node.path, {}, late, 0, more=more)
            raise _TimedOut(late)


def _timed(run: Core[Any], fn: Any, timeout_s: float | None) -> Any:
    call = awithin(run, fn)

    async def bounded(*args: Any) -> Any:
        if timeout_s is None:
            return await apart(partial(call, *args))
        run.time.begin(timeout_s)
        returned = await in_time(partial(call, *args), timeout_s=timeout_s)
        if isinstance(returned, Late):
            run.leave()
            raise _TimedOut(f"it took more than {timeout_s:g} s")
        return returned

    return bounded


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
    steers = steering(error)
    if steers is not None:
        return _failed("interrupt", plan, error, steers)
    kind = next((name for kind, name in _KINDS.items() if isinstance(error, kind)), "activity")
    return _failed(kind, plan, error, told(error))


def _failed(kind: str, plan: StatePlan, error: Exception, message: str) -> Occurrence:
    return Occurrence(
        name=f"error.{kind}",
        data={"state": plan.node.path, "type": type(error).__name__, "message": message},
    )
