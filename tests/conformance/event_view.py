"""Events between the chart, the data model and other sessions: what travels, and what a document sees of it.

An occurrence of the kernel has a name and data. What SCXML tells besides (type, sendid, origin, origintype, invokeid)
travels in the data, under a mark. Names that only a chart itself may raise in Stateward (`done.*`, `error.*` and so on)
travel from session to session behind a prefix, which transitions know and `_event.name` does not show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateward.chart.event import Occurrence
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE
from stateward.exchange.scxml_ids import FAILURES
from stateward.run.resume import is_internal
from tests.conformance.value import MARK, decode

PROCESSOR = "http://www.w3.org/TR/scxml/#SCXMLEventProcessor"
FIELDS = ("name", "type", "sendid", "origin", "origintype", "invokeid", "data")
"""What `_event` always has. Source: SCXML 5.10.1."""

_OUTSIDE = "external."


def raised(name: str, **fields: Any) -> Occurrence:
    """Return an event of the internal queue; its fields and its data are JSON."""
    return Occurrence(name=name, data={MARK: "event", "type": "internal", **fields})


def failed(name: str, reason: str, *, sendid: str | None = None) -> Occurrence:
    """Return an error event; a document that does not catch it goes on. Source: SCXML 5.10.2."""
    fields = {"sendid": sendid} if sendid else {}
    return Occurrence(name=name, data={MARK: "event", "type": "platform", "data": {"reason": reason}, **fields})


def reported(name: str, reason: str, *, sendid: str | None = None) -> Occurrence:
    """Return an error event that the session layer tells the chart of, between two macrosteps."""
    error = failed(name, reason, sendid=sendid)
    return Occurrence(name=_OUTSIDE + name, data=error.data)


def from_outside(event: str, **fields: Any) -> Occurrence:
    """Return an event of the external queue."""
    name = _OUTSIDE + event if is_internal(event) else event
    return Occurrence(name=name, data={MARK: "event", "type": "external", **fields})


def ended(invocation: str, *, path: str, **fields: Any) -> Occurrence:
    """Return the event that an invoked session has ended.

    The reader takes `done.invoke.<id>` for the completion of the state's activity, which is what an invocation is in
    Stateward; the document sees its own name for it.

    Args:
        invocation: The invocation's id.
        path: The path of its state.
        fields: Its other fields, as JSON.
    """
    return from_outside(ACTIVITY_DONE + path, name=f"done.invoke.{invocation}", invokeid=invocation, **fields)


def is_end(event: Occurrence) -> bool:
    """Tell whether an event is the end of an invoked session."""
    return event.name.startswith(_OUTSIDE + ACTIVITY_DONE)


def outside(events: tuple[str, ...]) -> tuple[str, ...]:
    """Return descriptors with those under which the same events come from other sessions."""
    return (*events, *(_OUTSIDE + each for each in events if is_internal(each)))


def field(event: Occurrence, name: str) -> Any:
    """Return one of an event's fields as JSON, None if it has no such field."""
    data = event.data
    return data.get(name) if isinstance(data, dict) and data.get(MARK) == "event" else None


def visible(event: Occurrence, *, nothing: Any, ids: Mapping[str, str]) -> dict[str, Any]:
    """Return `_event` as a document sees it.

    Args:
        event: What happened.
        nothing: What a field without value holds.
        ids: Per path of a state: its id.
    """
    name = "error.execution" if event.name in FAILURES else event.name.removeprefix(_OUTSIDE)
    if name.startswith(STATE_DONE):
        path = name.removeprefix(STATE_DONE)
        name = STATE_DONE + ids.get(path, path)
    seen: dict[str, Any] = {**dict.fromkeys(FIELDS, nothing), "name": name}
    data = event.data
    if isinstance(data, dict) and data.get(MARK) == "event":
        return seen | {key: decode(value) for key, value in data.items() if key != MARK}
    seen["type"] = "platform" if name.startswith("error.") else "internal" if name.startswith("done.") else "external"
    return seen if data is None else seen | {"data": decode(data)}
