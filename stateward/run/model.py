"""Models by role, and the governed chat model that takes every call through the door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding
from pydantic import PrivateAttr

from stateward.errors import RunError
from stateward.govern.decision import CallRequest
from stateward.govern.window import prune
from stateward.run.door import Door
from stateward.run.drive import in_thread
from stateward.run.journal import Entry
from stateward.run.outcome import Outcome

_PER_MESSAGE = 16
"""Upper bound of the tokens a provider adds around one message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRole:
    """A chat model with what the door must know to bound its cost."""

    name: str
    model: BaseChatModel
    usd_per_million_input: float | None = None
    usd_per_million_output: float | None = None
    max_output_tokens: int | None = None
    output_parameter: str = "max_tokens"
    """The provider's own name of the output limit."""

    def bound_usd(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> float | None:
        """Return the most one call can cost, or None when that is not known.

        Args:
            messages: What is sent. A token is at least one byte of UTF-8, so bytes bound tokens from above.
            options: What else is sent, tool schemas for instance.

        Returns:
            US dollars, or None without a price or without an output limit.
        """
        if self.usd_per_million_input is None or self.usd_per_million_output is None:
            return None
        if self.max_output_tokens is None:
            return None
        sent = sum(len(str(m.content).encode()) + len(_calls(m)) + _PER_MESSAGE for m in messages)
        sent += len(json.dumps(options, default=str).encode()) if options else 0
        return self.price(sent, self.max_output_tokens)

    def price(self, tokens_in: int, tokens_out: int) -> float:
        """Return what tokens cost.

        Args:
            tokens_in: Input tokens, ≥ 0.
            tokens_out: Output tokens, ≥ 0.

        Returns:
            US dollars; 0 without a price.
        """
        per_in = self.usd_per_million_input or 0.0
        per_out = self.usd_per_million_output or 0.0
        return (tokens_in * per_in + tokens_out * per_out) / 1_000_000


class GovernedModel(BaseChatModel):
    """A chat model whose every call is decided, reserved, journaled and settled.

    Re-entered activities get the completion that was already paid for.
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
        governed = cls(role=role.name)
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
        options = cast("dict[str, Any]", bound.kwargs if isinstance(bound, RunnableBinding) else {})
        return cast("Runnable[LanguageModelInput, AIMessage]", self.bind(**options))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        pruned, options, entry = self._admit(messages, kwargs, self._number())
        if entry.status != "started":
            return _restored(entry)
        try:
            result = self._role.model._generate(pruned, stop, run_manager, **options)
        except Exception as error:
            self._door.settle_model(entry, _failed(error))
            raise
        self._door.settle_model(entry, self._outcome(result))
        return result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._door.in_flight.call():
            return await self._call(messages, stop, run_manager, kwargs)

    async def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        run_manager: AsyncCallbackManagerForLLMRun | None,
        kwargs: dict[str, Any],
    ) -> ChatResult:
        pruned, options, entry = await in_thread(self._admit, messages, kwargs, self._number())
        if entry.status != "started":
            return _restored(entry)
        try:
            # What is cancelled stays `started`: the activity, entered again, makes the call again.
            calling = self._role.model._agenerate(pruned, stop, run_manager, **options)
            result = await asyncio.wait_for(calling, timeout=self._door.effective.call_timeout_s)
        except Exception as error:
            await in_thread(self._door.settle_model, entry, _failed(error))
            raise
        await in_thread(self._door.settle_model, entry, self._outcome(result))
        return result

    def _admit(
        self, messages: list[BaseMessage], kwargs: dict[str, Any], call: int
    ) -> tuple[list[BaseMessage], dict[str, Any], Entry]:
        window = self._door.effective.window
        pruned = (
            list(prune(messages, max_messages=window.max_messages, keep_last=window.keep_last)) if window else messages
        )
        options = self._bounded(kwargs)
        request = CallRequest(
            kind="model",
            name=self.role,
            arguments={"messages": [_content(m) for m in pruned], "options": json.loads(_plain(options))},
            path=self._door.activation.path,
            declared=frozenset({self.role}),
            estimate_usd=self._role.bound_usd(pruned, options),
        )
        return pruned, options, self._door.admit_model(request, call=call)

    def _bounded(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Force the output limit into the request, so that the reservation is an upper bound."""
        limit = self._role.max_output_tokens
        if limit is None:
            return kwargs
        wanted = kwargs.get(self._role.output_parameter) or limit
        return {**kwargs, self._role.output_parameter: min(int(wanted), limit)}

    def _outcome(self, result: ChatResult) -> Outcome:
        message = result.generations[0].message
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


def _restored(entry: Entry) -> ChatResult:
    if entry.status == "failed":
        raise RunError(
            f"The call of model `{entry.name}` failed: {entry.result['error']}",
            where=entry.key.path,
            fix="It is not made again for this activation; let the chart enter the state anew.",
        )
    return ChatResult(generations=[ChatGeneration(message=messages_from_dict([entry.result])[0])])


def _failed(error: Exception) -> Outcome:
    return Outcome(status="failed", result={"error": f"{type(error).__name__}: {error}"}, spent={})


def _content(message: BaseMessage) -> dict[str, Any]:
    """What a message says, without its id: a re-entered activity makes the same call with new ids."""
    return {"type": message.type, "content": message.content, "tool_calls": _calls(message)}


def _calls(message: BaseMessage) -> str:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return json.dumps([{"name": c["name"], "args": c["args"]} for c in calls], default=str) if calls else ""


def _plain(options: Mapping[str, Any]) -> str:
    return json.dumps(options, default=str, sort_keys=True)
