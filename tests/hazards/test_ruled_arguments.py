"""What a policy rules of arguments holds at the door, whatever a model, an agent or a person writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.policy import Policy, Rule, ToolPolicy
from stateward.replay import replay
from stateward.run.door.tool import Tool
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]


@pytest.fixture
def opened() -> list[str]:
    """What the tool was given."""
    return []


def writer(opened: list[str]) -> Tool:
    """A tool that says which file it was to write."""

    @sw.tool(effect="once")
    def write(path: str, url: str = "") -> str:
        """Write a file."""
        opened.append(path)
        return "written"

    return write


def governed(opened: list[str], how: str, *, path: str, url: str = "", under: str = "") -> Any:
    """A chart that writes one file."""

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("write", path=path, url=url)).status, run.session.scratch]}

    def do_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
        return {"log": [run.tool("write", path=path, url=url).status, run.session.scratch]}

    rules = (
        ArgumentRule(name="path", under=under),
        ArgumentRule(name="url", pattern="|https:.*", max_length=40),
    )
    rule = Rule(match="write", level="allowed", arguments=rules)
    policy = Policy(name="p", tools=ToolPolicy(rules=(rule,)))
    return compiled(do if how == "async" else do_sync, box=[writer(opened)], policy=policy)


def test_a_tool_is_given_the_path_that_was_checked(drive: Drive, opened: list[str], how: str) -> None:
    """Absolute and without links, so that it cannot be read from another folder."""
    driven = drive(governed(opened, how, path="notes/../a.txt"))
    status, scratch = driven.start({"text": "x"}).values["log"]
    assert (status, opened) == ("ok", [str(Path(scratch).resolve() / "a.txt")])


@pytest.mark.parametrize("path", ["../a.txt", "/etc/passwd", "~/a.txt", "a\\..\\..\\b", "․․/a", "%2e%2e/a"])
def test_a_path_out_of_the_work_directory_is_refused(drive: Drive, opened: list[str], how: str, path: str) -> None:
    """Before anything is touched."""
    driven = drive(governed(opened, how, path=path))
    assert driven.start({"text": "x"}).values["log"][0] == "denied"
    assert opened == []
    told = [row.record for row in driven.session.database.audit.rows("s1") if row.record["event"] == "denied"]
    assert "argument `path` of tool `write` must be a path under the work directory" in told[0]["reason"]


def test_a_link_out_of_the_folder_is_refused(drive: Drive, opened: list[str], how: str, tmp_path: Path) -> None:
    """Links are followed when the call is decided."""
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "out").symlink_to("/etc")
    driven = drive(governed(opened, how, path=f"{tmp_path}/kb/out/passwd", under=f"{tmp_path}/kb"))
    assert driven.start({"text": "x"}).values["log"][0] == "denied"
    assert opened == []


def test_a_denial_for_an_argument_plays_again(drive: Drive, opened: list[str], how: str) -> None:
    """The record and the replay come to the same."""
    driven = drive(governed(opened, how, path="../a.txt"))
    driven.start({"text": "x"})
    (played,) = replay(driven.session)
    assert played.divergence is None
