"""Sending an event to a session, whoever runs it.

An event for a session that somebody else runs is posted to the mailbox, and who runs the session takes it. Nothing that
was accepted is lost: after posting, the sender tries to take the session itself, and who lets go of it looks at the
mailbox then.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from langgraph.types import Command

from stateward.errors import InputRefused, NotExpected, SessionBusy, StatewardError
from stateward.run.caller import Caller
from stateward.run.drive import Steps, Work
from stateward.run.outcome import Outcome, Sent
from stateward.run.payload import payload
from stateward.run.resume import known_event
from stateward.run.store.mailbox import Letter
from stateward.run.store.session_row import SessionRow
from stateward.run.store.watch import POLL_S
from stateward.run.text import checked_text


def sending(
    caller: Caller, event: str, data: Mapping[str, Any] | None, *, by: str = "", wait_s: float = 0
) -> Steps[Sent]:
    """Go on with a session that waits, or leave the event for who runs it.

    Args:
        caller: The session.
        event: The event's name.
        data: The event's fields.
        by: Who sends it.
        wait_s: How many seconds to wait, from 0, until somebody else has taken it or refused it.

    Returns:
        A generator of work that returns what became of it.

    Raises:
        NotExpected: No transition took the event, or its name is no event of the chart.
        InputRefused: The data does not fit the event's type, or a name cannot be kept.
        UnknownSession: There is no such session.
    """
    checked_text(by, what=f"who sends `{event}`")
    kept = payload(known_event(caller.graph.machine, _named(event), _fields(data)))
    yield Work(fn=caller.refuse_stranger)
    row: SessionRow | None = yield Work(fn=caller.row)
    if row is not None and row.status != "running":
        done: Outcome | None = yield from caller.trying(command(event, data))
        if done is not None:
            return Sent(outcome=done)
    mailbox = caller.database.mailbox
    letter: Letter = yield Work(fn=_post, args=(caller, event, kept, by))
    outcome, until = None, time.monotonic() + wait_s
    while True:
        free: bool = yield Work(fn=_is_free, args=(caller,))
        if free:
            outcome = (yield from _going_on(caller, letter)) or outcome
        letter = yield Work(fn=mailbox.get, args=(caller.session, letter.no))
        if letter.status == "refused":
            raise NotExpected(letter.note, where=f"session `{caller.session}`", fix="Send it when it is awaited.")
        if letter.status == "taken" or time.monotonic() >= until:
            return Sent(outcome=outcome, letter=letter)
        yield pausing()


def pausing() -> Work:
    """Return the work of waiting for a moment."""
    return Work(fn=_pause, afn=asyncio.sleep, args=(POLL_S,))


def command(event: str | None, data: Mapping[str, Any] | None) -> object:
    """Return what LangGraph gets for an event, or to go on without one.

    Args:
        event: The event's name, or None.
        data: The event's fields, or None.

    Raises:
        InputRefused: The name is no text, or the data no mapping.
    """
    if event is None and data is None:
        return None
    return Command(resume={"event": _named(event), "data": _fields(data)})


def _going_on(caller: Caller, letter: Letter) -> Steps[Outcome | None]:
    """Go on with the session, so that the letter is taken; if that is refused, so is the letter."""
    try:
        return (yield from caller.trying(None))
    except StatewardError as refused:
        if not hasattr(refused, "__notes__"):  # no activity's error, which would be recorded
            yield Work(fn=_take_back, args=(caller, letter, str(refused)))
        raise


def _post(caller: Caller, event: str, data: object, by: str) -> Letter:
    return caller.database.mailbox.post(caller.session, event, data, by=by)


def _is_free(caller: Caller) -> bool:
    return caller.database.leases.held(caller.session) is None


def _take_back(caller: Caller, letter: Letter, why: str) -> None:
    with suppress(SessionBusy):  # somebody else can go on with it
        caller.database.mailbox.refuse(caller.session, letter.no, at="", note=why)


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def _named(event: object) -> str:
    if not isinstance(event, str) or not event:
        raise InputRefused(
            f"An event is named by a text, not {event!r}", fix="Give its name, and its fields as `data`."
        )
    return checked_text(event, what="the name of an event")


def _fields(data: object) -> dict[str, Any] | None:
    if data is None or isinstance(data, Mapping):
        return None if data is None else dict(cast("Mapping[str, Any]", data))
    raise InputRefused(
        f"The data of an event is a mapping of its fields, not {type(data).__name__}", fix="Give it as {FIELD: VALUE}."
    )
