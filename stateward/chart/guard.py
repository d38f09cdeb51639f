"""Functions take what they name: state, event, run, active, in the order their author likes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from stateward.errors import DefinitionError

Function = Callable[..., object]
"""An author's guard, action or activity: its parameters say what it wants."""


PURE = ("state", "event", "active")
"""What a guard, an action or a delay may name."""

Active = Callable[[], frozenset[str]]
"""How to get the paths of the active states, for a function that names `active`: they are made only if asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """An author's function behind one uniform call: `bound(state, event, run, active)`."""

    fn: Function
    name: str
    """The qualified name, for tables, drawings and messages."""
    positional: tuple[int, ...]
    """For each positional parameter, which of (state, event, run, active) it takes."""
    keyword: tuple[tuple[str, int], ...]
    """The same for keyword-only parameters, by name."""
    is_async: bool

    def __call__(self, state: object, event: object = None, run: object = None, active: Active | None = None) -> object:
        """Call the function with what it names.

        Args:
            state: What it gets as state.
            event: What it gets as `event`.
            run: What it gets as `run`.
            active: Called for what it gets as `active`, if it names that.

        Source: SCXML 5.9.1, `In()`, for `active`.
        """
        if self.positional == (0,) and not self.keyword:
            return self.fn(state)
        given = (state, event, run, active() if active is not None and self.takes("active") else frozenset[str]())
        named = {name: given[place] for name, place in self.keyword}
        return self.fn(*(given[place] for place in self.positional), **named)

    def takes(self, name: str) -> bool:
        """Tell whether the function takes `state`, `event`, `run` or `active`.

        Args:
            name: One of the four.
        """
        place = _NAMES.index(name)
        return place in self.positional or any(taken == place for _, taken in self.keyword)


def bind(fn: object, *, where: str, allowed: tuple[str, ...] = PURE) -> Bound:
    """Read a function's signature once and return the uniform callable around it.

    The first parameter is the state, whatever its name, unless that name is `event`, `run` or
    `active`. Every other parameter takes the thing it is named after.

    Args:
        fn: The author's function, or any callable with a readable signature.
        where: The state path or transition it is written at, for messages.
        allowed: The names it may take, from `state`, `event`, `run`, `active`.

    Raises:
        DefinitionError: It is not callable, its signature cannot be read, or a parameter is not in `allowed`.

    Source: DESIGN section 3, "functions take what they name".
    """
    name = qualified_name(fn)
    if not callable(fn):
        raise DefinitionError(f"{fn!r} is not callable", where=where, fix="Pass a function.")
    places = [(p, _place(p, first=i == 0)) for i, p in enumerate(_parameters(fn, name=name, where=where))]
    for parameter, place in places:
        if place < 0 or _NAMES[place] not in allowed:
            raise _unknown(parameter.name, name=name, where=where, allowed=allowed)
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    return Bound(
        fn=fn,
        name=name,
        positional=tuple(place for p, place in places if p.kind != keyword_only),
        keyword=tuple((p.name, place) for p, place in places if p.kind == keyword_only),
        is_async=_is_async(fn),
    )


def bind_pure(fn: object, *, where: str) -> Bound:
    """Bind a guard or an action: it takes state, event and active, and is not async, for the kernel cannot wait.

    Raises:
        DefinitionError: As `bind`, or the function is async.
    """
    bound = bind(fn, where=where)
    if bound.is_async:
        raise DefinitionError(
            f"`{bound.name}` is async, but guards and actions are pure and never wait",
            where=where,
            fix="Make it a plain `def`, or move the work into a state's `do`.",
        )
    return bound


def bind_all(fns: Function | Iterable[Function], *, where: str) -> tuple[Bound, ...]:
    """Bind one action or several, in order.

    Raises:
        DefinitionError: As `bind_pure`, for the first function that does not fit.
    """
    several = (fns,) if callable(fns) or not isinstance(cast("object", fns), Iterable) else tuple(fns)
    return tuple(bind_pure(fn, where=where) for fn in several)


def qualified_name(thing: object) -> str:
    """Return a stable name for a function, class or object: its qualified name, or that of its class."""
    inner: object = cast("functools.partial[object]", thing).func if _is_partial(thing) else thing
    name = getattr(inner, "__qualname__", None)
    return name if isinstance(name, str) else type(inner).__qualname__


_NAMES = ("state", "event", "run", "active")


def _place(parameter: inspect.Parameter, *, first: bool) -> int:
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        return -1
    if parameter.name in _NAMES:
        return _NAMES.index(parameter.name)
    return 0 if first and parameter.kind != inspect.Parameter.KEYWORD_ONLY else -1


def _parameters(fn: Function, *, name: str, where: str) -> list[inspect.Parameter]:
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError) as error:
        raise DefinitionError(
            f"`{name}` has no readable signature",
            where=where,
            fix="Wrap it in a function that names its parameters.",
        ) from error
    filled = cast("functools.partial[object]", fn).keywords if _is_partial(fn) else {}
    return [p for p in signature.parameters.values() if p.name not in filled]


def _is_partial(thing: object) -> bool:
    return isinstance(thing, functools.partial)


def _is_async(fn: Function) -> bool:
    call: object = getattr(fn, "__call__", None)  # noqa: B004 - the method itself is asked whether it is async
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(call)


def _unknown(parameter: str, *, name: str, where: str, allowed: tuple[str, ...]) -> DefinitionError:
    names = ", ".join(f"`{each}`" for each in allowed)
    return DefinitionError(
        f"`{name}` names the parameter `{parameter}`, which nobody can give it",
        where=where,
        fix=f"A function here may name {names}; the first parameter is the state unless named otherwise.",
        function=name,
        parameter=parameter,
        allowed=allowed,
    )
