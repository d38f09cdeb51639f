"""One person's answer to one ask, read from what a client sends, in our words or LangChain's.

Nothing of an answer is dropped: a key that nobody would read is refused, and so is one that names another call than the
ask shows without being an edit. An answer that was meant to change the call would otherwise let the call run that it
was to replace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from stateward.errors import InputRefused, NotExpected
from stateward.run.store.given import DECISIONS, Decision
from stateward.run.text import checked_text

Verdict = Decision
"""What a person says about a call; `store.given` tells the words."""
_LANGCHAIN = {"type": "decision", "message": "note"}
"""LangChain's words for the keys of an answer."""
_INBOX: Mapping[str, Decision] = {"accept": "approve", "ignore": "reject", "response": "respond", "edit": "edit"}
"""The words of LangChain's Agent Inbox, which says the rest in `args`."""
_EDITED, _ACTION = "edited_action", {"name": "tool", "args": "arguments"}
"""LangChain's word for what a call is edited to, and the words in that."""
_READ = ("decision", "note", "by", "tool", "arguments", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One person's answer to one ask."""

    ask: str
    decision: Verdict
    note: str = ""
    by: str = ""
    tool: str = ""
    """The tool that is meant, of an edit the one that is wanted; empty when it is not said."""
    arguments: Mapping[str, Any] | None = None
    """The arguments that are meant, of an edit those that are wanted; None when they are not said."""

    value: object = None
    """JSON. What is said to a question that asks for a value."""

    @property
    def edit(self) -> Mapping[str, Any]:
        """What an edit wants, and what value is said, as the tables of asks take it."""
        edit = {"tool": self.tool, "arguments": self.arguments} if self.decision == "edit" else {}
        return edit if self.value is None else {**edit, "value": self.value}


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
    form = in_our_words(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {"decision": value}
    decision = form.get("decision", "respond" if "value" in form else None)
    if decision not in DECISIONS:
        raise InputRefused(
            f"The answer to `{ask}` is {value!r}",
            fix=f"Answer {', '.join(f'`{word}`' for word in DECISIONS)}, with a `note` if you like.",
        )
    refuse_unread(form, _READ, what=f"The answer to `{ask}`")
    return Answer(
        ask=ask,
        decision=decision,
        note=_text(form, "note", ask=ask),
        by=by or _text(form, "by", ask=ask) or stated,
        tool=_text(form, "tool", ask=ask),
        arguments=_arguments(form, ask=ask),
        value=form.get("value"),
    )


def in_our_words(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put an answer into the words of an answer, whichever of the known clients sends it.

    Args:
        said: The answer: `type` is LangChain's word, `decision` is ours.

    Raises:
        InputRefused: It is none that such a client sends.
    """
    if "type" not in said:
        return said
    kind = said["type"]
    is_inbox = kind in _INBOX and (kind not in DECISIONS or "args" in said)
    return from_inbox(said) if is_inbox else from_langchain(said)


def from_inbox(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put an answer of LangChain's Agent Inbox into the words of an answer.

    Args:
        said: `type` and `args`, and perhaps `by`, which the inbox does not say.

    Raises:
        InputRefused: It is none that the inbox sends.
    """
    refuse_unread(said, ("type", "args", "by"), what="An answer of the inbox")
    decision, args, named = _INBOX.get(str(said.get("type"))), said.get("args"), _named(said)
    if decision is None:
        words = ", ".join(f"`{word}`" for word in _INBOX)
        raise InputRefused(f"The answer's `type` is {said.get('type')!r}", fix=f"Answer with one of {words}.")
    if decision == "respond":
        return {"decision": decision, **({"note": args} if isinstance(args, str) else {"value": args}), **named}
    if decision != "edit":
        return {"decision": decision, **named}
    action = cast("Mapping[str, Any]", args if isinstance(args, Mapping) else {})
    return {"decision": decision, "tool": action.get("action"), "arguments": action.get("args"), **named}


def _named(said: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"by": said["by"]} if "by" in said else {}


def from_langchain(decision: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put a decision of LangChain's human-in-the-loop form into the words of an answer.

    Args:
        decision: The decision.

    Raises:
        InputRefused: What it was edited to is no call, or it says something twice.
    """
    edited = decision.get(_EDITED)
    action: Mapping[str, Any] = {} if edited is None else _action(edited)
    said = [(_LANGCHAIN.get(key, key), given) for key, given in decision.items() if key != _EDITED]
    said += [(_ACTION[key], given) for key, given in action.items()]
    keys = [key for key, _ in said]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise InputRefused(f"The answer says its `{twice}` twice, in two words for it", fix="Say it once.")
    return dict(said)


def _action(edited: object) -> Mapping[str, Any]:
    if not isinstance(edited, Mapping):
        raise InputRefused(f"`{_EDITED}` is {edited!r}", fix='Write it as {"name": TOOL, "args": {…}}.')
    action = cast("Mapping[str, Any]", edited)
    refuse_unread(action, tuple(_ACTION), what=f"`{_EDITED}`")
    return action


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


def _text(form: Mapping[str, Any], key: str, *, ask: str) -> str:
    given = form.get(key)
    return "" if given is None else checked_text(given, what=f"`{key}` of the answer to `{ask}`")


def _arguments(form: Mapping[str, Any], *, ask: str) -> Mapping[str, Any] | None:
    given: Any = form.get("arguments")
    if form.get("decision") == "edit" and "value" not in form and not isinstance(given, Mapping):
        raise InputRefused(
            f"The edit of `{ask}` names no arguments",
            fix='Give all arguments of the new call: {"decision": "edit", "arguments": {…}}.',
        )
    return cast(Any, given)
