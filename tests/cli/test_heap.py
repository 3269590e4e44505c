"""The server's heap: a large block is a mapping of its own, also after larger ones were let go."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROBE = """
import ctypes
from recall.commands.heap import give_large_blocks_back

def resident_pages():
    return int(open("/proc/self/statm").read().split()[1])

told = give_large_blocks_back()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
libc.free(libc.malloc(16 << 20))  # glibc by itself raises the size to this
before = resident_pages()
block = libc.malloc(4 << 20)
ctypes.memset(block, 1, 4 << 20)
libc.malloc(1 << 19)  # lies above the block where that is part of the heap, which then cannot shrink
libc.free(block)
print(told, resident_pages() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc")
@pytest.mark.parametrize(("variables", "told"), [({}, "True"), ({"MALLOC_MMAP_THRESHOLD_": "33554432"}, "False")])
def test_a_large_block_goes_back_when_it_is_let_go(variables: dict[str, str], told: str) -> None:
    ran = subprocess.run([sys.executable, "-c", PROBE], env=variables, capture_output=True, text=True, check=True)
    said, pages = ran.stdout.split()
    assert said == told
    assert (int(pages) < 512) == (told == "True")  # of the 1,024 pages of the block
