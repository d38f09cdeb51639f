"""The loop of an agent: a model decides, its calls are made through the door, and an answer always comes of it.

DECIDE is one model call, ACT makes the calls of one reply, WRAP_UP asks for the answer without tools when the steps
are used up or when what was said is no answer. In the record of the agent are `steps`, a number, and the `answer`; the
conversation has a state key of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from stateward.chart.declared import unasked
from stateward.run.context import Run
from stateward.run.door.tool import Tool
from stateward.run.repair import mending, repaired
from stateward.run.tool_schema import tool_schema
from stateward.teams.conversation import apart, cleaned, has_calls, observed, open_reply, refused, unread
from stateward.teams.final_answer import Form
from stateward.teams.mind import Speaker
from stateward.teams.state import ANSWER, TASK, joined, record_of, recorded, task_of, value_of
from stateward.teams.wording import Wording, worded

STEPS = "steps"
"""The field of an agent's record that counts its replies since it was entered."""
HEARD = "heard"
"""The field that names the last reply whose calls were no tools, and were answered with it."""
SHARED = "messages"
"""The key of the conversation with the user."""
MOST_CALLS = 16
"""Calls of one reply that are made; the others are told so."""
NOTHING = "(no answer)"
"""What an agent answers whose model says nothing."""

Update = dict[str, Any]
Input = Callable[[Any], Any]
"""What an agent is given: a function of the state."""


class Aside(Protocol):
    """Calls that are no tools, though the model is offered them like tools: what they mean is for the block around."""

    def offered(self, state: Any) -> Sequence[Mapping[str, Any]]:
        """Return their schemas."""
        ...

    def takes(self, name: str) -> bool:
        """Whether a call is one of them."""
        ...

    def heard(self, state: Any, calls: Sequence[ToolCall], run: Run[Any]) -> tuple[list[ToolMessage], Update]:
        """Return the answers to such calls of one reply, in order, and the update that they mean."""
        ...

    def seen(self, state: Any, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        """Return what the agent sees of the conversation."""
        ...


@dataclass(frozen=True, kw_only=True)
class Loop:
    """The activities, guards and actions of one agent."""

    name: str
    tools: tuple[str, ...]
    carries: tuple[Tool, ...]
    """Those tools that the author gave as tools: whoever compiles the chart finds them here."""
    speaker: Speaker
    prompt: Wording
    max_steps: int
    conversation: str
    begins_anew: bool
    form: Form
    input: Input | None
    """A function of the state that returns the task; None for the task that was told."""
    team: str = ""
    """The block whose member it is and whose conversation and task it shares; empty for an agent of its own."""
    aside: Aside | None = None

    @property
    def contracts(self) -> tuple[str, ...]:
        """The contracts that it takes from the policy by name."""
        return self.form.contracts

    # -- the beginning -----------------------------------------------------------------------------------------

    def begin(self, state: Any) -> Update:
        """Count anew, mend what an end in the middle of calls left, and tell the task in a conversation of its own."""
        key = self.conversation
        history: Sequence[BaseMessage] = value_of(state, key) or ()
        written: list[BaseMessage] = []
        if self.begins_anew:
            written.append(RemoveMessage(id=REMOVE_ALL_MESSAGES))
        elif open_reply(history, self.name) is not None:  # a fuse tripped in ACT, for instance
            written += mending({key: history}, frozenset({key}), fate="lost").get(key, [])
        if key != SHARED and not self.team and (task := self.task(state)):
            written.append(HumanMessage(content=task))
        anew = recorded(self.name, steps=0, answer=None, **({HEARD: None} if self.aside is not None else {}))
        return {**({key: written} if written else {}), **anew}

    def task(self, state: Any) -> str:
        """Return what the agent is to do."""
        return task_of(state, self.name) if self.input is None else str(self.input(state))

    # -- decide ------------------------------------------------------------------------------------------------

    async def decide(self, state: Any, run: Run[Any]) -> Update:
        """Ask the model what to do next; a reply without calls is the answer."""
        step = self.steps(state) + 1
        came = await self.speaker.say(self._told(state), run, offered=self._offered(state, run))
        reply = apart(cleaned(came, name=self.name, step=step), value_of(state, self.conversation) or ())
        if has_calls(reply):
            heard, update = self._heard_at_once(state, reply, run)
            told = recorded(self.name, steps=step, **({HEARD: step} if heard else {}))
            return joined(update, {self.conversation: [reply, *heard]}, told)
        value = self.form.read(reply.text, effective=run.door.effective)
        kept: Update = {} if value is None else self.form.kept(self.name, value)
        # Providers refuse a history with a message that says nothing.
        said: Update = {self.conversation: [reply]} if reply.text.strip() else {}
        return joined(said, recorded(self.name, steps=step, answer=None), kept)

    def _heard_at_once(self, state: Any, reply: AIMessage, run: Run[Any]) -> tuple[list[ToolMessage], Update]:
        """Answer a reply that asks for nothing but what is no tool: none of it goes through the door, so that it needs
        no step and no checkpoint of its own."""
        aside = self.aside
        if aside is None or reply.invalid_tool_calls or not all(aside.takes(call["name"]) for call in reply.tool_calls):
            return [], {}
        return aside.heard(state, reply.tool_calls, run)

    def _offered(self, state: Any, run: Run[Any]) -> list[Any]:
        own = [tool_schema(tool) for tool in run.shown(self.tools)]
        return [*own, *(self.aside.offered(state) if self.aside else ())]

    def _told(self, state: Any) -> list[BaseMessage]:
        text = worded(self.prompt, state)
        task = record_of(state, self.team or self.name).get(TASK) if self.conversation == SHARED else None
        if task is not None:
            text = f"{text}\n\nYour task: {task}" if text else f"Your task: {task}"
        head: list[BaseMessage] = [SystemMessage(content=text)] if text else []
        history: Sequence[BaseMessage] = value_of(state, self.conversation) or ()
        # Somebody may have spoken between a reply and its observations.
        whole, _ = repaired(history if self.aside is None else self.aside.seen(state, history), fate="lost")
        return [*head, *whole]

    def steps(self, state: Any) -> int:
        """Return how many replies there were since the agent was entered."""
        return int(record_of(state, self.name).get(STEPS, 0))

    # -- act ---------------------------------------------------------------------------------------------------

    async def act(self, state: Any, run: Run[Any]) -> Update:
        """Make the calls of the last reply; their results are streamed as they come and committed in call order."""
        reply = open_reply(value_of(state, self.conversation) or (), self.name)
        if reply is None:  # whoever changed the conversation meanwhile has taken the calls away
            return {}
        asides = [call for call in reply.tool_calls if self.aside is not None and self.aside.takes(call["name"])]
        own = [call for call in reply.tool_calls if call not in asides]
        results = await run.tools(own[:MOST_CALLS])
        heard, update = self.aside.heard(state, asides, run) if self.aside is not None and asides else ([], {})
        made = [*map(observed, results), *(refused(call, _TOO_MANY) for call in own[MOST_CALLS:]), *heard]
        by_id = {message.tool_call_id: message for message in made}
        ordered = [by_id[str(call["id"])] for call in reply.tool_calls]
        return {**update, self.conversation: [*ordered, *unread(reply)]}

    @unasked
    async def act_unasked(self, state: Any, run: Run[Any]) -> Update:
        """Do the same where no call may wait for a person."""
        return await self.act(state, run)

    # -- wrap up -----------------------------------------------------------------------------------------------

    async def wrap_up(self, state: Any, run: Run[Any]) -> Update:
        """Ask for the answer without tools, in the format that it must have."""
        came = await self.speaker.conclude(self._told(state), run, form=self.form)
        value = NOTHING if came is None else came
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return {**self.form.kept(self.name, value), self.conversation: [AIMessage(content=text, name=self.name)]}

    def keep_last(self, state: Any) -> Update:
        """Take the last observation for the answer: the agent was stopped behind it."""
        history: Sequence[BaseMessage] = value_of(state, self.conversation) or ()
        return self.form.kept(self.name, history[-1].text if history else NOTHING)

    # -- guards ------------------------------------------------------------------------------------------------

    def wants_tools(self, state: Any) -> bool:
        """Whether the last reply asks for tools."""
        return open_reply(value_of(state, self.conversation) or (), self.name) is not None

    def has_answered(self, state: Any) -> bool:
        """Whether there is an answer."""
        return ANSWER in record_of(state, self.name)

    def goes_on(self, state: Any) -> bool:
        """Whether the last reply was answered with it, and steps are left."""
        return record_of(state, self.name).get(HEARD) == self.steps(state) and not self.is_used_up(state)

    def is_used_up(self, state: Any) -> bool:
        """Whether no steps are left."""
        return self.steps(state) >= self.max_steps


_TOO_MANY = f"at most {MOST_CALLS} calls of one reply are made; make this one later"
