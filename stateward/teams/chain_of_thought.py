"""A chain of thought: a fixed list of named steps, each one function or one model call, each kept to be looked at.

Every step is a state with a checkpoint of its own. What it came to is in the block's record under its name, is told to
the model steps behind it, and that of the last one is the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage

from stateward.chart.state import Final, State, Superstate
from stateward.errors import ContractFailed, DefinitionError
from stateward.govern.gate import Failed, check
from stateward.run.context import Run
from stateward.run.plan import Gate
from stateward.run.structured.structured import structured
from stateward.run.update import as_update
from stateward.teams.final_answer import Answer, Form, Output
from stateward.teams.loop import NOTHING
from stateward.teams.state import joined, record_of, recorded, task_of
from stateward.teams.worker import Job, Worked, Worker, job_text, work_state, worker_of

THOUGHTS = "thoughts"
"""The field of the block's record that holds what each step came to, by its name."""
_OWN = ("BEGIN", "END")
"""States that the block has besides its steps."""


def chain_of_thought(
    name: str,
    steps: Mapping[str, Job],
    *,
    answers: Mapping[str, Answer] | None = None,
    output: Output | None = None,
    policy: object = None,
) -> Superstate[Any]:
    """Make a chain of steps that are taken one behind the other.

    Args:
        name: The superstate's name, unique in the chart.
        steps: The steps by name, in order: functions of `(state)`, `(state, run)`, … that return plain JSON, roles of
            models, or `Worker`s that say more.
        answers: The format of what a step comes to, by its name; of others a model's words, or what a function returns.
        output: A function of the last step's result that returns an update of the state.
        policy: The policy that binds all steps.

    Returns:
        The chain, without `to`; `chain_thoughts` has what the steps came to.

    Raises:
        DefinitionError: There is no step, one has a name of the block's own, or nobody could work in one; or a format
            is for no step.

    Source:
        SYSTEMS.md, B2; chain of thought (Wei et al. 2022).
    """
    _refuse_wrong(name, steps, answers or {})
    chain = _Chain(name, tuple(steps), {step: Form.of(form, output=None) for step, form in (answers or {}).items()})
    names = [*steps, "END"]
    states: list[State[Any]] = []
    for place, (step, job) in enumerate(steps.items()):
        where = f"{name}.{step}"
        worker = worker_of(job, where=where)
        last = place == len(steps) - 1
        states.append(
            work_state(
                step,
                worker,
                where=where,
                ask=partial(chain.ask, step=step, worker=worker),
                fold=partial(chain.fold, step=step, output=output, is_last=last),
                to=names[place + 1],
            )
        )
    return Superstate(name, State("BEGIN", entry=chain.begin, to=names[0]), *states, Final("END"), policy=policy)


def chain_thoughts(state: object, name: str) -> Mapping[str, Any]:
    """Return what the steps of a chain came to so far, by name.

    Args:
        state: The state.
        name: The chain's name.
    """
    return record_of(state, name).get(THOUGHTS) or {}


class _Chain:
    """What the steps of one chain share."""

    def __init__(self, name: str, steps: tuple[str, ...], forms: Mapping[str, Form]) -> None:
        self.name = name
        self.steps = steps
        self.forms = forms
        self.contracts = tuple(name for form in forms.values() for name in form.contracts)
        """The contracts that its steps take from the policy by name."""

    def begin(self, state: Any) -> dict[str, Any]:
        """Forget what the steps came to before."""
        return recorded(self.name, thoughts=None, answer=None)

    async def ask(self, state: Any, run: Run[Any], *, step: str, worker: Worker) -> Any:
        """Ask the model of a step: it is told the task, and what the steps before came to."""
        job = job_text(worker.prompt, state, instead=f"This is the step `{step}` of: {', '.join(self.steps)}.")
        before = "".join(f"\n\n{each}:\n{thought}" for each, thought in chain_thoughts(state, self.name).items())
        told = [SystemMessage(content=job), HumanMessage(content=f"{task_of(state, self.name)}{before}")]
        gate = self._gate(step)
        if gate is None:
            return (await run.model().ainvoke(told)).text.strip() or NOTHING
        return dict((await structured(run, told, contract=gate.contract, retries=gate.retries)).value)

    def fold(self, state: Any, worked: Worked, *, step: str, output: Output | None, is_last: bool) -> dict[str, Any]:
        """Keep what a step came to; that of the last one is the answer."""
        value, gate = self._fitting(worked.value, step), self._gate(step)
        thoughts = {**chain_thoughts(state, self.name), step: value}
        own = {} if gate is None or gate.key is None else {gate.key: value}
        more = as_update(None if output is None or not is_last else output(value), where=self.name)
        answer = {"answer": value} if is_last else {}
        return joined(own, more, recorded(self.name, thoughts=thoughts, **answer))

    def _gate(self, step: str) -> Gate | None:
        form = self.forms.get(step)
        return None if form is None else form.gate

    def _fitting(self, value: Any, step: str) -> Any:
        gate = self._gate(step)
        if gate is None or isinstance(gate.contract, str):
            return value
        verdict = check(gate.contract, value=value)
        if isinstance(verdict, Failed):
            raise ContractFailed(
                f"What the step `{step}` came to does not fit `{gate.contract.__name__}`: {verdict.feedback}",
                where=f"{self.name}.{step}",
                fix="Mend the function, or let the chart take `error.contract`.",
            )
        return dict(verdict.value)


def _refuse_wrong(name: str, steps: Mapping[str, Job], answers: Mapping[str, Answer]) -> None:
    if not steps:
        raise DefinitionError("The chain has no step", where=name, fix="Give at least one.")
    for step in steps:
        if step in _OWN:
            raise DefinitionError(f"`{step}` is a state of the chain's own", where=name, fix="Name the step otherwise.")
    for step in answers:
        if step not in steps:
            raise DefinitionError(
                f"`answers` has a format for `{step}`, which is no step", where=name, fix=f"Steps: {', '.join(steps)}."
            )
