"""Who may answer a model call, and what each of them would be sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from stateward.govern.effective import Effective
from stateward.govern.kinds.models import ModelRule
from stateward.govern.request import CallRequest
from stateward.run.door.role import ModelRole
from stateward.run.door.said import content, plain
from stateward.run.door.shown import shown
from stateward.run.rendered import bare


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A role that may answer a call."""

    role: ModelRole
    rule: ModelRule
    model: BaseChatModel
    """As it is called: limited, and without retries of its own where the policy says how often is tried."""
    messages: list[BaseMessage]
    stop: list[str] | None
    options: dict[str, Any]
    request: CallRequest
    """The call to it, as the door decides it."""

    @property
    def bound_usd(self) -> float:
        """What an attempt reserves, in US dollars."""
        return round(self.request.estimate_usd or 0.0, 9)

    @property
    def bound_tokens(self) -> int:
        """What an attempt reserves, in tokens."""
        return self.request.estimate_tokens or 0


def candidate(
    role: ModelRole,
    *,
    messages: Sequence[BaseMessage],
    options: Mapping[str, Any],
    effective: Effective,
    path: str,
    summary: str = "",
) -> Candidate:
    """Make a call ready for a role.

    Args:
        role: Who is to answer.
        messages: What the activity says.
        options: The call's own, as the role's provider wants them, `stop` included.
        effective: The policy of the state.
        path: The state.
        summary: What a model wrote about the messages that the window leaves out; empty for nothing.
    """
    ready = role.ready(options)
    asked = ready.options
    bared = [bare(message) for message in messages]
    seen = shown(bared, effective=effective, role=role, options=asked, summary=summary)
    sent = seen.sent
    beside, text = plain(asked)
    most = ready.bound(sent, text=text)
    rule = effective.model_rule(role.name)
    request = CallRequest(
        kind="model",
        name=role.name,
        arguments={"messages": [content(message) for message in seen.said], "options": beside},
        path=path,
        declared=frozenset({role.name}),
        estimate_usd=most.usd,
        estimate_tokens=most.tokens,
        unbounded=most.reason,
        cleared=role.cleared,
    )
    return Candidate(
        role=role,
        rule=rule,
        model=ready.model if rule.tries is None else without_retries(ready.model),
        messages=sent,
        stop=asked.pop("stop", None),
        options=asked,
        request=request,
    )


def without_retries(model: BaseChatModel) -> BaseChatModel:
    """Return a model that makes one attempt only: where a policy says how often is tried, it alone does.

    Args:
        model: A bare chat model; it is not changed.
    """
    if getattr(model, "max_retries", None) is None:
        return model
    least = 1 if type(model).__name__ in _COUNT_THE_FIRST else 0
    once = model.model_copy(update={"max_retries": least})
    made = vars(once)
    for kind in type(model).__mro__:  # clients that were made for the old number
        for name in [name for name, value in vars(kind).items() if isinstance(value, cached_property)]:
            made.pop(name, None)
    _renew_openai(once)
    return once


_COUNT_THE_FIRST = ("ChatGoogleGenerativeAI", "ChatVertexAI")
"""Classes whose `max_retries` counts the first attempt; 0 is no number to them."""


def _renew_openai(model: BaseChatModel) -> None:
    """Give one of LangChain's OpenAI models clients that do not retry; they share the connections of the old ones."""
    for root, client in (("root_client", "client"), ("root_async_client", "async_client")):
        old: Any = getattr(model, root, None)
        if old is not None and hasattr(old, "with_options"):
            new = old.with_options(max_retries=0)
            setattr(model, root, new)
            setattr(model, client, new.chat.completions)
