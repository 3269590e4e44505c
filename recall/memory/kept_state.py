"""The state image of one bank on disk: when it is written, and how a start uses it.

It lies under `derived`, costs nothing but time when it is lost, spoilt or refused by the disk, and goes where the bank
goes. A bank that was opened from it has events that nobody verified since: see `verify`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

from recall.memory.chain import verify_chain
from recall.memory.errors import Damaged, MemoryServiceError
from recall.memory.files import Files
from recall.memory.log_seam import NotThisLog
from recall.memory.opening import Opened, open_bank, resume_bank
from recall.memory.place import Outfit, Place
from recall.memory.settings import StorageSettings
from recall.memory.state_image import ImageError, StateImage, decoded

if TYPE_CHECKING:
    from recall.memory.bank import Bank

DERIVED = "derived"
NAME = "state.image"
_logger = logging.getLogger(__name__)


class KeptState:
    """Of one bank. Safe in any thread."""

    def __init__(self, place: Place, outfit: Outfit, steady: AbstractContextManager[object], held: int) -> None:
        """`steady`: inside, the state does not change. `held`: the last event of the image that lies there."""
        self._folder = place.folder / DERIVED
        self._file = self._folder / NAME
        self._files = outfit.files
        self._settings = outfit.settings
        self._steady = steady
        self._held = held
        self._writing = threading.Lock()

    def keep(self, bank: Bank) -> None:
        """Write the image of a bank in use anew once it has grown enough beyond the last one."""
        opened = bank.opened_now()
        if opened is not None:
            self._keep(opened, max(self._settings.image_events, self._settings.image_share * opened.state.last_seq))

    def keep_last(self, opened: Opened) -> None:
        """The same of a bank that closes or is about to, for whose next start it is worth more."""
        self._keep(opened, self._settings.image_events)

    def _keep(self, opened: Opened, least: float) -> None:
        """In one step; a disk that refuses loses the image and nothing else."""
        with self._writing, suppress(OSError, MemoryServiceError):
            if opened.log.poisoned is not None or opened.state.last_seq - self._held < least:
                return
            image = self.image(opened)
            fresh = self._file.with_name(NAME + ".new")
            self._files.make_dir(self._folder)
            self._files.write(fresh, image.encoded())
            self._files.rename(fresh, self._file)
            self._held = image.last_seq

    def image(self, opened: Opened) -> StateImage:
        """A copy of the bank as it stands now."""
        with self._steady:
            seq = opened.state.last_seq
            return StateImage.of(opened.state, opened.log.known(seq))

    def forget(self) -> None:
        """Remove it: the next start reads the whole log."""
        with self._writing, suppress(OSError):
            self._held = 0
            if self._files.exists(self._file):
                self._files.remove(self._file)


def opened_from_image(place: Place, files: Files, settings: StorageSettings) -> Opened:
    """A bank from its image and what came after it, or else from its log alone. Raises as open_bank does."""
    file = place.folder / DERIVED / NAME
    try:
        if files.exists(file):
            return resume_bank(place.log, files, settings, decoded(files.read(file)))
    except (OSError, ImageError, NotThisLog) as problem:
        _logger.info("state image not used file=%s problem=%s", file, problem)
    return open_bank(place.log, files, settings)


def verify(bank: Bank, pause: Callable[[], bool]) -> None:
    """Read the events that the start of a bank left out. Where they do not hold, the bank takes no more writes.

    The image is then forgotten, so that the next start finds the damage and reports it as that of any log.
    """
    opened = bank.opened_now()
    if opened is None or not opened.unread:
        return
    try:
        image = opened.log.image(opened.unread)
        try:
            verify_chain(image, pause)
        finally:
            image.close()
    except Damaged as damage:
        _logger.error("damaged log bank=%s problem=%s", bank.name, damage)
        bank.kept_state.forget()
        opened.log.distrust(str(damage))
    except MemoryServiceError as error:  # closed, or a disk that cannot be read: the next start tries again
        _logger.info("log not verified bank=%s problem=%s", bank.name, error)
