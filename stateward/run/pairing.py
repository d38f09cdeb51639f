"""A run begins with histories in which every tool call has an answer, whatever the last run or an input left behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateward.run.invocation import Invocation
from stateward.run.repair import paired


def well_paired(
    update: dict[str, Any], values: Mapping[str, Any], keys: frozenset[str], invocation: Invocation
) -> dict[str, Any]:
    """Pair the histories that an input makes; what was added is told in the audit log.

    Args:
        update: The input, as it is committed.
        values: What the session has.
        keys: The keys that hold messages.
        invocation: The call.

    Returns:
        The input, with whole histories in the place of those that had a gap.
    """
    mended = dict(update)
    for key in sorted(keys):
        written, gaps = paired(values.get(key) or [], update.get(key) or [])
        if gaps or written != list(update.get(key) or []):
            mended[key] = written
            calls = [gap.call for gap in gaps]
            told = {"event": "repaired", "session": invocation.session, "key": key, "calls": calls}
            invocation.database.audit.append(told)
    return mended
