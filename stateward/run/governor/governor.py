"""The governor: a LangChain middleware that takes every model and tool call of an agent through the door.

A newcomer who follows a tool call starts at `wrap_tool_call`: `_place` finds out where it is made, `tool_steps` takes
it through the door, and what stands behind the governor makes it. In a plain agent, sessions are LangGraph's threads,
and a person is asked by LangGraph's interrupt. Inside a chart, or in a tool of another governed agent, the agent draws
on the run around it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, cast

from langchain.agents.middleware.types import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Command

from stateward.errors import DefinitionError, Diverged, FuseTripped, GovernanceError
from stateward.govern.effective import Effective, effective
from stateward.govern.policy import Policy
from stateward.run.configurable import named, person_in
from stateward.run.door.calling import Calling, around
from stateward.run.door.door import Door
from stateward.run.door.model import GovernedModel
from stateward.run.door.role import ModelRole, role_of
from stateward.run.door.signal import Trip, as_error
from stateward.run.door.tool import Effect, Tool
from stateward.run.door.toolbox import toolbox
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.governor.crowd import Crowds
from stateward.run.governor.found import refused, restricts, ungoverned
from stateward.run.governor.observation import AsyncHandler, Handler, Observation, acaller, caller, handled, pausing
from stateward.run.governor.place import Numbers, Place, timed
from stateward.run.governor.record import written
from stateward.run.governor.standing import KEY, GovernedState, Standing, standing_in
from stateward.run.governor.tool_call import TRIES, Wanted, tool_steps
from stateward.run.invocation import new_id, session_of
from stateward.run.nested import saver_in
from stateward.run.store.database import Database
from stateward.run.tables import Tables

Call = Callable[[ModelRequest[Any]], ModelResponse[Any]]
AsyncCall = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class AgentGovernor(AgentMiddleware[GovernedState, Any, Any]):
    """The middleware; `stateward.governor` makes it as the environment says.

    Args:
        policy: What binds the agent; None for what is around it only.
        name: What the agent is called in paths, in the audit log and in revocations; no `/` in it.
        tables: Where journal, ledger and asks are.
        tools: Tools of ours, which the agent gets as well.
        models: What is known of models: their roles, with prices.
        role: The role of a model of which nothing else is known.
        effects: What a second run of a tool of LangChain would do, by name; `once` of the others.
        priced: Finds the price of a model that has none.

    Raises:
        DefinitionError: The policy is none, the name cannot be one, or a tool or a model is none.
    """

    state_schema = GovernedState

    def __init__(
        self,
        policy: Policy | None,
        *,
        name: str,
        tables: Tables,
        tools: Iterable[Tool | BaseTool] = (),
        models: Mapping[str, ModelRole] | None = None,
        role: str = "model",
        effects: Mapping[str, Effect] | None = None,
        priced: Callable[[ModelRole], ModelRole] = lambda role: role,
    ) -> None:
        super().__init__()
        self.policy = _fitting(policy)
        self.agent = _checked(name)
        self._tables = tables
        given = tuple(tools)
        box = toolbox(given)
        self._own = {each.name: each for each in given if isinstance(each, Tool)}
        foreign = [each for each in given if isinstance(each, BaseTool)]
        self.tools = [*(_offered(box[each]) for each in self._own), *foreign]
        self._roles = dict(models or {})
        self._role = role
        self._effects = dict(effects or {})
        self._priced = priced
        self._crowds = Crowds()
        self._looked_at = set[str]()
        self._folded: dict[tuple[str, str], Effective] = {}

    # -- the run begins and ends ------------------------------------------------------------------------------

    def before_agent(self, state: GovernedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Begin a run: the agent was given an input.

        Args:
            state: The agent's state.
            runtime: LangGraph's.

        Returns:
            Where the agent stands.
        """
        config, calling = get_config(), around()
        standing = self._begun(config, calling)
        if calling is None:
            written(self._database(config, calling), standing, status="running")
        return {KEY: standing.content}

    def after_agent(self, state: GovernedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """End a run.

        Args:
            state: The agent's state.
            runtime: LangGraph's.
        """
        place = self._place(state)
        if place.calling is None:
            written(place.database, place.standing, status="completed")
        return None

    def _begun(self, config: RunnableConfig, calling: Calling | None) -> Standing:
        if calling is None:
            session, path = session_of(config) or new_id("session"), f"/{self.agent}"
            return Standing(session=session, run=new_id("run"), path=path, base=0, turn=0, policy=self.policy.hash)
        at = cast(Door, calling.door).activation
        path = f"{at.path}/{self.agent}"
        base, policy = calling.base(path), self.policy.hash
        return Standing(session=at.session, run=at.run, path=path, base=base, turn=0, policy=policy)

    # -- model calls ------------------------------------------------------------------------------------------

    def wrap_model_call(self, request: ModelRequest[Any], handler: Call) -> ExtendedModelResponse[Any]:
        """Take a model call through the door.

        Args:
            request: The call.
            handler: Makes it.

        Raises:
            FuseTripped: A fuse forbids the call.
        """
        place = self._place(request.state, further=1)
        return drive_sync(
            self._model_steps(request, place, lambda asked: Work(fn=handler, args=(asked,))), bridge=Bridge()
        )

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncCall) -> ExtendedModelResponse[Any]:
        """Take a model call through the door, awaited.

        Args:
            request: The call.
            handler: Makes it.

        Raises:
            FuseTripped: A fuse forbids the call.
        """
        place = self._place(request.state, further=1)
        make = cast(Callable[[ModelRequest[Any]], Coroutine[Any, Any, ModelResponse[Any]]], handler)
        steps = self._model_steps(request, place, lambda asked: Work(afn=make, args=(asked,)))
        return await drive_async(steps, threads=place.database.threads)

    def _model_steps(
        self, request: ModelRequest[Any], place: Place, make: Callable[[ModelRequest[Any]], Work]
    ) -> Steps[ExtendedModelResponse[Any]]:
        attempt = 0
        place.refuse_ended()
        while True:
            door, numbers, governed = self._governed(request, place, attempt)
            try:
                response: ModelResponse[Any] = yield from timed(make(governed), place, door)
            except Diverged as other:
                attempt = _next_attempt(place, numbers, other)
            except Trip as tripped:
                door.signal = tripped
                raise as_error(tripped, where=place.standing.path) from tripped
            else:
                return _answered(response, place, numbers)
            finally:
                _end(place, door)

    def _governed(
        self, request: ModelRequest[Any], place: Place, attempt: int
    ) -> tuple[Door, Numbers, ModelRequest[Any]]:
        door = place.door({})
        numbers = Numbers(door, first=attempt)
        model = GovernedModel.of(self._role_of(request.model), door=door, number=numbers, roles=self._roles)
        return door, numbers, request.override(model=model)

    def _role_of(self, model: BaseChatModel) -> ModelRole:
        if isinstance(
            model, GovernedModel
        ):  # from the `run` of an activity: it goes through this door, not through two
            return model._asking.role  # pyright: ignore[reportPrivateUsage]
        found = next((role for role in self._roles.values() if role.model is model), None)
        return found if found is not None else self._priced(role_of(self._role, model))

    # -- tool calls -------------------------------------------------------------------------------------------

    def wrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Observation:
        """Take a tool call through the door.

        Args:
            request: The call.
            handler: Makes it.

        Raises:
            FuseTripped: A fuse forbids the call.
        """
        wanted, bridge = self._wanted(request, caller(request, handler), is_async=False), Bridge()
        try:
            with wanted.place.crowd.place():
                return drive_sync(tool_steps(wanted), bridge=bridge)
        finally:
            bridge.close()

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncHandler) -> Observation:
        """Take a tool call through the door, awaited.

        Args:
            request: The call.
            handler: Makes it.

        Raises:
            FuseTripped: A fuse forbids the call.
        """
        wanted = self._wanted(request, acaller(request, handler), is_async=True)
        crowd = wanted.place.crowd
        try:
            async with crowd.aplace():
                return await drive_async(tool_steps(wanted), threads=wanted.place.database.threads)
        except FuseTripped:
            await crowd.quiet()  # else its siblings would be cut off in their middle
            raise

    def _wanted(self, request: ToolCallRequest, call: Callable[..., Any], *, is_async: bool) -> Wanted:
        place = self._place(request.state)
        tools: dict[str, Tool] = {}
        for each in request.runtime.tools:
            effect = cast(Effect, self._effects.get(each.name, "once"))
            own = self._own.get(each.name)
            tools[each.name] = pausing(own) if own else handled(each, call, effect=effect, is_async=is_async)
        self._refuse_ungoverned(request, place)
        return Wanted(place=place, tools=tools, call=request.tool_call, messages=request.state["messages"])

    def _refuse_ungoverned(self, request: ToolCallRequest, place: Place) -> None:
        """Refuse a tool in which an agent without a governor would make calls past the policy."""
        if request.tool is None or not restricts(place.effective):
            return
        name = request.tool.name
        if name not in self._looked_at:
            source = self._own[name].fn if name in self._own else request.tool
            for _, graph in ungoverned({name: source}):
                raise refused(f"The tool `{name}` calls", graph, where=f"agent `{place.standing.path}`")
            self._looked_at.add(name)

    # -- where ------------------------------------------------------------------------------------------------

    def _place(self, state: Mapping[str, Any], *, further: int = 0) -> Place:
        config, calling = get_config(), around()
        standing = standing_in(state, policy=self.policy.hash)
        return Place(
            standing=standing,
            database=self._database(config, calling),
            effective=self._effective(standing, calling),
            calling=calling,
            tenant=named(config, "tenant"),
            approver=person_in(config, "approver"),
            turn=standing.turn + further,
            crowd=self._crowds.of(standing.session, run=f"{standing.run}{standing.path}{standing.base}"),
        )

    def _database(self, config: RunnableConfig, calling: Calling | None) -> Database:
        if calling is not None:
            return cast(Door, calling.door).database
        return self._tables.database(
            saver_in(config) or InMemorySaver()
        )  # without a saver nothing outlives the process

    def _effective(self, standing: Standing, calling: Calling | None) -> Effective:
        outer = None if calling is None else cast(Door, calling.door).effective
        key = (standing.path, "" if outer is None else outer.hash)
        if key not in self._folded:
            self._folded[key] = self.bound_by(outer, path=standing.path)
        return self._folded[key]

    def bound_by(
        self, outer: Effective | None, *, path: str, tools: Iterable[str] = (), refuse: bool = False
    ) -> Effective:
        """Fold the agent's policy with what is around it.

        Args:
            outer: What binds the state or the agent around; None for nothing.
            path: The agent's path.
            tools: The names of the known tools.
            refuse: Whether a policy that is weaker than what is around it is an error; else the stricter holds.

        Raises:
            PolicyLoosened: It is weaker.
        """
        layers = () if outer is None else outer.layers
        chain = [*((layer.scope, layer.policy) for layer in layers), ("" if outer is None else path, self.policy)]
        return effective(chain, path=path, tools=tools, refuse=refuse)

    def is_lost(self, tool: str) -> bool:
        """Whether nobody but a person can say what became of a call of a tool that was cut off.

        Args:
            tool: A tool of the agent.
        """
        own = self._own.get(tool)
        return self._effects.get(tool, "once") == "once" if own is None else own.asks

    def function(self, tool: str) -> object:
        """Return what makes the calls of a tool that it was given; None for one that the agent has otherwise.

        Args:
            tool: A tool of the agent.
        """
        own = self._own.get(tool)
        return None if own is None else own.fn


def _fitting(policy: object) -> Policy:
    if policy is None:
        return Policy(name="none")
    if not isinstance(policy, Policy):
        raise DefinitionError(f"{policy!r} is no policy", where="Governor(…)", fix="Use `sw.load_policy(…)`.")
    if policy.activity_timeout_s is not None:
        raise DefinitionError(
            "`activity_timeout_s` binds activities of charts, and an agent is none",
            where=f"policy `{policy.name}` ({policy.source})",
            fix="Limit for how long the agent works with `fuses.runtime_s`.",
        )
    return policy


def _checked(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or "/" in name:
        raise DefinitionError(
            f"{name!r} is no name of an agent", where="Governor(name=…)", fix="Give a word, without `/`."
        )
    return name


def _offered(tool: Tool) -> StructuredTool:
    """Return one of our tools as the agent offers it to its model; the governor itself makes the call."""

    def refuse(**arguments: Any) -> Any:
        raise GovernanceError(f"`{tool.name}` was called without its governor", fix="Leave the call to the agent.")

    return StructuredTool.from_function(
        func=refuse, name=tool.name, description=tool.description, args_schema=tool.arguments, infer_schema=False
    )


def _next_attempt(place: Place, numbers: Numbers, other: Diverged) -> int:
    """Let a fork say something else than the journal has; inside a chart, what is entered again says the same."""
    if place.is_in_chart or numbers.attempt >= TRIES:
        raise other
    return numbers.attempt


def _end(place: Place, door: Door) -> None:
    """Inside a chart, let what is around know why the agent must end, and end it with what no `except` takes."""
    if place.is_in_chart and door.signal is not None:
        place.tell(door.signal)
        raise door.signal


def _answered(response: ModelResponse[Any], place: Place, numbers: Numbers) -> ExtendedModelResponse[Any]:
    if not numbers.is_used:
        raise GovernanceError(
            "Something behind the governor answered in the place of the governed model",
            where=f"agent `{place.standing.path}`",
            fix="Put the governor last: `create_agent(…, middleware=[…, governor])`.",
        )
    standing = {**place.standing.content, "turn": place.standing.turn + 1}
    return ExtendedModelResponse(model_response=response, command=Command(update={KEY: standing}))
