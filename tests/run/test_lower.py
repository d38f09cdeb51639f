"""Lowering: one LangGraph graph, in every form it may be handed on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

import stateward as sw
from stateward.chart.state import State as Leaf
from stateward.errors import DefinitionError, InputRefused, PolicyLoosened, UnknownTool
from stateward.run.lower import lower
from stateward.simulation import Simulation
from stateward.testing import How, ScriptedModel, run_graph
from tests.chart.machines.regions import regions
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled, one
from tests.charts.talk import talk
from tests.charts.tools import Shop
from tests.charts.waiting import waiting
from tests.charts.working import graph

Drive = Callable[..., Driven]
Formed = Callable[[Any], Any]


def test_every_form_runs_to_the_end(how: How, formed: Formed) -> None:
    """A copy and a configured graph are the same chart."""
    values = run_graph(formed(graph()), {"trail": []}, how=how)
    assert values["trail"][:3] == ["plan", "act 1", "reflect"]


def test_every_form_keeps_tables_and_pins(formed: Formed) -> None:
    """`copy` and `with_config` lose nothing of what makes it a chart."""
    made = graph()
    shaped = formed(made)
    assert type(shaped) is type(made)
    assert (shaped.machine, shaped.tables, shaped.allowed) == (made.machine, made.tables, made.allowed)


def test_every_form_draws_its_hierarchy(formed: Formed) -> None:
    """Superstates are groups in the drawing."""
    assert "subgraph WORKING" in formed(graph()).get_graph().draw_mermaid()


def test_nodes_are_states_with_activities(formed: Formed) -> None:
    """Superstates are flattened; a state's node has the state's path."""
    names = set(formed(graph()).nodes)
    assert {"WORKING.PLAN", "WORKING.ACT", "WORKING.REFLECT", "PAUSED"} <= names
    assert "WORKING" not in names


def test_same_chart_has_the_same_pins() -> None:
    """Hashes depend on the chart alone."""
    assert graph().machine.pins == graph().machine.pins


@pytest.mark.parametrize(
    ("other", "part"),
    [
        (compiled(lambda s: None, handles=["x"]), "chart"),
        (compiled(lambda s: None, policy=policy("two_turns")), "policy"),
    ],
)
def test_pins_tell_definitions_apart(other: Any, part: str) -> None:
    """Each part has a hash of its own."""
    pins = compiled(lambda s: None).machine.pins
    assert getattr(pins, part) != getattr(other.machine.pins, part)
    assert pins.schema == other.machine.pins.schema


def test_recursion_limit_follows_the_turn_fuse(formed: Formed) -> None:
    """A fuse of two turns needs no ten thousand supersteps; states without a model have room all the same."""
    shaped = formed(talk(ScriptedModel.of("a", "b", "c"), policy=policy("two_turns")))
    assert shaped.config["recursion_limit"] == 1_000
    assert run_graph(shaped, {"said": []}, how="sync")["said"] == ["a", "b"]


def test_only_a_chart_with_regions_has_a_hub() -> None:
    """The hub and the wait of several regions are nodes of a parallel chart and of no other."""
    _, builder = lower(regions(), schema=One, root=None, tools={}, roles={})
    assert {"__hub__", "__rest__"} <= builder.nodes.keys()
    assert not {"__hub__", "__rest__"} & compiled(lambda s: None).nodes.keys()


def begun(**first: Any) -> Any:
    """Return the start of a chart whose first state is given."""
    return sw.Chart("c", One, sw.State("A", **first), sw.Final("Z")).compile().machine.start


def acting(state: Any) -> Any:
    return {"text": "x"}


def test_start_is_known_where_no_function_has_a_say_in_it() -> None:
    """Else each input is tried before anything is committed: an entry action may refuse it, a wait has no activity."""
    assert begun(do=acting, to="Z") == 1
    assert begun(do=acting, to="Z", entry=[acting]) is None
    assert begun(on=[sw.on("end", "Z")]) is None
    assert begun(do=acting, to="Z", on=[sw.after(1, "Z")]) is None


def prepared(prepare: Any, entry: Any = None) -> Any:
    """A graph that begins with a preparation, in front of two states that work."""
    inside = (
        sw.State("BEGIN", entry=prepare, to="DO"),
        sw.State("DO", do=lambda s: {"log": ["do"]}, entry=entry, to="NEXT"),
        sw.State("NEXT", do=lambda s: {"log": ["next"]}, to="END"),
        sw.Final("END"),
    )
    return sw.Chart("c", One, sw.Superstate("S", *inside, to="Z"), sw.Final("Z")).compile()


def claiming(state: Any) -> Any:
    return "done.activity.S.DO"


def test_where_actions_alone_are_on_the_way_there_is_no_trial_at_the_start() -> None:
    """START leads straight to the first state that works, whose node runs the actions."""
    made = prepared(acting)
    assert (made.machine.start, made.machine.first) == (None, made.machine.chart.by_path["S.DO"])
    assert "__start__" not in made.builder.branches


@pytest.mark.parametrize(
    ("graph", "log"),
    [
        (prepared(lambda s: {"log": [">"]}), [">", "do", "next"]),
        (prepared(lambda s: [sw.Delayed("late", after_s=60), {"log": [">"]}]), [">", "do", "next"]),
        (prepared(claiming), ["do", "next"]),
        (prepared(None, claiming), ["next"]),
    ],
)
def test_run_that_begins_with_an_action_goes_where_the_kernel_says(how: How, graph: Any, log: list[str]) -> None:
    """Whatever the action returns; one that claims an end takes its state's place."""
    assert run_graph(graph, {"log": []}, how=how)["log"] == log


def test_input_that_an_entry_action_refuses_is_not_committed(drive: Drive) -> None:
    """It is tried before, also where it decides nothing of where the run begins."""

    def refusing(state: Any) -> Any:
        raise InputRefused("no", fix="Say more.")

    driven = drive(prepared(refusing))
    with pytest.raises(InputRefused):
        driven.start({"log": []})
    assert driven.checkpoints == []


def test_unknown_tool_is_named_at_compile_time() -> None:
    """A declared tool must be registered."""
    with pytest.raises(UnknownTool, match="refund"):
        one(lambda s: None, tools=["refund"]).compile(tools=[Shop().lookup])


def test_two_tools_of_one_name_are_refused() -> None:
    """A name means one tool."""
    with pytest.raises(DefinitionError, match="Two tools"):
        one(lambda s: None).compile(tools=[Shop().lookup, Shop().lookup])


def test_child_policy_that_loosens_is_refused() -> None:
    """Both places are named."""
    chart = sw.Chart(
        "loose",
        One,
        sw.Superstate(
            "OUT",
            sw.State("ACT", do=lambda s: None, to="DONE", policy=policy("three_turns")),
            policy=policy("two_turns"),
        ),
        sw.Final("DONE"),
    )
    with pytest.raises(PolicyLoosened, match=r"OUT\.ACT"):
        chart.compile()


def test_policy_must_be_a_policy() -> None:
    """A dict is no policy."""
    with pytest.raises(DefinitionError, match="not a policy"):
        one(lambda s: None, policy={"turns": 2}).compile()  # type: ignore[arg-type]


def test_chart_that_waits_at_once_enters_through_its_own_node(how: How) -> None:
    """The dispatcher leads to the first activity, or to the node that enters."""
    state = waiting().compile()
    assert "__enter__" in state.nodes
    assert run_graph(compiled(lambda s: {"text": "y"}), {"text": "x"}, how=how)["text"] == "y"


# -- the kernel and the graph agree ---------------------------------------------------------------------

NAMES = ("A", "B", "C", "D", "E")
spots = st.lists(st.tuples(st.sampled_from((*NAMES, "END")), st.integers(0, 6)), min_size=5, max_size=5)


class Steps(TypedDict, total=False):
    """How far a random chart has come."""

    n: int


def random_chart(spots: list[tuple[str, int]], box: frozenset[str]) -> sw.Chart[Steps]:
    """Five states; each leads to its target while `n` is small enough, else to the end; some stand in a box."""
    leaves = {
        name: Leaf(name, do=step, to=[sw.when(below(limit), f"BOX.{target}" if target in box else target), "END"])
        for name, (target, limit) in zip(NAMES, spots, strict=True)
    }
    boxed = [leaf for name, leaf in leaves.items() if name in box]
    rest = [leaf for name, leaf in leaves.items() if name not in box]
    tops: list[Any] = [*rest, *([sw.Superstate("BOX", *boxed, always=[sw.when(at_five, "END")])] if boxed else [])]
    return sw.Chart("random", Steps, *tops, sw.Final("END"))


def step(state: Steps) -> dict[str, int]:
    return {"n": state["n"] + 1}


def below(limit: int) -> Callable[[Steps], bool]:
    def guard(state: Steps) -> bool:
        return state["n"] < limit

    return guard


def at_five(state: Steps) -> bool:
    return state["n"] == 5


def simulated(chart: sw.Chart[Steps]) -> list[list[str]]:
    simulation: Simulation = chart.simulate({"n": 0})
    path = []
    while not simulation.last.final:
        simulation.complete({"n": simulation.data.state["n"] + 1})
        path.append(list(simulation.at))
    return path


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spots, st.frozensets(st.sampled_from(NAMES)))
def test_graph_takes_the_path_of_the_kernel(spots: list[tuple[str, int]], box: frozenset[str]) -> None:
    """A random chart goes through the same states in the simulation and in the compiled graph."""
    chart = random_chart(spots, box)
    with sw.open("memory:") as database:
        graph = chart.compile(database=database)
        config: Any = {"configurable": {"thread_id": "t"}}
        graph.invoke({"n": 0}, config)
        history = [c.values["stateward"]["at"] for c in graph.get_state_history(config) if c.metadata["step"] > 0]
    assert history[::-1] == simulated(chart)
