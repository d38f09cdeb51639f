"""States as an author writes them: a tree that reads like the picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, cast

from stateward.chart.signature import Actions, Activity, Result, S
from stateward.chart.transition import Choices, Reaction, Reactions

HistoryKind = Literal["shallow", "deep"]
"""What a superstate or parallel state remembers when it is left.

shallow: which child was active; of a parallel state only that it was, for all its regions were.
deep: which states were active inside, at every depth.
"""


@dataclass(frozen=True, slots=True, init=False)
class State(Generic[S]):
    """A state without states inside; with `do`, its activity runs while the chart is in it.

    Args:
        name: Letters, digits, `_` and `-`, not beginning with a digit.
        do: The activity: a function, Runnable or agent.
        model: The role of the model that the activity may call.
        tools: Names of the tools that the activity may call; nothing is allowed by default.
        output: The contract that the activity's result must fulfil.
        timeout_s: Seconds the activity may take, more than 0; None for no limit of its own.
        asks: Whether the activity puts questions of its own to people, with `run.ask`.
        to: Where to go when the activity has ended (at once without `do`); the first true guard wins.
        on: What events do here.
        always: What is tested after every step, without an event.
        entry: Actions on the way in.
        exit: Actions on the way out.
        policy: The policy that binds here and, for a superstate, everything inside.
    """

    name: str
    do: Activity[S] | None
    model: str | None
    tools: tuple[str, ...]
    output: object
    timeout_s: float | None
    asks: bool
    to: Choices[S] | None
    on: tuple[Reaction[S], ...]
    always: Choices[S]
    entry: Actions[S]
    exit: Actions[S]
    policy: object

    def __init__(
        self,
        name: str,
        *,
        do: Activity[S] | None = None,
        model: str | None = None,
        tools: Sequence[str] = (),
        output: object = None,
        timeout_s: float | None = None,
        asks: bool = False,
        to: Choices[S] | None = None,
        on: Reactions[S] | None = None,
        always: Choices[S] | None = None,
        entry: Actions[S] | None = None,
        exit: Actions[S] | None = None,
        policy: object = None,
    ) -> None:
        _fill(self, name=name, do=do, model=model, tools=_tuple(tools), output=output, timeout_s=timeout_s, asks=asks)
        _fill(self, to=to, on=_several(on), always=_or_none(always), entry=_or_none(entry), exit=_or_none(exit))
        _fill(self, policy=policy)


@dataclass(frozen=True, slots=True, init=False)
class Superstate(Generic[S]):
    """A state with states inside, exactly one of which is active while it is.

    Args:
        name: As for `State`.
        children: The states inside, in document order.
        initial: Where a plain entry leads, by name or dotted path inside; a sequence names states in different regions
            of parallel states inside; the first child if None.
        history: What is remembered on the way out, for `History(name)`; None for nothing.
        to: Where to go when a `Final` child has been reached.
        on: What events do here, after the states inside had their turn.
        always: What is tested after every step, without an event.
        entry: Actions on the way in.
        exit: Actions on the way out.
        policy: The policy that binds everything inside.

    Source: SCXML 3.3, 3.10.
    """

    name: str
    children: tuple[State[S] | Superstate[S] | Parallel[S] | Final[S], ...]
    initial: str | tuple[str, ...] | None
    history: HistoryKind | None
    to: Choices[S] | None
    on: tuple[Reaction[S], ...]
    always: Choices[S]
    entry: Actions[S]
    exit: Actions[S]
    policy: object

    def __init__(
        self,
        name: str,
        *children: State[S] | Superstate[S] | Parallel[S] | Final[S],
        initial: str | Sequence[str] | None = None,
        history: HistoryKind | None = None,
        to: Choices[S] | None = None,
        on: Reactions[S] | None = None,
        always: Choices[S] | None = None,
        entry: Actions[S] | None = None,
        exit: Actions[S] | None = None,
        policy: object = None,
    ) -> None:
        first = None if initial is None else initial if isinstance(initial, str) else _tuple(initial)
        _fill(self, name=name, children=children, initial=first, history=history, to=to, on=_several(on))
        _fill(self, always=_or_none(always), entry=_or_none(entry), exit=_or_none(exit), policy=policy)


@dataclass(frozen=True, slots=True, init=False)
class Parallel(Generic[S]):
    """A state with regions inside, all of which are active while it is.

    Args:
        name: As for `State`.
        regions: States, superstates or parallel states, in document order; a `State` has nothing inside and is never
            complete.
        history: What is remembered on the way out, for `History(name)`; None for nothing.
        to: Where to go when every region is complete: a superstate in a `Final`, a parallel state in all its regions.
        on: What events do here, after the states inside had their turn.
        always: What is tested after every step, without an event.
        entry: Actions on the way in.
        exit: Actions on the way out.
        policy: The policy that binds everything inside.

    Source: SCXML 3.4, 3.10.
    """

    name: str
    regions: tuple[State[S] | Superstate[S] | Parallel[S], ...]
    history: HistoryKind | None
    to: Choices[S] | None
    on: tuple[Reaction[S], ...]
    always: Choices[S]
    entry: Actions[S]
    exit: Actions[S]
    policy: object

    def __init__(
        self,
        name: str,
        *regions: State[S] | Superstate[S] | Parallel[S],
        history: HistoryKind | None = None,
        to: Choices[S] | None = None,
        on: Reactions[S] | None = None,
        always: Choices[S] | None = None,
        entry: Actions[S] | None = None,
        exit: Actions[S] | None = None,
        policy: object = None,
    ) -> None:
        _fill(self, name=name, regions=regions, history=history, to=to, on=_several(on))
        _fill(self, always=_or_none(always), entry=_or_none(entry), exit=_or_none(exit), policy=policy)


@dataclass(frozen=True, slots=True, init=False)
class Final(Generic[S]):
    """An end: entering it completes the superstate around it, or the chart.

    Args:
        name: As for `State`.
        entry: Actions on the way in.
        data: A function of `(state)` or `(state, event)` whose value goes with the completion event, and with that of
            a parallel state, by region.

    Source: SCXML 3.7.
    """

    name: str
    entry: Actions[S]
    data: Result[S] | None

    def __init__(self, name: str, *, entry: Actions[S] | None = None, data: Result[S] | None = None) -> None:
        _fill(self, name=name, entry=_or_none(entry), data=data)


AnyState = State[S] | Superstate[S] | Parallel[S] | Final[S]
"""Whatever can stand inside a chart or superstate."""


def _fill(frozen: object, **values: object) -> None:
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


def _or_none(given: object) -> object:
    return () if given is None else given


def _several(on: Reactions[S] | None) -> tuple[Reaction[S], ...]:
    return () if on is None else _tuple(on)


def _tuple(given: object) -> tuple[Any, ...]:
    """Return one thing or several as a tuple; what cannot be here at all stays in it, for the chart to refuse."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        return (cast("object", given),)
    return tuple(cast("Iterable[object]", given))
