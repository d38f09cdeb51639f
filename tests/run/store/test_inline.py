"""Plain values come back as they went in, from every database, whether its JSON can hold them or not."""

from __future__ import annotations

import enum
import math
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, empty_checkpoint
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import CodecError
from stateward.replay import replay
from stateward.run.store.database import Database, open_database
from stateward.run.store.inline import in_json, told
from stateward.run.store.transfer import archive_session, restore_session
from tests.postgres import Server
from tests.run.store.desk import Fresh

CONFIG: RunnableConfig = {"configurable": {"thread_id": "s", "checkpoint_ns": ""}}


class Level(enum.StrEnum):
    LOW = "low"


class Rank(enum.IntEnum):
    FIRST = 1


ALLOWED = [(each.__module__, each.__name__) for each in (Level, Rank)]
ODD: tuple[Any, ...] = ("a\0b", "\0", "ü\0", math.inf, -math.inf, 1e20, -1e16, -0.0, Level.LOW, Rank.FIRST)
PLAIN: tuple[Any, ...] = ("", "ü", "\\u0000", "𝄞", True, None, 0, -1, 2**63, 0.0, 1.0, 1.5, 1e15, 1e-7, 5e-324, [1])


def put(database: Database, value: Any, *, new: bool = True, metadata: Any = None, config: Any = CONFIG) -> str:
    """Store a checkpoint with one channel, which is at the same version every time."""
    checkpoint = {**empty_checkpoint(), "channel_values": {"value": value}, "channel_versions": {"value": "1"}}
    found: CheckpointMetadata = metadata or {}
    database.saver.with_allowlist(ALLOWED).put(config, checkpoint, found, {"value": "1"} if new else {})  # pyright: ignore[reportArgumentType]
    return str(checkpoint["id"])


def got(database: Database) -> Any:
    found = database.saver.with_allowlist(ALLOWED).get_tuple(CONFIG)
    assert found is not None
    return found.checkpoint["channel_values"]["value"]


@pytest.mark.parametrize("value", [*ODD, *PLAIN], ids=repr)
def test_a_plain_value_comes_back_as_it_went_in(fresh: Fresh, value: Any) -> None:
    """Type, sign and all; also from a checkpoint that only has the same version of it."""
    database = fresh()
    for new in (True, False):
        put(database, value, new=new)
        assert (type(got(database)), repr(got(database))) == (type(value), repr(value))


def test_no_number_comes_back_as_none(fresh: Fresh) -> None:
    """NaN is unlike itself."""
    database = fresh()
    put(database, math.nan)
    assert math.isnan(got(database))


def test_half_a_pair_comes_back_as_bytes_have_it(fresh: Fresh) -> None:
    """The same from every database: a question mark."""
    database = fresh()
    put(database, "a\ud800")
    assert got(database) == "a?"


def test_an_integer_that_bytes_do_not_hold_is_refused(fresh: Fresh) -> None:
    """By every database, and by none once only."""
    database = fresh()
    for _ in range(2):
        with pytest.raises(CodecError):
            put(database, 2**64)


def test_a_large_integer_of_an_older_release_stays(postgres: Server) -> None:
    """JSON held it; nothing of it changes."""
    with open_database(postgres.url()) as database:
        put(database, 10**20, new=False)
        assert got(database) == 10**20


@pytest.mark.parametrize("odd", ["a\0b", math.nan, math.inf, "\ud800"], ids=repr)
def test_metadata_is_kept_as_near_as_json_can(fresh: Fresh, odd: Any) -> None:
    """Whether a step or the caller's config brought it, and whatever it is called."""
    database = fresh()
    put(database, 1, metadata={"parents": {"": odd}}, config={**CONFIG, "metadata": {"of": odd, f"k{odd}": "x"}})
    found = database.saver.get_tuple(CONFIG)
    assert found is not None
    metadata: dict[str, Any] = dict(found.metadata)
    assert metadata == {"parents": {"": told(odd)}, "of": told(odd), told(f"k{odd}"): "x"}


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_what_json_would_change_is_not_given_to_it(value: Any) -> None:
    """A test of the rule itself."""
    assert not in_json(value)


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_all_else_may_be_in_json(value: Any) -> None:
    """What is no plain value is put elsewhere by the saver itself."""
    assert in_json(value)


class Found(TypedDict, total=False):
    """What an activity found."""

    page: Any


def finding(value: Any) -> sw.Chart[Found]:
    return sw.Chart(
        "finding", Found, sw.State("A", do=lambda s: {"page": value}, to="B"), sw.State("B", to="C"), sw.Final("C")
    )


@pytest.mark.parametrize("value", ["a\0b", math.inf, 1e20, -0.0], ids=repr)
def test_a_run_comes_through_with_any_plain_value_and_plays_again(fresh: Fresh, value: Any) -> None:
    """Bit for bit."""
    session = sw.Session("s1", finding(value).compile(), fresh())
    assert repr(session.start({}).values["page"]) == repr(value)
    (replayed,) = replay(session)
    assert replayed.same, replayed.divergence


@pytest.mark.parametrize("value", ["a\0b", math.inf, 1e20], ids=repr)
def test_an_archive_takes_any_plain_value_elsewhere(fresh: Fresh, tmp_path: Path, value: Any) -> None:
    """Out of memory, into every kind of database and out of that."""
    file, again, graph = tmp_path / "a.zip", tmp_path / "b.zip", finding(value).compile()
    with open_database("memory:") as first:
        sw.Session("s1", graph, first).start({})
        archive_session(first, "s1", path=file)
    database = fresh()
    restore_session(database, file)
    archive_session(database, "s1", path=again)
    assert repr(sw.Session("s1", graph, database).outcome().values["page"]) == repr(value)
