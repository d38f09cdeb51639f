"""The rules of `graphs.react`, which decide in place of a model: what to call, and what to say in the end."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from nodes.react.turn import Seen, calling, turn

ARITHMETIC = re.compile(r"[-(]*\d[\d.]*(?:\s*(?:\*\*|[-+*/%^×÷])\s*[-(]*\d[\d.]*\)*)+")
"""Numbers with something to work out between them."""
WORD = re.compile(r"[^\W\d_]{3,}")
ARITHMETIC_WORDS = frozenset({"and", "what", "calculate", "compute", "much", "how", "the", "plus", "result", "please"})
"""Words that ask for arithmetic; what else a question has is looked up."""
LETTERS = 2000
"""How much of a question is read."""
NOTHING = "Ask me to work something out, or about orders, returns and accounts."


def decide(messages: Sequence[BaseMessage]) -> AIMessage:
    """Call what the question needs, all at once; then say what was observed.

    Args:
        messages: The conversation as a model is sent it.

    Returns:
        The reply, with calls or without.
    """
    now = turn(messages)
    if now.seen or now.is_last:
        return AIMessage(" ".join(map(_told, now.seen)) or NOTHING)
    question = now.question[:LETTERS]
    sums = [one.group().strip() for one in ARITHMETIC.finditer(question)]
    words = {word.lower() for word in WORD.findall(question)} - ARITHMETIC_WORDS
    wanted = [("calculate", {"expression": one}) for one in sums]
    wanted += [("look_up", {"query": question})] if words else []
    return calling(messages, *wanted) if wanted else AIMessage(NOTHING)


def _told(seen: Seen) -> str:
    if not seen.ok:
        return f"`{seen.name}` did not work: {seen.text}"
    if seen.name == "calculate":
        return f"{seen.args['expression']} = {seen.text}."
    return str(json.loads(seen.text)["answer"])
