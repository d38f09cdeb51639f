"""How a session grows on disk: turns of 1 kB, as a plain LangGraph graph and as charts.

`python -m benchmarks.disk [TURNS…]`. A turn is a short question, and an answer of 1 kB; the three-state chart plans and
checks around it. An agent used as a state adds nothing: it runs without checkpoints of its own. Journal, ledger and
audit log are counted apart from the checkpoints.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

import stateward as sw

TURNS = 200
MEASURED = (TURNS, 4 * TURNS)
PLAIN_UP_TO = TURNS
"""LangGraph's default grows with the square: more turns take gigabytes."""
KILOBYTE = "x" * 1000
OURS = "stateward_"


class Chat(TypedDict, total=False):
    """A conversation."""

    messages: Annotated[list[Any], add_messages]
    plan: str


def answer(state: Any) -> dict[str, Any]:
    """Answer with a kilobyte."""
    return {"messages": [AIMessage(KILOBYTE)]}


def plan(state: Any) -> dict[str, Any]:
    """Say what is to be done."""
    return {"plan": "answer"}


def check(state: Any) -> dict[str, Any]:
    """Say that it was done."""
    return {"plan": "answered"}


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
    _talk(chart, path, turns=turns)


def three_states(path: Path, *, turns: int) -> None:
    """Run the turns as a chart of three states.

    Args:
        path: The database file.
        turns: How many, ≥ 1.
    """
    chart = sw.Chart(
        "chat",
        Chat,
        sw.State("PLAN", do=plan, to="ANSWER"),
        sw.State("ANSWER", do=answer, to="CHECK"),
        sw.State("CHECK", do=check, to="DONE"),
        sw.Final("DONE"),
    )
    _talk(chart, path, turns=turns)


def _talk(chart: sw.Chart[Any], path: Path, *, turns: int) -> None:
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
    """Print a line for each way and each number of turns."""
    print(f"{'':13} {'turns':>6} {'checkpoints':>12} {'a turn':>9} {'ours, apart':>12}")
    ways: tuple[Callable[..., None], ...] = (plain, charted, three_states)
    with tempfile.TemporaryDirectory() as folder:
        for turns in [int(word) for word in sys.argv[1:]] or MEASURED:
            for run in ways:
                if run is plain and turns > PLAIN_UP_TO:
                    continue
                path = Path(folder) / f"{run.__name__}-{turns}.db"
                run(path, turns=turns)
                size = apart(measured := sizes(path))
                print(f"{run.__name__:13} {turns:6} {size / 1e6:9.2f} MB {size / turns / 1e3:6.1f} kB", end="")
                print(f" {(measured['(file)'] - size) / 1e6:9.2f} MB", flush=True)


if __name__ == "__main__":
    main()
