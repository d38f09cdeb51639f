"""One chart inside another: its states become a superstate, its functions see the keys they know.

The states are flattened into the surrounding chart like any others (DESIGN decision 3), so policies, fuses and history
around them hold for them, and nothing is checkpointed twice. Keys that are called otherwise outside are renamed on the
way in and out of each function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import update_wrapper
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableLambda

from stateward.chart.data import update_of
from stateward.chart.delay import Cancel, Delayed
from stateward.chart.event import Event, Occurrence
from stateward.chart.guard import Bound, Function, bind
from stateward.chart.state import AnyState, Final, Parallel, State, Superstate
from stateward.chart.transition import After, History, On, When
from stateward.run.inner import inner
from stateward.run.mapped import refuse_unknown
from stateward.run.state import declared_types, is_mapping_schema
from stateward.run.update import as_update

_ALL = ("state", "event", "run", "active")


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """How an embedded chart's functions see the state around them."""

    place: str
    """The superstate's name."""
    schema: type[Any]
    """The embedded chart's schema."""
    reads: Mapping[str, str]
    """Each of its keys to the one outside that it is read from."""
    writes: Mapping[str, str]
    """Its key to the one outside that it is written to; the same name when it is not here."""

    def seen(self, state: object) -> object:
        """Return the state as the embedded chart declares it.

        Args:
            state: The state outside.
        """
        if isinstance(state, Mapping):
            outside = cast("Mapping[str, Any]", state)
            values = {key: outside[theirs] for key, theirs in self.reads.items() if theirs in outside}
        else:
            values = {key: getattr(state, theirs) for key, theirs in self.reads.items() if hasattr(state, theirs)}
        return values if is_mapping_schema(self.schema) else self.schema(**values)

    def written(self, update: Mapping[str, Any]) -> dict[str, Any]:
        """Return an update under the names outside.

        Args:
            update: The embedded chart's own.
        """
        return {self.writes.get(key, key): value for key, value in update.items()}

    def active(self, paths: frozenset[str]) -> frozenset[str]:
        """Return the paths of active states as the embedded chart names them.

        Args:
            paths: Those of the whole chart.
        """
        parts = (path.split(".") for path in paths)
        return frozenset(".".join(part[part.index(self.place) + 1 :]) for part in parts if self.place in part) - {""}


def renaming(
    name: str, schema: type[Any], *, input: Mapping[str, str] | None, output: Mapping[str, str] | None
) -> Renaming:
    """Check the maps of an embedded chart.

    Args:
        name: The superstate's name.
        schema: The embedded chart's schema.
        input: Its key to the one outside that it is read from.
        output: Its key to the one outside that it is written to; also read from there, unless `input` says otherwise.

    Raises:
        DefinitionError: A map names a key that the embedded chart does not declare.
    """
    reads, writes = input or {}, output or {}
    known = declared_types(schema)
    refuse_unknown("input", reads, known=known, where=name)
    refuse_unknown("output", writes, known=known, where=name)
    read = {**dict(zip(known, known, strict=True)), **writes, **reads}
    return Renaming(place=name, schema=schema, reads=read, writes=writes)


def embedded(tree: Superstate[Any], *, keys: Renaming, policy: object, **outside: Any) -> Superstate[Any]:
    """Return a chart's tree as a superstate.

    Args:
        tree: The chart as one superstate, as its author wrote it.
        keys: How its functions see the state.
        policy: The chart's own policy.
        outside: What the superstate is given where it stands: `to`, `on`, `always`, `entry`, `exit`, `history`.
    """
    inside = _renamed(tree, keys)
    own = [_rooted(reaction, keys.place) for reaction in inside.on]
    always = [_rooted_choice(choice, keys.place) for choice in _several(inside.always)]
    return Superstate(
        keys.place,
        *inside.children,
        initial=inside.initial,
        on=[*own, *_several(outside.pop("on", None))],
        always=[*always, *_several(outside.pop("always", None))],
        policy=policy,
        **outside,
    )


def _rooted(reaction: On[Any] | After[Any], place: str) -> Any:
    """A target that the chart's root names lies inside it, whatever stands beside it now."""
    return replace(reaction, target=_inside(reaction.target, place))


def _rooted_choice(choice: object, place: str) -> Any:
    guarded: Any = choice
    return replace(guarded, target=_inside(guarded.target, place)) if type(choice) is When else _inside(choice, place)


def _inside(target: object, place: str) -> Any:
    if target is None:
        return None
    if isinstance(target, str):
        return f"{place}.{target}"
    if isinstance(target, History):
        return History(f"{place}.{target.superstate}", deep=target.deep)
    return [_inside(each, place) for each in cast("Sequence[object]", target)]


def _renamed(written: Any, keys: Renaming) -> Any:  # any state of a tree, and the same kind comes back
    """Wrap every function of a tree."""
    kind = cast("type[Any]", type(written))
    if kind is Final:
        entry: Any = _actions(written.entry, keys)
        return Final(written.name, entry=entry, data=None if written.data is None else _wrapped(written.data, keys))
    own = {name: _actions(getattr(written, name), keys) for name in ("entry", "exit")}
    own["on"] = [_reaction(each, keys) for each in written.on]
    own["always"] = [_choice(each, keys) for each in _several(written.always)]
    rest: dict[str, Any] = {**own, "policy": written.policy}
    rest["to"] = None if written.to is None else [_choice(each, keys) for each in _several(written.to)]
    if kind is State:
        work = {name: getattr(written, name) for name in ("model", "tools", "output", "timeout_s", "asks")}
        return State(written.name, do=_activity(written.do, keys), **work, **rest)
    rest["history"] = written.history
    if kind is Parallel:
        return Parallel(written.name, *(_renamed(each, keys) for each in written.regions), **rest)
    inside: list[AnyState[Any]] = [_renamed(each, keys) for each in written.children]
    return Superstate(written.name, *inside, initial=written.initial, **rest)


def _reaction(reaction: On[Any] | After[Any], keys: Renaming) -> Any:
    guard = None if reaction.guard is None else _wrapped(reaction.guard, keys)
    changed: dict[str, Any] = {"guard": guard, "do": _actions(reaction.do, keys)}
    if isinstance(reaction, After) and callable(reaction.seconds):
        changed["seconds"] = _wrapped(reaction.seconds, keys)
    return replace(reaction, **changed)


def _choice(choice: Any, keys: Renaming) -> Any:
    if type(choice) is not When:
        return choice
    return replace(choice, guard=_wrapped(choice.guard, keys), do=_actions(choice.do, keys))


def _actions(do: object, keys: Renaming) -> list[Function]:
    return [_wrapped(each, keys, writes=True) for each in _several(do)]


def _activity(do: object, keys: Renaming) -> Any:
    if do is None:
        return None
    graph = inner(do)
    if graph is not None:
        return graph.within(keys.seen, keys.written)
    if isinstance(do, Runnable):
        work = cast("Runnable[Any, Any]", do)
        return RunnableLambda(keys.seen) | work | RunnableLambda(lambda told: keys.written(as_update(told, where="")))
    return _wrapped(do, keys, writes=True)


def _wrapped(fn: object, keys: Renaming, *, writes: bool = False) -> Function:
    """A function that takes what the wrapped one names, by keyword, and gives it the state it knows."""
    bound = bind(fn, where=keys.place, allowed=_ALL)

    def given(state: object, event: object, run: object, active: frozenset[str]) -> tuple[Any, ...]:
        inside = keys.active(active)
        return (keys.seen(state) if bound.takes("state") else None, event, run, lambda: inside)

    def call(
        *, state: object = None, event: object = None, run: object = None, active: frozenset[str] = frozenset()
    ) -> object:
        returned = bound(*given(state, event, run, active))
        return _told(returned, keys) if writes else returned

    async def acall(
        *, state: object = None, event: object = None, run: object = None, active: frozenset[str] = frozenset()
    ) -> object:
        returned = await cast("Any", bound(*given(state, event, run, active)))
        return _told(returned, keys) if writes else returned

    return _named(acall if bound.is_async else call, bound)


def _named(wrapper: Callable[..., object], bound: Bound) -> Function:
    """Let a wrapper look like what it wraps, and take by keyword exactly what that takes."""
    update_wrapper(wrapper, bound.fn)
    taken = [name for name in _ALL if bound.takes(name)]
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in taken]
    cast("Any", wrapper).__signature__ = inspect.Signature(parameters)
    return wrapper


def _told(returned: object, keys: Renaming) -> object:
    """Rename the updates in what an action or activity returned; what is to happen is left alone."""
    if isinstance(returned, list | tuple):
        return [_told(each, keys) for each in cast("Sequence[object]", returned)]
    if isinstance(returned, Event | Occurrence | Delayed | Cancel):
        return returned
    update = update_of(returned)
    return returned if update is None else keys.written(update)


def _several(given: Any) -> list[Any]:
    """One or several, as authors may write actions, reactions and choices."""
    if given is None:
        return []
    return list(cast("Sequence[Any]", given)) if isinstance(given, list | tuple) else [given]
