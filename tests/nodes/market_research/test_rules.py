"""The rules of the workers, each over a conversation of its own."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from nodes.market_research.rules import NOTHING, Rules, note, patents, report_of, scrape, search, semantic, write
from stateward.teams.mind import WRAP_UP

QUESTION = "What does a box cost?"


def asked(text: str = QUESTION) -> list[BaseMessage]:
    return [HumanMessage(text)]


def told(rules: Rules, *values: object, task: str = QUESTION) -> str:
    """What a worker answers when its calls told this."""
    reply = rules(asked(task))
    results = [
        ToolMessage(json.dumps(value), tool_call_id=str(call["id"]), name=call["name"])
        for call, value in zip(reply.tool_calls, values, strict=True)
    ]
    return rules([*asked(task), reply, *results]).text


@pytest.mark.parametrize(
    ("rules", "tool"), [(search, "search_web"), (semantic, "semantic_search"), (patents, "find_patents")]
)
def test_who_searches_calls_its_tool_once_with_the_question(rules: Rules, tool: str) -> None:
    """Only the first line of a task is searched for."""
    (call,) = rules(asked(f"{QUESTION}\nmore")).tool_calls
    assert (call["name"], call["args"]) == (tool, {"query": QUESTION})


def test_who_reads_pages_reads_those_that_the_task_names() -> None:
    """Three at most; without any it has found nothing."""
    calls = scrape(asked(f"{QUESTION}\n/a /b /c /d")).tool_calls
    assert [call["args"]["url"] for call in calls] == ["/a", "/b", "/c"]
    assert scrape(asked()).text == NOTHING


def test_findings_have_their_sources() -> None:
    """As the tools told them."""
    assert (
        told(search, [{"title": "T", "content": "A box costs 1 EUR.", "url": "/a"}]) == "- T: A box costs 1 EUR. (/a)"
    )
    patent = {"title": "Lock", "holder": "K", "year": 2021, "status": "granted", "number": "XP-1"}
    assert told(patents, [patent]) == "- Lock, K, 2021, granted (XP-1)"
    page = {"title": "T", "text": "T\nA box costs 1 EUR.", "url": "/a"}
    assert told(scrape, page, task=f"{QUESTION}\n/a") == "- A box costs 1 EUR. (/a)"


def test_what_a_tool_refused_is_no_finding() -> None:
    """An error of a tool is told to nobody as a fact."""
    reply = search(asked())
    refused = ToolMessage("{}", tool_call_id=str(reply.tool_calls[0]["id"]), name="search_web", status="error")
    assert search([*asked(), reply, refused]).text == NOTHING


@pytest.mark.parametrize("rules", [search, semantic, patents, scrape, note, write])
def test_in_the_last_step_nobody_calls_anything(rules: Rules) -> None:
    """An answer is due."""
    last = rules([*asked(f"{QUESTION}\n/a"), HumanMessage(WRAP_UP)])
    assert (last.tool_calls, bool(last.text)) == ([], True)


def test_notes_and_report_are_kept_and_then_said() -> None:
    """Under the names that the policy knows."""
    task = f"{QUESTION}\n- A box costs 1 EUR. (/a)"
    files = [rules(asked(task)).tool_calls[0]["args"]["file"] for rules in (note, write)]
    assert files == ["notes/outline.md", "reports/report.md"]
    assert isinstance(write(asked(task)), AIMessage)


def test_a_report_has_the_nearest_findings_first_and_all_sources() -> None:
    """Without findings it says so."""
    findings = ["- Tea is hot. (/t)", "- A box costs 1 EUR. (/a)", "- A box folds. (/a)", "- Cost: a lot, box. (/b)"]
    report = report_of(QUESTION, findings=findings)
    assert report.index("A box costs") < report.index("What was found") < report.index("Tea is hot")
    assert report.endswith("## Sources\n1. /t\n2. /a\n3. /b\n")
    assert NOTHING in report_of(QUESTION, findings=[])
