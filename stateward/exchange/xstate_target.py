"""Where the transitions of an XState machine lead, in the terms of a chart.

A transition into its own source does not leave it unless it says `reenter`; here it is the other way round, unless it
is internal. One that leads to its source itself, without `reenter`, leads to where an entry of the source leads.
"""

from __future__ import annotations

from dataclasses import dataclass

from stateward.chart.scope import Scope
from stateward.errors import DefinitionError
from stateward.exchange.xstate_domain import is_inside, returns
from stateward.exchange.xstate_tree import Json, Laid, Tree, mapping_of, several, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Where a transition leads."""

    targets: tuple[int, ...]
    internal: bool
    reenter: bool
    """As the document says."""


def aim(config: Json, *, tree: Tree, source: int, where: str) -> Aim:
    """Return where a transition leads.

    Args:
        config: The transition.
        tree: The states.
        source: The state it belongs to.
        where: Its place, for messages.

    Raises:
        UnknownTarget: A target leads to no state.
        DefinitionError: Targets that cannot be active together, or `reenter` where a chart cannot do so.
    """
    reenter = config.get("reenter", False)
    # The machine itself is never left here; if that would do something, it has to be said.
    busy = source == 0 and not {"entry", "exit", "after"}.isdisjoint(tree.laid[0].config)
    if not isinstance(reenter, bool) or (reenter and (busy or "target" not in config)):
        raise DefinitionError(
            f"`reenter` is {reenter!r} without a target, or where it would enter a busy machine again",
            where=where,
            fix="Remove it, or move `entry`, `exit` and `after` of the machine to a state inside.",
        )
    targets = tuple(_target(each, tree=tree, source=source, where=where) for _, each in several(config.get("target")))
    if len(targets) > 1:
        Scope(tree.nodes).together(targets, where=where)
    within = bool(targets) and all(is_inside(tree.nodes, target, of=source) for target in targets)
    if not reenter and returns(tree.nodes, source=source, targets=targets):
        raise DefinitionError(
            "Without `reenter`, a transition to the history around its source may leave nothing",
            where=where,
            fix="Say `reenter`, or put the transition into the state whose history it is.",
        )
    if within and not reenter and source in targets:
        return _to_itself(tree, source=source, where=where)
    return Aim(targets=targets, internal=within and not reenter and source > 0, reenter=reenter)


def _to_itself(tree: Tree, *, source: int, where: str) -> Aim:
    node = tree.nodes[source]
    if node.kind == "atomic":
        return Aim(targets=(), internal=False, reenter=False)
    if node.kind == "parallel":
        return Aim(targets=(source,), internal=False, reenter=False)
    first, _ = initial_of(tree.laid[source].config, tree=tree, state=source, where=where)
    return Aim(targets=(first,), internal=source > 0, reenter=False)


def initial_of(config: Json, *, tree: Tree, state: int, where: str) -> tuple[int, object]:
    """Return where a plain entry of a state leads, and the actions on the way.

    Args:
        config: The state.
        tree: The states.
        state: Its index.
        where: Its place, for messages.

    Raises:
        DefinitionError: It names no state right inside.
    """
    said = config.get("initial")
    place = f"{where}.initial".lstrip(".")
    plain = {"target": said} if isinstance(said, str) else mapping_of(config, "initial", where=where)
    for key in plain:
        if key not in ("target", "actions"):
            raise DefinitionError(f"`{key}` is not carried over", where=place, fix="Remove it.")
    key = text_of(plain, "target", where=place)
    if key not in tree.laid[state].inside:
        known = ", ".join(f"`{each}`" for each in tree.laid[state].inside)
        raise DefinitionError(f"`{key}` is no state right inside", where=place, fix=f"Name one of {known}.")
    return tree.laid[state].inside[key], plain.get("actions")


def history_default(laid: Laid, *, tree: Tree) -> tuple[int, ...]:
    """Return where a history state leads before its parent was ever left; empty if it does not say.

    Args:
        laid: The history state.
        tree: The states.

    Raises:
        UnknownTarget: It names no state.
        DefinitionError: It names one that is not inside its parent.
    """
    parent, where = laid.node.parent, f"{laid.where}.target"
    found: list[int] = []
    for _, each in several(laid.config.get("target")):
        if not isinstance(each, str):
            raise DefinitionError(f"{each!r} is no target", where=where, fix="Write a path inside the parent.")
        state = tree.inside(each, state=parent, where=where)
        if state == parent or not is_inside(tree.nodes, state, of=parent):
            raise DefinitionError(f"`{each}` is not inside", where=where, fix="Name a state inside the parent.")
        found.append(state)
    if len(found) > 1:
        Scope(tree.nodes).together(tuple(found), where=where)
    return tuple(found)


def _target(said: object, *, tree: Tree, source: int, where: str) -> int:
    if not isinstance(said, str) or not said:
        raise DefinitionError(f"`target` is {said!r}", where=where, fix="Write a text, or a list of texts.")
    return tree.target(said, source=source, where=where)
