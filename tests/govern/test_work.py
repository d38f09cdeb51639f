"""Paths in the arguments of a call stay where a policy wants them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stateward.errors import DefinitionError
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.work import Work


def at(folder: Path) -> Work:
    """Make a work directory on the real file system."""
    return Work(folder=str(folder), resolve=os.path.realpath)


@pytest.mark.parametrize(
    "path", ["a.txt", "./a.txt", "sub/../a.txt", "sub/b/c.txt", ".", "ä b.txt", "..a", "...", "%20"]
)
def test_a_path_inside_passes(path: str, tmp_path: Path) -> None:
    """Also one that goes up and stays inside."""
    assert at(tmp_path).placed(path, under="").startswith(os.path.realpath(tmp_path))


@pytest.mark.parametrize(
    "path",
    [
        "../a.txt",
        "sub/../../a.txt",
        "/etc/passwd",
        "//etc/passwd",
        "~/a.txt",
        "~root/a.txt",
        " ~/a.txt",
        "..\\a.txt",
        "a\x00.txt",
        "a\n.txt",
        "a\u202etxt.exe",
        "․․/a.txt",
        "‥/a.txt",
        "．．／a.txt",
        "%2e%2e/a.txt",
        "..%2fa.txt",
        "",
        "  ",
        "\ud800",
    ],
)
def test_a_path_that_leaves_does_not(path: str, tmp_path: Path) -> None:
    """Whichever reader it is written for."""
    with pytest.raises(ValueError, match=r"it leaves|letters|backslash|begins|empty"):
        at(tmp_path / "desk").placed(path, under="")


def test_a_folder_that_begins_alike_is_another_one(tmp_path: Path) -> None:
    """`desk-evil` is not in `desk`."""
    with pytest.raises(ValueError, match="it leaves"):
        at(tmp_path / "desk").placed(str(tmp_path / "desk-evil" / "a"), under="")


def test_a_link_that_leaves_is_followed_and_refused(tmp_path: Path) -> None:
    """Of a file as of a folder, there or not."""
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "out").symlink_to(tmp_path)
    (tmp_path / "desk" / "gone").symlink_to(tmp_path / "not-there")
    for path in ("out", "out/a.txt", "out/desk/../a.txt", "gone"):
        with pytest.raises(ValueError, match="it leaves"):
            at(tmp_path / "desk").placed(path, under="")


def test_a_link_that_stays_inside_leads_to_what_it_names(tmp_path: Path) -> None:
    """The path that the tool gets has no links left."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert at(tmp_path).placed("link/a", under="") == os.path.realpath(tmp_path / "real" / "a")


def test_a_folder_of_a_policy_is_in_the_work_directory_or_absolute(tmp_path: Path) -> None:
    """And the path is relative to the work directory all the same."""
    work = at(tmp_path / "desk")
    assert work.placed("notes/a", under="notes").endswith("/desk/notes/a")
    assert work.placed(str(tmp_path / "kb" / "a"), under=str(tmp_path / "kb")).endswith("/kb/a")
    with pytest.raises(ValueError, match="it leaves"):
        work.placed("a", under="notes")


@pytest.mark.parametrize("under", ["~/x", "../x", "a\\b", "a\x00"])
def test_a_folder_that_nobody_would_find_is_refused_where_it_is_written(under: str) -> None:
    """Nothing expands `~`."""
    with pytest.raises(DefinitionError, match="a folder"):
        ArgumentRule(name="path", under=under)
