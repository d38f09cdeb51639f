"""What a team writes: as much in a later turn as in an earlier one (HAZARDS 12)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

import stateward as sw
from stateward import teams
from stateward.testing import calls


class Work(teams.TeamState, total=False):
    """Each member has a conversation of its own."""

    a: sw.Messages
    b: sw.Messages


@sw.tool(effect="pure")
def look() -> str:
    """Look."""
    return "seen"


def looks(messages: Sequence[BaseMessage]) -> AIMessage | str:
    """Look once, and answer with 1 kB."""
    return "x" * 1000 if messages[-1].type == "tool" else calls(("look", {}))


def everybody(standing: teams.Standing) -> Any:
    """Send everybody once."""
    return teams.FINISH if standing.results else list(standing.left)


@pytest.mark.parametrize("memory", ["thread", "invocation"])
def test_a_team_writes_the_same_in_each_turn(tmp_path: Path, memory: Any) -> None:
    """Ten more turns take what ten turns took, in whatever memory."""
    members = [
        teams.agent(name, model=looks, tools=[look], conversation=name.lower(), memory=memory) for name in ("A", "B")
    ]
    team = teams.placed(teams.supervisor("LEAD", members, choose=everybody, parallel=True), to="DONE")
    graph = sw.Chart("team", Work, team, sw.Final("DONE")).compile(tools=[look])
    with sw.open(f"sqlite:///{tmp_path / 'team.db'}") as database:
        session = sw.Session("s1", graph.attach(database), database)
        pages = [written(session, tmp_path / "team.db", turns=turns) for turns in (2, 10, 10)]
    assert pages[2] - pages[1] < 1.15 * (pages[1] - pages[0])


def written(session: sw.Session, file: Path, *, turns: int) -> int:
    """Pages of the database after so many more turns."""
    for _ in range(turns):
        assert session.start({"messages": [("user", "y" * 1000)]}).status == "completed"
    with closing(sqlite3.connect(file)) as reader:
        return reader.execute("PRAGMA page_count").fetchone()[0]
