"""Model calls on their way through the door: who may answer, admission, further attempts, and what is settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, message_to_dict
from langchain_core.outputs import ChatGenerationChunk

from stateward.errors import DefinitionError
from stateward.govern.decision import Deny, charges, decide
from stateward.run.door.attempts import Attempt, Attempts
from stateward.run.door.candidate import Candidate, candidate
from stateward.run.door.door import Door
from stateward.run.door.outcome import Outcome
from stateward.run.door.price import taken
from stateward.run.door.role import ModelRole
from stateward.run.door.said import failed
from stateward.run.store.journal import Entry, Reservation, Tripped

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

    entry: Entry
    attempts: Attempts

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
        DefinitionError: `fallback` of the policy names a role that has no model.
    """

    def __init__(self, role: ModelRole, *, roles: Mapping[str, ModelRole], door: Door) -> None:
        self.role = role
        self.door = door
        rule = door.effective.model_rule(role.name)
        self.others = tuple(_configured(name, roles, door, of=role.name) for name in rule.fallback or ())
        """Who answers in its place."""
        self._is_ruled = bool(rule.content)

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
        return Call(entry=entry, attempts=attempts)

    def _other(self, role: ModelRole, said: Said) -> Candidate:
        return self._ready(role, said, said.to(role))

    def _ready(self, role: ModelRole, said: Said, options: Mapping[str, Any]) -> Candidate:
        door = self.door
        return candidate(
            role, messages=said.messages, options=options, effective=door.effective, path=door.activation.path
        )

    def _further(self, entry: Entry, candidate: Candidate, progress: Mapping[str, Any]) -> str:
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
        attempts, took = call.attempts, taken(message)
        return Outcome(
            status="completed",
            result={**message_to_dict(message), **_recorded(attempts)},
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
        return replace(made, result={**made.result, **_recorded(attempts)}, spent=spent)


def _configured(name: str, roles: Mapping[str, ModelRole], door: Door, *, of: str) -> ModelRole:
    if name not in roles:
        raise DefinitionError(
            f"The policy lets the role `{name}` answer for `{of}`, and nobody configured a model for it",
            where=door.activation.path,
            fix=f"Pass it: `compile(models={{…}})`, or correct `models.{of}.fallback`. Configured: "
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


def _recorded(attempts: Attempts) -> dict[str, Any]:
    if not attempts.is_told:
        return {}
    answered = {} if attempts.answered is None else {"answered_by": attempts.answered.role.name}
    return {**attempts.record, **answered}
