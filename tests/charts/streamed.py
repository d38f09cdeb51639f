"""Read a session's stream through one of the two ways, to its end or only its first part."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import stateward as sw
from stateward.testing import How

Read = Callable[..., list[Any]]


def parts(session: sw.Session, how: How, *given: Any, **rest: Any) -> list[Any]:
    """Read a stream to its end."""

    async def whole() -> list[Any]:
        return [part async for part in session.astream(*given, **rest)]

    return list(session.stream(*given, **rest)) if how == "sync" else asyncio.run(whole())


def first(session: sw.Session, how: How, *given: Any, leave: str = "close", **rest: Any) -> Any:
    """Read the first part, then leave: by closing the stream, or by forgetting it."""

    async def one() -> Any:
        stream = session.astream(*given, **rest)
        part = await anext(stream)
        if leave == "close":
            await stream.aclose()
        else:
            del stream
        while session.database.leases.held(session.id) is not None:
            await asyncio.sleep(0)
        return part

    if how == "async":
        return asyncio.run(one())
    stream = session.stream(*given, **rest)
    part = next(stream)
    if leave == "close":
        stream.close()
    del stream
    return part
