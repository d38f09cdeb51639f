"""Recorded calls under another policy: which decisions would have been other ones.

Each call is decided with the facts as they were: what had been spent when it was made, limits that a person had raised,
what was revoked by then. A call that the other policy would have stopped still counts for those after it, because it
was made. What a call would have cost at most is not recorded, so what it did cost stands for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from stateward.govern.decision import decide
from stateward.govern.effective import Effective
from stateward.govern.policy import Policy
from stateward.govern.policy_test import Outcome, Ruled, ruled
from stateward.govern.request import CallKind, CallRequest, Spent
from stateward.govern.revocation import Revocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A call that was made or refused, and what was decided about it."""

    session: str
    run: str
    path: str
    """The state that made it."""
    activation: int
    call: int
    kind: CallKind
    name: str
    arguments: Mapping[str, object]
    """As the journal has them: without secrets."""
    before: Outcome
    reason: str = ""
    """Why it was refused; empty if it was not."""
    made: bool = True
    """Whether it was made, so that it counts for the calls after it."""
    amounts: Mapping[str, float] = field(default_factory=dict[str, float])
    """What it spent, by unit."""
    usd: float | None = 0.0
    """What it could cost, in US dollars; None when no bound was known."""
    tokens: int | None = 0
    raised: Spent = field(default_factory=dict[tuple[str, str], float])
    """Limits that a person had set anew by then."""
    revoked: tuple[Revocation, ...] = ()
    """What had been taken back by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A call about which the other policy would have decided otherwise."""

    call: Recorded
    after: Ruled


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a policy would have decided."""

    calls: int
    """How many calls were decided."""
    flips: tuple[Flip, ...]
    strange: tuple[str, ...]
    """States that made calls and are no more; nothing is said of these calls."""
    undecided: tuple[str, ...] = ()
    """What the other policy says, or bound the calls, and is not decided anew; each a sentence."""


_TIMED = ("fuses.runtime_s", "pace.", "call_timeout_s", "activity_timeout_s")
"""Parts of a policy that are about time, which no record tells."""


def undecided(policy: Policy, *, calls: Iterable[Recorded]) -> Iterator[str]:
    """Say what is left out when calls are put under another policy.

    Args:
        policy: The other policy.
        calls: The recorded calls.

    Yields:
        Sentences.
    """
    timed = [name for name, _ in policy.parts() if name.startswith(_TIMED)]
    if timed:
        yield f"No record tells how much time there was: {', '.join(f'`{name}`' for name in timed)} decided nothing."
    # A summary of what a window leaves out is the state's own.
    nested = list(dict.fromkeys(call.path for call in calls if "/" in call.path.removesuffix("/summary")))
    if nested:
        named = ", ".join(f"`{path}`" for path in nested)
        yield f"Calls of {named} are decided as those of the state around: policies of agents inside are not known."


def replayed(
    calls: Iterable[Recorded],
    *,
    effective: Callable[[str], Effective | None],
    request: Callable[[Recorded], CallRequest],
) -> Replayed:
    """Decide about recorded calls once more.

    Args:
        calls: The calls of some runs, those of one run in their order.
        effective: Gives the policy that holds in a state; None for a state that is no more.
        request: Puts a recorded call as it would be asked now.

    Returns:
        The decisions that are other ones than then.
    """
    spent: dict[str, dict[tuple[str, str], float]] = {}
    flips: list[Flip] = []
    strange: dict[str, None] = {}
    count = 0
    for call in calls:
        policy = effective(call.path)
        if policy is None:
            strange[call.path] = None
            continue
        used = spent.setdefault(call.run, {})
        decided = decide(policy, request=request(call), spent=used, raised=call.raised, revoked=call.revoked)
        count += 1
        if (after := ruled(decided)).outcome != call.before:
            flips.append(Flip(call=call, after=after))
        for key, amount in _charged(call, policy):
            used[key] = used.get(key, 0.0) + amount
    return Replayed(calls=count, flips=tuple(flips), strange=tuple(strange))


def _charged(call: Recorded, policy: Effective) -> Iterator[tuple[tuple[str, str], float]]:
    for unit, amount in call.amounts.items() if call.made else ():
        for scope in policy.scopes:
            yield (scope, unit), amount
