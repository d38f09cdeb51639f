"""Where a session stands, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateward.cli.driving import Driven
from stateward.cli.rendering import moment, print_facts, print_json, say
from stateward.cli.values import in_short
from stateward.run.checkpoint import CHANNEL, wakes_at
from stateward.run.session import Outcome

FAILING = ("failed", "halted")
"""The status words that make the exit code 1."""


def outcome_at(session: str, values: Mapping[str, Any]) -> Outcome:
    """Read where a session stood at an earlier checkpoint.

    Args:
        session: Its id.
        values: The checkpoint's values, with the control channel.
    """
    control: Mapping[str, Any] = values[CHANNEL]
    asks: Mapping[str, list[str]] = control.get("asks") or {}
    return Outcome(
        session=session,
        status=control["status"],
        path=", ".join(f"{path}.ask" if path in asks else path for path in control["at"]),
        values={key: value for key, value in values.items() if key != CHANNEL},
        asks=tuple(ask for ids in asks.values() for ask in ids),
        reason=control.get("reason"),
        wakes_at=wakes_at(control),
    )


def show_outcome(driven: Driven, *, as_json: bool) -> int:
    """Print how a drive ended.

    Args:
        driven: The end.
        as_json: Whether to print JSON.

    Returns:
        The exit code: 1 when the session failed or halted.
    """
    outcome = driven.outcome
    facts: dict[str, object] = {
        "session": outcome.session,
        "status": outcome.status,
        "state": outcome.path,
        "asks": list(outcome.asks),
        "wakes_at": outcome.wakes_at,
        "reason": None if outcome.reason is None else dict(outcome.reason),
        "error": driven.error or None,
    }
    if as_json:
        print_json({**facts, "values": dict(outcome.values)})
    else:
        due = None if outcome.wakes_at is None else moment(outcome.wakes_at)
        print_facts({**facts, "wakes_at": due, **in_short(outcome.values)})
        _say_what_is_next(driven)
    return exit_code(driven)


def _say_what_is_next(driven: Driven) -> None:
    session = driven.outcome.session
    if driven.outcome.asks:
        say("A person is asked: `stateward inbox` tells what, and what may be said; `stateward answer ASK …` goes on.")
    elif driven.events:
        say(f"It waits for one of: {', '.join(driven.events)}. `stateward resume {session} EVENT` sends it.")
    elif driven.outcome.status != "waiting":
        say(f"`stateward show {session}` tells all it knows, `stateward history {session}` what it did.")


def exit_code(driven: Driven) -> int:
    """Return the exit code of a drive: 1 when the session failed or halted.

    Args:
        driven: The end.
    """
    return 1 if driven.error or driven.outcome.status in FAILING else 0
