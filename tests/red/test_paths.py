"""Attempts to leave the folder that a policy keeps a tool in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import stateward as sw
from stateward.run.container import Container
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.red.world import calling, ids, ruled

SECRET = "the secret"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A work directory with a folder that may be read, among things that may not."""
    work = Container(session="s1", root=tmp_path).folder
    (work / "out" / "deep").mkdir(parents=True)
    (work / "out-other").mkdir()
    (work / "Out").mkdir()
    (work / "out" / "good").write_text("good")
    for place in (tmp_path / "secret", work / "secret", work / "out-other" / "secret", work / "Out" / "secret"):
        place.write_text(SECRET)
    (work / "out" / "link").symlink_to(tmp_path / "secret")
    (work / "out" / "up").symlink_to("..")
    (work / "out" / "deep" / "chain").symlink_to("../up")
    (work / "out" / "round").symlink_to("round")
    (work / "out" / "%2e%2e").mkdir()
    return work


PATHS: dict[str, Any] = {
    "parent": "out/../secret",
    "parents": "out/../../secret",
    "parents beyond the root": "out/" + "../" * 40 + "etc/passwd",
    "parent of what is not there": "out/none/../../secret",
    "absolute": "{work}/secret",
    "absolute with parents": "{work}/out/../secret",
    "doubled slashes": "out//..//secret",
    "slashes before": "//{work}/secret",
    "dots": "out/./.././secret",
    "four dots": "out/..../secret/../../../secret",
    "sibling with the same beginning": "out-other/secret",
    "other case": "Out/secret",
    "the folder's parent": "out/..",
    "the work directory": ".",
    "symlink to a file": "out/link",
    "symlink to a folder": "out/up/secret",
    "symlink to a symlink": "out/deep/chain/secret",
    "symlink and parent": "out/up/../secret",
    "symlink to itself": "out/round/x",
    "percent": "out/%2e%2e/secret",
    "percent slash": "out/..%2fsecret",
    "percent capitals": "out/%2E%2E%2Fsecret",
    "percent twice": "out/%252e%252e%252fsecret/../../secret",
    "overlong UTF-8": "out/%c0%ae%c0%ae/secret/../../../secret",
    "NUL": "out/good\0/../secret",
    "NUL behind": "secret\0out/good",
    "line": "out/good\n../secret",
    "backslash": "out\\..\\secret",
    "backslash and slash": "out/..\\secret",
    "drive": "C:\\secret",
    "share": "\\\\host\\secret",
    "home": "~/secret",
    "home of another": "~root/secret",
    "file URL": "file://{work}/secret",
    "variable": "$HOME/../secret",
    "fullwidth dots": "out/\uff0e\uff0e/secret",
    "fullwidth slash": "out/..\uff0fsecret",
    "division slash": "out/..\u2215..\u2215secret/../../secret",
    "two dot leader": "out/\u2025/secret",
    "zero width": "out/.\u200b./secret",
    "blanks": "   ",
    "empty": "",
    "list with a bad one": ["out/good", "secret"],
    "object": {"path": "secret"},
    "number": 3,
    "bytes": b"secret",
    "very long": "out/" + "a/" * 5000 + "../" * 5001 + "secret",
}


@pytest.mark.parametrize("path", ids(PATHS))
def test_nothing_outside_of_the_folder_is_read(database: Database, home: Path, path: Any) -> None:
    """Only what is under `out` of the work directory may be read."""
    seen = _read(database, home, path)
    assert SECRET not in seen
    assert seen in ([], ["good"])


def test_control_what_is_inside_is_read(database: Database, home: Path) -> None:
    """So that the table proves something."""
    assert _read(database, home, "out/deep/../good") == ["good"]


def test_a_link_that_is_turned_after_the_decision_leads_nowhere_new(database: Database, home: Path) -> None:
    """The tool gets the place that was judged, not the name of the link."""
    (home / "out" / "turn").symlink_to("good")

    def turn() -> None:
        (home / "out" / "turn").unlink()
        (home / "out" / "turn").symlink_to(home / "secret")

    assert _read(database, home, "out/turn", before=turn) == ["good"]


def _read(database: Database, home: Path, path: Any, before: Callable[[], None] = lambda: None) -> list[str]:
    """Let a tool read a path under the policy, and return what it got to see."""
    seen: list[str] = []

    @sw.tool(effect="pure")
    async def read(path: Any, ctx: sw.ToolContext) -> str:
        """Read a file."""
        before()
        for each in cast("list[Any]", path) if isinstance(path, list) else [path]:
            seen.append((ctx.work / each).read_text())
        return "read"

    given = path.replace("{work}", str(home)) if isinstance(path, str) else path
    policy = ruled("read", named="path", argument={"under": "out"})
    graph = compiled(calling({"name": "read", "args": {"path": given}}), box=[read], policy=policy)
    session = sw.Session("s1", graph.attach(database), database, scratch=home.parent)
    Driven(session, how="async").start({})
    return seen
