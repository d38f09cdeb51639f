"""One person's answer to one ask, read from what a client sends.

Nothing of an answer is dropped: a key that nobody would read is refused, and so is one that names another call than the
ask shows. An answer that was meant to change the call would otherwise let the call run that it was to replace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from stateward.errors import CodecError, InputRefused, NotExpected
from stateward.govern.fingerprint import canonical
from stateward.run.store.ask import Ask
from stateward.run.text import checked_text

Verdict = Literal["approve", "reject"]
CHANGING = ("edit", "respond")
"""What LangChain's answers may also be: another call, or a text in its place."""
_LANGCHAIN = {"type": "decision", "message": "note"}
"""LangChain's words for the keys of an answer."""
_READ = ("decision", "note", "by", "tool", "arguments")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One person's answer to one ask."""

    ask: str
    decision: Verdict
    note: str = ""
    by: str = ""
    tool: str = ""
    """The tool that is meant; empty when it is not said."""
    arguments: Mapping[str, Any] | None = None
    """The arguments that are meant; None when they are not said."""


def read_answer(ask: str, value: object, *, asks: Sequence[str], by: str, stated: str = "") -> Answer:
    """Read one answer.

    Args:
        ask: The ask's id.
        value: Any JSON that a client sends.
        asks: The open asks.
        by: Who answers, as the host knows it; it stands above what the answer says of itself.
        stated: Who answers, as it is said beside all answers.

    Returns:
        The answer.

    Raises:
        NotExpected: No such ask is open.
        InputRefused: It is no answer, or has a key that nobody would read.
    """
    if ask not in asks:
        raise NotExpected(
            f"The session does not wait for an answer to `{ask}`",
            fix=f"Open asks: {', '.join(asks) or 'none'}.",
        )
    form = cast("Mapping[str, Any]", value if isinstance(value, Mapping) else {"decision": value})
    decision = form.get("decision")
    if decision in CHANGING or "edited_action" in form:
        raise InputRefused(
            f"The answer to `{ask}` would change the call",
            fix="A call runs as it was shown, or not at all: answer `reject`, and say in its `note` what is wanted.",
        )
    if decision not in ("approve", "reject"):
        raise InputRefused(
            f"The answer to `{ask}` is {value!r}",
            fix="Answer `approve` or `reject`, with a `note` if you like.",
        )
    refuse_unread(form, _READ, what=f"The answer to `{ask}`")
    return Answer(
        ask=ask,
        decision=decision,
        note=_text(form, "note", ask=ask),
        by=by or _text(form, "by", ask=ask) or stated,
        tool=_text(form, "tool", ask=ask),
        arguments=form.get("arguments"),
    )


def from_langchain(decision: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put a decision of LangChain's human-in-the-loop form into the words of an answer.

    Args:
        decision: The decision.
    """
    return {_LANGCHAIN.get(key, key): given for key, given in decision.items()}


def refuse_unread(form: Mapping[str, Any], read: Sequence[str], *, what: str) -> None:
    """Refuse what says more than anybody would read.

    Args:
        form: What a client sends.
        read: The keys that are read.
        what: What it is, for the message.

    Raises:
        InputRefused: It has other keys.
    """
    unread = [key for key in form if key not in read]
    if unread:
        names = ", ".join(f"`{key}`" for key in unread)
        raise InputRefused(f"{what} takes no {names}", fix=f"It takes {', '.join(f'`{key}`' for key in read)}.")


def refuse_other_call(answer: Answer, ask: Ask) -> None:
    """Refuse an answer that means another call than its ask shows.

    Args:
        answer: The answer.
        ask: What was asked.

    Raises:
        InputRefused: Its tool or its arguments are other ones.
    """
    meant, shown = answer.arguments, dict(ask.arguments)
    if answer.tool in ("", ask.tool) and (meant is None or _is_same(meant, shown)):
        return
    raise InputRefused(
        f"The answer to `{ask.id}` means another call than the one it was asked about",
        where=f"session `{ask.session}`",
        fix=f"Answer about `{ask.tool}` with the arguments that were shown, or leave both out. A call runs as it was "
        "shown: to have another one, answer `reject`, and say so in its `note`.",
    )


def _is_same(meant: object, shown: object) -> bool:
    try:
        return canonical(meant) == canonical(shown)
    except (CodecError, RecursionError):
        return False


def _text(form: Mapping[str, Any], key: str, *, ask: str) -> str:
    given = form.get(key)
    return "" if given is None else checked_text(given, what=f"`{key}` of the answer to `{ask}`")
