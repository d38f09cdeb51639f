"""A state's node: run the activity, then the kernel, and commit both as one update and one `goto`.

Each node is a generator of work (see `drive`), so that sync and async runs share every decision. This one serves a
chart with one active state; `hub` serves several. `activity` runs the activity itself, `commit` makes the command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END
from langgraph.runtime import get_runtime
from langgraph.types import Command

from stateward.chart.step import start
from stateward.errors import RunError
from stateward.run.activity import Ended, applied, attempts, visit
from stateward.run.brake import Halt
from stateward.run.checkpoint import CHANNEL, Control, decode
from stateward.run.commit import Committed, Progress, ask_commit, finish
from stateward.run.data import ViewData
from stateward.run.door.signal import Suspend
from stateward.run.drive import LeftEarly, Steps, Work, drive_sync
from stateward.run.invocation import Invocation, invocation_of
from stateward.run.nested import note
from stateward.run.plan import Machine, StatePlan
from stateward.run.progress import fatal_in
from stateward.run.state import StateSchema
from stateward.run.store.ask import Ask
from stateward.run.view import View

Values = dict[str, Any]
Direct = Callable[[Values, Invocation], "Command[Any] | None"]
Stopped = Callable[[Values, RunnableConfig, Halt], Steps["Command[Any]"]]


class StateNode(Runnable[Values, Command[Any]]):
    """The LangGraph node of one state; registered with both ways, so that it serves `invoke` and `ainvoke`.

    Args:
        name: The node's name.
        steps: Makes the generator of work for one visit.
        schema: The chart's channels.
        stopped: Makes the generator of work for a visit whose call is to stop.
        direct: Makes the command of a visit in this thread, or None if it is one that needs the steps.
    """

    def __init__(
        self, name: str, steps: Any, *, schema: StateSchema, stopped: Stopped, direct: Direct | None = None
    ) -> None:
        self.name = name
        self._steps = steps  # a function (values, config) -> Steps[Command]
        self._stopped = stopped
        self._schema = schema
        self._direct = direct

    def invoke(self, input: Values, config: RunnableConfig | None = None, **kwargs: Any) -> Command[Any]:
        """Run the node in this thread.

        Args:
            input: The state's values.
            config: LangGraph's config.
            kwargs: Unused.
        """
        config = config or {}
        invocation = self._heard(input, config)
        brake, command = invocation.brake, None
        if brake.halt is None:
            try:
                command = self._direct(input, invocation) if self._direct is not None else None
                if command is None:
                    command = drive_sync(self._steps(input, config), bridge=invocation.bridge)
            except LeftEarly:
                if brake.halt is None:
                    raise
        if command is None:
            command = drive_sync(self._stopped(input, config, brake.take()), bridge=invocation.bridge)
        return self._told(command, input, invocation)

    async def ainvoke(self, input: Values, config: RunnableConfig | None = None, **kwargs: Any) -> Command[Any]:
        """Run the node on this event loop.

        Args:
            input: The state's values.
            config: LangGraph's config.
            kwargs: Unused.
        """
        config = config or {}
        invocation = self._heard(input, config)
        steps, stopped = partial(self._steps, input, config), partial(self._stopped, input, config)
        command = await invocation.brake.drive(steps, stopped, threads=invocation.threads)
        return self._told(command, input, invocation)

    def _told(self, command: Command[Any], values: Values, invocation: Invocation) -> Command[Any]:
        if invocation.parent is not None:
            note(command, schema=self._schema, values=values, parent=invocation.parent)
        if invocation.listener is not None:
            invocation.listener.stepped(str(self.name), values, command.update)
        return command

    def _heard(self, values: Values, config: RunnableConfig) -> Invocation:
        """Return the call that the node runs in; who hears it gets the writer to the stream here."""
        invocation = invocation_of(config)
        if invocation.listener is not None:
            invocation.listener.begins(str(self.name), values, get_runtime().stream_writer)
        return invocation


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
    progress = begin(machine, values, where=plan.node.path, invocation=invocation)
    if not begins_in(plan.node.index, progress):
        return told(finish(machine, progress, ()), invocation)
    try:
        ended = yield from attempts(visit(machine, plan, progress, invocation))
    except Suspend as suspended:
        ended = suspended
    return (yield from landing(machine, plan, values, progress, invocation, ended))


def begins_in(state: int, progress: Progress) -> bool:
    """Whether a run that begins has come to this state, and to nothing else that must be committed before.

    START may lead here without a trial: no guard has a say in it. But an action on the way may set a timer, claim
    that something has ended which had not begun, or fail, which ends a run that does not take the event.

    Args:
        state: The state whose activity is to run.
        progress: Where the step stands; of a run that began before, it has come here.
    """
    entered = progress.step
    return entered is None or (entered.starts == (state,) and not entered.timers and fatal_in(entered) is None)


def landing(
    machine: Machine,
    plan: StatePlan,
    values: Values,
    progress: Progress,
    invocation: Invocation,
    ended: Ended | Suspend,
) -> Steps[Command[Any]]:
    """Commit what a state's activity came to.

    Args:
        machine: The lowered chart.
        plan: The state.
        values: The state's values, with the control channel.
        progress: Where the step stands; nothing of the activity is in its view.
        invocation: The call of the graph.
        ended: How the activity ended, or whom it waits for.

    Returns:
        A generator of work that returns LangGraph's command.
    """
    if isinstance(ended, Suspend):
        return (yield from asked(machine, plan, progress, invocation, ended)).command
    committed = land(machine, plan, values, progress, invocation, ended)
    if committed is None:
        committed = yield from ask_after_all(machine, plan, values, invocation, ended)
    return committed.command


def land(
    machine: Machine, plan: StatePlan, values: Values, progress: Progress, invocation: Invocation, ended: Ended
) -> Committed | None:
    """Let the chart have an activity's end, and make the commit.

    Args:
        machine: The lowered chart.
        plan: The state.
        values: The state's values of this moment, with the control channel.
        progress: Where the step stands.
        invocation: The call of the graph.
        ended: How the activity ended.

    Returns:
        The commit; None when the chart does not react to what a person can decide: they are to be asked.
    """
    state, ended = plan.node.index, applied(plan, progress, ended)
    committed = finish(machine, progress, ended.events, state=state)
    if committed.fatal and len(ended.events) > 1 and _is_stopped_by(committed, ended):
        # What the activity raised before its end must not move the chart from where a raised limit lets it go on.
        progress = begin(machine, values, where=plan.node.path, invocation=invocation)
        committed = finish(machine, progress, ended.events[-1:], state=state)
    if ended.ask is not None and not committed.handled:
        return None
    if committed.failed or committed.region is not None:
        keep_failure(committed, invocation, failure=ended.failure)
    return committed


def ask_after_all(
    machine: Machine, plan: StatePlan, values: Values, invocation: Invocation, ended: Ended
) -> Steps[Committed]:
    """Ask a person about what the chart did not react to; nothing of the activity is kept.

    Args:
        machine: The lowered chart.
        plan: The state.
        values: The state's values of this moment, with the control channel.
        invocation: The call of the graph.
        ended: How the activity ended, with the question.

    Returns:
        A generator of work that returns the commit.
    """
    progress = begin(machine, values, where=plan.node.path, invocation=invocation)
    return (yield from asked(machine, plan, progress, invocation, cast(Suspend, ended.ask)))


def asked(
    machine: Machine, plan: StatePlan, progress: Progress, invocation: Invocation, suspended: Suspend
) -> Steps[Committed]:
    """Put an activity's questions and commit that it waits for the answers.

    Args:
        machine: The lowered chart.
        plan: The state.
        progress: Where the step stands; nothing of the activity is in its view.
        invocation: The call of the graph.
        suspended: The questions.

    Returns:
        A generator of work that returns the commit.
    """
    committed = ask_commit(machine, plan.node.index, progress, suspended.asks)
    if committed.command.goto != END:  # of several regions another one may have failed: nobody waits for the answer
        yield Work(fn=_put_asks, args=(invocation, suspended.asks))
    keep_failure(committed, invocation)
    return committed


def _is_stopped_by(committed: Committed, ended: Ended) -> bool:
    return committed.fatal == ended.events[-1].name and committed.fatal.startswith("fuse.")


def _put_asks(invocation: Invocation, asks: Sequence[Ask]) -> None:
    invocation.database.asks.create(asks, fence=invocation.fence)
    if invocation.listener is not None:
        invocation.listener.asked(asks)


def enter_steps(machine: Machine, values: Values, config: RunnableConfig) -> Steps[Command[Any]]:
    """Enter a chart whose first state has no activity, or which begins in several states or with a timer.

    Args:
        machine: The lowered chart.
        values: The state's values, with the control channel.
        config: LangGraph's config.

    Returns:
        A generator of work that returns LangGraph's command.
    """
    invocation = invocation_of(config)
    progress = begin(machine, values, where="the start", invocation=invocation)
    return told(finish(machine, progress, ()), invocation)
    yield  # pragma: no cover  # makes this a generator like the other nodes


def begin(machine: Machine, values: Values, *, where: str, invocation: Invocation | None = None) -> Progress:
    """Read the control channel and, in the first step of a run, enter the initial configuration.

    Args:
        machine: The lowered chart.
        values: The state's values, with the control channel.
        where: The state path, for messages.
        invocation: The call, whose clock counts and whose checkpoints keep the step; None for a trial.

    Returns:
        Where the step stands.
    """
    raw = cast("Mapping[str, Any]", values.get(CHANNEL, {}))
    control = cast(Control, decode(raw, machine.chart))
    base = dict(values)
    base.pop(CHANNEL, None)
    view = View(machine.schema, base, where, serde=invocation.serde if invocation else None)
    data = ViewData(chart=machine.chart, view=view, marks=control.marks)
    step = None if control.started else start(machine.chart, data, limit=machine.microsteps)
    if invocation is None:
        return Progress(control=control, view=view, data=data, step=step)
    return Progress(control=control, view=view, data=data, step=step, now=invocation.now)


def told(committed: Committed, invocation: Invocation) -> Command[Any]:
    """Return a step's command, and keep what failed the run for whoever called the graph.

    Args:
        committed: The step.
        invocation: Whose call it is.
    """
    keep_failure(committed, invocation)
    return committed.command


def keep_failure(committed: Committed, invocation: Invocation, *, failure: Exception | None = None) -> None:
    """Keep what failed a run for whoever called the graph: it is raised there when the run is recorded.

    Args:
        committed: The step.
        invocation: Whose call it is.
        failure: The exception behind it, if there was one.
    """
    if committed.region is not None:
        invocation.failures.pop(committed.region, None)
        if failure is not None:
            invocation.failures[committed.region] = failure
        failure = None
    if committed.failed:
        of_region = invocation.failures.get(str((committed.reason or {}).get("state")))
        invocation.failure = of_region or failure or _unrecorded(committed, invocation)


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
