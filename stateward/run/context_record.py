"""The context of a call (LangGraph's `context=`), written down so that a replay has it.

It is stored once for each session and value, sealed like all that is the user's, and named by its digest in the
metadata of every checkpoint of the call. Calls of one run may bring different contexts, so each step knows its own.
What cannot be encoded, a client or a connection, or what looks like a secret, is never stored: then only the names of
such fields are, and a replay that needs the context says which they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import StateSnapshot
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from stateward.govern.redact import DataClass, redact
from stateward.run.allowlist import allowlist
from stateward.run.checkpoint import Json
from stateward.run.drive import Steps, Work
from stateward.run.replay.value import read, written
from stateward.run.store.blobs import digest_of
from stateward.run.store.database import Database
from stateward.run.store.json_text import write_json
from stateward.run.store.serializer import StrictSerializer

KEY = "stateward_context"
"""The metadata key of a checkpoint under which it names the context of its call."""
VALUE, MISSING = "value", "missing"
"""The keys of a record: the context, or why it is not there, by the name of the field."""
_SECRET: frozenset[DataClass] = frozenset({"secret"})


def serde_of(allowed: frozenset[tuple[str, str]], schema: object) -> StrictSerializer:
    """Return what encodes the contexts of a graph.

    Args:
        allowed: The types of its state.
        schema: Its context's schema, or None; the types that it declares are allowed as well.
    """
    return StrictSerializer(allowed=allowed | allowlist({} if schema is None else {"context": schema}))


def recorded(context: object, *, serde: SerializerProtocol) -> Json:
    """Write a context down.

    Args:
        context: The context.
        serde: From `serde_of`.

    Returns:
        The record: with the value, or with the names of what cannot be written down.
    """
    missing = {name: why for name, value in _parts(context) if (why := _hindrance(name, value, serde))}
    if not missing:
        try:
            return {VALUE: written(context, serde)}
        except Exception:  # noqa: BLE001  # the record says so, and the run goes on
            missing = {type(context).__qualname__: "its type is not in the context schema"}
    return {MISSING: missing}


def recalled(record: Json, *, serde: SerializerProtocol) -> object:
    """Read a context out of its record.

    Args:
        record: From `recorded`, with a value.
        serde: From `serde_of`.

    Raises:
        CodecError: It holds a type that the graph at hand does not declare.
    """
    return read(record[VALUE], serde)


def named_in(snapshot: StateSnapshot) -> str:
    """Return the digest of the context under which a checkpoint was made; nothing when there was none.

    Args:
        snapshot: The checkpoint.
    """
    return str((snapshot.metadata or {}).get(KEY) or "")


def naming(
    config: RunnableConfig, record: Json | None, *, database: Database, session: str, before: StateSnapshot
) -> Steps[RunnableConfig]:
    """Store the context of a call, and let its checkpoints name it.

    Args:
        config: The call's config.
        record: From `recorded`; None when the call has no context.
        database: Where the session's tables are.
        session: The session's id.
        before: The session's latest checkpoint: what that names is stored.

    Returns:
        A generator of work that returns the config of the call.
    """
    metadata = {key: value for key, value in config.get("metadata", {}).items() if key != KEY}
    if record is None:
        return {**config, "metadata": metadata}
    text = write_json(record, where=f"the context of session `{session}`")
    digest = digest_of(text)
    if named_in(before) != digest:
        yield Work(fn=_keep, args=(database, session, text))
    return {**config, "metadata": {**metadata, KEY: digest}}


def found(database: Database, session: str, digest: str) -> Json:
    """Read the record of a context.

    Args:
        database: Where the session's tables are.
        session: The session's id.
        digest: As a checkpoint names it.

    Raises:
        CheckpointError: It is gone.
    """
    with database.read() as cur:
        return cast("Json", database.journal.blobs.get(cur, session, digest))


def _keep(database: Database, session: str, text: str) -> None:
    database.persist(partial(_put, database, session, text))


def _put(database: Database, session: str, text: str) -> None:
    with database.transaction(session) as cur:
        database.journal.blobs.put(cur, session, text)


def _parts(context: object) -> list[tuple[str, Any]]:
    """The fields of a context by their names; one without fields is looked at as a whole."""
    if isinstance(context, Mapping):
        return [(str(key), value) for key, value in cast("Mapping[Any, Any]", context).items()]
    if isinstance(context, BaseModel):
        return list(context)
    if is_dataclass(context) and not isinstance(context, type):
        return [(each.name, getattr(context, each.name)) for each in fields(context)]
    return [(type(context).__qualname__, context)]


def _hindrance(name: str, value: Any, serde: SerializerProtocol) -> str:
    """Why a field is not written down; nothing when it can be."""
    try:
        serde.dumps_typed(value)  # a `SecretStr` is on no allowlist
        shown = {name: to_jsonable_python(value, fallback=str)}
    except Exception:  # noqa: BLE001  # the record says so, and the run goes on
        return f"a `{type(value).__qualname__}` cannot be stored"
    return "it looks like a secret" if redact(shown, classes=_SECRET) != shown else ""
