"""`hitl` on the local model: whatever it writes, people decide, and the run ends in a legal state."""

from __future__ import annotations

import pytest

import stateward as sw
from graphs.hitl import build
from nodes.hitl.board import Board
from stateward.run.store.database import Database
from tests.llm.asking import role
from tests.llm.shim import Shim

pytestmark = pytest.mark.slow
PATIENT = "policy.call_timeout_s=300"


def test_the_local_model_writes_and_people_decide(shim: Shim, database: Database) -> None:
    """A wish leads to another draft; what is approved is published, word for word, and once."""
    board = Board()
    graph = build(
        env={}, models={"writer": role(shim, name="writer", max_output_tokens=40)}, overrides=[PATIENT], board=board
    )
    talk = sw.Session("s1", graph, database)
    outcome = talk.start({"pattern": "approval", "topic": "The office is closed on Friday."})
    outcome = talk.answer(outcome.asks[0], "respond", by="ann", note="shorter")
    (gate,) = outcome.asks
    shown = database.asks.get(gate).shown["draft"]
    assert (shown.strip() != "", board.posts) == (True, [])
    assert (talk.answer(gate, "approve", by="ann").status, board.posts) == ("completed", [f"board: {shown}"])
