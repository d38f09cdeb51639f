"""What a document says without a function of the author: events to raise and to send, values, combined conditions.

Each is a function like an author's, so that the kernel knows nothing of documents; and each can be told from an
author's, so that it is written as it was read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from stateward.chart.definition import Action
from stateward.chart.delay import Cancel, Delayed
from stateward.chart.event import Occurrence
from stateward.chart.guard import Bound, bind_pure


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise:
    """An event for the chart itself, in the present macrostep. Source: SCXML 4.2."""

    event: str

    def __call__(self, state: object) -> Occurrence:
        """Return what the action raises."""
        return Occurrence(name=self.event)

    def __str__(self) -> str:
        return f"raise({self.event})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """An event for the chart itself, after the present macrostep. Source: SCXML 6.2."""

    event: str
    after_s: float = 0.0
    id: str = ""
    data: Mapping[str, object] = field(default_factory=dict[str, object])

    def __call__(self, state: object) -> Delayed:
        """Return what the action sends."""
        return Delayed(Occurrence(name=self.event, data=dict(self.data) or None), after_s=self.after_s, id=self.id)

    def __str__(self) -> str:
        said = ", ".join(
            filter(None, (self.event, f"{self.after_s:g} s", self.id, json.dumps(self.data) if self.data else ""))
        )
        return f"send({said})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelSend:
    """Forgets what was sent under an id. Source: SCXML 6.3."""

    id: str

    def __call__(self, state: object) -> Cancel:
        """Return what the action cancels."""
        return Delayed.cancel(self.id)

    def __str__(self) -> str:
        return f"cancel({self.id})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """The data of a final state, when a document says it outright. Source: SCXML 5.5."""

    value: object
    """Plain JSON."""

    def __call__(self, state: object) -> object:
        """Return the value."""
        return self.value

    def __str__(self) -> str:
        return json.dumps(self.value, sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """True while a state is active. Source: SCXML 5.9.1, `In()`."""

    path: str

    def __call__(self, state: object, active: frozenset[str]) -> bool:
        """Tell whether the state is active."""
        return self.path in active

    def __str__(self) -> str:
        return f"In({self.path})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """Several guards as one."""

    by: Literal["and", "or", "not"]
    parts: tuple[Bound, ...]

    def __call__(self, state: object, event: object, active: frozenset[str]) -> bool:
        """Ask the parts, in order and no more than needed."""
        said = (bool(part(state, event, active=lambda: active)) for part in self.parts)
        if self.by == "not":
            return not next(said)
        return all(said) if self.by == "and" else any(said)

    def __str__(self) -> str:
        if self.by == "not":
            return f"not {self._inner(self.parts[0])}"
        return f" {self.by} ".join(self._inner(part) for part in self.parts)

    def _inner(self, part: Bound) -> str:
        return f"({part.name})" if isinstance(part.fn, Combined) and part.fn.by != "not" else part.name


Content = Raise | Send | CancelSend
"""What a document can do in an action without a function of the author."""


def bound(said: Content | Constant | Inside | Combined) -> Bound:
    """Return the uniform callable around it, named after what it says.

    Args:
        said: What the document says.
    """
    return replace(bind_pure(said, where=""), name=str(said))


def action(content: Content) -> Action:
    """Return it as an action.

    Args:
        content: What the document says.
    """
    return Action(fn=bound(content), name=str(content))
