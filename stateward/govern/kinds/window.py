"""The window: how much of a conversation a model is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from stateward.govern.kinds.operator import LEAST, SAME
from stateward.govern.kinds.section import Section, part
from stateward.govern.kinds.shape import Name, Positive, Strict


class WindowShape(Strict):
    """How much of a conversation a model is shown."""

    max_messages: Annotated[int, Field(ge=3, le=1_000_000)] | None = None
    keep_last: Positive | None = None
    max_tokens: Annotated[int, Field(ge=16, le=100_000_000)] | None = None
    summary: Name | Literal[""] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.max_messages is None) != (self.keep_last is None):
            raise ValueError("both `max_messages` and `keep_last`, or neither")
        if self.max_messages is None and self.max_tokens is None:
            raise ValueError("`max_messages` with `keep_last`, or `max_tokens`, or all three")
        if self.max_messages is not None and self.keep_last is not None and self.keep_last > self.max_messages - 2:
            raise ValueError("`keep_last` at most `max_messages` - 2, to leave room for prompt and summary")
        if self.summary and self.max_messages is None:
            raise ValueError(
                "`summary` with `max_messages` and `keep_last`: what a summary is about is counted in messages"
            )
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Section):
    """How much of a conversation a model is shown."""

    SHAPE: ClassVar[type[Strict]] = WindowShape

    max_messages: int | None = part(LEAST, unit="messages")
    """A conversation of at most this many messages is shown whole."""
    keep_last: int | None = part(LEAST, unit="messages")
    """How many of the latest messages a longer conversation keeps."""
    max_tokens: int | None = part(LEAST, unit="tokens")
    """The most tokens that are shown, counted as the model in use counts them."""
    summary: str | None = part(SAME)
    """The role that sums up what is left out; empty: nobody does, and it is only counted."""
