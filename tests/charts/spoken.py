"""Models that say their words one by one, and activities that listen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr

import stateward as sw

Word = str | BaseException | AIMessageChunk | Callable[[], object]


class Spoken(BaseChatModel):
    """Streams one word after the other; a word may be a chunk, something to raise, or something to call.

    Only its sync form is written, as LangChain allows.
    """

    usage: bool = True
    _words: tuple[Word, ...] = PrivateAttr(default=())
    _asked: list[dict[str, Any]] = PrivateAttr(default_factory=list[dict[str, Any]])

    @classmethod
    def of(cls, *words: Word, **fields: Any) -> Spoken:
        model = cls(**fields)
        model._words = words
        return model

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The options of each call."""
        return self._asked

    @property
    def _llm_type(self) -> str:
        return "spoken"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self._asked.append(kwargs)
        said = "".join(_text(word) for word in self._words)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said))])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        self._asked.append(kwargs)
        for n, word in enumerate(self._words):
            yield self._chunk(n, word if isinstance(word, AIMessageChunk) else _text(word))

    def _chunk(self, n: int, said: str | AIMessageChunk) -> ChatGenerationChunk:
        if isinstance(said, AIMessageChunk):
            return ChatGenerationChunk(message=said.model_copy())
        tokens_in = 10 if n == 0 else 0
        usage = UsageMetadata(input_tokens=tokens_in, output_tokens=2, total_tokens=tokens_in + 2)
        return ChatGenerationChunk(
            message=AIMessageChunk(content=said, usage_metadata=usage if self.usage else None),
            generation_info={"n": "last"} if n == len(self._words) - 1 else None,
        )


class Awaited(Spoken):
    """The same, with an awaitable form of its own; what it calls for a word it awaits."""

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self._asked.append(kwargs)
        for n, word in enumerate(self._words):
            made = word() if callable(word) else word
            made = await made if isinstance(made, Awaitable) else made
            yield self._chunk(n, made if isinstance(made, AIMessageChunk) else _text(made))


def _text(word: Any) -> str:
    if isinstance(word, BaseException):
        raise word
    return str(word() if callable(word) else word)


async def listen(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
    """Keep each chunk."""
    return {"log": [chunk.text async for chunk in run.model().astream("hi")]}


def listen_sync(state: Any, run: sw.SyncRun[Any]) -> dict[str, Any]:
    """The same, from a sync activity."""
    return {"log": [chunk.text for chunk in run.model().stream("hi")]}


async def hear(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
    """Take the reply in one piece."""
    return {"log": [(await run.model().ainvoke("hi")).text]}


def hear_sync(state: Any, run: sw.SyncRun[Any]) -> dict[str, Any]:
    """The same, from a sync activity."""
    return {"log": [run.model().invoke("hi").text]}


async def leave(state: Any, run: sw.Run[Any]) -> dict[str, Any] | None:
    """Leave after the first chunk."""
    async for chunk in run.model().astream("hi"):
        return {"log": [chunk.text]}
    return None


def leave_sync(state: Any, run: sw.SyncRun[Any]) -> dict[str, Any] | None:
    """The same, from a sync activity."""
    for chunk in run.model().stream("hi"):
        return {"log": [chunk.text]}
    return None
