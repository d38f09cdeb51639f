"""Whether an answer to an ask would lead somewhere: an ask takes only one."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from typing import Any

from stateward.errors import NotExpected, UnknownSession
from stateward.run.admission import refuse_drift, refuse_left, stored
from stateward.run.caller import Caller
from stateward.run.drive import Bridge, Steps, Work
from stateward.run.edited import refuse_misfit
from stateward.run.invocation import Invocation
from stateward.run.store.ask import Ask, Decision
from stateward.run.store.given import Given
from stateward.run.text import checked_text
from stateward.run.verdict import read_answer


def refuse_strange(caller: Caller) -> None:
    """Check that a session can be gone on with here.

    Args:
        caller: The session.

    Raises:
        NotExpected: It keeps its checkpoints elsewhere.
    """
    row = caller.row()
    if (row is None or row.run) and stored(caller.latest(), machine=caller.graph.machine).control is None:
        raise NotExpected(
            f"Session `{caller.session}` has no checkpoint in this database",
            fix="Go on with it where it runs, over its own checkpointer.",
        )


def asked(caller: Caller, ask: str) -> Ask:
    """Read an ask, for somebody who wants to answer it.

    Args:
        caller: The session.
        ask: The ask's id.

    Returns:
        The ask; it may be another session's, of the same tenant.

    Raises:
        UnknownSession: The session belongs to another tenant.
        UnknownAsk: No ask has this id, or it belongs to another tenant's session.
    """
    caller.refuse_stranger()
    asks, sessions = caller.database.asks, caller.database.sessions
    found = asks.get(ask)
    try:
        sessions.refuse_stranger(found.session, tenant=caller.tenant)
    except UnknownSession:
        raise asks.unknown(ask) from None
    return found


def claimed(
    caller: Caller,
    ask: str,
    decision: Decision,
    *,
    by: str,
    note: str,
    tool: str = "",
    arguments: Mapping[str, Any] | None = None,
    value: object = None,
) -> Ask:
    """Record an answer.

    Args:
        caller: The session.
        ask: The ask's id.
        decision: What is answered.
        by: Who answers.
        note: Why.
        tool: The tool that is meant, of an edit the one that is wanted; empty when it is not said.
        arguments: The arguments that are meant, of an edit those that are wanted; None when they are not said.
        value: JSON. What is said to a question that asks for a value.

    Returns:
        The ask: answered, or open when it needs the approval of more people.

    Raises:
        UnknownSession: The session belongs to another tenant.
        UnknownAsk: No ask has this id, or it belongs to another tenant's session.
        AskClosed: It was answered, withdrawn or expired before.
        NotExpected: The ask is another session's.
        InputRefused: The name or the note cannot be kept, or another call is meant than was shown, or an edit leads to
            no call, or a value is none that was asked for.
        GovernanceError: The person may not answer it.
    """
    checked_text(by, what=f"who answers `{ask}`")
    checked_text(note, what=f"the note of the answer to `{ask}`")
    found = asked(caller, ask)
    if found.session != caller.session:
        raise NotExpected(f"Ask `{ask}` belongs to session `{found.session}`, not to `{caller.session}`")
    edit: Mapping[str, Any] = {"tool": tool, "arguments": arguments} if decision == "edit" else {}
    said = Given(by=by, decision=decision, note=note, value=value, **edit)
    refuse_misfit(caller.graph.machine, found, said, tool=tool, arguments=arguments)
    return caller.database.asks.answer(ask, decision=decision, by=by, note=note, value=value, **edit)


def recording(
    caller: Caller, answers: Mapping[str, Decision | Mapping[str, Any]], *, by: str, note: str
) -> Steps[None]:
    """Record answers, when each of them would lead somewhere.

    Args:
        caller: The session.
        answers: Ask to what is answered: a word, or an answer as `Command(resume=…)` takes it.
        by: Who answers.
        note: Why, where an answer does not say it.

    Returns:
        A generator of work.

    Raises:
        StatewardError: As `expect` and `claimed`.
    """
    for ask in answers:
        yield Work(fn=_expect, args=(caller, ask))
    for ask, said in answers.items():
        yield Work(fn=partial(claimed, caller, ask, **_told(ask, said, by=by, note=note)))


def refuse_misfits(caller: Caller, values: Mapping[str, Any], *, by: str) -> None:
    """Refuse several values of which one is none that was asked for, before any of them is recorded.

    Args:
        caller: The session.
        values: Ask to what is said.
        by: Who answers.

    Raises:
        UnknownAsk: No ask has such an id, or it belongs to another tenant's session.
        AskClosed: One was answered, withdrawn or expired before.
        InputRefused: A value is none that was asked for.
        GovernanceError: The person may not answer one, or has done so already.
    """
    for ask, value in values.items():
        refuse_misfit(caller.graph.machine, asked(caller, ask), Given(by=by, decision="respond", value=value))


def _told(ask: str, said: Decision | Mapping[str, Any], *, by: str, note: str) -> dict[str, Any]:
    if isinstance(said, str):
        return {"decision": said, "by": by, "note": note}
    one = read_answer(ask, said, asks=[ask], by=by)
    return {
        "decision": one.decision,
        "by": one.by,
        "note": one.note or note,
        "tool": one.tool,
        "arguments": one.arguments,
        "value": one.value,
    }


def _expect(caller: Caller, ask: str) -> None:
    expect(caller.kept(), ask)


def expect(caller: Caller, ask: str) -> None:
    """Check that an answer would lead somewhere, before it is recorded.

    Args:
        caller: The session.
        ask: The ask's id.

    Raises:
        UnknownSession: The session belongs to another tenant.
        UnknownAsk: No ask has this id, or it belongs to another tenant's session.
        NotExpected: The session does not wait for it, or keeps its checkpoints elsewhere, or what comes first, a timer
            for instance, leaves the state that asked.
        Drift: The run was started by another definition.
    """
    session, database, machine = caller.session, caller.database, caller.graph.machine
    found = asked(caller, ask)
    if found.status != "open":
        return
    before = stored(caller.latest(), machine=machine)
    control = before.control
    if control is None:
        raise NotExpected(
            f"Session `{session}` has no checkpoint in this database",
            fix=f'Answer where it runs: Command(resume={{"answers": {{"{ask}": "approve"}}}}).',
        )
    refuse_drift(machine, control)
    if ask not in [one for ids in control.asks.values() for one in ids]:
        if found.session == session and found.branch != control.branch:
            raise _elsewhere(found, branch=control.branch)
        raise NotExpected(
            f"Session `{session}` does not wait for an answer to `{ask}`; it is {control.status}",
            fix="Resume it first." if control.status == "running" else "",
        )
    looking = Invocation(session=session, open_database=lambda: database, bridge=Bridge(), shared=True)
    try:
        refuse_left(machine, {ask}, control=control, before=before, invocation=looking)
    finally:
        looking.gone()


def _elsewhere(ask: Ask, *, branch: str) -> NotExpected:
    there = shlex.quote(ask.branch)
    return NotExpected(
        f"Ask `{ask.id}` stands on branch `{ask.branch}`, and session `{ask.session}` is on branch `{branch}`",
        where=f"session `{ask.session}`",
        fix=f"Answer it there, and go on with that branch: `stateward answer {ask.id} approve --branch {there}`, or "
        "`Timeline(…).answer(…)`.",
    )
