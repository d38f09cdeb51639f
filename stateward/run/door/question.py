"""Questions the door puts to people: may this call be made, and what became of that one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stateward.errors import Diverged
from stateward.govern.decision import CallRequest, NeedsApproval
from stateward.govern.person import is_among, people
from stateward.run.store.ask import Ask
from stateward.run.store.entry import Entry
from stateward.run.store.given import Given

MAX_ANSWERS = 3
"""Answers to one call under changing arguments, after which it counts as one that never stays the same."""
_UNKNOWN = (
    "it was started before a crash and nobody knows whether it was done: approve to run it again, reject to leave it"
)


def approval(
    request: CallRequest,
    entry: Entry,
    need: NeedsApproval,
    *,
    now: float | None = None,
    barred: tuple[str, ...] = (),
    answers: tuple[Given, ...] = (),
) -> Ask:
    """Ask whether a call may be made.

    Args:
        request: The call, with the arguments a person is shown.
        entry: Its journal entry, not begun yet.
        need: Why a person is asked, who may answer, and for how long.
        now: The database's time, in seconds since the epoch; None in a replay, where questions expire when they did.
        barred: Who may not approve.
        answers: What counts as said already.
    """
    asked = _about(entry, kind="approve", fingerprint=entry.fingerprint, reason=need.reason)
    expires = None if now is None or need.expires_s is None else now + need.expires_s
    return replace(
        asked,
        arguments=request.arguments,
        approvers=tuple(need.approvers),
        expires_at=expires,
        approvals=need.approvals,
        barred=barred,
        answers=answers,
    )


def rejected(ask: Ask, need: NeedsApproval) -> str:
    """Say why a call that a person should have approved is not made.

    Args:
        ask: The question, answered or expired.
        need: Why it was put.
    """
    if ask.status == "expired":
        return "expired: nobody answered" + (" in time" if need.expires_s is None else f" within {need.expires_s:g} s")
    did = "answered in the place of the call" if ask.decision == "respond" else "rejected the call"
    return f"{ask.by or 'A person'} {did}" + (f": {ask.note}" if ask.note else "")


def unfit(ask: Ask, need: NeedsApproval) -> str | None:
    """Say why approvals that were enough when they were given are so no more: the policy may have changed since.

    Args:
        ask: The question, approved.
        need: Why it would be put now.

    Returns:
        The reason; None when they are enough.
    """
    gave = [each.by for each in ask.answers if each.decision == "approve"]
    able = [by for by in gave if not need.approvers or is_among(by, need.approvers)]
    if len(people(able)) >= need.approvals and (not need.four_eyes or people(able).isdisjoint(people(ask.barred))):
        return None
    return f"{', '.join(gave) or 'Nobody'} approved the call, which is not enough any more: {need.reason}"


def refuse_restless(entry: Entry, *, answered: int) -> None:
    """Stop asking about a call that has other arguments each time: no answer could ever fit it.

    Args:
        entry: The call that would be asked about once more.
        answered: How often it was asked about and answered, ≥ 0.

    Raises:
        Diverged: It was answered `MAX_ANSWERS` times.
    """
    if answered >= MAX_ANSWERS:
        raise Diverged(
            f"Call {entry.key.call}, `{entry.name}`, was answered {answered} times and has other arguments again",
            where=entry.key.path,
            fix="Move what changes (time, random numbers) into a tool or into the state.",
        )


def aftermath(known: Entry) -> Ask:
    """Ask what became of a call that was started before a crash.

    Args:
        known: Its entry. An approval to run again holds for one try: after another crash it is another question.
    """
    return _about(known, kind="unknown", fingerprint=f"unknown:{known.tries}:{known.fingerprint}", reason=_UNKNOWN)


def _about(entry: Entry, **question: Any) -> Ask:  # the fields of `Ask.new` that are the question's
    return Ask.new(key=entry.key, tool=entry.name, arguments=entry.arguments, **question)
