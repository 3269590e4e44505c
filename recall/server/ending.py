"""Waits for the signal that ends the service.

A signal that comes just before the main thread goes to sleep on a lock does not wake it, and Python runs no handler
then: the service would go on for ever. So the byte that the interpreter writes at once, in whichever thread the signal
arrives, is what is waited for.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

_ENDING = (signal.SIGTERM, signal.SIGINT)


def ended_by_signals() -> Callable[[], None]:
    """What returns once SIGTERM or SIGINT came, from now on; the second one ends the process at once.

    For the main thread.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)

    def heard(signum: int, frame: object) -> None:  # noqa: ARG001 - the signature is the system's
        signal.signal(signum, signal.SIG_DFL)

    for signum in _ENDING:
        signal.signal(signum, heard)

    def wait() -> None:
        while reader.recv(1)[0] not in _ENDING:  # the service may have a handler of another signal
            continue
        signal.set_wakeup_fd(-1)
        reader.close()
        writer.close()

    return wait
