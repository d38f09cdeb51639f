"""The threads that blocking code runs in."""

from __future__ import annotations

import asyncio
import contextvars
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from stateward.run.threads import LoopThreads, Pool, Threads

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What hanging work waits for; it is let go at the end."""
    event = threading.Event()
    yield event
    event.set()


def hang(begun: threading.Event, release: threading.Event) -> None:
    begun.set()
    release.wait()


def fill(pool: Pool, release: threading.Event) -> None:
    """Hang every thread of a pool."""
    for _ in range(pool.limit):
        begun = threading.Event()
        pool.submit(hang, begun, release)
        begun.wait()


def test_result_comes_back() -> None:
    """With the arguments given."""
    assert Pool("p", limit=1).submit(divmod, 7, 2).result() == (3, 1)


def test_threads_see_the_callers_context() -> None:
    """Whatever the thread did before."""
    pool = Pool("p", limit=1)
    seen: list[str] = []
    for value in ("one", "two"):
        VARIABLE.set(value)
        seen.append(pool.submit(VARIABLE.get).result())
    assert seen == ["one", "two"]


class Signal(BaseException):
    """No Exception."""


@pytest.mark.parametrize(("kind", "raised"), [(KeyError, KeyError), (Signal, Signal), (StopIteration, RuntimeError)])
def test_what_work_raises_is_raised_where_it_is_awaited(kind: type[BaseException], raised: type[BaseException]) -> None:
    """A StopIteration too, which no awaitable can raise; and the thread lives on."""
    pool = Pool("p", limit=1)

    def fail() -> None:
        raise kind

    async def main() -> None:
        with pytest.raises(raised):
            await pool.run(fail)

    asyncio.run(main())
    assert pool.submit(int).result() == 0


def test_threads_are_daemons() -> None:
    """The process ends although one hangs."""
    assert Pool("p", limit=1).submit(lambda: threading.current_thread().daemon).result()


def test_idle_thread_is_used_again() -> None:
    """Starting one costs more than the work."""
    pool = Pool("p", limit=8)
    first = pool.submit(threading.get_ident).result()
    wait_for(lambda: pool.idle == 1)
    assert pool.submit(threading.get_ident).result() == first


def wait_for(condition: Callable[[], object]) -> None:
    """Give other threads their turn until something holds."""
    pause = threading.Event()
    while not condition():
        pause.wait(0.001)


def test_idle_thread_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pool holds on to threads it does not need."""
    monkeypatch.setattr("stateward.run.threads.IDLE_S", 0.001)
    pool = Pool("ends-when-idle", limit=2)
    pool.submit(int).result()
    wait_for(lambda: all(thread.name != pool.name for thread in threading.enumerate()))
    assert pool.submit(int).result() == 0


def test_work_waits_when_every_thread_hangs(release: threading.Event) -> None:
    """The limit holds; a thread that comes free takes what waits."""
    pool = Pool("p", limit=2)
    fill(pool, release)
    waiting = pool.submit(int)
    assert not waiting.running()
    release.set()
    assert waiting.result() == 0


def test_work_that_was_given_up_before_it_began_never_runs(release: threading.Event) -> None:
    """And it does not pile up behind threads that hang."""
    pool = Pool("p", limit=1)
    fill(pool, release)
    log: list[int] = []
    for number in range(10):
        assert pool.submit(log.append, number).cancel()
    last = pool.submit(log.append, 10)
    assert pool.waiting == 1
    release.set()
    last.result()
    assert log == [10]


def test_many_callers_lose_nothing() -> None:
    """Threads of several callers hand in work at once."""
    pool = Pool("p", limit=3)
    callers = Pool("callers", limit=8)
    rounds = [callers.submit(lambda: [pool.submit(int, n).result() for n in range(200)]) for _ in range(8)]
    assert all(each.result() == list(range(200)) for each in rounds)
    assert pool.waiting == 0


def test_hung_tools_leave_the_database_alone(release: threading.Event) -> None:
    """Each kind of work has its own threads."""
    threads = Threads(limit=2)
    fill(threads.tools, release)
    fill(threads.activities, release)
    assert threads.database.submit(int).result() == 0


def test_loop_with_daemon_threads_ends_although_one_hangs(release: threading.Event) -> None:
    """asyncio would join them."""

    async def main() -> str:
        loop, begun = asyncio.get_running_loop(), threading.Event()
        loop.set_default_executor(LoopThreads())
        _ = loop.run_in_executor(None, hang, begun, release)
        return await asyncio.to_thread(str, "done")

    assert asyncio.run(main()) == "done"


FORK = """
import os, sys
from stateward.run.threads import Pool

pool = Pool("p", limit=1)
pool.submit(str).result()
pool._lock.acquire()  # another thread may be inside at the very moment
child = os.fork()
if child == 0:
    sys.exit(pool.submit(int, "7").result(timeout=60))
pool._lock.release()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), pool.submit(int, "8").result(timeout=60))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_pool_works_in_a_forked_process() -> None:
    """No thread comes along; the child makes its own."""
    ended = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout.split() == ["7", "8"], ended.stderr
