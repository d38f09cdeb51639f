"""The building block that proposes a fixed number of options, lets a judge pick one, and may go on from there.

BEGIN → PROPOSE → JUDGE → (PROPOSE | END). What is proposed passes a gate: exactly so many options, each of the given
type. What does not pass goes back with feedback, a bounded number of times; then rules propose, if there are any, or
the block ends without a choice and says why. Whatever index the judge names is brought into the range.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, cast

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ConfigDict, Field, create_model
from typing_extensions import Unpack

from stateward.chart.signature import Action
from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import Reaction, on, when
from stateward.errors import DefinitionError
from stateward.run.context import Run
from stateward.run.plan import Gate
from stateward.teams.around import Around
from stateward.teams.reading import brought, read
from stateward.teams.record_contract import Reason, misfit, record_gate
from stateward.teams.state import record_of, recorded, task_of
from stateward.teams.worker import Job, Worked, Worker, job_text, work_state, worker_of

DEFAULT_OPTIONS = 3
DEFAULT_RETRIES = 2
LONGEST = 2_000
"""Characters of a reason that are kept."""
PROPOSE = "Propose exactly {options} options for the task. They differ from each other, and each is complete."
JUDGE = "Judge the options for the task. Give the index of the best one, and the reason in one sentence."


class Thought(BaseModel):
    """An option when the author gives no type."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1, max_length=200)
    rationale: str = Field(min_length=1, max_length=LONGEST)


class Choice(BaseModel):
    """What a judge is asked for."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    index: int
    """Of the option, from 0; one outside is brought into the range."""
    reason: Reason = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thoughts:
    """Where the block stands."""

    goal: str = ""
    """What is to be decided."""
    options: tuple[Mapping[str, Any], ...] = ()
    """The options of the present round, as plain JSON."""
    choice: int | None = None
    """The index of the option that was picked; None before, and when there was none."""
    reason: str = ""
    """Why it was picked."""
    path: tuple[Mapping[str, Any], ...] = ()
    """The options that were picked, round by round."""
    problem: str = ""
    """Why there is no choice, or why rules proposed."""

    @property
    def chosen(self) -> Mapping[str, Any] | None:
        """The option that was picked last; None when there is none."""
        return self.path[-1] if self.path else None


def thoughts_of(state: object, name: str) -> Thoughts:
    """Return where a block stands, for its functions and for guards around it.

    Args:
        state: The state.
        name: The block's name.

    Returns:
        The options and the choice; nothing before the block was entered.
    """
    record = record_of(state, name)
    return Thoughts(
        goal=record.get("goal", ""),
        options=tuple(record.get("options", ())),
        choice=record.get("choice"),
        reason=record.get("reason", ""),
        path=tuple(record.get("path", ())),
        problem=record.get("problem", ""),
    )


def tree_of_thoughts(
    name: str,
    *,
    propose: Job,
    judge: Job,
    options: int = DEFAULT_OPTIONS,
    option: type[BaseModel] = Thought,
    otherwise: Job | None = None,
    depth: int = 1,
    retries: int = DEFAULT_RETRIES,
    **around: Unpack[Around],
) -> Superstate[Any]:
    """Make the superstate that proposes options and picks one.

    A function that proposes returns the options; one that judges returns the index, alone, with a reason, or as a
    `Choice`. `thoughts_of(state, NAME)` tells it what there is. The answer is the option that was picked, as JSON.

    Args:
        name: The block's name; its record is `team[NAME]`.
        propose: Who proposes: a function, the role of a model, or a `Worker`.
        judge: Who picks, likewise; a stronger model, for instance.
        options: How many options there must be, ≥ 1.
        option: What an option is.
        otherwise: Who proposes when no proposal fitted; None to end without a choice.
        depth: How many rounds there are, each from the option that was picked before, ≥ 1.
        retries: How often proposals are sent back, and a model's words that cannot be read, ≥ 0.
        around: `history`, `on`, `always`, `entry`, `exit` and `policy`, as for `Superstate`.

    Returns:
        The superstate, without `to`.

    Raises:
        DefinitionError: Nobody is said who could work, or a number is out of its range.

    Source:
        SYSTEMS.md, B3. Yao et al., Tree of Thoughts (2023), with one branch kept a round.
    """
    for what, given, least in (("options", options, 1), ("depth", depth, 1), ("retries", retries, 0)):
        if given < least:
            raise DefinitionError(f"`{what}` is {given}", where=name, fix=f"Give a number from {least}.")
    tree = _Tree(name=name, options=options, option=option, depth=depth, retries=retries)
    states = [
        State("BEGIN", entry=partial(begin_thinking, name=name), to="PROPOSE"),
        tree.proposing("PROPOSE", propose, after="END" if otherwise is None else "OTHERWISE"),
        *([] if otherwise is None else [tree.proposing("OTHERWISE", otherwise, after="END")]),
        tree.judging(judge),
        Final("END"),
    ]
    return Superstate(name, *states, **around)


@dataclass(frozen=True, kw_only=True)
class _Tree:
    """The states of one block."""

    name: str
    options: int
    option: type[BaseModel]
    depth: int
    retries: int

    def proposing(self, state: str, job: Job, *, after: str) -> State[Any]:
        worker, where = worker_of(job, where=f"{self.name}.{state}"), f"{self.name}.{state}"
        ask = partial(self._proposed, worker=worker)
        gave_up: Reaction[Any] = on("error.contract", after, do=cast("Action[Any]", partial(give_up, name=self.name)))
        rest: dict[str, Any] = {"output": self._gate, "to": "JUDGE", "on": [gave_up]}
        return work_state(state, worker, where=where, ask=ask, fold=self._put, **rest)

    def judging(self, job: Job) -> State[Any]:
        worker = worker_of(job, where=f"{self.name}.JUDGE")
        deeper = when(partial(goes_deeper, name=self.name, depth=self.depth), "PROPOSE")
        rest: dict[str, Any] = {"to": "END" if self.depth == 1 else [deeper, "END"]}
        ask = partial(self._judged, worker=worker)
        return work_state("JUDGE", worker, where=f"{self.name}.JUDGE", ask=ask, fold=self._pick, **rest)

    @property
    def _several(self) -> Any:  # Any: a type made at run time
        return Annotated[list[self.option], Field(min_length=self.options, max_length=self.options)]

    @property
    def _gate(self) -> Gate:
        return record_gate(self.name, {"options": self._several}, title="Options", retries=self.retries)

    async def _proposed(self, state: Any, run: Run[Any], *, worker: Worker) -> list[Any]:
        contract = create_model("Options", options=(self._several, ...))
        messages = self._messages(state, worker, instead=PROPOSE.format(options=self.options))
        # What no attempt could fit is `error.contract`, like a function's proposals that did not pass the gate.
        return (await brought(run, messages, contract=contract, retries=self.retries))["options"]

    async def _judged(self, state: Any, run: Run[Any], *, worker: Worker) -> Any:
        numbered = [f"{index}: {json.dumps(one)}" for index, one in enumerate(thoughts_of(state, self.name).options)]
        messages = self._messages(state, worker, instead=JUDGE, beside=["Options:", *numbered])
        found = await read(run, messages, contract=Choice, retries=self.retries)
        return found.value if found.value is not None else (None, found.problem)

    def _messages(self, state: Any, worker: Worker, *, instead: str, beside: Sequence[str] = ()) -> list[BaseMessage]:
        thoughts = thoughts_of(state, self.name)
        values = {"goal": thoughts.goal, "options": self.options, "path": thoughts.path}
        path = [f"- {json.dumps(one)}" for one in thoughts.path]
        lines = [f"Task: {thoughts.goal}", *(["Decided so far:", *path] if path else []), *beside]
        return [
            SystemMessage(job_text(worker.prompt, state, instead=instead, **values)),
            HumanMessage("\n".join(lines)),
        ]

    def _put(self, state: Any, worked: Worked) -> dict[str, Any]:
        return recorded(self.name, options=_plain(worked.value), choice=None, reason=None)

    def _pick(self, state: Any, worked: Worked) -> dict[str, Any]:
        thoughts = thoughts_of(state, self.name)
        index, reason = _choice(worked.value, most=len(thoughts.options) - 1)
        chosen = thoughts.options[index]
        path = [*thoughts.path, chosen]
        return recorded(self.name, choice=index, reason=reason, path=path, answer=chosen)


def begin_thinking(state: Any, *, name: str) -> dict[str, Any]:
    """Begin anew: the goal is what the block was told, else what the user said last."""
    fresh = dict.fromkeys(("options", "choice", "reason", "path", "problem", "answer"))
    return recorded(name, **fresh, goal=task_of(state, name))


def give_up(state: Any, event: Any, *, name: str) -> dict[str, Any]:
    """Write down why no proposal fitted."""
    return recorded(name, options=None, problem=misfit(event))


def goes_deeper(state: Any, *, name: str, depth: int) -> bool:
    """Whether another round follows."""
    return len(thoughts_of(state, name).path) < depth


def _plain(given: Any) -> Any:
    if not isinstance(given, list | tuple):
        return given
    several = cast("Sequence[Any]", given)
    return [one.model_dump(mode="json") if isinstance(one, BaseModel) else one for one in several]


def _choice(given: Any, *, most: int) -> tuple[int, str]:
    """Read an index and a reason, whatever was said; the index is brought into the range."""
    if isinstance(given, BaseModel):
        given = given.model_dump()
    if isinstance(given, Mapping):
        said = cast("Mapping[str, Any]", given)
        given = (said.get("index"), said.get("reason", ""))
    index, reason = cast("tuple[Any, Any]", given) if _is_pair(given) else (given, "")
    number = _number(index)
    if number is None:
        told = str(reason) or f"no index could be read: {str(index)[:100]!r}"
        return 0, f"the first, for {told}"[:LONGEST]
    return int(min(max(number, 0), most)), str(reason)[:LONGEST]


def _is_pair(given: object) -> bool:
    return isinstance(given, tuple) and len(cast("tuple[Any, ...]", given)) == 2


def _number(given: object) -> float | None:
    if isinstance(given, int):
        return given
    try:
        number = float(cast(Any, given))
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number
