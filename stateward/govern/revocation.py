"""Revocations: what an operator took back from running sessions. They only add up, and no drift undoes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Revoked = Literal["tool", "agent", "state"]
"""What was taken back.

tool: every call of it. agent: every model call of that role, and every call of a nested agent of that name. state:
every call made in that state or inside it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """One thing that was taken back."""

    kind: Revoked
    name: str
    """The tool, the model role or agent, or the path of the state."""
    by: str
    reason: str = ""

    def hits(self, *, kind: str, name: str, path: str) -> bool:
        """Whether it forbids a call.

        Args:
            kind: `tool` or `model`.
            name: The tool's name, or the model's role.
            path: The path of the state that makes the call; nested agents have their names in it.
        """
        if self.kind == "state":
            return path == self.name or path.startswith(f"{self.name}.")
        if self.kind == "tool":
            return kind == "tool" and name == self.name
        return (kind == "model" and name == self.name) or self.name in path.split("/")[1:]
