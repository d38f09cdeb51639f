"""A member's final answer: in words, or in the format that its contract asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from stateward.govern.effective import Effective
from stateward.govern.gate import Passed, check
from stateward.govern.reply_text import object_in
from stateward.run.plan import Gate
from stateward.run.update import as_update
from stateward.teams.state import answered, joined

Contract = type[BaseModel] | str
"""A Pydantic model, or the name of a contract in the policy."""
Answer = Gate | Contract
"""The format of an answer: a contract, with the state key that gets the answer beside, and the number of retries."""
Output = Callable[[Any], Mapping[str, Any]]
"""What becomes of an answer besides: a function of it that returns an update of the state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What an answer must be, and where it goes."""

    gate: Gate | None
    output: Output | None = None

    @classmethod
    def of(cls, answer: Answer | None, *, output: Output | None) -> Form:
        """Make it of what the author gave.

        Args:
            answer: The format; None for words.
            output: What becomes of the answer besides.
        """
        gate = answer if answer is None or isinstance(answer, Gate) else Gate(answer)
        return cls(gate=gate, output=output)

    @property
    def contracts(self) -> tuple[str, ...]:
        """The contract that it takes from the policy by name, if it does."""
        named = None if self.gate is None else self.gate.contract
        return (named,) if isinstance(named, str) else ()

    def read(self, text: str, *, effective: Effective) -> Any | None:
        """Read an answer out of what the model said.

        Args:
            text: A reply.
            effective: The policy that knows contracts by name.

        Returns:
            The words, or plain JSON that fits the contract; None when it is no answer.
        """
        if self.gate is None:
            return text.strip() or None
        contract = self.gate.contract
        model = effective.model_of(contract) if isinstance(contract, str) else contract
        verdict = check(model, value=object_in(text))
        return dict(verdict.value) if isinstance(verdict, Passed) else None

    def kept(self, name: str, value: Any) -> dict[str, Any]:
        """Return the update that an answer is.

        Args:
            name: Who answers.
            value: The answer, plain JSON.
        """
        key = None if self.gate is None else self.gate.key
        own = {} if key is None else {key: value}
        more = as_update(None if self.output is None else self.output(value), where=name)
        return joined(own, more, answered(name, value))
