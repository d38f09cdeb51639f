"""What the door tells of its calls while somebody listens: redacted as the state's policy says for the log."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, cast

from langchain_core.messages import BaseMessage

from stateward.govern.effective import Effective
from stateward.govern.kinds.redaction import Finding
from stateward.govern.redact import redact
from stateward.govern.sink import taken_out
from stateward.run.door.activation import Activation
from stateward.run.door.outcome import status_of
from stateward.run.door.tool import ToolResult
from stateward.run.events.event import CallEnded, CallStarted, Spent, StreamEvent, Token
from stateward.run.events.listener import Listener
from stateward.run.store.entry import Entry

MOST_LETTERS = 4096
"""A result whose JSON is longer is left to the journal."""
REFUSED = frozenset({"denied", "rejected", "invalid"})
"""How calls end that were never begun."""


class Calls:
    """Tells of the calls of one activation.

    Args:
        listener: Who hears it.
        effective: The policy of the state or agent.
    """

    def __init__(self, listener: Listener, effective: Effective) -> None:
        self._listener = listener
        self._is_secret = effective.sensitivity == "secret"
        self._classes: Collection[Finding] = taken_out(effective, sink="log")

    def under(self, effective: Effective) -> Calls:
        """Return who tells of an agent's calls, inside the activation.

        Args:
            effective: The agent's policy.
        """
        return Calls(self._listener, effective)

    def started(self, entry: Entry) -> None:
        """Tell that a call is made.

        Args:
            entry: The call.
        """
        shown = None if entry.kind == "model" or self._is_secret else self._shown(dict(entry.arguments))
        self._tell(CallStarted(**_place(entry), arguments=cast("Mapping[str, Any] | None", shown)))

    def ended(self, entry: Entry) -> None:
        """Tell how a call ended, and what it cost.

        Args:
            entry: The settled call.
        """
        result, left_out = self._result(entry)
        self._tell(
            CallEnded(
                **_place(entry),
                status=status_of(entry.status, entry.result),
                duration_s=max(0.0, (entry.ended_at or entry.started_at) - entry.started_at),
                result=result,
                left_out=left_out,
            )
        )
        if entry.kind == "model" or entry.usd:
            self._tell(Spent(**_place(entry), usd=entry.usd, tokens_in=entry.tokens_in, tokens_out=entry.tokens_out))

    def refused(self, result: ToolResult, activation: Activation) -> None:
        """Tell that a tool call was not let through.

        Args:
            result: What the activity is told.
            activation: Whose call it is.
        """
        if result.status not in REFUSED:
            return
        self._tell(
            CallEnded(
                path=activation.path,
                key=activation.key(result.call),
                of="tool",
                name=result.name,
                status=result.status,
                duration_s=0.0,
                result=None if self._is_secret else self._shown(result.value),
                left_out=self._is_secret,
            )
        )

    def said(self, entry: Entry, message: BaseMessage) -> None:
        """Tell a piece of what a model says.

        Args:
            entry: The call.
            message: The piece.
        """
        text = "" if self._is_secret else message.text
        if text:
            self._tell(Token(path=entry.key.path, key=entry.key, name=entry.name, text=text))

    def _tell(self, event: StreamEvent) -> None:
        self._listener.tell(event)

    def _result(self, entry: Entry) -> tuple[Any, bool]:
        if self._is_secret:
            return None, True
        value = _spoken(entry.result) if entry.status == "completed" else entry.result
        if len(json.dumps(value)) > MOST_LETTERS:
            return None, True
        return self._shown(value), False

    def _shown(self, value: Any) -> Any:
        return redact({"": value}, classes=self._classes)[""]


class Voice:
    """Tells what one model call says.

    Args:
        calls: Tells of the activation's calls.
        entry: The call.
    """

    def __init__(self, calls: Calls, entry: Entry) -> None:
        self._calls = calls
        self._entry = entry
        self._is_heard = False

    def __call__(self, message: BaseMessage) -> None:
        """Tell a piece of a reply that streams.

        Args:
            message: The piece.
        """
        self._is_heard = True
        self._calls.said(self._entry, message)

    def whole(self, message: BaseMessage) -> None:
        """Tell a reply, unless it was told in pieces.

        Args:
            message: The reply.
        """
        if not self._is_heard:
            self._calls.said(self._entry, message)


def _place(entry: Entry) -> dict[str, Any]:
    return {"path": entry.key.path, "key": entry.key, "of": entry.kind, "name": entry.name}


def _spoken(kept: Any) -> Any:
    """Return what a message says that LangChain wrote, of a model or of a tool of an agent; anything else as it is."""
    if not isinstance(kept, Mapping):
        return kept
    told = cast("Mapping[str, Any]", kept)
    message = told.get("message", told)
    if not (isinstance(message, Mapping) and {"type", "data"} <= cast("Mapping[str, Any]", message).keys()):
        return told
    data = cast("Mapping[str, Mapping[str, Any]]", message)["data"]
    calls = [{"name": call["name"], "args": call["args"]} for call in data.get("tool_calls") or ()]
    return {"content": data["content"], **({"tool_calls": calls} if calls else {})}
