"""A run in a file: read again it is the same run, and plays the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import stateward as sw
from stateward.errors import CodecError
from stateward.run.replay.frozen import frozen, opened, thawed
from stateward.run.replay.play import play
from stateward.run.replay.record import recordings
from stateward.run.replay.recording import Recording
from stateward.run.store.serializer import StrictSerializer
from tests.charts.drive import Driven
from tests.charts.refunds import asking
from tests.charts.replayed import two_runs
from tests.charts.tools import Shop

Drive = Callable[..., Driven]
SERDE = StrictSerializer()


def recorded(driven: Driven) -> Recording:
    return recordings(driven.session.graph, database=driven.session.database, session="s1")[-1]


def text_of(recording: Recording) -> str:
    return frozen(recording, graph="some.module:graph", overrides=("policy.fuses.calls=3",), serde=SERDE)


def test_a_run_is_the_same_when_it_is_read_again(drive: Drive) -> None:
    """Moments, with the one before the run, and what waits were resumed with."""
    recording = recorded(two_runs(drive))
    found = opened(text_of(recording), where="f.json")
    assert (found.graph, found.overrides) == ("some.module:graph", ("policy.fuses.calls=3",))
    assert thawed(found, serde=SERDE, where="f.json") == recording


def test_calls_asks_and_notes_are_kept(drive: Drive) -> None:
    """And play the same."""
    driven = drive(asking(Shop()))
    driven.answer(driven.start({}).asks[0])
    recording = recorded(driven)
    thawn = thawed(opened(text_of(recording), where="f.json"), serde=SERDE, where="f.json")
    assert (thawn.calls, thawn.asks, thawn.notes) == (recording.calls, recording.asks, recording.notes)
    assert play(driven.session.graph, thawn).same


def test_a_list_that_grows_is_written_once(drive: Drive) -> None:
    """Each moment says only what is new."""
    driven = two_runs(drive)
    text = text_of(recorded(driven))
    assert text.count('"acted"') == json.dumps(json.loads(text)["before"]).count('"acted"')


def test_secrets_in_calls_are_not_in_the_file(drive: Drive) -> None:
    """The journal holds none."""
    key = "sk-proj-" + "a1B2" * 12
    driven = drive(asking(Shop(), _looks_up(key)))
    driven.start({})
    assert key not in text_of(recorded(driven))


def _looks_up(key: str) -> Any:
    async def look(state: Any, run: sw.Run[Any]) -> None:
        await run.tool("lookup", order=key)

    return look


@pytest.mark.parametrize("text", ["{", "[]", '{"stateward": "other"}', '{"stateward": "frozen run", "version": 99}'])
def test_what_is_no_frozen_run_is_refused_with_its_name(text: str) -> None:
    """Broken, strange, or of another release."""
    with pytest.raises(CodecError, match=r"f\.json"):
        opened(text, where="f.json")


def test_a_damaged_file_is_refused_with_its_name(drive: Drive) -> None:
    """Whatever is missing."""
    found = opened(text_of(recorded(two_runs(drive))), where="f.json")
    damaged = replace(found, recording={**found.recording, "moments": [{"step": 1}]})
    with pytest.raises(CodecError, match=r"damaged.*f\.json"):
        thawed(damaged, serde=SERDE, where="f.json")
