"""A process that forks one child for every job, so that the imports are paid once.

`python -m tests.crash.zygote` reads a line of JSON for each job: `work` is `module:function`, `given` are
its arguments. It answers with the child's process id, with `stopped` whenever a signal stopped the child, and with the
exit status at the end, negative for a signal.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.crash.fork import only

ROOT = Path(__file__).parents[2]
STOPPED = "stopped"
KILLED = -9


class Zygote:
    """A zygote, and the child it has at the moment."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.crash.zygote"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self, work: str, **given: Any) -> int:
        """Fork a child that does a piece of work.

        Args:
            work: `module:function`.
            given: Its arguments; JSON.

        Returns:
            The child's process id.
        """
        assert self._process.stdin is not None  # it was opened with pipes
        self._process.stdin.write(json.dumps({"work": work, "given": given}) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def wait(self) -> int | None:
        """Wait until the child ends or a signal stops it.

        Returns:
            Its exit status, negative for a signal that ended it; None when it is stopped.
        """
        told = self._line()
        return None if told == STOPPED else int(told)

    def live(self, work: str, **given: Any) -> int:
        """Fork a child and wait for its end; see `begin`.

        Returns:
            Its exit status.
        """
        self.begin(work, **given)
        status = self.wait()
        assert status is not None, f"{work} was stopped"
        return status

    def __enter__(self) -> Zygote:
        """Return the zygote itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise RuntimeError("a zygote ended early; its errors stand above")
        return line


def main() -> None:
    """Serve until standard input ends."""
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # a process that slept finds its connections broken
    for line in sys.stdin:
        job: dict[str, Any] = json.loads(line)
        module, _, name = str(job["work"]).partition(":")
        work = partial(getattr(importlib.import_module(module), name), **job["given"])
        child = os.fork()
        if child == 0:
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the child prints is no answer
            only(work)
        print(child, flush=True)
        while os.WIFSTOPPED(status := os.waitpid(child, os.WUNTRACED)[1]):
            print(STOPPED, flush=True)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
