"""An activation: one entry into a state, to which calls belong."""

from __future__ import annotations

from dataclasses import dataclass

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
        """Return what a tool learns about the call it serves.

        Args:
            call: Its number in this activation, from 1.
        """
        return ToolContext(
            idempotency_key=self.key(call).idempotency_key,
            session=self.session,
            run=self.run,
            path=self.path,
            tenant=self.tenant,
        )
