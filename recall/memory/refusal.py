"""From what the system says to what the caller is told."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recall.memory.errors import DiskFull, StorageFailure

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def refusal(path: Path, action: str, error: OSError) -> StorageFailure:
    """The error for a disk that refuses."""
    kind = DiskFull if error.errno in _FULL else StorageFailure
    return kind(path, action, error.strerror or str(error))


@contextmanager
def refusals(path: Path, action: str) -> Iterator[None]:
    """Raise StorageFailure for every OSError inside, saying what was being done to what."""
    try:
        yield
    except OSError as error:
        raise refusal(path, action, error) from error
