"""What the audit log is told of asks: that they are put, and every answer of every person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateward.govern.redact import redact
from stateward.run.store.ask import Ask
from stateward.run.store.given import Given


def about(ask: Ask) -> dict[str, Any]:
    """Return the record of an ask that is put, or was answered.

    Args:
        ask: The ask.
    """
    return {
        "event": "answered" if ask.status == "answered" else "asked",
        "session": ask.session,
        "run": ask.run,
        "path": ask.path,
        "ask": ask.id,
        "tool": ask.tool,
        "fingerprint": ask.fingerprint,
    }


def told(ask: Ask, given: Given) -> dict[str, Any]:
    """Return the record of an answer.

    Args:
        ask: The ask with the answer; one that needs more approvals is open, and its record says `approved`.
        given: The answer. An edit is told with the call that was shown and the one that is wanted.
    """
    record = {**about(ask), "by": given.by, "note": given.note, "decision": given.decision}
    if ask.status == "open":
        record["event"] = "approved"
    if ask.approvals > 1:
        record["approvals"] = ask.progress
    if given.decision == "edit":
        record["shown"] = _call(ask.tool, ask.arguments)
        record["edited"] = _call(given.tool or ask.tool, given.arguments or {})
    return record


def _call(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"tool": tool, "arguments": redact(dict(arguments))}
