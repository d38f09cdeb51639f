"""The file a session travels in: a zip of a manifest and of JSON lines, with a digest over the lines.

| line | keys |
|---|---|
| `checkpoint` | `namespace`, `id`, `parent`, `metadata`, `data`: a LangGraph checkpoint with its values |
| `write` | `namespace`, `checkpoint`, `task`, `path`, `no`, `channel`, `kind`, `data` |
| `row` | `table`, `values`: a row of one of Stateward's tables, by column |
| `audit` | `record`: a record of the audit log, in order |
| `definition` | `hash`, `kind`, `text`: what a hash stands for that a run is pinned to; since version 2 |

`data` is LangGraph's msgpack in base64. Nothing in the file says which database it came from.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from stateward.errors import CheckpointError, CodecError
from stateward.run.checkpoint import Json

FORMAT = "stateward-session"
VERSION = 2
"""The version of the file this release writes; it reads no newer one."""
_MANIFEST, _LINES = "manifest.json", "session.jsonl"
_FIELDS = {"session": str, "digest": str, "checkpoints": int, "layout": int, "version": int}
_BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(KeyError, ValueError, RuntimeError),  # no such file, no JSON or no text, an encrypted file
    OverflowError,  # a place that none is
)
"""What `zipfile` raises on damaged files; `NotImplementedError`, of a compression that none is, is a `RuntimeError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a file says about itself."""

    session: str
    digest: str
    """SHA-256 of the lines, in hex."""
    checkpoints: int
    layout: int
    """The layout of Stateward's tables whose rows are in it."""
    version: int = VERSION


def write_archive(path: Path, lines: Sequence[Json], *, session: str, layout: int) -> Manifest:
    """Write a file; nothing is left of it when that fails.

    Args:
        path: The file; it must not be there.
        lines: What it holds.
        session: The session's id.
        layout: The layout of the tables.

    Returns:
        What the file says about itself.

    Raises:
        CheckpointError: The file is there, or cannot be written.
    """
    data = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines).encode()
    count = sum(line["line"] == "checkpoint" for line in lines)
    manifest = Manifest(session=session, digest=hashlib.sha256(data).hexdigest(), checkpoints=count, layout=layout)
    try:
        with path.open("xb") as file:
            try:
                _fill(zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED), manifest=manifest, data=data)
            except BaseException:
                path.unlink()
                raise
    except OSError as error:
        raise CheckpointError(
            f"The file cannot be written: {error.strerror or error}",
            where=f"`{path}`",
            fix="Name a new file in a folder that can be written.",
        ) from error
    return manifest


def _fill(archive: zipfile.ZipFile, *, manifest: Manifest, data: bytes) -> None:
    with archive:
        archive.writestr(_MANIFEST, json.dumps({"format": FORMAT, **asdict(manifest)}, indent=2) + "\n")
        archive.writestr(_LINES, data)


def read_archive(path: Path, *, layout: int) -> tuple[Manifest, Sequence[Json]]:
    """Read a file and check that it is whole.

    Args:
        path: The file.
        layout: The newest layout of the tables that can be read.

    Returns:
        What it says about itself, and its lines.

    Raises:
        CheckpointError: The file cannot be read, is no such file, or was changed or cut short.
        CodecError: A newer release wrote it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            said, data = json.loads(archive.read(_MANIFEST)), archive.read(_LINES)
    except OSError as error:
        raise CheckpointError(
            f"The file cannot be read: {error.strerror or error}", where=f"`{path}`", fix="Check its name."
        ) from error
    except _BROKEN as broken:
        raise _damaged(path, f"{broken}") from broken
    manifest = _manifest(path, said, layout=layout)
    if hashlib.sha256(data).hexdigest() != manifest.digest:
        raise _damaged(path, "its lines do not fit the digest")
    return manifest, _parsed(path, data)


def _parsed(path: Path, data: bytes) -> list[Json]:
    try:
        # Not `splitlines`: a text may hold one of the other characters that end a line.
        found = [json.loads(line) for line in data.decode().split("\n") if line]
    except ValueError as broken:
        raise _damaged(path, f"{broken}") from broken
    if not all(isinstance(line, dict) and isinstance(line.get("line"), str) for line in found):
        raise _damaged(path, "a line of it says nothing")
    return found


def _manifest(path: Path, said: object, *, layout: int) -> Manifest:
    given = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    if given.pop("format", None) != FORMAT:
        raise _damaged(path, "it names no session")
    version = given.get("version")
    if not isinstance(version, int) or version > VERSION or _number(given.get("layout")) > layout:
        raise CodecError(
            f"The file has version `{version}` and tables of layout `{given.get('layout')}`, this release reads up to"
            f" `{VERSION}` and `{layout}`",
            where=f"`{path}`",
            fix="Restore it with the release that wrote it, or a newer one.",
        )
    odd = [name for name, kind in _FIELDS.items() if type(given.get(name)) is not kind]
    odd += sorted(given.keys() - _FIELDS.keys())
    if odd:
        raise _damaged(path, f"its manifest says something odd of {', '.join(f'`{name}`' for name in odd)}")
    return Manifest(**given)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _damaged(path: Path, why: str) -> CheckpointError:
    return CheckpointError(
        f"The file is no archive of a session, or is damaged: {why}",
        where=f"`{path}`",
        fix="Make it again with `stateward archive`, or take another copy.",
    )
