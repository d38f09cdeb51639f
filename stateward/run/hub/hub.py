"""The hub: the one node that a chart with several active states is in while an activity is running.

It owns the activities of all regions as tasks, which outlive its visits. One visit begins the activities that are to
run and do not run yet, waits for the first thing that happens, lets the kernel have it, and commits: one superstep, one
checkpoint. So a region runs on as fast as it can, whatever the others do, and the checkpoints are the log of what
happened in which order. What ends together is taken in document order, one thing a visit.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from stateward.run.activity import Ended, Visit, failed
from stateward.run.arrivals import arrived
from stateward.run.checkpoint import decode_event, wakes_at
from stateward.run.commit import Committed, finish
from stateward.run.deadline import own_cancellation
from stateward.run.door.signal import Suspend
from stateward.run.drive import Steps, Work
from stateward.run.hub.crew import Key, Raised
from stateward.run.hub.leaving import keys, leave
from stateward.run.hub.questions import answer_commit, answered, load, settled_at
from stateward.run.hub.regions import Regions
from stateward.run.hub.tasks import first
from stateward.run.invocation import Invocation, invocation_of
from stateward.run.node import Values, ask_after_all, asked, begin, keep_failure, land
from stateward.run.plan import REST, Machine, StatePlan
from stateward.run.progress import Progress


def hub_steps(machine: Machine, values: Values, config: RunnableConfig) -> Steps[Command[Any]]:
    """Visit the hub: wait for the first thing that happens, and commit it.

    Args:
        machine: The lowered chart.
        values: The state's values, with the control channel.
        config: LangGraph's config.

    Returns:
        A generator of work that returns LangGraph's command.
    """
    invocation = invocation_of(config)
    progress = begin(machine, values, where="the regions", invocation=invocation)
    working = Regions.of(machine, progress.control).working
    if not working:
        return Command(goto=REST)
    starting = _starting(machine, working, progress, invocation)
    committed: Committed | None = None
    while committed is None:
        due = yield from _due(progress, invocation)
        done: tuple[Key, object] | None = yield Work(afn=partial(first, invocation, starting, config, due=due))
        starting = []
        if done is None:
            committed = yield from _news(machine, progress, invocation)
        else:
            plan = machine.plans[done[0][0]]
            committed = yield from came_to(machine, plan, values, progress, invocation, done[1])
    yield from leave(machine, progress, committed, invocation, keep=keys(progress, committed, machine))
    return committed.command


def _due(progress: Progress, invocation: Invocation) -> Steps[float | None]:
    """When the first timer is due, or the questions of a region have expired; an answer may put that off."""
    timer, asks = wakes_at(progress.control.raw), progress.control.asks
    expiry = settled_at((yield Work(fn=load, args=(invocation, asks)))) if asks else None
    return min((due for due in (timer, expiry) if due is not None), default=None)


def _starting(machine: Machine, working: Sequence[int], progress: Progress, invocation: Invocation) -> list[Visit]:
    """Make the visits of activities that are to run and do not run yet; after a crash that is all of them."""
    control, crew = progress.control, invocation.attention.crew
    starting: list[Visit] = []
    for state in working:
        activation = control.configuration.activation(state)
        if (state, activation) not in crew:
            brought = decode_event(control.brought.get(machine.chart.nodes[state].path), machine.chart)
            visit = Visit(
                machine,
                machine.plans[state],
                invocation,
                control=control,
                activation=activation,
                event=brought,
                values=dict(progress.visible()),
            )
            starting.append(visit)
    return starting


def came_to(
    machine: Machine, plan: StatePlan, values: Values, progress: Progress, invocation: Invocation, result: object
) -> Steps[Committed]:
    """Commit what an activity in a task of its own came to, with the values of this moment.

    Args:
        machine: The lowered chart.
        plan: The state.
        values: The values of this moment, with the control channel.
        progress: Where the step stands.
        invocation: The call.
        result: What its task returned.

    Returns:
        A generator of work that returns the commit.

    Raises:
        CheckpointError: The session was taken over, or the database failed.
    """
    if isinstance(result, Raised):
        if isinstance(result.error, Suspend):
            return (yield from asked(machine, plan, progress, invocation, result.error))
        if not isinstance(result.error, CancelledError):
            raise result.error
        result = failed(plan, own_cancellation())
    assert isinstance(result, Ended)
    committed = land(machine, plan, values, progress, invocation, result)
    if committed is None:
        committed = yield from ask_after_all(machine, plan, values, invocation, result)
    return committed


def _news(machine: Machine, progress: Progress, invocation: Invocation) -> Steps[Committed | None]:
    """Take what came from outside: timers that are due, else one letter, else answers to one region's questions."""
    if (yield from arrived(machine, progress, invocation)):
        committed = finish(machine, progress, ())
        keep_failure(committed, invocation)
        return committed
    asks = progress.control.asks
    if asks:
        ready = answered((yield Work(fn=load, args=(invocation, asks))))
        if ready:
            return answer_commit(machine, progress, ready[:1])
    return None
