"""One active state whose activity something from outside may lead out of, or concern otherwise.

Its node is the state's own, as ever. What differs is that the activity is awaited together with what may come: an async
one runs in a task, is stopped when an event or timer leaves its state, and goes on when one does not. A sync activity
cannot be stopped: what came before its end is taken first, and when that leaves the state its update is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from stateward.run.activity import Visit, attempts, visit
from stateward.run.arrivals import arrived, letters
from stateward.run.checkpoint import CHANNEL, wakes_at
from stateward.run.commit import Committed, finish
from stateward.run.door.signal import Suspend
from stateward.run.drive import Steps, Work
from stateward.run.hub.crew import Key, Raised
from stateward.run.hub.hub import came_to
from stateward.run.hub.leaving import leave
from stateward.run.hub.tasks import first
from stateward.run.invocation import Invocation, invocation_of
from stateward.run.node import Values, activity_steps, begin, begins_in, keep_failure, told
from stateward.run.plan import Machine, StatePlan
from stateward.run.progress import Progress
from stateward.run.store.mailbox import Letter


def heeding_steps(machine: Machine, plan: StatePlan, values: Values, config: RunnableConfig) -> Steps[Command[Any]]:
    """Run a state's activity beside what may come from outside, and commit whichever is first.

    Args:
        machine: The lowered chart.
        plan: The state.
        values: The state's values, with the control channel.
        config: LangGraph's config.

    Returns:
        A generator of work that returns LangGraph's command.
    """
    invocation = invocation_of(config)
    control: Mapping[str, Any] = values.get(CHANNEL) or {}
    if not invocation.shared and not control.get("timers"):
        return (yield from activity_steps(machine, plan, values, config))
    progress = begin(machine, values, where=plan.node.path, invocation=invocation)
    if not begins_in(plan.node.index, progress):
        return told(finish(machine, progress, ()), invocation)
    own = visit(machine, plan, progress, invocation)
    committed = yield from (_sync if plan.is_sync else _async)(own, values, progress)
    if invocation.attention.is_used:
        goes_on = committed.command.goto == machine.activity_node(plan.node.index)
        keep = {own.key} if goes_on and plan.node.index not in committed.exited else ()
        yield from leave(machine, progress, committed, invocation, keep=keep)
    return committed.command


def _async(own: Visit, values: Values, progress: Progress) -> Steps[Committed]:
    """Await an activity in a task; one that an event did not stop runs already."""
    invocation = own.invocation
    starting = [] if own.key in invocation.attention.crew else [own]
    if starting and invocation.attention.overdue:
        news = yield from _news(own.machine, progress, invocation)
        if news is not None:
            return news
    due = wakes_at(progress.control.raw) if progress.control.timers else None
    while True:
        done: tuple[Key, object] | None = yield Work(afn=partial(first, invocation, starting, None, due=due))
        starting = []
        if done is not None:
            return (yield from came_to(own.machine, own.plan, values, progress, invocation, done[1]))
        news = yield from _news(own.machine, progress, invocation)
        if news is not None:
            return news


def _sync(own: Visit, values: Values, progress: Progress) -> Steps[Committed]:
    """Run an activity that cannot be stopped; what came before its end is taken first, one thing a visit."""
    invocation, machine = own.invocation, own.machine
    attention, late = invocation.attention, _Late()
    if own.key in attention.crew:
        _, late = cast("tuple[Key, _Late]", attention.crew.take())
    else:
        if attention.overdue or _is_due(progress, invocation):
            news = yield from _news(machine, progress, invocation)
            if news is not None:
                return news
        late.result = yield from _ended(own)
        if attention.overdue:
            posted: Sequence[Letter] = yield Work(fn=letters, args=(progress.control, invocation))
            late.upto = posted[-1].no if posted else 0
    if progress.control.mail < late.upto or _is_due(progress, invocation):
        news = yield from _news(machine, progress, invocation)
        if news is not None:
            yield Work(afn=attention.crew.put, args=(own.key, late))
            return news
    return (yield from came_to(machine, own.plan, values, progress, invocation, late.result))


@dataclass(slots=True)
class _Late:
    """What an activity came to while something from outside comes first."""

    result: object = None
    upto: int = 0
    """The last letter that was posted before its end."""


def _ended(own: Visit) -> Steps[object]:
    try:
        return (yield from attempts(own))
    except Suspend as suspended:
        return Raised(suspended)


def _is_due(progress: Progress, invocation: Invocation) -> bool:
    due = wakes_at(progress.control.raw) if progress.control.timers else None
    return due is not None and due <= invocation.now()


def _news(machine: Machine, progress: Progress, invocation: Invocation) -> Steps[Committed | None]:
    invocation.attention.looks()
    if not (yield from arrived(machine, progress, invocation)):
        return None
    committed = finish(machine, progress, (), running=True)
    keep_failure(committed, invocation)
    return committed
