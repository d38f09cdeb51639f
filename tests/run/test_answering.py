"""Whether an answer would lead somewhere, and its record."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import stateward as sw
from stateward.errors import AskClosed, NotExpected, UnknownAsk
from stateward.run.answering import asked, claimed, expect
from stateward.run.caller import Caller
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.charts.refunds import asking
from tests.charts.tools import Shop


@pytest.fixture
def waiting(database: Database) -> Callable[[str], tuple[Caller, str]]:
    """Make sessions that wait for an answer, each in its caller's eyes."""
    graph = asking(Shop()).attach(database)

    def make(id: str) -> tuple[Caller, str]:
        session = sw.Session(id, graph, database, tenant=f"tenant of {id}")
        (ask,) = session.start({"text": "x"}).asks
        return Caller(session=id, graph=session.graph, database=database, config=session.config, context=None), ask

    return make


Waiting = Callable[[str], tuple[Caller, str]]


def test_an_answer_is_recorded_and_nothing_goes_on(waiting: Waiting) -> None:
    """Whoever runs the session finds it."""
    caller, ask = waiting("a")
    expect(caller, ask)
    assert claimed(caller, ask, "approve", by="ann", note="fine").note == "fine"
    assert (caller.outcome().status, asked(caller, ask).by) == ("waiting", "ann")


def test_an_ask_of_another_tenant_is_unknown(waiting: Waiting) -> None:
    """To look at, to expect and to answer, as one that does not exist."""
    caller, _ = waiting("a")
    _, other = waiting("b")
    for ask in (other, "ask_0"):
        for attempt in (asked, expect):
            with pytest.raises(UnknownAsk, match=f"No ask `{ask}`"):
                attempt(caller, ask)
        with pytest.raises(UnknownAsk, match=f"No ask `{ask}`"):
            claimed(caller, ask, "approve", by="ann", note="")


def test_an_ask_that_is_closed_is_expected_by_nobody_and_refused(waiting: Waiting) -> None:
    """The refusal says what became of it; that is the ask's to tell."""
    caller, ask = waiting("a")
    claimed(caller, ask, "reject", by="ann", note="")
    expect(caller, ask)
    with pytest.raises(AskClosed, match="`reject` by `ann`"):
        claimed(caller, ask, "approve", by="bob", note="")


def test_an_ask_for_which_nobody_waits_is_not_expected(drive: Callable[..., Driven]) -> None:
    """The host's own sessions are told apart by name."""
    graph = asking(Shop())
    mine, other = drive(graph, session="mine"), drive(graph, session="other")
    (ask,) = mine.start({"text": "x"}).asks
    other.start({"text": "x"})
    with pytest.raises(NotExpected, match="does not wait"):
        other.session.expect(ask)
    with pytest.raises(NotExpected, match="belongs to session `mine`"):
        other.session.claim(ask, "approve", by="ann")
