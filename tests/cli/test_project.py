"""A new project: whole or not at all, and only under a name that its modules can have."""

from __future__ import annotations

import json
import os
import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from stateward.cli import project
from stateward.cli.project import MOST_LETTERS, PARTS, TEMPLATES, make_project, origin
from stateward.errors import DefinitionError, NotExpected


@pytest.fixture
def told_by_pip(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What pip recorded of the installation; empty for nothing."""
    record: dict[str, object] = {}
    installed = SimpleNamespace(version="0.4.2", read_text=lambda _: json.dumps(record) if record else None)
    monkeypatch.setattr(project, "distribution", lambda _: installed)
    return record


@pytest.mark.parametrize("template", TEMPLATES)
def test_no_blank_is_left_in_a_project(template: str, tmp_path: Path) -> None:
    """Names of files and their texts are filled in."""
    made = make_project("claims", template=template, parent=tmp_path)
    texts = [each + (made.folder / each).read_text(encoding="utf-8") for each in made.files]
    assert [text for text in texts if re.search(r"@[A-Z]+@", text)] == []


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_project_has_the_house_layout(template: str, tmp_path: Path) -> None:
    """Charts, nodes, policies, configuration, prompts, samples, tests and notebooks, and what runs and checks them."""
    made = make_project("claims", template=template, parent=tmp_path)
    folders = {"/".join(file.split("/")[:-1]) for file in made.files}
    assert {"graphs", "nodes/claims", "nodes/claims/prompts", "policies", "configs", "samples"} <= folders
    assert {"tests/graphs", "tests/nodes/claims", "notebooks", ".ci", ""} <= folders
    here = {file for file in made.files if "/" not in file}
    assert here == {".env.example", ".gitignore", "Makefile", "README.md", "langgraph.json", "pyproject.toml"}
    assert os.access(made.folder / ".ci" / "run", os.X_OK)


def test_what_is_listed_is_what_is_there(tmp_path: Path) -> None:
    """And nothing else is, neither in the folder nor beside it."""
    made = make_project("claims", template="desk", parent=tmp_path)
    there = [path.relative_to(made.folder).as_posix() for path in made.folder.rglob("*") if path.is_file()]
    assert sorted(there) == list(made.files)
    assert list(tmp_path.iterdir()) == [made.folder]


def test_the_folder_is_as_open_as_any(tmp_path: Path) -> None:
    """It was made in a folder that only its owner may read."""
    (tmp_path / "other").mkdir()
    made = make_project("claims", template="desk", parent=tmp_path)
    assert made.folder.stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("name", ["my-agent", "Agent", "2nd", "_x", "", "a b", "class", "a/b", "..", "ä", "a" * 41])
def test_a_name_that_modules_cannot_have_is_refused(name: str, tmp_path: Path) -> None:
    """Before anything is made."""
    with pytest.raises(DefinitionError, match="is no name for a project"):
        make_project(name, template="react", parent=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "better"),
    [("my-agent", "my_agent"), ("Claims Desk", "claims_desk"), ("class", "class_agent"), ("2nd", "my_agent")],
)
def test_a_wrong_name_is_answered_with_a_right_one(name: str, better: str, tmp_path: Path) -> None:
    """As near to it as can be."""
    with pytest.raises(DefinitionError) as refused:
        make_project(name, template="react", parent=tmp_path)
    assert f"Such as `{better}`." in refused.value.fix


def test_an_unknown_template_is_answered_with_those_there_are(tmp_path: Path) -> None:
    """Each with what it is."""
    with pytest.raises(DefinitionError) as refused:
        make_project("claims", template="swarm", parent=tmp_path)
    assert all(f"`{name}`, {what}" in refused.value.fix for name, what in TEMPLATES.items())


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    """One file is enough, a hidden one too."""
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / ".keep").touch()
    with pytest.raises(NotExpected, match="something is in it"):
        make_project("claims", template="desk", parent=tmp_path)
    assert [path.name for path in (tmp_path / "claims").iterdir()] == [".keep"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    """Somebody made it first, perhaps."""
    (tmp_path / "claims").mkdir()
    assert (make_project("claims", template="desk", parent=tmp_path).folder / "Makefile").is_file()


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to(path.parent / "elsewhere")])
def test_what_is_no_folder_is_left_alone(make: object, tmp_path: Path) -> None:
    """A file, or a link to what may be anywhere."""
    make(tmp_path / "claims")  # pyright: ignore[reportCallIssue]
    with pytest.raises(NotExpected, match="There is a file of this name"):
        make_project("claims", template="desk", parent=tmp_path)


def test_nothing_is_left_of_a_project_that_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full at the third file."""
    written: list[Path] = []
    write_text = Path.write_text

    def full(path: Path, *args: str, **kwargs: str) -> int:
        written.append(path)
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        return write_text(path, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(DefinitionError, match="No space left on device"):
        make_project("claims", template="desk", parent=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_filled_meanwhile_keeps_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that make the same project at once do not mix their files."""
    monkeypatch.setattr(project, "_refuse_folder", lambda _: None)
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "mine").touch()
    with pytest.raises(DefinitionError, match="cannot be written"):
        make_project("claims", template="desk", parent=tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["claims", "mine"]


def test_the_source_of_an_editable_installation_is_its_folder(told_by_pip: dict[str, object], tmp_path: Path) -> None:
    """So that the project gets the Stateward that made it."""
    told_by_pip.update(url=tmp_path.as_uri(), dir_info={"editable": True})
    assert origin() == str(tmp_path)


@pytest.mark.parametrize(
    ("record", "installed"),
    [
        ({}, "stateward"),
        ({"url": "file:///no/such/folder", "dir_info": {}}, "stateward"),
        ({"url": "https://dist.example/s.whl", "archive_info": {}}, "stateward @ https://dist.example/s.whl"),
        (
            {"url": "https://git.example/s.git", "vcs_info": {"vcs": "git", "commit_id": "a1b2"}},
            "stateward @ git+https://git.example/s.git@a1b2",
        ),
    ],
)
def test_another_installation_is_told_as_pip_takes_it(
    told_by_pip: dict[str, object], record: dict[str, object], installed: str
) -> None:
    """From an index, from a folder that is gone, from an address, from a repository."""
    told_by_pip.update(record)
    assert origin() == installed


def test_what_runs_from_its_source_alone_is_found_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was installed: the folder is on the path."""

    def missing(_: str) -> object:
        raise PackageNotFoundError

    monkeypatch.setattr(project, "distribution", missing)
    assert origin() == str(Path(project.__file__).parents[2])


def test_a_project_bounds_stateward_by_the_version_that_made_it(told_by_pip: dict[str, object], tmp_path: Path) -> None:
    """Below 1 a minor version may break."""
    made = make_project("claims", template="desk", parent=tmp_path)
    assert '"stateward>=0.4,<0.5",' in (made.folder / "pyproject.toml").read_text()


def test_signs_that_make_reads_are_written_for_it(told_by_pip: dict[str, object], tmp_path: Path) -> None:
    """A folder may have any name."""
    source = tmp_path / "a $b #c"
    source.mkdir()
    told_by_pip.update(url=source.as_uri(), dir_info={})
    made = make_project("claims", template="desk", parent=tmp_path)
    assert rf"STATEWARD ?= {tmp_path}/a $$b \#c" in (made.folder / "Makefile").read_text()


def test_every_folder_of_templates_is_used() -> None:
    """And every template has one."""
    home = Path(project.__file__).parents[1] / "templates"
    used = {"common", *TEMPLATES, *(part for parts in PARTS.values() for part in parts)}
    assert {folder.name for folder in home.iterdir() if folder.is_dir()} == used
    assert PARTS.keys() == TEMPLATES.keys()
    assert MOST_LETTERS == 40
