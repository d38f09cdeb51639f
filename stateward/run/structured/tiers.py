"""The decisions of structured output: which tier is tried, how often, and when the next one follows.

Written once as a generator of work; both ways of running drive it. Nothing here is unbounded: the tier `schema` makes
one call, the two others `1 + retries`. What fails for the provider's reasons and not for the output's is raised: that
is retried around the call, or by the chart, and never by another tier.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from stateward.errors import RunError
from stateward.govern.canonical_output import Canonical, read
from stateward.govern.gate import Failed, Passed, check
from stateward.govern.kinds.contract_spec import Tier
from stateward.govern.reply_text import object_in
from stateward.run.door.told import named
from stateward.run.drive import Steps, Work
from stateward.run.structured.instructed import Instructed, ainstructed, instructed, require_instructor
from stateward.run.structured.request import Asked, Request
from stateward.run.structured.result import Attempt, Structured, given_up, problem_of

_UNABLE = re.compile(
    r"^\w*(?:BadRequestError|InvalidRequestError|UnprocessableEntityError|InvalidArgument|NotImplementedError)\b"
    r"|^\w+: .{0,80}?\b(?:error code|status code|status):? ?(?:400|422)\b",
    re.IGNORECASE | re.DOTALL,
)
"""How the text of a failure begins by which a provider says that it does not know the options. Only the text is looked
at: it is what the journal keeps, so that an activity that is entered again decides as it did first."""

_CUT_OFF = re.compile(r"^\w*FinishReasonError\b")
"""How the text begins when a provider's client could not read a reply that was cut off: the model said too much for its
limit of tokens, and nothing is wrong with the provider."""


def structured_steps(request: Request) -> Steps[Structured]:
    """Try the tiers in their order.

    Args:
        request: What is asked.

    Returns:
        A generator of work that returns the output.

    Raises:
        ContractFailed: No tier brought an output that fits.
        DefinitionError: The tier `instructor` is to be tried, and Instructor is not installed.
    """
    if "instructor" in request.tiers:
        require_instructor(where=request.where)
    attempts: list[Attempt] = []
    for tier in request.tiers:
        found = yield from _STEPS[tier](request, attempts)
        if found is not None and isinstance(found.verdict, Passed):
            return Structured(
                value=found.verdict.value,
                contract=request.title,
                tier=tier,
                degraded=found.degraded,
                attempts=tuple(attempts),
            )
    raise given_up(attempts, contract=request.title, where=request.where)


def _schema(request: Request, attempts: list[Attempt]) -> Steps[Canonical | None]:
    """Let the provider enforce the schema, in one call."""
    try:
        # A copy: LangChain's classes write into what they are given.
        model = cast(Asked, request.model.bind_schema(json.loads(json.dumps(request.schema))))
        reply = yield from _asked(model, list(request.messages))
    except Exception as error:
        problem = _problem_of_provider(error)
        if problem is None:
            raise
        attempts.append(Attempt(tier="schema", problem=problem))
        return None
    verdict = check(request.contract, value=_said(reply))
    _note(attempts, "schema", verdict)
    return Canonical(verdict=verdict)


def _instructor(request: Request, attempts: list[Attempt]) -> Steps[Canonical | None]:
    """Let Instructor ask, and ask again with the errors."""
    came: Instructed = yield Work(fn=instructed, afn=ainstructed, args=(request,))
    attempts.extend(Attempt(tier="instructor", problem=problem) for problem in came.problems)
    if came.passed is None:
        return None
    attempts.append(Attempt(tier="instructor", problem=""))
    return Canonical(verdict=came.passed)


def _prompt(request: Request, attempts: list[Attempt]) -> Steps[Canonical | None]:
    """Tell the model the schema, and make of its words what the contract lets be made."""
    model = cast(Asked, request.model)
    said: list[BaseMessage] = [SystemMessage(content=_instruction(request)), *request.messages]
    for _ in range(request.retries + 1):
        reply = yield from _asked(model, said)
        found = read(reply.text, contract=request.contract, spec=request.spec)
        _note(attempts, "prompt", found.verdict)
        if isinstance(found.verdict, Passed):
            return found
        said = [
            *said,
            AIMessage(content=_sendable(reply.text)),
            HumanMessage(content=_sendable(found.verdict.feedback)),
        ]
    return None


_STEPS: dict[Tier, Callable[[Request, list[Attempt]], Steps[Canonical | None]]] = {
    "schema": _schema,
    "instructor": _instructor,
    "prompt": _prompt,
}


def _sendable(text: str) -> str:
    """Return a text that can be sent: a model may write half of a pair of surrogates, which no encoding has."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _asked(model: Asked, messages: list[BaseMessage]) -> Steps[AIMessage]:
    return (yield Work(fn=model.invoke, afn=model.ainvoke, args=(messages,)))


def _said(reply: AIMessage) -> object:
    """Return what a provider that was held to a schema answered: by a tool's arguments, or by its text."""
    if reply.tool_calls:
        return reply.tool_calls[0]["args"]
    return object_in(reply.text) or reply.text


def _note(attempts: list[Attempt], tier: Tier, verdict: Passed | Failed) -> None:
    attempts.append(Attempt(tier=tier, problem=problem_of(verdict) if isinstance(verdict, Failed) else ""))


def _problem_of_provider(error: Exception) -> str | None:
    """Say why the next tier follows on a failure; None when it is an outage like any other."""
    kept = error.what.partition(" failed: ")[2] if isinstance(error, RunError) else named(error)
    if _CUT_OFF.search(kept):
        return "the reply was cut off"
    return "the provider does not take the schema" if _UNABLE.search(kept) else None


def _instruction(request: Request) -> str:
    schema = json.dumps(request.schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object that fits this JSON schema, and with nothing else:\n{schema}"
