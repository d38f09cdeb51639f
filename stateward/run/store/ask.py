"""An ask: one question to a person about one call, and how a row of the table tells it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from stateward.run.store.cipher import TextCipher
from stateward.run.store.entry import CallKey
from stateward.run.store.given import Decision as Decision
from stateward.run.store.given import Given, approvers_of, from_json, to_json
from stateward.run.store.json_text import read_json, read_sealed, write_json, write_sealed
from stateward.run.store.kind import allowed_in, is_question, shown_in, told_in

AskStatus = Literal["open", "answered", "withdrawn", "expired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to a person: about one call, or put by an activity as a call of its own."""

    id: str
    """From `ask_id`: the same call with the same arguments asks the same question."""
    session: str
    run: str
    branch: str
    path: str
    activation: int
    call: int
    kind: str
    tool: str
    arguments: Mapping[str, Any]
    fingerprint: str
    reason: str
    approvers: tuple[str, ...] = ()
    """Who may answer; empty means anyone."""
    status: AskStatus = "open"
    created_at: float = 0.0
    """Seconds since the epoch."""
    expires_at: float | None = None
    """Seconds since the epoch; None when it never expires."""
    decision: Decision | None = None
    note: str = ""
    by: str = ""
    """Who answered last."""
    answered_at: float | None = None
    """When the answer came that closed it."""
    approvals: int = 1
    """How many different people must approve."""
    barred: tuple[str, ...] = ()
    """Who may not approve: they gave the input, or edited the arguments."""
    answers: tuple[Given, ...] = ()
    """What people said, in order."""

    @classmethod
    def new(
        cls,
        *,
        key: CallKey,
        kind: str,
        tool: str,
        arguments: Mapping[str, Any],
        fingerprint: str,
        reason: str,
        approvers: tuple[str, ...] = (),
        expires_at: float | None = None,
        approvals: int = 1,
        barred: tuple[str, ...] = (),
        answers: tuple[Given, ...] = (),
    ) -> Ask:
        """Ask about a call; the same call with the same arguments gives the same ask.

        Args:
            key: The call.
            kind: What is asked, such as `approve`.
            tool: The tool that would be called.
            arguments: What it would be called with, as the person sees it.
            fingerprint: Of the tool and its canonical arguments.
            reason: Why a person is asked.
            approvers: Who may answer; empty means anyone.
            expires_at: Seconds since the epoch; None when it never expires.
            approvals: How many different people must approve.
            barred: Who may not approve.
            answers: What was said before it was put.

        Returns:
            The ask, not stored yet.
        """
        return cls(
            id=ask_id(key, fingerprint),
            session=key.session,
            run=key.run,
            branch=key.branch,
            path=key.path,
            activation=key.activation,
            call=key.call,
            kind=kind,
            tool=tool,
            arguments=arguments,
            fingerprint=fingerprint,
            reason=reason,
            approvers=approvers,
            expires_at=expires_at,
            approvals=approvals,
            barred=barred,
            answers=answers,
        )

    def unanswered(self) -> Ask:
        """Return the question as it is before anybody has said anything."""
        return replace(self, status="open", decision=None, note="", by="", answered_at=None, answers=())

    @property
    def last(self) -> Given | None:
        """What was said last; None when nobody said anything."""
        return self.answers[-1] if self.answers else None

    @property
    def progress(self) -> str:
        """How many of the approvals it has, such as `1 of 2`."""
        return f"{len(approvers_of(self.answers))} of {self.approvals}"

    @property
    def allowed(self) -> tuple[Decision, ...]:
        """What may be said to it; a call that was made already can be neither edited nor replaced."""
        return allowed_in(self.kind, self.arguments)

    @property
    def is_question(self) -> bool:
        """Whether an activity puts it, and it is not about a call that a policy stops."""
        return is_question(self.kind)

    @property
    def shown(self) -> Mapping[str, Any]:
        """What it is about, as the person sees it: the arguments of a call, the value that is to be edited."""
        return shown_in(self.kind, self.arguments)


def ask_id(key: CallKey, fingerprint: str) -> str:
    """Name the question about a call, so that asking again after a crash is the same ask.

    Args:
        key: The call.
        fingerprint: Of the tool and its canonical arguments.

    Returns:
        `ask_` and twelve hex digits.
    """
    return "ask_" + hashlib.sha256((key.idempotency_key + fingerprint).encode()).hexdigest()[:12]


def envelope(ask: Ask) -> dict[str, Any]:
    """Put an ask into LangChain's human-in-the-loop form, with what Stateward adds.

    Args:
        ask: The ask.

    Returns:
        Plain JSON: `action_request`, `config` and `description` as LangChain's inbox reads them, and `id`,
        `session`, `path`, `expires_at`, `allowed` answers, and how many `approvals` it has; of a question that an
        activity puts also its `kind`, and its `options`, `schema` and `default`, if it has them.
    """
    expires = None if ask.expires_at is None else datetime.fromtimestamp(ask.expires_at, UTC).isoformat()
    return {
        "action_request": {"action": ask.tool, "args": dict(ask.shown)},
        "config": {
            "allow_accept": "approve" in ask.allowed,
            "allow_edit": "edit" in ask.allowed,
            "allow_respond": "respond" in ask.allowed,
            "allow_ignore": "reject" in ask.allowed,
        },
        "description": ask.reason,
        "id": ask.id,
        "session": ask.session,
        "path": ask.path,
        "expires_at": expires,
        "allowed": list(ask.allowed),
        "approvals": ask.progress,
        **told_in(ask.kind, ask.arguments),
    }


COLUMNS = (
    "id, session, run, branch, path, activation, call, kind, tool, arguments, fingerprint, reason, approvers,"
    " status, created_at, expires_at, decision, note, answered_by, answered_at, approvals, barred,"
    " answers"
)


def row_values(ask: Ask, *, cipher: TextCipher) -> tuple[object, ...]:
    """Return the row of an ask, in the order of `COLUMNS`.

    Args:
        ask: The ask.
        cipher: Seals what is shown to the person, and what they said.

    Returns:
        The values.
    """
    where = f"ask `{ask.id}`"
    return (
        ask.id,
        ask.session,
        ask.run,
        ask.branch,
        ask.path,
        ask.activation,
        ask.call,
        ask.kind,
        ask.tool,
        write_sealed(dict(ask.arguments), *place_of_ask(ask.id, "arguments"), cipher=cipher, where=where),
        ask.fingerprint,
        cipher.seal_text(ask.reason, *place_of_ask(ask.id, "reason")),
        write_json(list(ask.approvers), where=where),
        ask.status,
        ask.created_at,
        ask.expires_at,
        ask.decision,
        sealed_note(ask.note, ask=ask.id, cipher=cipher),
        ask.by,
        ask.answered_at,
        ask.approvals,
        write_json(list(ask.barred), where=where),
        sealed_answers(ask, cipher=cipher),
    )


def sealed_answers(ask: Ask, *, cipher: TextCipher) -> str:
    """Seal what people said.

    Args:
        ask: The ask; nothing stays nothing.
        cipher: Seals it.
    """
    if not ask.answers:
        return ""
    said = write_json(to_json(ask.answers), where=f"ask `{ask.id}`")
    return cipher.seal_text(said, *place_of_ask(ask.id, "answers"))


def sealed_note(note: str, *, ask: str, cipher: TextCipher) -> str:
    """Seal what a person said.

    Args:
        note: What they said; nothing stays nothing.
        ask: The ask's id.
        cipher: Seals it.
    """
    return cipher.seal_text(note, *place_of_ask(ask, "note")) if note else ""


def place_of_ask(ask: str, column: str) -> tuple[str, str, str]:
    """Return where a sealed column stands, as the cipher is told.

    Args:
        ask: The ask's id.
        column: The column's name.
    """
    return ("asks", ask, column)


def from_row(row: tuple[Any, ...], *, cipher: TextCipher) -> Ask:  # a database's rows are untyped
    """Read a row.

    Args:
        row: The values in the order of `COLUMNS`.
        cipher: Opens what is sealed.

    Returns:
        The ask.
    """
    return Ask(
        id=row[0],
        session=row[1],
        run=row[2],
        branch=row[3],
        path=row[4],
        activation=row[5],
        call=row[6],
        kind=row[7],
        tool=row[8],
        arguments=read_sealed(row[9], *place_of_ask(row[0], "arguments"), cipher=cipher),
        fingerprint=row[10],
        reason=cipher.open_text(row[11], *place_of_ask(row[0], "reason")),
        approvers=tuple(read_json(row[12])),
        status=row[13],
        created_at=row[14],
        expires_at=row[15],
        decision=row[16],
        note=cipher.open_text(row[17], *place_of_ask(row[0], "note")) if row[17] else "",
        by=row[18],
        answered_at=row[19],
        approvals=row[20],
        barred=tuple(read_json(row[21])),
        answers=_answers(row, cipher=cipher),
    )


def _answers(row: tuple[Any, ...], *, cipher: TextCipher) -> tuple[Given, ...]:
    if row[22]:
        return from_json(read_json(cipher.open_text(row[22], *place_of_ask(row[0], "answers"))))
    if row[16] is None:
        return ()
    # Answered before answers were kept one by one.
    note = cipher.open_text(row[17], *place_of_ask(row[0], "note")) if row[17] else ""
    return (Given(by=row[18], decision=row[16], note=note, at=row[19] or 0.0),)
