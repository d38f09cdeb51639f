"""Models that a session brings along."""

from __future__ import annotations

from typing import Any

import pytest

import stateward as sw
from stateward.errors import DefinitionError
from stateward.govern.kinds.models import ModelRule
from stateward.run.store.database import Database
from stateward.testing import ScriptedModel
from tests.charts.one import compiled
from tests.charts.spoken import hear_sync
from tests.charts.stand_in import chart, ruled
from tests.charts.waiting import waiting


def test_session_models_stand_in_for_the_graph_s(start: Any, database: Database) -> None:
    """For this session, and for no other of the same graph."""

    def act(state: Any, run: sw.SyncRun[Any]) -> dict[str, Any]:
        return {"text": run.model().invoke("hi").content}

    graph = compiled(act, models={"m": ScriptedModel.of("graph's")}, model="m")
    own = sw.Session("s1", graph, database, models={"m": ScriptedModel.of("own")})
    assert [start(each).values["text"] for each in (own, sw.Session("s2", graph, database))] == ["own", "graph's"]


def test_model_of_a_role_nobody_has_is_refused(database: Database) -> None:
    """Before anything runs."""
    with pytest.raises(DefinitionError, match="role `x`"):
        sw.Session("s1", waiting().compile(), database, models={"x": ScriptedModel.of("a")})


def test_session_may_bring_who_answers_in_the_place_of_a_role(database: Database) -> None:
    """No state asks for that role, but the policy lets it answer."""
    graph = chart(hear_sync, ruled(ModelRule(fallback=("backup",))), m=ScriptedModel.of(ConnectionError("down")))
    session = sw.Session("s1", graph, database, models={"backup": ScriptedModel.of("bye")})
    assert session.start({}).values["log"] == ["bye"]
