"""Checkpoints whose values are sealed before LangGraph stores them, and opened after it has read them.

Each channel's value is bound to tenant, session, namespace, channel and version: PostgreSQL keeps one row for all
checkpoints that share a version. A task's write is bound to its task. What LangGraph itself writes about a checkpoint
stays clear (versions, step, source, parents); metadata of the user's is sealed as a whole. It is bound to the
checkpoint's id, which must be that of its row, and vouches for the versions: one checkpoint does not stand in for
another.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # pyright: ignore[reportPrivateUsage]

from stateward.errors import CodecError
from stateward.run.store.cipher import KEY_VARIABLE, Cipher

SEALED = "stateward_sealed"
"""The metadata key under which the user's metadata is sealed."""
CLEAR = frozenset({"source", "step", "parents", "run_id", "counters_since_delta_snapshot"}) | frozenset(
    {"chart_hash", "policy_hash", "schema_hash", "mode"}
)
"""Metadata of LangGraph's and of ours, which holds nothing of the user's."""


class Sealing:
    """Seals and opens the checkpoints of one database.

    Args:
        cipher: The cipher.
        tenant: Returns the tenant of a session.
    """

    def __init__(self, cipher: Cipher, *, tenant: Callable[[str], str]) -> None:
        self._cipher = cipher
        self._tenant = tenant

    def sealed(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, *, serde: SerializerProtocol
    ) -> tuple[RunnableConfig, Checkpoint, CheckpointMetadata]:
        """Seal what is to be stored.

        Args:
            config: Names the session; what it adds to the metadata is sealed with it.
            checkpoint: The checkpoint.
            metadata: Stored beside it.
            serde: Turns values into bytes.

        Returns:
            Config, checkpoint and metadata for LangGraph.
        """
        place = self._place(config)
        versions = checkpoint["channel_versions"]
        values = {
            channel: self._seal_value(value, serde, *place, channel, versions.get(channel, ""))
            for channel, value in checkpoint["channel_values"].items()
        }
        whole = cast("dict[str, Any]", get_checkpoint_metadata(config, metadata))
        private = {key: value for key, value in whole.items() if key not in CLEAR} | _versions(checkpoint)
        kind, data = serde.dumps_typed(private)
        token = self._cipher.seal(_typed(kind, data), *place, checkpoint["id"], "metadata")
        clear = {key: value for key, value in whole.items() if key in CLEAR}
        bare = {key: config.get("configurable", {})[key] for key in _NAMES if key in config.get("configurable", {})}
        return (
            {"configurable": bare},
            cast("Checkpoint", {**checkpoint, "channel_values": values}),
            cast("CheckpointMetadata", {**clear, SEALED: base64.b64encode(token).decode()}),
        )

    def opened(self, found: CheckpointTuple, *, serde: SerializerProtocol) -> CheckpointTuple:
        """Open what was read.

        Args:
            found: As LangGraph read it.
            serde: Makes values of bytes.

        Returns:
            The checkpoint as it was before it was sealed.

        Raises:
            CodecError: A value is not sealed, or was sealed for another place, or the checkpoint is another one's or
                has other versions than it was written with.
        """
        place, checkpoint = self._place(found.config), found.checkpoint
        if found.config.get("configurable", {}).get("checkpoint_id", checkpoint["id"]) != checkpoint["id"]:
            raise _exchanged(found, f"belongs to another place: it is checkpoint `{checkpoint['id']}`")
        versions = checkpoint["channel_versions"]
        values = {
            channel: self._open_value(value, serde, *place, channel, versions.get(channel, ""))
            for channel, value in checkpoint["channel_values"].items()
        }
        clear = cast("dict[str, Any]", dict(found.metadata))
        token = base64.b64decode(str(clear.pop(SEALED, "")))
        private = _loaded(self._opened(token, place, checkpoint["id"], "metadata"), serde)
        versions_then = private.pop(_VERSIONS, None)  # one of an earlier release has none
        if versions_then is not None and {_VERSIONS: versions_then} != _versions(checkpoint):
            raise _exchanged(found, "was changed: it has other versions of its values than it was written with")
        return found._replace(
            checkpoint=cast("Checkpoint", {**checkpoint, "channel_values": values}),
            metadata=cast("CheckpointMetadata", {**clear, **private}),
            pending_writes=self._open_writes(found.pending_writes or [], serde, place),
        )

    def sealed_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], *, task: str, serde: SerializerProtocol
    ) -> list[tuple[str, Any]]:
        """Seal the writes of a task.

        Args:
            config: Names the session.
            writes: Channel and value.
            task: The task's id.
            serde: Turns values into bytes.
        """
        place = self._place(config)
        return [(channel, self._seal_value(value, serde, *place, channel, task)) for channel, value in writes]

    def opened_history(
        self, config: RunnableConfig, found: Mapping[str, DeltaChannelHistory], *, serde: SerializerProtocol
    ) -> dict[str, DeltaChannelHistory]:
        """Open what delta channels are made of.

        A snapshot's version is not told with it; it is taken from what the snapshot itself says, which the cipher
        vouches for.

        Args:
            config: Names the session.
            found: As LangGraph read it.
            serde: Makes values of bytes.
        """
        place = self._place(config)
        opened: dict[str, DeltaChannelHistory] = {}
        for channel, history in found.items():
            writes = self._open_writes(history["writes"], serde, place)
            opened[channel] = {"writes": writes}
            if "seed" in history:
                opened[channel]["seed"] = self._open_seed(history["seed"], serde, *place, channel)
        return opened

    def _open_writes(
        self, writes: Sequence[PendingWrite], serde: SerializerProtocol, place: tuple[str, ...]
    ) -> list[PendingWrite]:
        return [
            (task, channel, self._open_value(value, serde, *place, channel, task)) for task, channel, value in writes
        ]

    def _seal_value(self, value: Any, serde: SerializerProtocol, *place: object) -> Any:
        if isinstance(value, _DeltaSnapshot):
            return _DeltaSnapshot(self._seal_value(value.value, serde, *place))
        version = str(place[-1])
        kind, data = serde.dumps_typed(value)
        return _headed(version, self._cipher.seal(_typed(kind, data), *place))

    def _open_value(self, value: Any, serde: SerializerProtocol, *place: object) -> Any:
        if isinstance(value, _DeltaSnapshot):
            return _DeltaSnapshot(self._open_value(value.value, serde, *place))
        return _loaded(self._opened(_beheaded(value)[1], place), serde)

    def _open_seed(self, value: Any, serde: SerializerProtocol, *place: object) -> Any:
        if isinstance(value, _DeltaSnapshot):
            return _DeltaSnapshot(self._open_seed(value.value, serde, *place))
        version, sealed = _beheaded(value)
        return _loaded(self._opened(sealed, place, version), serde)

    def _opened(self, sealed: object, place: tuple[object, ...], *rest: object) -> bytes:
        """Open at the session's tenant; what was written before the session had one is bound to none."""
        try:
            return self._cipher.open(sealed, *place, *rest)
        except CodecError:
            if not place[0]:
                raise
            return self._cipher.open(sealed, "", *place[1:], *rest)

    def _place(self, config: RunnableConfig) -> tuple[str, str, str]:
        given = config.get("configurable", {})
        session = str(given["thread_id"])
        return self._tenant(session), session, str(given.get("checkpoint_ns") or "")


def refuse_sealed(found: CheckpointTuple) -> None:
    """Refuse a checkpoint that is encrypted, where no key is given.

    Args:
        found: As LangGraph read it.

    Raises:
        CodecError: It is encrypted.
    """
    if SEALED in found.metadata:
        raise CodecError(
            "The checkpoint is encrypted, and no key is given",
            where=f"session `{found.config.get('configurable', {}).get('thread_id')}`",
            fix=f"Set `{KEY_VARIABLE}`, or open the database with `keys=`.",
        )


_NAMES = ("thread_id", "checkpoint_ns", "checkpoint_id")
_VERSIONS = "stateward_versions"
"""The key of the sealed metadata that vouches for what is clear beside it."""


def _versions(checkpoint: Checkpoint) -> dict[str, str]:
    """Digest which values a checkpoint has, and which of them its nodes have seen."""
    told = [checkpoint["channel_versions"], checkpoint.get("versions_seen")]
    return {_VERSIONS: hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()}


def _exchanged(found: CheckpointTuple, why: str) -> CodecError:
    place = found.config.get("configurable", {})
    return CodecError(
        f"The stored checkpoint {why}",
        where=f"session `{place.get('thread_id')}`, checkpoint `{place.get('checkpoint_id')}`",
        fix="Restore the session from a backup.",
    )


def _typed(kind: str, data: bytes) -> bytes:
    return kind.encode() + b"\x00" + data


def _loaded(plain: bytes, serde: SerializerProtocol) -> Any:
    kind, _, data = plain.partition(b"\x00")
    return serde.loads_typed((kind.decode(), data))


def _headed(version: str, sealed: bytes) -> bytes:
    return version.encode() + b"\n" + sealed


def _beheaded(value: object) -> tuple[str, object]:
    if not isinstance(value, bytes):
        return "", value  # not sealed: the cipher refuses it
    version, _, sealed = value.partition(b"\n")
    return version.decode(errors="replace"), sealed
