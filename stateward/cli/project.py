"""A new project: the files of a template with its names filled in, in their folder whole or not at all."""

from __future__ import annotations

import json
import keyword
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import stateward
from stateward.errors import DefinitionError, NotExpected

PACKAGE = "stateward"
TEMPLATES: Mapping[str, str] = {
    "react": "one agent that reasons, calls tools, and answers",
    "team": "a supervisor that hands tasks to two members",
    "desk": "an intake, work, a gate, an approval and a reply",
}
"""Name to what it is."""

PARTS: Mapping[str, Sequence[str]] = {"react": ("notes",), "team": ("notes",), "desk": ()}
"""Folders with files that several templates share."""

COMMON = "common"
"""The folder whose files every project gets."""

SUFFIX = ".tmpl"
"""What template files end with, so that no tool takes them for what they become."""

HIDDEN = "dot_"
"""What stands for a dot in front, which wheels and version control treat in ways of their own."""

MOST_LETTERS = 40
_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{MOST_LETTERS - 1}}}")
_BLANK = re.compile(r"@([A-Z]+)@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project that was made."""

    name: str
    template: str
    folder: Path
    files: tuple[str, ...]
    """Relative to the folder, with forward slashes, sorted."""


def make_project(name: str, *, template: str, parent: Path) -> Project:
    """Make a project in a folder of its own, which appears when all of it is written.

    Args:
        name: Of the folder, the chart and its modules.
        template: One of `TEMPLATES`.
        parent: The folder that the new one is made in.

    Returns:
        What was made.

    Raises:
        DefinitionError: The name or the template is none, or the folder cannot be written.
        NotExpected: There is something in the folder already.
    """
    _refuse_name(name)
    _refuse_template(template)
    folder = parent / name
    _refuse_folder(folder)
    filled = dict(_filled(template, blanks={"NAME": name, "BOUND": _bound(), "STATEWARD": _for_make(origin())}))
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=f".{name}-") as beside:
            whole = Path(beside) / name  # the folder around it is nobody else's to read; this one is as any folder
            for place, text in filled.items():
                _write(whole / place, text)
            # Where the folder was made and filled meanwhile this fails, and what is there stays.
            whole.replace(folder)
    except OSError as error:
        raise DefinitionError(
            f"The project cannot be written: {error.strerror or error}",
            where=str(folder),
            fix="Nothing was left there. Go to a folder that you may write in.",
        ) from error
    return Project(name=name, template=template, folder=folder, files=tuple(sorted(filled)))


def origin() -> str:
    """Say what pip installs to get the Stateward that runs.

    Returns:
        The folder of its source, the address or file it was installed from, or its name: then an index had it.
    """
    try:
        recorded = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        source = Path(stateward.__file__).parents[1]
        return str(source) if (source / "pyproject.toml").is_file() else PACKAGE
    return _installed_from(json.loads(recorded)) if recorded else PACKAGE


def _installed_from(recorded: Mapping[str, Any]) -> str:
    """Read the record of PEP 610."""
    url = str(recorded["url"])
    if "vcs_info" in recorded:
        return f"{PACKAGE} @ {recorded['vcs_info']['vcs']}+{url}@{recorded['vcs_info']['commit_id']}"
    place = urlsplit(url)
    if place.scheme != "file":
        return f"{PACKAGE} @ {url}"
    path = url2pathname(place.path)
    return path if Path(path).exists() else PACKAGE


def _bound() -> str:
    """Bound Stateward as it is bound by itself: a version below 1 may break with each minor one."""
    try:
        major, minor = distribution(PACKAGE).version.split(".")[:2]
    except PackageNotFoundError:
        return PACKAGE
    return f"{PACKAGE}>={major}.{minor},<" + (f"0.{int(minor) + 1}" if major == "0" else f"{int(major) + 1}")


def _for_make(text: str) -> str:
    """Write a text as the value of a variable in a Makefile."""
    return text.replace("$", "$$").replace("#", r"\#")


def _refuse_name(name: str) -> None:
    if _NAME.fullmatch(name) and not keyword.iskeyword(name):
        return
    better = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:MOST_LETTERS]
    if keyword.iskeyword(better):
        better += "_agent"
    example = better if _NAME.fullmatch(better) else "my_agent"
    raise DefinitionError(
        f"`{name}` is no name for a project",
        where="stateward new NAME",
        fix=f"It names Python modules: small letters, digits and `_`, a letter first, at most {MOST_LETTERS}, no"
        f" keyword. Such as `{example}`.",
    )


def _refuse_template(template: str) -> None:
    if template not in TEMPLATES:
        known = "; ".join(f"`{name}`, {what}" for name, what in TEMPLATES.items())
        raise DefinitionError(f"No template is called `{template}`", where="--template", fix=f"There are: {known}.")


def _refuse_folder(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise NotExpected("There is a file of this name", where=str(folder), fix="Take another name, or move it.")
    try:
        is_full = folder.exists() and any(folder.iterdir())
    except OSError as error:
        what = f"The folder cannot be read: {error.strerror}"
        raise DefinitionError(what, where=str(folder), fix="Name another place with `--in`.") from error
    if is_full:
        raise NotExpected(
            "There is such a folder, and something is in it", where=str(folder), fix="Take another name, or empty it."
        )


def _filled(template: str, *, blanks: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield place and text of each file of a project."""

    def fill(text: str) -> str:
        return _BLANK.sub(lambda blank: blanks[blank[1]], text)

    home = files(stateward) / "templates"
    for part in (COMMON, *PARTS[template], template):
        for place, file in _below(home / part):
            yield fill(place), fill(file.read_text(encoding="utf-8"))


def _below(folder: Traversable, *, way: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the template files below a folder, with the places that they become."""
    for each in folder.iterdir():
        name = "." + each.name.removeprefix(HIDDEN) if each.name.startswith(HIDDEN) else each.name
        if each.is_dir():
            yield from _below(each, way=f"{way}{name}/")
        elif name.endswith(SUFFIX):
            yield way + name.removesuffix(SUFFIX), each


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    if text.startswith("#!"):
        path.chmod(path.stat().st_mode | 0o111)
