"""What an answer says of a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stateward.errors import InputRefused
from stateward.run.edited import refuse_misfit, refuse_other_call
from stateward.run.store.ask import Ask
from stateward.run.store.entry import CallKey
from stateward.run.store.given import Given
from tests.charts.one import compiled
from tests.charts.tools import Shop

SHOWN = {"order": "A", "eur": 3, "who": {"b": [1, True], "a": None}}


def write_down(state: Any) -> Any:
    """Calls nothing."""
    return {"log": ["here"]}


def ask(arguments: Any = SHOWN) -> Ask:
    key = CallKey(session="s1", run="run_1", branch="main", path="A", activation=1, call=0)
    return Ask.new(key=key, kind="approve", tool="refund", arguments=arguments, fingerprint="f", reason="")


@pytest.mark.parametrize("meant", [None, SHOWN, {**SHOWN, "eur": 3.0}, dict(reversed(SHOWN.items()))])
def test_an_answer_may_mean_the_call_that_was_shown(meant: Any) -> None:
    """The order of the keys and the form of a number do not matter."""
    refuse_other_call(ask(), tool="refund", arguments=meant)


@pytest.mark.parametrize(
    "meant",
    [
        {},
        {"eur": 3},
        {**SHOWN, "eur": "3"},
        {**SHOWN, "eur": True},
        {**SHOWN, "more": None},
        {**SHOWN, "who": {"b": [1, 1], "a": None}},
        {**SHOWN, "eur": {3}},
        [],
        "refund",
    ],
)
def test_an_answer_that_means_another_call_is_refused(meant: Any) -> None:
    """Every argument counts, with its type."""
    with pytest.raises(InputRefused, match="another call"):
        refuse_other_call(ask(), arguments=meant)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"arguments": {"to": 1}}, "does not fit"),
        ({"arguments": {}}, "does not fit"),
        ({}, "names no arguments"),
        ({"tool": "rm", "arguments": {"to": "x"}}, "does not declare"),
    ],
)
def test_an_edit_that_leads_to_no_call_is_refused(said: dict[str, Any], why: str) -> None:
    """So the ask stays open for a better one."""
    machine = compiled(write_down, box=Shop().box).machine
    fine = Given(by="ann", decision="edit", tool="mail", arguments={"to": "x"})
    refuse_misfit(machine, replace(ask(), path="WORK.ACT"), fine, tool="mail", arguments={"to": "x"})
    given = Given(by="ann", decision="edit", **said)
    with pytest.raises(InputRefused, match=why):
        refuse_misfit(machine, replace(ask(), path="WORK.ACT", tool="mail"), given, **said)
