"""Asking for something of a given form: what cannot be read is an outcome, what the provider refuses is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

import stateward as sw
from stateward import teams
from stateward.teams.reading import read
from stateward.teams.tree_of_thoughts import Choice
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven

Drive = Callable[..., Driven]


async def ask(state: Any, run: sw.Run) -> Any:
    """Ask for a choice, and keep what came."""
    found = await read(run, [HumanMessage("Which?")], contract=Choice, retries=1)
    return teams.recorded("ASK", value=found.value, problem=found.problem)


def asking(*replies: Any) -> sw.ChartGraph:
    chart = sw.Chart("asking", teams.TeamState, sw.State("ASK", do=ask, model="m", to="DONE"), sw.Final("DONE"))
    return chart.compile(models={"m": ScriptedModel.of(*replies)})


def test_what_fits_is_read_out_of_words(drive: Drive) -> None:
    """At the first attempt, or at a later one."""
    values = drive(asking("hm", 'I say {"index": 1, "reason": "it is"} and no more')).start({}).values
    assert values["team"]["ASK"] == {"value": {"index": 1, "reason": "it is"}, "problem": ""}


def test_what_never_fits_is_told_and_not_raised(drive: Drive) -> None:
    """One call in the provider's own form, and two in words."""
    values = drive(asking("hm", "hm", "hm")).start({}).values
    assert "after 3 attempts" in values["team"]["ASK"]["problem"]


class LengthFinishReasonError(Exception):
    """As OpenAI's client raises it."""


def test_a_reply_that_was_cut_off_is_asked_for_in_words(drive: Drive) -> None:
    """The model said too much; nothing is wrong with its provider."""
    values = drive(asking(LengthFinishReasonError("too long"), '{"index": 2, "reason": "so"}')).start({}).values
    assert values["team"]["ASK"]["value"]["index"] == 2


def test_a_provider_that_fails_is_raised(drive: Drive) -> None:
    """It is for the chart around, or for another attempt at the call."""
    with pytest.raises(Exception, match="the line is dead"):
        drive(asking(RuntimeError("the line is dead"))).start({})
