"""The crew: tasks by state and activation, taken in the order in which they ended, stopped without a trace."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any

from stateward.run.deadline import GRACE_S
from stateward.run.hub.crew import Crew, Key, Raised
from tests.charts.beside import Gate


async def pass_by(gate: Gate, result: object) -> object:
    await gate.wait()
    if isinstance(result, BaseException):
        raise result
    return result


def begin(crew: Crew, key: Key, gate: Gate, result: object = None) -> None:
    crew.begin(key, lambda: pass_by(gate, result), context=copy_context())


def run(main: Coroutine[Any, Any, Any]) -> Any:
    """Run it, and say which tasks are left."""

    async def whole() -> tuple[Any, set[Any]]:
        returned = await main
        return returned, asyncio.all_tasks() - {asyncio.current_task()}

    return asyncio.run(whole())


async def take_all(crew: Crew, count: int) -> list[tuple[Key, object]]:
    taken: list[tuple[Key, object]] = []
    while len(taken) < count:
        done = crew.take()
        if done is None:
            await crew.wait(None)
        else:
            taken.append(done)
    return taken


def test_what_ended_together_is_taken_in_document_order() -> None:
    """By state, whichever task ran first."""

    async def main() -> list[Key]:
        crew, gate = Crew(), Gate()
        for state in (3, 1, 2):
            begin(crew, (state, 1), gate)
        await asyncio.sleep(0)
        gate.open()
        return [key for key, _ in await take_all(crew, 3)]

    assert run(main()) == ([(1, 1), (2, 1), (3, 1)], set())


def test_what_ended_first_is_taken_first() -> None:
    """Also when it is taken later than something else has ended."""

    async def main() -> list[Key]:
        crew, early, late = Crew(), Gate(), Gate()
        begin(crew, (2, 1), early)
        begin(crew, (3, 1), early)
        begin(crew, (1, 1), late)
        early.open()
        first = await take_all(crew, 1)
        late.open()
        for _ in range(5):
            await asyncio.sleep(0)
        return [key for key, _ in [*first, *await take_all(crew, 2)]]

    assert run(main()) == ([(2, 1), (3, 1), (1, 1)], set())


def test_what_is_raised_is_a_result() -> None:
    """Even what would bring down the loop."""

    async def main() -> object:
        crew, gate = Crew(), Gate()
        gate.open()
        begin(crew, (1, 1), gate, SystemExit("out"))
        ((_, result),) = await take_all(crew, 1)
        return result

    result, left = run(main())
    assert (isinstance(result, Raised), str(result.error), left) == (True, "out", set())


def test_stopped_activity_is_gone_and_has_no_result() -> None:
    """Another activation of its state is another activity."""

    async def main() -> tuple[bool, bool, object]:
        crew, gate = Crew(), Gate()
        begin(crew, (1, 1), gate)
        begin(crew, (1, 2), gate, "second")
        await asyncio.sleep(0)
        await crew.stop([(1, 1)])
        gate.open()
        ((_, result),) = await take_all(crew, 1)
        return (1, 1) in crew, (1, 2) in crew, result

    assert run(main()) == ((False, False, "second"), set())


def test_what_ended_and_was_not_taken_can_be_stopped() -> None:
    """It counts as if it had not ended."""

    async def main() -> object:
        crew, gate = Crew(), Gate()
        gate.open()
        begin(crew, (1, 1), gate)
        await crew.wait(None)
        await crew.stop([(1, 1)])
        return crew.take()

    assert run(main()) == (None, set())


def test_others_are_those_nobody_named() -> None:
    """Which is how one learns what a step has left behind."""

    async def main() -> list[Key]:
        crew = Crew()
        begin(crew, (1, 1), Gate())
        begin(crew, (2, 1), Gate())
        others = crew.others({(1, 1)})
        await crew.end()
        return others

    assert run(main()) == ([(2, 1)], set())


def test_result_of_another_place_waits_to_be_taken() -> None:
    """A sync activity that ran in the node itself."""

    async def main() -> object:
        crew = Crew()
        await crew.put((1, 1), "result")
        return crew.take()

    assert run(main()) == (((1, 1), "result"), set())


def test_wait_ends_with_its_time_or_when_somebody_wakes_it() -> None:
    """Nothing need have ended."""

    async def main() -> object:
        crew = Crew()
        await crew.wait(0.001)
        asyncio.get_running_loop().call_soon(crew.wake)
        await crew.wait(None)
        return crew.take()

    assert run(main()) == (None, set())


def test_activity_that_swallows_its_cancellation_is_left_behind() -> None:
    """The run goes on after a grace; else this would never end."""

    async def main() -> float:
        release = asyncio.Event()

        async def stubborn() -> None:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        crew, loop = Crew(), asyncio.get_running_loop()
        crew.begin((1, 1), stubborn, context=copy_context())
        await asyncio.sleep(0)
        begun = loop.time()
        await crew.end()
        taken = loop.time() - begun
        release.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return taken

    taken, _ = run(main())
    assert taken >= GRACE_S
