"""Model calls on their way through the door: who may answer, admission, further attempts, and what is settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from stateward.errors import DefinitionError
from stateward.govern.decision import Deny, charges, decide
from stateward.govern.kinds.models import UNRULED
from stateward.govern.rate import Beginning, paces
from stateward.run.door.attempts import Attempt, Attempts
from stateward.run.door.candidate import Candidate, candidate
from stateward.run.door.door import Door
from stateward.run.door.outcome import Outcome
from stateward.run.door.price import taken
from stateward.run.door.role import ModelRole
from stateward.run.door.said import failed, kept
from stateward.run.door.traffic import beginnings
from stateward.run.events.calls import Voice
from stateward.run.store.charges import Reservation, Tripped
from stateward.run.store.journal import Entry

Binder = Callable[[BaseChatModel], Mapping[str, Any]]
"""Says something, tools or a schema, as the provider of a model wants it."""
_ATTEMPT = ("tokens", "usd")
"""What each attempt reserves; all of them are one turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an activity says to a role."""

    messages: list[BaseMessage]
    options: Mapping[str, Any]
    """As the role's provider wants them, `stop` included."""
    binders: tuple[Binder, ...] = ()
    """What made some of them, for another provider."""
    bound: Mapping[str, Any]
    """Those that they made."""
    prompts: tuple[Mapping[str, str], ...] = ()
    """Name and hash of each prompt whose text is in the messages."""
    summary: str = ""
    """What a model wrote about the messages that the window leaves out; empty for nothing."""

    def to(self, role: ModelRole) -> dict[str, Any]:
        """Return the options as another role's provider wants them.

        Args:
            role: The other role.
        """
        made: dict[str, Any] = {}
        for binder in self.binders:
            made.update(binder(role.model))
        own = {key: value for key, value in self.options.items() if key not in self.bound or self.bound[key] != value}
        return {**made, **own}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call the door admitted."""

    voice: Voice | None = None
    """Tells what is said; None while nobody listens."""

    entry: Entry
    attempts: Attempts
    prompts: tuple[Mapping[str, str], ...] = ()
    """Name and hash of each prompt that it uses."""

    @property
    def is_known(self) -> bool:
        """Whether it was made before, so that the journal answers."""
        return self.entry.status != "started"


class Asking:
    """How one role is asked behind a door.

    Args:
        role: The role.
        roles: All roles there are, for those of `fallback`.
        door: The activation's door.

    Raises:
        DefinitionError: `fallback` or `window.summary` of the policy names a role that has no model.
    """

    def __init__(self, role: ModelRole, *, roles: Mapping[str, ModelRole], door: Door) -> None:
        self.role = role
        self.roles = roles
        self.door = door
        rule, window = door.effective.model_rule(role.name), door.effective.window
        self.others = tuple(
            _configured(name, roles, door, does=f"answer for `{role.name}`", key=f"models.{role.name}.fallback")
            for name in rule.fallback or ()
        )
        """Who answers in its place."""
        writes = window.summary if window is not None else None
        self.summarizer = (
            _configured(writes, roles, door, does="sum up what the window leaves out", key="window.summary")
            if writes
            else None
        )
        """Who sums up what the window leaves out; None for nobody."""
        self._is_ruled = rule != UNRULED
        self._rates = paces(door.effective, part="turns_per_minute")

    def admit(self, said: Said, number: int) -> Call:
        """Take a call through decision, reservation and journal; blocking.

        Args:
            said: What is asked.
            number: The call's number.

        Raises:
            FuseTripped: A fuse forbids the call.
            Diverged: The journal has another call under this number.
        """
        first = self._ready(self.role, said, said.options)
        entry = self.door.admit_model(first.request, call=number)
        roles: dict[str, Callable[[], Candidate]] = {self.role.name: lambda: first}
        for other in self.others:
            roles.setdefault(other.name, partial(self._other, other, said))
        before = attempts_before(entry, roles)
        attempts = Attempts(
            roles=roles,
            providers=self.door.database.providers,
            admit=partial(self._further, entry),
            keep=partial(self._keep, entry),
            left_s=self.door.left_s,
            is_ruled=self._is_ruled,
            **before,
        )
        voice = None if self.door.events is None else Voice(self.door.events, entry)
        return Call(entry=entry, attempts=attempts, prompts=said.prompts, voice=voice)

    def _other(self, role: ModelRole, said: Said) -> Candidate:
        return self._ready(role, said, said.to(role))

    def _ready(self, role: ModelRole, said: Said, options: Mapping[str, Any]) -> Candidate:
        door = self.door
        return candidate(
            role,
            messages=said.messages,
            options=options,
            effective=door.effective,
            path=door.activation.path,
            summary=said.summary,
        )

    def _further(self, entry: Entry, candidate: Candidate, progress: Mapping[str, Any]) -> str | float:
        """Let a further attempt in: why it may not be made, or an empty text; seconds if its turn comes later."""
        rates, traffic = self._rates, self.door.traffic
        with traffic.turnstile if rates else nullcontext():
            wait_s = self._wait_s(entry) if rates else None
            if wait_s is not None:
                return wait_s
            refused = self._refused(entry, candidate, progress)
            if not refused:
                now = self.door.database.clock.now()
                traffic.began(entry.key.session, Beginning(kind="model", path=entry.key.path, at=now))
        return refused

    def _wait_s(self, entry: Entry) -> float | None:
        """How long an attempt has to wait for its turn: to a provider each attempt is a call."""
        database, session = self.door.database, entry.key.session
        pause = self.door.traffic.pause(
            self._rates,
            session=session,
            kind="model",
            now=database.clock.now(),
            past=lambda since: beginnings(database, session, since=since),
        )
        return None if pause is None else pause.seconds

    def _refused(self, entry: Entry, candidate: Candidate, progress: Mapping[str, Any]) -> str:
        """Decide a further attempt and reserve for it; return why it may not be made, or an empty text."""
        door, at = self.door, self.door.activation
        ledger = door.database.ledger
        spent, raised = dict(ledger.spent(at.session, run=at.run)), ledger.raised(at.session, run=at.run)
        charged = charges(door.effective, request=candidate.request, raised=raised)
        for charge in charged:
            if charge.unit == "turns":  # the call has taken its turn already
                spent[charge.scope, charge.unit] = spent.get((charge.scope, charge.unit), 0.0) - charge.amount
        revoked = door.database.revocations.of(at.session)
        decision = decide(door.effective, request=candidate.request, spent=spent, raised=raised, revoked=revoked)
        if isinstance(decision, Deny):
            return decision.reason
        reservations = [
            Reservation(scope=charge.scope, unit=charge.unit, amount=charge.amount, limit=charge.limit)
            for charge in charged
            if charge.unit in _ATTEMPT
        ]
        extended = door.database.journal.extend(
            entry.key, progress=dict(progress), reservations=reservations, fence=door.fence
        )
        return f"`{extended.unit}` would exceed {extended.limit:g}" if isinstance(extended, Tripped) else ""

    def _keep(self, entry: Entry, progress: Mapping[str, Any]) -> None:
        self.door.database.journal.extend(entry.key, progress=dict(progress), fence=self.door.fence)

    def completed(self, call: Call, message: BaseMessage) -> Outcome:
        """Make the outcome of a call that a role has answered.

        Args:
            call: The call.
            message: The reply.
        """
        attempts = call.attempts
        took = attempts.taken or taken(message)
        if call.voice is not None:
            call.voice.whole(message)
        return Outcome(
            status="completed",
            result={**kept(message), **_recorded(call)},
            spent={"usd": attempts.usd, "tokens": attempts.tokens},
            tokens_in=took.sent if took else 0,
            tokens_out=took.got if took else 0,
        )

    def failed(self, call: Call, error: Exception | str, seen: list[ChatGenerationChunk] | None = None) -> Outcome:
        """Make the outcome of a call that no role has answered, or whose answer was not waited for.

        Args:
            call: The call.
            error: What was raised; a text when the activity left.
            seen: What it had heard.
        """
        attempts = call.attempts
        made = failed(error, seen=seen or ())
        # One that was left under way is not among the attempts: all that was reserved stands.
        spent = {} if isinstance(error, str) else {"usd": attempts.usd, "tokens": attempts.tokens}
        return replace(made, result={**made.result, **_recorded(call)}, spent=spent)


def _configured(name: str, roles: Mapping[str, ModelRole], door: Door, *, does: str, key: str) -> ModelRole:
    if name not in roles:
        raise DefinitionError(
            f"The policy lets the role `{name}` {does}, and nobody configured a model for it",
            where=door.activation.path,
            fix=f"Pass it: `compile(models={{…}})`, or correct `{key}`. Configured: "
            f"{', '.join(sorted(roles)) or 'none'}.",
        )
    return roles[name]


def attempts_before(entry: Entry, roles: Mapping[str, object]) -> dict[str, Any]:
    """Return the attempts of a call that a crash cut off, in the words of `Attempts`.

    Args:
        entry: The call.
        roles: Who may answer it now.
    """
    if entry.status != "started" or not isinstance(entry.result, Mapping):
        return {}
    progress = cast("Mapping[str, Any]", entry.result)
    if progress.get("asking") not in ("", *roles):
        return {}  # other roles answer now: the call begins anew
    return {"made": [Attempt(**each) for each in progress["attempts"]], "asking": progress["asking"]}


def _recorded(call: Call) -> dict[str, Any]:
    attempts, used = call.attempts, {"prompts": [dict(each) for each in call.prompts]} if call.prompts else {}
    if not attempts.is_told:
        return used
    answered = {} if attempts.answered is None else {"answered_by": attempts.answered.role.name}
    return {**used, **attempts.record, **answered}
