"""What stands in the place of tools and models when a recorded run is played again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from stateward.govern.revocation import Revocation
from stateward.govern.verdict import Deny
from stateward.run.door.outcome import Outcome
from stateward.run.door.waiting import TimeKind
from stateward.run.store.ask import Ask
from stateward.run.store.entry import CallKey, Entry


class Script(Protocol):
    """How the calls of a recorded run ended.

    The door decides, reserves and journals as ever; where it would call a tool or a model, it asks the script.
    """

    def expect(self, entry: Entry) -> None:
        """Check, before it is begun, that the record has a call.

        Args:
            entry: The call.

        Raises:
            Diverged: The record has no such call, or one with other arguments.
        """
        ...

    def revoked(self, entry: Entry) -> tuple[Revocation, ...]:
        """Return what the record says had been taken back when a call was decided, if that stopped it.

        Args:
            entry: The call, not begun yet.
        """
        ...

    def of_time(self, key: CallKey, kind: TimeKind) -> Deny | None:
        """Return why, in the record, something was refused because of the time, once for each time it was.

        Args:
            key: The call; number 0 is the activity itself.
            kind: By what time.
        """
        ...

    def cut_off_at(self, entry: Entry) -> int | None:
        """Return the try of a `once` call that a crash cut off, so that somebody had to decide about it; else None.

        Args:
            entry: The call, just begun; earlier tries do not count.
        """
        ...

    def asked_inside(self, entry: Entry) -> tuple[Ask, ...]:
        """Return what agents inside a tool call asked people at this visit; empty when it did not wait for them.

        Args:
            entry: The call, just begun.
        """
        ...

    def givers(self, ask: str) -> tuple[str, ...] | None:
        """Return who gave the run its inputs, for a question under four eyes that the record does not have.

        Args:
            ask: The question's id.

        Returns:
            The names, each once; None where the question was put: who approved it was none of them.
        """
        ...

    def outcome(self, entry: Entry) -> Outcome | None:
        """Return what a call came to; None when its activity was left before it had ended.

        Args:
            entry: The call, just begun.
        """
        ...

    def in_order(self, calls: Sequence[CallKey]) -> list[int]:
        """Put the calls of a batch into the order in which they were begun.

        Args:
            calls: The key of each.

        Returns:
            Their positions in the batch.
        """
        ...
