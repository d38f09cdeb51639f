"""`blog` on the local model: whatever it proposes, picks and writes, the run ends in a legal state."""

from __future__ import annotations

import pytest

import stateward as sw
from graphs.blog import build
from nodes.blog.activities import IDEAS
from nodes.blog.idea import Idea
from stateward import teams
from stateward.run.store.database import Database
from tests.llm.asking import role
from tests.llm.shim import Shim

pytestmark = pytest.mark.slow
PATIENT = "policy.call_timeout_s=300"


@pytest.mark.parametrize("words", [60, 600], ids=["cut off", "whole"])
def test_the_local_model_ends_in_a_legal_state(shim: Shim, database: Database, words: int) -> None:
    """Exactly three ideas, one of them picked, and a post that fits its contract, also where replies are cut off."""
    lengths = {"proposer": words, "judge": 60, "writer": 120}
    models = {name: role(shim, name=name, max_output_tokens=most) for name, most in lengths.items()}
    graph = build(env={}, models=models, overrides=[PATIENT]).attach(database)
    outcome = sw.Session("s1", graph, database).start({"topic": "returning goods"})
    thoughts = teams.thoughts_of(outcome.values, IDEAS)
    assert (outcome.status, outcome.path) == ("completed", "DONE")
    assert [Idea.model_validate(one).model_dump() for one in thoughts.options] == list(thoughts.options)
    assert (len(thoughts.options), thoughts.choice in (0, 1, 2), thoughts.reason != "") == (3, True, True)
    assert 200 <= len(outcome.values["post"]["text"]) <= 20_000
    assert thoughts.problem == "" or "No output fits" in thoughts.problem
