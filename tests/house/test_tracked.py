"""Nothing in the repository depends on, or tells about, the machine it was written on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.house.source import ROOT, report, tracked

HOSTS = frozenset(
    {
        "127.0.0.1",
        "127.1",
        "github.com",
        "json-schema.org",
        "keepachangelog.com",
        "localhost",
        "semver.org",
        "www.w3.org",
    }
)
"""Hosts that may be named, besides those whose names end in `.example`; package registries are not among them."""

LOCK_FILES = frozenset({"uv.lock", "poetry.lock", "Pipfile.lock", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"})
"""Files in which tools write the address of the registry they asked."""


def test_no_file_names_a_strange_host() -> None:
    """Every address is a documentation page, this machine, or made up."""
    strange = {
        f"{path.relative_to(ROOT)}: {host}"
        for path, text in texts()
        for host in re.findall(r"https?://(?:[^\s/@\"']*@)?([A-Za-z0-9.-]+)", text)
        if host not in HOSTS and not host.rstrip(".").endswith(".example") and "." in host
    }
    assert not strange, report(strange)


def test_no_file_names_a_place_of_this_machine() -> None:
    """Neither the checkout's folder, nor the interpreter's, nor what pip was told about registries."""
    places = [word for word in {str(ROOT), sys.prefix, *told_to_pip()} if len(word) > len("/usr")]
    found = {f"{path.relative_to(ROOT)}: {word}" for path, text in texts() for word in places if word in text}
    assert not found, report(found)


def test_no_lock_file_is_kept() -> None:
    """Versions are in `constraints.txt`, without addresses."""
    assert [path.name for path in tracked() if path.name in LOCK_FILES] == []


def test_constraints_are_names_and_versions_only() -> None:
    """No address, option, hash or marker, and every name once."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    kept = [line for line in lines if line and line[0] != "#"]
    assert [line for line in kept if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line)] == []
    names = [line.partition("==")[0].lower().replace("_", "-") for line in kept]
    assert len(names) == len(set(names))


def told_to_pip() -> set[str]:
    """Return the hosts and folders in pip's configuration of this machine."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    told = " ".join((listed, *(value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_")))))
    hosts = re.findall(r"https?://(?:[^\s/@]*@)?([A-Za-z0-9.:-]+)", told)
    folders = re.findall(r"(?<![\w/:.])/[\w./-]+", told)
    return {*hosts, *(folder for folder in folders if len(Path(folder).parts) > 2)}


def texts() -> list[tuple[Path, str]]:
    """Return tracked files that are text, with their text."""
    found: list[tuple[Path, str]] = []
    for path in tracked():
        try:
            found.append((path, path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found
