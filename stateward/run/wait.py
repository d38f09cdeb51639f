"""Waiting nodes: where a chart rests until an event comes or a person answers.

A wait is a state (DESIGN decision 5). Its node does nothing but interrupt and, when resumed, run the kernel, so that
running it again from its beginning, which is how LangGraph resumes, repeats no effect. What a wait is resumed with
comes out of `interrupt`; only where nothing does, which is where the wait begins, it looks for what came meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.types import Command, interrupt

from stateward.chart.configuration import Configuration
from stateward.chart.step import enabled
from stateward.errors import NotExpected
from stateward.run.arrivals import arrived, taken_before
from stateward.run.branch import renamed
from stateward.run.checkpoint import CHANNEL, Json, wakes_at
from stateward.run.commit import Committed, finish
from stateward.run.drive import Steps, Work
from stateward.run.invocation import Invocation, invocation_of
from stateward.run.node import Values, begin
from stateward.run.node import told as reported
from stateward.run.people.reminder import agenda_delta, drop_reminders
from stateward.run.people.request import shown_asks
from stateward.run.plan import Machine
from stateward.run.progress import Progress
from stateward.run.refusal import REFUSALS, used_up, waits_on, why_refused
from stateward.run.resume import Answers, Before, Happened, claim, is_internal, opened, read, still_open
from stateward.run.store.ask import Ask


def awaited(machine: Machine, configuration: Configuration) -> list[Json]:
    """List the events a person or program may send now.

    Args:
        machine: The lowered chart.
        configuration: Where it stands.

    Returns:
        For each event its name and, when it is typed, the JSON schema of its data.
    """
    events = machine.chart.events
    names = [name for name in enabled(machine.chart, configuration) if not is_internal(name)]
    typed = {name: events.get(name) for name in names}
    return [{"name": n, **({"schema": kind.model_json_schema()} if kind else {})} for n, kind in typed.items()]


def wait_steps(machine: Machine, state: int, values: Values, config: RunnableConfig) -> Steps[Command[Any]]:
    """Wait in a state for an event.

    Args:
        machine: The lowered chart.
        state: The state's index.
        values: The state's values, with the control channel.
        config: LangGraph's config.

    Returns:
        A generator of work that returns LangGraph's command.

    Raises:
        NotExpected: It was resumed with an answer, but nothing was asked, or with an event nobody awaits.
    """
    path, invocation = machine.chart.nodes[state].path, invocation_of(config)
    progress = begin(machine, values, where=path, invocation=invocation)
    shown = {"kind": "wait", "state": path, "events": awaited(machine, progress.configuration), **standing(progress)}
    try:
        payload, before = opened(interrupt(shown))
    except GraphInterrupt:
        if not (yield from arrived(machine, progress, invocation)):
            raise
        return reported(finish(machine, progress, ()), invocation)
    yield from used_up(config)
    yield from taken_before(machine, progress, before, invocation)
    if payload is None:
        return reported(finish(machine, progress, ()), invocation)
    try:
        said = read(payload, machine=machine, asks=())
        if not isinstance(said, Happened):
            raise NotExpected("Nobody was asked anything here", where=path, fix="Send an event.")
        committed = happen(machine, progress, said)
    except REFUSALS as refusal:
        node = machine.wait_node(state)
        return (yield from waits_on(values, config, path=path, node=node, refusal=refusal))
    return reported(committed, invocation)


def ask_steps(machine: Machine, state: int, values: Values, config: RunnableConfig) -> Steps[Command[Any]]:
    """Wait in a state's `ask` substate until every open ask of its activity is answered.

    Args:
        machine: The lowered chart.
        state: The state's index.
        values: The state's values, with the control channel.
        config: LangGraph's config.

    Returns:
        A generator of work that returns LangGraph's command.
    """
    path, invocation = machine.chart.nodes[state].path, invocation_of(config)
    progress = begin(machine, values, where=path, invocation=invocation)
    ids = tuple(progress.control.asks.get(path, ()))
    asks: Sequence[Ask] = yield Work(fn=_load, args=(invocation, ids))
    shown = {
        "kind": "ask",
        "state": f"{path}.ask",
        **shown_asks(asks),
        "events": awaited(machine, progress.configuration),
        **standing(progress),
    }
    try:
        payload, before = opened(interrupt(shown))
    except GraphInterrupt:
        if (yield from arrived(machine, progress, invocation)):
            return (yield from _left(machine, state, finish(machine, progress, ()), invocation, ids))
        if any(ask.status == "open" for ask in asks):
            raise
        return _answered(machine, state, progress, asks)
    yield from used_up(config)
    try:
        committed = yield from answered_or_happened(machine, progress, payload, before, invocation, asks=ids)
    except REFUSALS as refusal:
        node = machine.ask_node(state)
        return (yield from waits_on(values, config, path=path, node=node, refusal=refusal))
    if committed is not None:
        return (yield from _left(machine, state, committed, invocation, ids))
    if progress.prior is not None or progress.broken is not None:
        # The answers are in the database: the next visit finds them, if the state was not left.
        return (yield from _left(machine, state, finish(machine, progress, ()), invocation, ids))
    asks = yield Work(fn=_load, args=(invocation, ids))
    return _answered(machine, state, progress, asks)


def answered_or_happened(
    machine: Machine,
    progress: Progress,
    payload: object,
    before: Before | None,
    invocation: Invocation,
    *,
    asks: Sequence[str],
) -> Steps[Committed | None]:
    """Take what a wait with open asks is resumed with: answers are recorded, an event is taken.

    Args:
        machine: The lowered chart.
        progress: Where the step stands.
        payload: What it is resumed with; None for nothing.
        before: What comes first.
        invocation: The call.
        asks: The ids of the asks.

    Returns:
        A generator of work that returns the commit of an event; None when none happened.

    Raises:
        InputRefused: The payload is none of the forms, or the data does not fit the event's type.
        NotExpected: An ask cannot be answered, or no transition takes the event.
        UpdateRefused: The update does not fit the state schema.
        GovernanceError: Somebody answered who may not.
    """
    told = renamed(progress.control.raw, payload)
    still = asks
    if told is not None and not invocation.shared:  # else admission has put the ids into it
        still = yield Work(fn=_still_open, args=(invocation, asks))
    said = None if told is None else read(told, machine=machine, asks=asks, unanswered=still, by=invocation.approver)
    if isinstance(said, Answers):
        yield Work(fn=_claim, args=(machine, invocation, said))
    yield from taken_before(machine, progress, before, invocation)
    return happen(machine, progress, said) if isinstance(said, Happened) else None


def standing(progress: Progress) -> Json:
    """Return what a wait says of itself: when its first timer is due, if any is pending, and what it just refused.

    Args:
        progress: Where the step stands.
    """
    first = wakes_at(progress.control.raw)
    return {**({} if first is None else {"wakes_at": first}), **why_refused(progress)}


def happen(machine: Machine, progress: Progress, told: Happened) -> Committed:
    """Take an event, with the update it brought.

    Args:
        machine: The lowered chart.
        progress: Where the step stands.
        told: The event.

    Returns:
        The commit.

    Raises:
        NotExpected: No transition takes the event; nothing is committed.
        UpdateRefused: The update does not fit the state schema.
    """
    if told.update:
        progress.view.apply(told.update)
    committed = finish(machine, progress, [told.event])
    if not committed.handled:
        raise unexpected(machine, progress, told.event.name, reason=committed.reason)
    return committed


def unexpected(
    machine: Machine, progress: Progress, event: str, *, reason: Mapping[str, Any] | None = None
) -> NotExpected:
    """Make the error for an event that no transition takes now.

    Args:
        machine: The lowered chart.
        progress: Where the session stands, when what comes before the event was taken.
        event: The event's name.
        reason: What went wrong while it was tried; a guard that raised counts as false, and must not be hidden.
    """
    names = [one["name"] for one in awaited(machine, progress.configuration)]
    asks = (f"the answer to `{ask}`" for ids in progress.control.asks.values() for ask in ids)
    names += () if progress.prior is not None else asks
    at = ", ".join(machine.chart.nodes[i].path for i in progress.configuration.atomic(machine.chart))
    why = ""
    if reason is not None and reason.get("event") == "error.guard":
        told: Mapping[str, Any] = reason.get("data") or {}
        why = f": its guard `{told.get('guard')}` raised {told.get('error')}"
    came = progress.prior is not None or progress.broken is not None
    first = " Timers and events that come first lead there: go on without an event to take them." if came else ""
    return NotExpected(
        f"No transition takes the event `{event}` now{why}",
        where=at,
        fix=f"Awaited: {', '.join(names) or 'nothing'}.{first}",
    )


def _load(invocation: Invocation, ids: Sequence[str]) -> tuple[Ask, ...]:
    asks = invocation.database.asks.load(invocation.session, ids, fence=invocation.fence)
    if invocation.listener is not None:
        invocation.listener.answered(asks)
    return asks


def _still_open(invocation: Invocation, asks: Sequence[str]) -> Sequence[str]:
    return still_open(invocation.database, asks)


def _claim(machine: Machine, invocation: Invocation, answers: Answers) -> None:
    claim(invocation.database, answers, machine=machine)


def _left(
    machine: Machine, state: int, committed: Committed, invocation: Invocation, ids: Sequence[str]
) -> Steps[Command[Any]]:
    """Commit an event of a state that asks; when it leaves the state, the questions are taken back."""
    if state in committed.exited:
        yield Work(fn=_withdraw, args=(invocation, ids))
    return reported(committed, invocation)


def _withdraw(invocation: Invocation, ids: Sequence[str]) -> None:
    invocation.database.asks.withdraw(invocation.session, ids=ids, fence=invocation.fence)


def _answered(machine: Machine, state: int, progress: Progress, asks: Sequence[Ask]) -> Command[Any]:
    path = machine.chart.nodes[state].path
    last = {"event": "answer", "state": path, "activation": progress.configuration.activation(state)}
    drop_reminders(machine, progress, [ask.id for ask in asks if ask.status != "open"])
    timers = agenda_delta(progress)
    if any(ask.status == "open" for ask in asks):
        return Command(update={CHANNEL: {"last": last, **timers}}, goto=machine.ask_node(state))
    delta = {"status": "running", "asks": {path: None}, "last": last, **timers}
    return Command(update={CHANNEL: delta}, goto=machine.activity_node(state))
