"""A swarm: agents that hand one conversation over to each other, of which one is active at a time.

Who is active is in the swarm's record and is remembered over turns. The handoffs of a run are counted: when they are
used up, nobody is offered one, and who is active answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from langchain_core.messages import HumanMessage

from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import When, when
from stateward.errors import DefinitionError
from stateward.teams.agent import DEFAULT_STEPS, AnyTool, Recipe, looped, names_of
from stateward.teams.final_answer import Form, Output
from stateward.teams.handoff import ACTIVE, Exits, Handoff, Passed
from stateward.teams.loop import SHARED
from stateward.teams.mind import Mind
from stateward.teams.placing import placed
from stateward.teams.state import record_of, recorded, task_of
from stateward.teams.wording import Wording

DEFAULT_HANDOFFS = 6


@dataclass(frozen=True, slots=True)
class Peer:
    """An agent of a swarm.

    Args:
        name: Its name.
        model: The role of its model, or rules.
        tools: As for `agent`.
        prompt: As for `agent`.
        about: What the others are told of it.
        handoffs: To whom it may hand over: names, or `Handoff`s; None for everybody else.
        max_steps: As for `agent`.
        policy: The policy that binds it.
    """

    name: str
    model: Mind
    tools: Sequence[AnyTool] = ()
    prompt: Wording = ""
    about: str = ""
    handoffs: Sequence[str | Handoff] | None = None
    max_steps: int = DEFAULT_STEPS
    policy: object = None


def swarm(
    name: str,
    members: Sequence[Peer],
    *,
    entry: str | None = None,
    history: Passed = "full",
    max_handoffs: int = DEFAULT_HANDOFFS,
    conversation: str = SHARED,
    output: Output | None = None,
    policy: object = None,
) -> Superstate[Any]:
    """Make a swarm of agents.

    Args:
        name: The superstate's name, unique in the chart.
        members: Its agents.
        entry: Who is active at first; None for the first of them.
        history: What a member sees of what was said before it took over, where its `Handoff` does not say it.
        max_handoffs: Handoffs of one run, ≥ 0; then who is active answers.
        conversation: The state key, of the type `sw.Messages`, of the conversation that all of them share.
        output: A function of the answer that returns an update of the state.
        policy: The policy that binds them all.

    Returns:
        The swarm, without `to`; who is active is in `team[name]["active"]`.

    Raises:
        DefinitionError: It has no members, two of one name, one that is no `Peer`, a handoff to nobody, a history of no
            kind, or no such `entry`.

    Source:
        SYSTEMS.md, B7; HAZARDS 6.
    """
    _refuse_strange(name, members, history=history)
    made = _Swarm(name, {member.name: member for member in members}, entry=entry or "", conversation=conversation)
    made.refuse_wrong(members, max_handoffs=max_handoffs)
    own = Form(gate=None, output=output)
    form = Form(gate=None, output=lambda answer: own.kept(name, answer))
    blocks = [
        made.block(member, made.exits(member, history=history, max_handoffs=max_handoffs), form=form)
        for member in members
    ]
    return Superstate(
        name,
        State("BEGIN", entry=made.begin, to=made.choices),
        *blocks,
        Final("END"),
        policy=policy,
    )


def _refuse_strange(name: str, members: Sequence[object], *, history: str) -> None:
    """Refuse what is of no kind: a history that nobody knows would be told as some other one."""
    passed = [history]
    for member in members:
        if not isinstance(member, Peer):
            called = member.name if isinstance(member, State | Superstate) else repr(member)
            fix = "A member of a swarm is a `teams.Peer(NAME, ROLE, …)`; put other blocks under a `supervisor`."
            raise DefinitionError(f"`{called}` is no member", where=name, fix=fix)
        for each in cast("Sequence[object]", member.handoffs or ()):
            if not isinstance(each, str | Handoff):
                fix = "Name the member, or give `teams.Handoff(NAME, …)`."
                raise DefinitionError(f"{each!r} is no handoff", where=f"{name}.{member.name}", fix=fix)
            passed += [each.history] if isinstance(each, Handoff) else []
    known = get_args(Passed)
    for strange in (each for each in passed if each not in known):
        fix = f"Say one of {', '.join(f'`{each}`' for each in known)}."
        raise DefinitionError(f"The history that a handoff passes on is {strange!r}", where=name, fix=fix)


class _Swarm:
    """What the parts of one swarm share."""

    def __init__(self, name: str, members: dict[str, Peer], *, entry: str, conversation: str) -> None:
        self.name = name
        self.members = members
        self.entry = entry or next(iter(members), "")
        self.conversation = conversation

    def refuse_wrong(self, members: Sequence[Peer], *, max_handoffs: int) -> None:
        """Refuse what cannot be a swarm."""
        names = [member.name for member in members]
        known = ", ".join(f"`{each}`" for each in names) or "none"
        wanted = [self._handoff(each, "full").to for member in members for each in member.handoffs or ()]
        twice = sorted({each for each in names if names.count(each) > 1})
        strange = sorted({each for each in (*wanted, self.entry) if each not in names})
        if not names or twice or strange:
            what = f"two members are named `{twice[0]}`" if twice else f"nobody in it is named `{''.join(strange[:1])}`"
            raise DefinitionError(f"The swarm is wrong: {what}", where=self.name, fix=f"Its members: {known}.")
        if max_handoffs < 0:
            raise DefinitionError(f"`max_handoffs` is {max_handoffs}", where=self.name, fix="Give 0 or more.")

    def block(self, member: Peer, exits: Exits, *, form: Form) -> Superstate[Any]:
        """Return a member as an agent, with its ways to the others."""
        agent = looped(
            Recipe(
                name=member.name,
                model=member.model,
                tools=member.tools,
                prompt=member.prompt,
                max_steps=member.max_steps,
                conversation=self.conversation,
                form=form,
                policy=member.policy,
                team=self.name,
                aside=exits,
                leaves=exits.has_left,
            )
        )
        return placed(agent, to=[*(when(self.is_active(each.to), each.to) for each in exits.handoffs.values()), "END"])

    def exits(self, member: Peer, *, history: Passed, max_handoffs: int) -> Exits:
        """Return the ways out of a member."""
        others = [each for each in self.members if each != member.name]
        given = others if member.handoffs is None else member.handoffs
        handoffs = [self._handoff(each, history) for each in given]
        ways = {each.tool: each for each in handoffs if each.to != member.name}
        for name in names_of(member.tools, where=f"{self.name}.{member.name}"):
            if name in ways:
                raise DefinitionError(
                    f"The tool `{name}` has the name of a handoff, so that it would never be called",
                    where=f"{self.name}.{member.name}",
                    fix="Rename the tool.",
                )
        return Exits(swarm=self.name, member=member.name, handoffs=ways, max_handoffs=max_handoffs)

    def _handoff(self, given: str | Handoff, history: Passed) -> Handoff:
        handoff = Handoff(given, history) if isinstance(given, str) else given
        about = self.members[handoff.to].about if handoff.to in self.members else ""
        return replace(handoff, about=handoff.about or about)

    # -- in the chart ------------------------------------------------------------------------------------------

    def begin(self, state: Any) -> dict[str, Any]:
        """Count the handoffs anew, and say whose turn it is; in a conversation of its own, tell the task."""
        active = record_of(state, self.name).get(ACTIVE)
        turn = active if active in self.members else self.entry
        update = recorded(self.name, handoffs=0, answer=None, active=turn)
        if self.conversation == SHARED:
            return update
        return {**update, self.conversation: [HumanMessage(content=task_of(state, self.name))]}

    @property
    def choices(self) -> list[When[Any] | str]:
        """Where a run begins: with the member that was active, else with the entry."""
        return [*(when(self.is_active(each), each) for each in self.members if each != self.entry), self.entry]

    def is_active(self, member: str) -> Any:
        """Return the guard that is true when it is a member's turn."""

        def is_active(state: Any) -> bool:
            return record_of(state, self.name).get(ACTIVE) == member

        is_active.__qualname__ = f"is_active_{member}"
        return is_active
