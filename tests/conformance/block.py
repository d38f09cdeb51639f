"""One block of executable content while it runs: the names it sees, and what it tells the chart and other sessions.

A session's data are one JSON value. A block decodes the variables, runs, and returns the JSON value anew, so that what
it does is an update like any other action's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stateward.chart.data import News
from stateward.chart.event import Occurrence
from tests.conformance.event_view import PROCESSOR, failed, visible
from tests.conformance.language import Language, Names
from tests.conformance.value import ScriptError, decode, encode

Json = dict[str, Any]
SESSION = "session"
"""What the id of every session begins with; a number follows."""
KEY = "data"
"""The one state key of a session."""


def opening(
    session: str, *, name: str, latency_s: float, given: Mapping[str, Any] | None = None, invoked_as: str = ""
) -> Json:
    """Return a session's data before it starts.

    Args:
        session: Its id.
        name: The document's name.
        latency_s: How long a message to itself is on its way, besides its delay; the n-th takes n times as long, so
            that they arrive one by one and in order. With 0 all that have no delay arrive after the same macrostep.
        given: What the invoking session passes for variables of the document, as JSON.
        invoked_as: The id of the invocation, if it was invoked.
    """
    facts = {"id": session, "name": name, "invoked_as": invoked_as, "latency_s": latency_s}
    return {"vars": {}, "given": dict(given or {}), "session": facts, "bound": [], "ids": 0, "sent": 0, "outbox": []}


@dataclass(slots=True, kw_only=True)
class Block:
    """What content reads and writes while it runs. Make it with `Block.of`."""

    language: Language
    data: Json
    names: Names
    news: list[News] = field(default_factory=list[News])
    """What the chart is told, in order."""

    @classmethod
    def of(
        cls, language: Language, data: Json, *, event: object, active: frozenset[str], ids: Mapping[str, str]
    ) -> Block:
        """Open a block on a session's data.

        Args:
            language: The document's.
            data: The session's data; left as they are.
            event: The event that is processed, None before the first.
            active: The ids of the active states.
            ids: Per path of a state: its id.
        """
        names = names_of(language, data, event=event, active=active, ids=ids)
        own = {**data, "outbox": list(data["outbox"]), "bound": list(data["bound"])}
        return cls(language=language, data=own, names=names)

    def closed(self) -> Json:
        """Return the session's data as the block leaves them.

        Raises:
            ScriptError: A variable holds something that cannot be kept.
        """
        return {**self.data, "vars": {name: encode(value) for name, value in self.names.variables.items()}}

    def evaluate(self, text: str) -> Any:
        """Return the value of an expression."""
        return self.language.evaluate(text, self.names)

    def holds(self, condition: str) -> bool:
        """Tell whether a condition is true; one that fails is false, and an error is raised.

        Source: SCXML 5.9.1.
        """
        try:
            return self.language.is_true(self.evaluate(condition))
        except ScriptError as error:
            self.news.append(failed("error.execution", str(error)))
            return False

    def assign(self, location: str, value: Any) -> None:
        """Assign to a location of the data model."""
        self.language.assign(location, value, self.names)

    def declare(self, name: str, value: Any) -> None:
        """Make a variable, or give it another value.

        Raises:
            ScriptError: No variable may be called so, or it is the system's.
        """
        if name in self.names.system or not self.language.is_name(name):
            raise ScriptError(f"{name!r} is no name of a variable")
        self.names.variables[name] = value

    def new_id(self, prefix: str) -> str:
        """Return an id that no other block of the session gets."""
        self.data["ids"] += 1
        return f"{prefix}.{self.data['ids']}"

    def latency(self) -> float:
        """Return how long the next message to the session itself is on its way."""
        self.data["sent"] += 1
        return self.data["sent"] * self.data["session"]["latency_s"]

    def post(self, message: Json) -> None:
        """Leave a message for the session layer; it is sent after the macrostep."""
        self.data["outbox"].append(message)

    @property
    def session(self) -> str:
        """The session's id."""
        return self.data["session"]["id"]


def names_of(language: Language, data: Json, *, event: object, active: frozenset[str], ids: Mapping[str, str]) -> Names:
    """Return the names that an expression can use, those of a block or of a condition.

    Args:
        language: The document's.
        data: The session's data.
        event: The event that is processed, None before the first.
        active: The ids of the active states.
        ids: Per path of a state: its id.
    """
    facts = data["session"]
    reached = {"location": address(facts["id"])}
    system: dict[str, Any] = {
        "_sessionid": facts["id"],
        "_name": facts["name"],
        "_ioprocessors": {"scxml": reached, PROCESSOR: dict(reached)},
        "In": language.system("In", active.__contains__),
    }
    if isinstance(event, Occurrence):
        system["_event"] = visible(event, nothing=language.nothing, ids=ids)
    return Names({name: decode(value) for name, value in data["vars"].items()}, system)


def address(session: str) -> str:
    """Return where a session is reached."""
    return f"#_scxml_{session}"


def is_address(text: str) -> bool:
    """Tell whether some session may be reached there."""
    return re.fullmatch(rf"#_scxml_{SESSION}\d+", text) is not None
