"""The rules of `graphs.fintech_swarm`, which decide in place of researcher and writer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from langchain_core.messages import AIMessage, BaseMessage

from nodes.fintech_swarm.market import LISTINGS, symbols_in
from nodes.react.turn import Seen, Turn, calling, turn

Decide = Callable[[Sequence[BaseMessage]], AIMessage]
RESEARCHER, WRITER = "RESEARCHER", "WRITER"
"""The members' names in the chart."""
TO_RESEARCHER, TO_WRITER = f"transfer_to_{RESEARCHER}", f"transfer_to_{WRITER}"
NOTES = "Notes: "
"""With what the researcher's notes begin; they are all that the writer needs of its work."""
SHORT = re.compile(r"\bshort(?:er)?\b|\bbrief", re.IGNORECASE)
KEEP = re.compile(r"\b(?:save|keep|file)\b", re.IGNORECASE)
HANDED_OVER = re.compile(rf"(?:{RESEARCHER}|{WRITER}) hands over to you|\(What was said before is left out")
"""With what a message begins that the swarm puts in the place of what a member does not see."""
LETTERS = 2000
"""How much of a question is read."""
REPORT = "reports/report.md"
ASK_COMPANY = f"Which company? I follow {', '.join(one.name for one in LISTINGS.values())}."


def research(messages: Sequence[BaseMessage]) -> AIMessage:
    """Look up every company that the question names, all at once; then hand over with notes of what was found.

    Args:
        messages: The conversation as a model is sent it.

    Returns:
        The reply, with calls or without.
    """
    now = _turn(messages)
    seen = [one for one in now.seen if one.name in ("quote", "headlines")]
    notes = NOTES + " ".join(map(_noted, seen)) if seen else ""
    if now.is_last:
        return AIMessage(notes or ASK_COMPANY)
    if notes:
        return calling(messages, (TO_WRITER, {"note": notes}))
    wanted = symbols_in(now.question[:LETTERS])
    if wanted:
        return calling(messages, *((name, {"symbol": one}) for one in wanted for name in ("quote", "headlines")))
    return calling(messages, (TO_WRITER, {})) if notes_in(messages) else AIMessage(ASK_COMPANY)


def writing(sentences: int) -> Decide:
    """Make the writer's rules.

    Args:
        sentences: The most that a report has.
    """

    def write(messages: Sequence[BaseMessage]) -> AIMessage:
        """Word the notes; hand over when the question names a company of which there are none."""
        now, notes = _turn(messages), notes_in(messages)
        question = now.question[:LETTERS]
        missing = [one for one in symbols_in(question) if one not in notes]
        if (missing or not notes) and not _was_asked(now) and not now.is_last:
            return calling(messages, (TO_RESEARCHER, {}))
        report = _report(notes, most=1 if SHORT.search(question) else sentences)
        is_kept = now.is_last or any(one.name == "save_report" for one in now.seen)
        if notes and KEEP.search(question) and not is_kept:
            return calling(messages, ("save_report", {"file": REPORT, "text": report}))
        return AIMessage(" ".join((report, *_kept(now))) if notes else ASK_COMPANY)

    return write


def notes_in(messages: Sequence[BaseMessage]) -> str:
    """Return the latest notes of a conversation, without what they begin with; nothing when there are none.

    Args:
        messages: The conversation.
    """
    handed = (call["args"].get("note") for one in reversed(messages) for call in getattr(one, "tool_calls", ()))
    said = (message.text for message in reversed(messages) if message.type == "human")
    found = (str(text).rpartition(NOTES) for text in (*said, *handed))
    return next((after for _, mark, after in found if mark), "")


def _turn(messages: Sequence[BaseMessage]) -> Turn:
    """Read a conversation, leaving out what a colleague says in handing it over: that is no question."""
    return turn([one for one in messages if not HANDED_OVER.match(one.text)])


def _noted(seen: Seen) -> str:
    if not seen.ok:
        return f"`{seen.args.get('symbol')}` could not be looked up."
    value = json.loads(seen.text)
    if seen.name == "headlines":
        return " ".join(f"{line}." for line in value)
    company = f"{value['name']} ({value['symbol']})"
    return f"{company} stands at {value['price_usd']:.2f} USD, {value['change_percent']:+.1f} % in a month."


def _report(notes: str, *, most: int) -> str:
    """The first sentences of the notes; a sentence ends with a point before a space."""
    sentences = re.split(r"(?<=\.)\s+", notes.strip())
    return " ".join(sentences[:most])


def _was_asked(now: Turn) -> bool:
    """Whether the writer has handed over in this turn already: asking again brings nothing new."""
    return any(one.name == TO_RESEARCHER for one in now.seen)


def _kept(now: Turn) -> list[str]:
    saved = [one for one in now.seen if one.name == "save_report"]
    return [f"Kept in {REPORT}." if one.ok else f"It could not be kept: {one.text}" for one in saved]
