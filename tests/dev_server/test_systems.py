"""Every graph of `langgraph.json` comes to its end, without a model and without the internet; what is asked is answered
as a client of LangChain's human-in-the-loop form does it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

from tests.dev_server.drive import Ended, asked, ended

ROOT = Path(__file__).parents[2]
GRAPHS: Mapping[str, str] = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
WENDY = {"id": "m-1", "customer": "wendy.okafor@example.com", "name": "Wendy", "lang": "en", "received_at": ""}
TWICE = asked("You charged me twice for order A-10226. Please give the money back.", additional_kwargs={"case": WENDY})
BOXES = asked("What does a trip with a reusable box cost, and what brings boxes back?")
MOVE: Mapping[str, Any] = {"topic": "We move on Friday."}
AT_ONCE = 8
"""How many runs are on their way together: the server looks once a second for what is to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A run, and what is to come of it."""

    graph: str
    given: Mapping[str, Any]
    steps: tuple[str, ...] = ()
    """What is asked and which events are sent; questions asked beside each other come in any order."""
    says: str
    """What stands in the state at its end."""


CASES: Mapping[str, Case] = {
    "working": Case(graph="working", given=asked("What is a fuse?"), says="Looked up so far: fuse."),
    "support_desk": Case(graph="support_desk", given=TWICE, steps=("issue_refund",), says="We have refunded €79.90"),
    "release": Case(graph="release", given={"version": "1.2.0"}, steps=("approve",), says='"shipped": true'),
    "image_brief": Case(
        graph="image_brief",
        given={"brief": {"subject": "a red mug", "width": 512, "height": 512}},
        says='"mime": "image/png"',
    ),
    "governed_search": Case(
        graph="governed_search",
        given={"question": "How do I return goods?"},
        steps=("connect_archive",),
        says='"tool": "connect_archive", "status": "ok"',
    ),
    "react": Case(graph="react", given=asked("How much is 12 * (3 + 4)?"), says="12 * (3 + 4) = 84."),
    "weather": Case(graph="weather", given=asked("How warm is it in New York?"), says="It is 18 °C in New York."),
    "fintech_swarm": Case(
        graph="fintech_swarm", given=asked("A report on HARB, and keep it."), says="Kept in reports/report.md."
    ),
    "billing": Case(
        graph="billing",
        given=asked("I was charged twice. I want a refund."),
        steps=("give_back",),
        says="CH-103 was given back: 20.00 USD.",
    ),
    "blog": Case(graph="blog", given=asked("returning goods"), says="Sources: returns"),
    "market_research": Case(graph="market_research", given=BOXES, says="/reports/report.md"),
    "hitl feedback": Case(
        graph="hitl", given={**MOVE, "pattern": "feedback"}, steps=("ask.text",), says="nothing to change"
    ),
    "hitl approval": Case(
        graph="hitl", given={**MOVE, "pattern": "approval"}, steps=("ask.approve",), says="publish: board: We move"
    ),
    "hitl edit": Case(graph="hitl", given={**MOVE, "pattern": "edit"}, steps=("ask.edit",), says="edited: nothing"),
    "hitl parallel": Case(
        graph="hitl", given={**MOVE, "pattern": "parallel"}, steps=("ask.choose", "ask.text"), says="We meet at 9"
    ),
    "hitl review": Case(
        graph="hitl", given={**MOVE, "pattern": "review"}, steps=("publish",), says="publish: mail: We move"
    ),
    "hitl breakpoints": Case(
        graph="hitl", given={**MOVE, "pattern": "breakpoints"}, says="publish: board: We move on Friday."
    ),
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(client: SyncLangGraphClient) -> Iterator[Mapping[str, Future[Ended]]]:
    """All the runs, on their way together."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {name: pool.submit(ended, client, case.graph, case.given) for name, case in CASES.items()}


def test_every_graph_is_driven() -> None:
    """A graph that is added to `langgraph.json` is added here."""
    assert {case.graph for case in CASES.values()} == set(GRAPHS)


@pytest.mark.parametrize("name", CASES)
def test_a_graph_comes_to_its_end(runs: Mapping[str, Future[Ended]], name: str) -> None:
    """It asks what it has to ask, and its state says what was done."""
    case, run = CASES[name], runs[name].result()
    assert (run.status, sorted(run.steps)) == ("completed", sorted(case.steps))
    assert case.says in json.dumps(run.values, ensure_ascii=False)
