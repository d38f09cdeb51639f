"""What an author's functions may look like, as types: a checker holds them against the chart's state schema.

`bind` gives a function what its parameters name, so its type is no single `Callable`: there is one form for each set of
names. The first parameter is the state, whatever its name; `event`, `run` and `active` are found by name, in any order.
The forms are protocols, for a checker compares parameter names only there, and those that take no state come last, for
it prefers what comes first.

What a checker cannot see is still refused by `bind` when the chart is built; docs/charts.md lists it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel
from typing_extensions import TypeVar

S = TypeVar("S", contravariant=True, default=Any)
"""The state schema: a TypedDict, dataclass or Pydantic model. What takes any mapping fits every TypedDict."""
E = TypeVar("E", contravariant=True, default=Any)
"""The event."""
R = TypeVar("R", covariant=True, default=object)
"""What comes back."""

Paths = frozenset[str]
"""What `active` is: the paths of the active states."""


class Dataclass(Protocol):
    """Any instance of a dataclass; a happening, a `Delayed` and a `Cancel` are such, too."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class TakesState(Protocol[S, R]):
    """`(state)`."""

    def __call__(self, state: S, /) -> R: ...


class TakesEvent(Protocol[E, R]):
    """`(event)`."""

    def __call__(self, *, event: E) -> R: ...


class _Active(Protocol[R]):
    def __call__(self, *, active: Paths) -> R: ...


class _EventActive(Protocol[E, R]):
    def __call__(self, *, event: E, active: Paths) -> R: ...


class _StateEvent(Protocol[S, E, R]):
    def __call__(self, state: S, /, *, event: E) -> R: ...


class _StateActive(Protocol[S, R]):
    def __call__(self, state: S, /, *, active: Paths) -> R: ...


class _StateEventActive(Protocol[S, E, R]):
    def __call__(self, state: S, /, *, event: E, active: Paths) -> R: ...


class _NamedStateEvent(Protocol[S, E, R]):
    def __call__(self, *, state: S, event: E) -> R: ...


class _NamedStateActive(Protocol[S, R]):
    def __call__(self, *, state: S, active: Paths) -> R: ...


class _NamedStateEventActive(Protocol[S, E, R]):
    def __call__(self, *, state: S, event: E, active: Paths) -> R: ...


Pure = (
    TakesState[S, R]
    | _StateEvent[S, E, R]
    | _StateActive[S, R]
    | _StateEventActive[S, E, R]
    | _NamedStateEvent[S, E, R]
    | _NamedStateActive[S, R]
    | _NamedStateEventActive[S, E, R]
    | Callable[[], R]
    | TakesEvent[E, R]
    | _Active[R]
    | _EventActive[E, R]
)
"""A pure function; its parameters are `S`, `R` and `E`, in this order."""

Told = Mapping[str, object] | BaseModel | Dataclass | str | None
"""What an action returns: an update, an event, a bare event name, a `Delayed`, a `Cancel`, or nothing."""
Guard = Pure[S, object, Any]
"""It is true or false as Python sees it."""
Action = Pure[S, Told | Sequence[Told], Any]
Actions = Action[S] | Sequence[Action[S]]
"""One action, or several that run in order."""
Seconds = float | Pure[S, float, Any]
"""A number of seconds, or a pure function that returns one."""
Result = Pure[S, object, Any]
"""The data of a final state."""


class _Run(Protocol[R]):
    def __call__(self, *, run: Any) -> R: ...


class _EventRun(Protocol[R]):
    def __call__(self, *, event: Any, run: Any) -> R: ...


class _StateRun(Protocol[S, R]):
    def __call__(self, state: S, /, *, run: Any) -> R: ...


class _StateEventRun(Protocol[S, R]):
    def __call__(self, state: S, /, *, event: Any, run: Any) -> R: ...


class _NamedStateRun(Protocol[S, R]):
    def __call__(self, *, state: S, run: Any) -> R: ...


class _NamedStateEventRun(Protocol[S, R]):
    def __call__(self, *, state: S, event: Any, run: Any) -> R: ...


class _Invocable(Protocol[S]):
    """A LangChain `Runnable`, a compiled graph among them."""

    def invoke(self, input: S, /, *args: Any, **kwargs: Any) -> object: ...


Written = Mapping[str, Any] | BaseModel | Dataclass | None
"""What an activity comes to: an update, or nothing."""
_Work = (
    TakesState[S, R]
    | _StateRun[S, R]
    | _StateEvent[S, Any, R]
    | _StateEventRun[S, R]
    | _NamedStateRun[S, R]
    | _NamedStateEvent[S, Any, R]
    | _NamedStateEventRun[S, R]
    | Callable[[], R]
    | _Run[R]
    | TakesEvent[Any, R]
    | _EventRun[R]
)
Activity = _Work[S, Written | Awaitable[Written]] | _Invocable[S]
"""The work of a state: a function, a coroutine function or a runnable."""
