"""What an author wrote, held against what can be written, before anything is made of it.

A type checker sees most of this; who has none is to read what is wrong, where, and what to write, and not where some
attribute was missing. Names that lead nowhere are found later, by `scope`, and signatures by `guard`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast, get_args

from stateward.chart.delay import is_delay
from stateward.chart.event import event_name_of
from stateward.chart.state import AnyState, Final, HistoryKind, Parallel, State, Superstate
from stateward.chart.transition import After, History, On, When
from stateward.errors import DefinitionError

LONGEST = 80
"""Characters of a thing that a message shows."""
ROOT = "the chart"
"""The place of what is written at the chart itself."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""What a state's name is made of."""
OWN = "__"
"""How the names of nodes begin that are LangGraph's or our own; no state's name does."""

_Any = AnyState[Any]
_Check = Callable[[object, str, str], None]


def check_written(name: object, top: Superstate[Any]) -> None:
    """Check the kinds of everything in a tree of states, from the top, in document order.

    Args:
        name: The chart's name.
        top: The tree.

    Raises:
        DefinitionError: Something is not what can stand where it stands.
    """
    if not isinstance(name, str) or not name.strip():
        raise DefinitionError(
            f"The chart's name is {name!r}", where="Chart(…)", fix='Give it one, first of all: `Chart("desk", …)`.'
        )
    _check_state(top, ROOT)
    _check_inside(top, path="")


def _check_inside(around: Superstate[Any] | Parallel[Any], *, path: str) -> None:
    where = path or ROOT
    inside = around.children if isinstance(around, Superstate) else around.regions
    if not inside:
        kind = "superstate has no states inside" if isinstance(around, Superstate) else "parallel state has no regions"
        raise DefinitionError(f"A {kind}", where=where, fix="Add some, or make it a `State`.")
    for child in inside:
        _check_child(child, where=where)
        _check_name(child.name, where=where)
    for child in inside:
        place = f"{path}.{child.name}" if path else child.name
        _check_state(child, place)
        if isinstance(child, Superstate | Parallel):
            _check_inside(child, path=place)


def _check_child(child: object, *, where: str) -> None:
    if isinstance(child, State | Superstate | Parallel | Final):
        return
    shown, fix = _shown(child), "Write `State(…)`, `Superstate(…)`, `Parallel(…)` or `Final(…)`."
    if isinstance(child, str):
        fix = f"Write `State({child!r})`."
    elif isinstance(child, list | tuple):
        fix = "Write the states one after the other, without a list, or put `*` before it."
    elif isinstance(child, type):
        fix = f"Make one, with a name: `{child.__name__}(NAME, …)`."
    elif hasattr(child, "as_superstate"):
        fix = "Put a chart into another with `chart.as_superstate(NAME)`."
    raise DefinitionError(f"{shown} is no state", where=where, fix=fix)


def _check_name(name: object, *, where: str) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        shown = f"`{name}`" if isinstance(name, str) else repr(name)
        raise DefinitionError(
            f"{shown} is not a state name",
            where=where,
            fix="Use letters, digits, `_` and `-`, not beginning with a digit or `-`.",
        )
    if name.startswith(OWN):
        plain = name.strip("_")
        raise DefinitionError(
            f"`{name}` is not a state name, for those that begin with `{OWN}` are LangGraph's and Stateward's own",
            where=where,
            fix=f"Call it `{plain}`." if plain[:1].isalpha() else "Begin it with a letter.",
        )


def _check_state(written: _Any, where: str) -> None:
    if isinstance(written, Final):
        _check_actions(written.entry, "entry", where)
        if written.data is not None:
            _check_function(written.data, "data", where)
        return
    if isinstance(written, State):
        _check_work(written, where)
    else:
        _check_history(written.history, where)
    if isinstance(written, Superstate):
        _check_initial(written.initial, where)
    for name in ("entry", "exit"):
        _check_actions(getattr(written, name), name, where)
    for reaction in written.on:
        _check_reaction(reaction, where)
    for name in ("to", "always"):
        _check_choices(getattr(written, name), name, where)


def _check_history(history: object, where: str) -> None:
    known = get_args(HistoryKind)
    if history is not None and history not in known:
        raise DefinitionError(
            f"`history` is {history!r}",
            where=where,
            fix=f"Write {' or '.join(f'`history={one!r}`' for one in known)}, or leave it out to remember nothing.",
        )


def _check_initial(initial: object, where: str) -> None:
    if initial is not None:
        _each(initial, "initial", where, check=_check_initial_name)


def _check_initial_name(given: object, name: str, where: str) -> None:
    if not isinstance(given, str) or not given:
        raise DefinitionError(
            f"`{name}` names {_shown(given)}, not a state inside", where=where, fix="Write the state's name, as text."
        )


def _check_work(written: State[Any], where: str) -> None:
    do, limit = cast("object", written.do), cast("object", written.timeout_s)
    if do is not None and not callable(do) and not hasattr(do, "invoke"):
        raise DefinitionError(
            f"`do` is {_shown(do)}, which nobody can call", where=where, fix="Pass a function, a Runnable or an agent."
        )
    _each(written.tools, "tools", where, check=_check_tool)
    if written.model is not None and not (isinstance(cast("object", written.model), str) and written.model):
        raise DefinitionError(
            f"`model` is {written.model!r}, not the name of a role",
            where=where,
            fix="Write the role, and give `compile` its model: `models={ROLE: model}`.",
        )
    if limit is not None and not (is_delay(limit) and limit):
        raise DefinitionError(
            f"`timeout_s` is {limit!r}", where=where, fix="Give finite seconds above 0, or None for no limit."
        )
    if not isinstance(cast("object", written.asks), bool):
        raise DefinitionError(
            f"`asks` is {_shown(written.asks)}",
            where=where,
            fix="Write True if the activity asks people: `run.ask(…)`.",
        )


def _check_tool(tool: object, name: str, where: str) -> None:
    if not isinstance(tool, str) or not tool:
        known = getattr(tool, "name", None) or getattr(tool, "__name__", None)
        fix = f"Write its name, `{known}`, and give" if isinstance(known, str) else "Write names, and give"
        raise DefinitionError(
            f"`{name}` has {_shown(tool)}, not a tool's name", where=where, fix=f"{fix} the tool to `compile(tools=…)`."
        )


def _check_actions(actions: object, name: str, where: str) -> None:
    _each(actions, name, where, check=_check_function)


def _check_function(given: object, name: str, where: str) -> None:
    if not callable(given):
        raise DefinitionError(
            f"`{name}` is {_shown(given)}, which is not callable", where=where, fix="Pass a function."
        )


def _check_reaction(reaction: object, where: str) -> None:
    if not isinstance(reaction, On | After):
        shown, fix = _shown(reaction), "Write `on(EVENT, TARGET)` or `after(SECONDS, TARGET)`."
        if isinstance(reaction, str):
            fix = f"A name leads nowhere by itself: write `on({reaction!r}, TARGET)`."
        elif isinstance(reaction, When):
            fix = "A transition without an event belongs into `always`, or into `to`; with one it is `on(EVENT, …)`."
        raise DefinitionError(f"`on` has {shown}, not a transition", where=where, fix=fix)
    written = cast("On[Any] | After[Any]", reaction)
    if isinstance(written, On):
        event_name_of(written.event, where=where)
    if written.target is not None:
        _check_targets(written.target, "on", where)
    if written.guard is not None:
        _check_function(written.guard, "when", where)
    _check_actions(written.do, "do", where)
    _check_flag(written.internal, where)


def _check_flag(internal: object, where: str) -> None:
    if not isinstance(internal, bool):
        raise DefinitionError(f"`internal` is {internal!r}", where=where, fix="Write True or False.")


def _check_choices(choices: object, name: str, where: str) -> None:
    if choices is not None:
        _each(choices, name, where, check=_check_choice)


def _check_choice(choice: object, name: str, where: str) -> None:
    if not isinstance(choice, When):
        _check_targets(choice, name, where)
        return
    written = cast("When[Any]", choice)
    _check_function(written.guard, "when", where)
    _check_targets(written.target, name, where)
    _check_actions(written.do, "do", where)
    _check_flag(written.internal, where)


def _check_targets(target: object, name: str, where: str) -> None:
    _each(target, name, where, check=_check_target)


def _check_target(target: object, name: str, where: str) -> None:
    if isinstance(target, str) or (isinstance(target, History) and isinstance(cast("object", target.superstate), str)):
        return
    shown, fix = _shown(target), "Name a state, or write `History(SUPERSTATE)`."
    if isinstance(target, State | Superstate | Parallel | Final):
        fix = f"Write its name, {target.name!r}; the state itself stands among the others."
    elif isinstance(target, On | After):
        fix = "What waits for an event or for time belongs into `on`."
    elif callable(target):
        fix = "Write `when(GUARD, TARGET)`."
    raise DefinitionError(f"`{name}` leads to {shown}, which is no target", where=where, fix=fix)


def _each(given: object, name: str, where: str, *, check: _Check) -> None:
    """Check one thing, or each of several; a text is one thing, and so is what cannot be several."""
    is_one = isinstance(given, str) or not isinstance(given, Sequence)
    several = cast("Sequence[object]", (given,) if is_one else given)
    for one in several:
        check(one, name, where)


def _shown(given: object) -> str:
    """Return a thing as a message shows it: what a State or a list holds would hide the rest of the message."""
    kind = type(given).__name__
    if isinstance(given, State | Superstate | Parallel | Final):
        return f"{kind}({given.name!r})"
    if isinstance(given, On | After | When):
        return f"`{kind.lower()}(…)`"
    text = "a list" if isinstance(given, list) else "a tuple" if isinstance(given, tuple) else repr(given)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
