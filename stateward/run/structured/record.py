"""The audit record of a structured output: which tier brought it, what was tried, what is degraded; and no value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from stateward.errors import ContractFailed
from stateward.govern.canonical_output import Degraded
from stateward.govern.kinds.contract_spec import Tier
from stateward.run.door.door import Door
from stateward.run.drive import Steps, Work
from stateward.run.structured.result import Attempt, Structured

EVENT = "structured"
"""What the audit log calls it."""


class Recorder:
    """Writes one record for one output, however often its activity is entered.

    Args:
        door: The activation's door.
        number: The number that the output took among the activation's calls.
        role: The model role.
        contract: The title of the contract.
    """

    def __init__(self, door: Door, *, number: int, role: str, contract: str) -> None:
        self._door = door
        self._number = number
        self._place = {"event": EVENT, **asdict(door.activation.key(number))}
        self._told = {"name": role, "contract": contract}

    def recorded(self, steps: Steps[Structured]) -> Steps[Structured]:
        """Do the work of an output and record what it came to.

        Args:
            steps: The work.

        Returns:
            A generator of work that returns the output.

        Raises:
            ContractFailed: No tier brought an output that fits; that is recorded, too.
        """
        again: bool = yield self._visit(self._is_again)
        try:
            found = yield from steps
        except ContractFailed as failed:
            attempts: Sequence[Attempt] = failed.facts["attempts"]  # pyright: ignore[reportAssignmentType] see given_up
            yield self._visit(self._write, again, None, (), attempts)
            raise
        yield self._visit(self._write, again, found.tier, found.degraded, found.attempts)
        return found

    def _visit(self, work: Callable[..., Any], *args: Any) -> Work:
        """Work on the database; awaited it goes as all that the door does, which takes a thread where it may block."""
        return Work(fn=work, afn=partial(self._door.visit, work), args=args)

    def _is_again(self) -> bool:
        """Whether the activity may have come this far before: then the call after the number is in the journal."""
        return self._door.database.journal.get(self._door.activation.key(self._number + 1)) is not None

    def _write(self, again: bool, tier: Tier | None, degraded: Sequence[Degraded], attempts: Sequence[Attempt]) -> None:
        audit, session = self._door.database.audit, self._door.activation.session
        if again and any(self._place.items() <= row.record.items() for row in audit.rows(session)):
            return
        audit.append(
            {
                **self._place,
                **self._told,
                "tier": tier or "none",
                "degraded": [{"field": one.field, "how": one.how} for one in degraded],
                "attempts": [{"tier": one.tier, "problem": one.problem} for one in attempts],
            }
        )
