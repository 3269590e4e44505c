"""The process that plans a large bank: the question on stdin, the plan on stdout."""

from __future__ import annotations

import sys

from consolidate.planning import answer

if __name__ == "__main__":
    answer(sys.stdin.buffer, sys.stdout.buffer)
