"""What becomes of the rest when a step leaves states: tasks are stopped, calls are closed, questions taken back."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from langgraph.graph import END

from stateward.run.checkpoint import Control
from stateward.run.commit import Committed
from stateward.run.drive import Steps, Work
from stateward.run.hub.crew import Key
from stateward.run.hub.questions import withdraw
from stateward.run.invocation import Invocation
from stateward.run.plan import Machine
from stateward.run.progress import Progress

STOPPED = {"type": "cancelled", "reason": "the state was left before the call had ended"}
"""What the journal says of a call that may be made again, but never will be: its activation is over."""


def leave(
    machine: Machine, progress: Progress, committed: Committed, invocation: Invocation, *, keep: Collection[Key]
) -> Steps[None]:
    """Bring to an end what a step has left behind.

    Args:
        machine: The lowered chart.
        progress: Where the step stood.
        committed: The step.
        invocation: The call.
        keep: The activities that go on.

    Returns:
        A generator of work.
    """
    stopped = invocation.attention.crew.others(keep)
    if stopped:
        yield Work(afn=invocation.attention.crew.stop, args=(stopped,))
        places = [(machine.chart.nodes[state].path, activation) for state, activation in stopped]
        if any(_calls(machine, state) for state, _ in stopped):
            yield Work(fn=_close_calls, args=(invocation, progress.control, places))
    asks = progress.control.asks
    if asks:
        ended = committed.command.goto == END
        left = {machine.chart.nodes[state].path for state in committed.exited}
        ids = [ask for path, several in asks.items() if ended or path in left for ask in several]
        if ids:
            yield Work(fn=withdraw, args=(invocation, ids))


def keys(progress: Progress, committed: Committed, machine: Machine) -> set[Key]:
    """Return the activities of several regions that run on after a step.

    Args:
        progress: Where the step stood.
        committed: The step.
        machine: The lowered chart.
    """
    left = set(committed.exited)
    configuration = progress.configuration
    return {(state, configuration.activation(state)) for state in committed.working if state not in left}


def _calls(machine: Machine, state: int) -> bool:
    plan = machine.plans[state]
    return bool(plan.tools) or plan.role is not None


def _close_calls(invocation: Invocation, control: Control, places: Sequence[tuple[str, int]]) -> None:
    """Nobody asks for these calls again: of a `once` call nobody knows the end, any other one has failed."""
    journal = invocation.database.journal
    for entry in journal.entries(invocation.session, run=control.run):
        key = entry.key
        if entry.status != "started" or key.branch != control.branch or (key.path, key.activation) not in places:
            continue
        status = "unknown" if entry.effect == "once" else "failed"
        error = None if status == "unknown" else STOPPED
        journal.settle(key, status=status, error=error, fence=invocation.fence)
