"""What an activity gets as `run`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import stateward as sw
from stateward.errors import DefinitionError, RunError
from stateward.run.store.database import Database
from stateward.testing import How, ScriptedModel, run_graph
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.talk import talk
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


def told(drive: Drive, tell: Callable[[sw.Run[Any]], Any], **rest: Any) -> Any:
    """Return what an activity learns of its run."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [tell(run)]}

    return drive(compiled(act, **rest)).start({}).values["log"][0]


def test_run_knows_session_path_and_activation(drive: Drive) -> None:
    """Enough to name a file by."""
    assert told(drive, lambda run: [run.session, run.path, run.activation]) == ["s1", "WORK.ACT", 1]


def test_run_knows_its_tenant(how: How, database: Database) -> None:
    """`tenant` of the config's `configurable`."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"text": run.tenant}

    config: Any = {"configurable": {"thread_id": "t", "tenant": "acme"}}
    assert run_graph(compiled(act).attach(database), {}, how=how, config=config)["text"] == "acme"
    assert database.sessions.get("t").tenant == "acme"


def test_remaining_counts_down(drive: Drive) -> None:
    """What is left of each limit, before and after a call."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        before = dict(run.remaining)
        await run.tool("lookup", order="A")
        return {"log": [before, dict(run.remaining)]}

    driven = drive(compiled(act, box=Shop().box, policy=policy("three_calls")))
    assert driven.start({}).values["log"] == [{"calls": 3.0}, {"calls": 2.0}]


def test_store_is_the_databases(drive: Drive) -> None:
    """Long-term memory beside the session."""

    def act(state: Any, run: sw.SyncRun[Any]) -> Any:
        run.store.put(("notes",), "a", {"text": "kept"})
        return {"text": run.store.get(("notes",), "a").value["text"]}

    assert drive(compiled(act)).start({}).values["text"] == "kept"


def test_missing_store_is_named(how: How) -> None:
    """A graph without one says so."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"text": str(run.store)}

    with pytest.raises(RunError, match="no store"):
        run_graph(compiled(act), {"text": "x"}, how=how)


def test_undeclared_role_is_refused(drive: Drive) -> None:
    """A state may use the role it declares, and no other."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        run.model("other")

    with pytest.raises(DefinitionError, match="other"):
        drive(talk(ScriptedModel.of("bye"), do=act)).start({})


def test_role_nobody_configured_is_named(drive: Drive) -> None:
    """The message lists the configured ones."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        run.model()

    with pytest.raises(DefinitionError, match="Nobody configured"):
        drive(compiled(act, model="voice")).start({})


def test_event_raised_by_type_is_taken(drive: Drive) -> None:
    """A typed event is an event by its name."""

    class Help(sw.Event):
        """Ask for help."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        run.raise_event(Help())

    assert drive(compiled(act, handles=["help"])).start({}).path == "HELP"


def test_events_of_a_refused_attempt_are_forgotten(drive: Drive) -> None:
    """A gate that sends an output back sends its events back too."""
    from pydantic import BaseModel, Field

    class Long(BaseModel):
        text: str = Field(min_length=3)

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        if run.attempt == 1:
            run.raise_event("help")
        return {"text": "abc" if run.attempt > 1 else "a"}

    assert drive(compiled(act, output=sw.Gate(Long), handles=["help"])).start({}).status == "completed"


def test_calls_are_numbered_over_attempts(drive: Drive) -> None:
    """A second attempt of a gate makes new calls, not repeated ones."""
    shop = Shop()

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("lookup", order=str(run.attempt))
        return {"number": run.attempt}

    from pydantic import BaseModel, Field

    class Second(BaseModel):
        number: int = Field(ge=2)

    drive(compiled(act, box=shop.box, output=sw.Gate(Second))).start({})
    assert shop.done("lookup") == ["1", "2"]


@pytest.mark.parametrize("given", [3, None, sw.Event, [], {"name": "help"}])
@pytest.mark.parametrize("after_s", [None, 1.0])
def test_what_is_no_event_cannot_be_raised(drive: Drive, given: Any, after_s: float | None) -> None:
    """The class of an event among it: it says nothing of what happened."""

    def act(state: Any, run: sw.SyncRun[Any]) -> None:
        run.raise_event(given, after_s=after_s)

    with pytest.raises(DefinitionError, match=r"no event that could happen.*\(at .*\)"):
        drive(compiled(act)).start({})


@pytest.mark.parametrize("after_s", [None, 1.0])
def test_id_of_an_event_is_a_text(drive: Drive, after_s: float | None) -> None:
    """None is not the same as none given."""

    def act(state: Any, run: sw.SyncRun[Any]) -> None:
        run.raise_event("help", after_s=after_s, id=None)  # pyright: ignore[reportArgumentType]

    with pytest.raises(ValueError, match="id"):
        drive(compiled(act)).start({})


@sw.tool(effect="pure")
def exits(query: str) -> str:
    """Look something up."""
    raise GeneratorExit


@sw.tool(effect="pure")
async def aexits(query: str) -> str:
    """Look something up."""
    raise GeneratorExit


async def calls_exits(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("exits", query="x")).status]}


async def calls_aexits(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("aexits", query="x")).status]}


def sync_calls_aexits(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("aexits", query="x").status]}


def raises_exit(state: Any) -> None:
    raise GeneratorExit


async def araises_exit(state: Any) -> None:
    raise GeneratorExit


@pytest.mark.parametrize("do", [calls_exits, calls_aexits, sync_calls_aexits, raises_exit, araises_exit])
def test_generator_exit_of_a_tool_or_an_activity_is_an_error_like_others(drive: Drive, do: Any) -> None:
    """It closes no generator of ours or of LangGraph's: the run goes on, or ends, and the session is free."""
    driven = drive(compiled(do, box=[exits, aexits]))
    is_activity = do in (raises_exit, araises_exit)
    with pytest.raises(RunError, match="GeneratorExit") if is_activity else nullcontext():
        driven.start({})
    outcome, database = driven.session.outcome(), driven.session.database
    assert (outcome.status, outcome.values.get("log")) == (("failed", []) if is_activity else ("completed", ["failed"]))
    assert (database.leases.held("s1"), database.registry.list()) == (None, ())
