"""A backup of a running service: every bank as it stands at one seq, as the bytes of a tar file (see `backup_format`).

Banks are taken one after the other, so two banks may be of different moments; each is verified from its first byte
before any of it is given out. One that cannot be read is left out, and told in the manifest; one that is deleted while
the backup runs is simply gone.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from recall import backup_format as form
from recall.backup_format import BankEntry, FileEntry, LeftOut, Manifest
from recall.memory.banks import Banks
from recall.memory.data_folder import MARKER_CONTENT
from recall.memory.errors import BankNotFound, MemoryServiceError
from recall.memory.log_image import BankImage

APP = "recall"


@dataclass(frozen=True, slots=True)
class Summary:
    """What was given out: the manifest, and the size and SHA-256 (hex) of the whole file."""

    manifest: Manifest
    bytes: int
    sha256: str


class Backup:
    """One backup. Iterate it to the end, then ask for the `summary`."""

    def __init__(self, banks: Banks, release: str, taken_at: int, tenants: Sequence[str] | None = None) -> None:
        """`taken_at` in microseconds UTC; `tenants` are all of them when not given."""
        self._tenants = tenants
        self._banks = banks
        self._release = release
        self._taken_at = taken_at
        self._files: list[FileEntry] = []
        self._taken: list[BankEntry] = []
        self._left_out: list[LeftOut] = []
        self._whole = sha256()
        self._size = 0

    def __iter__(self) -> Iterator[bytes]:
        """The bytes, at most about a megabyte at a time. Raises Damaged, StorageFailure when a file breaks midway."""
        for chunk in self._chunks():
            self._whole.update(chunk)
            self._size += len(chunk)
            yield chunk

    def summary(self) -> Summary:
        """What was given out."""
        return Summary(self._manifest(), self._size, self._whole.hexdigest())

    def _chunks(self) -> Iterator[bytes]:
        yield from self._file(form.MARKER, len(MARKER_CONTENT), [MARKER_CONTENT])
        for tenant in self._banks.tenants() if self._tenants is None else self._tenants:
            for name in self._banks.list(tenant):
                image = self._image(tenant, name)
                if image is not None:
                    with closing(image):
                        yield from self._bank(image)
        manifest = msgspec.json.format(msgspec.json.encode(self._manifest()), indent=1) + b"\n"
        yield from self._file(form.MANIFEST, len(manifest), [manifest])
        yield form.END

    def _image(self, tenant: str, name: str) -> BankImage | None:
        try:
            return self._banks.image(tenant, name)
        except BankNotFound:
            return None
        except MemoryServiceError as error:
            self._left_out.append(LeftOut(tenant, name, str(error)))
            return None

    def _bank(self, image: BankImage) -> Iterator[bytes]:
        yield from self._file(form.log_path(image.tenant, image.bank), image.log.size, image.log.chunks())
        for rule in image.rules:
            yield from self._file(
                form.rule_path(image.tenant, image.bank, rule.name), len(rule.content), [rule.content]
            )
        for kept in image.history:
            path = form.history_path(image.tenant, image.bank, kept.path.name)
            yield from self._file(path, kept.size, kept.chunks())
        log = image.log
        self._taken.append(BankEntry(image.tenant, image.bank, log.last_seq, log.size, len(image.rules)))

    def _file(self, path: str, size: int, chunks: Iterable[bytes]) -> Iterator[bytes]:
        yield form.header(path, size, self._taken_at)
        digest = sha256()
        for chunk in chunks:
            digest.update(chunk)
            yield chunk
        yield form.padding(size)
        self._files.append(FileEntry(path, size, digest.hexdigest()))

    def _manifest(self) -> Manifest:
        return Manifest(
            app=APP,
            backup=form.VERSION,
            release=self._release,
            taken_at=self._taken_at,
            files=tuple(entry for entry in self._files if entry.path != form.MANIFEST),
            banks=tuple(self._taken),
            left_out=tuple(self._left_out),
        )
