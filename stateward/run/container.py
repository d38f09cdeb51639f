"""What belongs to one session: passed in for the length of a call, never kept on a graph or an agent.

One graph serves many sessions at once; what each of them brings travels in the config of its own call, beside its
invocation, and reaches activities as `run.session`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stateward.errors import CheckpointError
from stateward.run.door.role import ModelRole

KEY = "__stateward_container"
"""The configurable key. Two underscores: LangGraph keeps such keys out of checkpoint metadata."""
_READABLE = 32
"""How much of a session's id is seen in the name of its folder, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What one session brings with it."""

    session: str
    tenant: str = ""
    staged: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Name to content that the caller has put ready; it is read, and never committed."""
    models: Mapping[str, ModelRole] = field(default_factory=dict[str, ModelRole])
    """Role to the model that stands in for the graph's."""
    root: Path | None = None
    """Where scratch folders are; None for the system's temporary folder."""

    @property
    def folder(self) -> Path:
        """Where the session's scratch folder is, or would be: look-alike ids and other tenants' have another."""
        name = hashlib.sha256(f"{self.tenant}\0{self.session}".encode(errors="surrogatepass")).hexdigest()[:24]
        seen = "".join(letter if letter.isalnum() else "_" for letter in self.session[:_READABLE])
        return (self.root or _own_folder()) / f"{seen}-{name}"

    def scratch(self) -> Path:
        """Return the session's scratch folder, made at its first use.

        Raises:
            CheckpointError: It cannot be made, or belongs to another user.
        """
        folder = self.folder
        try:
            if self.root is None:
                _make_private(folder.parent)
            _make_private(folder)
        except OSError as error:
            raise CheckpointError(
                f"The scratch folder cannot be made: {error.strerror}",
                where=str(folder),
                fix="Name another with `Session(…, scratch=FOLDER)`.",
            ) from error
        return folder

    def clean_up(self) -> None:
        """Remove the session's scratch folder with what is in it, if there is one."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Owned(str):
    """A session as its activities see it: its id, and what belongs to it.

    It is the id, wherever a text is wanted.
    """

    __slots__ = ("_container",)
    _container: Container

    @classmethod
    def of(cls, container: Container) -> Owned:
        """Make the view.

        Args:
            container: What belongs to the session.
        """
        made = cls(container.session)
        made._container = container
        return made

    @property
    def id(self) -> str:
        """The session's id, as plain text."""
        return self._container.session

    @property
    def tenant(self) -> str:
        """Whose session it is; empty when nobody said."""
        return self._container.tenant

    @property
    def scratch(self) -> Path:
        """A folder of the session's own, made at its first use and removed when its run is completed or cancelled."""
        return self._container.scratch()

    @property
    def staged(self) -> Mapping[str, Any]:
        """Content that the caller has put ready, by name."""
        return MappingProxyType(self._container.staged)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Copied or pickled it is the id: what belongs to a session does not travel with its name."""
        return str, (str(self),)


def _own_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"stateward-{os.getuid() if hasattr(os, 'getuid') else 'scratch'}"


def _make_private(folder: Path) -> None:
    """Make a folder that only this user can look into: the temporary folder is everybody's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink() or (hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()):
        raise PermissionError(0, "it belongs to another user")
