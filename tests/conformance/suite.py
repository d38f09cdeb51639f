"""The SCION test framework, fetched with the npm client into a folder git ignores, and checked by digest."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGE = "@scion-scxml/test-framework"
VERSION = "2.0.16"
SHA256 = "b813071f5691c7a36bab65ba5ce5aae479933395177447a6609c110bc936622b"
CACHE = Path(__file__).parents[2] / ".cache" / "conformance"

SWAPPED = ("more-parallel/test10", "more-parallel/test10b")
"""Their default expectation takes a parallel state for a transition domain, against the W3C's algorithm and
against `more-parallel/test2`, 3 and 6; what they call `legacySemantics` is the W3C reading."""


class SuiteMissingError(Exception):
    """The suite could not be fetched, or is not the one that was pinned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test: a document, and what its configuration is after each event."""

    name: str
    document: Path
    script: dict[str, Any]
    features: frozenset[str]
    """Of: parallel, delay, script, w3c."""


def cases() -> list[Case]:
    """Return every test of the suite, fetching it if it is not there yet.

    Raises:
        SuiteMissingError: There is no npm, no network, or the digest is wrong.
    """
    folder = fetch() / "package" / "test"
    found = [path for path in sorted(folder.glob("*/*.scxml")) if path.with_suffix(".json").exists()]
    return [_case(path, folder=folder) for path in found]


def fetch() -> Path:
    """Return the folder of the unpacked suite.

    Raises:
        SuiteMissingError: There is no npm, no network, or the digest is wrong.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    archive = CACHE / f"scion-scxml-test-framework-{VERSION}.tgz"
    if not archive.exists():
        _pack()
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != SHA256:
        raise SuiteMissingError(f"{archive.name} has digest {digest}, expected {SHA256}: delete it and fetch again")
    unpacked = CACHE / VERSION
    if not unpacked.exists():
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked, filter="data")
    return unpacked


def _pack() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise SuiteMissingError("`npm` is not installed; the conformance suite comes from its registry")
    command = [npm, "pack", f"{PACKAGE}@{VERSION}", "--silent"]
    done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SuiteMissingError(f"`npm pack {PACKAGE}@{VERSION}` failed: {done.stderr.strip()}")


def _case(path: Path, *, folder: Path) -> Case:
    text = path.read_text()
    script: dict[str, Any] = json.loads(path.with_suffix(".json").read_text())
    features = {
        "parallel": "<parallel" in text,
        "delay": "delay" in text or any("after" in event for event in script.get("events", ())),
        "script": any(word in text for word in ("cond=", "<script", "<assign", "<data", "<foreach", "<param")),
        "w3c": path.parent.name == "w3c-ecma",
    }
    name = str(path.relative_to(folder).with_suffix("")).removesuffix(".txml")
    if name in SWAPPED:
        script = script["legacySemantics"]
    return Case(name=name, document=path, script=script, features=frozenset(k for k, v in features.items() if v))
