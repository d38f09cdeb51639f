"""A chat model without latency and without memory: what it says is a function of the messages that it gets.

It does what the classes of providers do around a call, and no more: tools are bound as schemas, and a reply tells its
tokens. The same class answers for every library that is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

Rule = Callable[[Sequence[BaseMessage]], AIMessage]
"""What is said to a conversation."""

USAGE: Any = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}


class QuickModel(BaseChatModel):
    """A chat model by a rule."""

    rule: Rule

    @property
    def _llm_type(self) -> str:
        return "quick"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Bind tools as schemas.

        Args:
            tools: Tools of any form.
            kwargs: What else is sent; the rule does not look at it.
        """
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(self, messages: list[BaseMessage], *given: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.rule(messages))])

    async def _agenerate(self, messages: list[BaseMessage], *given: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages)


def saying(text: str) -> AIMessage:
    """Return a reply in words.

    Args:
        text: What is said.
    """
    return AIMessage(content=text, usage_metadata=USAGE)


def calling(name: str, **arguments: Any) -> AIMessage:
    """Return a reply that calls a tool.

    Args:
        name: The tool's name.
        arguments: What it is given.
    """
    call: Any = {"name": name, "args": arguments, "id": f"call_{uuid4().hex}", "type": "tool_call"}
    return AIMessage(content="", tool_calls=[call], usage_metadata=USAGE)


def first_calls(name: str, *, says: str, **arguments: Any) -> Rule:
    """Return the rule that calls a tool once for what a person says, and then answers.

    Args:
        name: The tool's name.
        says: The answer.
        arguments: What the tool is given.
    """

    def rule(messages: Sequence[BaseMessage]) -> AIMessage:
        return calling(name, **arguments) if messages[-1].type == "human" else saying(says)

    return rule


def always(text: str) -> Rule:
    """Return the rule that says one thing.

    Args:
        text: What is said.
    """
    return lambda messages: saying(text)
