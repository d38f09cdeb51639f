"""A llama.cpp server in a process of its own: `python serve.py WEIGHTS`.

It chooses a free port, prints its address, and ends with its standard input, so that none is left behind.
"""

from __future__ import annotations

import sys
from typing import Any

import xllamacpp


def main(weights: str) -> None:
    """Serve until standard input ends.

    Args:
        weights: The model's GGUF file.
    """
    library: Any = xllamacpp  # Any: it has no types
    options = library.CommonParams()
    options.model.path = weights
    options.hostnames = ["127.0.0.1"]
    options.port = 0
    options.n_ctx = 8192
    options.n_parallel = 2
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    options.warmup = False
    options.offline = True
    server = library.Server(options)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
