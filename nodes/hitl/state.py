"""What `graphs.hitl` remembers, and which of its six patterns is wanted."""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal, TypedDict

from pydantic import BaseModel, Field

PATTERNS = ("feedback", "approval", "edit", "parallel", "review", "breakpoints")
"""The menu."""
TOPIC = "The office is closed on Friday. The phones are answered as ever."


class Notice(BaseModel):
    """What the third pattern lets a person edit."""

    title: str = Field(min_length=1)
    audience: Literal["staff", "customers"] = "staff"
    text: str = Field(min_length=1)


class Call(TypedDict):
    """A tool call that is reviewed before it is made."""

    name: str
    args: dict[str, Any]


class Desk(TypedDict, total=False):
    """The state. Values are plain JSON, so that any process can read them."""

    pattern: str
    """One of `PATTERNS`; what is none is asked for."""
    topic: str
    """What is to be said."""
    draft: str
    wishes: list[str]
    """What people wanted changed, in order."""
    wish: str
    """What was wanted last; empty for nothing."""
    approved: bool
    notice: dict[str, Any]
    place: str
    hour: int
    call: Call | None
    """The call that is to be made; None for none."""
    log: Annotated[list[str], operator.add]
    """What was done, a line each."""


def wants_feedback(state: Desk) -> bool:
    """Whether the first pattern was chosen."""
    return state.get("pattern") == "feedback"


def wants_approval(state: Desk) -> bool:
    """Whether the second was."""
    return state.get("pattern") == "approval"


def wants_edit(state: Desk) -> bool:
    """Whether the third was."""
    return state.get("pattern") == "edit"


def wants_parallel(state: Desk) -> bool:
    """Whether the fourth was."""
    return state.get("pattern") == "parallel"


def wants_review(state: Desk) -> bool:
    """Whether the fifth was; what remains is the sixth."""
    return state.get("pattern") == "review"


def has_wish(state: Desk) -> bool:
    """Whether something is to be changed."""
    return bool(state.get("wish"))


def is_approved(state: Desk) -> bool:
    """Whether it may be published."""
    return bool(state.get("approved"))


def has_call(state: Desk) -> bool:
    """Whether a call is to be made."""
    return state.get("call") is not None
