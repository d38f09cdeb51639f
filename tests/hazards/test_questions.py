"""Questions that activities put: no effect twice, no answer to the wrong one (HAZARDS 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import stateward as sw
from stateward import ask
from stateward.errors import AskClosed
from stateward.run.store.database import Database
from tests.charts.beside import compiled_beside
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.people import asking, asks
from tests.charts.tools import Shop

Drive = Callable[..., Driven]
RUNS = 60
NAMES = ("A", "B", "C", "D", "E")


def test_what_stands_before_a_question_happens_once(drive: Drive) -> None:
    """The activity is entered again for every answer; the journal answers for its calls."""
    shop = Shop()

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("mail", to="a")
        first = await run.ask(ask.text("A?"))
        await run.tool("refund", order=first)
        return {"log": [first, await run.ask(ask.text("B?"))]}

    one = drive(compiled(act, box=shop.box, asks=True))
    outcome = one.start({})
    for said in ("a", "b"):
        outcome = one.answer(outcome.asks[0], "respond", note=said)
    assert (outcome.values["log"], shop.effects) == (["a", "b"], [("mail", "a"), ("refund", "a")])


@pytest.mark.parametrize("where", ["one activity", "regions"])
def test_answers_in_any_order_reach_their_questions(database: Database, where: str) -> None:
    """By one map, singly, or some of both; of sixty runs none mixes them up."""
    questions = [ask.text(f"{name}?") for name in NAMES]
    regions = [[sw.State("ASK", do=asks([each]), asks=True, to="END")] for each in questions]
    graph = asking(*questions, at_once=True) if where == "one activity" else compiled_beside(*regions)
    dice, wrong = Random(1), list[object]()
    for number in range(RUNS):
        session = sw.Session(f"s{number}", graph, database)
        open_asks = list(session.start({}).asks)
        dice.shuffle(open_asks)
        wanted = {id: database.asks.get(id).reason.rstrip("?") for id in open_asks}
        alone = dice.randrange(len(open_asks))
        for id in open_asks[:alone]:
            session.answer(id, "respond", by="ann", note=wanted[id])
        done = session.answer_all({id: wanted[id] for id in open_asks[alone:]}, by="ann")
        wrong += [done] if sorted(done.values["log"]) != list(NAMES) else []
        wrong += [done] if where == "one activity" and done.values["log"] != list(NAMES) else []
    assert wrong == []


def test_of_two_answers_to_one_question_one_counts(drive: Drive) -> None:
    """The other is told who came first."""
    one = drive(asking(ask.choose("Way?", ["train", "car"])))
    (way,) = one.start({}).asks
    one.session.claim(way, "respond", by="ann", note="train")
    with pytest.raises(AskClosed, match="answered with `respond` by `ann`"):
        one.session.claim(way, "respond", by="bob", note="car")
    assert one.resume().values["log"] == ["train"]
