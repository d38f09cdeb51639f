"""What an answer makes of an ask, and why it is not taken: pure, so that it holds inside the transaction."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from stateward.errors import AskClosed, CodecError, GovernanceError
from stateward.govern.fingerprint import fingerprint
from stateward.govern.person import is_among, people, person
from stateward.run.store.ask import Ask
from stateward.run.store.fitted import fitted
from stateward.run.store.given import DECISIONS, Given, approvers_of
from stateward.run.store.kind import EDIT, TEXT


def taken(ask: Ask, given: Given) -> Ask:
    """Let an ask take an answer.

    It is closed by the first answer that is no approval, else by the approval that makes them enough; before that it
    stays open.

    Args:
        ask: The ask.
        given: What somebody says.

    Returns:
        The ask with the answer.

    Raises:
        AskClosed: It was answered, withdrawn or expired before.
        InputRefused: It does not fit what was asked.
        GovernanceError: Nobody is named, the person may not answer it or has done so already, or it is no answer to
            this ask.
    """
    refuse_closed(ask)
    _refuse_stranger(ask, by=given.by)
    given = fitted(ask, given)
    _refuse_misfit(ask, given)
    answers = (*ask.answers, given)
    enough = given.decision != "approve" or len(approvers_of(answers)) >= ask.approvals
    told = replace(ask, answers=answers, by=given.by, note=given.note)
    return replace(told, status="answered", decision=given.decision, answered_at=given.at) if enough else told


def refuse_closed(ask: Ask) -> None:
    """Refuse to answer an ask that is not open.

    Args:
        ask: The ask.

    Raises:
        AskClosed: It was answered, withdrawn or expired before.
    """
    if ask.status == "open":
        return
    at = ask.answered_at if ask.status == "answered" else ask.expires_at if ask.status == "expired" else None
    when = "" if at is None else f" at {datetime.fromtimestamp(at, UTC).isoformat(timespec='seconds')}"
    late = "What it was about is refused; the policy says how long an answer is waited for"
    if ask.is_question:
        late = "Its default counts, or the chart was told that nobody answered in time"
    how, fix = {
        "answered": (f"was answered with `{ask.decision}` by `{ask.by}`", "An ask is answered once"),
        "expired": ("has expired", late),
    }.get(ask.status, (f"was {ask.status}", "The run that asked went another way"))
    raise AskClosed(
        f"Ask `{ask.id}` {how}{when}",
        where=f"session `{ask.session}`",
        fix=f"{fix}; look at the session for what followed.",
        ask=ask.id,
        status=ask.status,
        by=ask.by,
    )


def lacks_approvers(ask: Ask) -> bool:
    """Tell whether fewer people may approve an ask than must.

    Args:
        ask: The ask.
    """
    return bool(ask.approvers) and len(people(ask.approvers) - people(ask.barred)) < ask.approvals


def _refuse_stranger(ask: Ask, *, by: str) -> None:
    if not person(by):
        raise _not_yours(
            ask,
            f"Ask `{ask.id}` can only be answered by a named person",
            fix='Say who: `by` beside the answer, {"type": "approve", "by": PERSON} for instance, or `approver` in the '
            "`configurable` of LangGraph's config; `--by` on the command line.",
        )
    if ask.approvers and not is_among(by, ask.approvers):
        names = ", ".join(f"`{name}`" for name in ask.approvers)
        raise _not_yours(ask, f"`{by}` may not answer ask `{ask.id}`", fix=f"One of these may: {names}.")


def _refuse_misfit(ask: Ask, given: Given) -> None:
    if given.decision not in DECISIONS:
        known = ", ".join(f"`{word}`" for word in DECISIONS)
        raise GovernanceError(f"`{given.decision}` is no answer", fix=f"Answer with one of {known}.", ask=ask.id)
    if given.decision not in ask.allowed:
        about = "is answered otherwise" if ask.is_question else "is about a call that was made"
        fix = f"Answer {' or '.join(f'`{word}`' for word in ask.allowed)}."
        raise _not_yours(ask, f"Ask `{ask.id}` {about}", fix=fix)
    if given.decision == "edit" and ask.kind != EDIT:
        _refuse_edit(ask, given)
    is_word = given.decision == "respond" and ask.kind != TEXT  # of a text `fitted` tells whether it says anything
    if is_word and given.value is None and not given.note.strip():
        raise _not_yours(ask, f"The answer to `{ask.id}` says nothing", fix="Say it in `note`, or answer `reject`.")
    if given.decision in ("approve", "respond"):
        _refuse_same(ask, given)


def _refuse_edit(ask: Ask, given: Given) -> None:
    if given.arguments is None:
        raise _not_yours(ask, f"The edit of `{ask.id}` names no arguments", fix="Give all arguments of the new call.")
    try:
        edited = fingerprint(given.tool or ask.tool, arguments=given.arguments)
    except (CodecError, RecursionError) as misfit:
        raise _not_yours(ask, f"The arguments of the edit of `{ask.id}` cannot be kept", fix="Give JSON.") from misfit
    if edited == ask.fingerprint:
        raise _not_yours(ask, f"The edit of `{ask.id}` changes nothing", fix="Answer `approve`.")
    if ask.barred and lacks_approvers(replace(ask, barred=(*ask.barred, given.by))):
        raise _not_yours(
            ask,
            f"Nobody would be left who may approve the edit of `{ask.id}` (four eyes)",
            fix="Have somebody edit it who may not approve it anyway, or answer `reject` or `respond`.",
        )


def _refuse_same(ask: Ask, given: Given) -> None:
    if person(given.by) in people(ask.barred):
        left = "`reject` and `edit` are" if "edit" in ask.allowed else "`reject` is"
        raise _not_yours(
            ask,
            f"`{given.by}` gave the input or edited the arguments, and may not approve ask `{ask.id}` (four eyes)",
            fix=f"Somebody else must; {left} open to everybody who may answer.",
        )
    if given.decision == "approve" and person(given.by) in approvers_of(ask.answers):
        raise _not_yours(
            ask,
            f"`{given.by}` has approved ask `{ask.id}` already; it has {ask.progress} approvals",
            fix="Another person must approve.",
        )


def _not_yours(ask: Ask, what: str, *, fix: str) -> GovernanceError:
    return GovernanceError(what, where=f"session `{ask.session}`, state `{ask.path}`", fix=fix)
