"""Processes for tools that must be killable: started when they are needed, used again, and ended with all they began.

A process that has made its call waits for another one, since a new one has to import everything anew. One that was
killed is gone; one that nobody needs ends by itself (`worker.py`), and so do all when this process has ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any

from stateward.run.door.frame import BEGUN, read_frame, write_frame
from stateward.run.store.per_process import PerProcess

IDLE = 8
"""How many processes are kept that have nothing to do."""
_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from stateward.run.door.worker import serve; serve()"


class Worker:
    """One process, which makes one call at a time."""

    def __init__(self) -> None:
        boot = [sys.executable, "-c", _BOOT, json.dumps(sys.path)]
        self._process = subprocess.Popen(
            boot, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )
        self._close = weakref.finalize(self, _ended, self._process, os.getpid())

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def call(self, request: bytes, *, begun: Callable[[], None]) -> Any:
        """Have it make a call, and wait for what that came to; blocking.

        Args:
            request: A pickled `Request`.
            begun: Told when the tool is called.

        Returns:
            Status and result as JSON; None when the process ended before.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):  # it has ended; its last words may still be in the other pipe
            write_frame(self._process.stdin.fileno(), request)
        while (frame := read_frame(self._process.stdout.fileno())) is not None:
            if frame != BEGUN:
                return json.loads(frame)
            begun()
        return None

    def kill(self) -> None:
        """End it at once, with all that its tool has started; from any thread, and not after `close`."""
        _kill(self._process)

    def close(self) -> int:
        """End it, if it has not, and forget it.

        Returns:
            Its exit code; of a process that was killed the negative number of the signal.
        """
        self._close()
        return self._process.returncode or 0


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _ended(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:
        return  # forked off: it is the parent's
    if process.returncode is None:  # else its number may be another's by now
        _kill(process)
        process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()


class Workers:
    """The processes of one database, or of one graph without a database."""

    def __init__(self) -> None:
        self._idle: PerProcess[list[Worker]] = PerProcess(list[Worker])
        self._lock = Lock()

    @property
    def idle(self) -> tuple[Worker, ...]:
        """Those that wait for a call."""
        return tuple(self._idle.get())

    def take(self) -> tuple[Worker, bool]:
        """Take a process out.

        Returns:
            The process, and whether it was just started: one that has waited may have ended in this moment.
        """
        while True:
            with self._lock:
                idle = self._idle.get()
                worker = idle.pop() if idle else None
            if worker is None:
                return Worker(), True
            if worker.is_alive:
                return worker, False
            worker.close()

    def give_back(self, worker: Worker) -> None:
        """Keep a process for the next call.

        Args:
            worker: One that has made its call.
        """
        with self._lock:
            idle = self._idle.get()
            spare = len(idle) >= IDLE
            if not spare:
                idle.append(worker)
        if spare:
            worker.close()


class Errand:
    """One call that a process makes, and that can be killed.

    Args:
        workers: Where the process comes from.
        request: A pickled `Request`.
    """

    def __init__(self, workers: Workers, request: bytes) -> None:
        self._workers = workers
        self._request = request
        self._worker: Worker | None = None
        self._killed = False
        self._lock = Lock()
        self.began = False
        """Whether the tool was called: it may have acted."""
        self.code: int | None = None
        """The exit code of the process, when it ended before the tool did."""

    def run(self) -> Any:
        """Have the call made; blocking.

        Returns:
            Status and result as JSON; None when the process ended before, or was killed.
        """
        while True:
            worker, is_fresh = self._workers.take()
            came = self._made(worker)
            if came is not None or is_fresh or self.began or self._killed:
                return came

    def _made(self, worker: Worker) -> Any:
        with self._lock:
            if not self._killed:
                self._worker = worker
        if self._worker is None:
            self._workers.give_back(worker)
            return None
        came = None
        try:
            came = worker.call(self._request, begun=self._begun)
        finally:
            with self._lock:
                self._worker = None
            if came is None or self._killed:
                self.code = worker.close()
            else:
                self._workers.give_back(worker)
        return came

    def _begun(self) -> None:
        self.began = True

    def kill(self) -> None:
        """End the call at once, with its process and all that its tool has started; from any thread."""
        with self._lock:
            self._killed = True
            if self._worker is not None:
                self._worker.kill()
