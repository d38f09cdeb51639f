"""The tests of both suites: a document each, and what is expected of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.conformance.fetch import NPM, SDIST

Group = Literal[
    "SCION structure",
    "SCION delayed send",
    "SCION with expressions",
    "npm W3C without script",
    "npm W3C with expressions",
    "npm W3C with invoke",
    "sdist W3C mandatory",
    "sdist W3C optional",
]

SWAPPED = ("more-parallel/test10", "more-parallel/test10b")
"""Their default expectation takes a parallel state for a transition domain, against the W3C's algorithm and
against `more-parallel/test2`, 3 and 6; what they call `legacySemantics` is the W3C reading."""

_EXPRESSIONS = re.compile(
    r"""\s(cond|expr|location|array|\w+expr|namelist|idlocation)\s*=|<(\w+:)?(script|data|assign)\b"""
)


@dataclass(frozen=True, slots=True)
class Beat:
    """One event a test sends, and the states it then expects."""

    event: str
    after_s: float
    """How much time passes before."""
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test."""

    name: str
    """Its suite and its path in it."""
    group: Group
    document: Path
    initial: tuple[str, ...] | None
    """The innermost states expected after the start; None for a test that has to end in the state `pass`."""
    beats: tuple[Beat, ...] = ()

    @property
    def suite(self) -> str:
        """The suite it belongs to: `npm` or `sdist`."""
        return self.name.split("/")[0]


def npm_cases() -> list[Case]:
    """Return the tests of the npm package.

    Raises:
        SuiteMissingError: It could not be fetched.
    """
    folder = NPM.fetch() / "package" / "test"
    found = [path for path in sorted(folder.glob("*/*.scxml")) if path.with_suffix(".json").exists()]
    return [_npm_case(path, folder=folder) for path in found]


def sdist_cases() -> list[Case]:
    """Return the tests of the source distribution; documents that others invoke are no tests.

    Raises:
        SuiteMissingError: It could not be fetched.
    """
    folder = next(SDIST.fetch().glob("*/tests/scxml/w3c"))
    return list(_sdist_cases(folder))


def _sdist_cases(folder: Path) -> Iterator[Case]:
    groups: tuple[tuple[str, Group], ...] = (
        ("mandatory", "sdist W3C mandatory"),
        ("optional", "sdist W3C optional"),
    )
    for part, group in groups:
        for path in sorted((folder / part).glob("*.scxml")):
            if "sub" not in path.stem:
                yield Case(name=f"sdist/{part}/{path.stem}", group=group, document=path, initial=None)


def _npm_case(path: Path, *, folder: Path) -> Case:
    script: dict[str, Any] = json.loads(path.with_suffix(".json").read_text())
    name = str(path.relative_to(folder).with_suffix("")).removesuffix(".txml")
    if name in SWAPPED:
        script = script["legacySemantics"]
    return Case(
        name=f"npm/{name}",
        group=_group(path, script),
        document=path,
        initial=tuple(script["initialConfiguration"]),
        beats=tuple(_beat(each) for each in script.get("events", ())),
    )


def _beat(told: dict[str, Any]) -> Beat:
    return Beat(told["event"]["name"], told.get("after", 0) / 1000, tuple(told["nextConfiguration"]))


def _group(path: Path, script: dict[str, Any]) -> Group:
    text = re.sub(r"<(\w+:)?log\b[^>]*>|<!--.*?-->", "", path.read_text(), flags=re.DOTALL)
    has_script = _EXPRESSIONS.search(text) is not None
    if path.parent.name == "w3c-ecma":
        if "<invoke" in text:
            return "npm W3C with invoke"
        return "npm W3C with expressions" if has_script else "npm W3C without script"
    if has_script:
        return "SCION with expressions"
    delayed = "delay" in text or any("after" in event for event in script.get("events", ()))
    return "SCION delayed send" if delayed else "SCION structure"
