"""Recall's server, with the table in place of a model: ``python -m benchmarks.peers.table_server --data … --listen …``.

The environment variable BENCHMARK_PREPARED names the prepared corpus.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from benchmarks.peers.table import TableLoader
from index.embedder import EmbedderSlot

PREPARED = "BENCHMARK_PREPARED"


def main() -> None:
    """Serves until SIGTERM."""
    from recall.commands.serve import one_native_thread_a_call

    one_native_thread_a_call()
    from recall.commands.serve import serve
    from recall.server import app

    slot = partial(EmbedderSlot, loader=TableLoader(Path(os.environ[PREPARED])))
    setattr(app, "EmbedderSlot", slot)  # noqa: B010 - the assembly has no seam for it
    data, listen = _flags()
    serve(data, listen)


def _flags() -> tuple[str, str]:
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--listen", required=True)
    told = parser.parse_args()
    return told.data, told.listen


if __name__ == "__main__":
    main()
