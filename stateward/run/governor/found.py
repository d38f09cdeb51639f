"""Finding graphs where calls could pass by the door: an activity that is one, and tools that have one in them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol, cast, runtime_checkable

from langchain_core.runnables import RunnableBinding, RunnableSequence
from langchain_core.tools import BaseTool
from langgraph.pregel import Pregel

from stateward.errors import DefinitionError
from stateward.govern.effective import Effective

Graph = Pregel[Any, Any, Any, Any]
_DEPTH = 6
"""How many values are looked through one inside the other."""
_MOST = 5000
"""How many values are looked at in all."""


@runtime_checkable
class Governing(Protocol):
    """A governor, as it is known here: whoever compiles a chart without agents need not load LangChain's."""

    agent: str
    """What its agent is called."""

    def bound_by(
        self, outer: Effective | None, *, path: str, tools: Iterable[str] = (), refuse: bool = False
    ) -> Effective:
        """Fold the agent's policy with what is around it."""
        ...

    def is_lost(self, tool: str) -> bool:
        """Whether nobody but a person can say what became of a call of a tool that was cut off."""
        ...

    def function(self, tool: str) -> object:
        """Return what makes the calls of a tool that it was given; None for one that the agent has otherwise."""
        ...


def governors_in(graph: Graph) -> tuple[Governing, ...]:
    """Return the governors of a graph, if nothing in it can make a call past them.

    An agent with a governor is one; so is a graph made of such agents only. Of a node that is somebody's function
    nobody knows what it calls.

    Args:
        graph: Any compiled graph.

    Returns:
        The governors; empty for a graph that is not governed.
    """
    own = tuple(dict.fromkeys(found for node in graph.nodes.values() for found in _governor_of(node.bound)))
    if own:
        return own
    inside = [graph_of(node.bound) for name, node in graph.nodes.items() if not name.startswith("__")]
    each = [() if inner is None else governors_in(inner) for inner in inside]
    return tuple(governor for found in each for governor in found) if each and all(each) else ()


def tools_in(graph: Graph) -> Mapping[str, object]:
    """Return the tools that the agents in a graph have by name, so far as LangChain's own node tells them.

    Args:
        graph: Any compiled graph.
    """
    found: dict[str, object] = {}
    for node in graph.nodes.values():
        inner = graph_of(node.bound)
        found |= getattr(node.bound, "tools_by_name", {}) if inner is None else tools_in(inner)
    return found


def may_ask(graph: Graph, outer: Effective, *, path: str, tools: Iterable[str] = ()) -> bool:
    """Whether a call of a governed graph, or of an agent inside one of its tools, may need a person.

    Args:
        graph: A governed graph.
        outer: What binds the state around it.
        path: The state.
        tools: The tools that are known there.
    """
    own = tools_in(graph)
    for governor in governors_in(graph):
        folded = governor.bound_by(outer, path=f"{path}/{governor.agent}", tools={*tools, *own})
        if any(folded.level(name).level == "restricted" or governor.is_lost(name) for name in own):
            return True
        inside = [each for name, tool in own.items() for each in graphs_of(governor.function(name) or tool)]
        if any(may_ask(each, folded, path=path, tools=own) for each in inside):
            return True
    return False


def restricts(effective: Effective) -> bool:
    """Whether a policy restricts anything, so that calls which pass by its door are not to be.

    Args:
        effective: What binds a state or an agent.
    """
    return bool(effective.limits) or any(layer.policy.tools is not None for layer in effective.layers)


def ungoverned(tools: Mapping[str, object]) -> Iterator[tuple[str, Graph]]:
    """Yield the graphs without a governor that tools call, with the tool's name.

    Args:
        tools: LangChain's tools, or the functions of ours, by name.
    """
    for name, tool in tools.items():
        for graph in graphs_of(tool):
            if not governors_in(graph):
                yield name, graph


def refused(what: str, graph: Graph, *, where: str) -> DefinitionError:
    """Return the error of a graph whose calls would pass by the door.

    Args:
        what: What stands there, such as ``The tool `x` calls``.
        graph: The graph.
        where: The state, or the agent.
    """
    return DefinitionError(
        f"{what} the graph `{graph.name}`, whose calls the policy here would not bind",
        where=where,
        fix="Give the agent a governor, `create_agent(…, middleware=[Governor()])` of `stateward.governor`; or write "
        "its states into this chart, or call its tools and models through `run`.",
    )


def graph_of(value: object) -> Graph | None:
    """Return the graph that a runnable is, or has in it.

    Args:
        value: Any runnable.
    """
    if isinstance(value, Pregel):
        return cast(Graph, value)
    if isinstance(value, RunnableBinding):
        return graph_of(cast("RunnableBinding[Any, Any]", value).bound)
    if isinstance(value, RunnableSequence):
        found = map(graph_of, cast("RunnableSequence[Any, Any]", value).steps)
        return next((graph for graph in found if graph is not None), None)
    return None


def graphs_of(fn: object) -> tuple[Graph, ...]:
    """Return the graphs that a function calls, so far as it shows them.

    Looked at are the names that the function uses, what it was made with, and what a tool of LangChain was made of. A
    graph that it finds by other ways is not seen.

    Args:
        fn: A tool's function, or an activity.
    """
    seen: dict[int, object] = {}
    return tuple(_graphs(fn, seen=seen, depth=0))


def _governor_of(bound: object) -> Iterator[Governing]:
    for name in ("func", "afunc"):
        owner = getattr(getattr(bound, name, None), "__self__", None)
        if isinstance(owner, Governing):
            yield owner


def _graphs(value: object, *, seen: dict[int, object], depth: int) -> Iterator[Graph]:
    if id(value) in seen or depth > _DEPTH or len(seen) > _MOST:
        return
    seen[id(value)] = value
    graph = graph_of(value)
    if graph is not None:
        yield graph
        return
    for inner in _parts(value):
        yield from _graphs(inner, seen=seen, depth=depth + 1)


def _parts(value: object) -> Iterator[object]:
    """What a function uses, a tool of LangChain is made of, or an object has as its own."""
    if isinstance(value, BaseTool):
        yield from (getattr(value, name, None) for name in ("func", "coroutine"))
    elif inspect.ismethod(value):
        yield value.__func__
        yield from _values(value.__self__)
    elif isinstance(value, partial):
        made = cast("partial[Any]", value)
        yield from (made.func, *made.args, *made.keywords.values())
    elif inspect.isfunction(value):
        yield from _used(value)
    elif type(value) is dict:
        yield from cast("dict[object, object]", value).values()
    elif type(value) in (list, tuple):
        yield from cast("list[object]", value)


def _used(fn: Callable[..., Any]) -> Iterator[object]:
    try:
        names = inspect.getclosurevars(fn)
    except (TypeError, ValueError):  # a cell that is still empty, for instance
        return
    yield from (*names.nonlocals.values(), *names.globals.values())


def _values(owner: object) -> Iterator[object]:
    yield from cast("Mapping[str, object]", getattr(owner, "__dict__", {})).values()
