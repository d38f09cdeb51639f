"""The rules of the workers: what each would say if it were a model, so that nothing needs a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from nodes.market_research.findings import addresses_in, concerning, line, lines_of, records_in, sources_in
from nodes.market_research.ranking import ranked
from nodes.react.turn import Seen, Turn, calling, turn

Rules = Callable[[Sequence[BaseMessage]], AIMessage]
MOST_PAGES = 3
MOST_QUERY = 300
"""Letters of a task that are searched for."""
NOTES_FILE, REPORT_FILE = "notes/outline.md", "reports/report.md"
NOTHING = "Nothing was found."
TOP = 3
"""Findings that a summary has."""


def question_of(now: Turn) -> str:
    """Return what a task is about: its first line.

    Args:
        now: Where the worker's conversation stands.
    """
    return now.question.strip().splitlines()[0][:MOST_QUERY].strip() if now.question.strip() else ""


def search(messages: Sequence[BaseMessage]) -> AIMessage:
    """Search the web, and tell what was found where.

    Args:
        messages: The worker's conversation.
    """
    return _asking(
        messages, "search_web", tell=lambda one: line(f"{one['title']}: {one['content']}", source=one["url"])
    )


def semantic(messages: Sequence[BaseMessage]) -> AIMessage:
    """Search the documents by meaning.

    Args:
        messages: The worker's conversation.
    """
    return _asking(messages, "semantic_search", tell=lambda one: line(str(one["text"]), source=one["url"]))


def patents(messages: Sequence[BaseMessage]) -> AIMessage:
    """Search patents.

    Args:
        messages: The worker's conversation.
    """
    return _asking(
        messages,
        "find_patents",
        tell=lambda one: line(f"{one['title']}, {one['holder']}, {one['year']}, {one['status']}", source=one["number"]),
    )


def scrape(messages: Sequence[BaseMessage]) -> AIMessage:
    """Read the pages that the task names, and tell what they say about its first line.

    Args:
        messages: The worker's conversation.
    """
    now = turn(messages)
    wanted = addresses_in(now.question, most=MOST_PAGES)
    if wanted and not now.seen and not now.is_last:
        return calling(messages, *(("scrape_page", {"url": url}) for url in wanted))
    pages = [page for seen in now.seen if seen.ok for page in records_in(seen.text)]
    told = [
        line(part, source=str(page["url"]))
        for page in pages
        for part in concerning(question_of(now), title=str(page["title"]), text=str(page["text"]))
    ]
    return AIMessage("\n".join(told) or NOTHING)


def note(messages: Sequence[BaseMessage]) -> AIMessage:
    """Make an outline of the findings in the task, and keep it.

    Args:
        messages: The worker's conversation.
    """
    now = turn(messages)
    outline = "\n".join((f"# Notes: {question_of(now)}", "", *(lines_of(now.question) or (NOTHING,))))
    if not now.seen and not now.is_last:
        return calling(messages, ("write_document", {"file": NOTES_FILE, "text": outline}))
    return AIMessage(outline)


def write(messages: Sequence[BaseMessage]) -> AIMessage:
    """Write the report from the notes in the task, and keep it.

    Args:
        messages: The worker's conversation.
    """
    now = turn(messages)
    report = report_of(question_of(now), findings=lines_of(now.question))
    if not now.seen and not now.is_last:
        return calling(messages, ("write_document", {"file": REPORT_FILE, "text": report}))
    return AIMessage(report)


def report_of(question: str, *, findings: Sequence[str]) -> str:
    """Word a report.

    Args:
        question: What it answers.
        findings: Lines of findings; those that have most to do with the question come first.
    """
    if not findings:
        return f"# {question}\n\n{NOTHING}\n"
    best = {place for place, _ in ranked(question, texts=findings)[:TOP]}
    short = [finding for place, finding in enumerate(findings) if place in best]
    rest = [finding for place, finding in enumerate(findings) if place not in best]
    sources = [f"{number}. {source}" for number, source in enumerate(sources_in(findings), start=1)]
    parts = ("## In short", *short, "", "## What was found", *rest, "", "## Sources", *sources)
    return "\n".join((f"# {question}", "", *parts, ""))


def _asking(messages: Sequence[BaseMessage], tool: str, *, tell: Callable[[Mapping[str, Any]], str]) -> AIMessage:
    now = turn(messages)
    if not now.seen and not now.is_last:
        return calling(messages, (tool, {"query": question_of(now)}))
    return AIMessage("\n".join(_told(now.seen, tell=tell)) or NOTHING)


def _told(seen: Sequence[Seen], *, tell: Callable[[Mapping[str, Any]], str]) -> list[str]:
    return [tell(each) for one in seen if one.ok for each in records_in(one.text)]
