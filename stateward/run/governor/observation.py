"""Tools of LangChain as the door makes them, and what they return as the journal keeps it.

What stands behind the governor makes the call: it returns a message, or a command of LangGraph. Both are kept as JSON,
and the agent is given what was kept, the first time as well as after a crash.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import BaseMessage, ToolMessage, message_to_dict, messages_from_dict
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command, Send
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from stateward.run.door.calling import Paused
from stateward.run.door.tool import Effect, Tool, ToolResult

Handler = Callable[[ToolCallRequest], ToolMessage | Command[Any]]
AsyncHandler = Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
Observation = ToolMessage | Command[Any]

_MESSAGE = "__message"
"""The key under which a message stands in a command that is kept."""


class _Any(BaseModel, extra="allow"):
    """Arguments that only the tool itself can check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled(Tool):
    """A tool of LangChain; whoever stands behind the governor calls it."""

    def parse(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Validate arguments, if the tool has a schema of pydantic; else it checks them itself.

        Args:
            arguments: What the model gave.
        """
        return dict(arguments) if self.arguments is _Any else Tool.parse(self, arguments)


def handled(source: BaseTool, fn: Callable[..., Any], *, effect: Effect, is_async: bool) -> Handled:
    """Make a governed tool of a tool that the agent has.

    Args:
        source: LangChain's tool.
        fn: Calls it, given the arguments by name.
        effect: What a second run would do.
        is_async: Whether `fn` is awaited.
    """
    schema: object = source.tool_call_schema
    known = isinstance(schema, type) and issubclass(schema, BaseModel)
    return Handled(
        name=source.name,
        description=source.description,
        fn=fn,
        arguments=cast("type[BaseModel]", schema) if known else _Any,
        effect=effect,
        is_async=is_async,
        takes_context=False,
    )


def caller(request: ToolCallRequest, handler: Handler) -> Callable[..., Any]:
    """Return what calls a tool through what stands behind the governor.

    Args:
        request: The call.
        handler: Makes it.
    """

    def call(**arguments: Any) -> Any:
        with _waiting():
            return recorded(handler(_with(request, arguments)))

    return call


def acaller(request: ToolCallRequest, handler: AsyncHandler) -> Callable[..., Any]:
    """Return what calls a tool through what stands behind the governor, awaited.

    Args:
        request: The call.
        handler: Makes it.
    """

    async def call(**arguments: Any) -> Any:
        with _waiting():
            return recorded(await handler(_with(request, arguments)))

    return call


def pausing(tool: Tool) -> Tool:
    """Return a tool of ours that lets a graph inside it wait in LangGraph's way.

    Args:
        tool: The tool.
    """
    fn = tool.fn

    def call(**arguments: Any) -> Any:
        with _waiting():
            return fn(**arguments)

    async def acall(**arguments: Any) -> Any:
        with _waiting():
            return await fn(**arguments)

    return tool if tool.address is not None else replace(tool, fn=acall if tool.is_async else call)


def recorded(value: Observation) -> dict[str, Any]:
    """Bring what a tool call returned into a form that can be kept.

    Args:
        value: A message or a command.

    Returns:
        Plain data; an artifact that is none is left out.
    """
    if isinstance(value, ToolMessage):
        told = message_to_dict(value)
        try:
            return {"message": to_jsonable_python(told)}
        except ValueError:
            return {"message": to_jsonable_python({**told, "data": {**told["data"], "artifact": None}})}
    given: Any = value.goto
    goto: list[Any] = [*given] if isinstance(given, list | tuple) else [given] if given else []  # pyright: ignore[reportUnknownVariableType]
    steps = [{"node": each.node, "arg": _packed(each.arg)} if isinstance(each, Send) else each for each in goto]
    return {"command": {"graph": value.graph, "update": _packed(value.update), "goto": steps}}


def observed(result: ToolResult, *, call_id: str, name: str) -> Observation:
    """Return what the agent sees of a call.

    Args:
        result: From the door.
        call_id: The id of the model's tool call.
        name: The tool that the model named.
    """
    value: Any = result.value
    if result.ok and isinstance(value, Mapping) and "message" in value:
        (message,) = messages_from_dict([cast("dict[str, Any]", value["message"])])
        return cast(ToolMessage, message).model_copy(update={"tool_call_id": call_id})
    if result.ok and isinstance(value, Mapping) and "command" in value:
        return _command(cast("Mapping[str, Any]", value["command"]))
    status = "success" if result.ok else "error"
    return ToolMessage(content=result.text, name=name, tool_call_id=call_id, status=status)


@contextmanager
def _waiting() -> Generator[None]:
    """Let a graph that waits in LangGraph's way, inside what is called here, pause the call around it."""
    try:
        yield
    except GraphBubbleUp as waits:
        raise Paused(waits) from waits


def _with(request: ToolCallRequest, arguments: Mapping[str, Any]) -> ToolCallRequest:
    plain: dict[str, Any] = to_jsonable_python(dict(arguments))
    return request.override(tool_call={**request.tool_call, "args": plain})


def _command(kept: Mapping[str, Any]) -> Command[Any]:
    goto = [each if isinstance(each, str) else Send(each["node"], _unpacked(each["arg"])) for each in kept["goto"]]
    return Command(graph=kept["graph"], update=_unpacked(kept["update"]), goto=goto)


def _packed(value: Any) -> Any:
    """Put messages into plain data, however deep they lie; what else is no plain data fails where it is kept."""
    if isinstance(value, BaseMessage):
        return {_MESSAGE: message_to_dict(value)}
    if isinstance(value, Mapping):
        return {key: _packed(each) for key, each in cast("Mapping[Any, Any]", value).items()}
    return [_packed(each) for each in cast("list[Any]", value)] if isinstance(value, list | tuple) else value


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(each) for each in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    given = cast("Mapping[str, Any]", value)
    if _MESSAGE in given:
        return messages_from_dict([given[_MESSAGE]])[0]
    return {key: _unpacked(each) for key, each in given.items()}
