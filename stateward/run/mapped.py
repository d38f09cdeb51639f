"""A compiled chart as a node of a graph with other keys: what goes in and what comes out is said by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableLambda, RunnableSequence
from langgraph.pregel import Pregel
from langgraph.types import Command

from stateward.chart.argument import several
from stateward.errors import DefinitionError
from stateward.run.state import StateSchema
from stateward.run.update import as_update

Inward = Mapping[str, str] | Callable[[Any], Mapping[str, Any]]
"""The chart's key to the parent's, or a function of the parent's state."""
Outward = Mapping[str, str] | Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""The chart's key to the parent's, or a function of the chart's state at its end."""


class Renaming(RunnableLambda[Any, Any]):
    """The map after a chart that renames key by key: it takes the chart's update, not its state.

    Args:
        names: The chart's key to the parent's.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(_renamed(names))
        self.names = names


def mapped(
    graph: Pregel[Any, Any, Any, Any], *, schema: StateSchema, input: Inward, output: Outward
) -> Runnable[Any, Any]:
    """Put a graph between two maps.

    Args:
        graph: The compiled chart.
        schema: Its channels.
        input: What it gets.
        output: What the parent gets.

    Returns:
        A runnable for `add_node`.

    Raises:
        DefinitionError: A map names a key that the chart's schema does not declare.
    """
    for name, given in (("input", input), ("output", output)):
        if not callable(given):
            refuse_unknown(name, given, known=schema.channels, where=graph.name)
    if callable(output):
        return RunnableSequence(RunnableLambda(_inward(input)), graph, RunnableLambda(output))
    return RunnableSequence(RunnableLambda(_inward(input)), graph, Renaming(output))


def refuse_unknown(name: str, names: Iterable[str], *, known: Iterable[str], where: str) -> None:
    """Refuse a map of keys that the mapped chart does not have.

    Args:
        name: What the map is called.
        names: The chart's keys in it.
        known: The keys the chart declares.
        where: The chart, for the message.

    Raises:
        DefinitionError: It names another key.
    """
    given = several(names, name=name, expected="a mapping from the chart's keys to those outside", where=where)
    unknown = sorted({str(each) for each in given} - set(known))
    if unknown:
        raise DefinitionError(
            f"`{name}` maps `{unknown[0]}`, which the chart's schema does not declare",
            where=where,
            fix=f"Its keys: {', '.join(sorted(known))}. Write the chart's key first.",
        )


def _inward(given: Inward) -> Callable[[Any], Mapping[str, Any]]:
    if callable(given):
        return given
    names: Mapping[str, str] = given

    def rename(state: Any) -> Mapping[str, Any]:
        values = as_update(state, where="the input")
        return {own: values[theirs] for own, theirs in names.items() if theirs in values}

    return rename


def _renamed(names: Mapping[str, str]) -> Callable[[Any], Any]:
    def rename(told: Any) -> Any:
        if isinstance(told, Command):
            writes = cast("list[tuple[str, Any]]", cast("Command[Any]", told).update)
            return Command(update=[(names[key], value) for key, value in writes if key in names])
        return {names[key]: value for key, value in told.items() if key in names}

    return rename
