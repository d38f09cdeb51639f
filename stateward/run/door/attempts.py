"""The attempts at one model call: who is asked, how often, after what wait, and who answers instead.

Written once, as a generator that yields what it needs and is told how it went; `trying` drives it, awaited or not.
What goes wrong with the infrastructure is tried again and then handed to the roles of `fallback`; what is wrong with
the request is raised at once, and so is everything after the first visible token. All attempts are one call: one
number, one turn, one entry of the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Literal, cast

from stateward.errors import BreakerOpen, RunError
from stateward.run.door.breaker import Open, Ticket, model_name, provider_of
from stateward.run.door.candidate import Candidate
from stateward.run.door.failure import is_infrastructure, may_pass, retry_after_s, was_refused
from stateward.run.door.price import Taken, cost
from stateward.run.door.providers import Providers
from stateward.run.door.told import named

MAX_WAIT_S = 300.0
"""A provider that wants to be left alone for longer is not waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Make:
    """Ask a model; what is sent back is None, or the exception that it raised."""

    candidate: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Let time pass before the next attempt."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Work on the database; what is sent back is what it returns."""

    work: Callable[[], object]


Step = Make | Wait | Visit
Steps = Generator[Step, Any, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt, as the journal keeps it."""

    number: int
    """From 1, over all roles of the call."""
    role: str
    model: str
    outcome: Literal["ok", "failed", "denied", "open"]
    """denied: the policy does not let this role answer. open: its provider's breaker was."""
    error: str = ""
    latency_s: float = 0.0
    tokens: int = 0
    usd: str = "0.000000000"
    """What it is charged with; of one whose usage nobody knows what it reserved."""
    at: float = 0.0
    """When it was begun, in seconds since the epoch: a pace counts it; 0 of one that was not made."""


@dataclass(kw_only=True)
class Attempts:
    """The attempts at one call.

    Its generator, `steps`, ends when a role has answered, and raises the last failure when none has.
    """

    roles: Mapping[str, Callable[[], Candidate]]
    """Who may answer, in this order; each is made ready when its turn comes."""
    providers: Providers
    admit: Callable[[Candidate, Mapping[str, Any]], str | float]
    """Decides a further attempt and reserves for it, blocking; returns why it may not be made, or an empty text, or how
    many seconds it has to wait for its turn first."""
    keep: Callable[[Mapping[str, Any]], object]
    """Writes down how far the call is, blocking."""
    left_s: Callable[[], float | None]
    """How long the activity may still take, in seconds; None for as long as it likes."""
    is_ruled: bool = False
    """Whether the policy has a rule for the role that is asked."""
    made: list[Attempt] = field(default_factory=list[Attempt])
    """Those that are over; at first those before a crash."""
    asking: str = ""
    """The role of the attempt that a crash cut off, which is admitted already; empty for none."""
    is_visible: bool = False
    """Whether the activity has seen something of the reply under way."""
    taken: Taken | None = None
    """What the attempt under way took; set by who makes it, when it has succeeded and the provider says."""
    answered: Candidate | None = None
    """Who answered."""

    @property
    def is_told(self) -> bool:
        """Whether it is written down who answered: not of a call that is made as if there were no rules."""
        return self.is_ruled or len(self.made) > 1

    def mark(self, candidate: Candidate) -> dict[str, Any]:
        """Return what is put into the `response_metadata` of a reply: who says it, at which attempt.

        Args:
            candidate: Who is asked now.
        """
        if not (self.is_ruled or self.made):
            return {}
        return {"stateward": {"role": candidate.role.name, "attempt": len(self.made) + 1}}

    @property
    def record(self) -> dict[str, Any]:
        """The attempts as JSON."""
        return {"attempts": [asdict(each) for each in self.made]}

    @property
    def tokens(self) -> int:
        """What all attempts took, in tokens."""
        return sum(each.tokens for each in self.made)

    @property
    def usd(self) -> float:
        """What all attempts cost, in US dollars."""
        return sum(float(each.usd) for each in self.made)

    def steps(self) -> Steps:
        """Make the attempts.

        Raises:
            Exception: What the last attempt raised.
            BreakerOpen: No attempt could be made: the breaker of each provider is open.
        """
        error: Exception | None = None
        for name, make_ready in self.roles.items():
            if self.asking not in ("", name):
                continue  # it had its turn before the crash
            admitted = self.asking == name or not (self.made or error)
            self.asking = ""
            failure = yield from self._ask(make_ready(), admitted=admitted)
            if self.answered is not None:
                return
            if failure is not None and (error is None or not isinstance(failure, BreakerOpen)):
                error = failure  # that a role was not even asked does not hide what happened to another
        raise error or RunError(f"No model answered the call: {self.made[-1].error}")

    def _ask(self, candidate: Candidate, *, admitted: bool) -> Generator[Step, Any, Exception | None]:
        """Try one role as often as its rule says; return the last failure, or None when it may not answer."""
        tried = sum(each.role == candidate.role.name and each.outcome == "failed" for each in self.made)
        error: Exception | None = None
        for number in range(tried + 1, max(candidate.rule.attempts, tried + admitted) + 1):
            ticket = self._ticket(candidate)
            if isinstance(ticket, Open):
                refused = self._refused(candidate, ticket)
                return error or refused
            failure = yield from self._make(candidate, ticket, admitted=admitted)
            if failure is None:
                break
            admitted, error = False, failure
            wait_s = self._wait_s(candidate, failure, number)
            if wait_s is None:
                break
            yield Visit(work=partial(self.keep, {**self.record, "asking": ""}))
            yield Wait(seconds=wait_s)
        return error

    def _make(
        self, candidate: Candidate, ticket: Ticket | None, *, admitted: bool
    ) -> Generator[Step, Any, Exception | None]:
        """Make one attempt; return its failure, or None when there is none or it may not be made."""
        breakers, now = self.providers.breakers, self.providers.clock.monotonic
        try:
            if not admitted:
                reason = yield from self._admitted(candidate)
                if reason:
                    self._note(candidate, "denied", error=reason)
                    if ticket is not None:
                        breakers.dropped(ticket)
                    return None
            at, began, self.taken = self.providers.clock.now(), now(), None
            failure = cast("Exception | None", (yield Make(candidate=candidate)))
        except BaseException:
            if ticket is not None:
                breakers.dropped(ticket)
            raise
        self._told(candidate, ticket, failure, at=at, latency_s=now() - began)
        if failure is None:
            self.answered = candidate
        elif self.is_visible or not is_infrastructure(failure):
            raise failure
        return failure

    def _admitted(self, candidate: Candidate) -> Generator[Step, Any, str]:
        """Let a further attempt in, when its turn comes; return why it may not be made, or an empty text."""
        while True:
            progress = {**self.record, "asking": candidate.role.name, "at": self.providers.clock.now()}
            found = cast("str | float", (yield Visit(work=partial(self.admit, candidate, progress))))
            if isinstance(found, str):
                return found
            left_s = self.left_s()
            if left_s is not None and found >= left_s:
                return f"its turn comes in {found:.3g} s, and {left_s:.3g} s are left"
            yield Wait(seconds=found)

    def _told(
        self, candidate: Candidate, ticket: Ticket | None, failure: Exception | None, *, at: float, latency_s: float
    ) -> None:
        """Write down how an attempt ended, and tell the breaker."""
        if ticket is not None:
            is_down = failure is not None and is_infrastructure(failure)
            (self.providers.breakers.failed if is_down else self.providers.breakers.succeeded)(ticket)
        tokens, usd = self._charged(candidate, failure)
        outcome = "ok" if failure is None else "failed"
        error = "" if failure is None else named(failure)
        self._note(candidate, outcome, error=error, at=at, latency_s=latency_s, tokens=tokens, usd=usd)

    def _charged(self, candidate: Candidate, failure: Exception | None) -> tuple[int, float]:
        """What an attempt is charged with: without usage what it reserved, since no unknown cost is counted as none."""
        if failure is None and self.taken is not None:
            return self.taken.total, cost(candidate.role.rates, taken=self.taken)
        if failure is not None and was_refused(failure):
            return 0, 0.0
        return candidate.bound_tokens, candidate.bound_usd

    def _ticket(self, candidate: Candidate) -> Ticket | Open | None:
        rule = candidate.rule
        if not rule.has_breaker:
            return None
        provider = provider_of(candidate.role)
        return self.providers.breakers.ask(provider, after=rule.opens_after, for_s=rule.opens_for_s)

    def _refused(self, candidate: Candidate, barred: Open) -> BreakerOpen:
        when = f"in {barred.closes_in_s:.3g} s" if barred.closes_in_s else "when the call that probes it now succeeds"
        error = BreakerOpen(
            f"The provider of the model `{candidate.role.name}` failed {barred.failures} times in a row and is left "
            f"alone; it is asked again {when}",
            where=candidate.request.path,
            fix=f"Wait, or name a role that answers meanwhile: `models.{candidate.role.name}.fallback`.",
            role=candidate.role.name,
            closes_in_s=barred.closes_in_s,
        )
        self._note(candidate, "open", error=named(error))
        return error

    def _note(
        self,
        candidate: Candidate,
        outcome: Literal["ok", "failed", "denied", "open"],
        *,
        error: str = "",
        at: float = 0.0,
        latency_s: float = 0.0,
        tokens: int = 0,
        usd: float = 0.0,
    ) -> None:
        is_written = self.is_ruled or self.made or outcome != "ok"  # else nobody reads it, see `is_told`
        self.made.append(
            Attempt(
                number=len(self.made) + 1,
                role=candidate.role.name,
                model=model_name(candidate.role.model) if is_written else "",
                outcome=outcome,
                error=error,
                latency_s=round(latency_s, 6),
                tokens=tokens,
                usd=f"{usd:.9f}",
                at=at,
            )
        )

    def _wait_s(self, candidate: Candidate, error: Exception, number: int) -> float | None:
        """How long to wait before the same role is asked again; None when it is not."""
        if number >= candidate.rule.attempts or not may_pass(error):
            return None
        backoff_s = candidate.rule.first_wait_s * 2.0 ** (number - 1) * (1 + self.providers.chance())
        wanted_s = retry_after_s(error, now=self.providers.clock.now()) or 0.0
        wait_s = max(min(backoff_s, MAX_WAIT_S), wanted_s)
        left_s = self.left_s()
        return None if wanted_s > MAX_WAIT_S or (left_s is not None and wait_s >= left_s) else wait_s
