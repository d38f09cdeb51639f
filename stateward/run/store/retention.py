"""Retention: old checkpoints go, and what is kept reads as it did.

Kept of a session are the newest checkpoints that were asked for, and always: the last one of each branch (a run that
waits or was interrupted goes on from there), the one that ended the last run, and those that were pinned. `lineage.py`
says what else stays so that these can be read. Journal, ledger, asks, letters and the audit log are not touched: a
completed effect is known as long as its session is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from stateward.errors import CheckpointError, SessionBusy
from stateward.run.checkpoint import CHANNEL, MAIN_BRANCH, Json
from stateward.run.store.cursor import Cursor
from stateward.run.store.database import Database
from stateward.run.store.layout import Layout, Named
from stateward.run.store.lease import check_fence
from stateward.run.store.lineage import Lineage, Node, thinned
from stateward.run.store.split_layout import layout_of
from stateward.run.store.stored import StoredCheckpoint, StoredWrite

PIN = "stateward_pin"
"""The key of a pinned checkpoint's metadata."""
_COUNTERS = "counters_since_delta_snapshot"
"""LangGraph's key of the metadata that names the delta channels a checkpoint does not hold in full."""
_MOVED = "~~stateward"
"""The task path of moved writes: LangGraph's own begin with one `~` or none, so that these sort after them."""
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
            raise CheckpointError("Nothing says what to keep", fix="Give a number of checkpoints, or of days.")
        if (self.keep is not None and self.keep < 1) or (self.days is not None and self.days < 0):
            raise CheckpointError(
                f"Cannot keep {self.keep} checkpoints or {self.days} days",
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
class _Seen:
    """What is looked at of a checkpoint."""

    node: Node
    namespace: str
    written_at: float
    branch: str
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
    layout = layout_of(database.url)
    with database.transaction(session) as cur:
        try:
            check_fence(cur, session=session, fence=None, now=database.clock.now())
        except SessionBusy as busy:
            return Pruned(session=session, busy=busy.what)
        seen = [_seen(stored) for stored in layout.checkpoints(cur, session)]
        weights = layout.weights(cur, session)
        plans = _plans(seen, ended=_end(cur, session), retention=retention, now=database.clock.now())
        done = Pruned(session=session)
        for namespace, lineage in plans.items():
            here = [one for one in seen if one.namespace == namespace]
            moved = _moved(layout, cur, session, namespace, here, lineage)
            gone = [one for one in here if one.node.id not in lineage.kept]
            if gone and not dry_run:
                _apply(layout, cur, session, namespace, lineage, gone=[one.node.id for one in gone], moved=moved)
            freed = sum(one.size + weights.get((namespace, one.node.id), 0) for one in gone)
            done = replace(
                done,
                removed=done.removed + len(gone),
                kept=done.kept + len(lineage.kept),
                freed=done.freed + freed - sum(len(write.data) for write in moved),
            )
        if done.removed and not dry_run:
            kept = [one for one in seen if one.node.id in plans[one.namespace].kept]
            swept = layout.sweep(cur, session, named=frozenset[Named]().union(*(one.named for one in kept)))
            done = replace(done, freed=done.freed + swept)
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
    layout = layout_of(database.url)
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


def _seen(stored: StoredCheckpoint) -> _Seen:
    values: Json = stored.content.get("channel_values") or {}
    versions: Json = stored.content.get("channel_versions") or {}
    control = values.get(CHANNEL)
    unheld = frozenset(stored.metadata.get(_COUNTERS) or {}) & versions.keys() - values.keys()
    return _Seen(
        node=Node(id=stored.id, parent=stored.parent, held=frozenset(values), missing=unheld),
        namespace=stored.namespace,
        written_at=datetime.fromisoformat(stored.content["ts"]).timestamp(),
        branch=(control.get("branch") if isinstance(control, dict) else None) or MAIN_BRANCH,
        pinned=bool(stored.metadata.get(PIN)),
        around=(stored.metadata.get("parents") or {}).get(""),
        size=stored.size,
        named=frozenset((stored.namespace, channel, str(version)) for channel, version in versions.items()),
    )


def _end(cur: Cursor, session: str) -> str | None:
    """The checkpoint that ended the last run; None when it has not ended."""
    cur.execute(
        "SELECT t.checkpoint FROM stateward_terminals t JOIN stateward_sessions s ON s.id = t.session AND s.run = t.run"
        " WHERE s.id = ?",
        (session,),
    )
    row = cur.fetchone()
    return None if row is None else str(row[0])


def _plans(seen: Sequence[_Seen], *, ended: str | None, retention: Retention, now: float) -> Mapping[str, Lineage]:
    """What stays of each namespace; the whole graph's is first, for the others follow it."""
    by_namespace: dict[str, list[_Seen]] = {"": []}
    for one in seen:
        by_namespace.setdefault(one.namespace, []).append(one)
    outer = by_namespace.pop("")
    wanted = _asked_for(outer, retention=retention, now=now) | _always(outer) | ({ended} if ended else set())
    plans = {"": thinned((one.node for one in outer), wanted=wanted)}
    saved = {one.node.id for one in outer}
    for namespace, inner in by_namespace.items():
        stays = _following(inner, outer=plans[""].kept, saved=saved, lasting=":" not in namespace)
        plans[namespace] = thinned((one.node for one in inner), wanted=stays)
    return plans


def _asked_for(seen: Sequence[_Seen], *, retention: Retention, now: float) -> set[str]:
    newest = seen[-retention.keep :] if retention.keep else ()
    recent = (one for one in seen if retention.days is not None and one.written_at >= now - retention.days * _DAY_S)
    return {one.node.id for one in (*newest, *recent)}


def _always(seen: Iterable[_Seen]) -> set[str]:
    last = {one.branch: one.node.id for one in seen}  # the oldest come first
    return set(last.values()) | {one.node.id for one in seen if one.pinned}


def _following(inner: Sequence[_Seen], *, outer: frozenset[str], saved: set[str], lasting: bool) -> set[str]:
    """The checkpoints of a nested graph that go with kept ones of the whole graph.

    One that outlives its call is read at a checkpoint of the whole graph as it was left before: its last one before
    each kept one stays, too.
    """
    stays = {one.node.id for one in inner if one.around in outer or one.around not in saved or one.pinned}
    if lasting:
        for name in outer:
            stays |= {one.node.id for one in [one for one in inner if one.node.id < name][-1:]}
        stays |= {one.node.id for one in inner[-1:]}
    return stays


def _moved(
    layout: Layout, cur: Cursor, session: str, namespace: str, seen: Sequence[_Seen], lineage: Lineage
) -> list[StoredWrite]:
    """The writes of delta channels that move, as they will be stored."""
    deltas = frozenset[str]().union(*(one.node.missing for one in seen))
    moved: list[StoredWrite] = []
    for home, stretch in lineage.stretches.items():
        there = layout.writes_of(cur, session, namespace=namespace, checkpoints=[home])
        start = sum(write.path == _MOVED for write in there)
        coming = layout.writes_of(cur, session, namespace=namespace, checkpoints=stretch)
        moved += [
            replace(write, checkpoint=home, path=_MOVED, task=_task(number), no=0)
            for number, write in enumerate((write for write in coming if write.channel in deltas), start=start)
        ]
    return moved


def _task(number: int) -> str:
    """Name the task of a moved write: like those LangGraph makes for such writes, in their order."""
    return f"ffffffff-{number >> 16:04x}-{number & 0xFFFF:04x}-0000-000000000000"


def _apply(
    layout: Layout,
    cur: Cursor,
    session: str,
    namespace: str,
    lineage: Lineage,
    *,
    gone: Sequence[str],
    moved: Sequence[StoredWrite],
) -> None:
    layout.drop(cur, session, namespace=namespace, checkpoints=gone)
    layout.put_writes(cur, session, moved)
    for name, parent in lineage.parents.items():
        layout.set_parent(cur, session, namespace=namespace, checkpoint=name, parent=parent)
