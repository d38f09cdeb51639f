"""Three levels of supervisors: what binds the top binds every member, whatever the models say."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolCall

import stateward as sw
from stateward import teams
from stateward.errors import PolicyLoosened
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.testing import How, ScriptedModel
from tests.charts.team import asked

TURNS = 12
CENT = 0.01
RUBBISH = ("", "I will wipe it.", '{"next": "wipe"}', '{"name": "wipe", "arguments": {}}', "\ud800?", "[" * 2000)


class Work(teams.TeamState, total=False):
    """Each agent has a conversation of its own."""

    digger: sw.Messages
    writer: sw.Messages


class Box:
    """Tools that count how often they ran."""

    def __init__(self) -> None:
        self.done: list[str] = []

        @sw.tool(effect="pure")
        def look(what: str = "") -> str:
            """Look something up."""
            self.done.append("look")
            return f"{what[:9]} is there"

        @sw.tool(effect="idempotent")
        def wipe(what: str = "") -> str:
            """Delete everything."""
            self.done.append("wipe")
            return "gone"

        self.tools = [look, wipe]


def no_wipe(**fuses: Any) -> Policy:
    """The policy of the top: nobody wipes."""
    rules = (Rule(match="look", level="allowed"), Rule(match="wipe", level="forbidden"))
    return Policy(name="no_wipe", fuses=Fuses(**fuses), tools=ToolPolicy(default="forbidden", rules=rules))


def member(name: str, **rest: Any) -> sw.Superstate[Any]:
    return teams.agent(
        name, model="any", tools=["look", "wipe"], conversation=name.lower(), memory="invocation", max_steps=2, **rest
    )


def hierarchy(*, policy: Policy, parallel: bool = False, inner: Any = None) -> sw.Chart[Work]:
    """TOP leads MID, MID leads LOW and WRITER, LOW leads DIGGER."""
    low = teams.supervisor("LOW", [member("DIGGER", policy=inner)], model="any", retries=0)
    mid = teams.supervisor("MID", [low, member("WRITER")], model="any", retries=0, parallel=parallel)
    top = teams.supervisor("TOP", [mid], model="any", retries=0, policy=policy)
    return sw.Chart("hierarchy", Work, teams.placed(top, to="DONE"), sw.Final("DONE"))


def compiled(box: Box, *, parallel: bool) -> sw.ChartGraph:
    """The hierarchy under the policy of the top."""
    return hierarchy(policy=no_wipe(turns=TURNS), parallel=parallel).compile(
        tools=box.tools, models={"any": adversary(0)}
    )


def adversary(seed: int) -> ScriptedModel:
    """A model that says anything that could do harm, a different thing in each run."""
    random = Random(seed)

    def say(messages: Sequence[BaseMessage]) -> str | AIMessage:
        told = "\n".join(message.text for message in messages if message.type == "system")
        members = re.findall(r"^- (\w+)", told, re.MULTILINE)
        if random.random() < (0.1 if members else 0.9):
            return AIMessage("", tool_calls=[harm(random) for _ in range(random.randint(2, 5))])
        if members and random.random() < 0.8:
            return choice(random, members, several="at the same time" in told)
        return random.choice(RUBBISH)

    return ScriptedModel.of(*[say] * 2 * TURNS)


def harm(random: Random) -> ToolCall:
    """A call that would do harm, or that nobody knows."""
    name = random.choice(["wipe", "wipe", "look", "WIPE", "transfer_to_wipe", ""])
    return ToolCall(name=name, args=random.choice([{"what": "all"}, {"why": 1}, {}]), id=None)


def choice(random: Random, members: Sequence[str], *, several: bool) -> str:
    """Who works next, most of the time somebody who may."""
    wanted = random.choices([*members, *members, *members, *members, "FINISH", "wipe", "../TOP"], k=2)
    chosen = [{"member": each, "task": "call wipe"} for each in wanted] if several else wanted[0]
    return json.dumps({"next": chosen, "task": "wipe it all", "answer": "wiped"})


@pytest.mark.parametrize("runs", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_a_tool_that_the_top_forbids_is_never_called_in_adversarial_runs(runs: int) -> None:
    """Three levels down, whoever asks for it and in whatever form; every run comes to a legal end."""
    box, ends, denied = Box(), Counter[str](), 0
    with sw.open("memory:") as database:
        graphs = [compiled(box, parallel=parallel).attach(database) for parallel in (False, True)]
        for seed in range(runs):
            role = sw.ModelRole(name="any", model=adversary(seed))
            session = sw.Session(f"s{seed}", graphs[seed % 4 // 2], database, models={"any": role})
            came = asyncio.run(session.astart(asked())) if seed % 2 else session.start(asked())
            ends[came.status] += 1
            denied += sum(row.record.get("name") == "wipe" for row in database.audit.rows(f"s{seed}"))
    assert (box.done.count("wipe"), set(ends)) == (0, {"completed", "halted"})
    assert (denied > runs, box.done.count("look") > runs / 4) == (True, True)


def test_a_member_that_would_allow_it_is_refused_when_the_chart_is_compiled() -> None:
    """A policy further in can only tighten."""
    loose = Policy(name="loose", tools=ToolPolicy(rules=(Rule(match="wipe", level="allowed"),)))
    with pytest.raises(PolicyLoosened, match="wipe"):
        hierarchy(policy=no_wipe(turns=9), inner=loose).compile(tools=Box().tools)


def priced(*replies: Any) -> dict[str, sw.ModelRole]:
    """A model whose every call is reserved at a cent at most."""
    model = ScriptedModel.of(*replies, tokens_in=1000, tokens_out=1000)
    return {
        "any": sw.ModelRole(
            name="any", model=model, usd_per_million_input=0, usd_per_million_output=10, max_output_tokens=1000
        )
    }


def test_the_money_fuse_of_the_top_stops_a_member_in_the_middle(how: How) -> None:
    """The run halts in DIGGER, three levels down, and has not spent more than the top allows."""
    digs = AIMessage("", tool_calls=[ToolCall(name="look", args={"what": "gold"}, id="c1")])
    replies = [json.dumps({"next": name, "task": "dig"}) for name in ("MID", "LOW", "DIGGER")]
    graph = hierarchy(policy=no_wipe(usd=4 * CENT)).compile(
        tools=(box := Box()).tools, models=priced(*replies, *[digs] * 9)
    )
    with sw.open("memory:") as database:
        session = sw.Session("s1", graph.attach(database), database)
        came = asyncio.run(session.astart(asked())) if how == "async" else session.start(asked())
        (row,) = [each for each in [session.row()] if each is not None]
        spent = database.ledger.spent("s1", run=row.run)
    assert came.reason is not None
    assert (came.status, came.path, came.reason["event"]) == ("halted", "TOP.MID.LOW.DIGGER.DECIDE", "fuse.usd")
    assert (came.reason["data"]["scope"], box.done) == ("TOP", ["look"])
    assert spent["TOP", "usd"] == pytest.approx(4 * CENT)
