"""A signal ends the service wherever in the process it arrives."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_WAITS = """
import signal, sys, threading
from recall.server.ending import ended_by_signals

wait, main = ended_by_signals(), threading.main_thread()

def elsewhere():
    state = ""
    while state != "S":  # until the main thread sleeps
        state = open(f"/proc/self/task/{main.native_id}/stat").read().rpartition(")")[2].split()[0]
    signal.pthread_kill(threading.get_ident(), int(sys.argv[1]))
    threading.Event().wait()

threading.Thread(target=elsewhere, daemon=True).start()
wait()
print("ended", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_another_thread_gets_ends_the_wait(number: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WAITS, str(int(number))], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
