"""What `graphs.hitl` does: six ways to let people take part, none of which acts and asks in the same step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from langchain_core.messages import HumanMessage, SystemMessage

import stateward as sw
from nodes.hitl.state import PATTERNS, TOPIC, Call, Desk, Notice
from stateward import ask
from stateward.prompts import Prompts

PLACES = ("hall", "kitchen", "call")
FIRST_HOUR, LAST_HOUR = 8, 18
_HOUR = {"type": "integer", "minimum": FIRST_HOUR, "maximum": LAST_HOUR}
_FINE = ("", "fine", "good", "ok", "okay", "no", "nothing", "thanks")
"""What counts as no wish."""
PROMPTS = Prompts(Path(__file__).parent / "prompts")


class People:
    """The activities.

    Args:
        rounds: How often something is changed at most.
        expires_s: Seconds an answer is waited for; None for ever.
        remind_s: Seconds after which people are reminded.
        approvers: Who may answer what is to be approved; empty means anyone.
    """

    def __init__(
        self,
        *,
        rounds: int = 5,
        expires_s: float | None = None,
        remind_s: Sequence[float] = (),
        approvers: Sequence[str] = (),
    ) -> None:
        self._rounds = rounds
        self._when: ask.When = {"expires_s": expires_s, "remind_s": remind_s}
        self._who: ask.When = {**self._when, "approvers": approvers}

    async def choose(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Take the pattern that the input names, or ask which one."""
        pattern = state.get("pattern", "")
        if pattern not in PATTERNS:
            question = ask.choose("Which pattern is to be shown?", PATTERNS, default="approval", **self._when)
            pattern = await run.ask(question)
        fresh: dict[str, Any] = {"draft": "", "wishes": [], "wish": "", "approved": False, "call": None}
        return {**fresh, "pattern": pattern, "topic": state.get("topic") or TOPIC}

    # -- 1 and 2: something is written, and changed as people wish ----------------------------------------

    def write(self, state: Desk) -> dict[str, Any]:
        """Write the draft by rules: the topic, with every wish."""
        return {"draft": written(state.get("topic", ""), state.get("wishes", [])), "wish": ""}

    async def assisted_write(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Let the model write it; when it says nothing, the rules do."""
        wishes = "".join(f"\nChange: {wish}" for wish in state.get("wishes", []))
        asked = [SystemMessage(PROMPTS.render("write")), HumanMessage(f"{state.get('topic', '')}{wishes}")]
        reply = await run.model().ainvoke(asked)
        said = str(cast("object", reply.text)).strip()
        return {**self.write(state), **({"draft": said} if said else {})}

    async def listen(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Ask what is to be changed; after so many rounds nothing more is."""
        if len(state.get("wishes", [])) >= self._rounds:
            return {"wish": "", "log": ["no more rounds"]}
        question = f"{state.get('draft', '')}\n\nWhat is to be changed? Say `fine` if nothing is."
        return self._wished(state, await run.ask(ask.text(question, default="fine", **self._when)))

    async def gate(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Ask whether the draft may be published; who says what is wanted instead sees it again."""
        about = {"draft": state.get("draft", "")}
        said = await run.ask(ask.approve("May this be published?", about=about, **self._who))
        if said or len(state.get("wishes", [])) >= self._rounds:
            return {"approved": bool(said), "wish": "", "log": [f"{said.decision} by {said.by}"]}
        return {"approved": False, **self._wished(state, said.note)}

    def _wished(self, state: Desk, said: str) -> dict[str, Any]:
        wish = "" if said.strip().casefold().rstrip(".!") in _FINE else said.strip()
        log = f"wish: {wish}" if wish else "nothing to change"
        return {"wish": wish, "wishes": [*state.get("wishes", []), *([wish] if wish else [])], "log": [log]}

    async def publish(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Publish the draft: the step that acts, and asks nobody."""
        return noted(await run.tool("publish", text=state.get("draft", "")))

    # -- 3: a value is edited ------------------------------------------------------------------------------

    def propose(self, state: Desk) -> dict[str, Any]:
        """Make a notice of the topic."""
        topic = state.get("topic", "")
        title = topic.split(".", maxsplit=1)[0][:40] or "Notice"
        return {"notice": Notice(title=title, text=topic or title).model_dump()}

    async def correct(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Let a person edit the notice; what is no notice is refused."""
        before = Notice.model_validate(state.get("notice"))
        notice = await run.ask(ask.edit(before, question="Is the notice right?", schema=Notice, **self._when))
        changed = [key for key, value in notice.model_dump().items() if value != getattr(before, key)]
        return {"notice": notice.model_dump(), "log": [f"edited: {', '.join(changed) or 'nothing'}"]}

    # -- 4: several people are asked at the same time ----------------------------------------------------------

    async def place(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Ask where to meet."""
        return {"place": await run.ask(ask.choose("Where do we meet?", PLACES, default="call", **self._when))}

    async def hour(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Ask when to meet."""
        question = f"At which hour, from {FIRST_HOUR} to {LAST_HOUR}?"
        return {"hour": await run.ask(ask.text(question, schema=_HOUR, **self._when))}

    def invite(self, state: Desk) -> dict[str, Any]:
        """Say what came of both."""
        return {"draft": f"We meet at {state.get('hour')} ({state.get('place')}).", "log": ["both have answered"]}

    # -- 5: a tool call is reviewed ------------------------------------------------------------------------------

    def want(self, state: Desk) -> dict[str, Any]:
        """Say which call is to be made; it is not made here."""
        return {"call": Call(name="publish", args={"text": state.get("topic", ""), "channel": "mail"})}

    async def review(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Show the call to a person, who lets it pass, edits it, or says something in its place."""
        call = state.get("call") or Call(name="publish", args={})
        review = await run.ask(ask.review_call(call["name"], call["args"], **self._who))
        if review:
            return {
                "call": Call(name=review.tool, args=dict(review.arguments)),
                "log": [f"{review.decision} by {review.by}"],
            }
        return {"call": None, "log": [f"not called: {review.note or review.decision}"]}

    async def make(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Make the call as it was left."""
        call = state.get("call") or Call(name="publish", args={})
        return noted(await run.tool(call["name"], **call["args"]))

    # -- 6: a breakpoint stops the run from outside ------------------------------------------------------------

    def check(self, state: Desk) -> dict[str, Any]:
        """Write what the next step publishes; a breakpoint before it lets somebody look, and edit it."""
        return {"draft": state.get("topic", ""), "log": ["checked"]}


def written(topic: str, wishes: Sequence[str]) -> str:
    """Write a notice.

    Args:
        topic: What it says.
        wishes: What is to be changed, in order; the rules know `shorter`, `formal` and `friendly`.
    """
    text = topic
    for wish in wishes:
        word = wish.casefold()
        if "short" in word:
            text = text.split(". ", maxsplit=1)[0].rstrip(".") + "."
        elif "formal" in word:
            text = f"Dear all, {text}"
        elif "friend" in word:
            text = f"Hello! {text}"
        else:
            text = f"{text} ({wish})"
    return text


def noted(result: sw.ToolResult) -> dict[str, Any]:
    """Return the line of the log that tells of a call.

    Args:
        result: What came of it.
    """
    return {"log": [f"{result.name}: {result.text if result.ok else result.status}"]}
