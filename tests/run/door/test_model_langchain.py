"""What LangChain does around a model's calls holds for the governed one, save its caches, which would pass the door."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.globals import get_llm_cache, set_llm_cache
from langchain_core.rate_limiters import BaseRateLimiter

import stateward as sw
from stateward.errors import DefinitionError
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven, policy
from tests.charts.spoken import Spoken
from tests.charts.talk import say, say_sync, talk

Drive = Callable[..., Driven]


async def ask_twice(state: Any, run: sw.Run[Any]) -> Any:
    """The same prompt again, which a cache would answer."""
    return {"said": [(await run.model().ainvoke("hi")).text, (await run.model().ainvoke("hi")).text]}


def ask_twice_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"said": [run.model().invoke("hi").text, run.model().invoke("hi").text]}


async def hear_twice(state: Any, run: sw.Run[Any]) -> Any:
    return {"said": ["".join([chunk.text async for chunk in run.model().astream("hi")]) for _ in range(2)]}


def hear_twice_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"said": ["".join(chunk.text for chunk in run.model().stream("hi")) for _ in range(2)]}


PAIRS = pytest.mark.parametrize("do", [ask_twice, ask_twice_sync, hear_twice, hear_twice_sync])


# -- caches ---------------------------------------------------------------------------------------------------


@pytest.fixture
def cached() -> Iterator[InMemoryCache]:
    """LangChain's global cache, for the time of a test."""
    before, cache = get_llm_cache(), InMemoryCache()
    set_llm_cache(cache)
    yield cache
    set_llm_cache(before)


@PAIRS
def test_global_cache_answers_no_call(cached: InMemoryCache, drive: Drive, do: Any) -> None:
    """Each call is made and journaled, whatever was said to the same words before."""
    driven = drive(talk(ScriptedModel.of("one", "bye"), do=do))
    assert driven.start({}).values["said"] == ["one", "bye"]
    assert [entry.key.call for entry in driven.session.database.journal.entries("s1")] == [1, 2]
    assert driven.session.row().turns == 2
    assert vars(cached)["_cache"] == {}


@pytest.mark.parametrize("do", [say, say_sync])
def test_two_roles_share_no_cached_answer(cached: InMemoryCache, drive: Drive, do: Any) -> None:
    """The second model is asked, though the first was asked the same."""
    drive(talk(ScriptedModel.of("bye"), do=do), session="a").start({})
    second = ScriptedModel.of("other", "bye")
    assert drive(talk(second, do=do), session="b").start({}).values["said"] == ["other", "bye"]


@PAIRS
def test_fuse_counts_what_a_global_cache_could_answer(cached: InMemoryCache, drive: Drive, do: Any) -> None:
    """The third turn under a fuse of two is never made."""
    model = ScriptedModel.of("one", "two", "three")
    outcome = drive(talk(model, do=do, policy=policy("two_turns"))).start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.turns")
    assert len(model.calls) == 2


class Crash(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("sync", [False, True])
def test_activity_entered_again_makes_the_same_calls_under_a_global_cache(
    cached: InMemoryCache, drive: Drive, sync: bool
) -> None:
    """A call that a cache had answered would be missing from the journal the second time."""
    left = [1]

    def end(said: list[str]) -> Any:
        if left:
            left.pop()
            raise Crash
        return {"said": said}

    def act(state: Any, run: sw.SyncRun[Any]) -> Any:
        return end(ask_twice_sync(state, run)["said"])

    async def aact(state: Any, run: sw.Run[Any]) -> Any:
        return end((await ask_twice(state, run))["said"])

    model = ScriptedModel.of("one", "bye")
    driven = drive(talk(model, do=act if sync else aact))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().values["said"] == ["one", "bye"]
    assert len(model.calls) == 2


@pytest.mark.parametrize("cache", [True, InMemoryCache()])
@pytest.mark.parametrize("as_role", [False, True])
def test_model_with_a_cache_is_refused(cache: Any, as_role: bool) -> None:
    """It would be left out unseen, so it is told at compile."""
    model = ScriptedModel(cache=cache)
    with pytest.raises(DefinitionError, match=r"has a cache.*models\['voice'\].*journal"):
        talk(sw.ModelRole(name="voice", model=model) if as_role else model)


def test_model_without_a_cache_is_taken() -> None:
    """`False` says what holds anyway."""
    assert talk(ScriptedModel(cache=False)).machine.roles["voice"].model.cache is False


# -- callbacks, tags, metadata, rate limits -------------------------------------------------------------------


class Listener(BaseCallbackHandler):
    """Keeps what it is told."""

    run_inline = True

    def __init__(self) -> None:
        self.told: list[str] = []
        self.tags: list[Any] = []
        self.metadata: list[Any] = []

    def on_chat_model_start(self, *args: Any, tags: Any = None, metadata: Any = None, **kwargs: Any) -> None:
        self.told.append("start")
        self.tags.append(tags)
        self.metadata.append(metadata)

    def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        self.told.append("end")


class Turnstile(BaseRateLimiter):
    """Lets everyone through, and counts them."""

    def __init__(self) -> None:
        self.passed = 0

    def acquire(self, *, blocking: bool = True) -> bool:
        self.passed += 1
        return True

    async def aacquire(self, *, blocking: bool = True) -> bool:
        return self.acquire(blocking=blocking)


@PAIRS
def test_callbacks_of_the_model_hear_each_call_once(drive: Drive, do: Any) -> None:
    """With the tags and the metadata that the model was made with."""
    ear = Listener()
    drive(talk(Spoken.of("bye", callbacks=[ear], tags=["ours"], metadata={"team": "desk"}), do=do)).start({})
    assert ear.told == ["start", "end"] * 2
    assert all("ours" in tags for tags in ear.tags)
    assert [metadata["team"] for metadata in ear.metadata] == ["desk", "desk"]


@PAIRS
def test_rate_limit_of_the_model_is_kept_once_for_each_call(drive: Drive, do: Any) -> None:
    """Whether it speaks in one piece or in chunks."""
    gate = Turnstile()
    drive(talk(Spoken.of("bye", rate_limiter=gate), do=do)).start({})
    assert gate.passed == 2


@pytest.mark.parametrize("do", [say, say_sync])
def test_callbacks_of_a_model_with_options_are_kept(drive: Drive, do: Any) -> None:
    """What `bind` wraps is still the model."""
    ear = Listener()
    bound: Any = Spoken.of("bye", callbacks=[ear]).bind(seed=7)
    drive(talk(bound, do=do)).start({})
    assert ear.told == ["start", "end"]


def test_output_version_of_the_model_holds(drive: Drive) -> None:
    """Content in standard blocks, for who asked for it; what was said is journaled as it was said."""
    seen: list[Any] = []

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        reply = await run.model().ainvoke("hi")
        seen.append(reply.content)
        return {"said": [reply.text]}

    drive(talk(Spoken.of("bye", output_version="v1"), do=act)).start({})
    assert seen == [[{"type": "text", "text": "bye"}]]
