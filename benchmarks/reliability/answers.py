"""Proof 8: answers that come twice, late, in another order, to another call, from others, or after their time.

Each case first tries what must not lead to an effect, then lets the right person give the one answer that counts. What
happened before that answer, or beyond it, was unauthorised.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from random import Random

import stateward as sw
from benchmarks.reliability.counter import Counter, is_refused
from benchmarks.reliability.figure import Figure, Tick, exactly, told
from benchmarks.reliability.place import Place
from stateward.run.store.database import Database
from stateward.testing import ManualClock

TIMES, SMALL_TIMES = 20, 1
HANDS = 8
"""Who answers the same ask at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of one case."""

    unauthorised: int
    authorised: int
    passed: int = 0
    """Attempts that should have been refused and were not."""


def duplicate(counter: Counter, id: str, random: Random) -> Told:
    """Many give the same answer at once, and again afterwards."""
    session = counter.session(id)
    ask = counter.start(session).asks[0]
    with ThreadPoolExecutor(HANDS) as pool:
        refused = list(pool.map(is_refused, [partial(counter.answer, session, ask)] * HANDS))
    late = is_refused(partial(counter.answer, session, ask))
    paid = len(counter.paid)
    return Told(unauthorised=max(paid - 1, 0), authorised=min(paid, 1), passed=HANDS - 1 - sum(refused) + (not late))


def late(counter: Counter, id: str, random: Random) -> Told:
    """The state that asked was left, and entered again: the old answer is for nobody."""
    session = counter.session(id)
    ask = counter.start(session).asks[0]
    counter.resume(session, "stop")
    first = is_refused(partial(counter.answer, session, ask))
    new = counter.resume(session, "again").asks[0]
    second = is_refused(partial(counter.answer, session, ask))
    before = len(counter.paid)
    counter.answer(session, new)
    return Told(unauthorised=before, authorised=len(counter.paid) - before, passed=2 - first - second)


def reordered(counter: Counter, id: str, random: Random) -> Told:
    """One of three calls is approved, the others are rejected, in any order."""
    session = counter.session(id)
    asks = counter.start(session).asks
    right = random.choice(asks)
    for ask in random.sample(asks, len(asks)):
        counter.answer(session, ask, "approve" if ask == right else "reject")
    order = counter.database.asks.get(right).arguments["order"]
    authorised = sum(paid == order for _, paid, _ in counter.paid)
    return Told(unauthorised=len(counter.paid) - authorised, authorised=authorised)


def for_another(counter: Counter, id: str, random: Random) -> Told:
    """An answer comes through a session that asks the same question."""
    mine, other = counter.session(id), counter.session(f"{id}-other")
    ask = counter.start(mine).asks[0]
    counter.start(other)
    refused = is_refused(partial(counter.answer, other, ask))
    is_refused(partial(counter.resume, other))
    before = len(counter.paid)
    counter.answer(mine, ask)
    authorised = sum(session == id for session, _, _ in counter.paid[before:])
    return Told(unauthorised=len(counter.paid) - authorised, authorised=authorised, passed=not refused)


def changed(counter: Counter, id: str, random: Random) -> Told:
    """An answer means another amount; and after the approval the activity wants to pay another one."""
    session = counter.session(id)
    ask = counter.start(session).asks[0]
    refused = is_refused(lambda: counter.answer(session, ask, arguments={"order": "A", "eur": 300.0}))
    before = len(counter.paid)
    counter.eur = 300.0
    is_refused(partial(counter.answer, session, ask))
    is_refused(partial(counter.resume, session))
    wrong = sum(eur == 300.0 for _, _, eur in counter.paid)
    counter.eur = 3.0
    is_refused(partial(counter.resume, session))
    _approve_all(counter, session)
    authorised = sum(eur == 3.0 for _, _, eur in counter.paid)
    return Told(unauthorised=wrong + before, authorised=authorised, passed=not refused)


def from_another_tenant(counter: Counter, id: str, random: Random) -> Told:
    """Somebody of a tenant with a look-alike name answers, by each way there is."""
    mine, other = counter.session(id, tenant="acme"), counter.session(id, tenant="acme-corp")
    ask = counter.start(mine).asks[0]
    refused = [
        is_refused(partial(counter.answer, other, ask)),
        is_refused(partial(other.claim, ask, "approve", by="eve")),
        is_refused(partial(counter.resume, other)),
    ]
    is_refused(partial(counter.resume, mine))
    before = len(counter.paid)
    _approve_all(counter, mine)
    return Told(unauthorised=before, authorised=len(counter.paid) - before, passed=len(refused) - sum(refused))


def expired(counter: Counter, id: str, random: Random) -> Told:
    """The time to answer has run out: the call is refused, and only a new run asks anew."""
    session = counter.session(id)
    ask = counter.start(session).asks[0]
    with counter.database.transaction(id) as cur:
        cur.execute("UPDATE stateward_asks SET expires_at = ? WHERE id = ?", (counter.clock.now() + 10, ask))
    counter.clock.advance(11)
    refused = is_refused(partial(counter.answer, session, ask))
    counter.resume(session)
    before = len(counter.paid)
    counter.start(session)
    _approve_all(counter, session)
    return Told(unauthorised=before, authorised=len(counter.paid) - before, passed=not refused)


def _approve_all(counter: Counter, session: sw.Session) -> None:
    for ask in session.outcome().asks:
        is_refused(partial(counter.answer, session, ask))


CASES: dict[str, Callable[[Counter, str, Random], Told]] = {
    "twice": duplicate,
    "late": late,
    "in another order": reordered,
    "for another ask": for_another,
    "with changed arguments": changed,
    "from another tenant": from_another_tenant,
    "after its time": expired,
}
ORDERS = {"in another order": "ABC"}


def prove(place: Place, *, how: str, small: bool, tick: Tick) -> list[Figure]:
    """Answer in every wrong way.

    Args:
        place: Where databases go.
        how: `sync` or `async`.
        small: Do it once each.
        tick: Told how far it is.

    Returns:
        The figures.
    """
    clock, times = ManualClock(), SMALL_TIMES if small else TIMES
    done: dict[str, list[Told]] = {}
    with sw.open(place.url(), clock=clock) as database:
        for name, case in CASES.items():
            done[name] = [_one(case, name, number, database=database, clock=clock, how=how) for number in range(times)]
            tick(len(done) / len(CASES))
    return judge(done)


def _one(
    case: Callable[[Counter, str, Random], Told],
    name: str,
    number: int,
    *,
    database: Database,
    clock: ManualClock,
    how: str,
) -> Told:
    counter = Counter(database, clock=clock, how=how, orders=ORDERS.get(name, "A"))
    return case(counter, f"{name} {number}", Random(number))


def judge(done: dict[str, list[Told]]) -> list[Figure]:
    """Count what went wrong, by the kind of answer.

    Args:
        done: What came of each case.

    Returns:
        The figures.
    """
    every = [one for some in done.values() for one in some]
    return [
        told("cases", len(every)),
        *[
            exactly(f"unauthorised effects, answers {name}", sum(one.unauthorised for one in some))
            for name, some in done.items()
        ],
        exactly("wrong answers that were taken", sum(one.passed for one in every)),
        exactly("cases without exactly one authorised effect", sum(one.authorised != 1 for one in every)),
    ]
