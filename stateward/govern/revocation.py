"""Revocations: what an operator took back from running sessions. They only add up, and no drift undoes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

from stateward.govern.scope import is_within

Revoked = Literal["tool", "agent", "state"]
"""What was taken back.

tool: every call of it. agent: every model call of that role, and every call of a nested agent of that name. state:
every call made in that state or inside it, by nested agents as well.
"""

_TOLD = re.compile(r"(tool|agent|state) `(.+?)` was revoked by (.*)", re.DOTALL)
REVOKED = "revoked"
"""The rule that a refused call names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """One thing that was taken back."""

    kind: Revoked
    name: str
    """The tool, the model role or agent, or the path of the state."""
    by: str
    reason: str = ""
    session: str = ""
    """The session it was taken from; empty for all, those that come later included."""
    at: float = 0.0
    """When, in seconds since the epoch."""

    def hits(self, *, kind: str, name: str, path: str) -> bool:
        """Whether it forbids a call.

        Args:
            kind: `tool` or `model`.
            name: The tool's name, or the model's role.
            path: The path of the state that makes the call; nested agents have their names in it.
        """
        if self.kind == "state":
            return is_within(self.name, path)
        if self.kind == "tool":
            return kind == "tool" and name == self.name
        return (kind == "model" and name == self.name) or self.name in path.split("/")[1:]

    def told(self) -> str:
        """Say why a call was refused."""
        return f"{self.kind} `{self.name}` was revoked by {self.by}{f': {self.reason}' if self.reason else ''}"


def read_told(text: str) -> Revocation | None:
    """Read what `Revocation.told` wrote.

    Args:
        text: Why a call was refused.

    Returns:
        A revocation that tells the same; None if something else is told.
    """
    found = _TOLD.fullmatch(text)
    return None if found is None else Revocation(kind=cast("Revoked", found[1]), name=found[2], by=found[3])
