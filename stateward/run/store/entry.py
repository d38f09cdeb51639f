"""A journal entry: what is known about one governed call, and how a row of the table tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import orjson

from stateward.govern.fingerprint import effect_key
from stateward.run.store.charges import Charge
from stateward.run.store.cipher import TextCipher
from stateward.run.store.json_text import read_json, read_sealed, write_json, write_sealed

Effect = Literal["pure", "idempotent", "once"]
"""What running a tool twice does: nothing, nothing more with the same key, or the effect a second time."""

EntryStatus = Literal["started", "completed", "failed", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKey:
    """The effect key: it names a call for good, through crashes, resumes and other processes."""

    session: str
    run: str
    branch: str
    path: str
    """Path of the state whose activity calls."""
    activation: int
    """The n-th entry into that state in this branch, from 1."""
    call: int
    """Number of the call in the activation, from 1, in call order."""

    @property
    def idempotency_key(self) -> str:
        """SHA-256 in hex over the canonical JSON of the six values."""
        return effect_key(
            self.session,
            run=self.run,
            branch=self.branch,
            path=self.path,
            activation=self.activation,
            call=self.call,
        )

    @property
    def values(self) -> tuple[str, str, str, str, int, int]:
        """The six values in the order of the table's key."""
        return (self.session, self.run, self.branch, self.path, self.activation, self.call)

    def __str__(self) -> str:
        """Return how a message names the call."""
        return self.place

    @property
    def place(self) -> str:
        """How a message names the call."""
        return f"session `{self.session}`, run `{self.run}`, state `{self.path}`, call {self.call}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A call as the journal knows it."""

    key: CallKey
    kind: Literal["tool", "model", "ask"]
    name: str
    fingerprint: str
    """Of the tool and its canonical arguments."""
    arguments: Mapping[str, Any]
    effect: Effect
    status: EntryStatus = "started"
    result: Any = None
    """JSON."""
    error: Any = None
    """JSON."""
    charges: tuple[Charge, ...] = ()
    """Reserved while started, spent afterwards."""
    overrun: Mapping[str, float] = field(default_factory=dict[str, float])
    """By unit, what was spent beyond the reservation."""
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    tries: int = 1
    started_at: float = 0.0
    """Seconds since the epoch."""
    ended_at: float | None = None

    @property
    def attempts(self) -> tuple[Mapping[str, Any], ...]:
        """The attempts at a model call, as they were written down; none for a call that a single one was enough for."""
        if self.kind != "model" or not isinstance(self.result, Mapping):
            return ()
        return tuple(cast("Mapping[str, Any]", self.result).get("attempts", ()))

    @property
    def prompts(self) -> tuple[Mapping[str, str], ...]:
        """Name and hash of each prompt that a model call used; none while it is started."""
        if self.kind != "model" or not isinstance(self.result, Mapping):
            return ()
        return tuple(cast("Mapping[str, Any]", self.result).get("prompts", ()))

    @property
    def answered_by(self) -> str:
        """The role that answered a model call, where that was written down; empty otherwise."""
        return str(self.result["answered_by"]) if self.attempts and "answered_by" in self.result else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh(Entry):
    """A call that has not begun."""

    size: int
    """Bytes of its name and arguments as canonical JSON, before anything is taken out: see `measured`."""


COLUMNS = (
    "session, run, branch, path, activation, call, kind, name, fingerprint, arguments, effect, status,"
    " result, error, charges, overrun, tokens_in, tokens_out, usd, tries, started_at, ended_at"
)


def begun(
    entry: Entry, *, charges: tuple[Charge, ...], now: float, arguments: Mapping[str, Any] | None = None
) -> Entry:
    """Return an entry as it is when its call begins.

    Args:
        entry: The call.
        charges: What it reserves.
        now: The time, in seconds since the epoch.
        arguments: What is kept of its arguments; None for those that the entry has.
    """
    # Written out, as in `closing`: every call comes through here, and `replace` takes twice as long.
    return Entry(
        key=entry.key,
        kind=entry.kind,
        name=entry.name,
        fingerprint=entry.fingerprint,
        arguments=entry.arguments if arguments is None else arguments,
        effect=entry.effect,
        result=entry.result,
        error=entry.error,
        charges=charges,
        overrun=entry.overrun,
        tokens_in=entry.tokens_in,
        tokens_out=entry.tokens_out,
        usd=entry.usd,
        started_at=now,
    )


def opening_values(entry: Entry, *, cipher: TextCipher) -> tuple[object, ...]:
    """Return the row of a call that begins, in the order of `COLUMNS`.

    Args:
        entry: A started entry.
        cipher: Seals the arguments.

    Returns:
        The values.
    """
    return (
        *entry.key.values,
        entry.kind,
        entry.name,
        entry.fingerprint,
        _sealed(dict(entry.arguments), entry.key, "arguments", cipher=cipher),
        entry.effect,
        entry.status,
        None,
        None,
        charges_text(entry.charges),
        "{}",
        0,
        0,
        0.0,
        1,
        entry.started_at,
        None,
    )


CLOSE = (
    "UPDATE stateward_journal SET status = ?, result = ?, error = ?, charges = ?, overrun = ?, tokens_in = ?,"
    " tokens_out = ?, usd = ?, ended_at = ? "
)
UNCHANGED = " AND status = 'started' AND tries = ? AND charges = ?"
"""Finds a row only as long as nothing has happened to its call since it was begun; see `unchanged_values`."""


def unchanged_values(entry: Entry) -> tuple[object, ...]:
    """Return what stands in a row to which nothing has happened, for `UNCHANGED`.

    Another try, a further reservation and every end change one of these.

    Args:
        entry: The call as it was begun.
    """
    return (entry.tries, charges_text(entry.charges))


def closing_values(entry: Entry, *, cipher: TextCipher, text: str | None = None) -> tuple[object, ...]:
    """Return what changes in the row of a call that ends.

    Args:
        entry: A closed entry.
        cipher: Seals result and error.
        text: The result as `write_json` has it, where that is at hand.

    Returns:
        Status, result, error, charges, overrun, tokens in, tokens out, money and end, for `CLOSE`.
    """
    key = entry.key
    return (
        entry.status,
        _sealed(entry.result, key, "result", cipher=cipher, text=text),
        _sealed(entry.error, key, "error", cipher=cipher),
        charges_text(entry.charges),
        write_json(dict(entry.overrun), where=key.place) if entry.overrun else "{}",
        entry.tokens_in,
        entry.tokens_out,
        entry.usd,
        entry.ended_at,
    )


EXTEND = "UPDATE stateward_journal SET result = ?, charges = ? "


def extending_values(entry: Entry, *, cipher: TextCipher) -> tuple[object, ...]:
    """Return what changes in the row of a call that goes on, for `EXTEND`.

    Args:
        entry: A started entry, with how far it is in the place of its result.
        cipher: Seals the result.

    Returns:
        Result and charges.
    """
    sealed = _sealed(entry.result, entry.key, "result", cipher=cipher)
    return (sealed, charges_text(entry.charges))


def _sealed(value: Any, key: CallKey, column: str, *, cipher: TextCipher, text: str | None = None) -> str | None:
    """Return the text of a column that holds JSON of the user's; `text` is that JSON, where it is at hand."""
    return write_sealed(value, *place_of_call(key, column), cipher=cipher, where=key, text=text)


def place_of_call(key: CallKey, column: str) -> tuple[object, ...]:
    """Return where a sealed column stands, as the cipher is told; a fork takes calls over, so the branch is left out.

    Args:
        key: The call.
        column: The column's name.
    """
    return ("journal", key.session, key.run, key.path, key.activation, key.call, column)


def charges_text(charges: Sequence[Charge]) -> str:
    """Return what the row of a call holds of its charges.

    Args:
        charges: Reserved or spent.
    """
    rows = [[charge.scope, charge.unit, charge.billionths] for charge in charges]
    try:
        return orjson.dumps(rows).decode()  # names and whole numbers: there is one way to write them
    except TypeError:  # but for numbers of more than 64 bits
        return write_json(rows, where="charges")


def from_row(row: tuple[Any, ...], *, cipher: TextCipher) -> Entry:  # a database's rows are untyped
    """Read a row.

    Args:
        row: The values in the order of `COLUMNS`.
        cipher: Opens what is sealed.

    Returns:
        The entry.
    """
    key = CallKey(session=row[0], run=row[1], branch=row[2], path=row[3], activation=row[4], call=row[5])
    return Entry(
        key=key,
        kind=row[6],
        name=row[7],
        fingerprint=row[8],
        arguments=read_sealed(row[9], *place_of_call(key, "arguments"), cipher=cipher),
        effect=row[10],
        status=row[11],
        result=read_sealed(row[12], *place_of_call(key, "result"), cipher=cipher),
        error=read_sealed(row[13], *place_of_call(key, "error"), cipher=cipher),
        charges=tuple(Charge(scope=c[0], unit=c[1], billionths=c[2]) for c in read_json(row[14])),
        overrun={} if row[15] == "{}" else read_json(row[15]),
        tokens_in=row[16],
        tokens_out=row[17],
        usd=row[18],
        tries=row[19],
        started_at=row[20],
        ended_at=row[21],
    )


def audit_record(entry: Entry) -> dict[str, Any]:
    """Say in the audit log how a call ended; arguments and results stay out of it, amounts are decimal text.

    Args:
        entry: A closed entry.

    Returns:
        Plain JSON.
    """
    key = entry.key
    record: dict[str, Any] = {
        "event": "call",
        "session": key.session,
        "run": key.run,
        "branch": key.branch,
        "path": key.path,
        "activation": key.activation,
        "call": key.call,
        "kind": entry.kind,
        "name": entry.name,
        "fingerprint": entry.fingerprint,
        "effect": entry.effect,
        "status": entry.status,
        "tries": entry.tries,
        "usd": f"{entry.usd:.9f}",
    }
    if entry.overrun:
        record["overrun"] = {unit: f"{excess:.9f}" for unit, excess in entry.overrun.items()}
    if entry.prompts:
        record["prompts"] = [dict(each) for each in entry.prompts]
    if entry.attempts:
        # What they said stays out of it.
        told = [{"role": each["role"], "outcome": each["outcome"], "usd": each["usd"]} for each in entry.attempts]
        record.update({"answered_by": entry.answered_by, "attempts": told})
    return record
