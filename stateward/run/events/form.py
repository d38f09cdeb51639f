"""The forms of an event outside: JSON, and the parts of LangGraph's stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from langchain_core.messages import AIMessageChunk
from langgraph.types import Interrupt
from pydantic_core import to_jsonable_python

from stateward.errors import CodecError
from stateward.run.events.event import KINDS, Asked, Checkpoint, StreamEvent, Token
from stateward.run.store.entry import CallKey


def to_json(event: StreamEvent) -> dict[str, Any]:
    """Return an event as plain JSON.

    Args:
        event: Any event.

    Returns:
        Its `seq`, `kind` and `path`, and what the kind has beside; what an activity emitted is turned into JSON.
    """
    told: dict[str, Any] = {"seq": event.seq, "kind": event.kind, "path": event.path}
    for each in fields(event):
        value = getattr(event, each.name)
        told[each.name] = asdict(value) if isinstance(value, CallKey) else value
    return to_jsonable_python(told, serialize_unknown=True, bytes_mode="base64")


def from_json(told: Mapping[str, Any]) -> StreamEvent:
    """Read an event from its JSON.

    Args:
        told: From `to_json`.

    Returns:
        The event.

    Raises:
        CodecError: It is no event's.
    """
    kind = KINDS.get(str(told.get("kind")))
    if kind is None:
        raise CodecError(f"`{told.get('kind')}` is no kind of event", fix=f"There are: {', '.join(KINDS)}.")
    given = {key: value for key, value in told.items() if key != "kind"}
    if isinstance(given.get("key"), Mapping):
        given["key"] = CallKey(**given["key"])
    if isinstance(given.get("asks"), list):
        given["asks"] = tuple(given["asks"])
    try:
        return kind(**given)
    except TypeError as wrong:
        raise CodecError(
            f"It is no event of the kind `{kind.kind}`: {wrong}", fix="Read what `to_json` wrote."
        ) from wrong


def as_part(event: StreamEvent, *, session: str = "") -> dict[str, Any]:
    """Return an event as a part of LangGraph's stream, in the form of version 2.

    Args:
        event: Any event.
        session: The session's id, for the config of a checkpoint.

    Returns:
        `type`, `ns` and `data`: a token as `messages`, a question as `updates` with an interrupt, a checkpoint as
        `checkpoints` without its values, and anything else as `custom` with the event's JSON.
    """
    if isinstance(event, Token):
        told = {"langgraph_node": event.path, "seq": event.seq}
        return _part("messages", (AIMessageChunk(content=event.text), told))
    if isinstance(event, Asked):
        return _part("updates", {"__interrupt__": (Interrupt(value=dict(event.question), id=event.ask),)})
    if isinstance(event, Checkpoint):
        configurable = {"thread_id": session, "checkpoint_ns": "", "checkpoint_id": event.id}
        return _part("checkpoints", {"config": {"configurable": configurable}, "metadata": {"step": event.step}})
    return _part("custom", to_json(event))


def _part(mode: str, data: object) -> dict[str, Any]:
    return {"type": mode, "ns": (), "data": data}
