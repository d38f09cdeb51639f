"""What belongs to a session: it reaches its own activities, and no other's."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import CheckpointError, InputRefused
from stateward.run.container import Container, Owned
from stateward.run.store.database import Database
from tests.charts.one import compiled
from tests.charts.waiting import waiting


def test_activity_reads_what_was_staged(start: Any, database: Database) -> None:
    """And the tenant; the session is still its id wherever a text is wanted."""

    def act(state: Any, run: sw.SyncRun[Any]) -> dict[str, Any]:
        return {"log": [run.session, run.session.id, run.session.tenant, run.session.staged["letter"]]}

    session = sw.Session("s1", compiled(act), database, tenant="acme", staged={"letter": "Dear"})
    assert start(session).values["log"] == ["s1", "s1", "acme", "Dear"]


def test_scratch_folder_is_made_at_first_use_and_removed_with_the_run(
    start: Any, database: Database, tmp_path: Path
) -> None:
    """Completed, nobody looks at it any more."""
    seen: list[tuple[Path, bool]] = []

    def act(state: Any, run: sw.SyncRun[Any]) -> None:
        (run.session.scratch / "note").write_text("x")
        seen.append((run.session.scratch, run.session.scratch.is_dir()))

    start(sw.Session("s1", compiled(act), database, scratch=tmp_path / "scratch"))
    (folder, was_there), *_ = seen
    assert (was_there, folder.parent, folder.exists()) == (True, tmp_path / "scratch", False)


def test_scratch_folder_is_kept_while_the_run_waits(start: Any, database: Database, tmp_path: Path) -> None:
    """What it holds is still wanted; a cancelled run wants it no longer."""

    def act(state: Any, run: sw.SyncRun[Any]) -> None:
        (run.session.scratch / "note").write_text("x")
        raise RuntimeError("help")

    session = sw.Session("s1", compiled(act, handles=["error"]), database, scratch=tmp_path)
    assert (start(session).status, len(list(tmp_path.glob("*/note")))) == ("waiting", 1)
    session.cancel(by="ann")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [(("a/b", ""), ("a_b", "")), (("s", "acme"), ("s", "acme-corp")), (("x" * 40, ""), ("x" * 41, ""))],
)
def test_look_alike_sessions_have_folders_of_their_own(one: Any, other: Any, tmp_path: Path) -> None:
    """Nor does an id lead out of the root."""
    folders = [Container(session=session, tenant=tenant, root=tmp_path).folder for session, tenant in (one, other)]
    assert folders[0] != folders[1]
    assert {folder.parent for folder in folders} == {tmp_path}


def test_scratch_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    """With what to do."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="scratch"):
        Container(session="s1", root=tmp_path / "file").scratch()


def test_two_sessions_at_once_see_only_their_own(database: Database, tmp_path: Path) -> None:
    """On one graph; nothing is kept on it."""
    both = asyncio.Barrier(2)

    async def act(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
        await both.wait()
        (run.session.scratch / "who").write_text(run.session)
        await both.wait()
        return {"log": [run.session.staged["who"], run.session.tenant, (run.session.scratch / "who").read_text()]}

    graph = compiled(act, handles=["error"])

    async def main() -> list[Any]:
        sessions = [
            sw.Session(name, graph, database, tenant=f"t-{name}", staged={"who": name}, scratch=tmp_path)
            for name in ("a", "b")
        ]
        return [outcome.values["log"] for outcome in await asyncio.gather(*[each.astart({}) for each in sessions])]

    assert asyncio.run(main()) == [["a", "t-a", "a"], ["b", "t-b", "b"]]


def test_view_of_a_session_travels_as_its_id() -> None:
    """What belongs to it stays where it is."""
    copied = pickle.loads(pickle.dumps(Owned.of(Container(session="s1"))))
    assert (copied, type(copied)) == ("s1", str)


def test_deadline_of_a_session_holds_for_its_calls(start: Any, database: Database) -> None:
    """An activity sees how much is left."""
    left: list[float | None] = []

    def act(state: Any, run: sw.SyncRun[Any]) -> None:
        left.append(run.deadline)

    start(sw.Session("s1", compiled(act), database, deadline_s=60.0))
    start(sw.Session("s2", compiled(act), database))
    assert (0 < (left[0] or 0) <= 60.0, left[1]) == (True, None)


def test_deadline_of_no_time_is_refused(database: Database) -> None:
    """When the session is made."""
    with pytest.raises(InputRefused, match="deadline"):
        sw.Session("s1", waiting().compile(), database, deadline_s=0)
