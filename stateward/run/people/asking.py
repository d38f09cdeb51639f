"""How an activity's question is put, and what it gets for an answer; blocking, but for `put` and `put_all`.

A question is a call of the activity with a number of its own, so that it is asked once: what was answered is in the
journal, and the activity, which is entered again, finds it there. An answer of which the activity can make nothing has
the question put once more, with what was wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from stateward.chart.event import Occurrence
from stateward.errors import Diverged, GovernanceError
from stateward.govern.fingerprint import fingerprint
from stateward.govern.redact import redact
from stateward.govern.sink import taken_out
from stateward.run.door.door import Door
from stateward.run.door.question import refuse_restless
from stateward.run.door.signal import Signal, Suspend, Trip, strongest
from stateward.run.giver import givers
from stateward.run.people.question import EXPIRED, Question
from stateward.run.store.ask import Ask, ask_id
from stateward.run.store.entry import CallKey, Entry
from stateward.run.store.journal import Begun
from stateward.run.store.kind import REVIEW
from stateward.run.store.taken import lacks_approvers

T = TypeVar("T")


async def put(door: Door, question: Question[T], *, call: int) -> T:
    """Put a question, or find its answer.

    Args:
        door: The activation's.
        question: The question.
        call: Its number in the activation.

    Returns:
        The answer.

    Raises:
        Suspend: Nobody has answered yet.
        Trip: Nobody answered in time, and there is no default.
        Diverged: The activity has made another call under this number before.
        RunError: The activity is over.
    """
    (answer,) = await put_all(door, [(question, call)])
    return answer


async def put_all(door: Door, questions: Sequence[tuple[Question[Any], int]]) -> list[Any]:
    """Put several questions at once, or find their answers.

    Args:
        door: The activation's.
        questions: Each with its number in the activation.

    Returns:
        The answers, in the order of the questions.

    Raises:
        Suspend: Not all are answered yet; carries those that are not.
        Trip: One was not answered in time, and has no default.
        Diverged: The activity has made another call under one of the numbers before.
        RunError: The activity is over.
    """
    with door.in_flight.call():
        if door.signal is not None:
            raise door.signal
        came = [await door.visit(partial(_signalled, door, question, call)) for question, call in questions]
        door.signal = strongest(came) or door.signal
        if door.signal is not None:
            raise door.signal
    return came


def _signalled(door: Door, question: Question[Any], call: int) -> object:
    """Return an answer, or why there is none yet."""
    try:
        return answered(door, question, call=call)
    except (Suspend, Trip, Diverged) as signal:
        kept: Signal = signal
        return kept


def answered(door: Door, question: Question[T], *, call: int) -> T:
    """Return the answer to a question.

    Args:
        door: The activation's.
        question: The question.
        call: Its number in the activation.

    Raises:
        Suspend: Nobody has answered yet.
        Trip: Nobody answered in time, and there is no default.
        Diverged: The activity has made another call under this number before.
        GovernanceError: Nobody may answer: it needs four eyes, and nobody said who gave the input, or only those may
            approve who gave it.
    """
    journal, key = door.database.journal, door.activation.key(call)
    entry = _entry(door, question, key)
    known = journal.get(key)
    if known is not None and known.fingerprint != entry.fingerprint:
        raise Diverged(
            f"Call {call} was `{known.name}` with other arguments, and is now `{entry.name}`",
            where=key.path,
            fix="An activity that is entered again must ask the same in the same order; move what changes (time, "
            "random numbers) into a tool or into the state.",
        )
    if known is not None and known.status == "completed":
        return question.read(known.result)
    said, answer = _said(door, question, key)
    if door.playing is not None:
        door.playing.script.expect(entry)
    begun = journal.begin(entry, fence=door.fence) if known is None else None
    if known is not None or isinstance(begun, Begun):
        journal.settle(key, status="completed", result=said, fence=door.fence)
    return answer


def _entry(door: Door, question: Question[Any], key: CallKey) -> Entry:
    return Entry(
        key=key,
        kind="ask",
        name=question.kind,
        fingerprint=_fingerprint(question),
        arguments=redact(question.arguments, classes=taken_out(door.effective, sink="audit")),
        effect="pure",
    )


def _fingerprint(question: Question[Any]) -> str:
    return fingerprint(question.kind, arguments={"tool": question.tool, **question.arguments})


def _said(door: Door, question: Question[T], key: CallKey) -> tuple[Mapping[str, Any], T]:
    """Find what people said, through all that it was asked once more about."""
    put, editors = question, tuple[str, ...]()
    fingerprints = list[str]()
    while True:
        ask = _ask(door, put, key, barred=editors)
        found = _found(door, ask)
        if found is None or found.status in ("open", "withdrawn"):
            before = door.database.asks.times_answered(key)
            refuse_restless(_entry(door, question, key), answered=before - len(fingerprints))
            if found is None and lacks_approvers(ask):
                raise GovernanceError(
                    "Nobody is left who may approve: who gave the input may not, under four eyes",
                    where=key.path,
                    fix="Name more `approvers`, or have somebody else give the input.",
                )
            raise Suspend([ask])
        fingerprints.append(ask.fingerprint)
        said = _record(put, found)
        if _is_to_be_approved(put, found):
            editors = (*editors, found.by)
            put = _edited(put, said)
            if _fingerprint(put) not in fingerprints:
                continue
            said = {**said, "decision": "reject", "note": "it was edited back to a call that was edited before"}
        try:
            return said, question.read(said)
        except ValueError as wrong:
            put = _again(question, said, number=len(fingerprints), wrong=wrong)


def _again(question: Question[T], said: Mapping[str, Any], *, number: int, wrong: ValueError) -> Question[T]:
    """Make another ask of a question whose answer was none; the number keeps it from being the same one."""
    told = f"{question.text}\nThe answer of {said['by'] or 'nobody'} does not fit: {wrong}"
    return replace(question, text=told, says={**question.says, "again": number})


def _found(door: Door, ask: Ask) -> Ask | None:
    asks = door.database.asks
    found = asks.find(ask.id)
    if found is not None and found.status == "expired":
        (found,) = asks.load(ask.session, [ask.id], fence=door.fence)
    return found


def _ask(door: Door, question: Question[Any], key: CallKey, *, barred: tuple[str, ...]) -> Ask:
    terms, is_played, shown = question.terms, door.playing is not None, _fingerprint(question)
    expires = None if terms.expires_s is None or is_played else door.database.clock.now() + terms.expires_s
    return Ask.new(
        key=key,
        kind=question.kind,
        tool=question.tool,
        arguments=question.arguments,
        fingerprint=shown,
        reason=question.text,
        approvers=terms.approvers,
        expires_at=expires,
        approvals=terms.approvals,
        barred=_barred(door, ask_id(key, shown), editors=barred) if terms.four_eyes else (),
    )


def _barred(door: Door, ask: str, *, editors: tuple[str, ...]) -> tuple[str, ...]:
    """Return who may not approve under four eyes; nobody where a recorded run is played that was answered."""
    at = door.activation
    gave = givers(door.database, at.session, run=at.run) if door.playing is None else door.playing.script.givers(ask)
    if gave is None:
        return ()
    if not gave:
        raise GovernanceError(
            "The question needs four eyes, but nobody said who gave the input",
            where=at.path,
            fix="Say who with `user` in the config's `configurable`.",
        )
    return (*gave, *editors)


def _record(question: Question[Any], ask: Ask) -> Mapping[str, Any]:
    """Return what was said to an ask that is closed, as the journal keeps it.

    Raises:
        Trip: Nobody answered in time, and there is no default.
    """
    said = {"tool": question.tool, "arguments": question.says.get("arguments", {})}
    last = ask.last
    if ask.status == "expired" or last is None:
        if "default" not in question.says:
            data = {"ask": ask.id, "state": ask.path, "question": question.text, "kind": question.kind}
            raise Trip(Occurrence(name=EXPIRED, data=data))
        return {**said, "decision": "expired", "value": question.says["default"], "note": "", "by": ""}
    if last.decision == "edit" and question.kind == REVIEW:
        said = {"tool": last.tool or question.tool, "arguments": dict(last.arguments or {})}
    return {**said, "decision": last.decision, "value": last.value, "note": last.note, "by": last.by}


def _is_to_be_approved(question: Question[Any], ask: Ask) -> bool:
    """Tell whether people must approve what somebody has edited, because one person is not enough."""
    terms = question.terms
    return question.kind == REVIEW and ask.decision == "edit" and (terms.approvals > 1 or terms.four_eyes)


def _edited(question: Question[Any], said: Mapping[str, Any]) -> Question[Any]:
    return replace(question, tool=said["tool"], says={**question.says, "arguments": said["arguments"]})
