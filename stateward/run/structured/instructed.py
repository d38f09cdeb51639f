"""The second tier: Instructor asks, checks and asks again, and every one of its calls is the governed model's.

Instructor works on a client's `create`. It gets one that turns its messages into LangChain's, calls the model behind
the door, and turns the reply back; so each attempt is decided, reserved, journaled and metered like any other call.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessage, convert_to_messages, convert_to_openai_messages
from pydantic import BaseModel, ValidationError

from stateward.errors import DefinitionError
from stateward.govern.gate import Failed, Passed, check
from stateward.govern.problem import problems
from stateward.run.structured.request import Request
from stateward.run.structured.result import problem_of

MODULE = "instructor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructed:
    """What Instructor came to."""

    passed: Passed | None
    problems: tuple[str, ...]
    """What was wrong with each attempt that failed, in order."""


class _Ended(BaseException):
    """Leaves Instructor's loop unseen: what it caught it would log, with the values that were wrong.

    Args:
        error: What the model raised; None when the attempts are used up.
    """

    def __init__(self, error: Exception | None) -> None:
        self.error = error
        super().__init__()


@dataclass(slots=True, kw_only=True)
class _Client:
    """What Instructor takes for a provider's client."""

    request: Request
    made: int = 0
    failed: list[str] = field(default_factory=list[str])

    def create(self, *, messages: Sequence[Any], **_: Any) -> Any:
        self._begin()
        try:
            reply = self.request.model.invoke(convert_to_messages(messages))
        except Exception as error:
            raise _Ended(error) from error
        return _completion(reply)

    async def acreate(self, *, messages: Sequence[Any], **_: Any) -> Any:
        self._begin()
        try:
            reply = await self.request.model.ainvoke(convert_to_messages(messages))
        except Exception as error:
            raise _Ended(error) from error
        return _completion(reply)

    def _begin(self) -> None:
        if self.made > self.request.retries:
            raise _Ended(None)
        self.made += 1

    def note(self, error: Exception, **_: Any) -> None:
        """Take in why a reply was refused."""
        self.failed.append(_problem(error, self.request.contract))

    def end(self, output: BaseModel) -> Instructed:
        verdict = check(self.request.contract, value=output.model_dump(mode="json"))
        if isinstance(verdict, Failed):
            return Instructed(passed=None, problems=(*self.failed, problem_of(verdict)))
        return Instructed(passed=verdict, problems=tuple(self.failed))

    def over(self, ended: _Ended) -> Instructed:
        if ended.error is not None:
            raise ended.error
        return Instructed(passed=None, problems=tuple(self.failed))


def instructed(request: Request) -> Instructed:
    """Let Instructor bring the model to an output.

    Args:
        request: What is asked.

    Returns:
        What fits, or why none did after `1 + retries` calls.
    """
    client = _Client(request=request)
    ask, options = _patched(client, client.create)
    try:
        return client.end(ask(**options))
    except _Ended as ended:
        return client.over(ended)


async def ainstructed(request: Request) -> Instructed:
    """Do what `instructed` does, awaited.

    Args:
        request: What is asked.

    Returns:
        What fits, or why none did.
    """
    client = _Client(request=request)
    ask, options = _patched(client, client.acreate)
    try:
        return client.end(await ask(**options))
    except _Ended as ended:
        return client.over(ended)


def require_instructor(*, where: str) -> None:
    """Refuse to begin without Instructor, which is an extra.

    Args:
        where: The state's path.

    Raises:
        DefinitionError: It is not installed.
    """
    try:
        importlib.import_module(MODULE)
    except ModuleNotFoundError as missing:
        if missing.name != MODULE:
            raise
        raise DefinitionError(
            "The tier `instructor` needs Instructor, which is not installed",
            where=where,
            fix="Install `stateward[structured]`, or leave the tier out: `tiers: [schema, prompt]`.",
        ) from missing


# Any: Instructor is an extra, so that its types are not there to be named.
def _patched(client: _Client, create: Any) -> tuple[Any, dict[str, Any]]:
    library = cast(Any, importlib.import_module(MODULE))
    hooks = importlib.import_module(f"{MODULE}.core.hooks").Hooks()
    hooks.on("parse:error", client.note)
    request = client.request
    return library.patch(create=create, mode=library.Mode.MD_JSON), {
        "response_model": request.contract,
        "messages": convert_to_openai_messages(list(request.messages)),
        # One more than may be made: the client ends the loop, before Instructor logs what it gave up on.
        "max_retries": request.retries + 1,
        "strict": False,
        "hooks": hooks,
    }


def _completion(reply: AIMessage) -> Any:
    made = importlib.import_module("openai.types.chat").ChatCompletion
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return made.model_validate({"id": "", "created": 0, "model": "", "object": "chat.completion", "choices": [choice]})


def _problem(error: Exception, contract: type[BaseModel]) -> str:
    if isinstance(error, ValidationError):
        found = Failed(feedback="", errors=problems(error, schema=contract))
        return problem_of(found)
    return f"the whole: expected JSON that can be read ({type(error).__name__})"
