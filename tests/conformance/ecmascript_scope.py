"""What names mean in a script: its own variables, the document's, the system's, and the language's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from tests.conformance.ecmascript_value import BUILT_IN, Native
from tests.conformance.value import UNDEFINED, Function, NotSupportedError, ScriptError

_LEFT_OUT = frozenset(
    (
        *("Date", "RegExp", "Error", "TypeError", "Symbol", "Map", "Set", "Promise", "Proxy", "Reflect", "BigInt"),
        *("console", "eval", "globalThis", "escape", "unescape", "encodeURIComponent", "decodeURIComponent"),
    )
)
"""Global names of the language that no test needs."""
Run = Callable[[Function, list[Any], "Scope"], Any]
"""Runs the body of a function in a scope made for it."""


class Scope:
    """One function's names inside those of the document.

    Args:
        variables: The document's variables; assignments go here.
        system: What may be read only: `_event`, `In` and the like.
        run: Runs functions of the document.
        this: What `this` is.
        own: The function's parameters and variables; None outside of functions.
    """

    def __init__(
        self,
        variables: MutableMapping[str, Any],
        system: Mapping[str, Any],
        *,
        run: Run,
        this: Any = UNDEFINED,
        own: dict[str, Any] | None = None,
    ) -> None:
        self.variables = variables
        self.system = system
        self.run = run
        self.this = this
        self._own = own

    def inside(self, own: dict[str, Any], *, this: Any) -> Scope:
        """Return the scope of a function called here; it does not see the caller's own names."""
        return Scope(self.variables, self.system, run=self.run, this=this, own=own)

    def knows(self, name: str) -> bool:
        """Tell whether a name means anything here."""
        return any(name in names for names in self._places())

    def get(self, name: str) -> Any:
        """Return what a name means.

        Raises:
            ScriptError: Nothing.
            NotSupportedError: Something of the language that is left out here.
        """
        for names in self._places():
            if name in names:
                return names[name]
        if name in _LEFT_OUT:
            raise NotSupportedError(f"`{name}`")
        raise ScriptError(f"ReferenceError: {name} is not defined")

    def set(self, name: str, value: Any) -> None:
        """Assign to a name; one that means nothing becomes a variable of the document.

        Raises:
            ScriptError: It is the system's.
        """
        if name in self.system:
            raise ScriptError(f"TypeError: {name} is read-only")
        inner = self._own is not None and name in self._own
        (self._own if inner and self._own is not None else self.variables)[name] = value

    def declare(self, name: str, value: Any) -> None:
        """Make a variable: of the function, or of the document outside of functions."""
        if self._own is not None:
            self._own[name] = value
        else:
            self.set(name, value)

    def _places(self) -> tuple[Mapping[str, Any], ...]:
        return (self._own or {}, self.variables, self.system, BUILT_IN)


def called(function: Any, given: list[Any], scope: Scope, *, this: Any = UNDEFINED) -> Any:
    """Call a function.

    Raises:
        ScriptError: It is none.
    """
    if isinstance(function, Native):
        return function.call(*given)
    if isinstance(function, Function):
        return scope.run(function, given, scope.inside({}, this=this))
    raise ScriptError("TypeError: not a function")


def constructed(function: Any, given: list[Any], scope: Scope) -> Any:
    """Carry out `new function(…)`: a function of the document fills a new object.

    Raises:
        ScriptError: It is no function.
        NotSupportedError: It is a built-in one that makes no plain data.
    """
    if isinstance(function, Native):
        if function.name not in ("Array", "Object"):
            raise NotSupportedError(f"`new {function.name}`")
        return function.call(*given)
    made: dict[str, Any] = {}
    called(function, given, scope, this=made)
    return made
