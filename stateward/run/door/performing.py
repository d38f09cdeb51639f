"""A call of a tool while it is made: on the loop, in a thread, or in a process of its own."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from stateward.run.deadline import GRACE_S, Late, in_time, thread_in_time
from stateward.run.door.address import Address
from stateward.run.door.frame import Request
from stateward.run.door.outcome import Outcome, failed, kept, lost, timed_out
from stateward.run.door.process import Errand
from stateward.run.door.straggler import Stragglers
from stateward.run.door.tool import Tool
from stateward.run.threads import Threads


@dataclass(frozen=True, slots=True, kw_only=True)
class Performers:
    """Where the tools of an activation run."""

    threads: Threads
    stragglers: Stragglers
    """Of the graph's call; cancelled, a sync tool goes on there."""


async def performed(
    tool: Tool,
    given: Mapping[str, Any],
    performers: Performers,
    *,
    where: str,
    timeout_s: float | None,
) -> Outcome:
    """Make a call.

    Args:
        tool: What is called.
        given: What its function is called with, by name.
        performers: Where it runs.
        where: The path of the state that calls.
        timeout_s: Seconds, more than 0; None for no limit.

    Returns:
        What it came to.
    """
    what = f"the tool `{tool.name}` of `{where}`"
    pool, stragglers = performers.threads.tools, performers.stragglers
    try:
        if tool.address is not None:
            errand = Errand(performers.threads.processes, _request(tool.name, tool.address, given))
            stragglers.begun(job := pool.submit(errand.run), what)
            return await _run(tool, errand, job, timeout_s=timeout_s)
        if tool.is_async:
            value = await in_time(partial(tool.fn, **given), timeout_s=timeout_s)
        else:
            work = partial(tool.fn, **given)
            value = await thread_in_time(pool, work, timeout_s=timeout_s, stragglers=stragglers, what=what)
    except Exception as error:  # noqa: BLE001  # recorded: it is the call's outcome
        return failed(tool, error)
    return timed_out(tool, began=value.began) if isinstance(value, Late) else kept(tool, value)


def _request(name: str, address: Address, given: Mapping[str, Any]) -> bytes:
    return pickle.dumps(Request(name=name, address=address, load=pickle.dumps(dict(given))))


async def _run(tool: Tool, errand: Errand, job: Future[Any], *, timeout_s: float | None) -> Outcome:
    """Wait for a process, which is killed when the time is over or nobody waits any more."""
    running = asyncio.wrap_future(job)
    try:
        done, _ = await asyncio.wait((running,), timeout=timeout_s)
    except asyncio.CancelledError:
        await _killed(errand, job, running)
        raise
    if not done:
        await _killed(errand, job, running)
        return timed_out(tool, began=errand.began)
    came = running.result()
    if came is None:
        return lost(tool, began=errand.began, code=errand.code)
    return Outcome(status=came["status"], result=came["result"], spent={})


async def _killed(errand: Errand, job: Future[Any], running: asyncio.Future[Any]) -> None:
    if job.cancel():
        return
    errand.kill()
    await asyncio.wait((running,), timeout=GRACE_S)
    _ = running.done() and not running.cancelled() and running.exception()  # so that it is not reported as forgotten
