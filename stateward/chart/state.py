"""States as an author writes them: a tree that reads like the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stateward.chart.guard import Function
from stateward.chart.transition import Actions, Choices, On

HistoryKind = Literal["shallow", "deep"]
"""What a superstate remembers when it is left.

shallow: which child was active.
deep: which states were active inside, at every depth.
"""


@dataclass(frozen=True, slots=True, init=False)
class State:
    """A state without states inside; with `do`, its activity runs while the chart is in it.

    Args:
        name: Letters, digits, `_` and `-`, not beginning with a digit.
        do: The activity: a function, Runnable or agent.
        model: The role of the model that the activity may call.
        tools: Names of the tools that the activity may call; nothing is allowed by default.
        output: The contract that the activity's result must fulfil.
        timeout_s: Seconds the activity may take, more than 0; None for no limit of its own.
        to: Where to go when the activity has ended (at once without `do`); the first true guard wins.
        on: What events do here.
        always: What is tested after every step, without an event.
        entry: Actions on the way in.
        exit: Actions on the way out.
        policy: The policy that binds here and, for a superstate, everything inside.
    """

    name: str
    do: object
    model: str | None
    tools: tuple[str, ...]
    output: object
    timeout_s: float | None
    to: Choices | None
    on: tuple[On, ...]
    always: Choices
    entry: Actions
    exit: Actions
    policy: object

    def __init__(
        self,
        name: str,
        *,
        do: object = None,
        model: str | None = None,
        tools: Sequence[str] = (),
        output: object = None,
        timeout_s: float | None = None,
        to: Choices | None = None,
        on: On | Sequence[On] = (),
        always: Choices = (),
        entry: Actions = (),
        exit: Actions = (),
        policy: object = None,
    ) -> None:
        _fill(self, name=name, do=do, model=model, tools=tuple(tools), output=output, timeout_s=timeout_s)
        _fill(self, to=to, on=_several(on), always=always, entry=entry, exit=exit, policy=policy)


@dataclass(frozen=True, slots=True, init=False)
class Superstate:
    """A state with states inside, exactly one of which is active while it is.

    Args:
        name: As for `State`.
        children: The states inside, in document order.
        initial: Which of them a plain entry leads to, by name or dotted path inside; the first if None.
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
    children: tuple[State | Superstate | Final, ...]
    initial: str | None
    history: HistoryKind | None
    to: Choices | None
    on: tuple[On, ...]
    always: Choices
    entry: Actions
    exit: Actions
    policy: object

    def __init__(
        self,
        name: str,
        *children: State | Superstate | Final,
        initial: str | None = None,
        history: HistoryKind | None = None,
        to: Choices | None = None,
        on: On | Sequence[On] = (),
        always: Choices = (),
        entry: Actions = (),
        exit: Actions = (),
        policy: object = None,
    ) -> None:
        _fill(self, name=name, children=children, initial=initial, history=history, to=to, on=_several(on))
        _fill(self, always=always, entry=entry, exit=exit, policy=policy)


@dataclass(frozen=True, slots=True, init=False)
class Final:
    """An end: entering it completes the superstate around it, or the chart.

    Args:
        name: As for `State`.
        entry: Actions on the way in.
        data: A function of `(state)` or `(state, event)` whose value goes with the completion event.

    Source: SCXML 3.7.
    """

    name: str
    entry: Actions
    data: Function | None

    def __init__(self, name: str, *, entry: Actions = (), data: Function | None = None) -> None:
        _fill(self, name=name, entry=entry, data=data)


AnyState = State | Superstate | Final
"""Whatever can stand inside a chart or superstate."""


def _fill(frozen: object, **values: object) -> None:
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


def _several(on: On | Sequence[On]) -> tuple[On, ...]:
    return (on,) if isinstance(on, On) else tuple(on)
