"""What `graphs.working` does: look up what a question mentions in a small handbook, and what that refers to.

It needs no model and no network, so that the chart can be watched for itself: every activity says in one message what
it did, and the word "stop" in any message pauses the work.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

import stateward as sw

HANDBOOK: Mapping[str, str] = {
    "superstate": "A superstate is a state with states inside. See also: history, policy.",
    "history": "A history marker leads back to where a superstate was left.",
    "policy": "A policy hangs on a state and binds everything inside it. See also: fuse.",
    "fuse": "A fuse ends the work before a limit is passed.",
    "stop": "The word stop leaves the superstate, wherever the work stands.",
}
"""Topic to text."""

LATEST = 3
"""How many of the newest messages the guard reads."""


class Work(TypedDict, total=False):
    """The state of the working agent."""

    messages: sw.Messages
    wanted: list[str]
    """Topics still to be looked up."""
    found: Annotated[dict[str, str], operator.or_]
    """Topic to text, for what was looked up in this session."""


class Resume(sw.Event):
    """Go on where the work was left."""

    note: str = ""


@sw.tool(effect="pure")
def list_topics() -> list[str]:
    """List the topics of the handbook."""
    return sorted(HANDBOOK)


@sw.tool(effect="pure")
def look_up(topic: str) -> str:
    """Return what the handbook says on a topic."""
    return HANDBOOK[topic]


async def plan(state: Work, run: sw.Run) -> sw.Update[Work]:
    """Choose what to look up: what the question mentions, or what the last round left open.

    Args:
        state: The agent's state.
        run: The door to `list_topics`.

    Returns:
        The topics, and a message that names them.
    """
    topics = await run.tool("list_topics")
    wanted = state.get("wanted") or _mentioned(_question(state), topics=topics.value if topics.ok else ())
    return {"wanted": wanted, "messages": [AIMessage(f"Plan: {', '.join(wanted) or 'nothing to look up'}.")]}


async def act(state: Work, run: sw.Run) -> sw.Update[Work]:
    """Look the topics up, all at the same time.

    Args:
        state: The agent's state.
        run: The door to `look_up`.

    Returns:
        What was found, and a message with it.
    """
    wanted = state.get("wanted", [])
    results = await run.tools([{"name": "look_up", "args": {"topic": topic}} for topic in wanted])
    found = {topic: result.text for topic, result in zip(wanted, results, strict=True) if result.ok}
    text = " ".join(found.values()) or "Nothing found."
    return {"found": found, "wanted": [], "messages": [AIMessage(text)]}


def reflect(state: Work) -> sw.Update[Work]:
    """See whether what was found refers to more.

    Args:
        state: The agent's state.

    Returns:
        The topics of the next round, if any, and a message that says so.
    """
    found = state.get("found", {})
    referred = {
        topic for text in found.values() for topic in _mentioned(text.partition("See also:")[2], topics=HANDBOOK)
    }
    more = sorted(referred - found.keys())
    text = f"More to look up: {', '.join(more)}." if more else f"Looked up so far: {', '.join(sorted(found))}."
    return {"wanted": more, "messages": [AIMessage(text)]}


def needs_more(state: Work) -> bool:
    """Tell whether another round is due.

    Args:
        state: The agent's state.
    """
    return bool(state.get("wanted"))


def said_stop(state: Work) -> bool:
    """Tell whether one of the latest messages has the word "stop".

    Args:
        state: The agent's state; after a pause the kernel shows only messages that came since.
    """
    return any(re.search(r"\bstop\b", str(one.content), re.IGNORECASE) for one in _messages(state)[-LATEST:])


def _mentioned(text: str, *, topics: Iterable[str]) -> list[str]:
    words = set(re.findall(r"[a-z]+", text.lower()))
    return [topic for topic in sorted(topics) if topic in words]


def _question(state: Work) -> str:
    asked = [str(one.content) for one in _messages(state) if isinstance(one, HumanMessage)]
    return asked[-1] if asked else ""


def _messages(state: Work) -> list[BaseMessage]:
    return list(state.get("messages", []))
