"""Time travel: looking at steps, comparing them, and going on from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import stateward as sw
from stateward.errors import InputRefused, NotExpected, SessionBusy
from stateward.run.branch import Branch
from stateward.run.session import Outcome
from stateward.run.store.database import Database
from stateward.run.travel import Timeline
from stateward.testing import How
from tests.charts.beside import compiled_beside, says
from tests.charts.drive import Driven
from tests.charts.refunds import asking
from tests.charts.tools import Shop
from tests.charts.waiting import waiting

Drive = Callable[..., Driven]


@pytest.fixture
def database() -> Iterator[Database]:
    """A fresh database in memory; what came before a checkpoint is told by the time, so the clock is the machine's."""
    with sw.open("memory:") as opened:
        yield opened


class Traveller:
    """A timeline, and the way it is driven."""

    def __init__(self, driven: Driven) -> None:
        self.timeline = Timeline(driven.session.graph, database=driven.session.database, session="s1")
        self.how: How = driven.how
        self.session = driven.session

    def fork(self, step: int | str, **rest: Any) -> Branch:
        if self.how == "sync":
            return self.timeline.fork(step, **rest)
        return asyncio.run(self.timeline.afork(step, **rest))

    def switch(self, name: str) -> Branch:
        return self.timeline.switch(name) if self.how == "sync" else asyncio.run(self.timeline.aswitch(name))

    def resume(self, event: str | None = None, **rest: Any) -> Outcome:
        if self.how == "sync":
            return self.timeline.resume(event, **rest)
        return asyncio.run(self.timeline.aresume(event, **rest))

    @property
    def current(self) -> str:
        return self.session.database.sessions.get("s1").branch


def noted(drive: Drive, *texts: str) -> Traveller:
    """A session that waits in OPEN; step 0 is its start, step 1 entered OPEN, and each text is one more step."""
    driven = drive(waiting().compile())
    driven.start({})
    for text in texts:
        driven.resume("note", data={"text": text})
    return Traveller(driven)


def refunded(drive: Drive, shop: Shop) -> Traveller:
    """A session in which a person approved a refund, and that has ended: start, ask, answer, done."""
    driven = drive(asking(shop))
    driven.answer(driven.start({"log": []}).asks[0])
    return Traveller(driven)


def test_a_step_is_looked_at_by_its_number_or_its_checkpoint(drive: Drive) -> None:
    """The state, where the chart stood, and which checkpoint it is."""
    past = noted(drive, "a", "b").timeline
    second = past.at(2)
    assert (second.values["heard"], second.path, second.status, second.branch) == (
        ["hello", "a"], ("OPEN",), "waiting", "main",
    )  # fmt: skip
    assert past.at(second.checkpoint) == second


def test_a_step_tells_what_was_asked_then(drive: Drive) -> None:
    """With what became of the question since."""
    past = refunded(drive, Shop()).timeline
    (ask,) = past.at(1).asks
    assert (ask.tool, ask.status, ask.decision, past.at(3).asks) == ("refund", "answered", "approve", ())


@pytest.mark.parametrize(("step", "said"), [(99, r"from 0 to 3"), (-5, r"from 0 to 3"), ("x", "no checkpoint")])
def test_an_unknown_step_is_refused_with_those_there_are(drive: Drive, step: Any, said: str) -> None:
    """Looking, comparing and forking say the same."""
    past = noted(drive, "a", "b")
    ways: list[Callable[[Any], Any]] = [past.timeline.at, lambda wanted: past.timeline.diff(0, wanted), past.fork]
    for travels in ways:
        with pytest.raises(NotExpected, match=said):
            travels(step)


def test_a_session_that_never_ran_has_no_steps(drive: Drive) -> None:
    """Nor branches; asking makes none."""
    past = Traveller(drive(waiting().compile()))
    assert (list(past.timeline), past.timeline.branches()) == ([], ())
    with pytest.raises(NotExpected, match="Send an input"):
        past.fork(0)


def test_a_difference_names_what_changed_and_what_was_called(drive: Drive) -> None:
    """State keys with both values, the configuration, and the calls between the two steps."""
    past = refunded(drive, Shop()).timeline
    found = past.diff(1, 3)
    assert {key: (each.before, each.after) for key, each in found.values.items()} == {
        "log": ([], ["ok", {"refunded": "A1"}])
    }
    assert found.path is not None
    assert (found.path.before, found.path.after) == (("WORK.ACT",), ("DONE",))
    assert ([call.name for call in found.calls], found.others) == (["refund"], ())


def test_a_step_does_not_differ_from_itself(drive: Drive) -> None:
    """Nothing changed, nothing was called."""
    found = refunded(drive, Shop()).timeline.diff(3, 3)
    assert (found.values, found.path, found.status, found.history, found.calls) == ({}, None, None, {}, ())


def test_branches_are_compared_by_what_each_did_alone(drive: Drive) -> None:
    """What both have in common is on neither side."""
    past = refunded(drive, Shop())
    main = past.timeline.branches()[0].head
    past.fork(0)
    asked = past.resume()
    past.session.answer(asked.asks[0], "reject", by="ann")
    found = past.timeline.diff(main, past.timeline.branches()[1].head)
    assert ([call.name for call in found.calls], [call.name for call in found.others]) == (
        ["lookup"],
        ["lookup", "refund"],
    )


def test_a_fork_is_a_branch_that_stands_at_the_step(drive: Drive) -> None:
    """The session is on it; the line it was forked from stays as it is."""
    past = noted(drive, "a", "b")
    branch = past.fork(2)
    assert (branch.name, branch.of, branch.forked_at, branch.status) == ("main.1", "main", 2, "waiting")
    assert past.session.outcome().values["heard"] == ["hello", "a"]
    main, _ = past.timeline.branches()
    assert past.timeline.at(main.head).values["heard"] == ["hello", "a", "b"]


def test_a_fork_may_change_the_state_and_have_a_name(drive: Drive) -> None:
    """The update is checked as `update_state` checks it; a refused one leaves no branch."""
    past = noted(drive, "a")
    refused: list[dict[str, Any]] = [{"nobody": 1}, {"text": ["many"]}, {"stateward": {}}]
    for wrong in refused:
        with pytest.raises(InputRefused):
            past.fork(1, update=wrong, name="try")
    assert past.fork(1, update={"text": "else"}, name="try").name == "try"
    assert (past.session.outcome().values["text"], past.current) == ("else", "try")


def test_a_name_in_use_is_refused(drive: Drive) -> None:
    """It says which are."""
    past = noted(drive, "a")
    past.fork(1, name="try")
    with pytest.raises(NotExpected, match="in use: main, try"):
        past.fork(1, name="try")


def test_two_forks_of_one_step_are_two_branches(drive: Drive) -> None:
    """Each goes its own way, and each effect is its branch's own."""
    shop = Shop()
    past = refunded(drive, shop)
    main = past.timeline.at(1).checkpoint
    for decision in ("approve", "reject"):
        past.fork(main)
        past.session.answer(past.session.outcome().asks[0], decision, by="ann")
    logs = [past.timeline.at(branch.head).values["log"][0] for branch in past.timeline.branches()]
    assert (logs, shop.done("lookup"), shop.done("refund")) == (["ok", "ok", "rejected"], ["A1"], ["A1", "A1"])


def test_a_completed_run_goes_on_from_its_middle(drive: Drive) -> None:
    """And a fork of its end has ended too."""
    past = refunded(drive, Shop())
    assert past.fork(3).status == "completed"
    assert past.fork(past.timeline.at(0).checkpoint).status == "running"
    assert past.resume().status == "waiting"


def test_a_session_goes_back_to_another_branch(drive: Drive) -> None:
    """What it heard there is known again, and calls go on with it."""
    past = noted(drive, "a")
    past.fork(1)
    past.session.resume("note", data={"text": "b"})
    assert (past.switch("main").current, past.current) == (True, "main")
    assert past.session.resume("note", data={"text": "c"}).values["heard"] == ["hello", "a", "c"]
    assert [branch.status for branch in past.timeline.branches()] == ["waiting", "waiting"]


def test_an_event_is_sent_to_a_branch(drive: Drive) -> None:
    """In one call, which leaves the session on it."""
    past = noted(drive, "a")
    past.fork(1, name="try")
    outcome = past.resume("note", data={"text": "b"}, branch="main")
    assert (outcome.values["heard"], past.current) == (["hello", "a", "b"], "main")


def test_a_refused_event_to_a_branch_leaves_the_session_where_it_is(drive: Drive) -> None:
    """Neither branch has another checkpoint."""
    past = noted(drive, "a")
    past.fork(1, name="try")
    before = past.timeline.branches()
    with pytest.raises(NotExpected):
        past.resume("unlock", branch="main")
    assert past.timeline.branches() == before


def test_a_branch_that_moved_on_meanwhile_is_not_forked(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end was read before somebody went on with it: the call is stale, and says so."""
    past = noted(drive, "a")
    past.fork(1, name="try")
    row = past.session.row()

    def seen(session: sw.Session) -> Any:
        return row

    past.switch("main")
    past.session.resume("note", data={"text": "b"})
    past.switch("try")
    monkeypatch.setattr(sw.Session, "row", seen)
    with pytest.raises(SessionBusy):
        past.resume("lock", branch="main")
    assert len(past.timeline.branches()) == 2


def test_an_unknown_branch_is_refused_with_those_there_are(drive: Drive) -> None:
    """Switching, resuming and reading say the same."""
    past = noted(drive, "a")
    ways: list[Callable[[str], Any]] = [
        past.switch,
        lambda name: past.resume(branch=name),
        lambda name: list(on(past, name)),
    ]
    for travels in ways:
        with pytest.raises(NotExpected, match="Its branches: main"):
            travels("nope")


def on(past: Traveller, branch: str) -> Timeline:
    return Timeline(past.timeline.graph, database=past.timeline.database, session="s1", branch=branch)


def test_the_steps_of_one_branch_are_told_without_those_of_others(drive: Drive) -> None:
    """Up to the fork they are those of the branch it came from; numbers do not repeat."""
    past = noted(drive, "a", "b")
    past.fork(2)
    past.session.resume("lock")
    told = [(row.step, row.branch, row.event) for row in past.timeline]
    assert told == [
        (0, "main", "start"),
        (1, "main", "start"),
        (2, "main", "note"),
        (3, "main.1", "fork"),
        (4, "main.1", "lock"),
    ]
    assert [(row.step, row.event) for row in on(past, "main")][-1] == (3, "note")


def test_calls_are_told_once_and_on_the_branch_that_made_them(drive: Drive) -> None:
    """A branch shows what it inherits where it was called."""
    shop = Shop()
    past = refunded(drive, shop)
    past.fork(1)
    past.session.answer(past.session.outcome().asks[0], "approve", by="ann")
    calls = [(row.branch, call.name) for row in past.timeline for call in row.calls]
    assert calls == [("main", "lookup"), ("main.1", "refund")]


def test_a_fork_lands_inside_the_regions(drive: Drive) -> None:
    """A region that had ended is not entered again, the other one is."""
    began: list[str] = []
    graph = compiled_beside(
        [sw.State("S", do=says("a", then=lambda: began.append("a")), to="END")],
        [sw.State("S", do=says("b", then=lambda: began.append("b")), to="T"), sw.State("T", on=[sw.on("go", "END")])],
    )
    driven = drive(graph)
    driven.start({"log": []})
    past = Traveller(driven)
    middle = next(row for row in past.timeline if row.state == "P.A.S" and "log" in row.changed)
    at = past.timeline.at(middle.step or 0)
    began.clear()
    past.fork(middle.step or 0)
    outcome = past.resume()
    assert (outcome.path, "a" in at.values["log"], "a" in began) == ("P.A.END, P.B.T", True, False)


def test_a_session_at_work_is_not_forked(drive: Drive) -> None:
    """Whoever holds it would go on writing to the other line."""
    past = noted(drive, "a")
    lease = past.session.database.leases.acquire("s1")
    with pytest.raises(SessionBusy):
        past.fork(1)
    past.session.database.leases.release(lease)


def test_the_store_is_not_touched(drive: Drive) -> None:
    """Long-term memory is no part of the line."""
    past = noted(drive, "a")
    past.session.database.store.put(("notes",), "k", {"v": 1})
    past.fork(1)
    item = past.session.database.store.get(("notes",), "k")
    assert item is not None
    assert item.value == {"v": 1}
