"""Who holds a lease: a name that tells, on the same machine, whether its process still lives.

A holder is `boot:namespace:pid:start:nonce`. Boot id and pid namespace say whether this process can judge;
the start time tells a process from a later one with the same pid; the nonce tells two databases opened by
one process apart. Where `/proc` is missing, a process is judged by its pid alone, and an elder one with the
same pid counts as alive: the lease then ends with its time to live.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

_PROC = Path("/proc")


def new_holder() -> str:
    """Name this process as holder, with a fresh nonce."""
    pid = os.getpid()
    return f"{_host()}:{_namespace()}:{pid}:{_start_time(pid) or 0}:{uuid.uuid4().hex[:8]}"


def is_dead(holder: str) -> bool:
    """Say whether a holder is known to be dead.

    Args:
        holder: A name made by `new_holder`, perhaps on another machine.

    Returns:
        True when its process ran on this machine and is gone; False when it lives or cannot be judged from
        here.
    """
    parts = holder.split(":")
    if len(parts) != 5 or parts[0] != _host() or parts[1] != _namespace() or not parts[2].isdigit():
        return False
    pid = int(parts[2])
    if (_PROC / "self" / "stat").exists():
        return _start_time(pid) != parts[3]
    return not _answers(pid)


def _host() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return f"{uuid.getnode():x}"


def _namespace() -> str:
    try:
        return str((_PROC / "self/ns/pid").stat().st_ino)
    except OSError:
        return "0"


def _start_time(pid: int) -> str | None:
    """Return the start time of a running process in clock ticks since boot; None when it is gone or a
    zombie."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command name may hold spaces and parentheses: the fields begin after the last one.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZXx" else fields[19]


def _answers(pid: int) -> bool:
    if os.name == "nt":
        return True  # Signal 0 is Ctrl-C there.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
