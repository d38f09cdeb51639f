"""Who decides what an agent says: a model in a role, or rules, which need neither a key nor a server."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from stateward.errors import ContractFailed
from stateward.run.context import Run
from stateward.run.door.model import GovernedModel
from stateward.run.plan import Gate
from stateward.run.structured.structured import structured
from stateward.teams.conversation import without_tools
from stateward.teams.final_answer import Form

Said = AIMessage | str
Rules = Callable[[Sequence[BaseMessage]], Said | Awaitable[Said]]
"""A function of what a model would be sent, that returns what a model would say; sync or async."""
Mind = str | Rules
"""The role of a model, or rules."""

WRAP_UP = "There are no steps left. Say your final answer now, from what you know; you cannot call tools."
"""What is said to make an agent answer."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """A mind, ready to be asked."""

    mind: Mind

    @property
    def role(self) -> str | None:
        """The role of its model; None for rules."""
        return self.mind if isinstance(self.mind, str) else None

    async def say(self, messages: Sequence[BaseMessage], run: Run[Any], *, offered: Sequence[Any] = ()) -> AIMessage:
        """Say what is next.

        Args:
            messages: What is said so far.
            run: The activity's run.
            offered: Schemas of the tools that may be called.
        """
        if not isinstance(self.mind, str):
            return await self._ruled(messages)
        if not offered:
            return await run.model().ainvoke(without_tools(messages))
        model = run.model()
        if isinstance(model, GovernedModel):
            return await model.offered(offered, messages)
        return await model.bind_tools(offered).ainvoke(list(messages))

    async def _ruled(self, messages: Sequence[BaseMessage]) -> AIMessage:
        came = cast("Rules", self.mind)(messages)
        said = await came if inspect.isawaitable(came) else came
        return said if isinstance(said, AIMessage) else AIMessage(content=said)

    async def conclude(self, messages: Sequence[BaseMessage], run: Run[Any], *, form: Form) -> Any | None:
        """Say the final answer, without tools and in its format.

        Args:
            messages: What is said so far.
            run: The activity's run.
            form: What the answer must be.

        Returns:
            The answer, plain JSON; None when nothing was said.

        Raises:
            ContractFailed: Nothing that was said fits the contract.
        """
        told = [*messages, HumanMessage(content=WRAP_UP)]
        if form.gate is not None and isinstance(self.mind, str):
            came = await structured(run, without_tools(told), contract=form.gate.contract, retries=form.gate.retries)
            return dict(came.value)
        value = form.read((await self.say(told, run)).text, effective=run.door.effective)
        if value is None and form.gate is not None:
            raise _unfit(form.gate, where=run.path)
        return value


def _unfit(gate: Gate, *, where: str) -> ContractFailed:
    contract = gate.contract if isinstance(gate.contract, str) else gate.contract.__name__
    return ContractFailed(
        f"What the rules say does not fit `{contract}`",
        where=where,
        fix="Let the rules answer with JSON that fits, or let the chart take `error.contract`.",
        contract=contract,
    )
