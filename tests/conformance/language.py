"""What the session layer needs of a language for data models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Names:
    """What an expression can name."""

    variables: dict[str, Any]
    """The document's variables; a language changes them in place."""
    system: Mapping[str, Any]
    """What is read only: `_event`, `_sessionid`, `_name`, `_ioprocessors`, `In`."""


class Language(Protocol):
    """Evaluates the texts of one data model, without `eval`."""

    nothing: Any
    """What a variable holds that was only declared, and what an event without data carries."""

    def evaluate(self, text: str, names: Names) -> Any:
        """Return the value of an expression."""
        ...

    def assign(self, location: str, value: Any, names: Names) -> None:
        """Assign to a location whose variable exists."""
        ...

    def execute(self, text: str, names: Names) -> None:
        """Run a script."""
        ...

    def is_true(self, value: Any) -> bool:
        """Tell whether a condition of this value holds."""
        ...

    def is_name(self, name: str) -> bool:
        """Tell whether a variable may be called so."""
        ...

    def system(self, name: str, value: Any) -> Any:
        """Return a system variable as expressions see it."""
        ...
