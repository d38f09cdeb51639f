"""What a model said: as it came, as the journal keeps it, and as it is said again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import (
    AIMessageChunk,
    BaseMessage,
    message_chunk_to_message,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks

from stateward.errors import RunError
from stateward.govern.fingerprint import written
from stateward.run.door.outcome import Outcome, as_first_seen
from stateward.run.door.role import calls_text
from stateward.run.door.told import named
from stateward.run.store.entry import Entry

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_SORTING = json.JSONEncoder(default=str, sort_keys=True)
_STRANGE = "strange"
"""Marks a message that is kept with what JSON has not."""
_NUMBER = "not a number of JSON"
_FIELDS = "fields"


def restored(entry: Entry, *, first: bool) -> ChatResult:
    """Return what a closed call came to.

    Args:
        entry: The call.
        first: Whether its activity sees the end for the first time, in a replay.

    Raises:
        Exception: What the activity saw first; afterwards a `RunError` that says so.
    """
    if entry.status == "failed":
        raise as_first_seen(entry) if first else _failed_before(entry)
    return ChatResult(generations=[ChatGeneration(message=message_of(entry.result))])


def replayed(entry: Entry, *, first: bool) -> Iterator[ChatGenerationChunk]:
    """Yield what the activity saw in one chunk; a stream that broke off breaks off again.

    Args:
        entry: The closed call.
        first: Whether its activity sees the end for the first time, in a replay.

    Yields:
        The chunk.

    Raises:
        Exception: As for `restored`.
    """
    if entry.status != "failed":
        yield as_chunk(message_of(entry.result))
        return
    if entry.result.get("partial"):
        yield as_chunk(message_of(entry.result["partial"]), is_last=False)
    raise as_first_seen(entry) if first else _failed_before(entry)


def _failed_before(entry: Entry) -> RunError:
    return RunError(
        f"The call of model `{entry.name}` failed: {entry.result['error']}",
        where=entry.key.path,
        fix="It is not made again for this activation; let the chart enter the state anew.",
    )


def failed(error: Exception | str, *, seen: Sequence[ChatGenerationChunk] = ()) -> Outcome:
    """Make the outcome of a call that failed; what it reserved stands.

    Args:
        error: What was raised, or what happened.
        seen: What was said before.
    """
    text = error if isinstance(error, str) else named(error)
    partial = {"partial": kept(whole(seen))} if seen else {}
    return Outcome(status="failed", result={"error": text, **partial}, spent={})


def kept(message: BaseMessage) -> dict[str, Any]:
    """Return a message as the journal keeps it: what was said is paid for, whatever is in it.

    Args:
        message: What was said. Numbers that JSON has not (a model may write `NaN` for an argument) come back as they
            were; of what a provider's library leaves in it besides, the text is kept.
    """
    told = message_to_dict(message)
    if _is_plain(told):
        return told
    return {"type": told["type"], "data": _written(told["data"]), _STRANGE: True}


def message_of(kept: Mapping[str, Any]) -> BaseMessage:
    """Return a message that the journal has kept.

    Args:
        kept: From `kept`; more keys do not matter.
    """
    data = _read(kept["data"]) if kept.get(_STRANGE) else kept["data"]
    return messages_from_dict([{"type": kept["type"], "data": data}])[0]


def _is_plain(value: Any) -> bool:
    if written(value) is not None:
        return True
    try:
        _ENCODER.encode(value)
    except (TypeError, ValueError):
        return False
    return True


def _written(value: Any) -> Any:
    """Write what is no JSON in a form that `_read` finds; a mapping that looks like one is written in it, too."""
    if isinstance(value, dict):
        fields = {str(key): _written(one) for key, one in cast("dict[Any, Any]", value).items()}
        return {_FIELDS: fields} if fields.keys() & {_NUMBER, _FIELDS} else fields
    if isinstance(value, list | tuple):
        return [_written(one) for one in cast("Sequence[Any]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return {_NUMBER: repr(value)}
    return value if _is_plain(value) else str(value)


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(one) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if fields.keys() == {_NUMBER}:
        return float(fields[_NUMBER])
    return {key: _read(one) for key, one in fields.get(_FIELDS, fields).items()}


def copied(chunk: ChatGenerationChunk) -> ChatGenerationChunk:
    """Copy a chunk: LangChain gives those it is handed ids and metadata of the run, and what is kept has none.

    Args:
        chunk: From the model.
    """
    return chunk.model_copy(update={"message": chunk.message.model_copy()})


def whole(chunks: Sequence[ChatGenerationChunk]) -> BaseMessage:
    """Put the chunks of a stream together.

    Args:
        chunks: In the order in which they came.

    Raises:
        ValueError: There is none.
    """
    merged = merge_chat_generation_chunks(list(chunks))
    if merged is None:
        raise ValueError("the model's stream had no chunk")
    return message_chunk_to_message(merged.message)


def as_chunk(message: BaseMessage, *, is_last: bool = True) -> ChatGenerationChunk:
    """Make one chunk of a message.

    Args:
        message: What was said.
        is_last: Whether nothing follows.
    """
    said = message.model_dump(exclude={"type"})
    return ChatGenerationChunk(message=AIMessageChunk(**said, chunk_position="last" if is_last else None))


def is_visible(chunk: ChatGenerationChunk) -> bool:
    """Whether a reader learns anything from a chunk: providers begin with one that names the speaker only.

    Args:
        chunk: From the model.
    """
    message = chunk.message
    if message.content or message.additional_kwargs:
        return True
    return isinstance(message, AIMessageChunk) and bool(message.tool_call_chunks or message.usage_metadata)


def content(message: BaseMessage) -> dict[str, Any]:
    """Return what a message says, without its id: a re-entered activity makes the same call with new ids.

    Args:
        message: Any message.
    """
    return {"type": message.type, "content": message.content, "tool_calls": calls_text(message)}


def plain(options: Mapping[str, Any]) -> tuple[Any, str]:
    """Return options as JSON, whatever is in them.

    Args:
        options: What is sent beside the messages.

    Returns:
        The JSON, and its text, which is ASCII.
    """
    text = _SORTING.encode(options)
    return json.loads(text), text
