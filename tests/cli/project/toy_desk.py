"""A small desk: looks things up, pays when asked to, and fails when a message says boom."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import stateward as sw
from stateward.job import BadRow
from stateward.properties import always_before
from stateward.run.graph import ChartGraph
from stateward.run.session import Outcome

HERE = Path(__file__).parent


class Desk(TypedDict):
    """The state of a case."""

    message: str
    text: str
    seen: list[str]
    done: list[str]


def _effect(key: str, name: str) -> None:
    with closing(sqlite3.connect(os.environ["TOY_EFFECTS"], timeout=10)) as shop, shop:
        shop.execute("CREATE TABLE IF NOT EXISTS effects (key TEXT, name TEXT)")
        shop.execute(
            "INSERT INTO effects SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM effects WHERE key = ?)", (key, name, key)
        )


@sw.tool(effect="pure")
async def look(text: str) -> dict[str, Any]:
    """Look something up."""
    await asyncio.sleep(float(os.environ.get("TOY_PAUSE_S", "0")))
    return {"found": text}


@sw.tool(effect="idempotent")
def pay(amount: float, *, ctx: sw.ToolContext) -> dict[str, Any]:
    """Pay some money."""
    _effect(ctx.idempotency_key, "pay")
    return {"paid": amount}


@sw.tool(effect="idempotent")
def note(text: str, *, ctx: sw.ToolContext) -> dict[str, Any]:
    """Write a note."""
    _effect(ctx.idempotency_key, "note")
    return {"noted": text}


def take(state: Desk) -> dict[str, Any]:
    """Note which message came."""
    return {"seen": [*state.get("seen", []), state["message"]]}


async def act(state: Desk, run: sw.Run[Any]) -> dict[str, Any]:
    """Do what the message wants."""
    if "boom" in state["text"]:
        raise ValueError("boom [/red]")
    done = [(await run.tool("look", text=state["text"])).status]
    if "refund" in state["text"]:
        done.append((await run.tool("pay", amount=3.0)).status)
    return {"done": done}


async def close(state: Desk, run: sw.Run[Any]) -> None:
    """Write down that the message is done with."""
    await run.tool("note", text=state["text"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One line of the inbox."""

    id: str
    text: str
    follows: str = ""


class ToyJob:
    """Messages from a JSONL file."""

    columns = ("id", "text", "follows")

    def __init__(self) -> None:
        self._sessions: dict[str, str] = {}

    def read(self, source: Path, *, columns: Mapping[str, str]) -> Iterable[Message | BadRow]:
        """Read the lines."""
        for line, raw in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            try:
                data = json.loads(raw)
                named = {name: data.get(columns.get(name, name), "") for name in self.columns}
                yield Message(**named) if named["text"] else BadRow(line=line, reason="no text")
            except ValueError:
                yield BadRow(line=line, reason="not JSON")

    def session(self, item: Message) -> str:
        """A follow-up has the session of what it follows."""
        session = self._sessions.get(item.follows, f"case-{item.id}")
        self._sessions[item.id] = session
        return session

    def input(self, item: Message) -> Mapping[str, Any]:
        """Send id and text."""
        return {"message": item.id, "text": item.text}

    def seen(self, item: Message, values: Mapping[str, Any]) -> bool:
        """Look into what was noted."""
        return item.id in values.get("seen", [])

    def row(self, item: Message, outcome: Outcome) -> Mapping[str, object]:
        """A line of the table."""
        return {
            "id": item.id,
            "session": outcome.session,
            "status": outcome.status,
            "state": outcome.path,
            "text": item.text,
            "done": outcome.values.get("done", []),
            "last": outcome.values.get("message", ""),
        }

    def summary(self, rows: Sequence[Mapping[str, object]]) -> Mapping[str, object]:
        """Count."""
        return {"messages": len(rows), "waiting": sum(row["status"] == "waiting" for row in rows)}


def job(*, overrides: Sequence[str] = ()) -> ToyJob:
    """Make the job."""
    return ToyJob()


def build(*, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None) -> ChartGraph:
    """Build the graph."""
    policy = sw.load_policy("toy_desk", folder=HERE / "policies", env=env, overrides=overrides)
    chart = sw.Chart(
        "toy_desk",
        Desk,
        sw.State("INTAKE", do=take, to="WORKING"),
        sw.Superstate(
            "WORKING",
            sw.State("ACT", do=act, tools=["look", "pay"], to="CLOSE"),
            sw.State("CLOSE", do=close, tools=["note"], to="DONE"),
            policy=policy,
        ),
        sw.Final("DONE"),
        properties=[always_before("ACT", "CLOSE")],
    )
    return chart.compile(tools=[look, pay, note])


graph = build()
