"""The wait of several regions: no activity is running, and the graph interrupts once for all of them.

What a region waits for stands beside what the others wait for; an event goes to whoever takes it, an answer to the
activity that asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.types import Command, interrupt

from stateward.run.arrivals import arrived
from stateward.run.checkpoint import Json
from stateward.run.commit import Committed, finish
from stateward.run.drive import Steps, Work
from stateward.run.hub.leaving import leave
from stateward.run.hub.questions import answer_commit, answered, load
from stateward.run.invocation import Invocation, invocation_of
from stateward.run.node import Values, begin, keep_failure
from stateward.run.people.request import shown_asks
from stateward.run.plan import REST, Machine
from stateward.run.progress import Progress
from stateward.run.refusal import REFUSALS, used_up, waits_on
from stateward.run.resume import opened
from stateward.run.store.ask import Ask
from stateward.run.wait import answered_or_happened, awaited, standing


def rest_steps(machine: Machine, values: Values, config: RunnableConfig) -> Steps[Command[Any]]:
    """Wait until an event comes that some region takes, or a person answers.

    Args:
        machine: The lowered chart.
        values: The state's values, with the control channel.
        config: LangGraph's config.

    Returns:
        A generator of work that returns LangGraph's command.
    """
    invocation = invocation_of(config)
    progress = begin(machine, values, where="the regions", invocation=invocation)
    asks: dict[str, Sequence[Ask]] = yield from _load(invocation, progress)
    ids = [ask.id for several in asks.values() for ask in several]
    try:
        payload, before = opened(interrupt(_shown(machine, progress, asks)))
    except GraphInterrupt:
        if (yield from arrived(machine, progress, invocation)):
            return (yield from _took(machine, progress, finish(machine, progress, ()), invocation))
        if not answered(asks):
            raise
        return answer_commit(machine, progress, answered(asks)).command
    yield from used_up(config)
    try:
        happened = yield from answered_or_happened(machine, progress, payload, before, invocation, asks=ids)
    except REFUSALS as refusal:
        return (yield from waits_on(values, config, path="", node=REST, refusal=refusal))
    if happened is not None:
        return (yield from _took(machine, progress, happened, invocation))
    if progress.prior is not None or progress.broken is not None or payload is None:
        # Answers are in the database: the next visit finds them, if their states were not left.
        return (yield from _took(machine, progress, finish(machine, progress, ()), invocation))
    return answer_commit(machine, progress, answered((yield from _load(invocation, progress)))).command


def _load(invocation: Invocation, progress: Progress) -> Steps[dict[str, Sequence[Ask]]]:
    asks = progress.control.asks
    return (yield Work(fn=load, args=(invocation, asks))) if asks else {}


def _took(machine: Machine, progress: Progress, committed: Committed, invocation: Invocation) -> Steps[Command[Any]]:
    keep_failure(committed, invocation)
    yield from leave(machine, progress, committed, invocation, keep=())
    return committed.command


def _shown(machine: Machine, progress: Progress, asks: Mapping[str, Sequence[Ask]]) -> Json:
    """What the interrupt tells: the states that wait, the events of all of them with who takes them, open questions."""
    chart, configuration = machine.chart, progress.configuration
    paths = [chart.nodes[state].path for state in configuration.atomic(chart)]
    states = [f"{path}.ask" if path in asks else path for path in paths]
    shown = shown_asks(ask for several in asks.values() for ask in several)
    events = [
        {**event, "states": _takers(machine, progress, event["name"])} for event in awaited(machine, configuration)
    ]
    return {
        "kind": "ask" if shown["asks"] else "wait",
        "states": states,
        "state": states[0],
        "events": events,
        **shown,
        **standing(progress),
    }


def _takers(machine: Machine, progress: Progress, event: str) -> list[str]:
    """The states that react to an event, each once: the source of a transition, not what is inside it."""
    chart, configuration = machine.chart, progress.configuration
    sources = {
        transition.source
        for atom in configuration.atomic(chart)
        for transition in chart.tables.triggered[atom]
        if transition.kind == "event" and event in transition.events
    }
    return [chart.nodes[state].path for state in sorted(sources)]
