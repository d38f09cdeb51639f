"""An activation: one entry into a state, to which calls belong."""

from __future__ import annotations

import os.path
from dataclasses import dataclass
from pathlib import Path

from stateward.govern.work import Work
from stateward.run.container import Container
from stateward.run.door.tool import ToolContext
from stateward.run.store.entry import CallKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """One entry into a state: where its calls belong."""

    session: str
    run: str
    branch: str
    path: str
    number: int
    tenant: str = ""
    container: Container | None = None
    """What belongs to the session; None for one that has brought nothing."""

    @property
    def folder(self) -> Path:
        """The session's own folder, which may not be there yet; blocking: the first look asks the file system."""
        return self._own.folder.absolute()

    @property
    def work(self) -> Work:
        """Where relative paths of arguments are meant from, on the file system at hand; looked at when a rule asks."""
        return Work(folder="", resolve=self._resolved)

    def _resolved(self, path: str) -> str:
        return os.path.realpath(self.folder / path)

    @property
    def _own(self) -> Container:
        return self.container or Container(session=self.session, tenant=self.tenant)

    def make_work(self) -> None:
        """Make the session's folder, if it is not there.

        Raises:
            CheckpointError: It cannot be made, or belongs to another user.
        """
        self._own.scratch()

    def key(self, call: int) -> CallKey:
        """Return the effect key of a call.

        Args:
            call: Its number in this activation, from 1.
        """
        return CallKey(
            session=self.session,
            run=self.run,
            branch=self.branch,
            path=self.path,
            activation=self.number,
            call=call,
        )

    def context(self, call: int) -> ToolContext:
        """Return what a tool learns about the call it serves; blocking.

        Args:
            call: Its number in this activation, from 1.
        """
        return ToolContext(
            idempotency_key=self.key(call).idempotency_key,
            session=self.session,
            run=self.run,
            path=self.path,
            tenant=self.tenant,
            work=self.folder,
        )
