"""Models by role: what is bound to a model holds, and what cannot hold is refused before any run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import Field

import stateward as sw
from stateward.errors import DefinitionError
from stateward.run.door.role import role_of
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven, policy
from tests.charts.talk import say, say_sync, talk

Drive = Callable[..., Driven]
PRICES = {"usd_per_million_input": 10.0, "usd_per_million_output": 10.0}


class Watching(ScriptedModel):
    """A model that keeps what it is sent beside the messages."""

    seen: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        self.seen.append({"stop": stop, **kwargs})
        return super()._generate(messages, stop, run_manager, **kwargs)


# -- what is refused --------------------------------------------------------------------------------------


def wrappers() -> list[Runnable[Any, Any]]:
    model = ScriptedModel.of("bye")
    return [
        model.with_fallbacks([ScriptedModel.of("bye")]),
        model.with_retry(),
        model.with_config(tags=["t"]),
        model.bind(seed=7).with_config(tags=["t"]),
        model.with_listeners(on_start=print),
        model.with_retry().bind(seed=7),
        model | RunnableLambda(str),
    ]


@pytest.mark.parametrize("wrapped", wrappers(), ids=lambda each: each.get_name())
@pytest.mark.parametrize("as_role", [False, True])
def test_wrapper_that_would_be_lost_is_refused(wrapped: Any, as_role: bool) -> None:
    """The door calls the model itself; what stands around it would do nothing, so it is told at compile."""
    given = sw.ModelRole(name="voice", model=wrapped) if as_role else wrapped
    with pytest.raises(DefinitionError, match="models\\['voice'\\]") as refused:
        talk(given)
    assert "error.activity" in str(refused.value)


def test_what_is_no_model_at_all_is_refused() -> None:
    """A name is not looked up."""
    with pytest.raises(DefinitionError, match="`str` is not a chat model"):
        talk("gpt-4o")  # pyright: ignore[reportArgumentType]


# -- what is bound ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("do", [say, say_sync])
@pytest.mark.parametrize("as_role", [False, True])
def test_bound_options_are_sent(drive: Drive, do: Any, as_role: bool) -> None:
    """`stop` goes where LangChain puts it."""
    model = Watching.of("bye")
    bound: Any = model.bind(stop=["END"], seed=7)
    given = sw.ModelRole(name="voice", model=bound) if as_role else bound
    drive(talk(given, do=do)).start({})
    assert model.seen == [{"stop": ["END"], "seed": 7}]


async def hot(state: Any, run: sw.Run[Any]) -> Any:
    return {"said": [(await run.model().ainvoke("hi", seed=1, stop=["."])).text]}


def hot_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"said": [run.model().invoke("hi", seed=1, stop=["."]).text]}


@pytest.mark.parametrize("do", [hot, hot_sync])
def test_options_of_the_call_win(drive: Drive, do: Any) -> None:
    """As with LangChain's own binding."""
    model = Watching.of("bye")
    drive(talk(model.bind(stop=["END"], seed=7, top_p=0.5), do=do)).start({})
    assert model.seen == [{"stop": ["."], "seed": 1, "top_p": 0.5}]


@pytest.mark.parametrize("do", [hot, hot_sync])
def test_options_are_part_of_the_fingerprint(drive: Drive, do: Any) -> None:
    """Calls that differ in what is bound, or in where they stop, are other calls."""
    prints = set[str]()
    for n, model in enumerate((ScriptedModel.of("bye"), ScriptedModel.of("bye").bind(top_p=0.5))):
        driven = drive(talk(model, do=do), session=f"s{n}")
        driven.start({})
        (entry,) = driven.session.database.journal.entries(f"s{n}")
        prints.add(entry.fingerprint)
        assert entry.arguments["options"]["stop"] == ["."]
    assert len(prints) == 2


def test_bound_output_limit_bounds_the_cost() -> None:
    """The smaller of the role's limit and the bound one is sent, and counted with."""
    model = ScriptedModel.of("x")
    role = role_of("m", sw.ModelRole(name="m", model=model.bind(max_tokens=50), max_output_tokens=100, **PRICES))  # pyright: ignore[reportArgumentType]
    options = role.ready({}).options
    wide = role_of("m", sw.ModelRole(name="m", model=model, max_output_tokens=100, **PRICES))
    assert options == {"max_tokens": 50}
    assert role.ready({"max_tokens": 80}).options == {"max_tokens": 80}
    assert _bound(role, options) < _bound(wide, {"max_tokens": 100})


def _bound(role: sw.ModelRole, options: dict[str, Any]) -> float:
    bound = role.bound_usd([HumanMessage("hi")], options)
    assert bound is not None
    return bound


@pytest.mark.parametrize("wanted", [-1, 0, None, "many"])
def test_limit_that_limits_nothing_is_none(wanted: Any) -> None:
    """Some servers take -1 for no limit at all."""
    limited = sw.ModelRole(name="m", model=ScriptedModel.of(), max_output_tokens=100, **PRICES)
    free = sw.ModelRole(name="m", model=ScriptedModel.of(), **PRICES)
    assert limited.ready({"max_tokens": wanted}).options == {"max_tokens": 100}
    assert free.bound_usd([HumanMessage("hi")], free.ready({"max_tokens": wanted}).options) is None


def test_bound_limit_alone_serves_a_money_fuse(drive: Drive) -> None:
    """A role without a limit of its own is bounded by what is bound to its model."""
    bound: Any = ScriptedModel.of("bye").bind(max_tokens=50)
    role = sw.ModelRole(name="voice", model=bound, **PRICES)
    assert drive(talk(role, policy=policy("one_cent"))).start({}).status == "completed"


def test_tools_bound_to_the_model_stay_with_those_of_the_call(drive: Drive) -> None:
    """`bind_tools` of the governed model gives the tools of the call, under which the role's options lie."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"said": [(await run.model().bind_tools([]).ainvoke("hi")).text]}

    model = Watching.of("bye")
    drive(talk(model.bind(seed=7), do=act)).start({})
    assert model.seen == [{"stop": None, "seed": 7, "tools": []}]
