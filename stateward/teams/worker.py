"""Who does the work of a block's state: a function, by rules or by an encoder, or a model in a role.

A block knows how a model is asked and what becomes of the answer; whoever uses the block says who works. A function
returns plain values, and the block puts them into its record.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from stateward.chart.declared import declared_output
from stateward.chart.guard import Bound, bind, qualified_name
from stateward.chart.state import State
from stateward.errors import DefinitionError
from stateward.run.context import Run
from stateward.run.prompt import Prompt
from stateward.teams.agent import AnyTool, names_of
from stateward.teams.state import TEAM
from stateward.teams.wording import Wording, worded

Update = Mapping[str, Any]
Ask = Callable[[Any, Run[Any]], Awaitable[Any]]
"""How a block asks a model: of `(state, run)`, awaited."""
Fold = Callable[[Any, "Worked"], Update]
"""What becomes of a result: of `(state, worked)`, an update of the state."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Who works in one state of a block, and what it may touch."""

    do: Callable[..., Any] | None = None
    """A function of `(state)`, `(state, run)`, …, sync or async; None to let the block ask the model."""
    model: str | None = field(default=None, kw_only=True)
    """The role of the model that is asked, or that the function may call."""
    tools: Sequence[AnyTool] = field(default=(), kw_only=True)
    """The tools that may be called here, or their names; the chart is compiled with them."""
    prompt: Wording = field(default="", kw_only=True)
    """What the model is told of its job; empty for the block's own words."""
    timeout_s: float | None = field(default=None, kw_only=True)
    """Seconds the work may take; None for no limit of its own."""
    policy: object = field(default=None, kw_only=True)
    """The policy of this state; None for what binds the block."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What a function came to, when that is more than its value."""

    value: Any = None
    """The plan, the result of the step, the verdict, the options or the choice."""
    ok: bool = field(default=True, kw_only=True)
    """Whether it did what it was to do."""
    update: Update = field(default_factory=dict[str, Any], kw_only=True)
    """What it writes besides into other keys of the state."""


Job = Worker | Callable[..., Any] | str
"""A worker, or short for one: a function, or the role of a model."""


def worker_of(given: object, *, where: str) -> Worker:
    """Return who works.

    Args:
        given: A worker, a function, or the role of a model.
        where: The state's path, for the message.

    Returns:
        The worker.

    Raises:
        DefinitionError: It is none of these, or a worker with neither a function nor a model.
    """
    made = given if isinstance(given, Worker) else None
    if isinstance(given, str) and given:
        made = Worker(model=given)
    elif made is None and callable(given):
        made = Worker(given)
    if made is None or (made.do is None and not made.model):
        raise DefinitionError(
            f"{given!r} says nobody who could work here",
            where=where,
            fix="Give a function, the role of a model, or `teams.Worker(…)` with one of them.",
        )
    return made


def work_state(state: str, worker: Worker, *, where: str, ask: Ask, fold: Fold, **rest: Any) -> State[Any]:
    """Make the state in which a worker works.

    Args:
        state: The state's name.
        worker: Who works.
        where: The state's path.
        ask: How the model is asked, when no function is given.
        fold: What becomes of the result.
        rest: As for `State`.

    Returns:
        The state.

    Raises:
        DefinitionError: The function cannot be called as an activity is, or has a gate of its own.
    """
    do = _asking(ask, fold) if worker.do is None else _calling(worker.do, fold, where=where)
    return State(
        state,
        do=do,
        model=worker.model,
        tools=names_of(worker.tools, where=where),
        timeout_s=worker.timeout_s,
        policy=worker.policy,
        **rest,
    )


def job_text(wording: Wording, state: object, *, instead: str, **values: Any) -> str:
    """Return what a model is told of its job.

    Args:
        wording: As the author gave it; the variables of a `Prompt` are the block's values, else state keys.
        state: The state.
        instead: What it is told when nothing is given.
        values: What the block knows, by name.

    Returns:
        The text.

    Raises:
        DefinitionError: A variable of the prompt is neither.
    """
    if isinstance(wording, Prompt):
        wording = wording.given(**{name: value for name, value in values.items() if name in wording.variables})
    return worded(wording, state) or instead


def _asking(ask: Ask, fold: Fold) -> Any:
    async def asked(state: Any, run: Run[Any]) -> Update:
        return _folded(state, await ask(state, run), fold)

    # What a chart is pinned by: who works, not the wrapper around it.
    asked.__qualname__ = qualified_name(ask)
    return asked


def _calling(do: Callable[..., Any], fold: Fold, *, where: str) -> Any:
    if declared_output(do) is not None:
        raise DefinitionError(
            "The function has a gate of its own, and its result is not an update of the state",
            where=where,
            fix="Leave `gated` out: the block holds what comes back against its own contract.",
        )
    bound = bind(do, where=where, allowed=("state", "event", "run"))
    called = _awaited(bound, fold) if bound.is_async else _called(bound, fold)
    called.__qualname__ = bound.name
    return called


def _awaited(bound: Bound, fold: Fold) -> Any:
    async def called(state: Any, event: Any, run: Run[Any]) -> Update:
        return _folded(state, await cast("Awaitable[Any]", bound(state, event, run)), fold)

    return called


def _called(bound: Bound, fold: Fold) -> Any:
    def called(state: Any, event: Any, run: Any) -> Update:
        return _folded(state, bound(state, event, run), fold)

    return called


def _folded(state: Any, returned: Any, fold: Fold) -> Update:
    worked = returned if isinstance(returned, Worked) else Worked(returned)
    made = {**worked.update, **fold(state, worked)}
    beside = worked.update.get(TEAM)
    return made if beside is None else {**made, TEAM: {**beside, **made.get(TEAM, {})}}
