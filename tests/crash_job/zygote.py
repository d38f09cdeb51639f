"""Runs one process of the support desk for every line of standard input; the imports are paid once.

`python -m tests.crash_job.zygote`; a line is the JSON of `forks.Life` (one session, driven to its end) or of
`forks.Command` (the real command line). The child is a process of its own, killed with SIGKILL where the line says. The
answer is JSON: `status`, negative for a signal, and `began`, in seconds since the epoch.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stateward import cli
from tests.crash.fork import only
from tests.crash_job.life import Living


def command(line: Mapping[str, Any]) -> int:
    """Be `stateward` for one command, with its output in files."""
    out = Path(line["out"])
    with out.open("w", encoding="utf-8") as told, out.with_suffix(".err").open("w", encoding="utf-8") as complained:
        sys.stdout, sys.stderr = told, complained
        sys.argv = ["stateward", *line["words"]]
        try:
            cli.main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def main() -> None:
    """Serve until standard input ends."""
    living = Living()
    for text in sys.stdin:
        line = json.loads(text)
        began = time.time()
        child = os.fork()
        if child == 0:
            only(lambda line=line: command(line) if "words" in line else living.live(line))
        timers = [threading.Timer(after_s, os.kill, (child, sent)) for after_s, sent in _signals(line)]
        for timer in timers:
            timer.start()
        _, status = os.waitpid(child, 0)
        for timer in timers:
            timer.cancel()
            timer.join()
        print(json.dumps({"status": os.waitstatus_to_exitcode(status), "began": began}), flush=True)


def _signals(line: Mapping[str, Any]) -> Iterator[tuple[float, signal.Signals]]:
    if line.get("kill_after_s") is not None:
        yield line["kill_after_s"], signal.SIGKILL
    if line.get("stall") is not None:
        after_s, for_s = line["stall"]
        yield after_s, signal.SIGSTOP
        yield after_s + for_s, signal.SIGCONT


if __name__ == "__main__":
    main()
