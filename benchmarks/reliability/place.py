"""Where a proof keeps its databases and files, and the processes it forks its own from."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.crash.zygote import Zygote
from tests.postgres import Server

Kind = Literal["sqlite", "postgresql"]
KINDS: tuple[Kind, ...] = ("sqlite", "postgresql")
LABELS = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Fresh databases of one kind, and fresh folders."""

    kind: Kind
    folder: Path
    zygotes: tuple[Zygote, ...]
    """Two, shared by all proofs."""
    server: Server | None = None
    """The PostgreSQL server, for that kind."""
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def url(self) -> str:
        """Return the URL of a fresh database."""
        if self.kind == "sqlite":
            return f"sqlite:///{self.room() / 'proof.db'}"
        assert self.server is not None, "a place of this kind is made with its server"
        return self.server.url()

    def room(self) -> Path:
        """Return a fresh folder."""
        made = self.folder / f"room{next(self._numbers)}"
        made.mkdir(parents=True)
        return made
