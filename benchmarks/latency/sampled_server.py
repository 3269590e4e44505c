"""The server as it is, with a sampler beside it: ``python -m benchmarks.latency.sampled_server --data … --listen …``.

Samples from SIGUSR1 on, and writes collapsed stacks to the file that the environment variable BENCHMARK_STACKS names,
when it is ended.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from benchmarks.latency.stacks import EVERY_S, StackSampler

STACKS = "BENCHMARK_STACKS"


def main() -> None:
    """Serves until SIGTERM."""
    from recall.commands.serve import serve

    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--listen", required=True)
    told = parser.parse_args()
    sampler = StackSampler()
    signal.signal(signal.SIGUSR1, lambda *_: sampler.start())
    sys.setswitchinterval(EVERY_S / 2)  # a look waits for the interpreter no longer than that
    try:
        serve(told.data, told.listen)
    finally:
        sampler.stop()
        sampler.write(Path(os.environ[STACKS]))


if __name__ == "__main__":
    main()
