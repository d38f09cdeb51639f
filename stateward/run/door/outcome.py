"""What a performed call came to, as the journal keeps it and as the activity sees it."""

from __future__ import annotations

import builtins
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from pydantic_core import to_jsonable_python

from stateward.errors import RunError
from stateward.govern.fingerprint import written
from stateward.govern.redact import DataClass, redact
from stateward.run.door.told import named, shortened, told
from stateward.run.door.tool import Tool, ToolResult, ToolStatus
from stateward.run.store.entry import Entry
from stateward.run.store.json_text import read_json, write_json

SECRET: frozenset[DataClass] = frozenset({"secret"})
"""What is taken out of everything that is kept."""


class Named(Protocol):
    """A tool, or the call of one."""

    @property
    def name(self) -> str:
        """The tool's name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a performed call came to, for the journal and the ledger."""

    status: Literal["completed", "failed", "unknown"]
    result: Any  # JSON
    spent: Mapping[str, float]
    tokens_in: int = 0
    tokens_out: int = 0


def kept(tool: Named, value: Any) -> Outcome:  # whatever a tool returns
    """Bring a result into the form the journal keeps, so that a re-entered activity sees what it saw first.

    Args:
        tool: Whose result it is.
        value: What it returned.

    Returns:
        Completed with redacted JSON; failed when the result is none.
    """
    try:
        plain = redact(to_jsonable_python(value), classes=SECRET)
        if written(plain) is not None:  # then what is read back is the very same
            return Outcome(status="completed", result=plain, spent={})
        text = write_json(plain, where=f"the result of `{tool.name}`")
        if "\\ud" in text:  # half a character, which JSON can escape and hardly anything else can take
            json.dumps(plain, ensure_ascii=False).encode()
    except Exception as misfit:  # noqa: BLE001  # recorded: bytes, circles and depths raise many kinds, generators any
        reason = f"it ran, but its result cannot be kept: {told(misfit)}"
        return Outcome(status="failed", result=_error(tool.name, "failed", reason), spent={})
    return Outcome(status="completed", result=read_json(text), spent={})


def seen(entry: Entry, outcome: Outcome, *, call_id: str) -> ToolResult:
    """Return the observation of a call that was made.

    Args:
        entry: Its entry.
        outcome: What it came to.
        call_id: The id of the model's tool call, when there is one.
    """
    status = status_of(outcome.status, outcome.result)
    return ToolResult(name=entry.name, status=status, value=outcome.result, call=entry.key.call, call_id=call_id)


def replayed(known: Entry) -> ToolResult:
    """Return the observation of a call that was made before.

    Args:
        known: Its closed entry.
    """
    status = status_of(known.status, known.result)
    return ToolResult(name=known.name, status=status, value=known.result, call=known.key.call)


def status_of(journal: str, result: Any) -> ToolStatus:
    """Return the status of an observation, from the journal's word and the JSON beside it.

    Args:
        journal: `completed`, `failed` or `unknown`.
        result: What the journal keeps; of a failed call its error.
    """
    if journal == "failed" and isinstance(result, Mapping):
        error = cast("Mapping[str, Any]", result).get("error")
        return "timeout" if isinstance(error, Mapping) and error["type"] == "timeout" else "failed"
    return "ok" if journal == "completed" else "unknown" if journal == "unknown" else "failed"


def timed_out(tool: Tool, *, began: bool) -> Outcome:
    """Make the outcome of a call that took too long.

    Of a `once` tool that had begun nobody knows whether it acted: a thread cannot be killed and goes on, and async work
    was stopped somewhere in its middle (DESIGN decision 17).

    Args:
        tool: What was called.
        began: Whether it had begun; else it waited for a free thread all the time.
    """
    unknown = tool.effect == "once" and began
    reason = "it took too long" if began else "no thread was free for it in time; it was not begun"
    error = _error(tool.name, "timeout", reason)
    return Outcome(status="unknown" if unknown else "failed", result=error, spent={})


def lost(tool: Tool, *, began: bool, code: int | None) -> Outcome:
    """Make the outcome of a call whose process ended before it did.

    Args:
        tool: What was called.
        began: Whether it had begun.
        code: The exit code of the process; negative for a signal.
    """
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    reason = (
        f"its process ended with {how} before it did" if began else f"its process ended with {how}; it had not begun"
    )
    unknown = tool.effect == "once" and began
    return Outcome(status="unknown" if unknown else "failed", result=_error(tool.name, "failed", reason), spent={})


def undeclared(name: str, tools: Mapping[str, Tool]) -> str:
    """Say that a state may not use a tool.

    Args:
        name: What was called.
        tools: What the state declares.
    """
    return f"the state does not declare the tool `{shortened(name)}`; it may use: {', '.join(sorted(tools)) or 'none'}"


def failed(tool: Named, error: BaseException) -> Outcome:
    """Make the outcome of a call that failed.

    Args:
        tool: What was called.
        error: What it raised.
    """
    return Outcome(status="failed", result=_error(tool.name, "failed", named(error)), spent={})


def as_first_seen(entry: Entry) -> Exception:
    """Make what the activity caught when a model call failed, in a replay of it: of the same name, with the same text.

    Args:
        entry: The failed call; its result says what was raised.
    """
    name, _, text = str(entry.result["error"]).partition(": ")
    kind: object = getattr(builtins, name, None) or _ours(name)
    if isinstance(kind, type) and issubclass(kind, RunError):
        return kind(text.removesuffix("."))  # it writes the full stop itself
    if isinstance(kind, type) and issubclass(kind, Exception):
        return kind(text) if text else kind()
    if not name.isidentifier():  # no exception stood behind it: the activity itself left the stream
        return RuntimeError(str(entry.result["error"]))
    return type(name, (Exception,), {})(text)


def _ours(name: str) -> object:
    """Return the error of ours that has a name; None for any other name."""
    kinds = [RunError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return next((kind for kind in kinds if kind.__name__ == name and kind.__module__ == RunError.__module__), None)


def _error(name: str, kind: str, reason: str) -> dict[str, Any]:
    return {"error": {"type": kind, "tool": name, "reason": reason}}
