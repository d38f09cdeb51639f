"""Reading a recorded run out of a database: checkpoints with what was written to them, journal, asks, mailbox, audit.

The steps of a run are found from its newest checkpoint back through their parents, so that of a session with branches
the line is taken that led there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.types import RESUME
from langgraph.graph import START
from langgraph.types import StateSnapshot

from stateward.errors import NotExpected, UnknownSession
from stateward.run.called import checkpoint_id
from stateward.run.checkpoint import CHANNEL, Json, merge
from stateward.run.context_record import found as context_found
from stateward.run.context_record import named_in
from stateward.run.graph import ChartGraph
from stateward.run.replay.recording import Moment, Recording, Source
from stateward.run.snapshot import control_in
from stateward.run.store.database import Database
from stateward.run.store.mailbox import Letter
from stateward.run.store.stored import NO_TASK


def recordings(
    graph: ChartGraph, *, database: Database, session: str, run_no: int | None = None, newest: bool = False
) -> tuple[Recording, ...]:
    """Read the recorded runs of a session, the oldest first.

    Args:
        graph: The chart, attached to the database.
        database: Where its journal is.
        session: The session's id.
        run_no: Only the run of this number, from 1; None for all.
        newest: Whether the newest run is enough where none is named.

    Returns:
        The runs that came to a step at least.

    Raises:
        UnknownSession: No session has this id, or it has no checkpoint here.
        NotExpected: The session has no such run, or steps of one that is wanted are not stored any more.
    """
    stored = _stored(graph, session)
    moments = _moments(graph, session, stored)
    if not moments:
        raise UnknownSession(
            f"Session `{session}` has no checkpoint of a run", fix="Name one that `stateward sessions` lists."
        )
    numbers = sorted({moment.control["run"]["no"] for moment in moments.values()})
    if run_no is not None and run_no not in numbers:
        raise NotExpected(f"Session `{session}` has no run {run_no}", fix=f"Its runs: {', '.join(map(str, numbers))}.")
    wanted = (numbers[-1:] if newest else numbers) if run_no is None else [run_no]
    parents = {id: checkpoint_id(one.parent_config) for id, one in stored.items()}
    lines = {no: _line(moments, parents, no) for no in numbers}
    steps = {id: int(one.metadata.get("step", 0)) for id, one in stored.items()}
    _refuse_gaps({no: _gap(line, steps, parents) for no, line in lines.items()}, wanted=wanted, session=session)
    notes = [row.record for row in database.audit.rows(session)]
    return tuple(_recording(database, session, lines[no], notes) for no in wanted)


def _moments(graph: ChartGraph, session: str, stored: Mapping[str, CheckpointTuple]) -> dict[str, Moment]:
    """All checkpoints of the session by their ids, the oldest first."""
    config: RunnableConfig = {"configurable": {"thread_id": session}}
    found: dict[str, Moment] = {}
    for snapshot in reversed(list(graph.get_state_history(config))):
        id = checkpoint_id(snapshot.config)
        if control_in(snapshot) or _is_input(snapshot):
            found[id] = _moment(snapshot, stored[id])
    return {id: moment for id, moment in found.items() if moment.control or moment.given is not None}


def _stored(graph: ChartGraph, session: str) -> dict[str, CheckpointTuple]:
    saver = cast("BaseCheckpointSaver[Any]", graph.checkpointer)
    config: RunnableConfig = {"configurable": {"thread_id": session, "checkpoint_ns": ""}}
    return {one.checkpoint["id"]: one for one in saver.list(config)}


def _is_input(snapshot: StateSnapshot) -> bool:
    return (snapshot.metadata or {}).get("source") == "input"


def _moment(snapshot: StateSnapshot, stored: CheckpointTuple) -> Moment:
    metadata = cast("dict[str, Any]", snapshot.metadata or {})
    values = cast("dict[str, Any]", snapshot.values or {})
    given: Any = stored.checkpoint["channel_values"].get(START) if _is_input(snapshot) else None
    # An input is seen before it is taken: its run is in what was given.
    control: Json = merge({}, given[CHANNEL]) if given is not None else values[CHANNEL]
    resumed, payload, update = _resumed(stored)
    return Moment(
        step=metadata.get("step", 0),
        checkpoint=stored.checkpoint["id"],
        source=_source(metadata),
        values={key: value for key, value in values.items() if key != CHANNEL},
        control=control,
        next=snapshot.next,
        given=given,
        resumed=resumed,
        payload=payload,
        update=update,
        context=named_in(snapshot),
    )


def _source(metadata: Mapping[str, Any]) -> Source:
    kinds: Mapping[str, Source] = {"input": "input", "loop": "step"}
    return kinds.get(str(metadata.get("source")), "edit")


def _resumed(stored: CheckpointTuple) -> tuple[bool, Any, tuple[tuple[str, Any], ...]]:
    writes = stored.pending_writes or []
    outside = [(channel, value) for task, channel, value in writes if task == NO_TASK]
    for channel, value in outside:
        if channel == RESUME:
            return True, value, tuple(pair for pair in outside if pair[0] != RESUME)
    return False, None, ()


def _line(moments: Mapping[str, Moment], parents: Mapping[str, str], run_no: int) -> tuple[Moment, ...]:
    """The checkpoints that led to the newest one of a run, and the one before the run as the first, if there is one."""
    id = max(id for id, moment in moments.items() if moment.control["run"]["no"] == run_no)
    line: list[Moment] = []
    while id in moments:
        line.append(moments[id])
        if moments[id].control["run"]["no"] != run_no:
            break
        id = parents.get(id, "")
    return tuple(reversed(line))


def _gap(line: Sequence[Moment], steps: Mapping[str, int], parents: Mapping[str, str]) -> str:
    """Say which steps of a run are not stored any more; LangGraph counts them, each from the one it came from."""
    run: str = line[-1].control["run"]["id"]
    for moment in line:
        if moment.control["run"]["id"] == run and steps.get(parents[moment.checkpoint], -2) != moment.step - 1:
            return f"steps before {moment.step}"
    last = line[-1]
    onward = [steps[id] for id, parent in parents.items() if parent == last.checkpoint]
    return "" if all(step == last.step + 1 for step in onward) else f"steps after {last.step}"


def _refuse_gaps(gaps: Mapping[int, str], *, wanted: Sequence[int], session: str) -> None:
    for no in wanted:
        if gaps[no]:
            whole = ", ".join(str(other) for other, gap in gaps.items() if not gap)
            raise NotExpected(
                f"Run {no} cannot be played again: {gaps[no]} are not stored any more, as after `prune`",
                where=f"session `{session}`",
                fix=f"Play run {whole}, which is whole." if whole else "No run of the session is whole.",
            )


def _recording(
    database: Database, session: str, line: Sequence[Moment], notes: Sequence[Mapping[str, Any]]
) -> Recording:
    run: Json = line[-1].control["run"]
    before = line[0] if line[0].control["run"]["id"] != run["id"] else None
    own = line[1:] if before is not None else line
    row, id = database.sessions.get(session), str(run["id"])
    tables: list[Mapping[str, list[str]]] = [moment.control.get("asks") or {} for moment in own]
    asks = {ask for table in tables for several in table.values() for ask in several}
    return Recording(
        graph=row.graph,
        session=session,
        tenant=row.tenant,
        run=id,
        run_no=run["no"],
        before=before,
        moments=_taken(own),
        calls=database.journal.entries(session, id),
        asks=tuple(found for ask in sorted(asks) if (found := database.asks.find(ask)) is not None),
        letters=_letters(database, session, own),
        notes=tuple(note for note in notes if note.get("run") == id),
        contexts={
            digest: context_found(database, session, digest) for digest in sorted({one.context for one in own} - {""})
        },
    )


def _letters(database: Database, session: str, moments: Sequence[Moment]) -> tuple[Letter, ...]:
    """The letters that the steps of a run looked at."""
    looked: list[Mapping[str, list[int]]] = [moment.last.get("letters") or {} for moment in moments]
    seen = {no for kinds in looked for several in kinds.values() for no in several}
    return tuple(letter for letter in database.mailbox.list(session) if letter.no in seen) if seen else ()


def _taken(moments: Sequence[Moment]) -> tuple[Moment, ...]:
    """Put an input and the checkpoint in which LangGraph has taken it together."""
    taken: list[Moment] = []
    for moment in moments:
        if taken and taken[-1].source == "input" and taken[-1].next == (START,):
            moment = replace(moment, source="input", given=taken.pop().given)
        taken.append(moment)
    if taken and taken[-1].next == (START,):
        taken.pop()  # the process died before the run began
    return tuple(taken)
