"""What belongs to a session, and what becomes of a run that began under another policy."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import Drift, InputRefused, SessionBusy
from stateward.run.drive import Bridge, drive_sync
from stateward.run.outcome import Outcome
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.drive import Driven, policy
from tests.charts.migrated import desk, renamed
from tests.charts.one import compiled
from tests.charts.refunds import asking, look_then_refund
from tests.charts.tools import Shop
from tests.charts.waiting import waiting


@pytest.fixture
def deployed(database: Database, how: How) -> Any:
    """Deploy a desk, and drive its session."""

    def make(shop: Shop, *, rules: str = "forbids_refunds", graph: Any = None, **rest: Any) -> Driven:
        return Driven(sw.Session("s1", graph or desk(shop, rules=rules), database, **rest), how)

    return make


def test_a_run_is_refused_under_another_policy(deployed: Any) -> None:
    """Unless the session says otherwise; the message names both ways on."""
    deployed(shop := Shop(), rules="approve_refunds").start({"log": []})
    with pytest.raises(Drift, match=r"`drift=\"keep\"`.*`--drift keep`.*`stateward migrate SESSION`"):
        deployed(shop).resume()


def test_a_run_keeps_the_policy_it_began_under(deployed: Any) -> None:
    """Its refund may be approved, although it is forbidden by now; and the next run is under the policy at hand."""
    (ask,) = deployed(shop := Shop(), rules="approve_refunds").start({"log": []}).asks
    driven = deployed(shop, drift="keep")
    assert driven.session.answer(ask, "approve", by="ann").values["log"][0] == "ok"
    assert driven.start({"log": []}).values["log"][-2] == "denied"
    assert driven.session.row().policy_hash == driven.session.graph.machine.pins.policy


@pytest.mark.parametrize("go", ["resume", "tell", "answer"])
def test_each_call_keeps_it(database: Database, how: How, go: str) -> None:
    """Going on, sending and answering."""

    def driven(rules: str, **rest: Any) -> Driven:
        graph = compiled(look_then_refund, box=Shop().box, policy=policy(rules), on=[sw.on("stop", "DONE")])
        return Driven(sw.Session("s1", graph, database, **rest), how)

    (ask,) = driven("approve_refunds").start({}).asks
    kept = driven("forbids_refunds", drift="keep")
    outcome = {"resume": kept.resume, "tell": lambda: kept.tell("stop").outcome, "answer": lambda: kept.answer(ask)}[go]
    assert getattr(outcome(), "status", "") == ("waiting" if go == "resume" else "completed")


def test_another_chart_is_not_kept(deployed: Any) -> None:
    """The message names the way there is."""
    deployed(shop := Shop(), rules="approve_refunds").start({"log": []})
    with pytest.raises(Drift, match="stateward migrate SESSION"):
        deployed(shop, graph=renamed(shop), drift="keep").resume()


def test_a_run_that_ends_meanwhile_leaves_nothing_to_keep(database: Database) -> None:
    """An input whose call looked before must not open a run under the old policy: it is refused, and may look again."""
    shop = Shop()
    old = sw.Session("s1", desk(shop), database)
    (ask,) = old.start({"log": []}).asks
    new = sw.Session("s1", desk(shop, rules="forbids_refunds"), database, drift="keep")
    looked = new._caller.at_hand(new.config)  # pyright: ignore[reportPrivateUsage]
    graph, config = drive_sync(looked, bridge=Bridge())
    old.answer(ask, "approve", by="ann")
    with pytest.raises(SessionBusy, match="went on"):
        graph.invoke({"log": []}, config)


@pytest.mark.parametrize("word", ["adopt", "", None])
def test_a_word_that_is_none_is_refused(database: Database, word: Any) -> None:
    """The message says how a session adopts a definition."""
    with pytest.raises(InputRefused, match="stateward migrate SESSION"):
        sw.Session("s1", waiting().compile(), database, drift=word)


def test_an_async_provider_leaves_no_thread_behind(database: Database) -> None:
    """Its loop ends with the call."""

    async def nothing(outcome: Outcome) -> None:
        return None

    before = threading.enumerate()  # loops of other graphs may still wait for a call
    sw.Session("s1", waiting().compile(), database, provider=nothing).start({})
    after = threading.enumerate()
    assert [one for one in after if one.name == "stateward-bridge" and one not in before] == []


@pytest.mark.parametrize("go", ["answer", "send"])
def test_the_scratch_folder_goes_with_the_run(database: Database, tmp_path: Path, go: str) -> None:
    """Whatever call ends it."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        (run.session.scratch / "note").write_text("x")
        return {"log": [(await run.tool("refund", order="A1")).status]}

    graph = asking(Shop(), act, on=[sw.on("stop", "DONE")])
    session = sw.Session("s1", graph, database, scratch=tmp_path / "scratch")
    (ask,) = session.start({}).asks
    assert list((tmp_path / "scratch").iterdir()) != []
    session.answer(ask, "approve", by="ann") if go == "answer" else session.send("stop")
    assert list((tmp_path / "scratch").iterdir()) == []


BAD = ["a\ud800", "a\x00b"]


@pytest.mark.parametrize("bad", BAD)
def test_names_that_no_database_keeps_are_refused(database: Database, deployed: Any, bad: str) -> None:
    """Of sessions, tenants, and people, and why these did what; nothing is done."""
    graph = waiting().compile()
    for made in (lambda: sw.Session(bad, graph, database), lambda: sw.Session("s", graph, database, tenant=bad)):
        with pytest.raises(InputRefused):
            made()
    driven = deployed(Shop(), graph=graph)
    driven.start({})
    for tried in (
        lambda: driven.session.cancel(by=bad),
        lambda: driven.cancel(reason=bad),
        lambda: driven.tell("end", by=bad),
        lambda: driven.resume(bad),
    ):
        with pytest.raises(InputRefused):
            tried()
    assert driven.session.row().status == "waiting"


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("key", ["thread_id", "tenant", "approver"])
def test_names_in_the_config_are_refused_too(deployed: Any, key: str, bad: str) -> None:
    """A graph that is called without a session."""
    driven = deployed(Shop())
    graph = driven.session.graph
    config: Any = {"configurable": {"thread_id": "s1", key: bad}}
    with pytest.raises(InputRefused, match="`" + key):
        graph.invoke({"log": []}, config) if driven.how == "sync" else asyncio.run(graph.ainvoke({"log": []}, config))
