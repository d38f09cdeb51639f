"""Whether an answer to an ask would lead somewhere: an ask takes only one."""

from __future__ import annotations

from stateward.errors import NotExpected
from stateward.run.admission import refuse_drift, refuse_left, stored
from stateward.run.caller import Caller
from stateward.run.drive import Bridge
from stateward.run.invocation import Invocation


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


def expect(caller: Caller, ask: str) -> None:
    """Check that an answer would lead somewhere, before it is recorded.

    Args:
        caller: The session.
        ask: The ask's id.

    Raises:
        UnknownAsk: No ask has this id.
        NotExpected: The session does not wait for it, or keeps its checkpoints elsewhere, or what comes first, a timer
            for instance, leaves the state that asked.
        Drift: The run was started by another definition.
    """
    session, database, machine = caller.session, caller.database, caller.graph.machine
    if database.asks.get(ask).status != "open":
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
        raise NotExpected(
            f"Session `{session}` does not wait for an answer to `{ask}`; it is {control.status}",
            fix="Resume it first." if control.status == "running" else "",
        )
    looking = Invocation(session=session, open_database=lambda: database, bridge=Bridge(), shared=True)
    try:
        refuse_left(machine, {ask}, control=control, before=before, invocation=looking)
    finally:
        looking.gone()
