"""How a session grows on disk: 200 turns of 1 kB, as a plain LangGraph graph and as a chart.

`python -m benchmarks.disk [TURNS]`. Journal, ledger and audit log are counted apart from the checkpoints.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

import stateward as sw

TURNS = 200
KILOBYTE = "x" * 1000
OURS = "stateward_"


class Chat(TypedDict, total=False):
    """A conversation."""

    messages: Annotated[list[Any], add_messages]


def answer(state: Any) -> dict[str, Any]:
    """Answer with a kilobyte."""
    return {"messages": [AIMessage(KILOBYTE)]}


def plain(path: Path, *, turns: int) -> None:
    """Run the turns on LangGraph alone.

    Args:
        path: The database file.
        turns: How many, ≥ 1.
    """
    builder = StateGraph(Chat)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = builder.compile(checkpointer=saver)
        for turn in range(turns):
            graph.invoke({"messages": [("user", f"turn {turn}")]}, {"configurable": {"thread_id": "t"}})


def charted(path: Path, *, turns: int) -> None:
    """Run the turns as a chart of one state.

    Args:
        path: The database file.
        turns: How many, ≥ 1.
    """
    chart = sw.Chart("chat", Chat, sw.State("ANSWER", do=answer, to="DONE"), sw.Final("DONE"))
    with sw.open(f"sqlite:///{path}") as database:
        session = sw.Session("t", chart.compile(database=database), database)
        for turn in range(turns):
            session.start({"messages": [("user", f"turn {turn}")]})


def sizes(path: Path) -> Mapping[str, int]:
    """Measure a database.

    Args:
        path: The file.

    Returns:
        Bytes of the whole file, and of the pages of each table.
    """
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try:
            tables = dict(db.execute("SELECT name, SUM(pgsize) FROM dbstat GROUP BY name").fetchall())
        except sqlite3.OperationalError:  # an SQLite built without dbstat: the whole is all that can be told
            tables = {}
    db.close()
    return {"(file)": path.stat().st_size, **tables}


def apart(measured: Mapping[str, int]) -> int:
    """Return the bytes of the file without journal, ledger, audit log and our other tables.

    Args:
        measured: From `sizes`.
    """
    return measured["(file)"] - sum(size for name, size in measured.items() if OURS in name)


def main() -> None:
    """Print both."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    with tempfile.TemporaryDirectory() as folder:
        for run in (plain, charted):
            path = Path(folder) / f"{run.__name__}.db"
            run(path, turns=turns)
            measured = sizes(path)
            print(f"{run.__name__:8} {turns} turns  file {measured['(file)'] / 1e6:6.2f} MB", end="  ")
            print(f"checkpoints {apart(measured) / 1e6:6.2f} MB")


if __name__ == "__main__":
    main()
