"""The chart that is killed and stopped: eight states, two of them beside each other, tools of each effect, an approval.

Its tools leave their effects in a file, the world outside, which no kill takes back. `live` takes a session of it to
its end, from wherever the process before came; it can be told to kill or to stop itself at a point of its way.
"""

from __future__ import annotations

import operator
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import AskClosed, CheckpointError, StaleFence
from stateward.run.door.tool import Effect
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database
from tests.charts.drive import policy
from tests.crash.kill import Killer
from tests.crash.live import ENDS, go_on
from tests.crash.toy import box

EFFECTS: Mapping[str, Effect] = {
    "look": "pure",
    "pay": "idempotent",
    "mail": "once",
    "post": "once",
    "refund": "once",
    "file": "idempotent",
}
"""Tool and effect; `mail` and `refund` can be looked up, `post` cannot, `refund` needs a person."""
ONCE = tuple(name for name, effect in EFFECTS.items() if effect == "once")
SEEN = ("mail", "refund")
LOG = ("in", "look ok", "pay ok", "mail ok", "refund ok", "file ok", "closed")
"""What the log says at the end, beside what became of `post`, which nobody can look up."""
WORK = "benchmarks.reliability.victim:live"
REFUSED = 3
"""The exit status of a process whose fence was stale."""
AWAY = 4
"""The exit status of a process that could not work on its database."""


class Case(TypedDict, total=False):
    """What the case knows."""

    log: Annotated[list[str], operator.add]
    messages: sw.Messages


class World:
    """The world outside: a line for every effect.

    Args:
        path: The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def happen(self, tool: str, key: str) -> None:
        """Leave an effect.

        Args:
            tool: Who did it.
            key: The idempotency key.
        """
        line = f"{tool} {key}\n".encode()
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(file, line)
        finally:
            os.close(file)

    def keys(self, tool: str) -> list[str]:
        """Return the key of each effect of a tool.

        Args:
            tool: The tool.
        """
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        return [line.partition(" ")[2] for line in lines if line.startswith(f"{tool} ")]


class Stopper(Killer):
    """Stops the process where a killer would end it, until somebody lets it go on."""

    def pass_by(self, point: str) -> None:
        """Count a point, and stop there if it is the one."""
        at, self.at = self.at, None
        super().pass_by(point)
        self.at = at
        if self.passed[-1] == at:
            os.kill(os.getpid(), signal.SIGSTOP)


def calling(name: str) -> Any:
    """Make the activity that calls a tool and logs what became of it.

    Args:
        name: The tool.
    """

    async def call(state: Any, run: sw.Run[Any]) -> Any:
        word = f"{name} {(await run.tool(name)).status}"
        return {"log": [word], "messages": [("ai", word)]}

    return call


def close(state: Case) -> dict[str, list[str]]:
    """Log the end."""
    return {"log": ["closed"]}


def build(world: World, killer: Killer) -> ChartGraph:
    """Compile the chart.

    Args:
        world: Where effects go.
        killer: Passed by before and after each effect.
    """

    def state(name: str, to: str) -> sw.State:
        return sw.State(name.upper(), do=calling(name), tools=[name], to=to)

    return sw.Chart(
        "victim",
        Case,
        sw.Superstate(
            "CASE",
            state("look", "PAY"),
            state("pay", "BESIDE"),
            sw.Parallel(
                "BESIDE",
                sw.Superstate("A", state("mail", "END"), sw.Final("END")),
                sw.Superstate("B", state("post", "END"), sw.Final("END")),
                to="REFUND",
            ),
            state("refund", "HOLD"),
            sw.State("HOLD", on=[sw.on("release", "FILE")]),
            state("file", "CLOSE"),
            sw.State("CLOSE", do=close, to="DONE"),
            policy=policy("approve_refunds"),
        ),
        sw.Final("DONE"),
    ).compile(tools=box(world, killer, tools=EFFECTS, seen=SEEN))


def session_of(database: Database, *, case: str, world: World, killer: Killer | None = None) -> sw.Session:
    """Return a case's session, its graph compiled over the database.

    Args:
        database: Where it is kept.
        case: The session's id.
        world: Where its effects go.
        killer: What is passed by; nothing by default.
    """
    return sw.Session(case, build(world, killer or Killer(None)).attach(database), database)


def live(
    *, url: str, folder: str, case: str, how: str, at: str | None = None, stops: bool = False, lease_s: float = 30.0
) -> int:
    """Take a case to its end, answering what is asked, and write down what was passed.

    Args:
        url: The database.
        folder: Where the world and the list of points go.
        case: The session's id.
        how: `sync` or `async`.
        at: The point at which the process kills itself, or None.
        stops: Stop there instead.
        lease_s: How long its lease lives without a heartbeat.

    Returns:
        The exit status: 0, `REFUSED` when somebody else had taken over, or `AWAY`.
    """
    killer, world = (Stopper if stops else Killer)(at), World(Path(folder) / f"{case}.world")
    with sw.open(url, lease_ttl_s=lease_s) as database:
        session = session_of(database, case=case, world=world, killer=killer)
        killer.watch(database, session.graph.checkpointer)
        database.sessions.project = killer.around("transaction", database.sessions.project)
        outcome = session.outcome()
        try:
            while outcome.status not in ENDS:
                outcome = go_on(session, outcome, how=how)
        except (StaleFence, AskClosed):  # what it was about to answer, who took over has answered
            return REFUSED
        except CheckpointError:
            return AWAY
    (Path(folder) / f"{case}.points").write_text("\n".join(killer.passed))
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What database and world say about a case at one moment."""

    status: str
    path: str
    log: tuple[str, ...]
    messages: tuple[str, ...]
    ended: bool
    """Whether it has a terminal record."""
    effects: Mapping[str, tuple[str, ...]]
    """The keys under which each tool had its effect."""


def look(database: Database, *, case: str, folder: Path) -> Moment:
    """Read a case without changing it.

    Args:
        database: Where it is kept.
        case: The session's id.
        folder: Where the world lies.
    """
    world = World(folder / f"{case}.world")
    session = session_of(database, case=case, world=world)
    outcome = session.outcome()
    return Moment(
        status=outcome.status,
        path=outcome.path,
        log=tuple(outcome.values.get("log", ())),
        messages=tuple(message.content for message in outcome.values.get("messages", ())),
        ended=bool(database.sessions.terminals(case)),
        effects={tool: tuple(world.keys(tool)) for tool in EFFECTS},
    )
