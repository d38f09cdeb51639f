"""Kinds of asks: about a call that a policy stops, or a question that an activity puts; what may be said to each.

| kind | asks | takes |
|---|---|---|
| `approve` | whether a call may be made | `approve`, `reject`, `edit`, `respond` |
| `unknown` | what became of a call | `approve`, `reject` |
| `ask.approve` | whether something may be done | `approve`, `reject`, or `respond` with what is wanted instead |
| `ask.edit` | what becomes of a value | `edit`, or `approve` to leave it as it is |
| `ask.choose` | which option | `respond` with one of them; `approve` for the default |
| `ask.text` | for words, or for a value of a schema | `respond` with it; `approve` for the default |
| `ask.review_call` | what becomes of a call | `approve`, `reject`, `edit`, `respond` |

What a question says lies in the `arguments` of its ask: `question`, and what else it has of `about`, `value`,
`options`, `schema`, `default`, `arguments`, `remind_s`, and `again` when an answer before was none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Literal, cast

from stateward.run.store.given import DECISIONS, Decision

APPROVE, EDIT, CHOOSE, TEXT, REVIEW = "ask.approve", "ask.edit", "ask.choose", "ask.text", "ask.review_call"
QuestionKind = Literal["ask.approve", "ask.edit", "ask.choose", "ask.text", "ask.review_call"]
QUESTIONS: tuple[QuestionKind, ...] = (APPROVE, EDIT, CHOOSE, TEXT, REVIEW)
"""The kinds of questions that an activity puts."""
UNKNOWN = "unknown"
"""The kind of ask about a call that was cut off."""
_TOLD = ("options", "schema", "default")
"""What a client is told of a question beside what it shows."""


def as_word(text: str) -> str:
    """Bring an option to the form in which it is the same however it is typed.

    Args:
        text: The option, or what somebody typed.
    """
    return unicodedata.normalize("NFKC", text.strip().casefold()).strip()


def is_question(kind: str) -> bool:
    """Tell whether an ask is a question that an activity puts.

    Args:
        kind: Of the ask.
    """
    return kind in QUESTIONS


def allowed_in(kind: str, arguments: Mapping[str, Any]) -> tuple[Decision, ...]:
    """Return what may be said to an ask.

    Args:
        kind: Of the ask.
        arguments: Of the ask.
    """
    if kind in ("approve", REVIEW):
        return DECISIONS
    if kind == APPROVE:
        return ("approve", "reject", "respond")
    if kind == EDIT:
        return ("approve", "edit")
    if kind in (CHOOSE, TEXT):
        return ("approve", "respond") if "default" in arguments else ("respond",)
    return ("approve", "reject")


def shown_in(kind: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an ask is about, as a client shows it.

    Args:
        kind: Of the ask.
        arguments: Of the ask.

    Returns:
        The arguments of a call; a value that is to be edited by its fields, one without fields as `value`.
    """
    if not is_question(kind):
        return arguments
    if kind == EDIT:
        value = arguments.get("value")
        return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {"value": value}
    return arguments.get("arguments" if kind == REVIEW else "about") or {}


def told_in(kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a client is told of a question beside that; nothing of an ask about a call.

    Args:
        kind: Of the ask.
        arguments: Of the ask.
    """
    if not is_question(kind):
        return {}
    return {"kind": kind.removeprefix("ask."), **{key: arguments[key] for key in _TOLD if key in arguments}}
