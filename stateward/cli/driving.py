"""Driving one session so that it can be watched and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import Command

from stateward.cli.stop import Stop, Stopped, stopping_on_signals
from stateward.errors import SessionBusy, StatewardError
from stateward.run.checkpoint import AFTER, CHANNEL, decode
from stateward.run.events.event import StreamEvent
from stateward.run.events.following import OPTIONS, afollow
from stateward.run.events.listener import LISTEN
from stateward.run.session import Outcome, Session
from stateward.run.wait import awaited

T = TypeVar("T")
Tell = Callable[[StreamEvent], None]

FAILURE_NOTE = "Stateward: session"
"""How the note begins that the graph leaves on an activity's exception."""
BUSY_TRIES = 25
BUSY_PAUSE_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """How one drive of a session ended."""

    outcome: Outcome
    error: str = ""
    """What an activity raised, when the run is recorded as failed."""
    events: tuple[str, ...] = ()
    """What may be sent to it now, when it waits for an event."""


def event_command(event: str | None, *, data: Mapping[str, Any] | None = None) -> object:
    """Return what LangGraph gets to go on with a session.

    Args:
        event: The event's name; None to go on where a crash or an answer left off.
        data: The event's fields.
    """
    return None if event is None else Command(resume={"event": event, "data": dict(data) if data else None})


async def drive(
    session: Session,
    given: object,
    *,
    stop: Stop,
    moved: Callable[[str], None] = lambda _state: None,
    after: int | None = None,
    tell: Tell | None = None,
) -> Outcome:
    """Send an input or go on, until the session waits or ends.

    Args:
        session: The session.
        given: State keys, or what `event_command` returned.
        stop: Ends the run at its next checkpoint.
        moved: Is told the path of each state whose work begins.
        after: The session's fence when its state was looked at, if what is given hangs on that.
        tell: Is told every event; then `moved` is told nothing.

    Returns:
        Where the session stands.

    Raises:
        Stopped: A stop was asked for; the session can be resumed.
        StatewardError: The input or event was refused, or the session went on since it was looked at.
        Exception: An activity's, which ended the run; it is recorded as failed.
    """
    config = session.config
    if after is not None:
        config["configurable"] = {**config.get("configurable", {}), AFTER: after}
    with stop.control() as control:
        try:
            if tell is not None:
                await _heard(session, given, config, control=control, tell=tell)
                return await session.aoutcome()
            async for part in session.graph.astream(
                given, config, context=session.context, stream_mode="tasks", control=control
            ):
                if "input" in part and not part["name"].startswith("__"):
                    moved(part["name"])
        except GraphDrained:
            raise Stopped from None
    return await asyncio.to_thread(session.outcome)


async def _heard(session: Session, given: object, config: RunnableConfig, *, control: RunControl, tell: Tell) -> None:
    heard: RunnableConfig = {**config, "configurable": {**config.get("configurable", {}), LISTEN: True}}
    made = session.graph.astream(given, heard, context=session.context, control=control, **OPTIONS)
    parts = cast("AsyncGenerator[Any]", made)
    async with aclosing(afollow(parts, machine=session.graph.machine, look=session.aoutcome)) as events:
        async for event in events:
            tell(event)


def drive_alone(session: Session, given: object, *, tell: Tell | None = None) -> Driven:
    """Drive one session for a command that does nothing else, and wait a little while another process holds it.

    Args:
        session: The session.
        given: State keys, or what `event_command` returned.
        tell: Is told every event.

    Returns:
        Where it stands; with the message when an activity's exception ended the run.

    Raises:
        Stopped: Ctrl-C or SIGTERM; the session can be resumed.
        StatewardError: The input or event was refused, or the session is held by another process.
    """
    return run_until_stopped(lambda stop: _patiently(session, given, stop=stop, tell=tell))


def run_until_stopped(work: Callable[[Stop], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine in a loop of its own, under Ctrl-C and SIGTERM.

    Args:
        work: Makes the coroutine.

    Returns:
        What it returns.

    Raises:
        Stopped: It was stopped before it had a result.
        StatewardError: What it raised.
    """

    async def whole() -> T:
        async with stopping_on_signals() as stop:
            task = asyncio.create_task(work(stop))
            await stop.finish((task,))
            if task.cancelled() or isinstance(task.exception(), Stopped):
                raise Stopped
            return task.result()

    return asyncio.run(whole())


async def _patiently(session: Session, given: object, *, stop: Stop, tell: Tell | None) -> Driven:
    """Drive; who goes on after an answer may find that the run which asked is only just letting go."""
    tries = 1 if _is_input(given) else BUSY_TRIES
    for left in range(tries - 1, -1, -1):
        try:
            outcome = await drive(session, given, stop=stop, tell=tell)
            return Driven(outcome=outcome, events=await asyncio.to_thread(_awaited, session, outcome))
        except SessionBusy as error:
            if is_recorded(error) or not left or stop.requested:
                raise
            await asyncio.sleep(BUSY_PAUSE_S)
        except Exception as error:
            if not is_recorded(error):
                raise
            return Driven(outcome=await asyncio.to_thread(session.outcome), error=told(error))
    raise AssertionError("unreachable")  # pragma: no cover


def _awaited(session: Session, outcome: Outcome) -> tuple[str, ...]:
    if outcome.status != "waiting":
        return ()
    machine = session.graph.machine
    control = decode(session.graph.get_state(session.config).values.get(CHANNEL) or {}, machine.chart)
    return () if control is None else tuple(each["name"] for each in awaited(machine, control.configuration))


def _is_input(given: object) -> bool:
    return given is not None and not isinstance(given, Command)


def is_recorded(error: BaseException) -> bool:
    """Say whether an error is an activity's that ended its run, which is recorded as failed.

    Args:
        error: What the graph raised.
    """
    notes: list[str] = getattr(error, "__notes__", [])
    return any(note.startswith(FAILURE_NOTE) for note in notes)


def told(error: BaseException) -> str:
    """Write an exception as one line.

    Args:
        error: The exception.
    """
    text = str(error)
    return text if isinstance(error, StatewardError) else f"{type(error).__name__}: {text}" if text else repr(error)
