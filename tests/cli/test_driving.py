"""Driving one session."""

from __future__ import annotations

import pytest

import stateward as sw
from stateward.cli.driving import drive, drive_alone, event_command, is_recorded, run_until_stopped, told
from stateward.cli.loading import load
from stateward.cli.stop import Stop, Stopped
from stateward.errors import InputRefused, SessionBusy


@pytest.fixture
def session(shell, database) -> sw.Session:
    """A session of the toy desk."""
    return sw.Session("one", load("toy_desk").graph.attach(database), database)


def test_a_drive_tells_which_states_work(session):
    """In their order, as they begin."""
    states: list[str] = []

    async def work(stop: Stop) -> None:
        await drive(session, {"message": "m", "text": "hello"}, stop=stop, moved=states.append)

    run_until_stopped(work)
    assert states == ["INTAKE", "WORKING.ACT", "WORKING.CLOSE"]


def test_a_stopped_drive_can_be_gone_on_with(session):
    """It ends at a checkpoint."""

    async def work(stop: Stop) -> None:
        await drive(session, {"message": "m", "text": "hello"}, stop=stop, moved=lambda _state: _once(stop))

    with pytest.raises(Stopped):
        run_until_stopped(work)
    assert drive_alone(session, event_command(None)).outcome.status == "completed"


def test_a_failing_activity_is_an_outcome_and_a_refused_input_an_error(session):
    """The one is recorded as failed, the other leaves nothing."""
    with pytest.raises(InputRefused) as refused:
        drive_alone(session, {"nonsense": 1})
    assert not is_recorded(refused.value)
    driven = drive_alone(session, {"message": "m", "text": "boom"})
    assert (driven.outcome.status, driven.error) == ("failed", "ValueError: boom [/red]")


def test_a_held_session_is_waited_for_only_when_it_goes_on(session, shell, monkeypatch):
    """An input is refused at once; going on is tried again for a while."""
    monkeypatch.setattr("stateward.cli.driving.BUSY_PAUSE_S", 0.0)
    with sw.open(shell.url) as other:
        other.leases.acquire("one", graph="toy_desk")
        for given in ({"message": "m", "text": "hello"}, None):
            with pytest.raises(SessionBusy):
                drive_alone(session, given)


@pytest.mark.parametrize(
    ("error", "text"),
    [(ValueError("x"), "ValueError: x"), (KeyError(), "KeyError()"), (InputRefused("No", fix="Do."), "No. Do.")],
)
def test_an_exception_is_told_in_one_line(error, text):
    """Ours by its message, others with their type."""
    assert told(error) == text


def _once(stop: Stop) -> None:
    if not stop.requested:
        stop.request()
