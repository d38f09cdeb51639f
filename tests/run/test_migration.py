"""What a declared migration calls a state, and an event of the house."""

from __future__ import annotations

import pytest

from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE
from stateward.run.checkpoint import Pins
from stateward.run.migration import Line, Migration, Report

NAMES = Migration(states={"WORK": "JOB", "WORK.ACT": "JOB.DO", "GONE": None}, events={"ring": "chime", "hush": None})
PINS = Pins(chart="c", policy="p", schema="s", mode="strict")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("WORK", "JOB"),
        ("WORK.ACT", "JOB.DO"),
        ("WORK.ACT.DEEP", "JOB.DO.DEEP"),
        ("WORK.REST", "JOB.REST"),
        ("WORKER", "WORKER"),
        ("GONE.INSIDE", None),
        ("", ""),
    ],
)
def test_the_longest_declared_path_decides(old: str, new: str | None) -> None:
    """Names are compared as wholes, not by their letters."""
    assert NAMES.state(old) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ring", "chime"),
        ("hush", None),
        ("other", "other"),
        (f"{ACTIVITY_DONE}WORK.ACT", f"{ACTIVITY_DONE}JOB.DO"),
        (f"{STATE_DONE}WORK", f"{STATE_DONE}JOB"),
        (f"{STATE_DONE}GONE", None),
        ("after.WORK.ACT.1", "after.JOB.DO.1"),
        ("after.0", "after.0"),
        ("after.GONE.0", None),
    ],
)
def test_events_of_the_house_follow_the_states_they_name(old: str, new: str | None) -> None:
    """An author's own events are declared."""
    assert NAMES.event(old) == new


@pytest.mark.parametrize(
    ("blocks", "note", "checkpoint", "word"),
    [
        (True, "", "", "blocked"),
        (False, "It has ended.", "", "nothing to do"),
        (False, "", "", "ready"),
        (False, "", "c1", "migrated"),
    ],
)
def test_a_report_says_in_a_word_what_it_comes_to(blocks: bool, note: str, checkpoint: str, word: str) -> None:
    """What blocks comes first."""
    lines = (Line(kind="state", name="A", blocks=blocks),)
    report = Report(
        session="s", status="waiting", run="r", before=None, after=PINS, lines=lines, note=note, checkpoint=checkpoint
    )
    assert (report.status_word, report.blocking) == (word, lines if blocks else ())
