"""What a model call can take at most, before it is made; or why nobody can say.

A token is at least one byte of UTF-8, so the bytes of what is sent bound the input from above. That does not hold for
pictures and sound, for what the provider adds by itself (its own tools, a history that it keeps) and for what it asks
others; under a fuse on money or tokens these are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from stateward.run.door.output_limit import NESTS

_ENCODER = json.JSONEncoder(default=str, ensure_ascii=False)
_PER_MESSAGE = 16
"""Upper bound of the tokens that a provider adds around one message."""
_TEXT = frozenset(
    (
        "text",
        "input_text",
        "output_text",
        "refusal",
        "thinking",
        "redacted_thinking",
        "reasoning",
        "tool_use",
        "tool_call",
        "tool_call_chunk",
        "function_call",
        "tool_result",
        "text-plain",
    )
)
"""Blocks of content whose bytes bound their tokens."""
_KEPT_BY_THE_PROVIDER = (
    "previous_response_id",
    "use_previous_response_id",
    "conversation",
    "prompt",
    "cached_content",
    "container",
)
"""Options by which a provider takes up what it has itself; nobody here knows how long that is."""
_ADDED_BY_THE_PROVIDER = ("web_search_options", "mcp_servers", "functions_server", "google_search", "plugins")
_OUTPUT_OF_ANOTHER_KIND = ("audio", "image")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbounded:
    """Why nobody can say what a call takes at most."""

    reason: str
    """What stands in the way, and what to configure."""


def tokens_sent(
    messages: Sequence[BaseMessage], options: Mapping[str, Any], *, max_block_tokens: int | None, text: str = ""
) -> int | Unbounded:
    """Return the most input tokens that a call can have.

    Args:
        messages: What is sent.
        options: What else is sent, tool schemas for instance, with the model's own.
        max_block_tokens: The most that one block which is no text takes; None when nobody said.
        text: The options as JSON; empty where nobody has written them.

    Returns:
        The tokens, or why there is no bound.
    """
    refused = _provider_adds(options) if options else None
    if refused is not None:
        return refused
    sent = len(text or json.dumps(options, default=str)) if options else 0  # of ASCII, as `json` writes it
    for message in messages:
        sent += _PER_MESSAGE + _bytes_around(message)
        if type(message.content) is str:  # pyright: ignore[reportUnknownMemberType]  # nearly every one
            sent += _length_of(message.content)
            continue
        for block in _blocks(message.content):
            if isinstance(block, str) or block.get("type") in _TEXT:
                sent += _length_of(block) if isinstance(block, str) else _bytes_of(block)
            elif max_block_tokens is None:
                return _no_text(block)
            else:
                sent += max_block_tokens
    return sent


def _no_text(block: Mapping[str, Any]) -> Unbounded:
    kind = block.get("type") or "of an unknown kind"
    advice = "set `max_block_tokens` of its role to what one such block takes at most, or send text"
    return Unbounded(
        reason=f"a message has content that is no text (`{kind}`), whose tokens nobody can count; {advice}"
    )


def _bytes_around(message: BaseMessage) -> int:
    """Count what is sent of a message beside its content."""
    around: list[object] = [message.name, message.additional_kwargs]
    if isinstance(message, AIMessage):
        around += [message.tool_calls, message.invalid_tool_calls]
    if isinstance(message, ToolMessage):
        around.append(message.tool_call_id)
    return sum(_bytes_of(each) for each in around if each)


def _length_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _bytes_of(value: object) -> int:
    # As it is, and not as escapes: a model reads the letters, which may be more bytes than `\\uXXXX` has characters.
    return _length_of(_ENCODER.encode(value))


def _blocks(content: object) -> Iterator[str | Mapping[str, Any]]:
    """Yield the parts of a message's content, also those that a tool's result has inside."""
    if isinstance(content, str):
        yield content
        return
    for block in cast("Sequence[Any]", content):
        if isinstance(block, str):
            yield block
            continue
        part = cast("Mapping[str, Any]", block)
        yield part
        inside = part.get("content")
        if isinstance(inside, list):
            yield from (each for each in _blocks(cast("list[Any]", inside)) if not isinstance(each, str))


def _provider_adds(options: Mapping[str, Any]) -> Unbounded | None:
    for each in (options, *(options[name] for name in NESTS if isinstance(options.get(name), Mapping))):
        for name in _KEPT_BY_THE_PROVIDER:
            if each.get(name):
                return Unbounded(
                    reason=f"`{name}` lets the provider add what it keeps itself; send the messages in its place"
                )
        for name in _ADDED_BY_THE_PROVIDER:
            if each.get(name):
                return _own_tool(name)
        for kind in _OUTPUT_OF_ANOTHER_KIND:
            if kind in (each.get("modalities") or ()):
                return Unbounded(reason=f"the model is asked for `{kind}`, which has a price of its own; ask for text")
        for tool in each.get("tools") or ():
            if not _is_function(tool):
                return _own_tool(_name_of(tool))
    return None


def _own_tool(name: str) -> Unbounded:
    advice = "give the state a tool of its own"
    return Unbounded(reason=f"`{name}` is a tool that the provider runs by itself, as often as it likes; {advice}")


def _is_function(tool: object) -> bool:
    """Whether a tool is only described to the model, which asks for it."""
    if type(tool) is not dict and not isinstance(tool, Mapping):
        return True  # a function or a class, which the provider's class of LangChain describes
    kind = cast("Mapping[str, Any]", tool).get("type")
    return kind in ("function", "custom") if kind is not None else not _provider_runs(cast("Mapping[str, Any]", tool))


def _provider_runs(tool: Mapping[str, Any]) -> bool:
    """Whether a tool without a type is one of Google's own, which is named by its only key."""
    return not ({"name", "function_declarations", "functionDeclarations"} & tool.keys())


def _name_of(tool: object) -> str:
    words = cast("Mapping[str, Any]", tool)
    return str(words.get("type") or next(iter(words), "?"))
