"""Functions by name: what the names in a document mean, and what a chart's functions are called in one."""

from __future__ import annotations

import functools
import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from stateward.chart.argument import of_kind, several, unfit
from stateward.chart.definition import Definition
from stateward.chart.event import Event, event_name_of
from stateward.chart.guard import Bound, Function, bind_pure, qualified_name
from stateward.errors import DefinitionError
from stateward.exchange.content import CancelSend, Combined, Constant, Inside, Raise, Send

Kind = Literal["guards", "actions", "activities", "delays", "data", "outputs"]
"""What a name stands for.

guards: a guard of a transition.
actions: an action on entry, on exit or of a transition.
activities: the work of a state.
delays: the seconds of an `after`.
data: the data of a final state.
outputs: the contract of an activity: a `Gate` or a Pydantic model.
"""

KINDS: tuple[Kind, ...] = ("guards", "actions", "activities", "delays", "data", "outputs")
SAID = (Raise, Send, CancelSend, Constant, Inside, Combined)
"""What a document says in words of its own, without a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A thing's name in a document, with the keyword arguments that a partial function fixes."""

    name: str
    params: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """What the names in a document mean. Make it with `Registry.of`."""

    things: Mapping[Kind, Mapping[str, object]]
    events: Mapping[str, type[Event]]

    @classmethod
    def of(
        cls,
        *,
        guards: Mapping[str, Function] | Iterable[Function] = (),
        actions: Mapping[str, Function] | Iterable[Function] = (),
        activities: Mapping[str, object] | Iterable[object] = (),
        delays: Mapping[str, Function] | Iterable[Function] = (),
        data: Mapping[str, Function] | Iterable[Function] = (),
        outputs: Mapping[str, object] | Iterable[object] = (),
        events: Iterable[type[Event]] = (),
    ) -> Registry:
        """Return a registry of these functions; without names given, each goes by its own.

        Args:
            guards: Pure functions that say whether a transition may be taken.
            actions: Pure functions that run on entry, on exit or during a transition.
            activities: Functions, Runnables or agents.
            delays: Pure functions that return seconds.
            data: Pure functions that return the data of a final state.
            outputs: Contracts of activities.
            events: Typed events, which go by their event names.

        Raises:
            DefinitionError: Two things have one name, a name is empty, or a thing has none.
        """
        given = (guards, actions, activities, delays, data, outputs)
        things: dict[Kind, dict[str, object]] = {
            kind: _by_name(kind, each) for kind, each in zip(KINDS, given, strict=True)
        }
        where = "Registry.of(events=…)"
        typed = several(events, name="events", expected="typed events", where=where, alone=(str, bytes, type))
        return cls(things=things, events={event_name_of(event): event for event in map(_event, typed)})

    @classmethod
    def given(cls, registry: object) -> Registry:
        """Return the registry that a caller gave, an empty one for None.

        Args:
            registry: The argument.

        Raises:
            DefinitionError: It is none.
        """
        if registry is None:
            return cls.of()
        return of_kind(
            registry, cls, name="registry", expected="a registry", where="exchange", fix="Make one with `Registry.of`."
        )

    @classmethod
    def of_chart(cls, chart: Definition, *, registry: Registry | None = None) -> Registry:
        """Return a registry of all functions and typed events of a chart, under the names they are written by.

        Args:
            chart: The chart.
            registry: Names that are given; what is not in it goes by its own.

        Raises:
            DefinitionError: A function has no name, or two of a kind have the same.
        """
        given = cls.given(registry)
        found: dict[Kind, dict[str, object]] = {kind: dict(given.things[kind]) for kind in KINDS}
        whole = cls(
            things=found, events={**given.events, **{name: kind for name, kind in chart.events.items() if kind}}
        )
        for kind, thing, where in used(chart):
            named = whole.name_of(kind, thing, where=where)
            found[kind].setdefault(named.name, _plain(thing))
        return whole

    def get(self, kind: Kind, name: str, *, where: str) -> object:
        """Return what a name means.

        Args:
            kind: What it should be.
            name: The name in the document.
            where: The place in the document, for messages.

        Raises:
            DefinitionError: Nothing of this kind has the name.
        """
        known = self.things[kind]
        if name not in known:
            names = ", ".join(f"`{each}`" for each in sorted(known)) or "none"
            raise DefinitionError(
                f"`{name}` is not among the registry's {kind}",
                where=where,
                fix=f"Known {kind}: {names}. Give it to `Registry.of({kind}=…)`, or correct the name.",
                name=name,
                known=tuple(sorted(known)),
            )
        return known[name]

    def function(self, kind: Kind, name: str, *, params: Mapping[str, object], where: str) -> Bound:
        """Return what a name means, bound as a pure function.

        Args:
            kind: What it should be.
            name: The name in the document.
            params: Keyword arguments to fix.
            where: The place in the document, for messages.

        Raises:
            DefinitionError: Nothing of this kind has the name, or the function cannot be bound.
        """
        fn = cast("Function", self.get(kind, name, where=where))
        return bind_pure(functools.partial(fn, **params) if params else fn, where=where)

    def name_of(self, kind: Kind, thing: object, *, where: str) -> Named:
        """Return what a thing is called in a document: the registry's name, else its own.

        Args:
            kind: What it is.
            thing: The function or object itself.
            where: The state it is written at, for messages.

        Raises:
            DefinitionError: It is a lambda or an object without a name and not in the registry, its name means another
                thing there, or it fixes arguments that are not plain JSON.
        """
        listed = self._listed(kind, thing)
        if listed:
            return Named(name=listed)
        if _is_partial(thing):
            return self._name_of_partial(kind, cast("functools.partial[object]", thing), where=where)
        name = _own_name(thing)
        if name is None:
            raise DefinitionError(
                f"`{qualified_name(thing)}` has no name that a document could use",
                where=where,
                fix=f"Give it one: `Registry.of({kind}={{'name': …}})`, or make it a named function.",
            )
        if name in self.things[kind]:
            raise _ambiguous(kind, name, where=where)
        return Named(name=name)

    def _listed(self, kind: Kind, thing: object) -> str | None:
        return next((name for name, known in self.things[kind].items() if known is thing or known == thing), None)

    def _name_of_partial(self, kind: Kind, partial: functools.partial[object], *, where: str) -> Named:
        named = self.name_of(kind, partial.func, where=where)
        params = {**named.params, **partial.keywords}
        if partial.args or not is_json(params) or not all(is_writable(key) for key in params):
            raise DefinitionError(
                f"`{named.name}` is a partial function with arguments that are no plain JSON by name",
                where=where,
                fix=f"Fix them by keyword, or name the whole: `Registry.of({kind}={{'name': …}})`.",
            )
        return Named(name=named.name, params=params)


def used(chart: Definition) -> Iterator[tuple[Kind, object, str]]:
    """Yield the author's functions in a chart, each with what it is and where.

    Args:
        chart: The chart.
    """
    for node in chart.nodes:
        where = node.path or chart.name
        blocks = (*node.entry, *node.exit, *node.initial_actions, *node.default_actions)
        bounds: list[tuple[Kind, Bound]] = [("actions", action.fn) for action in blocks]
        if node.data:
            bounds.append(("data", node.data))
        for transition in (chart.transitions[index] for index in node.transitions):
            bounds.extend(("guards", guard) for guard in _guards(transition.guard))
            bounds.extend(("actions", action.fn) for action in transition.actions)
            if isinstance(transition.delay, Bound):
                bounds.append(("delays", transition.delay))
        for kind, bound in bounds:
            if not isinstance(bound.fn, SAID):
                yield kind, bound.fn, where
        if node.activity:
            yield "activities", node.activity.do, where
            if not isinstance(node.activity.output, str | None):
                yield "outputs", node.activity.output, where


def is_json(value: object) -> bool:
    """Tell whether a value survives JSON unchanged.

    Args:
        value: Any value.
    """
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


def is_writable(name: str) -> bool:
    """Tell whether a name can stand in a condition: identifiers joined by dots.

    Args:
        name: The name.
    """
    parts = name.split(".")
    return all(re.fullmatch(r"[A-Za-z_]\w*", part, re.ASCII) and not keyword.iskeyword(part) for part in parts)


def _guards(guard: Bound | None) -> Iterator[Bound]:
    if guard is not None and isinstance(guard.fn, Combined):
        for part in guard.fn.parts:
            yield from _guards(part)
    elif guard is not None:
        yield guard


def _by_name(kind: Kind, given: Mapping[str, object] | Iterable[object]) -> dict[str, object]:
    if isinstance(given, Mapping):
        named = dict(cast("Mapping[str, object]", given))
    else:
        named = {}
        expected = "a mapping from names to functions, or functions"
        for thing in several(given, name=kind, expected=expected, where=f"Registry.of({kind}=…)"):
            name = _own_name(thing)
            if name is None:
                raise DefinitionError(
                    f"`{qualified_name(thing)}` has no name of its own",
                    where=f"Registry.of({kind}=…)",
                    fix="Give a mapping from names to functions.",
                )
            if named.setdefault(name, thing) is not thing:
                raise _ambiguous(kind, name, where=f"Registry.of({kind}=…)")
    for name in named:
        of_kind(name, str, name=kind, expected="a mapping from names, as text", where=f"Registry.of({kind}=…)")
        if not name.strip():
            raise DefinitionError("A name is empty", where=f"Registry.of({kind}=…)", fix="Give it another.")
    return named


def _event(given: object) -> type[Event]:
    if not isinstance(given, type) or not issubclass(given, Event):
        expected = "typed events, as classes"
        raise unfit(cast("object", given), name="events", expected=expected, where="Registry.of(events=…)")
    return given


def _own_name(thing: object) -> str | None:
    """Return the last part of a function's or class's own name; None for a lambda and for what has none."""
    name = getattr(thing, "__name__", None)
    return name if isinstance(name, str) and is_writable(name) else None


def _plain(thing: object) -> object:
    return cast("functools.partial[object]", thing).func if _is_partial(thing) else thing


def _is_partial(thing: object) -> bool:
    return isinstance(thing, functools.partial)


def _ambiguous(kind: Kind, name: str, *, where: str) -> DefinitionError:
    return DefinitionError(
        f"Two different {kind} are called `{name}`",
        where=where,
        fix=f"Tell them apart: `Registry.of({kind}={{'one_name': …, 'other_name': …}})`.",
    )
