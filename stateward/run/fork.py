"""Going on from a checkpoint that is not the latest: on a branch of its own, or at the end of another branch.

LangGraph replays there: a recorded answer is given again, and effects of the first time are taken for those of the
second. Here the checkpoint is first written again as the latest one, with the name of a new branch. The name is part of
the key of every call: what is called from then on is called anew, and what it costs is added to what the run has spent.
What an activity that is not done at the checkpoint had called by then, the branch inherits: it is not called again.
Questions that stood open there are put again, as asks of the branch: an answer holds for one branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from stateward.errors import NotExpected
from stateward.run.branch import KEY, chosen_name, known, with_new
from stateward.run.called import Called, checkpoint_id, committed
from stateward.run.checkpoint import CHANNEL, MAIN_BRANCH, TERMINAL, Control, Json, decode, merge
from stateward.run.configurable import onward, pinned, with_invocation
from stateward.run.drive import Steps, Work
from stateward.run.edit import begun, edited
from stateward.run.invocation import Invocation
from stateward.run.people.reminder import moved_reminders
from stateward.run.plan import Machine
from stateward.run.snapshot import addressed, listing, written_at
from stateward.run.store.ask import Ask, ask_id
from stateward.run.store.entry import CallKey
from stateward.run.store.inheritance import inherit, names_in_use
from stateward.run.store.kind import UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A session turns to an earlier checkpoint; nothing of it is written yet but its open questions."""

    snapshot: StateSnapshot
    """The checkpoint, as it was stored."""
    delta: Json
    """What changes in its control channel."""
    branch: str
    of: str = ""
    """The branch that is left, when a new one begins."""
    asks: tuple[Ask, ...] = ()
    """The questions that are put again."""
    inherits: tuple[CallKey, ...] = field(default=())
    """The calls that the new branch knows."""

    @property
    def control(self) -> Json:
        """The control channel as it will be."""
        return merge(self.snapshot.values[CHANNEL], self.delta)

    @property
    def before(self) -> StateSnapshot:
        """The checkpoint as it will be, for admission."""
        return self.snapshot._replace(values={**self.snapshot.values, CHANNEL: self.control})


def turned(
    graph: Called, config: RunnableConfig, invocation: Invocation, *, name: str | None = None, anew: bool = False
) -> Steps[Turn | None]:
    """See where a call begins: where the session stands, at the end of another branch, or in the past.

    Args:
        graph: The graph.
        config: LangGraph's config; it may name a checkpoint.
        invocation: The call, which holds the session.
        name: The name of a new branch; None for the next free one.
        anew: Whether a new branch is begun wherever the checkpoint stands.

    Returns:
        A generator of work that returns the turn; None when the session goes on where it stands.

    Raises:
        NotExpected: There is no such checkpoint, nothing has happened at it yet, or the name is in use.
        InputRefused: The name is no name.
        Drift: Its run was started by another definition.
    """
    wanted = checkpoint_id(config)
    if not wanted and not anew:
        return None
    latest: StateSnapshot = yield from committed(graph, cast(RunnableConfig, onward(config)))
    head = checkpoint_id(latest.config)
    if wanted in ("", head) and not anew:
        return None
    snapshot = latest if wanted in ("", head) else (yield from _found(graph, config, invocation))
    if not begun(snapshot):
        raise NotExpected("The session has no run yet that could be forked", fix="Send an input to open one.")
    table = known(latest.values[CHANNEL], head=head)
    left = snapshot.values[CHANNEL].get("branch") or MAIN_BRANCH
    if not anew and table.get(left, {}).get("head") == wanted:
        return Turn(snapshot=snapshot, delta={KEY: table, "branch": left, "last": _last("switch")}, branch=left)
    return (yield from forked(graph.machine, snapshot, invocation, table=table, name=name))


def forked(
    machine: Machine,
    snapshot: StateSnapshot,
    invocation: Invocation,
    *,
    table: Mapping[str, Json] | None = None,
    name: str | None = None,
) -> Steps[Turn]:
    """Begin a branch at a checkpoint: put its open questions again, and see what it inherits.

    Args:
        machine: The lowered chart.
        snapshot: The checkpoint.
        invocation: The call.
        table: The branches of the session; None for those that the checkpoint knows.
        name: The new branch's; None for the next free one.

    Returns:
        A generator of work that returns the turn.

    Raises:
        NotExpected: The name is in use, or nobody knows how a call ended that was begun before.
        InputRefused: The name is no name.
        Drift: The checkpoint names a state that the chart does not have.
    """
    raw: Json = snapshot.values[CHANNEL]
    control = cast(Control, decode(raw, machine.chart))
    table = table if table is not None else known(raw, head=checkpoint_id(snapshot.config))
    used: frozenset[str] = yield Work(fn=names_in_use, args=(invocation.database, invocation.session))
    branch = chosen_name(name, of=control.branch, taken={*used, *table}, session=invocation.session)
    inherits: tuple[CallKey, ...] = yield Work(fn=_inherited, args=(machine, control, snapshot, invocation))
    asks: dict[str, Ask] = yield Work(fn=_put_again, args=(control, branch, invocation))
    delta: Json = {
        "branch": branch,
        KEY: with_new(
            table,
            branch,
            control=raw,
            head=checkpoint_id(snapshot.config),
            step=(snapshot.metadata or {}).get("step"),
            asks={old: ask.id for old, ask in asks.items()},
        ),
        "asks": {path: [asks[ask].id if ask in asks else ask for ask in ids] for path, ids in control.asks.items()},
        "timers": moved_reminders(control.timers, {old: ask.id for old, ask in asks.items()}),
        "last": _last("fork"),
    }
    return Turn(
        snapshot=snapshot,
        delta=delta,
        branch=branch,
        of=control.branch,
        asks=tuple(asks.values()),
        inherits=inherits,
    )


def write(
    graph: Called,
    config: RunnableConfig,
    turn: Turn,
    invocation: Invocation,
    *,
    values: Mapping[str, Any] | None = None,
) -> Steps[RunnableConfig]:
    """Write the checkpoint with which a session goes on.

    Args:
        graph: The graph.
        config: LangGraph's config of the call.
        turn: Where it goes on.
        invocation: The call, which holds the session.
        values: State keys that are edited there; they are checked.

    Returns:
        A generator of work that returns the config of the new checkpoint.
    """
    yield from take_over(turn, invocation)
    update = {**(values or {}), **({CHANNEL: turn.delta} if turn.delta else {})}
    written: RunnableConfig = yield graph.writing(
        with_invocation(pinned(addressed(config, turn.snapshot), graph.machine.pins), invocation),
        edited(graph.machine, update, before=turn.snapshot),
    )
    return written


def take_over(turn: Turn, invocation: Invocation) -> Steps[None]:
    """Let the new branch of a turn know what its checkpoint knew, if it begins one.

    Args:
        turn: Where a run goes on.
        invocation: The call.

    Returns:
        A generator of work.
    """
    if turn.of:
        yield Work(fn=_inherit, args=(turn, invocation))


def take_back(turn: Turn, invocation: Invocation) -> None:
    """Take the questions of a turn back that does not come about.

    Args:
        turn: The turn.
        invocation: The call.
    """
    if turn.asks:
        ids = [ask.id for ask in turn.asks]
        invocation.database.asks.withdraw(invocation.session, ids=ids, fence=invocation.fence)


def _last(event: str) -> Json:
    return {"event": event, "state": "", "activation": 0}


def _found(graph: Called, config: RunnableConfig, invocation: Invocation) -> Steps[StateSnapshot]:
    """Read the checkpoint that a config names; for that of an input, the first step it came to."""
    snapshot: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(config,))
    wanted = checkpoint_id(config)
    if snapshot.created_at is None:
        raise NotExpected(
            f"Session `{invocation.session}` has no checkpoint `{wanted}`",
            fix="List them with `get_state_history`, or with `stateward history --json`.",
        )
    if snapshot.next != ("__start__",):
        return snapshot
    every: list[StateSnapshot] = yield listing(graph, cast(RunnableConfig, onward(config)))
    children = [one for one in every if checkpoint_id(one.parent_config) == wanted]
    if not children:
        raise NotExpected(f"At checkpoint `{wanted}` nothing has happened yet", fix="Name a later one.")
    return children[-1]


def _inherited(
    machine: Machine, control: Control, snapshot: StateSnapshot, invocation: Invocation
) -> tuple[CallKey, ...]:
    """Find the calls that activities had made by then which are not done there.

    Of one that had asked people, these are the calls older than its question: both moments are the database's. Of
    another nothing but the checkpoint's time tells, which is that of the machine that wrote it.
    """
    chart, configuration = machine.chart, control.configuration
    written = written_at(snapshot)
    open_places = {(chart.nodes[state].path, configuration.activation(state)) for state in configuration.atomic(chart)}
    asks = _open_asks(control, invocation)
    asked = {(ask.path, ask.activation, ask.call) for ask in asks if ask.kind != UNKNOWN}
    put_at: dict[tuple[str, int], float] = {}
    for ask in asks:
        where = (ask.path, ask.activation)
        put_at[where] = max(put_at.get(where, 0.0), ask.created_at)
    found: list[CallKey] = []
    for entry in invocation.database.journal.entries(invocation.session, run=control.run):
        key = entry.key
        place = (key.path, key.activation)
        if key.branch != control.branch or place not in open_places or entry.started_at > put_at.get(place, written):
            continue
        if entry.status in ("completed", "failed"):
            found.extend([] if (*place, key.call) in asked else [key])
        elif entry.effect == "once":
            raise NotExpected(
                f"Nobody knows yet how call {key.call}, `{entry.name}`, ended, which was begun before this checkpoint",
                where=key.place,
                fix="Go on with the session first, so that it is settled, or fork from an earlier step.",
            )
    return tuple(found)


def _open_asks(control: Control, invocation: Invocation) -> list[Ask]:
    asks = (invocation.database.asks.find(ask) for ids in control.asks.values() for ask in ids)
    return [ask for ask in asks if ask is not None]


def _put_again(control: Control, branch: str, invocation: Invocation) -> dict[str, Ask]:
    """Put the questions of a checkpoint again, as those of a branch; by the ids of the old ones.

    A run that has ended waits for nobody, whatever its regions had asked by then.
    """
    if control.status in TERMINAL:
        return {}
    database, now = invocation.database, invocation.now()
    olds = [database.asks.get(ask) for ids in control.asks.values() for ask in ids]
    again = {old.id: _again(old, branch=branch, now=now) for old in olds}
    if again:
        database.asks.create(tuple(again.values()), fence=invocation.fence)
    return again


def _again(old: Ask, *, branch: str, now: float) -> Ask:
    key = CallKey(
        session=old.session, run=old.run, branch=branch, path=old.path, activation=old.activation, call=old.call
    )
    expires = None if old.expires_at is None else now + old.expires_at - old.created_at
    new = replace(old.unanswered(), created_at=0.0, expires_at=expires)
    return replace(new, id=ask_id(key, old.fingerprint), branch=branch)


def _inherit(turn: Turn, invocation: Invocation) -> None:
    database = invocation.database
    with database.transaction(invocation.session):
        inherit(database, turn.inherits, branch=turn.branch)
        database.audit.append(
            {
                "event": "forked",
                "session": invocation.session,
                "run": turn.snapshot.values[CHANNEL]["run"]["id"],
                "branch": turn.branch,
                "of": turn.of,
                "checkpoint": checkpoint_id(turn.snapshot.config),
            }
        )
