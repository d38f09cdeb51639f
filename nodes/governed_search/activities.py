"""What `graphs.governed_search` does: find out what there is, choose calls, make them through the door, report.

Whoever chooses, rules or a model, may ask for anything; the policy decides, and every refusal is on record.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, HumanMessage

import stateward as sw
from nodes.governed_search.archive import Archive, Offer
from stateward.discovery import discover
from stateward.models import tool_schema

SAID = 400
"""Letters of an observation that the log keeps."""
MAX_CALLS = 6
"""Calls of one round that are taken from a model."""


class Call(TypedDict):
    """A call that somebody wants to make."""

    name: str
    args: dict[str, Any]


class Search(TypedDict, total=False):
    """The state. Values are plain JSON, so that any process can read them."""

    question: str
    offers: list[dict[str, str]]
    """What the archive offers."""
    best: str
    """The tool that reads the article which fits best."""
    is_connected: bool
    """Whether an earlier run has connected; a session keeps it."""
    wanted: list[Call]
    """The calls that are to be made next."""
    log: Annotated[list[dict[str, str]], operator.add]
    """Each call that was made or refused: its tool, status and what came of it."""
    answer: str


class Searcher:
    """The activities over one archive.

    Args:
        archive: The archive.
        tools: The tools that are known, for a model to choose from.
    """

    def __init__(self, archive: Archive, *, tools: Sequence[Any]) -> None:
        self._archive = archive
        self._tools = tools

    async def find(self, state: Search, run: sw.Run) -> dict[str, Any]:
        """Find out which tools there are and which article fits."""
        question = state.get("question", "")
        listed, best = await run.tools(
            [{"name": "list_tools", "args": {}}, {"name": "find_articles", "args": {"query": question}}]
        )
        found: dict[str, Any] = {
            "offers": listed.value if listed.ok else [],
            "best": best.value["tool"] if best.ok else "",
        }
        return {**found, "wanted": [], "answer": "", "log": noted([listed, best])}

    def choose(self, state: Search) -> dict[str, Any]:
        """Choose by rules: connect, or, when an earlier run has, read and keep a note."""
        if not state.get("is_connected"):
            return {"wanted": [{"name": "connect_archive", "args": {"reason": state.get("question", "")}}]}
        best = state.get("best") or ""
        return {"wanted": [{"name": best, "args": {}}] if best else []}

    async def assisted_choose(self, state: Search, run: sw.Run) -> dict[str, Any]:
        """Let the model choose among all that there is, what is on no list included."""
        known = [tool_schema(tool) for tool in (*self._tools, *map(self._archive.tool, offers(state)))]
        said = [HumanMessage(state.get("question", "")), *(HumanMessage(str(one)) for one in state.get("log", []))]
        reply: AIMessage = await run.model().bind_tools(known).ainvoke(said)
        return {"wanted": [{"name": call["name"], "args": call["args"]} for call in reply.tool_calls[:MAX_CALLS]]}

    async def act(self, state: Search, run: sw.Run) -> dict[str, Any]:
        """Make the calls; tools that were found are offered to the door, which lets those pass that are listed."""
        if offers(state) and run.door.effective.discovered:
            discover(run, [self._archive.tool(offer) for offer in offers(state)])
        results = await run.tools([{"name": call["name"], "args": call["args"]} for call in state.get("wanted", [])])
        connected = any(one.ok and one.name == "connect_archive" for one in results)
        read = [one.value["text"] for one in results if one.ok and one.name.startswith("read_")]
        answer = "\n\n".join(read) or state.get("answer", "")
        update = {"wanted": [], "log": noted(results), "answer": answer}
        return {**update, "is_connected": True} if connected else update

    async def keep(self, state: Search, run: sw.Run) -> dict[str, Any]:
        """Keep the answer in a note, if somebody approves."""
        kept = await run.tool("save_note", file="notes/answer.md", text=state.get("answer", ""))
        return {"log": noted([kept])}


def offers(state: Search) -> list[Offer]:
    """Return what the archive offers.

    Args:
        state: The state.
    """
    return list(state.get("offers") or [])


def noted(results: Sequence[sw.ToolResult]) -> list[dict[str, str]]:
    """Return the lines of the log that tell of calls.

    Args:
        results: What came of them.
    """
    return [{"tool": one.name, "status": one.status, "said": one.text[:SAID]} for one in results]


def wants_calls(state: Search) -> bool:
    """Whether calls are to be made."""
    return bool(state.get("wanted"))


def has_answer(state: Search) -> bool:
    """Whether something was read."""
    return bool(state.get("answer"))
