"""What the interrupt of a wait shows of its asks: each as we tell it, and all in the form of LangChain's `HITLRequest`.

Clients of that form, such as Agent Inbox and Agent Chat UI, look for `action_requests` and `review_configs` in the
interrupt's value, show one card for each, and send as many `decisions` back, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stateward.run.store.ask import Ask, envelope
from stateward.run.store.kind import told_in


def shown_asks(asks: Iterable[Ask]) -> dict[str, Any]:
    """Put the open ones of several asks into what an interrupt shows.

    Args:
        asks: In the order in which answers are taken that name no ask.

    Returns:
        `asks`, and when there is any, `action_requests` and `review_configs` beside it.
    """
    unanswered = [ask for ask in asks if ask.status == "open"]
    shown: dict[str, Any] = {"asks": [envelope(ask) for ask in unanswered]}
    return {**shown, **_request(unanswered)} if unanswered else shown


def _request(asks: Iterable[Ask]) -> dict[str, Any]:
    actions, reviews = list[dict[str, Any]](), list[dict[str, Any]]()
    for ask in asks:
        actions.append({"name": ask.tool, "args": _args(ask), "description": ask.reason})
        reviews.append({"action_name": ask.tool, "allowed_decisions": list(ask.allowed)})
    return {"action_requests": actions, "review_configs": reviews}


def _args(ask: Ask) -> dict[str, Any]:
    """What such a client shows of an ask; where nothing can be edited, also what may be answered."""
    told = {} if "edit" in ask.allowed else told_in(ask.kind, ask.arguments)
    return {**ask.shown, **{key: value for key, value in told.items() if key != "kind"}}
