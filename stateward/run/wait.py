"""Waiting nodes: where a chart rests until an event comes or a person answers.

A wait is a state (DESIGN decision 5). Its node does nothing but interrupt and, when resumed, run the kernel, so that
running it again from its beginning, which is how LangGraph resumes, repeats no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, interrupt

from stateward.chart.configuration import Configuration
from stateward.chart.step import enabled
from stateward.errors import NotExpected
from stateward.run.checkpoint import CHANNEL, Control, Json
from stateward.run.commit import Committed, Progress, finish
from stateward.run.drive import Steps, Work
from stateward.run.invocation import Invocation, invocation_of
from stateward.run.node import Values, begin
from stateward.run.node import told as reported
from stateward.run.plan import Machine
from stateward.run.resume import Answers, Happened, claim, is_internal, read
from stateward.run.store.ask import Ask, envelope
from stateward.run.store.database import Database


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
    path = machine.chart.nodes[state].path
    progress = begin(machine, values, where=path)
    payload = interrupt({"kind": "wait", "state": path, "events": awaited(machine, progress.configuration)})
    said = read(payload, machine=machine, asks=())
    if not isinstance(said, Happened):
        raise NotExpected("Nobody was asked anything here", where=path, fix="Send an event.")
    return reported(happen(machine, progress, said), invocation_of(config))
    yield Work()  # pragma: no cover  # makes this a generator like the other nodes


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
    path = machine.chart.nodes[state].path
    database = invocation_of(config).database
    progress = begin(machine, values, where=path)
    ids = tuple(progress.control.asks.get(path, ()))
    asks: list[Ask] = yield Work(fn=_load, args=(database, ids))
    payload = interrupt(
        {
            "kind": "ask",
            "state": f"{path}.ask",
            "asks": [envelope(ask) for ask in asks if ask.status == "open"],
            "events": awaited(machine, progress.configuration),
        }
    )
    said = read(payload, machine=machine, asks=ids, by=invocation_of(config).approver)
    if isinstance(said, Happened):
        committed = happen(machine, progress, said)
        if state in committed.exited:
            yield Work(fn=_withdraw, args=(database, invocation_of(config), ids))
        return reported(committed, invocation_of(config))
    if isinstance(said, Answers):
        yield Work(fn=claim, args=(database, said))
    asks = yield Work(fn=_load, args=(database, ids))
    return _answered(machine, state, progress, asks)


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
        raise unexpected(machine, progress.control, told.event.name, reason=committed.reason)
    return committed


def unexpected(
    machine: Machine, control: Control, event: str, *, reason: Mapping[str, Any] | None = None
) -> NotExpected:
    """Make the error for an event that no transition takes now.

    Args:
        machine: The lowered chart.
        control: Where the session stands.
        event: The event's name.
        reason: What went wrong while it was tried; a guard that raised counts as false, and must not be hidden.
    """
    names = [one["name"] for one in awaited(machine, control.configuration)]
    at = ", ".join(machine.chart.nodes[i].path for i in control.configuration.atomic(machine.chart))
    why = ""
    if reason is not None and reason.get("event") == "error.guard":
        told: Mapping[str, Any] = reason.get("data") or {}
        why = f": its guard `{told.get('guard')}` raised {told.get('error')}"
    return NotExpected(
        f"No transition takes the event `{event}` now{why}",
        where=at,
        fix=f"Awaited: {', '.join(names) or 'nothing'}.",
    )


def _load(database: Database, ids: Sequence[str]) -> list[Ask]:
    return [database.asks.get(ask) for ask in ids]


def _withdraw(database: Database, invocation: Invocation, ids: Sequence[str]) -> None:
    database.asks.withdraw(invocation.session, ids=ids, fence=invocation.fence)


def _answered(machine: Machine, state: int, progress: Progress, asks: Sequence[Ask]) -> Command[Any]:
    path = machine.chart.nodes[state].path
    last = {"event": "answer", "state": path, "activation": progress.configuration.activation(state)}
    if any(ask.status == "open" for ask in asks):
        return Command(update={CHANNEL: {"last": last}}, goto=machine.ask_node(state))
    delta = {"status": "running", "asks": {path: None}, "last": last}
    return Command(update={CHANNEL: delta}, goto=machine.activity_node(state))
