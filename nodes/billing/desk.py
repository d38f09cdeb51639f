"""The desk of `graphs.billing`: it passes a message on to the specialist, and tells the customer its answer."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

import stateward as sw
from nodes.billing.rules import topics_in
from stateward import teams

SPECIALIST = "SPECIALIST"
"""The specialist's name in the chart."""
ELSEWHERE = "This desk is for billing: charges, plans and refunds."


class Billing(teams.TeamState, total=False):
    """The state: what customer and desk say, and what the specialist was told."""

    case: sw.Messages
    """The specialist's own conversation, which the customer does not see."""


def pass_on(state: Billing) -> dict[str, Any]:
    """Tell the specialist what the customer wrote last, and nothing else: what it remembers is its own affair.

    Args:
        state: The state.

    Returns:
        The specialist's task.
    """
    return teams.told(SPECIALIST, last_message(state))


def is_about_billing(state: Billing) -> bool:
    """Whether the specialist is the one to ask."""
    return bool(topics_in([last_message(state)]))


def reply(state: Billing) -> dict[str, Any]:
    """Tell the customer what the specialist answered, if it was asked.

    Args:
        state: The state.

    Returns:
        The desk's message.
    """
    return {"messages": [AIMessage(str(teams.answer_of(state, SPECIALIST) or ELSEWHERE))]}


def last_message(state: Billing) -> str:
    """Return what the customer wrote last.

    Args:
        state: The state.
    """
    return next((one.text for one in reversed(state.get("messages", [])) if one.type == "human"), "")
