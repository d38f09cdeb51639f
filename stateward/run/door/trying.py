"""The two drivers of the attempts at a model call, and what an activity hears of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from stateward.run.door.attempts import Attempts, Make, Step, Steps, Visit, Wait
from stateward.run.door.candidate import Candidate
from stateward.run.door.price import taken
from stateward.run.door.said import copied, is_visible

T = TypeVar("T")
Tell = Callable[[BaseMessage], None]


def tried(steps: Steps, *, make: Callable[[Candidate], Iterable[T]], pause: Callable[[float], None]) -> Iterator[T]:
    """Make attempts until one succeeds; blocking.

    Args:
        steps: From `Attempts.steps`.
        make: Makes one attempt: yields what the activity gets.
        pause: Waits so many seconds.

    Yields:
        What the activity gets.

    Raises:
        Exception: What the last attempt raised.
    """
    try:
        step = _next(steps, None)
        while step is not None:
            sent: object = None
            if isinstance(step, Make):
                try:
                    yield from make(step.candidate)
                except Exception as error:  # noqa: BLE001  # the generator decides
                    sent = error
            elif isinstance(step, Wait):
                pause(step.seconds)
            else:
                sent = step.work()
            step = _next(steps, sent)
    finally:
        steps.close()


async def atried(
    steps: Steps,
    *,
    make: Callable[[Candidate], Awaitable[None]],
    visit: Callable[[Callable[[], object]], Awaitable[object]],
    pause: Callable[[float], Awaitable[None]],
) -> None:
    """Make attempts until one succeeds.

    Args:
        steps: From `Attempts.steps`.
        make: Makes one attempt, and hands on what the activity gets.
        visit: Works on the database.
        pause: Waits so many seconds.

    Raises:
        Exception: What the last attempt raised.
    """
    try:
        step = _next(steps, None)
        while step is not None:
            sent: object = None
            if isinstance(step, Make):
                try:
                    await make(step.candidate)
                except Exception as error:  # noqa: BLE001  # the generator decides
                    sent = error
            elif isinstance(step, Wait):
                await pause(step.seconds)
            else:
                sent = await visit(step.work)
            step = _next(steps, sent)
    finally:
        steps.close()


def _next(steps: Steps, sent: Any) -> Make | Wait | Visit | None:
    try:
        step: Step = steps.send(sent)
    except StopIteration:
        return None
    return step


class Heard:
    """What an activity hears of one attempt at a stream.

    A provider's first chunks may name the speaker only. They are held back until there is something to see, so that
    until then another attempt can take the place of this one.

    Args:
        attempts: Told when the activity has seen something.
        mark: What is put beside the reply: who says it.
        tell: Told of each message that the activity gets; None while nobody listens.
    """

    def __init__(self, attempts: Attempts, *, mark: dict[str, Any], tell: Tell | None = None) -> None:
        self.kept: list[ChatGenerationChunk] = []
        """What the activity was given, without what LangChain writes on it afterwards."""
        self._attempts = attempts
        self._mark = mark
        self._tell = tell
        self._held: list[ChatGenerationChunk] = []

    def take(self, chunk: ChatGenerationChunk) -> list[ChatGenerationChunk]:
        """Take a chunk from the model.

        Args:
            chunk: What came.

        Returns:
            What the activity gets now.
        """
        self._held.append(chunk)
        return self.rest() if self._attempts.is_visible or is_visible(chunk) else []

    def rest(self) -> list[ChatGenerationChunk]:
        """Return what was held back."""
        given, self._held = self._held, []
        if given and not self.kept and self._mark:
            given[0].message.response_metadata = {**given[0].message.response_metadata, **self._mark}
        self.kept += [copied(chunk) for chunk in given]
        self._attempts.is_visible = self._attempts.is_visible or bool(given)
        if self._tell is not None:
            for chunk in given:
                self._tell(chunk.message)
        return given


class Ear:
    """What an activity heard of the attempt under way: what came of those before, it was never given.

    Args:
        tell: Told of each message that the activity gets; None while nobody listens.
    """

    def __init__(self, tell: Tell | None = None) -> None:
        self.kept: list[ChatGenerationChunk] = []
        self._tell = tell

    def turn_to(self, attempts: Attempts, candidate: Candidate) -> Heard:
        """Listen to another attempt.

        Args:
            attempts: Those at the call.
            candidate: Who is asked now.
        """
        heard = Heard(attempts, mark=attempts.mark(candidate), tell=self._tell)
        self.kept = heard.kept
        return heard


def marked(result: ChatResult, *, attempts: Attempts, candidate: Candidate) -> ChatResult:
    """Note what an attempt took, and put beside the reply who says it.

    Args:
        result: From the model; it is not changed.
        attempts: Those at the call.
        candidate: Who was asked.
    """
    (said, *others) = result.generations
    attempts.taken = taken(said.message)
    mark = attempts.mark(candidate)
    if not mark:
        return result
    metadata = {**said.message.response_metadata, **mark}
    message = said.message.model_copy(update={"response_metadata": metadata})
    return ChatResult(
        generations=[ChatGeneration(message=message, generation_info=said.generation_info), *others],
        llm_output=result.llm_output,
    )
