"""A suite is used only if it is the one that was pinned."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

import pytest

from tests.conformance.fetch import Package, SuiteMissingError


def package(cache: Path, *, sha256: str = "", client: str = "no-such-client") -> Package:
    """Return a package whose archive lies in the cache."""
    return Package(archive="a.tgz", sha256=sha256, folder="a", client=client, arguments=("get",))


def archive(cache: Path) -> str:
    """Put an archive with one file into the cache; return its digest."""
    (cache / "file.txt").write_text("text")
    with tarfile.open(cache / "a.tgz", "w:gz") as tar:
        tar.add(cache / "file.txt", arcname="file.txt")
    return hashlib.sha256((cache / "a.tgz").read_bytes()).hexdigest()


def test_an_archive_with_the_pinned_digest_is_unpacked(tmp_path: Path) -> None:
    """What was fetched before is not fetched again."""
    folder = package(tmp_path, sha256=archive(tmp_path)).fetch(cache=tmp_path)
    assert (folder / "file.txt").read_text() == "text"


def test_an_archive_with_another_digest_is_refused(tmp_path: Path) -> None:
    """Nothing of it is unpacked, and the message says what to do."""
    archive(tmp_path)
    with pytest.raises(SuiteMissingError, match="delete it and fetch again"):
        package(tmp_path, sha256="0").fetch(cache=tmp_path)
    assert not (tmp_path / "a").exists()


def test_a_missing_client_is_named(tmp_path: Path) -> None:
    """Without the registry's client there is no suite."""
    with pytest.raises(SuiteMissingError, match="`no-such-client` is not installed"):
        package(tmp_path).fetch(cache=tmp_path)


def test_a_client_that_fails_is_told(tmp_path: Path) -> None:
    """What the client said is in the message."""
    with pytest.raises(SuiteMissingError, match=r"`pip get` failed: .*get"):
        package(tmp_path, client="pip").fetch(cache=tmp_path)
