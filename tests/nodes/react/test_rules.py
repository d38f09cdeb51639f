"""What the rules of `react` call, and what they say of what came of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from nodes.react.handbook import look_up_tool
from nodes.react.rules import NOTHING, decide
from stateward.errors import ConfigError
from stateward.teams.mind import WRAP_UP

KB = Path(__file__).parents[3] / "samples" / "kb"


def asked(text: str) -> list[tuple[str, str]]:
    """The calls that a question leads to, each with its argument."""
    return [(call["name"], *call["args"].values()) for call in decide([HumanMessage(text)]).tool_calls]


@pytest.mark.parametrize(
    ("text", "sums"),
    [
        ("12*(3+4)?", ["12*(3+4)"]),
        ("What is 2 ** 10, and 7 / 2?", ["2 ** 10", "7 / 2"]),
        ("calculate -3 + 5.", ["-3 + 5."]),
        ("how much is 3 × 4", ["3 × 4"]),
    ],
)
def test_arithmetic_is_found_in_a_question(text: str, sums: list[str]) -> None:
    """Each of it is one call, and nothing else is looked up."""
    assert asked(text) == [("calculate", one) for one in sums]


def test_other_words_are_looked_up() -> None:
    """Beside the arithmetic, in the same reply."""
    text = "How do I return goods, and what is 2 + 2?"
    assert asked(text) == [("calculate", "2 + 2"), ("look_up", text)]


@pytest.mark.parametrize("text", ["", "?", "42", WRAP_UP, "-" * 5000, "(" * 5000 + "1"])
def test_nothing_to_do_is_said(text: str) -> None:
    """At once, however long the question is."""
    assert decide([HumanMessage(text)]).text == NOTHING


def test_a_failure_is_told() -> None:
    """With the tool and the reason, beside what went well."""
    said: list[BaseMessage] = [HumanMessage("1 / 0 and 1 + 1")]
    reply = decide(said)
    ids = [str(call["id"]) for call in reply.tool_calls]
    said += [reply, ToolMessage("by zero", tool_call_id=ids[0], status="error"), ToolMessage("2", tool_call_id=ids[1])]
    assert decide(said).text == "`calculate` did not work: by zero 1 + 1 = 2."


def test_the_handbook_answers_in_one_line() -> None:
    """From the article that fits best."""
    found = look_up_tool(KB).fn(query="How do I send goods back?")
    assert found["answer"].startswith("You can return goods within 30 days")


def test_a_handbook_without_articles_is_refused(tmp_path: Path) -> None:
    """When the graph is built, not at the first question."""
    with pytest.raises(ConfigError, match="at least one article"):
        look_up_tool(tmp_path)
