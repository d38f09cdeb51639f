"""What `graphs.blog` does around its ideas: take the topic in, look facts up, word the post.

The rules know no more than the library. A writer words the post from the same facts, and what it writes passes the same
gate; a text that is refused too often gives way to the rules' own.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, cast

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

import stateward as sw
from nodes.blog.idea import Idea, ideas_on
from nodes.blog.library import Library, Note
from stateward import teams
from stateward.prompts import Prompts

IDEAS = "IDEAS"
"""The block that proposes and picks."""
PROMPTS = Prompts(Path(__file__).parent / "prompts")
MOST_NOTES = 3
"""Articles that a post is written from."""
LONGEST_QUERY = 200
"""Characters of a query, as the policy has it."""


class Blog(teams.TeamState, total=False):
    """The state. Values are plain JSON, so that any process can read them."""

    topic: str
    """What somebody wants a post about; taken in, it is empty again."""
    subject: str
    """What the present post is about."""
    notes: list[Note]
    """What was found on the idea that was picked."""
    post: dict[str, Any]
    """As the contract `Post` wants it."""


class Writer:
    """The activities over one library.

    Args:
        library: Where facts come from.
    """

    def __init__(self, library: Library) -> None:
        self._library = library

    def brief(self, state: Blog) -> dict[str, Any]:
        """Take the topic in: the one that is given, else what was said last; forget the post before."""
        said = [one.text for one in state.get("messages", []) if isinstance(one, HumanMessage)]
        given = state.get("topic") or "".join(said[-1:])
        subject = " ".join(given.split())[:LONGEST_QUERY]
        return {"topic": "", "subject": subject, "notes": [], "post": {}, **teams.told(IDEAS, subject)}

    def propose(self, state: Blog) -> list[Idea]:
        """Propose ideas by rules."""
        return ideas_on(state.get("subject", ""))

    def judge(self, state: Blog) -> tuple[int, str]:
        """Pick the idea on most of whose points the library has something; the first of equals."""
        options = teams.thoughts_of(state, IDEAS).options
        known = [sum(bool(self._library.search(query)) for query in _queries(one)) for one in options]
        best = known.index(max(known))
        return best, f"the library has something on {known[best]} of its points"

    async def research(self, state: Blog, run: sw.Run) -> dict[str, Any]:
        """Look the title and each point of the chosen idea up, all at the same time; keep what is found most often."""
        idea = teams.thoughts_of(state, IDEAS).chosen or {}
        results = await run.tools([{"name": "search_notes", "args": {"query": query}} for query in _queries(idea)])
        found: list[Note] = [note for result in results if result.ok for note in result.value]
        often = Counter(note["source"] for note in found)
        notes = {note["source"]: note for note in found}
        return {"notes": [notes[source] for source, _ in often.most_common(MOST_NOTES)]}

    def draft(self, state: Blog) -> dict[str, Any]:
        """Word the post by rules: the points, then what the library says, with its sources."""
        return posted(state, worded(teams.thoughts_of(state, IDEAS).chosen or {}, notes=state.get("notes", [])))

    async def assisted_draft(self, state: Blog, run: sw.Run) -> dict[str, Any]:
        """Let the writer word the post from the idea and the facts; sent back, it is told what was wrong."""
        idea, notes = teams.thoughts_of(state, IDEAS).chosen or {}, state.get("notes", [])
        facts = json.dumps({"idea": idea, "facts": notes}, ensure_ascii=False)
        said = [SystemMessage(PROMPTS.render("draft")), HumanMessage(facts)]
        if run.feedback:
            said.append(HumanMessage(f"Your last text was refused. {run.feedback}"))
        return posted(state, (await run.model().ainvoke(said)).text)


def has_topic(state: Blog) -> bool:
    """Whether somebody said what to write about."""
    return bool(state.get("subject"))


def has_idea(state: Blog) -> bool:
    """Whether an idea was picked."""
    return teams.thoughts_of(state, IDEAS).chosen is not None


def ask_topic() -> dict[str, Any]:
    """Ask what to write about."""
    return {"messages": [AIMessage("What shall the post be about?")]}


def explain(event: Any) -> dict[str, Any]:
    """Say why the work stopped, and what can be done."""
    data = cast("dict[str, Any]", event.data) if isinstance(event.data, dict) else None
    why = f"`{event.name}`. {data.get('message', '') if data else ''}".strip()
    return {"messages": [AIMessage(f"The work stopped by {why} `resume` goes on with it; or name another topic.")]}


def present(state: Blog) -> dict[str, Any]:
    """Say the post to whoever asked for it."""
    return {"messages": [AIMessage(state.get("post", {}).get("text", ""))]}


def posted(state: Blog, text: str) -> dict[str, Any]:
    """Return the update that holds the post.

    Args:
        state: The state, for title and sources.
        text: The wording.
    """
    title = (teams.thoughts_of(state, IDEAS).chosen or {}).get("title", "")
    return {"post": {"title": title, "text": text, "sources": [note["source"] for note in state.get("notes", [])]}}


def worded(idea: Any, *, notes: list[Note]) -> str:
    """Put an idea and what was found on it into Markdown.

    Args:
        idea: The idea, as plain JSON.
        notes: What was found.
    """
    points = "\n".join(f"- {bullet}" for bullet in idea.get("bullets", ()))
    parts = [f"# {idea.get('title', '')}", f"For {idea.get('audience', '')}: {idea.get('angle', '')}.", points]
    parts += [f"## {note['title']}\n\n{note['text']}" for note in notes]
    return "\n\n".join((*parts, f"Sources: {', '.join(note['source'] for note in notes) or 'none'}."))


def _queries(idea: Any) -> list[str]:
    return [text[:LONGEST_QUERY] for text in (idea.get("title", ""), *idea.get("bullets", ())) if text]
