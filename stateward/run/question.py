"""Questions the door puts to people: may this call be made, and what became of that one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stateward.govern.decision import CallRequest, NeedsApproval
from stateward.run.ask import Ask
from stateward.run.entry import Entry

_UNKNOWN = (
    "it was started before a crash and nobody knows whether it was done: approve to run it again, reject to leave it"
)


def approval(request: CallRequest, entry: Entry, need: NeedsApproval) -> Ask:
    """Ask whether a call may be made.

    Args:
        request: The call, with the arguments a person is shown.
        entry: Its journal entry, not begun yet.
        need: Why a person is asked, and who may answer.
    """
    asked = _about(entry, kind="approve", fingerprint=entry.fingerprint, reason=need.reason)
    return replace(asked, arguments=request.arguments, approvers=tuple(need.approvers))


def aftermath(known: Entry) -> Ask:
    """Ask what became of a call that was started before a crash.

    Args:
        known: Its entry. An approval to run again holds for one try: after another crash it is another question.
    """
    return _about(known, kind="unknown", fingerprint=f"unknown:{known.tries}:{known.fingerprint}", reason=_UNKNOWN)


def _about(entry: Entry, **question: Any) -> Ask:  # the fields of `Ask.new` that are the question's
    return Ask.new(key=entry.key, tool=entry.name, arguments=entry.arguments, **question)
