"""The order of the work by rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodes.market_research.order import lead, lead_research, lead_writing
from stateward import teams

Chooses = Callable[[teams.Standing], teams.Delegation | teams.Finish]


def after(*results: tuple[str, Any], failed: str = "") -> teams.Standing:
    """Where a supervisor stands after these visits."""
    made = [teams.Result(member=name, task="t", ok=name != failed, value=value) for name, value in results]
    return teams.Standing(task="Q?\nmore", results=tuple(made), left={}, state={})


FOUND = ("SEARCH", "- a (/pages/a.html)")


@pytest.mark.parametrize(
    ("choose", "results", "next_one"),
    [
        (lead, [], "RESEARCH"),
        (lead, [("RESEARCH", "- a (/a)")], "WRITING"),
        (lead_research, [], "SEARCH"),
        (lead_research, [FOUND], "SCRAPER"),
        (lead_research, [("SEARCH", "nothing")], "SEMANTIC"),
        (lead_research, [FOUND, ("SCRAPER", "")], "SEMANTIC"),
        (lead_research, [FOUND, ("SCRAPER", ""), ("SEMANTIC", "")], "PATENTS"),
        (lead_writing, [], "NOTES"),
        (lead_writing, [("NOTES", "- a (/a)")], "WRITER"),
    ],
)
def test_each_is_sent_once_in_its_turn(choose: Chooses, results: list[tuple[str, Any]], next_one: str) -> None:
    """And the scraper only when there are pages."""
    chosen = choose(after(*results))
    assert isinstance(chosen, teams.Delegation)
    assert chosen.member == next_one


@pytest.mark.parametrize(
    ("choose", "results", "answer"),
    [
        (lead, [("RESEARCH", "a"), ("WRITING", "report")], "report"),
        (lead_research, [FOUND, ("SCRAPER", "b"), ("SEMANTIC", "c"), ("PATENTS", "d")], "b\nc\nd"),
        (lead_writing, [("NOTES", "a"), ("WRITER", "report")], "report"),
    ],
)
def test_then_the_work_is_done(choose: Chooses, results: list[tuple[str, Any]], answer: str) -> None:
    """With what came of it."""
    assert choose(after(*results)) == teams.Finish(answer)


def test_a_task_has_the_question_and_all_that_is_needed() -> None:
    """Nothing else is passed on: pages to the scraper, findings to the writers, notes to the writer."""
    scraper = lead_research(after(FOUND))
    writer = lead_writing(after(("NOTES", "- a (/a)")))
    writing = lead(after(("RESEARCH", "- a (/a)")))
    assert scraper == teams.Delegation("SCRAPER", task="Q?\nRead these pages:\n/pages/a.html")
    assert (writer, writing) == (
        teams.Delegation("WRITER", task="Q?\n- a (/a)"),
        teams.Delegation("WRITING", task="Q?\n- a (/a)"),
    )


def test_who_failed_is_left_out() -> None:
    """The others' findings are what there is."""
    results = [("SEARCH", "nothing"), ("SEMANTIC", "c"), ("PATENTS", "fuse.calls")]
    assert lead_research(after(*results, failed="PATENTS")) == teams.Finish("c")
