"""A session is restored under another id: as a session of its own, with nothing left that names the old one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import CheckpointError, CodecError, InputRefused
from stateward.run.store.archive import read_archive
from stateward.run.store.database import Database
from stateward.run.store.schema import VERSION
from stateward.run.store.transfer import archive_session, restore_session
from tests.charts.migrated import Crash
from tests.charts.one import compiled
from tests.charts.refunds import asking, two_refunds_sync
from tests.charts.tools import Shop
from tests.charts.waiting import waiting

KEYS = {"k1": b"1" * 32}


@pytest.fixture(params=["clear", "sealed"])
def keys(request: pytest.FixtureRequest) -> Any:
    """With and without encryption."""
    return KEYS if request.param == "sealed" else None


@pytest.fixture
def desk(url: str, keys: Any) -> Any:
    """A database in which `s1` asks about two refunds, of tenant `acme`; every result is stored by reference."""
    with sw.open(url, keys=keys, blob_bytes=1) as opened:
        at(opened, "s1", Shop()).start({"text": "s1"})
        yield opened


def at(database: Database, session: str, shop: Shop) -> sw.Session:
    return sw.Session(session, asking(shop, two_refunds_sync).attach(database), database, tenant="acme")


def copied(database: Database, path: Path, *, into: Database | None = None) -> None:
    archive_session(database, "s1", path=path / "a.zip")
    restore_session(into or database, path / "a.zip", session="s2")


def told(database: Database, session: str) -> Any:
    """All that is known of a session, read as the house reads it, without what names it."""
    calls = [replace(entry, key=replace(entry.key, session="")) for entry in database.journal.entries(session)]
    letters = [replace(letter, session="") for letter in database.mailbox.list(session)]
    row = replace(database.sessions.get(session), id="", updated_at=0, created_at=0)
    ends = [replace(end, session="") for end in database.sessions.terminals(session)]
    return calls, letters, row, ends


def went_on(session: sw.Session) -> list[Any]:
    for ask in session.outcome().asks:
        session.claim(ask, "approve", by="ann")
    return session.resume().values["log"]


def test_both_go_on_side_by_side(desk: Database, tmp_path: Path) -> None:
    """In one database, each by its own questions; what was looked up before is not looked up again."""
    copied(desk, tmp_path)
    for name in ("s2", "s1"):
        shop = Shop()
        assert went_on(at(desk, name, shop)) == ["ok"] * 3
        assert sorted(shop.effects) == [("refund", "A1"), ("refund", "A2")]


def test_the_effects_to_come_have_keys_of_their_own(desk: Database, tmp_path: Path) -> None:
    """No receiver takes the one's for the other's."""
    copied(desk, tmp_path)
    shop = Shop()
    for name in ("s1", "s2"):
        went_on(at(desk, name, shop))
    assert len(set(shop.keys)) == 4


def test_all_of_it_is_read_at_its_new_place(desk: Database, tmp_path: Path) -> None:
    """Calls with large results, letters, limits, why it stopped."""
    run = desk.sessions.get("s1").run
    desk.mailbox.post("s1", "note", {"text": "hello"}, by="ann")
    desk.ledger.raise_limit("s1", run, "", "usd", 5, "ann", "because")
    copied(desk, tmp_path)
    assert told(desk, "s2") == told(desk, "s1")
    assert desk.ledger.limit_for("s2", run, "", "usd") == 5


def test_a_cancelled_run_arrives_with_its_reason(desk: Database, tmp_path: Path) -> None:
    """Its questions stay withdrawn."""
    at(desk, "s1", Shop()).cancel(by="ann", reason="twice")
    copied(desk, tmp_path)
    assert told(desk, "s2") == told(desk, "s1")
    assert (at(desk, "s2", Shop()).outcome().status, desk.asks.open()) == ("cancelled", ())


def test_questions_name_the_new_session_where_they_are_shown(desk: Database, tmp_path: Path) -> None:
    """Also in what LangGraph hands to an inbox; the user's values are left as they are."""
    copied(desk, tmp_path)
    session = at(desk, "s2", Shop())
    snapshot = session.graph.get_state(session.config)
    shown = [ask for interrupt in snapshot.interrupts for ask in interrupt.value["asks"]]
    assert {ask["session"] for ask in shown} == {"s2"}
    assert {ask["id"] for ask in shown} == set(session.outcome().asks) == {ask.id for ask in desk.asks.open("s2")}
    assert snapshot.values["text"] == "s1"


def test_it_names_no_question_of_the_first(desk: Database, tmp_path: Path) -> None:
    """Neither in its history nor in its audit records."""
    old = [ask.id for ask in desk.asks.open("s1")]
    copied(desk, tmp_path)
    records = str([row.record for row in desk.audit.rows("s2")])
    session = at(desk, "s2", Shop())
    history = str(list(session.graph.get_state_history(session.config)))
    assert [ask for ask in old if ask in records + history] == []


def test_the_audit_log_stays_one_chain_and_says_what_it_was(desk: Database, tmp_path: Path) -> None:
    """Under which id, and from which file."""
    copied(desk, tmp_path)
    rows = desk.audit.rows("s2")
    assert (desk.audit.verify(), len(rows)) == (len(desk.audit.rows()), len(desk.audit.rows("s1")) + 1)
    manifest = read_archive(tmp_path / "a.zip", layout=VERSION)[0]
    assert {key: rows[-1].record[key] for key in ("event", "was", "digest")} == {
        "event": "restored",
        "was": "s1",
        "digest": manifest.digest,
    }


def test_an_id_that_is_taken_is_refused(desk: Database, tmp_path: Path) -> None:
    """Nothing is overwritten, and the message says which way there is."""
    copied(desk, tmp_path)
    with pytest.raises(CheckpointError, match=r"There is a session `s2` already.*--as NEWID"):
        restore_session(desk, tmp_path / "a.zip", session="s2")


@pytest.mark.parametrize("name", ["", 3])
def test_an_id_that_is_none_is_refused(desk: Database, tmp_path: Path, name: Any) -> None:
    """As everywhere."""
    archive_session(desk, "s1", path=tmp_path / "a.zip")
    with pytest.raises(InputRefused, match="A session's id is a text"):
        restore_session(desk, tmp_path / "a.zip", session=name)


@pytest.mark.parametrize(("name", "why"), [("s\0", "NUL"), ("s\ud800", "half a character")])
def test_an_id_that_cannot_be_kept_is_refused(desk: Database, tmp_path: Path, name: str, why: str) -> None:
    """As one that a session is opened under."""
    archive_session(desk, "s1", path=tmp_path / "a.zip")
    with pytest.raises(InputRefused, match=f"The id of a session has .*{why}"):
        restore_session(desk, tmp_path / "a.zip", session=name)


def test_its_own_id_is_no_other_one(desk: Database, tmp_path: Path, keys: Any) -> None:
    """The questions keep their ids then."""
    archive_session(desk, "s1", path=tmp_path / "a.zip")
    with sw.open("memory:", keys=keys) as other:
        restore_session(other, tmp_path / "a.zip", session="s1")
        assert [ask.id for ask in other.asks.open()] == [ask.id for ask in desk.asks.open()]


def test_without_the_key_nothing_comes_in(desk: Database, tmp_path: Path, keys: Any) -> None:
    """It could not be bound to its new place; nor does what is clear come in where all is encrypted."""
    with sw.open("memory:", keys=None if keys else KEYS) as other:
        with pytest.raises(CodecError):
            copied(desk, tmp_path, into=other)
        assert (other.sessions.list(), other.audit.rows()) == ((), ())


def mailing(shop: Shop, *, crash: bool) -> Any:
    @sw.tool(effect="once")
    def post(to: str) -> str:
        """Send."""
        if crash:
            raise Crash
        return to

    async def send(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("post", to="ann")).status]}

    return compiled(send, box=(post,))


def test_a_call_of_unknown_end_stands_in_the_way(database: Database, tmp_path: Path) -> None:
    """Under another key nobody could ask what became of it; under its own id the session comes in."""
    session = sw.Session("s1", mailing(Shop(), crash=True).attach(database), database)
    with pytest.raises(Crash):
        session.start({})
    archive_session(database, "s1", path=tmp_path / "a.zip")
    with sw.open("memory:") as other:
        with pytest.raises(CheckpointError, match=r"`post` in `WORK.ACT` was begun, and nobody knows"):
            restore_session(other, tmp_path / "a.zip", session="s2")
        assert restore_session(other, tmp_path / "a.zip").session == "s1"


def test_a_run_that_is_over_asks_no_more_about_its_calls(database: Database, tmp_path: Path) -> None:
    """A cancelled run is brought in, whatever was left open in it."""
    session = sw.Session("s1", mailing(Shop(), crash=True).attach(database), database)
    with pytest.raises(Crash):
        session.start({})
    session.cancel(by="ann")
    copied(database, tmp_path)
    assert database.sessions.get("s2").status == "cancelled"


def test_a_session_that_waits_for_an_event_stands_where_it_was(database: Database, tmp_path: Path) -> None:
    """And nothing was ever called in it."""
    sw.Session("s1", waiting().compile(database=database), database).start({"text": "x"})
    copied(database, tmp_path)
    session = sw.Session("s2", waiting().compile(database=database), database)
    assert (session.outcome().status, session.outcome().path) == ("waiting", "OPEN")
