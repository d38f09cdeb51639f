"""How a session goes on: in its turn, within its deadline, and with what its provider says while it waits."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from langgraph.types import Command

from stateward.run.caller import Caller
from stateward.run.configurable import UNTIL
from stateward.run.container import Container
from stateward.run.drive import Steps, Work
from stateward.run.outcome import Outcome
from stateward.run.turn import in_turn

Provider = Callable[[Outcome], "Awaitable[object] | object"]
"""Is asked what comes next when a run waits: what `Command(resume=…)` takes, or None to leave it waiting."""
DONE = ("completed", "cancelled")
"""How a run ends of which nothing is looked at any more: its scratch folder is removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms a session makes its calls."""

    container: Container
    deadline_s: float | None = None
    queue: int = 0
    """How many inputs may wait for their turn; 0: whoever finds the session held is refused."""
    queue_wait_s: float = 60.0
    provider: Provider | None = None


def going(caller: Caller, given: object, terms: Terms) -> Steps[Outcome]:
    """Send an input or go on, until the session waits for somebody else or ends.

    Args:
        caller: The session.
        given: State keys, a `Command`, or None to go on.
        terms: On what terms.

    Returns:
        A generator of work that returns where it stands.

    Raises:
        SessionBusy: Another run holds the session, too many inputs wait, or its turn did not come in time.
    """
    until = None if terms.deadline_s is None else time.monotonic() + terms.deadline_s
    outcome = yield from _in_turn(caller, given, terms, until)
    while terms.provider is not None and outcome.status == "waiting":
        said: object = yield _asking(terms.provider, outcome)
        if said is None:
            break
        outcome = yield from _in_turn(caller, Command(resume=said), terms, until)
    return (yield from tidied(outcome, terms))


def going_on(caller: Caller, terms: Terms) -> Steps[Outcome | None]:
    """Go on after an answer, at once or not at all.

    Args:
        caller: The session.
        terms: On what terms.

    Returns:
        A generator of work that returns where it stands; None when somebody else holds the session, who goes on.
    """
    outcome = yield from caller.trying(None)
    return None if outcome is None else (yield from tidied(outcome, terms))


def tidied(outcome: Outcome, terms: Terms) -> Steps[Outcome]:
    """Remove the scratch folder of a run that is over.

    Args:
        outcome: Where the session stands.
        terms: With what belongs to it.

    Returns:
        A generator of work that returns the outcome.
    """
    if outcome.status in DONE:
        yield Work(fn=terms.container.clean_up)
    return outcome


def _asking(provider: Provider, outcome: Outcome) -> Work:
    if inspect.iscoroutinefunction(provider):
        return Work(afn=provider, args=(outcome,))
    return Work(fn=provider, args=(outcome,), activity=True)


def _in_turn(caller: Caller, given: object, terms: Terms, until: float | None) -> Steps[Outcome]:
    """Make a call, behind those that came before."""
    more = {} if until is None else {UNTIL: until}
    if terms.queue < 1:
        return (yield caller.calling(given, more=more))
    last = time.monotonic() + terms.queue_wait_s
    return (
        yield from in_turn(
            caller, given, more=more, queue=terms.queue, until=last if until is None else min(last, until)
        )
    )
