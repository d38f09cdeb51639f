"""Opening a database, its transactions, and what goes wrong with files."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from stateward.errors import CheckpointError, CodecError, UnknownAsk
from stateward.run.store.database import open_database
from tests.run.store.desk import Fresh, StillClock, url
from tests.run.store.processes import go, line, workers

LAYOUT_1 = Path(__file__).parent / "layout_1.sql"


def test_a_file_is_created_with_its_folders_and_opened_again(tmp_path: Path) -> None:
    """The second opening finds what the first one wrote."""
    with open_database(url(tmp_path)) as first:
        first.leases.acquire("s", graph="desk")
    with open_database(url(tmp_path)) as second:
        assert second.sessions.get("s").graph == "desk"


def test_a_relative_url_is_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three slashes are relative, four are absolute."""
    monkeypatch.chdir(tmp_path)
    open_database("sqlite:///a/b.db").close()
    open_database(f"sqlite:///{tmp_path}/c.db").close()
    assert (tmp_path / "a/b.db").exists()
    assert (tmp_path / "c.db").exists()


@pytest.mark.parametrize(
    "bad", ["sqlite:", "sqlite:///", "memory", "file.db", "", "postgresql:", "mysql://u:pw@host/db"]
)
def test_a_bad_url_is_an_error_that_lists_the_good_ones(bad: str) -> None:
    """The message names the forms that work, and never a password."""
    with pytest.raises(CheckpointError, match=r"sqlite:////absolute/path") as refused:
        open_database(bad)
    assert "pw" not in str(refused.value)


@pytest.mark.parametrize("ttl_s", [0, float("nan")])
def test_a_lease_needs_time_to_live(ttl_s: float) -> None:
    """Zero seconds would be no lease, and neither would what is no number."""
    with pytest.raises(CheckpointError, match="above 0"):
        open_database("memory:", lease_ttl_s=ttl_s)


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    """The file is left as it was."""
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not a database" * 100)
    with pytest.raises(CheckpointError, match="not a database"):
        open_database(f"sqlite:///{path}")
    assert path.read_text().startswith("these are notes")


def test_a_folder_or_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    """Neither a folder nor a path below a file can be opened."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "x.db"):
        with pytest.raises(CheckpointError, match="unable to open"):
            open_database(f"sqlite:///{place}")


@pytest.mark.parametrize("backend", ["memory"], indirect=True)
def test_a_full_disk_is_an_error_and_keeps_what_was_there(fresh: Fresh) -> None:
    """The failed transaction leaves nothing, the connection goes on."""
    database = fresh()
    database.leases.acquire("s")
    with database.read() as cur:
        pages = cur.execute("PRAGMA page_count").fetchone()[0]
        cur.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(CheckpointError, match="Free some disk space"):
        database.audit.append({"session": "s", "text": "x" * 100_000})
    assert database.audit.rows() == ()
    assert database.sessions.get("s").id == "s"


def test_a_closed_database_says_so(fresh: Fresh) -> None:
    """Closing twice is fine, using it afterwards is an error."""
    database = fresh()
    database.close()
    database.close()
    with pytest.raises(CheckpointError, match=r"stateward\.open"):
        database.sessions.list()


def test_a_newer_layout_is_refused(tmp_path: Path) -> None:
    """A database of a later release is not touched."""
    open_database(url(tmp_path)).close()
    raw = sqlite3.connect(tmp_path / "state" / "ward.db")
    raw.execute("UPDATE stateward_schema SET version = 99")
    raw.commit()
    raw.close()
    with pytest.raises(CodecError, match="99"):
        open_database(url(tmp_path))


def old(folder: Path) -> Path:
    """A database as the first release made it, with a session and an audit record in it."""
    path = folder / "state" / "ward.db"
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.executescript(LAYOUT_1.read_text())
        columns = "(id, graph, status, created_at, updated_at)"
        raw.execute(f"INSERT INTO stateward_sessions {columns} VALUES ('s', 'g', 'waiting', 1, 1)")
        raw.execute("INSERT INTO stateward_audit VALUES (1, 's', '{}', 'genesis', 'h')")
        raw.commit()
    return path


def shape(path: Path) -> dict[str, list[tuple[str, str]]]:
    """The tables and indexes of ours, with their columns."""
    with contextlib.closing(sqlite3.connect(path)) as raw:
        names = raw.execute("SELECT name FROM sqlite_master WHERE name LIKE 'stateward%' ORDER BY name").fetchall()
        columns = "SELECT name, type FROM pragma_table_xinfo(?)"
        return {name: raw.execute(columns, (name,)).fetchall() for (name,) in names}


def test_an_older_layout_is_brought_up_to_this_release(tmp_path: Path) -> None:
    """What it holds stays, and afterwards it has the shape of a new one."""
    path = old(tmp_path)
    with open_database(url(tmp_path)) as database:
        (row,) = database.sessions.list()
        assert (row.id, row.status, row.wakes_at, row.mail) == ("s", "waiting", None, 0)
        assert database.mailbox.post("s", "go").no == 1
        assert len(database.audit.rows()) == 2
    open_database(f"sqlite:///{tmp_path / 'new.db'}").close()
    assert shape(path) == shape(tmp_path / "new.db")


def test_an_answer_of_an_older_layout_counts_as_given(tmp_path: Path) -> None:
    """Answers are kept one by one now; of those before the one that closed the ask is left."""
    path = old(tmp_path)
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute(
            "INSERT INTO stateward_asks VALUES ('ask_1', 's', 'r', 'main', 'A', 1, 1, 'approve', 'refund', '{}', 'f',"
            " 'why', '[]', 'answered', 1, NULL, 'approve', 'fine', 'ann', 2)"
        )
        raw.commit()
    with open_database(f"sqlite:///{path}") as database:
        found = database.asks.get("ask_1")
    assert (found.approvals, found.barred, [(one.by, one.note, one.at) for one in found.answers]) == (
        1,
        (),
        [("ann", "fine", 2.0)],
    )


def test_an_older_layout_is_brought_up_once(tmp_path: Path) -> None:
    """The second opening finds nothing to do."""
    path = old(tmp_path)
    open_database(url(tmp_path)).close()
    before = path.read_bytes()
    open_database(url(tmp_path)).close()
    assert path.read_bytes() == before


@pytest.mark.slow
def test_racing_openings_of_an_older_layout_all_succeed(tmp_path: Path) -> None:
    """One process migrates, the others wait for it and find the new layout."""
    old(tmp_path)
    with workers(4, name="setup", url=url(tmp_path)) as started:
        for worker in started:
            go(worker)
        assert [line(worker) for worker in started] == ["rows 1"] * 4


def test_a_nested_transaction_joins_the_outer_one(fresh: Fresh) -> None:
    """What the inner block wrote is rolled back with the outer one."""
    database = fresh()
    with contextlib.suppress(KeyError), database.transaction():
        database.audit.append({"event": "inner"})
        raise KeyError
    assert database.audit.rows() == ()


def test_a_swallowed_error_never_commits_half(fresh: Fresh) -> None:
    """An outer block that catches an inner error cannot commit, and is told."""
    database = fresh()

    def outer() -> None:
        with database.transaction():
            database.audit.append({"event": "outer"})
            with pytest.raises(UnknownAsk):
                database.asks.answer("none", decision="approve", by="ann")

    with pytest.raises(CheckpointError, match="rolled back"):
        outer()
    assert database.audit.rows() == ()
    database.audit.append({"event": "after"})
    assert len(database.audit.rows()) == 1


def test_the_store_is_langgraphs_and_keeps_look_alike_tenants_apart(tmp_path: Path) -> None:
    """`acme` does not find what belongs to `acme-corp`, in memory and in a file."""
    for place in ("memory:", url(tmp_path)):
        with open_database(place, clock=StillClock()) as database:
            database.store.put(("acme-corp",), "k", {"v": 1})
            assert database.store.search(("acme",)) == []
            assert database.store.search(("acme-corp",))[0].value == {"v": 1}


def test_the_store_of_a_file_is_there_again(tmp_path: Path) -> None:
    """Long-term memory survives with the file."""
    with open_database(url(tmp_path)) as first:
        first.store.put(("a",), "k", {"v": 1})
    with open_database(url(tmp_path)) as second:
        item = second.store.get(("a",), "k")
        assert item is not None
        assert item.value == {"v": 1}


@pytest.mark.slow
def test_racing_set_ups_all_succeed(tmp_path: Path) -> None:
    """Processes that open a new file at the same moment all find it ready."""
    with workers(4, name="setup", url=url(tmp_path)) as started:
        for worker in started:
            go(worker)
        assert [line(worker) for worker in started] == ["rows 0"] * 4
