"""The order of the work by rules: who is sent next, and with what task; a supervisor's model chooses the same way."""

from __future__ import annotations

from nodes.market_research.findings import addresses_in
from nodes.market_research.rules import MOST_PAGES, NOTHING
from stateward import teams

RESEARCH, WRITING = "RESEARCH", "WRITING"
SEARCH, SCRAPER, SEMANTIC, PATENTS = "SEARCH", "SCRAPER", "SEMANTIC", "PATENTS"
NOTES, WRITER = "NOTES", "WRITER"


def lead(standing: teams.Standing) -> teams.Delegation | teams.Finish:
    """Let research come before writing.

    Args:
        standing: Where the desk stands.
    """
    research, writing = standing.last(RESEARCH), standing.last(WRITING)
    if research is None:
        return teams.Delegation(RESEARCH)
    if writing is None:
        return teams.Delegation(WRITING, task=f"{_first(standing.task)}\n{research.text if research.ok else ''}")
    return teams.Finish(writing.value if writing.ok else None)


def lead_research(standing: teams.Standing) -> teams.Delegation | teams.Finish:
    """Search, read what was found, then documents and patents; finish with all findings.

    Args:
        standing: Where the team stands.
    """
    found = standing.last(SEARCH)
    pages = addresses_in(found.text, most=MOST_PAGES) if found is not None and found.ok else ()
    if found is None:
        return teams.Delegation(SEARCH)
    if pages and standing.last(SCRAPER) is None:
        return teams.Delegation(SCRAPER, task="\n".join((_first(standing.task), "Read these pages:", *pages)))
    for worker in (SEMANTIC, PATENTS):
        if standing.last(worker) is None:
            return teams.Delegation(worker)
    told = [standing.last(worker) for worker in (SCRAPER, SEMANTIC, PATENTS)]
    return teams.Finish("\n".join(one.text for one in told if one is not None and one.ok) or NOTHING)


def lead_writing(standing: teams.Standing) -> teams.Delegation | teams.Finish:
    """Make notes, then the report.

    Args:
        standing: Where the team stands.
    """
    notes, report = standing.last(NOTES), standing.last(WRITER)
    if notes is None:
        return teams.Delegation(NOTES)
    if report is None:
        findings = notes.text if notes.ok else standing.task
        return teams.Delegation(WRITER, task=f"{_first(standing.task)}\n{findings}")
    return teams.Finish(report.value if report.ok else None)


def _first(task: str) -> str:
    """The question that a task begins with."""
    return task.strip().splitlines()[0] if task.strip() else ""
