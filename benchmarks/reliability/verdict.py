"""What may be wrong about a session of the victim, counted from what database and world say."""

from __future__ import annotations

from benchmarks.reliability.victim import EFFECTS, LOG, ONCE, Moment
from tests.crash.live import ENDS


def twice(moment: Moment) -> int:
    """Count the `once` effects that happened again.

    Args:
        moment: What is told of the session.
    """
    return sum(max(len(moment.effects[tool]) - 1, 0) for tool in ONCE)


def rekeyed(moment: Moment) -> int:
    """Count the effects that were repeated under another idempotency key.

    Args:
        moment: What is told of the session.
    """
    return sum(max(len(set(keys)) - 1, 0) for keys in moment.effects.values())


def lost(moment: Moment) -> int:
    """Count the effects that did not happen although nobody was told so.

    Args:
        moment: What is told of the session at its end.
    """
    return sum(not moment.effects[tool] and f"{tool} unknown" not in moment.log for tool in EFFECTS)


def is_wrong(moment: Moment) -> bool:
    """Say whether the end differs from that of a run that nobody disturbed.

    Args:
        moment: What is told of the session at its end.
    """
    word = next((line for line in moment.log if line in ("post ok", "post unknown")), "")
    said = tuple(line for line in moment.log if line.partition(" ")[0] in EFFECTS)
    return (
        (moment.status, moment.path) != ("completed", "DONE")
        or sorted(moment.log) != sorted([*LOG, word])
        or moment.messages != said
    )


def is_misreported(moment: Moment) -> bool:
    """Say whether a run has a terminal record and is not called finished, or the other way round.

    Args:
        moment: What is told of the session.
    """
    return moment.ended != (moment.status in ENDS)


def is_surfaced(moment: Moment) -> bool:
    """Say whether a call of unknown end was put to a person.

    Args:
        moment: What is told of the session at its end.
    """
    return "post unknown" in moment.log
