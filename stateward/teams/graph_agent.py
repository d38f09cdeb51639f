"""Somebody's graph as an agent: what it is given and what comes of it are said, and nothing else goes in or out.

The graph runs detached, without checkpoints of its own: its conversation is a state key of the chart, which is what the
memory `thread` means. Its calls go through the door if it has a governor, and without one it is refused under a policy
that restricts anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from stateward.errors import DefinitionError
from stateward.run.inner import AnyGraph, Inner, Told
from stateward.run.state import StateSchema
from stateward.run.update import as_update
from stateward.teams.state import TASK, answered, record_of, task_of, value_of

GraphOrFactory = AnyGraph | Callable[[], AnyGraph]
"""A compiled graph, or a function without parameters that makes one."""
MESSAGES = "messages"
"""The key of an agent's own conversation, in LangChain's agents and most others; also that with the user."""


class GraphAgent(Inner):
    """A graph with what it is given and what comes of it.

    Args:
        graph: The graph.
        name: The member's name.
        conversation: The chart's key of its conversation; None where nothing of it is kept.
        input: A function of the state that returns the graph's input; None for its conversation and the task.
        output: A function of the graph's state at its end that returns an update; None for its last words as the
            answer.
    """

    def __init__(
        self,
        graph: AnyGraph,
        *,
        name: str,
        conversation: str | None,
        input: Callable[[Any], Any] | None = None,
        output: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__(graph)
        self._member = name
        self._conversation = conversation
        self._input = input
        self._output = output
        self._views: tuple[Callable[[Any], Any], Callable[[Mapping[str, Any]], Mapping[str, Any]]] | None = None

    @property
    def conversation(self) -> str | None:
        """The chart's key that its conversation is kept in; None where nothing of it is kept."""
        return self._conversation if self._input is None else None

    @property
    def is_renamed(self) -> bool:
        """Whether it stands in a chart that stands in another one, and that may call its keys otherwise."""
        return self._views is not None

    def within(
        self, inward: Callable[[Any], Any], outward: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> GraphAgent:
        """Return it inside a chart that stands in another one under other names.

        Args:
            inward: What that chart sees of the state.
            outward: What becomes of its updates.
        """
        made = GraphAgent(
            self.graph, name=self._member, conversation=self._conversation, input=self._input, output=self._output
        )
        inner = self._views
        made._views = (
            (inward, outward)
            if inner is None
            else (lambda state: inner[0](inward(state)), lambda update: outward(inner[1](update)))
        )
        return made

    def check(self, schema: StateSchema, *, where: str) -> None:
        """Accept any keys: what goes in and out is said.

        Args:
            schema: The chart's channels.
            where: The state.
        """

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Told:
        """Run the graph on this event loop.

        Args:
            input: The state.
            config: LangGraph's config; by default that of the node around.
            kwargs: Unused.

        Returns:
            What came of it.
        """
        inward, outward = self._views or (_same, _same)
        state = inward(input)
        told = self._told(state)
        given = {MESSAGES: told} if self._input is None else self._input(state)
        final, writes = await self.ran(given, config)
        new = [message for key, value in writes if key == MESSAGES for message in _list(value)]
        return Told(update=outward({**self._kept(told, new), **self._answer(final)}))

    def _told(self, state: Any) -> list[BaseMessage]:
        """What was said before, and the task, unless the user's words are it."""
        key = self._conversation
        before: list[BaseMessage] = [] if key is None else list(value_of(state, key) or ())
        if key == MESSAGES and TASK not in record_of(state, self._member):
            return before
        return [*before, HumanMessage(content=task_of(state, self._member), id=str(uuid4()))]

    def _kept(self, told: Sequence[BaseMessage], new: Sequence[BaseMessage]) -> dict[str, Any]:
        key = self._conversation
        if key is None or self._input is not None:
            return {}
        said = [self._named(message) for message in new]
        return {key: said if key == MESSAGES else [*told[-1:], *said]}

    def _named(self, message: BaseMessage) -> BaseMessage:
        """Say who spoke: in one conversation of several nobody else could tell."""
        is_nameless = isinstance(message, AIMessage) and not message.name
        return message.model_copy(update={"name": self._member}) if is_nameless else message

    def _answer(self, final: Mapping[str, Any]) -> dict[str, Any]:
        said = _list(final.get(MESSAGES))
        words = answered(self._member, said[-1].text) if said else {}
        update = as_update(None if self._output is None else self._output(final), where=self._member)
        return {**words, **update}


def graph_of(given: object, *, name: str) -> AnyGraph:
    """Return the graph that an agent is made of.

    Args:
        given: The graph, or a function that makes it.
        name: The agent's name.

    Raises:
        DefinitionError: It is no compiled graph.
    """
    made = cast("object", given() if callable(given) and not isinstance(given, CompiledStateGraph) else given)
    if not isinstance(made, CompiledStateGraph):
        raise DefinitionError(
            f"`graph` is {type(made).__name__}, not a compiled graph",
            where=name,
            fix="Give what `create_agent(…)` or `StateGraph(…).compile()` returns, or a function that returns it.",
        )
    return cast("AnyGraph", made)


def _same(value: Any) -> Any:
    return value


def _list(value: Any) -> list[BaseMessage]:
    if value is None:
        return []
    return cast("list[BaseMessage]", value if isinstance(value, list) else [value])
