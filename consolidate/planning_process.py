"""The process that plans a large bank: the question on stdin, the plan on stdout.

It makes hundreds of thousands of objects that all live to the end and form no cycles: to look for cycles among them
is a good part of the time of a large plan and frees nothing.
"""

from __future__ import annotations

import gc
import sys

from consolidate.planning import answer

if __name__ == "__main__":
    gc.disable()
    answer(sys.stdin.buffer, sys.stdout.buffer)
