"""The governed chat model: it takes every call through the door, awaited or not, in one piece or in chunks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from functools import cached_property, partial
from typing import Any, ClassVar, Self, TypeVar, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from stateward.errors import StatewardError
from stateward.run.deadline import Late, in_time
from stateward.run.door.asking import Asking, Binder, Call, Said
from stateward.run.door.candidate import Candidate
from stateward.run.door.carried import made_of
from stateward.run.door.door import Door
from stateward.run.door.flow import Flow, within_time
from stateward.run.door.form import has_own, next_of, told_to
from stateward.run.door.outcome import Outcome
from stateward.run.door.price import taken
from stateward.run.door.role import ModelRole, unbound
from stateward.run.door.said import as_chunk, replayed, restored, whole
from stateward.run.door.schema_options import schema_options
from stateward.run.door.summing import asummed, summed
from stateward.run.door.trying import Ear, Heard, atried, marked, tried
from stateward.run.rendered import used_in
from stateward.run.store.entry import Entry

T = TypeVar("T")
_Manager = CallbackManagerForLLMRun | None
_AsyncManager = AsyncCallbackManagerForLLMRun | None

_ABANDONED = "the activity left the stream before its end"


class GovernedModel(BaseChatModel):
    """A chat model whose every call is decided, reserved, journaled and settled.

    Re-entered activities get the completion that was already paid for. LangChain's caches are never asked: they would
    answer without the door, and one role with another's words.
    """

    role: str
    # LangChain looks for these at each call; that there is no such field Pydantic takes long to say.
    model: ClassVar[None] = None
    model_name: ClassVar[None] = None
    temperature: ClassVar[None] = None
    max_tokens: ClassVar[None] = None
    _asking: Asking = PrivateAttr()
    _number: Callable[[], int] = PrivateAttr()
    _binders: tuple[Binder, ...] = PrivateAttr(default=())
    _bound: dict[str, Any] = PrivateAttr(default_factory=dict[str, Any])

    @classmethod
    def of(
        cls, role: ModelRole, *, door: Door, number: Callable[[], int], roles: Mapping[str, ModelRole] | None = None
    ) -> GovernedModel:
        """Put a model behind a door.

        Args:
            role: The model and its prices.
            door: The activation's door.
            number: Gives the next call number.
            roles: All roles there are, for those that the policy lets answer in this one's place.

        Raises:
            DefinitionError: The policy lets a role answer that has no model.
        """
        governed = made_of(cls, role, is_heard=door.events is not None)
        governed._asking = Asking(role, roles=roles or {}, door=door)
        governed._number = number
        return governed

    @property
    def _llm_type(self) -> str:
        return "stateward"

    @cached_property
    def _serialized(self) -> dict[str, Any]:  # else LangChain prints every field, at every call
        return {"lc": 1, "type": "not_implemented", "id": ["stateward", "GovernedModel"], "name": "GovernedModel"}

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools as the model's provider wants them.

        Args:
            tools: As for the model itself.
            kwargs: As for the model itself.
        """
        governed, options = self._with(self._offering(tools, kwargs))
        return cast("Runnable[LanguageModelInput, AIMessage]", governed.bind(**options))

    async def offered(self, tools: Sequence[Any], messages: Sequence[BaseMessage]) -> AIMessage:
        """Do what `bind_tools(tools).ainvoke(messages)` does, without the Runnable between them.

        Args:
            tools: As for the model itself.
            messages: What is said.
        """
        governed, options = self._with(self._offering(tools, {}))
        return await governed.ainvoke(list(messages), **options)

    def _offering(self, tools: Sequence[Any], kwargs: Mapping[str, Any]) -> Binder:
        where = f"`bind_tools` of the model `{self.role}`"
        return lambda model: unbound(model.bind_tools(tools, **kwargs), where=where)[1]

    def bind_schema(self, schema: Mapping[str, Any]) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind a JSON schema that the reply must fit as the model's provider wants it.

        Args:
            schema: The schema, with a title.
        """
        where = f"`bind_schema` of the model `{self.role}`"
        governed, options = self._with(lambda model: schema_options(model, schema, where=where))
        return cast("Runnable[LanguageModelInput, AIMessage]", governed.bind(**options))

    def _with(self, binder: Binder) -> tuple[Self, dict[str, Any]]:
        """Bind what each provider wants in its own words: another role may have to answer."""
        asking = self._asking
        made = {role.name: dict(binder(role.model)) for role in (asking.role, *asking.others)}
        options = made[self.role]
        governed: Self = self.model_copy()
        governed._binders = (*self._binders, binder)
        governed._bound = {**self._bound, **options}
        return governed, options

    # -- whether an `invoke` streams is for the model itself to say, as if nobody stood before it -------------

    def _should_stream(self, *, async_api: bool, run_manager: Any = None, **kwargs: Any) -> bool:
        role = self._asking.role
        return role.model._should_stream(async_api=async_api, run_manager=run_manager, **{**role.options, **kwargs})

    def _streaming_disabled(self, **kwargs: Any) -> bool:
        role = self._asking.role
        return role.model._streaming_disabled(**{**role.options, **kwargs})

    # -- in one piece -----------------------------------------------------------------------------------------

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._turn(self._said(messages, stop, kwargs)) as call:
            if call.is_known:
                return restored(call.entry, first=self._is_first(call))
            try:
                (result,) = self._tried(call, lambda candidate: self._pieces(call, candidate, run_manager))
            except Exception as error:
                self._settle(call, self._asking.failed(call, error))
                raise
            self._settle(call, self._asking.completed(call, result.generations[0].message))
            return result

    def _pieces(self, call: Call, candidate: Candidate, run_manager: _Manager) -> Iterator[ChatResult]:
        door = self._door
        work = partial(self._made, call, candidate, run_manager)
        for result in within_time(door.threads.tools, lambda: [work()], timeout_s=door.limit_s()):
            yield marked(result, attempts=call.attempts, candidate=candidate)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asking = self._asking  # here and below once: Pydantic takes its time to find it
        door = asking.door
        with door.in_flight.call():
            said, number = self._said(messages, stop, kwargs), self._number()
            if door.passage.is_free:
                said = await asummed(asking, said, GovernedModel.of)
                call = await door.passage.afree(partial(door.visit, asking.admit, said, number))
                return await self._asked(call, run_manager)
            async with self._aturn(said, number) as call:
                return await self._asked(call, run_manager)

    async def _asked(self, call: Call, run_manager: _AsyncManager) -> ChatResult:
        if call.is_known:
            return restored(call.entry, first=self._is_first(call))
        asking, came = self._asking, list[ChatResult]()
        door = asking.door

        async def make(candidate: Candidate) -> None:
            result = await self._in_time(partial(self._amade, call, candidate, run_manager))
            came.append(marked(result, attempts=call.attempts, candidate=candidate))

        try:
            # What is cancelled stays `started`: the activity, entered again, makes the call again.
            await self._atried(call, make)
        except Exception as error:
            await door.visit(door.settle_model, call.entry, asking.failed(call, error))
            raise
        (result,) = came
        await door.visit(door.settle_model, call.entry, asking.completed(call, result.generations[0].message))
        return result

    def _made(self, call: Call, candidate: Candidate, run_manager: _Manager) -> ChatResult:
        self._refuse(call)
        return candidate.model._generate(candidate.messages, candidate.stop, run_manager, **candidate.options)

    async def _amade(self, call: Call, candidate: Candidate, run_manager: _AsyncManager) -> ChatResult:
        await self._stand()
        model = candidate.model
        if has_own(model, "_agenerate"):
            return await model._agenerate(candidate.messages, candidate.stop, run_manager, **candidate.options)
        manager = run_manager.get_sync() if run_manager else None
        return await self._door.threads.tools.run(self._made, call, candidate, manager)

    # -- in chunks --------------------------------------------------------------------------------------------

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        with self._turn(self._said(messages, stop, kwargs)) as call:
            if call.is_known:
                yield from replayed(call.entry, first=self._is_first(call))
                return
            ear = Ear(call.voice)
            try:
                yield from self._tried(call, lambda candidate: self._told(call, candidate, ear, run_manager))
                outcome = self._asking.completed(call, whole(ear.kept))
            except GeneratorExit:
                self._leave(call, self._asking.failed(call, _ABANDONED, ear.kept))
                raise
            except Exception as error:
                self._settle(call, self._asking.failed(call, error, ear.kept))
                raise
            self._settle(call, outcome)

    def _told(self, call: Call, candidate: Candidate, ear: Ear, run_manager: _Manager) -> Iterator[ChatGenerationChunk]:
        heard = ear.turn_to(call.attempts, candidate)
        door, work = self._door, partial(self._chunks, call, candidate, run_manager)
        for chunk in within_time(door.threads.tools, work, timeout_s=door.limit_s()):
            yield from heard.take(chunk)
        yield from heard.rest()
        call.attempts.taken = taken(whole(heard.kept))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        flow, said = Flow[ChatGenerationChunk](), self._said(messages, stop, kwargs)
        async for chunk in flow.read(self._poured(said, self._number(), run_manager, flow)):
            yield chunk

    async def _poured(
        self,
        said: Said,
        number: int,
        run_manager: AsyncCallbackManagerForLLMRun | None,
        flow: Flow[ChatGenerationChunk],
    ) -> None:
        """Let a streamed call in, make it and settle it: what a `Flow` reads from."""
        with self._door.in_flight.call():
            async with self._aturn(said, number) as call:
                if call.is_known:
                    for chunk in replayed(call.entry, first=self._is_first(call)):
                        flow.put(chunk)
                    flow.done = True
                else:
                    await self._pour(call, run_manager, flow)

    async def _pour(self, call: Call, run_manager: _AsyncManager, flow: Flow[ChatGenerationChunk]) -> None:
        ear = Ear(call.voice)

        async def make(candidate: Candidate) -> None:
            heard = ear.turn_to(call.attempts, candidate)
            await self._in_time(partial(self._fill, call, candidate, run_manager, flow, heard))
            call.attempts.taken = taken(whole(heard.kept))

        try:
            await self._atried(call, make)
            outcome = self._asking.completed(call, whole(ear.kept))
        except asyncio.CancelledError:
            # The activity was cancelled, and makes the call again when it is entered again; or it left the stream.
            if flow.abandoned:
                left = self._asking.failed(call, _ABANDONED, ear.kept[: flow.seen])
                await self._door.visit(self._settle, call, left)
            raise
        except Exception as error:
            flow.done = True
            await self._door.visit(self._settle, call, self._asking.failed(call, error, ear.kept))
            raise
        flow.done = True
        await self._door.visit(self._settle, call, outcome)

    async def _fill(
        self,
        call: Call,
        candidate: Candidate,
        run_manager: AsyncCallbackManagerForLLMRun | None,
        flow: Flow[ChatGenerationChunk],
        heard: Heard,
    ) -> None:
        async for chunk in self._achunks(call, candidate, run_manager):
            for each in heard.take(chunk):
                flow.put(each)
        for each in heard.rest():
            flow.put(each)

    def _chunks(self, call: Call, candidate: Candidate, run_manager: _Manager) -> Iterator[ChatGenerationChunk]:
        self._refuse(call)
        model = candidate.model
        if has_own(model, "_stream"):
            return model._stream(candidate.messages, candidate.stop, **told_to(run_manager), **candidate.options)
        return iter([as_chunk(self._made(call, candidate, run_manager).generations[0].message)])

    async def _achunks(
        self, call: Call, candidate: Candidate, run_manager: _AsyncManager
    ) -> AsyncIterator[ChatGenerationChunk]:
        await self._stand()
        model, to = candidate.model, told_to(run_manager)
        if has_own(model, "_astream"):
            async for chunk in model._astream(candidate.messages, candidate.stop, **to, **candidate.options):
                yield chunk
        elif has_own(model, "_stream"):
            chunks = self._chunks(call, candidate, run_manager.get_sync() if run_manager else None)
            while (chunk := await self._door.threads.tools.run(next_of, chunks)) is not None:
                yield chunk
        else:
            yield as_chunk((await self._amade(call, candidate, run_manager)).generations[0].message)

    # -- admission and settlement -----------------------------------------------------------------------------

    @property
    def _door(self) -> Door:
        return self._asking.door

    def _said(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any]) -> Said:
        options = dict(kwargs) if stop is None else {**kwargs, "stop": stop}
        return Said(
            messages=messages,
            options=options,
            binders=self._binders,
            bound=self._bound,
            prompts=used_in(messages),  # here, where the activity's own context is still at hand
        )

    def _turn(self, said: Said) -> AbstractContextManager[Call]:
        number, said = self._number(), summed(self._asking, said, GovernedModel.of)
        return self._door.passage.turn(partial(self._asking.admit, said, number))

    @asynccontextmanager
    async def _aturn(self, said: Said, number: int) -> AsyncGenerator[Call]:
        said = await asummed(self._asking, said, GovernedModel.of)
        async with self._door.passage.aturn(lambda: self._door.visit(self._asking.admit, said, number)) as call:
            yield call

    def _tried(self, call: Call, make: Callable[[Candidate], Iterable[T]]) -> Iterator[T]:
        providers, check = self._door.database.providers, self._door.passage.refuse_left
        return tried(call.attempts.steps(), make=make, pause=lambda s: providers.pause(s, check))

    async def _atried(self, call: Call, make: Callable[[Candidate], Awaitable[None]]) -> None:
        door = self._door
        await atried(call.attempts.steps(), make=make, visit=door.visit, pause=door.database.providers.apause)

    async def _in_time(self, work: Callable[[], Awaitable[T]]) -> T:
        made = await in_time(work, timeout_s=self._door.limit_s())
        if isinstance(made, Late):
            raise TimeoutError
        return made

    def _is_first(self, call: Call) -> bool:
        return self._door.playing is not None and self._door.playing.is_first(call.entry)

    def _refuse(self, call: Call) -> None:
        if self._door.playing is not None:
            self._door.playing.refuse(call.entry)

    async def _stand(self) -> None:
        if (playing := self._door.playing) is not None:
            await playing.never()

    def _settle(self, call: Call, outcome: Outcome) -> None:
        self._door.settle_model(call.entry, outcome)

    def _leave(self, call: Call, outcome: Outcome) -> None:
        """Settle a stream that was dropped, maybe long after its activity: then the call is no longer this one's."""
        with suppress(StatewardError):
            now: Entry | None = self._door.database.journal.get(call.entry.key)
            if now is not None and (now.status, now.tries) == (call.entry.status, call.entry.tries):
                self._settle(call, outcome)
