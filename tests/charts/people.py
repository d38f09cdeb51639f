"""Activities that ask people, and the chart around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from pydantic import BaseModel

import stateward as sw
from stateward.run.people.question import Question
from tests.charts.one import compiled


def plain(answer: Any) -> Any:
    """What an activity got, as a state keeps it."""
    if isinstance(answer, BaseModel):
        return answer.model_dump()
    return asdict(answer) if is_dataclass(answer) and not isinstance(answer, type) else answer


def asks(questions: Sequence[Question[Any]], *, at_once: bool = False, is_sync: bool = False) -> Any:
    """Ask people, and log what they say."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        said = await run.ask_all(questions) if at_once else [await run.ask(each) for each in questions]
        return {"log": [plain(each) for each in said]}

    def act_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
        said = run.ask_all(questions) if at_once else [run.ask(each) for each in questions]
        return {"log": [plain(each) for each in said]}

    return act_sync if is_sync else act


def asking(*questions: Question[Any], at_once: bool = False, is_sync: bool = False, **rest: Any) -> Any:
    """Compile the chart; it says of its state that people are asked."""
    declared: dict[str, Any] = {"asks": True, **rest}
    return compiled(asks(questions, at_once=at_once, is_sync=is_sync), **declared)
