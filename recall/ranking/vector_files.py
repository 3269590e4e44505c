"""The vectors of one bank: `vectors/<digest of the model>.vec` and `.codes`, opened and tidied through the one door to
the disk.

Records of texts that no memory has any more are dropped once they are a share of the file, a file that was deleted
under the running service is written anew, and the file of another model goes once this model covers the bank.
"""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from index.embedder import Embedder
from index.sidecar import Sidecar, text_key
from recall.memory.files import Files
from recall.ranking.codes_file import SUFFIX as CODES
from recall.ranking.codes_file import CodesFile

GARBAGE_SHARE = 0.25
"""Share of dead records at which a sidecar is written anew; a bank with one dead of four texts keeps none of it."""
_SUFFIX = ".vec"


class VectorFiles:
    """Where the vectors of one bank lie. The caller serialises `open` and `tidy`."""

    def __init__(self, folder: Path, files: Files) -> None:
        self._folder = folder / "vectors"
        self._files = files

    def open(self, embedder: Embedder) -> Sidecar:
        """The sidecar of a model, made when missing. Raises OSError."""
        self._make_folder()
        return Sidecar.open(self._path(embedder.model_id), embedder.model_id, embedder.dimensions, self._files)

    def codes(self, model_id: str) -> CodesFile:
        """Where the compressed copy of a model's vectors lies."""
        return CodesFile(self._path(model_id).with_suffix(CODES), self._files)

    def tidy(self, sidecar: Sidecar, model_id: str, live_keys: Collection[bytes], covered: bool) -> None:
        """Drop what nobody needs. `covered`: every memory has a vector of this model. Raises OSError."""
        lost = not self._files.exists(self._path(model_id))
        if lost or sidecar.garbage(live_keys) >= GARBAGE_SHARE:
            self._make_folder()
            sidecar.compact(live_keys)
        if covered:
            self._forget_others(self._path(model_id).stem)

    def _path(self, model_id: str) -> Path:
        return self._folder / f"{text_key(model_id).hex()}{_SUFFIX}"

    def _make_folder(self) -> None:
        self._files.make_dir(self._folder.parent)
        self._files.make_dir(self._folder)

    def _forget_others(self, current: str) -> None:
        for name in self._files.list_dir(self._folder):
            if name.endswith((_SUFFIX, CODES)) and Path(name).stem != current:
                with suppress(FileNotFoundError):
                    self._files.remove(self._folder / name)
