"""The step of a node whose call is to stop (see `brake.py`): what runs is ended, and the checkpoint says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END
from langgraph.types import Command

from stateward.chart.event import Occurrence
from stateward.run.brake import Halt
from stateward.run.checkpoint import CHANNEL, Json, configuration_delta
from stateward.run.commit import Committed, finish
from stateward.run.drive import Steps, Work
from stateward.run.ending import close_calls, end_delta, withdraw
from stateward.run.hub.leaving import leave
from stateward.run.invocation import Invocation, invocation_of
from stateward.run.node import Values, begin, keep_failure
from stateward.run.plan import Machine
from stateward.run.repair import mending


def stopped_steps(machine: Machine, values: Values, config: RunnableConfig, halt: Halt) -> Steps[Command[Any]]:
    """Commit that a run stops here, or of a halt that is an event what the chart makes of it.

    Args:
        machine: The lowered chart.
        values: The state's values, with the control channel.
        config: LangGraph's config.
        halt: Why.

    Returns:
        A generator of work that returns LangGraph's command.
    """
    invocation = invocation_of(config)
    if invocation.attention.is_used or invocation.bridge.is_busy:
        yield Work(afn=partial(_rest, invocation))
    raw: Mapping[str, Any] = values.get(CHANNEL) or {}
    closing = partial(
        close_calls,
        invocation.database,
        invocation.session,
        raw,
        threaded=threaded(machine),
        fence=invocation.fence,
    )
    if halt.is_event:
        command = yield from _taken(machine, values, invocation, halt, closing=closing)
        if command is not None:
            return command
    yield Work(fn=closing)
    yield Work(fn=partial(withdraw, invocation.database, invocation.session, raw, fence=invocation.fence))
    entered = _entered(machine, values)
    mended = mending(values, machine.schema.messages, fate="cancelled")
    return Command(update={**mended, CHANNEL: {**entered, **end_delta({**raw, **entered}, halt)}}, goto=END)


def _entered(machine: Machine, values: Values) -> Json:
    """Where a run stands that is stopped in its first step: it has entered the chart, and says so."""
    progress = begin(machine, values, where="the run")
    if progress.step is None:
        return {}
    entered = [state for micro in progress.microsteps() for state in micro.entered]
    return configuration_delta(progress.control.configuration, progress.began, machine.chart, entered=entered)


async def _rest(invocation: Invocation) -> None:
    """Let everything stop that the node had begun, so that nothing of it is written any more."""
    await invocation.attention.end()
    await invocation.bridge.rest()


def _taken(
    machine: Machine, values: Values, invocation: Invocation, halt: Halt, *, closing: Callable[..., None]
) -> Steps[Command[Any] | None]:
    """Let the chart take the event; None when no transition does."""
    progress = begin(machine, values, where="the run", invocation=invocation)
    event = Occurrence(name=halt.event, data=dict(halt.data))
    committed: Committed = finish(machine, progress, [event], running=True)
    if not committed.handled or committed.fatal == halt.event:
        return None
    keep_failure(committed, invocation)
    nodes, before = machine.chart.nodes, progress.configuration
    places = [(nodes[state].path, before.activation(state)) for state in committed.exited]
    yield Work(fn=partial(closing, places=places))
    yield from leave(machine, progress, committed, invocation, keep=())
    return committed.command


def threaded(machine: Machine) -> frozenset[str]:
    """Return the tools of a chart that run in threads.

    Args:
        machine: The lowered chart.
    """
    tools = [tool for plan in machine.plans.values() for tool in plan.tools.values()]
    return frozenset(tool.name for tool in tools if tool.goes_on)
