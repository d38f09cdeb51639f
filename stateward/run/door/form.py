"""Which forms of a call a chat model has of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGenerationChunk


def has_own(model: BaseChatModel, name: str) -> bool:
    """Whether a model has its own form of a method, beside the one every model inherits.

    Args:
        model: A bare chat model.
        name: The method.
    """
    return getattr(type(model), name) is not getattr(BaseChatModel, name)


def next_of(chunks: Iterator[ChatGenerationChunk]) -> ChatGenerationChunk | None:
    """Return the next chunk of a stream; None at its end.

    Args:
        chunks: The stream.
    """
    return next(chunks, None)


def told_to(run_manager: object) -> dict[str, Any]:
    """Return the arguments that name a manager; LangChain streams without one and tells of the chunks itself.

    Args:
        run_manager: The manager, which only who passes one wants passed on.
    """
    return {"run_manager": run_manager} if run_manager else {}
