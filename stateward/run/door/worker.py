"""The process that runs the tools which must be killable: it reads calls and writes what they came to.

Its standard input and output are the pipes to its parent; what a tool prints goes to standard error. It leads a process
group of its own, so that a Ctrl-C meant for its parent does not meet it, and so that it can be ended together with what
its tool has started. When its parent is gone, however that ended, so is it.
"""

from __future__ import annotations

import os
import pickle
import signal
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from stateward.run.door.address import found, prepare
from stateward.run.door.frame import BEGUN, Request, read_frame, write_frame
from stateward.run.door.outcome import Outcome, failed, kept
from stateward.run.door.tool import Tool
from stateward.run.store.json_text import write_json

IDLE_S = 60.0
"""How long it waits for another call before it ends, in seconds."""


def serve() -> None:
    """Make the calls that come, one after the other, until none has come for a while."""
    requests, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    came: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(requests, came), daemon=True).start()
    while True:
        try:
            frame = came.get(timeout=IDLE_S)
        except Empty:
            return
        _answer(pickle.loads(frame), answers)


def _listen(requests: int, came: SimpleQueue[bytes]) -> None:
    while (frame := read_frame(requests)) is not None:
        came.put(frame)
    _end()


def _end() -> None:
    """End with what the tool has started: the parent is gone."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _answer(request: Request, answers: int) -> None:
    outcome = _made(request, answers)
    plain = {"status": outcome.status, "result": outcome.result}
    write_frame(answers, write_json(plain, where=f"the result of `{request.name}`").encode())


def _made(request: Request, answers: int) -> Outcome:
    try:
        prepare(request.address)
        at_hand = found(request.address)
        fn: Any = at_hand.fn if isinstance(at_hand, Tool) else at_hand
        arguments: dict[str, Any] = pickle.loads(request.load)
        write_frame(answers, BEGUN)
        return kept(request, fn(**arguments))
    except BaseException as error:  # noqa: BLE001  # told to the parent: it is the call's outcome
        return failed(request, error)
