"""Notes: what is written inside a state's box beside what the chart itself says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

NoteKind = Literal["fuse", "ask", "plain"]
"""What a note speaks of.

fuse: a limit that hangs on the state.
ask: a call in the state that waits for a person.
plain: anything else.
"""


@dataclass(frozen=True, slots=True)
class Note:
    """One line beside a state.

    Args:
        text: The line.
        kind: What it speaks of; drawings show it by a sign.
    """

    text: str
    kind: NoteKind = "plain"


Notes = Mapping[str, Sequence[Note]]
"""The notes by state path; the chart's own under the empty path."""
