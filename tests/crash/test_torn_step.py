"""A step whose writes are stored and whose checkpoint is not: it did not happen yet, whatever LangGraph shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import stateward as sw
from stateward.errors import NotExpected, SessionBusy
from tests.charts.drive import Driven
from tests.charts.one import One, compiled

Drive = Callable[..., Driven]


class Crash(BaseException):
    """Stands for the end of the process."""


@contextmanager
def torn(driven: Driven, *, at: int) -> Iterator[None]:
    """Crash before the n-th checkpoint of a call."""
    saver, puts = driven.session.graph.checkpointer, 0
    put = saver.put

    def dying(*args: Any) -> Any:
        nonlocal puts
        puts += 1
        if puts == at:
            raise Crash
        return put(*args)

    saver.put = dying
    try:
        with pytest.raises(Crash):
            yield
    finally:
        saver.put = put


def finishing(drive: Drive) -> Driven:
    driven = drive(compiled(lambda state: {"log": ["acted"]}))
    with torn(driven, at=3):
        driven.start({"log": ["in"]})
    return driven


def test_torn_end_is_no_end(drive: Drive) -> None:
    """Without its last checkpoint a run is running, in the outcome as in the row."""
    driven = finishing(drive)
    assert driven.session.outcome().status == driven.session.row().status == "running"
    assert driven.session.database.sessions.terminals("s1") == ()


def test_input_on_a_torn_end_is_refused_and_nothing_is_lost(drive: Drive) -> None:
    """A new input may not push aside a step that only lacks its checkpoint."""
    driven = finishing(drive)
    with pytest.raises(SessionBusy):
        driven.start({"log": ["again"]})
    assert driven.resume().values["log"] == ["in", "acted"]


def test_event_on_a_torn_wait_is_refused_and_can_be_sent_again(drive: Drive) -> None:
    """An event may not be accepted where LangGraph would drop it."""
    chart = sw.Chart(
        "torn",
        One,
        sw.State("ACT", do=lambda state: {"log": ["acted"]}, to="HOLD"),
        sw.State("HOLD", on=[sw.on("release", "DONE")]),
        sw.Final("DONE"),
    )
    driven = drive(chart.compile())
    with torn(driven, at=3):
        driven.start({"log": ["in"]})
    with pytest.raises(NotExpected):
        driven.resume("release")
    assert driven.resume().path == "HOLD"
    assert driven.resume("release").status == "completed"


def test_event_survives_a_crash_before_its_step_commits(drive: Drive) -> None:
    """An accepted event is taken by whoever goes on."""
    driven = drive(compiled(lambda state: {"log": ["x"]}, handles=[], to="HELP"))
    driven.start({})
    with torn(driven, at=1):
        driven.resume("close")
    assert driven.resume().status == "completed"
