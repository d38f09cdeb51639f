"""A supervisor as a building block: it chooses who works next from a closed set, until the work is done.

    BEGIN → CHOOSE → a member → CHOOSE → … → END
    BEGIN → CHOOSE → WORK (the chosen members beside each other) → CHOOSE → … → END

Members are told a task and return an answer; a copied history is not among it. A supervisor is a member like any other,
so that supervisors of supervisors need nothing more, and policies around bind every member at every depth. In its
record are `next`, `visits`, `results` and the `answer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from stateward.chart.state import AnyState, Final, Parallel, State, Superstate
from stateward.chart.transition import Reaction, on, when
from stateward.errors import DefinitionError
from stateward.run.context import Run
from stateward.run.update import as_update
from stateward.teams.blocks import BEGIN, asks_people, refuse_shared_conversations
from stateward.teams.choosing import Chooser, Choosing, Chosen
from stateward.teams.delegation import FINISH, Delegation, Result, Standing
from stateward.teams.member import FAILED, NO_ANSWER, WORK, Element, Member, Returns, Seat, part_of, seated
from stateward.teams.placing import placed
from stateward.teams.state import ANSWER, TASK, TEAM, record_of, recorded, task_of
from stateward.teams.wording import Wording

DEFAULT_VISITS = 3
DEFAULT_IN_ALL = 12
DEFAULT_RETRIES = 2
OWN = (BEGIN, "CHOOSE", WORK, "END", FINISH)
"""Names that no member may have."""
ENDS = ("error", "timeout", "fuse")
"""Events that may end a member's visit; a question that expired is one where a member asks people."""

Update = dict[str, Any]
Output = Callable[[Any], Mapping[str, Any]]
"""What becomes of the answer besides: a function of it that returns an update of the state."""


def supervisor(
    name: str,
    members: Sequence[Member | Element],
    *,
    model: str | None = None,
    choose: Chooser | None = None,
    parallel: bool = False,
    returns: Returns = "last",
    max_visits: int = DEFAULT_VISITS,
    max_in_all: int = DEFAULT_IN_ALL,
    prompt: Wording = "",
    retries: int = DEFAULT_RETRIES,
    fallback: str = FINISH,
    input: Callable[[Any], Any] | None = None,
    output: Output | None = None,
    policy: object = None,
) -> Superstate[Any]:
    """Make a supervisor of members: each is told a task, and what comes of it is judged before the next is chosen.

    A member that fails, takes too long or uses up a fuse of its own has failed its visit, and nothing else: the
    supervisor sees why. A fuse further out, a broken definition and a question to a person are no member's own.

    Args:
        name: The superstate's name: unique in the chart.
        members: The blocks, as they are or as `Member` with what it is for and what it returns.
        model: The role of the model that chooses; it is held to the members that have visits left, and `FINISH`.
        choose: A function of the `Standing` that chooses instead: a name, a `Delegation`, several, or `Finish`.
        parallel: Whether several may be chosen at once; they work beside each other, each to its own end, and the
            next choice sees what came of all.
        returns: What the supervisor is given of a member's work, where the member says nothing else.
        max_visits: How often each member may be visited, where it says nothing else, ≥ 1; then it is no choice more.
        max_in_all: Visits of all members together, ≥ 1.
        prompt: What the model is told of its job.
        retries: How often the model may try again with feedback, ≥ 0, when what it says is no choice.
        fallback: The choice when none could be made: `FINISH`, or a member.
        input: A function of the state that returns the supervisor's own task; None for the task that it was told, or
            the user's last message.
        output: A function of the answer that returns an update of the state.
        policy: The policy that binds the supervisor and every member.

    Returns:
        The supervisor, without `to`.

    Raises:
        DefinitionError: A name is taken, a number is wrong, the fallback is no member, or not exactly one of `model`
            and `choose` is given.

    Source:
        SYSTEMS.md, B5; HAZARDS 18.
    """
    _refuse(name, model=model, choose=choose, max_in_all=max_in_all, retries=retries)
    seats = seated(members, supervisor=name, returns=returns, max_visits=max_visits, taken=OWN)
    _refuse_seats(name, seats, parallel=parallel, fallback=fallback)
    choosing = Choosing(
        name=name, seats=seats, choose=choose, prompt=prompt, parallel=parallel, retries=retries, fallback=fallback
    )
    desk = Desk(name=name, seats=seats, choosing=choosing, max_in_all=max_in_all, input=input, output=output)
    return desk.drawn(model=model, policy=policy)


@dataclass(frozen=True, kw_only=True)
class Desk:
    """The activities, guards and actions of one supervisor."""

    name: str
    # Printed, members would stand in it at every place that it stands at itself, and so on with each level.
    seats: tuple[Seat, ...] = field(repr=False)
    choosing: Choosing = field(repr=False)
    max_in_all: int
    input: Callable[[Any], Any] | None
    output: Output | None

    def drawn(self, *, model: str | None, policy: object) -> Superstate[Any]:
        """Return the superstate.

        Args:
            model: The role of the model that chooses, if one does.
            policy: What binds all of it.
        """
        beside = self.choosing.parallel
        chosen = [when(self.has_work, WORK)] if beside else [when(s.is_chosen(), s.name) for s in self.seats]
        return Superstate(
            self.name,
            State(BEGIN, entry=self.begin, to="CHOOSE"),
            State("CHOOSE", do=self.choose, model=model, to=[*chosen, "END"]),
            *(_beside(self.seats) if beside else _in_turn(self.seats)),
            Final("END"),
            policy=policy,
        )

    def begin(self, state: Any) -> Update:
        """Forget what an earlier entry came to."""
        return recorded(self.name, next=None, visits=None, results=None, problem=None, **{ANSWER: None, FAILED: None})

    async def choose(self, state: Any, run: Run[Any]) -> Update:
        """Take in what came of the last delegations, and choose who works next."""
        record = record_of(state, self.name)
        came = self._came(state, run)
        results = tuple(Result.from_json(each) for each in (*record.get("results", ()), *came))
        visits: dict[str, int] = dict(record.get("visits", {}))
        task = task_of(state, self.name) if self.input is None else str(self.input(state))
        standing = Standing(task=task, results=self._shown(results, state), left=self._left(visits), state=state)
        chosen = await self.choosing.chosen(standing, run) if standing.left else None
        going = chosen.next[: self.max_in_all - sum(visits.values())] if chosen is not None else ()
        for each in going:
            visits[each.member] = visits.get(each.member, 0) + 1
        told = [each if each.task.strip() else Delegation(each.member, task=task) for each in going]
        kept: Update = {
            "results": [result.to_json() for result in results],
            "visits": visits,
            "next": [each.to_json() for each in told],
            "problem": (chosen.problem or None) if chosen is not None else None,
        }
        if told:
            return {TEAM: {self.name: kept, **{each.member: _briefed(each.task) for each in told}}}
        answer, failed = _ended(replace(standing, results=results), chosen)
        more = {} if self.output is None else dict(as_update(self.output(answer), where=self.name))
        return {**more, TEAM: {**more.get(TEAM, {}), self.name: {**kept, ANSWER: answer, FAILED: failed}}}

    @property
    def members(self) -> Sequence[str]:
        """Their names."""
        return [seat.name for seat in self.seats]

    @property
    def contracts(self) -> Sequence[str]:
        """The contracts that it takes from the policy by name, to read what members came to."""
        return [name for seat in self.seats if (name := seat.contract) is not None]

    def has_work(self, state: Any) -> bool:
        """Whether somebody is to work."""
        return bool(record_of(state, self.name).get("next"))

    def _left(self, visits: Mapping[str, int]) -> dict[str, int]:
        in_all = self.max_in_all - sum(visits.values())
        left = {seat.name: min(seat.max_visits - visits.get(seat.name, 0), in_all) for seat in self.seats}
        return {member: count for member, count in left.items() if count > 0}

    def _came(self, state: Any, run: Run[Any]) -> list[Update]:
        """Return what came of the last delegations, in the order of the members, whoever ended first."""
        told = {each["member"]: each["task"] for each in record_of(state, self.name).get("next", ())}
        read = [(s.name, s.read(state, effective=run.door.effective)) for s in self.seats if s.name in told]
        return [Result(member=member, task=told[member], ok=ok, value=value).to_json() for member, (ok, value) in read]

    def _shown(self, results: Sequence[Result], state: Any) -> tuple[Result, ...]:
        """Return the results as the chooser sees them: of each member's last visit there may be more to see."""
        last = {result.member: place for place, result in enumerate(results)}
        seats = {seat.name: seat for seat in self.seats}
        return tuple(
            seats[result.member].shown(result, state) if last[result.member] == place else result
            for place, result in enumerate(results)
        )


def _ended(standing: Standing, chosen: Chosen | None) -> tuple[Any, str | None]:
    """Return the answer, and why there is none: whoever leads this team is not told that the reasons are an answer."""
    if chosen is not None and chosen.answer is not None:
        return chosen.answer, None
    if any(result.ok for result in standing.results):
        return standing.answer, None
    problem = chosen.problem if chosen is not None else ""
    return standing.answer, standing.answer or problem or NO_ANSWER


def _briefed(task: str) -> Update:
    return {TASK: task, ANSWER: None, FAILED: None}


def _in_turn(seats: Sequence[Seat]) -> list[AnyState[Any]]:
    return [_placed(seat, to="CHOOSE") for seat in seats]


def _beside(seats: Sequence[Seat]) -> list[AnyState[Any]]:
    regions = [
        Superstate(
            part_of(seat.name),
            State("ASKED", to=[when(seat.is_chosen(), seat.name), "END"]),
            _placed(seat, to="END"),
            Final("END"),
        )
        for seat in seats
    ]
    return [Parallel(WORK, *regions, to="CHOOSE")]


def _placed(seat: Seat, *, to: str) -> Any:  # Any: one of the kinds of element, whichever the member is
    """Place a member; of an event in another region its guard knows that it is none of this member's."""
    concerned, failed = seat.concerns(), seat.fails()
    events = [*ENDS, *(["ask.expired"] if asks_people(seat.member.element) else [])]
    ends: list[Reaction[Any]] = [on(event, to, when=concerned, do=failed) for event in events]
    return placed(cast("State[Any]", seat.member.element), to=to, on=ends)


def _refuse_seats(name: str, seats: Sequence[Seat], *, parallel: bool, fallback: str) -> None:
    if parallel:
        refuse_shared_conversations(name, [seat.member.element for seat in seats])
    if fallback not in (FINISH, *(seat.name for seat in seats)):
        raise DefinitionError(f"The fallback `{fallback}` is no member", where=name, fix=f"Name one, or `{FINISH}`.")


def _refuse(name: str, *, model: str | None, choose: Chooser | None, max_in_all: int, retries: int) -> None:
    if (model is None) == (choose is None):
        raise DefinitionError(
            "A supervisor chooses by a model or by a function, by one of them",
            where=name,
            fix="Give `model=ROLE` or `choose=FUNCTION`.",
        )
    if max_in_all < 1 or retries < 0:
        raise DefinitionError(
            f"`max_in_all` is {max_in_all}, `retries` is {retries}",
            where=name,
            fix="Allow one visit at least, and no number of retries below 0.",
        )
