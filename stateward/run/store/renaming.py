"""A session under another id: what an archive says of it, said of the other one.

The id is part of more than its rows: what is encrypted is bound to it, and the ids of asks are made of it. So sealed
values are opened and sealed again at their new place, and asks get the ids that the activity will ask by when it is
entered again; the control channel and what waits for an answer name them. Values of the user's are left as they are.

A call that was begun and never settled stands in the way: the key that its tool was handed is made of the id, too, and
under another one nobody could find out what became of it.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, PendingWrite
from langgraph.checkpoint.serde.types import INTERRUPT, RESUME

from stateward.errors import CheckpointError
from stateward.run.checkpoint import CHANNEL, TERMINAL, Json
from stateward.run.store.ask import ask_id, place_of_ask
from stateward.run.store.cipher import Cipher, TextCipher
from stateward.run.store.entry import CallKey, place_of_call
from stateward.run.store.json_text import read_json, write_json
from stateward.run.store.mailbox import place_of_letter
from stateward.run.store.opaque import OpaqueSerializer, replaced
from stateward.run.store.sealing import Sealing

Place = tuple[object, ...]
SEALED: Mapping[str, Mapping[str, Callable[[Json, str], Place]]] = {
    "stateward_sessions": {"reason": lambda row, session: ("reason", session)},
    "stateward_terminals": {"reason": lambda row, session: ("reason", session)},
    "stateward_limits": {"reason": lambda row, session: ("limits", session)},
    "stateward_revocations": {"reason": lambda row, session: ("revocations", session)},
    "stateward_blobs": {"data": lambda row, session: ("blob", session, row["digest"])},
    "stateward_journal": {
        column: lambda row, session, column=column: place_of_call(_call(row, session), column)
        for column in ("arguments", "result", "error")
    },
    "stateward_asks": {
        column: lambda row, session, column=column: place_of_ask(row["id"], column)
        for column in ("arguments", "reason", "note", "answers")
    },
    "stateward_mailbox": {
        column: lambda row, session, column=column: place_of_letter(session, row["no"], column)
        for column in ("data", "note")
    },
}
"""The columns that hold what is the user's, and where the cipher thinks each stands."""
_OURS = frozenset({CHANNEL, INTERRUPT, RESUME})
"""The channels in which asks and the session are named."""


def renamed(lines: Sequence[Json], *, old: str, new: str, cipher: TextCipher) -> Sequence[Json]:
    """Say of another session what an archive says of one.

    Args:
        lines: The lines of the archive.
        old: The id of its session.
        new: The other id.
        cipher: Of the database that the other session is for.

    Returns:
        The lines, about the other session.

    Raises:
        CheckpointError: A call was begun, and nobody knows how it ended.
        CodecError: The archive is encrypted otherwise than the database.
    """
    rows = [(str(line["table"]), line["values"]) for line in lines if line["line"] == "row"]
    _refuse_unsettled(rows, session=old)
    asks = {row["id"]: ask_id(_call(row, new), row["fingerprint"]) for table, row in rows if table == "stateward_asks"}
    tenant = next((str(row["tenant"]) for table, row in rows if table == "stateward_sessions"), "")
    renaming = _Renaming(old=old, new=new, asks=asks, cipher=cipher, tenant=tenant)
    return [renaming.line(line) for line in lines]


def _call(row: Json, session: str) -> CallKey:
    return CallKey(session=session, **{name: row[name] for name in ("run", "branch", "path", "activation", "call")})


def _refuse_unsettled(rows: Sequence[tuple[str, Json]], *, session: str) -> None:
    """A run that has ended asks no more what became of its calls; a halted one may be taken up again."""
    over = {row["run"] for table, row in rows if table == "stateward_terminals" and _is_over(row["status"])}
    over -= {row["run"] for table, row in rows if table == "stateward_sessions" and not _is_over(row["status"])}
    for table, row in rows:
        if table != "stateward_journal" or row["run"] in over:
            continue
        if row["status"] == "unknown" or (row["status"] == "started" and row["effect"] != "pure"):
            raise CheckpointError(
                f"The call of `{row['name']}` in `{row['path']}` was begun, and nobody knows whether it was done",
                where=f"session `{session}`",
                fix="Restore it under its own id: the key of the call is made of that. Or let the session settle the"
                " call where it is (`stateward resume`), and archive it again.",
            )


def _is_over(status: object) -> bool:
    return status in TERMINAL and status != "halted"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Renaming:
    """One id for another, and what follows from that."""

    old: str
    new: str
    asks: Mapping[str, str]
    cipher: TextCipher
    tenant: str

    def line(self, line: Json) -> Json:
        kind = line["line"]
        if kind == "row":
            return {**line, "values": self._row(line["table"], line["values"])}
        if kind == "audit":
            return {**line, "record": self._audit(line["record"])}
        if kind == "checkpoint":
            return self._checkpoint(line)
        return self._write(line) if kind == "write" else line

    def _row(self, table: str, row: Json) -> Json:
        key = "session" if "session" in row else "id"
        if row[key] != self.old:
            raise ValueError(f"a row of session {row[key]!r}")
        moved = {**row, key: self.new}
        if table == "stateward_asks":
            moved["id"] = self.asks[row["id"]]
        for column, place in SEALED.get(table, {}).items():
            if row.get(column):
                text = self.cipher.open_text(row[column], *place(row, self.old))
                moved[column] = self.cipher.seal_text(text, *place(moved, self.new))
        return moved

    def _audit(self, text: str) -> str:
        record = self._said(read_json(self.cipher.open_text(text, "audit", self.old)))
        return self.cipher.seal_text(write_json(record, where="audit"), "audit", self.new)

    def _checkpoint(self, line: Json) -> Json:
        serde = OpaqueSerializer()
        content: Any = serde.loads_typed(("msgpack", b64decode(line["data"])))
        metadata: Any = line["metadata"]
        sealing = self._sealing()
        if sealing is not None:
            there = CheckpointTuple(self._at(self.old, line["namespace"]), content, metadata)
            content, metadata = sealing.unsealed(there, serde=serde)
        content["channel_values"] = self._values(content.get("channel_values") or {})
        if sealing is not None:
            here = self._at(self.new, line["namespace"])
            _, content, metadata = sealing.sealed(here, content, metadata, serde=serde)
        data = b64encode(serde.dumps_typed(content)[1]).decode()
        return {**line, "metadata": metadata, "data": data}

    def _write(self, line: Json) -> Json:
        sealing, channel = self._sealing(), line["channel"]
        if sealing is None and channel not in _OURS:
            return line
        serde = OpaqueSerializer()
        value = serde.loads_typed((line["kind"], b64decode(line["data"])))
        if sealing is not None:
            there = self._at(self.old, line["namespace"])
            ((_, _, value),) = sealing.opened_writes(there, [(line["task"], channel, value)], serde=serde)
        (value,) = self._values({channel: value}).values()
        if sealing is not None:
            here = self._at(self.new, line["namespace"])
            ((_, value),) = sealing.sealed_writes(here, [(channel, value)], task=line["task"], serde=serde)
        kind, data = serde.dumps_typed(value)
        return {**line, "kind": kind, "data": b64encode(data).decode()}

    def _values(self, values: Json) -> Json:
        return {channel: self._said(value) if channel in _OURS else value for channel, value in values.items()}

    def _said(self, value: Any) -> Any:
        """Name the asks by their new ids, and the session where an ask's envelope names it."""
        return replaced(value, text=lambda text: self.asks.get(text, text), form=self._form)

    def _form(self, form: Json) -> Json:
        return {**form, "session": self.new} if form.get("session") == self.old and "id" in form else form

    def _sealing(self) -> _Resealing | None:
        cipher = self.cipher
        return _Resealing(cipher, tenant=lambda _: self.tenant) if isinstance(cipher, Cipher) else None

    def _at(self, session: str, namespace: str) -> RunnableConfig:
        return {"configurable": {"thread_id": session, "checkpoint_ns": namespace}}


class _Resealing(Sealing):
    """Opens what is to be sealed again elsewhere, without a look at its types."""

    def unsealed(self, found: CheckpointTuple, *, serde: OpaqueSerializer) -> tuple[Any, Any]:
        """Open a checkpoint and its metadata."""
        plain = self.opened(found, serde=serde)
        return plain.checkpoint, plain.metadata

    def opened_writes(
        self, config: RunnableConfig, writes: Sequence[PendingWrite], *, serde: OpaqueSerializer
    ) -> list[PendingWrite]:
        """Open writes."""
        return self._open_writes(writes, serde, self._place(config))
