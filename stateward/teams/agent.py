"""An agent as a building block: model and tools as a chart, or a graph of somebody else's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args, overload

from langchain_core.tools import BaseTool

from stateward.chart.declared import unasked
from stateward.chart.guard import bind
from stateward.chart.signature import Guard
from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import When, when
from stateward.errors import DefinitionError
from stateward.run.door.tool import Tool
from stateward.run.door.toolbox import toolbox
from stateward.teams.detached import DetachedLoop
from stateward.teams.final_answer import Answer, Form, Output
from stateward.teams.graph_agent import GraphAgent, GraphOrFactory, graph_of
from stateward.teams.loop import SHARED, Aside, Input, Loop
from stateward.teams.mind import Mind, Speaker
from stateward.teams.wording import Wording

Memory = Literal["thread", "invocation", "none"]
"""What an agent remembers of its own conversation.

thread: all of it, over runs. invocation: nothing from before it was entered. none: the same, and no tool of it may need
a person.
"""
AnyTool = Tool | BaseTool | str
"""A tool, or the name of one."""

DEFAULT_STEPS = 8


@overload
def agent(
    name: str,
    *,
    model: Mind,
    tools: Sequence[AnyTool] = (),
    prompt: Wording = "",
    max_steps: int = DEFAULT_STEPS,
    conversation: str = SHARED,
    memory: Memory = "thread",
    answer: Answer | None = None,
    stop: Guard[Any] | None = None,
    input: Input | None = None,
    output: Output | None = None,
    policy: object = None,
    detached: bool = False,
) -> Superstate[Any]: ...


@overload
def agent(
    name: str,
    *,
    graph: GraphOrFactory,
    conversation: str = SHARED,
    memory: Memory = "thread",
    input: Input | None = None,
    output: Output | None = None,
    policy: object = None,
) -> State[Any]: ...


def agent(
    name: str,
    *,
    model: Mind | None = None,
    graph: GraphOrFactory | None = None,
    memory: Memory = "thread",
    **given: Any,
) -> Superstate[Any] | State[Any]:
    """Make an agent of a model and tools, or of a graph.

    One of a model is the loop DECIDE, ACT, DECIDE, …, with WRAP_UP where no answer came of it; detached, one state.

    Args:
        name: The state's name, which is also the member's and the speaker's: unique in the chart.
        model: The role of its model; or rules, a function of the messages that says what a model would.
        graph: In place of `model`: a graph of LangGraph or LangChain, or a function that makes one. It gets
            `conversation`, `memory`, `input`, `output` and `policy` alone.
        memory: What it remembers of its conversation; other than `thread` only with a `conversation` of its own, or a
            graph, of which nothing is kept then.
        given: `tools`, what it may call: tools of Stateward or LangChain, or the names of those that `compile` gets;
            `prompt`, what it is told of its job; `max_steps`, replies of the model until it must answer, ≥ 1, behind
            which a last one without tools may follow; `conversation`, the state key, of the type `sw.Messages`, that
            its conversation is kept in; `answer`, the format of its answer, None for words; `stop`, a guard tested
            behind the observations: the last one, or a wrap-up in the format, is the answer; `input`, a function of
            the state that returns its task, for a graph the graph's input; `output`, a function of the answer, for a
            graph of its state at the end, that returns an update of the state; `policy`, what binds it; `detached`,
            whether the loop is one activity, of the state LOOP, without checkpoints of its own: what is said is
            committed with the answer, and until then the journal alone knows of the calls.

    Returns:
        The agent, without `to`: a superstate, of a graph one state.

    Raises:
        DefinitionError: A name, a number or the memory is wrong, or `graph` is no graph; or both, or neither of `model`
            and `graph` is given.

    Source:
        SYSTEMS.md, A2, A4, B1 and B8; ReAct (Yao et al. 2022).
    """
    if model is not None and graph is not None:
        raise DefinitionError("The agent has a model and a graph", where=name, fix="Give one of the two.")
    _refuse_strange(name, given, known=_OF_MODEL if graph is None else _OF_GRAPH)
    if graph is not None:
        return _graph_state(name, graph, memory=memory, **given)
    if model is None:
        raise DefinitionError("The agent has no model", where=name, fix="Say `model=ROLE`, or give a graph.")
    form = Form.of(given.pop("answer", None), output=given.pop("output", None))
    return looped(Recipe(name=name, model=model, memory=memory, form=form, **given))


_OF_GRAPH = ("conversation", "input", "output", "policy")
_OF_MODEL = ("tools", "prompt", "max_steps", "answer", "stop", "detached", *_OF_GRAPH)


def _graph_state(
    name: str,
    graph: GraphOrFactory,
    *,
    memory: Memory,
    conversation: str = SHARED,
    input: Input | None = None,
    output: Output | None = None,
    policy: object = None,
) -> State[Any]:
    _refuse_memory(memory, where=name)
    key = conversation if memory == "thread" else None
    made = GraphAgent(graph_of(graph, name=name), name=name, conversation=key, input=input, output=output)
    return State(name, do=unasked(made) if memory == "none" else made, policy=policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What the loop of an agent is made of, for this block and for those that are made of agents."""

    name: str
    model: Mind
    form: Form
    tools: Sequence[AnyTool] = ()
    prompt: Wording = ""
    max_steps: int = DEFAULT_STEPS
    conversation: str = SHARED
    memory: Memory = "thread"
    stop: Guard[Any] | None = None
    input: Input | None = None
    policy: object = None
    detached: bool = False
    """Whether its steps are one activity; not with calls that are no tools."""
    team: str = ""
    """The block whose member it is, whose conversation and task it shares; empty for an agent of its own."""
    aside: Aside | None = None
    """Calls that are no tools; then `stop` is not looked at behind a reply that makes no others."""
    leaves: Guard[Any] | None = None
    """A guard behind the observations: the agent has handed its work over, and ends without an answer."""


def names_of(tools: Sequence[AnyTool], *, where: str) -> tuple[str, ...]:
    """Return what tools are called.

    Args:
        tools: Tools, and names of tools.
        where: Whose they are, for the message.

    Raises:
        DefinitionError: One is neither.
    """
    for strange in (each for each in cast("Sequence[object]", tools) if not isinstance(each, str | Tool | BaseTool)):
        raise DefinitionError(f"{strange!r} is no tool", where=where, fix="Make one with `sw.tool`, or give its name.")
    return tuple(tool if isinstance(tool, str) else tool.name for tool in tools)


def looped(recipe: Recipe) -> Superstate[Any]:
    """Make the superstate of an agent.

    Args:
        recipe: What it is made of.

    Raises:
        DefinitionError: As for `agent`.
    """
    _refuse(recipe.name, max_steps=recipe.max_steps, conversation=recipe.conversation, memory=recipe.memory)
    return _as_one(recipe) if recipe.detached else _in_states(recipe)


def _parts(recipe: Recipe) -> dict[str, Any]:
    return {
        "name": recipe.name,
        "tools": names_of(recipe.tools, where=recipe.name),
        "carries": tuple(toolbox(tool for tool in recipe.tools if not isinstance(tool, str)).values()),
        "speaker": Speaker(recipe.model),
        "prompt": recipe.prompt,
        "max_steps": recipe.max_steps,
        "conversation": recipe.conversation,
        "begins_anew": recipe.memory != "thread",
        "form": recipe.form,
        "input": recipe.input,
        "team": recipe.team,
        "aside": recipe.aside,
    }


def _as_one(recipe: Recipe) -> Superstate[Any]:
    stop = None if recipe.stop is None else bind(recipe.stop, where=f"{recipe.name}.LOOP", allowed=("state",))
    loop = DetachedLoop(**_parts(recipe), stop=stop)
    do = loop.work_unasked if recipe.memory == "none" else loop.work
    return Superstate(
        recipe.name,
        State("BEGIN", entry=loop.begin, to="LOOP"),
        State("LOOP", entry=loop.mark, do=do, model=loop.speaker.role, tools=loop.tools, to="END"),
        Final("END"),
        policy=recipe.policy,
    )


def _in_states(recipe: Recipe) -> Superstate[Any]:
    loop = Loop(**_parts(recipe))
    role = loop.speaker.role
    decided = [when(loop.wants_tools, "ACT"), when(loop.has_answered, "END"), *_ways_at_once(recipe, loop), "WRAP_UP"]
    return Superstate(
        recipe.name,
        State("BEGIN", entry=loop.begin, to="DECIDE"),
        State("DECIDE", do=loop.decide, model=role, to=decided),
        State(
            "ACT",
            do=loop.act_unasked if recipe.memory == "none" else loop.act,
            tools=loop.tools,
            to=_ways_on(recipe, loop),
        ),
        State("WRAP_UP", do=loop.wrap_up, model=role, to="END"),
        Final("END"),
        policy=recipe.policy,
    )


def _ways_at_once(recipe: Recipe, loop: Loop) -> list[When[Any]]:
    """Where to go behind a reply whose calls were no tools, and were answered with it."""
    if recipe.aside is None:
        return []
    left = [] if recipe.leaves is None else [when(recipe.leaves, "END")]
    return [*left, when(loop.goes_on, "DECIDE")]


def _ways_on(recipe: Recipe, loop: Loop) -> list[When[Any] | str]:
    """Where to go behind the observations."""
    ways: list[When[Any] | str] = []
    if recipe.leaves is not None:
        ways.append(when(recipe.leaves, "END"))
    if recipe.stop is not None and recipe.form.gate is not None:
        ways.append(when(recipe.stop, "WRAP_UP"))
    elif recipe.stop is not None:
        ways.append(when(recipe.stop, "END", do=loop.keep_last))
    return [*ways, when(loop.is_used_up, "WRAP_UP"), "DECIDE"]


def _refuse_strange(name: str, given: Mapping[str, object], *, known: Sequence[str]) -> None:
    for strange in (each for each in given if each not in known):
        raise DefinitionError(
            f"`{strange}` is nothing that the agent takes",
            where=name,
            fix=f"Besides `model` or `graph`, and `memory`, it takes: {', '.join(sorted(known))}.",
        )


def _refuse(name: str, *, max_steps: int, conversation: str, memory: object) -> None:
    if max_steps < 1:
        raise DefinitionError(f"`max_steps` is {max_steps}", where=name, fix="Give the agent at least one step.")
    _refuse_memory(memory, where=name)
    if memory != "thread" and conversation == SHARED:
        raise DefinitionError(
            f"With the memory `{memory}` the agent would forget the conversation with the user",
            where=name,
            fix="Declare a state key of the type `sw.Messages` for its own, and name it: `conversation=KEY`.",
        )


def _refuse_memory(memory: object, *, where: str) -> None:
    if memory not in get_args(Memory):
        known = ", ".join(f"`{word}`" for word in get_args(Memory))
        raise DefinitionError(f"`memory` is {memory!r}", where=where, fix=f"Say one of {known}.")
