"""The façade: compile, check, draw, simulate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

import stateward as sw
from stateward.errors import DefinitionError, UnknownTarget
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.properties import never
from stateward.run.door.role import ModelRole
from stateward.testing import ScriptedModel
from tests.charts.one import One, one
from tests.charts.working import working


def test_chart_compiles_without_a_saver() -> None:
    """Module-level graphs get theirs from whoever serves them."""
    assert working().compile().checkpointer is None


def test_chart_compiles_over_saver_and_store() -> None:
    """LangGraph's own are taken as they are."""
    saver, store = InMemorySaver(), InMemoryStore()
    graph = working().compile(checkpointer=saver, store=store)
    assert (graph.checkpointer, graph.store) == (saver, store)


def test_chart_compiles_over_a_database() -> None:
    """Saver, store and tables of one database."""
    with sw.open("memory:") as database:
        graph = working().compile(database=database)
        assert graph.store is database.store
        assert graph.tables.database(None) is database


def test_bare_model_becomes_a_role() -> None:
    """A chat model without prices is a role of its key's name."""
    model = ScriptedModel.of("x")
    roles = one(lambda s: None).compile(models={"voice": model}).machine.roles
    assert roles == {"voice": ModelRole(name="voice", model=model)}


def test_sound_chart_has_no_findings() -> None:
    """`check` is quiet where nothing is wrong."""
    assert [finding for finding in working().check() if finding.severity == "error"] == []


def test_unsound_chart_is_told_before_any_run() -> None:
    """A state nothing leads to."""
    chart = sw.Chart(
        "lost", One, sw.State("A", do=len, to="DONE"), sw.State("ISLAND", do=len, to="DONE"), sw.Final("DONE")
    )
    assert "ISLAND" in {finding.path for finding in chart.check()}


def test_drawing_nests_and_highlights() -> None:
    """Mermaid with nested boxes; the highlighted state is marked."""
    text = working().draw(highlight=["WORKING.ACT"])
    assert text.startswith("stateDiagram-v2")
    assert text != working().draw()


def test_drawing_shows_policies_in_every_format() -> None:
    """Fuses and approvals, without compiling; text as a string, a PNG as bytes."""
    pays = ToolPolicy(rules=(Rule(match="pay", level="restricted"),))
    chart = sw.Chart(
        "till", One, sw.State("PAY", do=len, tools=["pay"], policy=Policy(name="till", fuses=Fuses(usd=1), tools=pays))
    )
    for text in (chart.draw(), chart.draw(format="svg", highlight=["PAY"])):
        assert "fuse usd 1" in text
        assert "asks before pay" in text
    assert chart.draw(format="png").startswith(b"\x89PNG")


def test_chart_names_unknown_targets() -> None:
    """When the chart is made, not when it runs."""
    with pytest.raises(UnknownTarget):
        sw.Chart("lost", One, sw.State("A", to="NOWHERE"))


@pytest.mark.parametrize("given", ["strict", {}, {"fuses": {}}, object(), [], 0, "", False])
def test_policy_of_a_chart_must_be_a_policy(given: Any) -> None:
    """As with a state; what is empty is no policy either."""
    chart = sw.Chart("lost", One, sw.State("A", do=len, to="DONE"), sw.Final("DONE"), policy=given)
    with pytest.raises(DefinitionError, match=r"not a policy \(at lost\)"):
        chart.compile()


def test_async_guard_is_refused() -> None:
    """The kernel cannot wait."""

    async def guard(state: Any) -> bool:
        return True

    with pytest.raises(DefinitionError, match="async"):
        sw.Chart("wait", One, sw.State("A", do=len, to=[sw.when(guard, "B")]), sw.Final("B"))


def test_variable_names_the_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`STATEWARD_DB` is read when a chart is compiled."""
    monkeypatch.setenv("STATEWARD_DB", f"sqlite:///{tmp_path}/w.db")
    assert working().compile().tables.url == f"sqlite:///{tmp_path}/w.db"


def test_the_schema_is_a_class() -> None:
    """A state in its place, or nothing, is told what belongs there."""
    wrong: Any = sw.State("A")
    with pytest.raises(DefinitionError, match=r"schema is no class but .* \(at Chart\('c'\)\)\. .* after the name"):
        sw.Chart("c", wrong)
    wrong = None
    with pytest.raises(DefinitionError, match="schema is no class"):
        sw.Chart("c", wrong, sw.State("A"))


def test_an_exit_key_is_declared() -> None:
    """Else the run would fail only when it leaves the superstate."""
    with pytest.raises(DefinitionError, match=r"`exit_key` is 'nope', which .* another of its keys: "):
        working().superstate("WORKING", exit_key="nope")


@pytest.mark.parametrize("path", [None, 3, ""])
def test_a_superstate_is_taken_out_by_its_path(path: Any) -> None:
    """What is no path is told the paths there are."""
    with pytest.raises(UnknownTarget, match=r"is no state .*Superstates: `WORKING`"):
        working().superstate(path)


@pytest.mark.parametrize("properties", [3, [3], ["never"]])
def test_only_a_property_can_be_stated(properties: Any) -> None:
    """Anything else is refused when the chart is written."""
    with pytest.raises(DefinitionError, match=r"which is no property .*`stateward.properties`"):
        sw.Chart("c", One, sw.State("A"), properties=properties)


def test_one_property_alone_is_taken_as_one() -> None:
    """As one transition or one action is."""
    alone: Any = never("A")
    assert sw.Chart("c", One, sw.State("A"), properties=alone).properties == (alone,)
