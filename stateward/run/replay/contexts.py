"""The contexts of a replay: each call of the run has the one that was recorded, or else what the caller gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stateward.errors import CodecError
from stateward.run.context_record import MISSING, VALUE, recalled, serde_of
from stateward.run.graph import ChartGraph
from stateward.run.replay.divergence import Difference, Divergence
from stateward.run.replay.recording import Moment, Recording


class Contexts:
    """The contexts of one run.

    Args:
        recording: The run.
        graph: The chart as it is now.
        given: LangGraph's `context=` for calls whose own was not recorded, or None.
    """

    def __init__(self, recording: Recording, graph: ChartGraph, *, given: object) -> None:
        self._records = recording.contexts
        self._serde = serde_of(graph.allowed, graph.context_schema)
        self._given = given
        self._lacking: dict[str, str] = {}

    def of(self, digest: str) -> object:
        """Return the context of a call.

        Args:
            digest: As its checkpoints name it; empty when they name none.
        """
        record = self._records.get(digest, {})
        missing: Mapping[str, str] = record.get(MISSING, {})
        if VALUE in record:
            try:
                return recalled(record, serde=self._serde)
            except (CodecError, TypeError, ValueError) as misfit:
                missing = {"context": str(misfit)}
        if self._given is None:
            self._lacking.update(missing)
        return self._given

    def explained(self, divergence: Divergence | None) -> Divergence | None:
        """Say of a difference which parts of a context the replay did not have.

        Args:
            divergence: The first difference, if there is one.
        """
        if divergence is None or not self._lacking:
            return divergence
        told = "; ".join(f"`{name}`: {why}" for name, why in sorted(self._lacking.items()))
        lacking = Difference(
            what="context", recorded=f"not whole, {told}", came="none: give the session its `context=`"
        )
        return replace(divergence, differences=(lacking, *divergence.differences))


def context_of(ahead: Sequence[Moment]) -> str:
    """Return the digest of the context under which a run goes on; empty when it had none.

    Args:
        ahead: What is still to come: inputs and edits are nobody's call, the first step tells.
    """
    return next((one.context for one in ahead if one.source == "step"), "")
