"""An event loop in a thread of ours, from its beginning to its end.

It ends as that of `asyncio.run` does, but for one thing: `asyncio.run` starts a thread to wait for the threads of the
loop's executor. Those of ours are waited for by nobody (see `LoopThreads`), and that thread was a third of what a loop
costs that lives for one call of a graph.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from stateward.run.threads import LoopThreads


@contextmanager
def private_loop() -> Generator[asyncio.AbstractEventLoop]:
    """Lend a loop to this thread; then end what was left on it, and the loop.

    Yields:
        The loop, not running.
    """
    loop = asyncio.new_event_loop()
    try:
        loop.set_default_executor(LoopThreads())
        yield loop
    finally:
        try:
            _cancel_all(loop)
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    for task in left:
        failed = None if task.cancelled() else task.exception()
        if failed is not None:
            said = "unhandled exception at the end of the loop"
            loop.call_exception_handler({"message": said, "exception": failed, "task": task})
