"""Questions of a governed agent to a person, in the form of LangChain's human-in-the-loop middleware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from stateward.errors import InputRefused
from stateward.run.store.ask import Ask, Decision, ask_id, envelope
from stateward.run.store.asks import Asks
from stateward.run.store.entry import CallKey

_WORDS: Mapping[str, Decision] = {
    "approve": "approve",
    "accept": "approve",
    "reject": "reject",
    "ignore": "reject",
    "edit": "edit",
    "respond": "respond",
}
_FORM = '{"decisions": [{"type": "approve"}]} or {"decisions": [{"type": "reject", "message": "…"}]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a person said."""

    decision: Decision
    note: str = ""
    by: str = ""
    """Who says it, if the answer does."""
    tool: str = ""
    """Of an edit: what is called instead."""
    arguments: Mapping[str, Any] | None = None
    """Of an edit: with which arguments."""


def question(ask: Ask, *, signed: bool = False) -> dict[str, Any]:
    """Put an ask into the form of LangChain's `HITLRequest`, with what Stateward adds.

    Args:
        ask: The ask.
        signed: Whether an answer has to say who gives it.
    """
    form = envelope(ask)
    reason = f"{ask.reason}; others have answered before: say `by` in the answer" if signed else ask.reason
    return {
        "action_requests": [{"name": ask.tool, "args": dict(ask.arguments), "description": reason}],
        "review_configs": [{"action_name": ask.tool, "allowed_decisions": form["allowed"]}],
        **{key: form[key] for key in ("id", "session", "path", "expires_at")},
    }


def used_up(ask: Ask, *, asks: Asks) -> int:
    """Count the answers about one call that were recorded; blocking.

    Args:
        ask: A question about it.
        asks: Where the others are.
    """
    key = CallKey(
        session=ask.session,
        run=ask.run,
        branch=ask.branch,
        path=ask.path,
        activation=ask.activation,
        call=ask.call,
    )
    count = max(asks.times_answered(key), len(ask.answers))
    if ask.kind != "unknown":
        return count
    _, tries, about = ask.fingerprint.split(":", 2)
    ids = (ask_id(key, fingerprint=f"unknown:{number}:{about}") for number in range(1, int(tries)))
    return count + sum(found.status == "answered" for found in map(asks.find, ids) if found is not None)


def answered(ask: Ask, *, by: str, before: int) -> Answer:
    """Interrupt the graph until somebody answers.

    LangGraph gives a step that is entered again every answer it ever got, and the last one that named no interrupt once
    more. So an answer counts without a name only where it is the only one; after that it says `by` whom it is.

    Args:
        ask: The question.
        by: Who answers now, as the config says.
        before: How many answers about the call were used up.

    Returns:
        What was said.

    Raises:
        InputRefused: It is no answer, or it is not clear which of several answers counts.
        GraphInterrupt: Nobody has answered yet.
    """
    came = list[object]()
    try:
        while True:
            came.append(interrupt(question(ask, signed=before > 0)))
    except GraphInterrupt:
        read = [answer for answer in (_read(each, ask=ask) for each in came) if answer is not None]
        if came and not read:
            raise _refused(came[-1], ask) from None
        signed, plain = [each for each in read if by and each.by == by], [each for each in read if not each.by]
        if signed:
            return signed[-1]
        if not plain or before:
            raise
        if any(each != plain[0] for each in plain):
            raise _refused(
                came[-1], ask, why="answers that say other things came before, and it does not say `by`"
            ) from None
        return plain[0]


def _read(answer: object, *, ask: Ask) -> Answer | None:
    """Read an answer; None when it is none to this question."""
    said = _said(answer, ask=ask)
    given: Any = {"type": said} if isinstance(said, str) else said
    if not isinstance(given, Mapping):
        return None
    told = cast("Mapping[str, Any]", given)
    if told.get("type") not in _WORDS:
        return None
    decision, note, by = _WORDS[told["type"]], str(told.get("message") or ""), str(told.get("by") or "")
    edited: Any = told.get("edited_action")
    if decision != "edit":  # as in `verdict`: what was meant to change the call does not let it run as it was
        return Answer(decision=decision, note=note, by=by) if edited is None else None
    if not isinstance(edited, Mapping) or not isinstance(cast("Mapping[str, Any]", edited).get("args"), Mapping):
        return None
    action = cast("Mapping[str, Any]", edited)
    tool, arguments = str(action.get("name") or ""), dict(action["args"])
    return Answer(decision=decision, note=note, by=by, tool=tool, arguments=arguments)


def _said(answer: object, *, ask: Ask) -> object:
    """Take an answer out of what is put around it: LangChain's list of decisions, or our answers by ask."""
    if not isinstance(answer, Mapping):
        return answer
    given = cast("Mapping[str, Any]", answer)
    answers, decisions = given.get("answers"), given.get("decisions")
    if isinstance(answers, Mapping):
        return cast("Mapping[str, Any]", answers).get(ask.id)
    if isinstance(decisions, Sequence) and len(cast("Sequence[Any]", decisions)) == 1:
        return cast("Sequence[Any]", decisions)[0]
    return None if decisions is not None else given


def _refused(answer: object, ask: Ask, *, why: str = "") -> InputRefused:
    return InputRefused(
        f"`{answer!r}` is no answer to `{ask.id}`, which is about one call of `{ask.tool}`{why and f': {why}'}",
        where=f"session `{ask.session}`, agent `{ask.path}`",
        fix=f"Answer with {_FORM}.",
    )
