"""A replay has the contexts of the record: each call its own, and what was not recorded is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

import stateward as sw
from stateward.replay import replay
from stateward.run.graph import ChartGraph
from stateward.run.replay.frozen import frozen, opened, thawed
from stateward.run.replay.play import play
from stateward.run.replay.record import recordings
from stateward.run.store.serializer import StrictSerializer
from tests.charts.drive import Driven
from tests.charts.migrated import Crash
from tests.charts.one import One
from tests.charts.replayed import replayed, same

Drive = Callable[..., Driven]


@dataclass(frozen=True)
class Desk:
    """What the host says of itself."""

    name: str
    client: Any = field(default=None, compare=False)


class Team(BaseModel):
    """The same as a model."""

    name: str
    password: SecretStr = SecretStr("x")


async def sign(state: One, run: sw.Run[Any]) -> sw.Update[One]:
    return {"log": [run.context.name]}


async def blind(state: One) -> sw.Update[One]:
    return {"log": ["ok"]}


def signing(do: Any = sign, *, context: type[Any] | None = Desk) -> ChartGraph:
    """Sign twice, with a wait between."""
    return sw.Chart(
        "signing",
        One,
        sw.State("FIRST", do=do, to="WAIT"),
        sw.State("WAIT", on=[sw.on("go", "SECOND")]),
        sw.State("SECOND", do=do, to="DONE"),
        sw.Final("DONE"),
        context=context,
    ).compile()


def run_through(drive: Drive, first: Any, second: Any, graph: ChartGraph | None = None) -> Driven:
    """Start it under one context and go on under another; return the session without any."""
    graph = graph or signing()
    drive(graph, context=first).start({})
    drive(graph, context=second).resume("go")
    return drive(graph)


def test_each_call_has_the_context_it_had(drive: Drive) -> None:
    """Who replays gives none."""
    driven = run_through(drive, Desk("ann"), Desk("bob"))
    assert same(driven)


def test_a_context_of_plain_data_needs_no_schema(drive: Drive) -> None:
    """LangGraph makes what the schema says of a mapping; it is recorded as it was given."""
    assert same(run_through(drive, {"name": "ann"}, {"name": "bob"}))


def test_the_recorded_context_goes_before_the_callers(drive: Drive) -> None:
    """A replay is of what was, whatever the host is today."""
    run_through(drive, Desk("ann"), Desk("bob"))
    assert same(drive(signing(), context=Desk("eve")))


def test_a_call_that_went_on_after_a_crash_has_its_own_context(drive: Drive) -> None:
    """The record goes on in the middle of a run, and the replay too."""
    calls: list[str] = []

    async def crashes_once(state: One, run: sw.Run[Any]) -> sw.Update[One]:
        calls.append(run.context.name)
        if calls == ["ann", "ann"]:
            raise Crash
        return {"log": [run.context.name]}

    straight = sw.Chart(
        "straight",
        One,
        sw.State("A", do=crashes_once, to="B"),
        sw.State("B", do=crashes_once, to="D"),
        sw.Final("D"),
        context=Desk,
    ).compile()
    with pytest.raises(Crash):
        drive(straight, context=Desk("ann")).start({})
    drive(straight, context=Desk("bob")).resume()
    assert same(drive(straight))


def test_what_cannot_be_recorded_is_named_where_it_is_missed(drive: Drive) -> None:
    """The run goes on all the same; the replay asks for the context."""
    played = replayed(run_through(drive, Desk("ann", client=object()), Desk("bob")))
    assert played.divergence is not None
    told = str(played.divergence.differences[0])
    assert "`client`: a `object` cannot be stored" in told
    assert "give the session its `context=`" in told


def test_a_context_that_is_given_takes_the_place_of_one_that_was_not_recorded(drive: Drive) -> None:
    """Calls whose context was recorded keep that."""
    run_through(drive, Desk("ann", client=object()), Desk("bob"))
    assert same(drive(signing(), context=Desk("ann")))


def test_a_replay_that_does_not_need_it_asks_for_nothing(drive: Drive) -> None:
    """What was not recorded matters only where the run comes to something else."""
    assert same(run_through(drive, Desk("ann", client=object()), None, signing(blind)))


@pytest.mark.parametrize("context", [Team(name="ann"), {"name": "ann", "api_key": "k"}])
def test_a_secret_is_never_recorded(drive: Drive, context: Any) -> None:
    """Neither one that says so by its type nor one that says so by its name."""
    driven = run_through(drive, context, context, signing(blind, context=None))
    (recording,) = recordings(driven.session.graph, database=driven.session.database, session="s1")
    (record,) = recording.contexts.values()
    assert set(record) == {"missing"}
    assert set(record["missing"]) <= {"password", "api_key"}


def test_a_frozen_run_has_its_contexts(drive: Drive) -> None:
    """The file plays without the database."""
    driven, serde = run_through(drive, Desk("ann"), Desk("bob")), StrictSerializer()
    (recording,) = recordings(driven.session.graph, database=driven.session.database, session="s1")
    text = frozen(recording, graph="some.module:graph", overrides=(), serde=serde)
    again = thawed(opened(text, where="f.json"), serde=serde, where="f.json")
    assert (again, play(driven.session.graph, again).same) == (recording, True)


def test_a_context_is_stored_once_and_sealed() -> None:
    """However many calls bring it."""
    with sw.open("memory:", keys={"k1": b"0" * 32}) as database:
        graph = signing().attach(database)
        for given in ("start", "resume"):
            session = sw.Session("s1", graph, database, context=Desk("plainly ann"))
            session.start({}) if given == "start" else session.resume("go")
        with database.read() as cur:
            rows = cur.execute("SELECT data FROM stateward_blobs").fetchall()
        assert [b"plainly" in str(row[0]).encode() for row in rows] == [False]
        assert replay(sw.Session("s1", graph, database))[0].same
