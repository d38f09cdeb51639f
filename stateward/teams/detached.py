"""The loop of an agent as one activity: its steps are no states, and none of them is a checkpoint.

What a crash or a question to a person cuts off is entered again, and the journal answers for every call that was made,
so nothing is done or paid for twice. What it said is committed with its answer, all at once. What others say meanwhile
stands before it in the conversation, and is heard by whoever speaks next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, cast

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from stateward.chart.declared import unasked
from stateward.chart.guard import Bound
from stateward.run.context import Run
from stateward.teams.loop import Loop, Update
from stateward.teams.state import TEAM, by_name, joined, record_of, recorded, value_of

UP_TO = "up_to"
"""The field of the agent's record that says, while it works, how long the conversation was when it began."""


@dataclass(frozen=True, kw_only=True)
class DetachedLoop(Loop):
    """The same loop, with all of its steps in one activity."""

    stop: Bound | None = None
    """A guard behind the observations: the last one, or a wrap-up in the format, is the answer."""

    def mark(self, state: Any) -> Update:
        """Note how long the conversation is when the activity is entered, for when it is entered again."""
        return recorded(self.name, **{UP_TO: len(value_of(state, self.conversation) or ())})

    async def work(self, state: Any, run: Run[Any]) -> Update:
        """Decide and act until there is an answer."""
        said = _Said(self._as_entered(state), conversation=self.conversation)
        said.take(await self.decide(said.state, run))
        while self.wants_tools(said.state):
            said.take(await self.act(said.state, run))
            if self._is_stopped(said.state):
                if self.form.gate is None:
                    said.take(self.keep_last(said.state))
                break
            if self.is_used_up(said.state):
                break
            said.take(await self.decide(said.state, run))
        if not self.has_answered(said.state):
            said.take(await self.wrap_up(said.state, run))
        return joined(said.update, recorded(self.name, **{UP_TO: None}))

    @unasked
    async def work_unasked(self, state: Any, run: Run[Any]) -> Update:
        """Do the same where no call may wait for a person."""
        return await self.work(state, run)

    def _as_entered(self, state: Any) -> Any:
        """Leave out what others have said since: the model was not shown it, and the journal answers what it was."""
        up_to = record_of(state, self.name).get(UP_TO)
        talk: Sequence[BaseMessage] = value_of(state, self.conversation) or ()
        return state if up_to is None or up_to >= len(talk) else _with(state, {self.conversation: [*talk[:up_to]]})

    def _is_stopped(self, state: Any) -> bool:
        return self.stop is not None and bool(self.stop(state))


class _Said:
    """What the steps came to so far, and the state as the next one sees it.

    Args:
        state: What the activity was handed; it is left as it is.
        conversation: The key of what is said.
    """

    def __init__(self, state: Any, *, conversation: str) -> None:
        self.state = state
        self.update: Update = {}
        self._conversation = conversation

    def take(self, update: Update) -> None:
        """Take a step's update in.

        Args:
            update: What is said is put behind what was said before, and records are merged; of other keys, which no
                step reads, the last counts.
        """
        key = self._conversation
        new: list[BaseMessage] = update.get(key, [])
        records = by_name(value_of(self.state, TEAM) or {}, update.get(TEAM) or {})
        talk = [*(value_of(self.state, key) or ()), *new]
        self.state = _with(self.state, {key: talk, TEAM: records})
        said = [*self.update.get(key, ()), *new]
        self.update = {**joined(self.update, update), **({key: said} if said else {})}


def _with(state: Any, changed: Mapping[str, Any]) -> Any:
    """Return a state with other values, whatever its schema is; none of them is validated, for all come from here."""
    if isinstance(state, Mapping):
        return {**cast("Mapping[str, Any]", state), **changed}
    if isinstance(state, BaseModel):
        return state.model_copy(update=dict(changed))
    return replace(state, **changed) if is_dataclass(state) and not isinstance(state, type) else state
