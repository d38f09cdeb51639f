"""Structured output of the local model: a schema the server enforces, Instructor's attempts, words alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.drive import Driven
from tests.charts.tiered import tiered, writing, writing_sync
from tests.llm.asking import role, tokens, told
from tests.llm.shim import Fault, Shim

pytestmark = pytest.mark.slow
Drive = Callable[..., Driven]


@pytest.fixture
def how() -> How:
    """One way is enough: the other tests go both, and this model takes its time."""
    return "async"


BOTH = pytest.mark.parametrize("write", [writing, writing_sync])


def graph(shim: Shim, do: Any, *, words: int = 96) -> Any:
    return tiered(role(shim, name="writer", max_output_tokens=words), do=do)


@BOTH
def test_server_holds_the_model_to_the_schema(shim: Shim, drive: Drive, database: Database, write: Any) -> None:
    """A model of 135 million parameters writes a ticket that fits, in one call."""
    came = drive(graph(shim, write())).start({}).values["came"]
    assert (came["tier"], came["degraded"], len(came["attempts"])) == ("schema", [], 1)
    assert came["value"].keys() == {"category", "priority", "sentiment"}
    assert shim.asked[0]["response_format"]["type"] == "json_schema"
    assert tokens(database) == told(shim)


def test_provider_that_knows_no_schema_is_asked_another_way(shim: Shim, drive: Drive) -> None:
    """A 400 leads to the next tier, whose requests name no schema."""
    shim.fail(Fault(kind="status", status=400))
    drive(graph(shim, writing(), words=32)).start({})
    assert len(shim.asked) > 1
    assert not any("response_format" in asked for asked in shim.asked[1:])


@pytest.mark.parametrize("tier", ["instructor", "prompt"])
@BOTH
def test_attempts_of_a_weak_model_are_bounded_and_metered(
    shim: Shim, drive: Drive, database: Database, tier: str, write: Any
) -> None:
    """Whatever it says: at most two requests, each in the ledger, and a ticket or an error of the contract."""
    driven = drive(graph(shim, write(tiers=[tier]), words=32))
    done = driven.start({})
    assert done.path in ("DONE", "HELP")
    assert 1 <= len(shim.asked) <= 2
    row = driven.session.row()
    assert row is not None
    assert (tokens(database), row.turns) == (told(shim), len(shim.asked))


def test_lost_provider_is_no_matter_of_tiers(shim: Shim, drive: Drive) -> None:
    """What fails for the provider's reasons is raised; no other tier is tried."""
    shim.fail(*[Fault(kind="status", status=500)] * 3)
    assert drive(graph(shim, writing())).start({}).path == "DOWN"
    assert len(shim.asked) == 3
