"""`blog` (B3): exactly three ideas, a judge that picks one, facts from the library, and a post that passes its gate."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from graphs.blog import build, chart
from nodes.blog.activities import IDEAS, Writer
from nodes.blog.library import Library
from stateward import teams
from stateward.config import load_policy
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.house.source import ROOT

TOPIC = {"topic": "returning goods"}
PARTS = (f"WRITING.{IDEAS}.PROPOSE", f"WRITING.{IDEAS}.JUDGE", "WRITING.RESEARCH", "WRITING.DRAFT")
Make = Callable[..., Driven]


@pytest.fixture
def make(drive: Callable[..., Driven]) -> Make:
    """Drive a session of the graph."""

    def driven(*overrides: str, **models: ScriptedModel) -> Driven:
        return drive(build(env={}, overrides=overrides, models={name: priced(name, models[name]) for name in models}))

    return driven


def priced(name: str, model: ScriptedModel) -> sw.ModelRole:
    price: dict[str, Any] = {"usd_per_million_input": 1.0, "usd_per_million_output": 2.0}
    return sw.ModelRole(name=name, model=model, max_output_tokens=1000, **price)


def idea(number: int, **changed: Any) -> dict[str, Any]:
    told = {"title": f"Title {number}", "audience": "buyers", "angle": "returns", "rationale": "it is asked for"}
    return {**told, "bullets": [f"return {number}.{point}" for point in range(5)], **changed}


def proposed(*ideas: Any) -> str:
    return json.dumps({"options": ideas})


def thoughts(values: Any) -> teams.Thoughts:
    return teams.thoughts_of(values, IDEAS)


def test_without_models_rules_propose_judge_and_write(make: Make) -> None:
    """Three ideas, one picked with a reason, facts on the topic, and a post with its sources."""
    outcome = make().start(TOPIC)
    assert (outcome.status, outcome.path) == ("completed", "DONE")
    assert [one["title"] for one in thoughts(outcome.values).options] == [
        "Returning goods, step by step",
        "What goes wrong with returning goods",
        "Five questions about returning goods",
    ]
    assert (thoughts(outcome.values).choice, thoughts(outcome.values).reason) == (
        1,
        "the library has something on 6 of its points",
    )
    assert outcome.values["post"]["sources"] == ["returns", "delays", "lost-parcels"]
    assert outcome.values["messages"][-1].text == outcome.values["post"]["text"]


def test_a_scripted_run_of_models_comes_out_exactly(make: Make) -> None:
    """The small model needs a second attempt, the judge names an index that is not there, the draft is written."""
    text = "# Title 2\n\n" + "Goods may come back within 30 days. " * 8 + "Sources: returns."
    models = {
        "proposer": ScriptedModel.of(proposed(idea(0), idea(1)), proposed(idea(0), idea(1), idea(2))),
        "judge": ScriptedModel.of(json.dumps({"index": 3, "reason": "the newest"})),
        "writer": ScriptedModel.of(text),
    }
    outcome = make(**models).start(TOPIC)
    assert (outcome.status, outcome.path) == ("completed", "DONE")
    assert thoughts(outcome.values) == teams.Thoughts(
        goal="returning goods",
        options=(idea(0), idea(1), idea(2)),
        choice=2,
        reason="the newest",
        path=(idea(2),),
    )
    assert outcome.values["post"] == {"title": "Title 2", "text": text.strip(), "sources": ["returns"]}


def test_each_role_is_told_its_own_job(make: Make) -> None:
    """The prompts are files beside the domain, filled with what the block knows."""
    models = {
        "proposer": ScriptedModel.of(proposed(idea(0), idea(1), idea(2))),
        "judge": ScriptedModel.of(json.dumps({"index": 0, "reason": "first"})),
        "writer": ScriptedModel.of("x" * 400),
    }
    make(**models).start(TOPIC)
    jobs = [model.calls[0][0].text for model in models.values()]
    assert ["exactly 3 ideas" in jobs[0], "from 0 to 2" in jobs[1], "at least 300" in jobs[2]] == [True] * 3


@pytest.mark.parametrize("wrong", [idea(2, bullets=["a" * 9] * 4), idea(2, bullets=["a" * 9] * 6), idea(2, more=1)])
def test_an_idea_that_is_none_is_not_taken(make: Make, wrong: Any) -> None:
    """Four bullets, six, or a key too many: after the retries the rules propose, and the record says why."""
    models = {"proposer": ScriptedModel.of(*[proposed(idea(0), idea(1), wrong)] * 4)}
    outcome = make(**models).start(TOPIC)
    assert (outcome.path, thoughts(outcome.values).options[0]["title"]) == ("DONE", "Returning goods, step by step")
    assert "No output fits" in thoughts(outcome.values).problem


def test_a_draft_that_is_refused_goes_back_and_then_gives_way(make: Make) -> None:
    """The writer is told what was wrong; after its retries the rules word the post."""
    writer = ScriptedModel.of("Too short.", "Still.", "No.")
    outcome = make(writer=writer).start(TOPIC)
    assert (outcome.path, len(writer.calls)) == ("DONE", 3)
    assert "`text`: expected" in writer.calls[1][-1].text
    assert outcome.values["post"]["text"].startswith("# What goes wrong with returning goods")


def test_without_a_topic_it_asks_for_one(make: Make) -> None:
    """What is said then is the topic."""
    driven = make()
    waiting = driven.start({})
    assert (waiting.status, waiting.path, waiting.values["messages"][-1].text) == (
        "waiting",
        "TOPIC",
        "What shall the post be about?",
    )
    assert driven.start({"messages": [("user", "Late parcels?")]}).values["subject"] == "Late parcels?"


def test_another_run_is_about_another_topic(make: Make) -> None:
    """Nothing of the first post is left, though the topic came in another way."""
    driven = make()
    driven.start(TOPIC)
    again = driven.start({"messages": [("user", "invoices")]})
    assert (again.values["subject"], again.values["post"]["sources"][0]) == ("invoices", "invoices")


def test_a_fuse_stops_it_and_history_goes_on(make: Make) -> None:
    """The judge's call is one too many; everything until then is kept."""
    models = {
        "proposer": ScriptedModel.of(proposed(idea(0), idea(1), idea(2))),
        "judge": ScriptedModel.of(json.dumps({"index": 0, "reason": "first"})),
    }
    stopped = make("policy.fuses.turns=1", **models).start(TOPIC)
    assert (stopped.status, stopped.path, len(thoughts(stopped.values).options)) == ("waiting", "STOPPED", 3)


def test_a_failing_provider_leads_back_to_where_it_failed(make: Make) -> None:
    """The ideas are kept, and only the judge is asked again."""
    models = {
        "proposer": ScriptedModel.of(proposed(idea(0), idea(1), idea(2))),
        "judge": ScriptedModel.of(RuntimeError("down"), json.dumps({"index": 1, "reason": "second"})),
    }
    driven = make(**models)
    stopped = driven.start(TOPIC)
    assert (stopped.path, "`error.activity`" in stopped.values["messages"][-1].text) == ("STOPPED", True)
    outcome = driven.resume("resume")
    assert (outcome.path, thoughts(outcome.values).choice) == ("DONE", 1)


def test_one_policy_binds_ideas_research_and_draft() -> None:
    """The same limits hold in all of them."""
    machine = build(env={}).machine
    bound = [machine.effectives[machine.chart.by_path[path]] for path in PARTS]
    assert {one.hash for one in bound} == {bound[0].hash}
    assert {one.level("wipe_disk").level for one in bound} == {"forbidden"}


@pytest.mark.parametrize("roles", [(), ("proposer", "judge", "writer")])
def test_nothing_is_wrong_with_the_chart(roles: tuple[str, ...]) -> None:
    """Neither by rules nor with models."""
    writer = Writer(Library(ROOT / "samples" / "kb"))
    policy = load_policy("blog", folder=ROOT / "policies", env={})
    assert chart(writer, policy=policy, roles=roles).check() == ()
