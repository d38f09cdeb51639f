"""Adopting a definition: what is refused, what a dry run says, and that all of it is written or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import CheckpointError, Drift, GovernanceError, SessionBusy
from stateward.migration import Migration, adopt
from stateward.run.travel import Timeline
from stateward.testing import How
from tests.charts.drive import Driven
from tests.charts.migrated import RENAMED, Crash, Drive, crashing, desk, dump, migrate, renamed
from tests.charts.one import One
from tests.charts.tools import Shop


def asked(drive: Drive, shop: Shop, **rest: Any) -> str:
    """A session that waits for a person under the old definition; its question."""
    return drive(desk(shop, **rest)).start({"log": []}).asks[0]


def test_a_policy_that_changed_is_adopted_without_a_declaration(drive: Drive) -> None:
    """Refused until then, and in force from then on."""
    shop = Shop()
    asked(drive, shop)
    driven = drive(desk(shop, rules="forbids_refunds"))
    with pytest.raises(Drift, match="policy"):
        driven.resume()
    report = migrate(driven)
    assert report.before is not None
    assert (report.before.chart == report.after.chart, report.before.policy == report.after.policy) == (True, False)
    outcome = driven.answer(driven.session.outcome().asks[0])
    assert (outcome.values["log"][0], shop.done("refund")) == ("denied", [])


def test_a_dry_run_changes_nothing(drive: Drive) -> None:
    """The database is the same, row for row, and the report is that of the migration."""
    shop = Shop()
    asked(drive, shop)
    driven = drive(renamed(shop))
    before = dump(driven.session.database)
    planned = migrate(driven, RENAMED, dry_run=True)
    assert (planned.status_word, dump(driven.session.database)) == ("ready", before)
    assert planned.lines == migrate(driven, RENAMED).lines


def test_a_dry_run_tells_all_that_blocks(drive: Drive) -> None:
    """It raises nothing, so that one can declare it all at once."""
    shop = Shop()
    asked(drive, shop)
    chart = sw.Chart("desk", dict_of("text"), sw.State("OTHER", on=[sw.on("end", "DONE")]), sw.Final("DONE"))
    report = migrate(drive(chart.compile()), dry_run=True)
    assert report.status_word == "blocked"
    assert {(line.kind, line.name) for line in report.blocking} == {("state", "WORK.ACT"), ("key", "log")}


def dict_of(*keys: str) -> Any:
    """A schema of texts."""
    make: Any = TypedDict
    return make("Texts", dict.fromkeys(keys, str), total=False)


def test_a_finished_session_has_nothing_to_migrate(drive: Drive) -> None:
    """Its next input opens a run under the new definition."""
    shop = Shop()
    old = drive(desk(shop))
    old.answer(old.start({"log": []}).asks[0])
    driven = drive(renamed(shop))
    before = dump(driven.session.database)["checkpoints"]
    report = migrate(driven, RENAMED)
    assert (report.status_word, "completed" in report.note) == ("nothing to do", True)
    assert dump(driven.session.database)["checkpoints"] == before


def test_a_finished_session_whose_states_are_gone_takes_a_new_run(drive: Drive) -> None:
    """Where the last run ended says nothing about the next one."""
    drive(sw.Chart("desk", One, sw.State("A", do=lambda state: None, to="END"), sw.Final("END")).compile()).start({})
    other = sw.Chart("desk", One, sw.State("B", do=lambda state: {"log": ["new"]}, to="OVER"), sw.Final("OVER"))
    assert drive(other.compile()).start({}).values["log"] == ["new"]


def test_what_is_migrated_already_has_nothing_to_migrate(drive: Drive) -> None:
    """A second call changes nothing."""
    shop = Shop()
    asked(drive, shop)
    driven = drive(renamed(shop))
    migrate(driven, RENAMED)
    before = len(driven.checkpoints)
    assert (migrate(driven, RENAMED).status_word, len(driven.checkpoints)) == ("nothing to do", before)


def test_a_session_without_a_run_has_nothing_to_migrate(drive: Drive) -> None:
    """It is not begun by it, either."""
    driven = drive(renamed(Shop()))
    assert (migrate(driven).status_word, driven.session.row()) == ("nothing to do", None)


def test_a_run_that_a_fuse_stopped_may_adopt_a_wider_one(drive: Drive) -> None:
    """It stays halted until it is resumed, and goes on where it stopped."""
    shop = Shop()

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("lookup", order=order)).status for order in "ABCD"]}

    assert drive(desk(shop, do=look, rules="three_calls")).start({"log": []}).status == "halted"
    driven = drive(renamed(shop, do=look, rules="approve_refunds"))
    migrate(driven, RENAMED)
    assert driven.session.outcome().status == "halted"
    assert (driven.resume().status, shop.done("lookup")) == ("completed", ["A", "B", "C", "D"])


def test_the_audit_log_says_who_migrated_from_what_to_what(drive: Drive) -> None:
    """With both hashes, what was renamed, and the checkpoint."""
    shop = Shop()
    asked(drive, shop)
    driven = drive(renamed(shop))
    report = migrate(driven, RENAMED)
    (record,) = [row.record for row in driven.session.database.audit.rows("s1") if row.record["event"] == "migrated"]
    assert report.before is not None
    assert (record["by"], record["from"]["chart"], record["to"]["chart"], record["checkpoint"]) == (
        "ann", report.before.chart, report.after.chart, report.checkpoint,
    )  # fmt: skip
    assert ["state", "WORK.ACT", "JOB.DO"] in record["renamed"]


def test_nobody_migrates_namelessly(drive: Drive) -> None:
    """A person stands behind it."""
    shop = Shop()
    asked(drive, shop)
    with pytest.raises(GovernanceError, match="named person"):
        adopt(drive(renamed(shop)).session, RENAMED, by=" ")


def test_a_session_that_somebody_runs_is_left_alone(drive: Drive) -> None:
    """Its lease is not taken away."""
    shop = Shop()
    asked(drive, shop)
    driven = drive(renamed(shop))
    lease = driven.session.database.leases.acquire("s1", graph="desk")
    with pytest.raises(SessionBusy):
        migrate(driven, RENAMED)
    driven.session.database.leases.release(lease)
    assert migrate(driven, RENAMED).status_word == "migrated"


def test_a_migration_that_cannot_be_written_leaves_nothing(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a question nor a call, nor a lease."""
    shop = Shop()
    ask = asked(drive, shop)
    driven = drive(renamed(shop))
    tables = ("stateward_asks", "stateward_journal", "stateward_ledger", "checkpoints")
    before = {table: dump(driven.session.database)[table] for table in tables}

    def full(*args: Any, **kwargs: Any) -> Any:
        raise CheckpointError("The disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(driven.session.database.saver.__class__, "put", full)
        with pytest.raises(CheckpointError, match="full"):
            migrate(driven, RENAMED)
    assert {table: dump(driven.session.database)[table] for table in tables} == before
    assert drive(desk(shop)).answer(ask).status == "completed"


def test_with_the_old_code_the_old_branch_goes_on(drive: Drive) -> None:
    """Nothing of it was changed: its question is put again there."""
    shop = Shop()
    asked(drive, shop)
    migrate(drive(renamed(shop)), RENAMED)
    old = drive(desk(shop))
    Timeline(old.session.graph, database=old.session.database, session="s1").switch("main")
    (ask,) = old.resume().asks
    assert (old.answer(ask).status, shop.done("refund")) == ("completed", ["A1"])


def test_over_a_saver_of_langgraphs_the_row_follows(how: How, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our tables say where the session stands now, and under what."""
    url, shop, saver = f"sqlite:///{tmp_path / 'tables.db'}", Shop(), InMemorySaver()
    monkeypatch.setenv("STATEWARD_DB", url)
    old, new = (graph.copy({"checkpointer": saver}) for graph in (desk(shop), renamed(shop)))
    with sw.open(url) as database:
        Driven(sw.Session("s1", old, database), how).start({"log": []})
        driven = Driven(sw.Session("s1", new, database), how)
        migrate(driven, RENAMED)
        row = database.sessions.get("s1")
        assert (row.path, row.chart_hash) == (("JOB.DO",), new.machine.pins.chart)
        assert driven.answer(driven.session.outcome().asks[0]).status == "completed"


def test_a_declaration_of_nothing_that_is_there_changes_nothing(drive: Drive) -> None:
    """One declaration serves many sessions, each of which stands elsewhere."""
    shop = Shop()
    asked(drive, shop)
    driven = drive(renamed(shop))
    more = Migration(states={**RENAMED.states, "AWAY": "HELP"}, keys={"never": None}, events={"no": None})
    assert migrate(driven, more).status_word == "migrated"


def test_a_chart_that_was_cut_off_in_an_activity_blocks(drive: Drive) -> None:
    """Entered again, it would begin anew and call again what it has called; the old definition ends it."""

    async def work(state: Any, run: Any) -> Any:
        return {"log": ["worked"]}

    dies_once = crashing(work)

    def outer(act: str) -> Any:
        inner = sw.Chart(
            "inner", One,
            sw.State("FIRST", do=lambda state: {"log": ["first"]}, to="SECOND"),
            sw.State("SECOND", do=dies_once, to="DONE"),
            sw.Final("DONE"),
        )  # fmt: skip
        return sw.Chart("outer", One, sw.State(act, do=inner.compile(), to="DONE"), sw.Final("DONE")).compile()

    with pytest.raises(Crash):
        drive(outer("ACT")).start({"log": []})
    with pytest.raises(
        Drift, match=r"state `ACT`: Its activity runs a chart that was cut off in its middle, at `SECOND`"
    ):
        migrate(drive(outer("DO")), Migration(states={"ACT": "DO"}))
    assert drive(outer("ACT")).resume().values["log"] == ["first", "worked"]
