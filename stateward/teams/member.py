"""A member of a supervisor's team: a block, what it is for, what it returns, and how often it may be visited."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from pydantic import BaseModel

from stateward.chart.event import Occurrence
from stateward.chart.state import Parallel, State, Superstate
from stateward.errors import DefinitionError
from stateward.govern.effective import Effective
from stateward.govern.gate import Passed, check
from stateward.govern.reply_text import object_in
from stateward.run.structured.result import problem_of
from stateward.teams.blocks import refuse_shared_records
from stateward.teams.delegation import FINISH, Result
from stateward.teams.state import ANSWER, record_of, recorded, value_of

Returns = Literal["last", "full"] | type[BaseModel] | str
"""What a supervisor is given of a member's work.

last: its answer. full: its whole conversation. A Pydantic model, or the name of a contract in the policy: its answer,
if that fits; else an error.
"""
Element = State[Any] | Superstate[Any] | Parallel[Any]
"""What a member may be."""

FAILED = "failed"
"""The field of a member's record that says why it came to no answer."""
KINDS = ("error.activity", "error.update", "error.contract", "error.interrupt", "timeout", "ask.expired")
"""What ends a member's visit and not the run. A broken definition or a replay that diverged ends the run."""
NO_ANSWER = "it ended without an answer"
WHOLE = ("last", "full")
"""What may be returned that fits no contract."""
WORK = "WORK"
"""The state in which members work beside each other."""


@dataclass(frozen=True, slots=True)
class Member:
    """A block in a team."""

    element: Element
    """The block, without `to`. It is told its task in its record and leaves its answer there."""
    about: str = field(default="", kw_only=True)
    """What it is for, in a sentence that the supervisor's model reads."""
    returns: Returns | None = field(default=None, kw_only=True)
    """What the supervisor is given of its work; None for what holds for all members."""
    conversation: str | None = field(default=None, kw_only=True)
    """The state key of its conversation; only `full` needs it."""
    max_visits: int | None = field(default=None, kw_only=True)
    """How often it may be visited, ≥ 1; None for what holds for all members."""

    @property
    def name(self) -> str:
        """The block's name."""
        return self.element.name


@dataclass(frozen=True, kw_only=True)
class Seat:
    """A member in its place: the guards and actions of its visits, and how its work is read."""

    member: Member
    supervisor: str
    returns: Returns
    max_visits: int

    @property
    def name(self) -> str:
        """The member's name."""
        return self.member.name

    @property
    def contract(self) -> str | None:
        """The contract in the policy that its answer must fit, if it has one by name."""
        return self.returns if isinstance(self.returns, str) and self.returns not in WHOLE else None

    def is_chosen(self) -> Callable[[Any], bool]:
        """Make the guard that leads to the member."""

        def chosen(state: Any) -> bool:
            return any(each["member"] == self.name for each in record_of(state, self.supervisor).get("next", ()))

        return _named(chosen, f"chose_{self.name}")

    def concerns(self) -> Any:  # Any: a function whose parameters are found by their names
        """Make the guard of what ends the member's visit: an error in it, or a fuse of its own."""

        def concerned(state: Any, event: Any) -> bool:
            if not isinstance(event, Occurrence) or not isinstance(event.data, Mapping):
                return False
            data = cast("Mapping[str, Any]", event.data)
            if event.name.startswith("fuse."):
                return self._is_inside(data.get("scope"))
            return event.name.startswith(KINDS) and self._is_inside(data.get("state"))

        return _named(concerned, f"in_{self.name}")

    def _is_inside(self, path: object) -> bool:
        """Whether a path leads into the member. States inside other members may be named as it is: its place counts."""
        parts = re.split(r"[./]", path) if isinstance(path, str) else []
        places = ([self.supervisor, self.name], [self.supervisor, WORK, part_of(self.name), self.name])
        return any(parts[at : at + len(place)] == place for place in places for at in range(len(parts)))

    def fails(self) -> Any:  # Any: as above
        """Make the action that keeps why a visit came to no answer."""

        def failed(state: Any, event: Any) -> dict[str, Any]:
            data = cast("Mapping[str, Any]", event.data)
            why = next((str(data[key]) for key in ("message", "reason", "feedback", "question") if data.get(key)), "")
            return recorded(self.name, **{FAILED: f"{event.name}: {why}".rstrip(": "), ANSWER: None})

        return _named(failed, f"failed_{self.name}")

    def read(self, state: Any, *, effective: Effective) -> tuple[bool, Any]:
        """Read what a visit came to.

        Args:
            state: The state.
            effective: The policy that knows contracts by name.

        Returns:
            Whether it is an answer of the kind that the member must return, and the answer or why there is none.
        """
        record = record_of(state, self.name)
        if FAILED in record:
            return False, record[FAILED]
        answer = record.get(ANSWER)
        if answer is None and self.returns == "full":
            answer = next((said["text"] for said in reversed(self._transcript(state)) if said["text"]), None)
        if answer is None:
            return False, NO_ANSWER
        if self.returns in WHOLE:
            return True, answer
        return _fitting(answer, self.returns, effective=effective)

    def shown(self, result: Result, state: Any) -> Result:
        """Return the result of the last visit as the supervisor is shown it: all of the conversation, if it gets that.

        Args:
            result: As the record keeps it; the conversation has a key of its own and is not written twice.
            state: The state.
        """
        is_whole = self.returns == "full" and result.ok
        return replace(result, value=self._transcript(state)) if is_whole else result

    def _transcript(self, state: Any) -> list[dict[str, str]]:
        messages: Sequence[Any] = value_of(state, str(self.member.conversation)) or ()
        return [{"role": str(message.type), "text": str(message.text)} for message in messages]


def part_of(name: str) -> str:
    """Return the region that a member works in beside others.

    Args:
        name: The member's name.
    """
    return f"{name}_PART"


def seated(
    members: Sequence[Member | Element], *, supervisor: str, returns: Returns, max_visits: int, taken: Sequence[str]
) -> tuple[Seat, ...]:
    """Give each member its place.

    Args:
        members: The members; a block alone stands for one with what holds for all.
        supervisor: The supervisor's name.
        returns: What holds for all.
        max_visits: What holds for all.
        taken: Names that no member may have.

    Returns:
        The places, in the order of the members.

    Raises:
        DefinitionError: There is no member, a name is taken or used twice, a number is wrong, or a member's
            conversation is not known although all of it is to be returned.
    """
    made = [each if isinstance(each, Member) else Member(each) for each in members]
    if not made:
        raise DefinitionError("A supervisor without members", where=supervisor, fix="Give it one block or more.")
    for element in (cast("object", each.element) for each in made):
        if not isinstance(element, State | Superstate | Parallel):
            raise DefinitionError(
                f"The member `{element!r}` is no block",
                where=supervisor,
                fix="Give what `teams.agent(…)` returns, another block, or a state.",
            )
    seats = tuple(
        Seat(
            member=each,
            supervisor=supervisor,
            returns=returns if each.returns is None else each.returns,
            max_visits=max_visits if each.max_visits is None else each.max_visits,
        )
        for each in made
    )
    choices = [FINISH]
    for seat in seats:
        _refuse(seat, taken=[supervisor, *taken, *choices], choices=choices)
        choices.append(seat.name)
    refuse_shared_records(supervisor, [seat.member.element for seat in seats])
    return seats


def _refuse(seat: Seat, *, taken: Sequence[str], choices: Sequence[str]) -> None:
    where = f"{seat.supervisor}.{seat.name}"
    if seat.name in taken:
        raise DefinitionError(
            f"The name `{seat.name}` is taken",
            where=where,
            fix=f"Blocks of a chart have different names, and none of {', '.join(taken)}.",
        )
    alike = next((name for name in choices if name.casefold() == seat.name.casefold()), None)
    if alike is not None:
        raise DefinitionError(
            f"The name `{seat.name}` reads like `{alike}`: a model writes names in any letters",
            where=where,
            fix="Name the member otherwise.",
        )
    if seat.max_visits < 1:
        raise DefinitionError(f"`max_visits` is {seat.max_visits}", where=where, fix="Let it be visited once at least.")
    returns = cast("object", seat.returns)
    if not (isinstance(returns, str) or (isinstance(returns, type) and issubclass(returns, BaseModel))):
        fix = "Say `last`, `full`, a Pydantic model, or the name of a contract in the policy."
        raise DefinitionError(f"`returns` is {returns!r}", where=where, fix=fix)
    if seat.returns == "full" and seat.member.conversation is None:
        raise DefinitionError(
            "All of its conversation is to be returned, and nobody said where that is",
            where=where,
            fix="Name its state key: `teams.Member(BLOCK, conversation=KEY)`.",
        )


def _fitting(answer: Any, contract: type[BaseModel] | str, *, effective: Effective) -> tuple[bool, Any]:
    kind = effective.model_of(contract) if isinstance(contract, str) else contract
    verdict = check(kind, value=(object_in(answer) or answer) if isinstance(answer, str) else answer)
    if isinstance(verdict, Passed):
        return True, dict(verdict.value)
    return False, f"its answer does not fit `{kind.__name__}`: {problem_of(verdict)}"


def _named(function: Any, name: str) -> Any:
    """Give a function the name that drawings and records show."""
    function.__name__ = function.__qualname__ = name
    return function
