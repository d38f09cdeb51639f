"""Rendered prompts: text that knows its template, and how a model call finds out which templates its words come from.

A provider gets the text and nothing else. That a call used a prompt is found out in two ways: by the text itself, when
it was rendered in the same activity (or before, in the same context), and by a mark on the message, which
`Rendered.message` makes, which stays on it in a checkpoint, and which the door takes off before anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Literal, Self, cast

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

PROMPT = "stateward_prompt"
"""The mark, in a message's `additional_kwargs`: the prompt's name and hash."""
REMEMBERED = 32
"""How many renderings an activity's calls look for, the latest ones."""
SHORT = 40
"""Up to so many letters a prompt is recognised only where a message says it and nothing else."""


class Rendered(str):
    """The text of a prompt, with the name and the hash of its template.

    Text that is made of it (`rendered + "…"`, `rendered.strip()`) is plain text, and is recognised nevertheless.
    """

    name: str
    """The template's name."""
    hash: str
    """SHA-256 over the template's source and over what it includes."""

    @classmethod
    def of(cls, text: str, *, name: str, hash: str) -> Self:
        """Make the text of a prompt, and remember it for the calls that follow.

        Args:
            text: What was rendered.
            name: The template's name.
            hash: The template's hash.
        """
        made = cls(text)
        made.name, made.hash = name, hash
        _remember(made)
        return made

    @property
    def record(self) -> dict[str, str]:
        """What a call's record says of it."""
        return {"name": self.name, "hash": self.hash}

    def message(self, role: Literal["system", "user"] = "system") -> BaseMessage:
        """Return it as a message that carries the template's name and hash, also through a checkpoint.

        Args:
            role: Who says it.
        """
        kind = SystemMessage if role == "system" else HumanMessage
        return kind(content=str(self), additional_kwargs={PROMPT: self.record})


_RENDERED: ContextVar[tuple[Rendered, ...]] = ContextVar("stateward_rendered", default=())
"""The latest renderings of the activity; a value and no list, so that what runs beside it has its own."""


def _remember(made: Rendered) -> None:
    before = _RENDERED.get()
    same = [each for each in before if each.record != made.record or str(each) != str(made)]
    _RENDERED.set((*same[1 - REMEMBERED :], made))


def used_in(messages: Sequence[BaseMessage]) -> tuple[Mapping[str, str], ...]:
    """Find the prompts whose text is in what a model is told.

    Args:
        messages: As the activity gave them.

    Returns:
        Name and hash of each, once: those of marked messages, then those that were rendered, in their order.
    """
    marked = [cast("Mapping[str, str]", _extra(each)[PROMPT]) for each in messages if PROMPT in _extra(each)]
    rendered = _RENDERED.get()
    texts = list(_texts(messages)) if rendered else []
    found = [*marked, *(each.record for each in rendered if _is_said(each.strip(), texts))]
    return tuple({(each["name"], each["hash"]): each for each in found}.values())


def bare(message: BaseMessage) -> BaseMessage:
    """Return a message as it is sent: without the mark of a prompt.

    Args:
        message: Any message; it is not changed.
    """
    extra = _extra(message)
    if PROMPT not in extra:
        return message
    return message.model_copy(update={"additional_kwargs": {key: extra[key] for key in extra if key != PROMPT}})


def _is_said(text: str, texts: Sequence[str]) -> bool:
    if len(text) <= SHORT:
        return bool(text) and any(text == each.strip() for each in texts)
    return any(text in each for each in texts)


def _texts(messages: Sequence[BaseMessage]) -> Iterator[str]:
    for message in messages:
        # LangChain types contents as bare lists and dicts.
        content = cast("str | list[str | dict[str, object]]", message.content)  # pyright: ignore[reportUnknownMemberType]
        for block in [content] if isinstance(content, str) else content:
            text = block if isinstance(block, str) else block.get("text")
            if isinstance(text, str):
                yield text


def _extra(message: BaseMessage) -> dict[str, object]:
    # LangChain types `additional_kwargs` as a bare dict.
    return cast("dict[str, object]", message.additional_kwargs)  # pyright: ignore[reportUnknownMemberType]
