"""Retention: old checkpoints go, and what is kept reads as it did.

Kept of a session are the newest checkpoints that were asked for, and always: the last one of each branch (a run that
waits or was interrupted goes on from there), the one that ended the last run, and those that were pinned. `lineage.py`
says what else stays so that these can be read. Journal, ledger, asks, letters and the audit log are not touched: a
completed effect is known as long as its session is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from langchain_core.runnables import RunnableConfig

from stateward.errors import CheckpointError, SessionBusy
from stateward.run.checkpoint import CHANNEL, MAIN_BRANCH, Json
from stateward.run.store.cursor import Cursor
from stateward.run.store.database import Database
from stateward.run.store.layout import Layout, Named
from stateward.run.store.lease import check_fence
from stateward.run.store.lineage import Lineage, Node, thinned
from stateward.run.store.opaque import OpaqueSerializer
from stateward.run.store.stored import NO_TASK, StoredCheckpoint, StoredWrite

PIN = "stateward_pin"
"""The key of a pinned checkpoint's metadata."""
_COUNTERS = "counters_since_delta_snapshot"
"""LangGraph's key of the metadata that names the delta channels a checkpoint does not hold in full."""
_MOVED = "~~stateward"
"""How the task paths of moved writes begin: LangGraph's own begin with one `~` or none and sort before them."""
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Which checkpoints of a session are to be kept; one that any of them keeps stays."""

    keep: int | None = None
    """The newest so many, ≥ 1."""
    days: float | None = None
    """Those of the last so many days, ≥ 0."""

    def __post_init__(self) -> None:
        if self.keep is None and self.days is None:
            raise CheckpointError(
                "Nothing says what to keep",
                fix="Give `keep`, a number of checkpoints, or `days`; `--keep` or `--days` on the command line.",
            )
        # So asked, NaN is refused too: it is neither less nor more than any number.
        if not ((self.keep is None or self.keep >= 1) and (self.days is None or self.days >= 0)):
            given = {"keep": self.keep, "days": self.days}
            raise CheckpointError(
                f"Cannot keep {', '.join(f'`{name}={n}`' for name, n in given.items() if n is not None)}",
                fix="Keep at least 1 checkpoint, or the last 0 or more days.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What became of one session."""

    session: str
    removed: int = 0
    """Checkpoints that went, or would go."""
    kept: int = 0
    """Checkpoints that stay."""
    freed: int = 0
    """Bytes of what went; a file keeps its size until it is vacuumed."""
    busy: str = ""
    """Why the session was left alone; empty when it was not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What becomes of the checkpoints of one namespace."""

    namespace: str
    lineage: Lineage
    seen: Sequence[_Seen]
    moved: Sequence[StoredWrite]
    """The writes that move, as they will be stored."""

    @property
    def gone(self) -> list[_Seen]:
        """Those that go."""
        return [one for one in self.seen if one.node.id not in self.lineage.kept]

    @property
    def named(self) -> frozenset[Named]:
        """The values that those that stay have."""
        return frozenset[Named]().union(*(one.named for one in self.seen if one.node.id in self.lineage.kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What is looked at of a checkpoint."""

    node: Node
    namespace: str
    written_at: float
    branch: str
    heads: tuple[str, ...]
    """Where the branches stand that the session has turned from."""
    pinned: bool
    around: str | None
    """The checkpoint of the whole graph that a nested graph's belongs to."""
    size: int
    named: frozenset[Named]


def prune(
    database: Database, *, retention: Retention, session: str | None = None, dry_run: bool = False
) -> list[Pruned]:
    """Delete old checkpoints; one transaction a session.

    Args:
        database: The database.
        retention: What to keep.
        session: Only this session; None for all.
        dry_run: Whether to say only what would go.

    Returns:
        What became of each session, in the order in which they were made; a session that somebody runs is left alone.

    Raises:
        UnknownSession: There is no such session.
    """
    sessions = [database.sessions.get(session)] if session is not None else database.sessions.list()
    return [prune_session(database, row.id, retention=retention, dry_run=dry_run) for row in sessions]


def prune_session(database: Database, session: str, *, retention: Retention, dry_run: bool = False) -> Pruned:
    """Delete old checkpoints of one session in one transaction.

    Args:
        database: The database.
        session: The session's id.
        retention: What to keep.
        dry_run: Whether to say only what would go.

    Returns:
        What became of it.
    """
    return database.persist(lambda: _pruned(database, session, retention=retention, dry_run=dry_run))


def _pruned(database: Database, session: str, *, retention: Retention, dry_run: bool) -> Pruned:
    layout = database.layout
    with database.transaction(session) as cur:
        try:
            check_fence(cur, session=session, fence=None, now=database.clock.now())
        except SessionBusy as busy:
            return Pruned(session=session, busy=busy.what)
        controls = _controls(database, session)
        seen = [_seen(stored, controls) for stored in layout.checkpoints(cur, session)]
        weights = layout.weights(cur, session)
        parts = _parts(layout, cur, session, seen, retention=retention, now=database.clock.now())
        done = Pruned(session=session, kept=sum(len(part.lineage.kept) for part in parts))
        for part in parts:
            freed = sum(one.size + weights.get((part.namespace, one.node.id), 0) for one in part.gone)
            freed -= sum(len(write.data) for write in part.moved)
            done = replace(done, removed=done.removed + len(part.gone), freed=done.freed + freed)
            if part.gone and not dry_run:
                _apply(layout, cur, session, part)
        if done.removed:
            named = frozenset[Named]().union(*(part.named for part in parts))
            done = replace(done, freed=done.freed + layout.sweep(cur, session, named=named, dry_run=dry_run))
    return done


def pin(database: Database, session: str, checkpoint: str, *, pinned: bool = True) -> None:
    """Keep a checkpoint whatever is pruned, or no longer.

    Args:
        database: The database.
        session: The session's id.
        checkpoint: The checkpoint's id, as `stateward history --json` tells it.
        pinned: Whether it is kept.

    Raises:
        CheckpointError: The session has no such checkpoint.
    """
    layout = database.layout
    with database.transaction(session) as cur:
        found = [one for one in layout.checkpoints(cur, session) if one.id == checkpoint]
        if not found:
            raise CheckpointError(
                f"Session `{session}` has no checkpoint `{checkpoint}`",
                where=f"`{database.url}`",
                fix="See its checkpoints with `stateward history SESSION --json`.",
            )
        for stored in found:
            metadata = {key: value for key, value in stored.metadata.items() if key != PIN}
            layout.set_metadata(cur, session, stored, metadata | ({PIN: True} if pinned else {}))


def _controls(database: Database, session: str) -> dict[str, Json]:
    """The control channel of each checkpoint of the whole graph, decrypted where it is encrypted."""
    saver = copy(database.saver)
    saver.serde = OpaqueSerializer()
    given: RunnableConfig = {"configurable": {"thread_id": session, "checkpoint_ns": ""}}
    controls = (
        (found.checkpoint["id"], found.checkpoint["channel_values"].get(CHANNEL)) for found in saver.list(given)
    )
    return {name: cast("Json", control) for name, control in controls if isinstance(control, dict)}


def _seen(stored: StoredCheckpoint, controls: Mapping[str, Json]) -> _Seen:
    values: Json = stored.content.get("channel_values") or {}
    versions: Json = stored.content.get("channel_versions") or {}
    control = {} if stored.namespace else controls.get(stored.id) or {}
    branches: dict[str, Json] = control.get("branches") or {}
    parents: Json = stored.metadata.get("parents") or {}
    unheld = frozenset(stored.metadata.get(_COUNTERS) or {}) & versions.keys() - values.keys()
    return _Seen(
        node=Node(id=stored.id, parent=stored.parent, held=frozenset(values), missing=unheld),
        namespace=stored.namespace,
        written_at=datetime.fromisoformat(stored.content["ts"]).timestamp(),
        branch=control.get("branch") or MAIN_BRANCH,
        heads=tuple(branch["head"] for branch in branches.values() if branch.get("head")),
        pinned=bool(stored.metadata.get(PIN)),
        around=parents.get(""),
        size=stored.size,
        named=frozenset((stored.namespace, channel, str(version)) for channel, version in versions.items()),
    )


def _ended(cur: Cursor, session: str) -> set[str]:
    """The checkpoint that ended the last run; none when it has not ended."""
    cur.execute(
        "SELECT t.checkpoint FROM stateward_terminals t JOIN stateward_sessions s ON s.id = t.session AND s.run = t.run"
        " WHERE s.id = ?",
        (session,),
    )
    return {str(row[0]) for row in cur.fetchall()}


def _parts(
    layout: Layout, cur: Cursor, session: str, seen: Sequence[_Seen], *, retention: Retention, now: float
) -> list[_Part]:
    """What becomes of each namespace; nested graphs follow the whole one."""
    by_namespace: dict[str, list[_Seen]] = {"": []}
    for one in seen:
        by_namespace.setdefault(one.namespace, []).append(one)
    outer = by_namespace.pop("")
    wanted = _asked_for(outer, retention=retention, now=now) | _always(outer) | _ended(cur, session)
    whole = _part(layout, cur, session, "", outer, wanted)
    saved = {one.node.id for one in outer}
    parts = [whole]
    for namespace, inner in by_namespace.items():
        stays = _following(inner, outer=whole.lineage.kept, saved=saved, lasting=":" not in namespace)
        parts.append(_part(layout, cur, session, namespace, inner, stays))
    return parts


def _asked_for(seen: Sequence[_Seen], *, retention: Retention, now: float) -> set[str]:
    newest = seen[-retention.keep :] if retention.keep else ()
    recent = (one for one in seen if retention.days is not None and one.written_at >= now - retention.days * _DAY_S)
    return {one.node.id for one in (*newest, *recent)}


def _always(seen: Sequence[_Seen]) -> set[str]:
    last = {one.branch: one.node.id for one in seen}  # the oldest come first
    heads = {head for one in seen[-1:] for head in one.heads}
    return set(last.values()) | heads | {one.node.id for one in seen if one.pinned}


def _following(inner: Sequence[_Seen], *, outer: frozenset[str], saved: set[str], lasting: bool) -> set[str]:
    """The checkpoints of a nested graph that go with kept ones of the whole graph.

    One that outlives its call is read at a checkpoint of the whole graph as it was left before: its last one before
    each kept one stays, too.
    """
    stays = {one.node.id for one in inner if one.around in outer or one.around not in saved or one.pinned}
    if lasting:
        names = [one.node.id for one in inner]
        places = {bisect_left(names, name) for name in outer} | {len(names)}
        stays |= {names[place - 1] for place in places if place}
    return stays


def _part(layout: Layout, cur: Cursor, session: str, namespace: str, seen: Sequence[_Seen], wanted: set[str]) -> _Part:
    """Thin out a namespace; a checkpoint with writes that would have to move and cannot stays.

    The task of a write that moves stays in it: an encrypted value is bound to it.
    """
    deltas = frozenset[str]().union(*(one.node.missing for one in seen))
    while True:
        lineage = thinned((one.node for one in seen), wanted=wanted)
        moved, bound = list[StoredWrite](), set[str]()
        for home, stretch in lineage.stretches.items():
            there = layout.writes_of(cur, session, namespace=namespace, checkpoints=[home])
            coming = layout.writes_of(cur, session, namespace=namespace, checkpoints=stretch)
            going = [write for write in coming if write.channel in deltas]
            bound |= {write.checkpoint for write in going if write.task == NO_TASK}
            start = sum(write.path.startswith(_MOVED) for write in there)
            moved += [
                replace(write, checkpoint=home, path=f"{_MOVED}{number:09d}")
                for number, write in enumerate(going, start=start)
            ]
        if not bound:
            return _Part(namespace=namespace, lineage=lineage, seen=seen, moved=moved)
        wanted = wanted | bound


def _apply(layout: Layout, cur: Cursor, session: str, part: _Part) -> None:
    gone = [one.node.id for one in part.gone]
    layout.drop(cur, session, namespace=part.namespace, checkpoints=gone)
    layout.put_writes(cur, session, part.moved)
    for name, parent in part.lineage.parents.items():
        layout.set_parent(cur, session, namespace=part.namespace, checkpoint=name, parent=parent)
