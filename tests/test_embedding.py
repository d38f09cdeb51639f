"""One chart inside another."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableLambda
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import DefinitionError
from stateward.govern.policy import Policy
from stateward.testing import How, run_graph


class Writing(TypedDict, total=False):
    """What the inner chart knows."""

    topic: str
    draft: str
    tries: int
    seen: list[str]


class Desk(TypedDict, total=False):
    """What the outer chart knows."""

    question: str
    text: str
    tries: int
    seen: list[str]
    log: Annotated[list[str], operator.add]


def write(state: Writing) -> dict[str, Any]:
    """Draft, one more time."""
    return {"draft": f"on {state['topic']}", "tries": state.get("tries", 0) + 1}


def enough(state: Writing) -> bool:
    """Whether there were two drafts."""
    return state["tries"] > 1


async def polish(state: Writing, run: sw.Run[Any]) -> dict[str, Any]:
    """Finish the draft; an async activity that takes its run."""
    return {"draft": f"{state['draft']}, polished in {run.path}"}


def note(state: Writing, active: frozenset[str]) -> dict[str, Any]:
    """Write down what is active."""
    return {"seen": sorted(active)}


def writing(**last: Any) -> sw.Chart[Writing]:
    """DRAFT until it is enough, then POLISH."""
    return sw.Chart(
        "writing",
        Writing,
        sw.State("DRAFT", do=write, to=[sw.when(enough, "POLISH"), "DRAFT"]),
        sw.State("POLISH", entry=note, **{"do": polish, "to": "DONE", **last}),
        sw.Final("DONE"),
        on=sw.on("stop", "DONE"),
    )


def desk(inner: Any) -> sw.Chart[Desk]:
    """The inner chart, then CHECK."""
    check = sw.State("CHECK", do=lambda state: {"log": [state["text"]]}, to="DONE")
    return sw.Chart("desk", Desk, inner, check, sw.Final("DONE"))


def placed(chart: sw.Chart[Any]) -> Any:
    """Put the writing chart where it is needed."""
    return chart.as_superstate("WRITING", input={"topic": "question"}, output={"draft": "text"}, to="CHECK")


def test_its_functions_see_the_keys_they_know(how: How) -> None:
    """`topic` is read from `question`, `draft` is written to `text` and read back from there."""
    final = run_graph(desk(placed(writing())).compile(), {"question": "cats"}, how=how)
    assert final["log"] == ["on cats, polished in WRITING.POLISH"]


def test_keys_without_a_map_keep_their_names(how: How) -> None:
    """Both charts speak of `tries`."""
    assert run_graph(desk(placed(writing())).compile(), {"question": "cats"}, how=how)["tries"] == 2


def test_active_states_are_told_by_its_own_paths(how: How) -> None:
    """A function that names `active` sees the chart as it was written."""
    assert run_graph(desk(placed(writing())).compile(), {"question": "cats"}, how=how)["seen"] == ["POLISH"]


def test_a_target_of_its_root_lies_inside() -> None:
    """A state of the same name beside the superstate is not meant."""
    chart = desk(placed(writing()))
    arrows = {arrow["events"][0]: arrow["targets"] for arrow in chart.definition.to_json()["transitions"]}  # pyright: ignore
    assert arrows["stop"] == ["WRITING.DONE"]


def test_a_runnable_inside_sees_the_keys_it_knows(how: How) -> None:
    """What goes in and comes out of it is renamed as well."""
    chart = writing(do=RunnableLambda(lambda state: {"draft": state["topic"].upper()}))
    assert run_graph(desk(placed(chart)).compile(), {"question": "cats"}, how=how)["text"] == "CATS"


def test_what_an_action_raises_is_left_alone() -> None:
    """An event in a list with an update goes on as it is."""
    chart = writing(exit=lambda state: [{"draft": "x"}, "stop"])
    simulation = desk(placed(chart)).simulate({"question": "q", "tries": 2, "text": "t"})
    simulation.complete()
    simulation.complete()
    assert simulation.data.state["text"] == "x"


@dataclass
class Count:
    """A schema that is a dataclass."""

    n: int = 0


def test_a_schema_that_is_a_dataclass_is_made_anew_for_each_function(how: How) -> None:
    """Its functions get an instance, and may return one."""
    count = sw.Chart("count", Count, sw.State("ADD", do=lambda c: Count(c.n + 1), to="DONE"), sw.Final("DONE"))
    inner = count.as_superstate("COUNT", output={"n": "tries"}, to="DONE")
    chart = sw.Chart("outer", Desk, inner, sw.Final("DONE"))
    assert run_graph(chart.compile(), {"tries": 4}, how=how)["tries"] == 5


def test_its_policy_binds_it_where_it_stands() -> None:
    """The chart's own policy is the superstate's."""
    strict = Policy(name="strict", call_timeout_s=3.0)
    chart = sw.Chart("inner", Desk, sw.State("A", do=lambda state: None, to="E"), sw.Final("E"), policy=strict)
    graph = desk(chart.as_superstate("IN", to="CHECK")).compile()
    bound = {graph.machine.chart.nodes[i].path: one.call_timeout_s for i, one in graph.machine.effectives.items()}
    assert (bound["IN.A"], bound["CHECK"]) == (3.0, None)


def test_a_key_the_chart_does_not_have_is_refused() -> None:
    """The error names the map and the keys there are."""
    with pytest.raises(DefinitionError, match="`output` maps `nothing`"):
        writing().as_superstate("WRITING", output={"nothing": "text"})


def test_a_chart_that_was_not_written_as_a_tree_is_refused() -> None:
    """Its tables know no author's tree any more."""
    part = desk(placed(writing())).superstate("WRITING")
    with pytest.raises(DefinitionError, match="written as a tree"):
        part.as_superstate("WRITING")
