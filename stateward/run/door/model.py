"""The governed chat model: it takes every call through the door, awaited or not, in one piece or in chunks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    message_chunk_to_message,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from stateward.errors import RunError, StatewardError
from stateward.govern.decision import CallRequest
from stateward.govern.window import prune
from stateward.run.deadline import Late, finished, in_time
from stateward.run.door.door import Door
from stateward.run.door.flow import Flow, within_time
from stateward.run.door.outcome import Outcome, as_first_seen
from stateward.run.door.role import ModelRole, calls_text, unbound
from stateward.run.store.journal import Entry

T = TypeVar("T")

_CARRIED = ("callbacks", "tags", "metadata", "rate_limiter", "verbose", "output_version")
"""What LangChain itself reads from a model around its calls, and would not see on the one that is governed."""
_ABANDONED = "the activity left the stream before its end"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A call the door admitted."""

    messages: list[BaseMessage]
    stop: list[str] | None
    options: dict[str, Any]
    entry: Entry

    @property
    def is_known(self) -> bool:
        """Whether it was made before, so that the journal answers."""
        return self.entry.status != "started"


class GovernedModel(BaseChatModel):
    """A chat model whose every call is decided, reserved, journaled and settled.

    Re-entered activities get the completion that was already paid for. LangChain's caches are never asked: they would
    answer without the door, and one role with another's words.
    """

    role: str
    _role: ModelRole = PrivateAttr()
    _door: Door = PrivateAttr()
    _number: Callable[[], int] = PrivateAttr()

    @classmethod
    def of(cls, role: ModelRole, *, door: Door, number: Callable[[], int]) -> GovernedModel:
        """Put a model behind a door.

        Args:
            role: The model and its prices.
            door: The activation's door.
            number: Gives the next call number.
        """
        carried = {name: getattr(role.model, name) for name in _CARRIED}
        governed = cls(role=role.name, cache=False, **carried)
        governed._role = role
        governed._door = door
        governed._number = number
        return governed

    @property
    def _llm_type(self) -> str:
        return "stateward"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools as the model's provider wants them.

        Args:
            tools: As for the model itself.
            kwargs: As for the model itself.
        """
        bound = self._role.model.bind_tools(tools, **kwargs)
        _, options = unbound(bound, where=f"`bind_tools` of the model `{self.role}`")
        return cast("Runnable[LanguageModelInput, AIMessage]", self.bind(**options))

    # -- whether an `invoke` streams is for the model itself to say, as if nobody stood before it -------------

    def _should_stream(self, *, async_api: bool, run_manager: Any = None, **kwargs: Any) -> bool:
        options = {**self._role.options, **kwargs}
        return self._role.model._should_stream(async_api=async_api, run_manager=run_manager, **options)

    def _streaming_disabled(self, **kwargs: Any) -> bool:
        return self._role.model._streaming_disabled(**{**self._role.options, **kwargs})

    # -- in one piece -----------------------------------------------------------------------------------------

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        call = self._admit(messages, stop, kwargs, self._number())
        if call.is_known:
            return _restored(call.entry, first=self._is_first(call))
        try:
            (result,) = self._within_time(lambda: [self._made(call, run_manager)])
        except Exception as error:
            self._door.settle_model(call.entry, _failed(error))
            raise
        self._door.settle_model(call.entry, self._outcome(result.generations[0].message))
        return result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._door.in_flight.call():
            call = await self._admitted(messages, stop, kwargs, self._number())
            if call.is_known:
                return _restored(call.entry, first=self._is_first(call))
            try:
                # What is cancelled stays `started`: the activity, entered again, makes the call again.
                result = await self._in_time(partial(self._amade, call, run_manager))
            except Exception as error:
                await self._in_database(self._door.settle_model, call.entry, _failed(error))
                raise
            await self._in_database(self._door.settle_model, call.entry, self._outcome(result.generations[0].message))
            return result

    def _made(self, call: _Call, run_manager: CallbackManagerForLLMRun | None) -> ChatResult:
        self._refuse(call)
        return self._role.model._generate(call.messages, call.stop, run_manager, **call.options)

    async def _amade(self, call: _Call, run_manager: AsyncCallbackManagerForLLMRun | None) -> ChatResult:
        await self._stand()
        if _has(self._role.model, "_agenerate"):
            return await self._role.model._agenerate(call.messages, call.stop, run_manager, **call.options)
        return await self._door.threads.tools.run(self._made, call, run_manager.get_sync() if run_manager else None)

    # -- in chunks --------------------------------------------------------------------------------------------

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        call = self._admit(messages, stop, kwargs, self._number())
        if call.is_known:
            yield from _replayed(call.entry, first=self._is_first(call))
            return
        kept: list[ChatGenerationChunk] = []
        try:
            for chunk in self._within_time(lambda: self._chunks(call, run_manager)):
                kept.append(_copy(chunk))
                yield chunk
            outcome = self._outcome(_whole(kept))
        except GeneratorExit:
            self._leave(call.entry, _failed(_ABANDONED, kept))
            raise
        except Exception as error:
            self._door.settle_model(call.entry, _failed(error, kept))
            raise
        self._door.settle_model(call.entry, outcome)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        with self._door.in_flight.call():
            call = await self._admitted(messages, stop, kwargs, self._number())
        if call.is_known:
            for chunk in _replayed(call.entry, first=self._is_first(call)):
                yield chunk
            return
        flow = Flow[ChatGenerationChunk]()
        async for chunk in flow.read(self._pour(call, run_manager, flow)):
            yield chunk

    async def _pour(
        self, call: _Call, run_manager: AsyncCallbackManagerForLLMRun | None, flow: Flow[ChatGenerationChunk]
    ) -> None:
        """Make a streamed call and settle it: what a `Flow` reads from."""
        kept: list[ChatGenerationChunk] = []
        with self._door.in_flight.call():
            try:
                await self._in_time(partial(self._fill, call, run_manager, flow, kept))
                outcome = self._outcome(_whole(kept))
            except asyncio.CancelledError:
                # The activity was cancelled, and makes the call again when it is entered again; or it left the stream.
                if flow.abandoned:
                    await self._in_database(self._door.settle_model, call.entry, _failed(_ABANDONED, kept[: flow.seen]))
                raise
            except Exception as error:
                flow.done = True
                await self._in_database(self._door.settle_model, call.entry, _failed(error, kept))
                raise
            flow.done = True
            await self._in_database(self._door.settle_model, call.entry, outcome)

    async def _fill(
        self,
        call: _Call,
        run_manager: AsyncCallbackManagerForLLMRun | None,
        flow: Flow[ChatGenerationChunk],
        kept: list[ChatGenerationChunk],
    ) -> None:
        async for chunk in self._achunks(call, run_manager):
            kept.append(_copy(chunk))
            flow.put(chunk)

    def _chunks(self, call: _Call, run_manager: CallbackManagerForLLMRun | None) -> Iterator[ChatGenerationChunk]:
        self._refuse(call)
        if _has(self._role.model, "_stream"):
            return self._role.model._stream(call.messages, call.stop, **_to(run_manager), **call.options)
        return iter([_as_chunk(self._made(call, run_manager).generations[0].message)])

    async def _achunks(
        self, call: _Call, run_manager: AsyncCallbackManagerForLLMRun | None
    ) -> AsyncIterator[ChatGenerationChunk]:
        await self._stand()
        model = self._role.model
        if _has(model, "_astream"):
            async for chunk in model._astream(call.messages, call.stop, **_to(run_manager), **call.options):
                yield chunk
        elif _has(model, "_stream"):
            chunks = self._chunks(call, run_manager.get_sync() if run_manager else None)
            while (chunk := await self._door.threads.tools.run(_next, chunks)) is not None:
                yield chunk
        else:
            yield _as_chunk((await self._amade(call, run_manager)).generations[0].message)

    # -- admission and settlement -----------------------------------------------------------------------------

    async def _admitted(self, *args: Any) -> _Call:
        """Admit a call in a thread; cancelled, it is waited for, as in `Door`."""
        return await finished(self._in_database(self._admit, *args))

    def _in_database(self, fn: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        return self._door.threads.database.run(fn, *args)

    async def _in_time(self, work: Callable[[], Awaitable[T]]) -> T:
        made = await in_time(work, timeout_s=self._door.effective.call_timeout_s)
        if isinstance(made, Late):
            raise TimeoutError
        return made

    def _within_time(self, work: Callable[[], Iterable[T]]) -> Iterator[T]:
        return within_time(self._door.threads.tools, work, timeout_s=self._door.effective.call_timeout_s)

    def _admit(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any], number: int
    ) -> _Call:
        window = self._door.effective.window
        pruned = (
            list(prune(messages, max_messages=window.max_messages, keep_last=window.keep_last)) if window else messages
        )
        options = self._role.asked(kwargs if stop is None else {**kwargs, "stop": stop})
        request = CallRequest(
            kind="model",
            name=self.role,
            arguments={"messages": [_content(m) for m in pruned], "options": json.loads(_plain(options))},
            path=self._door.activation.path,
            declared=frozenset({self.role}),
            estimate_usd=self._role.bound_usd(pruned, options),
        )
        entry = self._door.admit_model(request, call=number)
        return _Call(messages=pruned, stop=options.pop("stop", None), options=options, entry=entry)

    def _is_first(self, call: _Call) -> bool:
        return self._door.playing is not None and self._door.playing.is_first(call.entry)

    def _refuse(self, call: _Call) -> None:
        if self._door.playing is not None:
            self._door.playing.refuse(call.entry)

    async def _stand(self) -> None:
        if self._door.playing is not None:
            await self._door.playing.never()

    def _leave(self, entry: Entry, outcome: Outcome) -> None:
        """Settle a stream that was dropped, maybe long after its activity: then the call is no longer this one's."""
        with suppress(StatewardError):
            now = self._door.database.journal.get(entry.key)
            if now is not None and (now.status, now.tries) == (entry.status, entry.tries):
                self._door.settle_model(entry, outcome)

    def _outcome(self, message: BaseMessage) -> Outcome:
        usage = message.usage_metadata if isinstance(message, AIMessage) else None
        tokens_in, tokens_out = (usage["input_tokens"], usage["output_tokens"]) if usage else (0, 0)
        # Without usage the reservation stands: an unknown cost is never counted as none.
        spent = {"usd": self._role.price(tokens_in, tokens_out)} if usage else {}
        return Outcome(
            status="completed",
            result=message_to_dict(message),
            spent=spent,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )


def _has(model: BaseChatModel, name: str) -> bool:
    """Whether a model has its own form of a method, beside the one every model inherits."""
    return getattr(type(model), name) is not getattr(BaseChatModel, name)


def _next(chunks: Iterator[ChatGenerationChunk]) -> ChatGenerationChunk | None:
    return next(chunks, None)


def _to(run_manager: object) -> dict[str, Any]:
    """LangChain streams without a manager and tells of the chunks itself; only who passes one wants it passed on."""
    return {"run_manager": run_manager} if run_manager else {}


def _restored(entry: Entry, *, first: bool) -> ChatResult:
    if entry.status == "failed":
        raise as_first_seen(entry) if first else _failed_before(entry)
    return ChatResult(generations=[ChatGeneration(message=_message(entry.result))])


def _replayed(entry: Entry, *, first: bool) -> Iterator[ChatGenerationChunk]:
    """Yield what the activity saw in one chunk; a stream that broke off breaks off again."""
    if entry.status != "failed":
        yield _as_chunk(_message(entry.result))
        return
    if entry.result.get("partial"):
        yield _as_chunk(_message(entry.result["partial"]), is_last=False)
    raise as_first_seen(entry) if first else _failed_before(entry)


def _failed_before(entry: Entry) -> RunError:
    return RunError(
        f"The call of model `{entry.name}` failed: {entry.result['error']}",
        where=entry.key.path,
        fix="It is not made again for this activation; let the chart enter the state anew.",
    )


def _failed(error: Exception | str, seen: Sequence[ChatGenerationChunk] = ()) -> Outcome:
    told = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    partial = {"partial": message_to_dict(_whole(seen))} if seen else {}
    return Outcome(status="failed", result={"error": told, **partial}, spent={})


def _message(kept: dict[str, Any]) -> BaseMessage:
    return messages_from_dict([kept])[0]


def _copy(chunk: ChatGenerationChunk) -> ChatGenerationChunk:
    """LangChain gives the chunks it is handed ids and metadata of the run; what the model said is kept without."""
    return chunk.model_copy(update={"message": chunk.message.model_copy()})


def _whole(chunks: Sequence[ChatGenerationChunk]) -> BaseMessage:
    merged = merge_chat_generation_chunks(list(chunks))
    if merged is None:
        raise ValueError("the model's stream had no chunk")
    return message_chunk_to_message(merged.message)


def _as_chunk(message: BaseMessage, *, is_last: bool = True) -> ChatGenerationChunk:
    said = message.model_dump(exclude={"type"})
    return ChatGenerationChunk(message=AIMessageChunk(**said, chunk_position="last" if is_last else None))


def _content(message: BaseMessage) -> dict[str, Any]:
    """What a message says, without its id: a re-entered activity makes the same call with new ids."""
    return {"type": message.type, "content": message.content, "tool_calls": calls_text(message)}


def _plain(options: Mapping[str, Any]) -> str:
    return json.dumps(options, default=str, sort_keys=True)
