"""Tools that run in processes of their own; they tell through a named pipe that they have begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from datetime import date
from typing import Any

import stateward as sw

PIPES = list[Any]()
"""What a process holds open as long as it lives."""


def hold(pipe: str) -> int:
    """Say that the tool has begun; who reads the pipe comes to its end when the process, and what it began, is gone."""
    out = os.open(pipe, os.O_WRONLY)
    os.write(out, f"{os.getpid()}\n".encode())
    return out


@sw.tool(effect="once", process=True)
def hang(pipe: str) -> None:
    """Hang for ever."""
    hold(pipe)
    threading.Event().wait()


@sw.tool(effect="idempotent", process=True)
def hang_again(pipe: str) -> None:
    """Hang for ever."""
    hold(pipe)
    threading.Event().wait()


@sw.tool(effect="once", process=True)
def hang_below(pipe: str) -> None:
    """Wait for ever for a process of its own."""
    waits = [sys.executable, "-c", "import threading; threading.Event().wait()"]
    subprocess.run(waits, pass_fds=[hold(pipe)], check=True)


@sw.tool(effect="pure", process=True)
def whereabouts(day: date, *, ctx: sw.ToolContext) -> dict[str, Any]:
    """Say where and for whom it runs."""
    print("noise")
    return {"pid": os.getpid(), "year": day.year, "session": ctx.session}


@sw.tool(effect="once", process=True)
def die(code: int) -> None:
    """Take its process along."""
    os.kill(os.getpid(), signal.SIGKILL) if code < 0 else os._exit(code)


@sw.tool(effect="once", process=True)
def fail(kind: str) -> Any:
    """Raise, or return what cannot be kept."""
    if kind == "bytes":
        return b"%PDF\xff"
    raise {"key": KeyError, "exit": SystemExit}[kind]("x")
