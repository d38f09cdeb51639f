"""Questions of regions to people: several activities may ask at once, and each goes on when its own are answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from langgraph.types import Command

from stateward.run.checkpoint import CHANNEL, Json
from stateward.run.commit import Committed
from stateward.run.hub.regions import Regions
from stateward.run.invocation import Invocation
from stateward.run.people.reminder import agenda_delta, drop_reminders
from stateward.run.plan import REST, Machine
from stateward.run.progress import Progress
from stateward.run.store.ask import Ask


def load(invocation: Invocation, asks: Mapping[str, Sequence[str]]) -> dict[str, Sequence[Ask]]:
    """Read the questions of a checkpoint.

    Args:
        invocation: The call.
        asks: State path to the ids of its asks, from the control channel.

    Returns:
        State path to asks.
    """
    load, session, fence = invocation.database.asks.load, invocation.session, invocation.fence
    loaded: dict[str, Sequence[Ask]] = {path: load(session, ids, fence=fence) for path, ids in asks.items()}
    if invocation.listener is not None:
        invocation.listener.answered(ask for several in loaded.values() for ask in several)
    return loaded


def settled_at(asks: Mapping[str, Sequence[Ask]]) -> float | None:
    """Return when the first state goes on although nobody answers: when the last of its open questions expires.

    Args:
        asks: State path to asks.

    Returns:
        Seconds since the epoch; None when every state has a question that never expires.
    """
    ends = [[ask.expires_at for ask in several if ask.status in ("open", "expired")] for several in asks.values()]
    last = [max(inf if end is None else end for end in each) for each in ends if each]
    first = min(last, default=inf)
    return None if first == inf else first


def answered(asks: Mapping[str, Sequence[Ask]]) -> list[str]:
    """Return the states whose questions are all answered.

    Args:
        asks: State path to asks.
    """
    return [path for path, several in asks.items() if all(ask.status != "open" for ask in several)]


def answer_commit(machine: Machine, progress: Progress, paths: Sequence[str]) -> Committed:
    """Commit that questions are answered: the activities that asked are entered again.

    Args:
        machine: The lowered chart.
        progress: Where the step stands.
        paths: The states that asked; none when an answer came that leaves another question open.

    Returns:
        The commit.
    """
    by_path, regions = machine.chart.by_path, Regions.of(machine, progress.control)
    last: Json = {"event": "answer", "state": "", "activation": 0}
    if paths:
        state = by_path[paths[0]]
        last = {"event": "answer", "state": paths[0], "activation": progress.configuration.activation(state)}
    for path in paths:
        regions = regions.with_asks(by_path[path], ())
    place = regions.place()
    drop_reminders(machine, progress, [ask for path in paths for ask in progress.control.asks.get(path, ())])
    delta: Json = {"status": place.status, "last": last, **({"asks": dict.fromkeys(paths)} if paths else {})}
    delta |= agenda_delta(progress)
    command = Command(update={CHANNEL: delta}, goto=place.goto if paths else REST)
    return Committed(command=command, handled=True, failed=False, working=regions.working)


def withdraw(invocation: Invocation, ids: Sequence[str]) -> None:
    """Take questions back: nobody waits for the answers any more.

    Args:
        invocation: The call.
        ids: The asks.
    """
    invocation.database.asks.withdraw(invocation.session, ids=ids, fence=invocation.fence)
