"""A chat model that says what it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from stateward.errors import RunError

Reply = str | AIMessage | Exception | Callable[[Sequence[BaseMessage]], "str | AIMessage"]
"""A text, a message, an exception to raise, or a function of the messages that were sent."""


class ScriptedModel(BaseChatModel):
    """A chat model that gives its replies in order and remembers what it was asked.

    Make it with `ScriptedModel.of(…)`.
    """

    tokens_in: int = 10
    tokens_out: int = 5
    _replies: list[Reply] = PrivateAttr(default_factory=list[Reply])
    _calls: list[list[BaseMessage]] = PrivateAttr(default_factory=list[list[BaseMessage]])

    @classmethod
    def of(cls, *replies: Reply, tokens_in: int = 10, tokens_out: int = 5) -> ScriptedModel:
        """Make a model from its replies.

        Args:
            replies: What it says, one for each call.
            tokens_in: Input tokens it reports for each call, ≥ 0.
            tokens_out: Output tokens it reports for each call, ≥ 0.
        """
        model = cls(tokens_in=tokens_in, tokens_out=tokens_out)
        model._replies = list(replies)
        return model

    @property
    def calls(self) -> tuple[tuple[BaseMessage, ...], ...]:
        """What was sent, call by call."""
        return tuple(tuple(call) for call in self._calls)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools; the script does not look at them.

        Args:
            tools: Anything LangChain converts to an OpenAI tool.
            kwargs: Passed on with the call.
        """
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if len(self._calls) >= len(self._replies):
            raise RunError(
                f"The script has {len(self._replies)} replies and was asked for one more",
                fix="Add a reply, or find out why the model is called again.",
            )
        reply = self._replies[len(self._calls)]
        self._calls.append(list(messages))
        if isinstance(reply, Exception):
            raise reply
        said = reply(messages) if callable(reply) else reply
        message = said if isinstance(said, AIMessage) else AIMessage(content=said)
        usage = {
            "input_tokens": self.tokens_in,
            "output_tokens": self.tokens_out,
            "total_tokens": self.tokens_in + self.tokens_out,
        }
        message = message.model_copy(update={"usage_metadata": message.usage_metadata or usage})
        return ChatResult(generations=[ChatGeneration(message=message)])


def calls(*requests: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    """Make a model's reply that calls tools.

    Args:
        requests: Tool name and arguments, in call order.
        text: What it says beside.

    Returns:
        The message; its calls have the ids `call_1`, `call_2`, …
    """
    numbered = enumerate(requests, start=1)
    return AIMessage(
        content=text, tool_calls=[ToolCall(name=name, args=args, id=f"call_{n}") for n, (name, args) in numbered]
    )
