"""How a supervisor chooses: a model that is held to a closed set, or a function; a choice that is none falls back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Annotated, Any, Literal, cast

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, BeforeValidator, Field, create_model

from stateward.errors import DefinitionError
from stateward.run.context import Run
from stateward.teams.delegation import FINISH, Choice, Delegation, Finish, Standing
from stateward.teams.member import Seat
from stateward.teams.reading import read
from stateward.teams.wording import Wording, worded

Chooser = Callable[[Standing], Choice | Awaitable[Choice]]
"""A function that chooses; awaited when it is async."""

MOST_CONTRACTS = 64
SHOWN = 12_000
"""Letters of one member's result that the supervisor's model is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What was chosen."""

    next: tuple[Delegation, ...]
    """Who works next; nobody when the work is done."""
    answer: Any = None
    """What the work came to, when it is done and the chooser said it."""
    problem: str = ""
    """Why the choice is the fallback's and not the chooser's; else empty."""


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """A supervisor's way to choose."""

    name: str
    seats: tuple[Seat, ...] = field(repr=False)
    choose: Chooser | None
    """The function; None to let the model of the state choose."""
    prompt: Wording
    parallel: bool
    retries: int
    fallback: str
    contracts: dict[tuple[str, ...], type[BaseModel]] = field(default_factory=dict[tuple[str, ...], type[BaseModel]])
    """The contracts made so far, by who may be chosen: a class takes a millisecond to make."""

    async def chosen(self, standing: Standing, run: Run[Any]) -> Chosen:
        """Choose.

        Args:
            standing: Where the supervisor stands; somebody may still be visited.
            run: The activity's run.

        Raises:
            DefinitionError: The function names somebody who is no member.
        """
        if self.choose is not None:
            return await self._by_function(standing, self.choose)
        contract = self._contract(tuple(standing.left))
        came = await read(run, self._told(standing), contract=contract, retries=self.retries)
        return (
            self._fallen_back(standing, came.problem)
            if came.value is None
            else _from_model(came.value, parallel=self.parallel)
        )

    def _contract(self, names: tuple[str, ...]) -> type[BaseModel]:
        made = self.contracts.get(names)
        if made is None:
            if len(self.contracts) >= MOST_CONTRACTS:
                self.contracts.clear()
            made = self.contracts[names] = choice_among(names, parallel=self.parallel)
        return made

    async def _by_function(self, standing: Standing, choose: Chooser) -> Chosen:
        said = choose(standing)
        choice: Choice = await said if isawaitable(said) else said
        if isinstance(choice, Finish):
            return Chosen(next=(), answer=choice.answer)
        wanted = self._read(choice)
        self._refuse_strangers(wanted)
        working = [each for each in wanted if each.member != FINISH]
        able = [each for each in working if each.member in standing.left]
        if working and not able:
            return self._fallen_back(standing, f"`{working[0].member}` has no visits left")
        return Chosen(next=_once_each(able if self.parallel else able[:1]))

    def _read(self, choice: Any) -> list[Delegation]:
        listed = isinstance(choice, Sequence) and not isinstance(choice, str | bytes)
        wanted: list[Delegation] = []
        for each in cast("Sequence[object]", choice if listed else [choice]):
            made = Delegation(each) if isinstance(each, str) else each
            if not isinstance(made, Delegation) or not isinstance(cast("object", made.task), str):
                raise DefinitionError(
                    f"The function that chooses returned {each!r}",
                    where=self.name,
                    fix=f"Return a name, `teams.Delegation(MEMBER, task=TEXT)`, several, `{FINISH}` or `teams.Finish`.",
                )
            wanted.append(made)
        return wanted

    def _refuse_strangers(self, wanted: Sequence[Delegation]) -> None:
        known = [seat.name for seat in self.seats]
        strange = [each.member for each in wanted if each.member not in (FINISH, *known)]
        if strange:
            raise DefinitionError(
                f"The function that chooses named `{strange[0]}`, who is no member",
                where=self.name,
                fix=f"Members: {', '.join(known)}; or `{FINISH}`.",
            )

    def _fallen_back(self, standing: Standing, problem: str) -> Chosen:
        able = self.fallback in standing.left
        return Chosen(next=(Delegation(self.fallback),) if able else (), problem=problem)

    # -- what the model is told --------------------------------------------------------------------------------

    def _told(self, standing: Standing) -> list[BaseMessage]:
        text, rule = worded(self.prompt, standing.state), _SEVERAL if self.parallel else _ONE
        lines = [*([text] if text else []), rule, "Members:", *self._members(standing.left)]
        return [SystemMessage(content="\n".join(lines)), HumanMessage(content=_report(standing))]

    def _members(self, left: Mapping[str, int]) -> list[str]:
        able = [seat for seat in self.seats if seat.name in left]
        return [f"- {seat.name} ({left[seat.name]} visits left): {seat.member.about}".rstrip(": ") for seat in able]


_ONE = (
    "You lead a team. Say in `next` who works next, and in `task` what they are to do: they see nothing but that "
    f"text. When the task is done say `{FINISH}`, and the `answer`."
)
_SEVERAL = (
    "You lead a team. Say in `next` who works next, all of them at the same time, each with the `task`: they see "
    f"nothing but that text. When the task is done name `{FINISH}` alone, and say the `answer`."
)


def _report(standing: Standing) -> str:
    lines = [f"Task: {standing.task}"]
    for number, result in enumerate(standing.results, start=1):
        text = result.text if len(result.text) <= SHOWN else f"{result.text[:SHOWN]} …"
        came = "answered" if result.ok else "came to no answer"
        lines.append(f"{number}. {result.member}, told: {result.task}\n{came}: {text}")
    return "\n\n".join(lines) if standing.results else f"{lines[0]}\n\nNobody has worked on it yet."


def choice_among(names: Sequence[str], *, parallel: bool) -> type[BaseModel]:
    """Make the contract of a choice: nothing but these names and `FINISH`.

    Args:
        names: The members that may be visited.
        parallel: Whether several may be chosen at once.

    Returns:
        A Pydantic model; names are read in any letters.
    """
    closed: Any = Annotated[Literal[(*names, FINISH)], BeforeValidator(_reader((*names, FINISH)))]
    if not parallel:
        return create_model("Choice", next=(closed, ...), task=(str, ""), answer=(str, ""))
    one = create_model("Delegated", member=(closed, ...), task=(str, ""))
    several: Any = Annotated[list[one], BeforeValidator(_as_list), Field(min_length=1, max_length=2 * len(names) + 1)]
    return create_model("Choice", next=(several, ...), answer=(str, ""))


def _reader(names: Sequence[str]) -> Callable[[Any], Any]:
    known = {name.casefold(): name for name in names}

    def read_name(said: Any) -> Any:
        return known.get(said.strip(" `'\".").casefold(), said) if isinstance(said, str) else said

    return read_name


def _as_list(said: Any) -> Any:
    """Read one for a list of one, and a name for a delegation without a task."""
    several = cast("list[Any]", said) if isinstance(said, list) else [said]
    return [{"member": each} if isinstance(each, str) else each for each in several]


def _from_model(value: Mapping[str, Any], *, parallel: bool) -> Chosen:
    said = value["next"] if parallel else [{"member": value["next"], "task": value["task"]}]
    wanted = [Delegation(each["member"], task=each["task"]) for each in said if each["member"] != FINISH]
    # An empty answer is none: what the last member said stands.
    return Chosen(next=_once_each(wanted), answer=None if wanted else value["answer"].strip() or None)


def _once_each(wanted: Sequence[Delegation]) -> tuple[Delegation, ...]:
    """Leave out whoever was named before: a member works on one task at a time."""
    first = {each.member: each for each in reversed(wanted)}
    return tuple(each for each in wanted if first[each.member] is each)
