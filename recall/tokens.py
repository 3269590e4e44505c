"""Bearer tokens: who may call, in which role, for which tenant and banks.

```
recall_<id: 16 hex digits>_<secret: 43 characters>      a token; shown once, when it is made, and never kept
<data>/.access/tokens.json                              [{id, name, hash: SHA-256 of the token, role, tenant, …}]
<data>/.access/LOCK                                     held while the file is changed
```
The secret has 256 random bits, so a fast hash keeps it. A revoked token stays in the file: once there has been a token,
callers without one are refused for good. A running server sees a change with the next call.
"""

import hmac
import os
import secrets
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec.structs import replace

from recall.memory.data_folder import ACCESS
from recall.memory.errors import InvalidField
from recall.memory.files import Files
from recall.memory.lifecycle import Role
from recall.memory.names import LIMITS, bank_name, checked_line
from recall.memory.refusal import refusals

PREFIX = "recall"
FILE = "tokens.json"
_LOCK = "LOCK"
_ID_BYTES, _SECRET_BYTES = 8, 32


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """What a token allows; times in microseconds UTC, 0 for never."""

    id: str
    name: str
    hash: str
    role: Role
    tenant: str
    banks: tuple[str, ...] = ()  # empty: every bank of the tenant
    created_at: int = 0
    expires_at: int = 0
    revoked_at: int = 0

    def problem(self, now: int) -> str:
        """Why the token is no longer good; "" when it is."""
        if self.revoked_at:
            return "was revoked"
        return "has expired" if self.expires_at and now >= self.expires_at else ""


class TokensBusy(Exception):  # noqa: N818 - named for what is wrong
    """Another process changes the tokens right now."""


class TokensUnreadable(Exception):  # noqa: N818
    """The file cannot be trusted; nobody is let in by it."""


class TokenFile:
    """Makes and revokes the tokens of a data folder, beside a running server or without one."""

    def __init__(self, data: Path, files: Files, random: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._folder = data / ACCESS
        self._files = files
        self._random = random

    def create(
        self, role: Role, tenant: str, banks: tuple[str, ...], name: str, now: int, expires_at: int = 0
    ) -> tuple[str, Grant]:
        """A new token and what was kept of it. Raises InvalidField, TokensBusy, TokensUnreadable, StorageFailure."""
        if expires_at and expires_at <= now:
            raise InvalidField("expires", "lies in the past")
        if role is Role.USER and not name.strip():
            raise InvalidField("name", "is required: a user's token says who the user is")
        token_id = self._random(_ID_BYTES).hex()
        token = f"{PREFIX}_{token_id}_{_text(self._random(_SECRET_BYTES))}"
        grant = Grant(
            id=token_id,
            name=checked_line("name", name, LIMITS.author) or token_id,
            hash=hashed(token),
            role=role,
            tenant=bank_name(tenant, "tenant"),
            banks=tuple(sorted({bank_name(bank, "banks") for bank in banks})),
            created_at=now,
            expires_at=expires_at,
        )
        self._change(lambda grants: (*grants, grant))
        return token, grant

    def revoke(self, token_id: str, now: int) -> Grant | None:
        """Ends a token; None when there is none of this id or name. Raises as create does."""
        ended: list[Grant] = []

        def revoked(grants: tuple[Grant, ...]) -> tuple[Grant, ...]:
            kept = [replace(one, revoked_at=one.revoked_at or now) if one.id == token_id else one for one in grants]
            ended.extend(one for one in kept if one.id == token_id)
            return tuple(kept)

        self._change(revoked)
        return ended[0] if ended else None

    def grants(self) -> tuple[Grant, ...]:
        """Every token there ever was, oldest first. Raises TokensUnreadable."""
        path = self._folder / FILE
        return decoded(self._files.read(path)) if self._files.exists(path) else ()

    def _change(self, change: Callable[[tuple[Grant, ...]], tuple[Grant, ...]]) -> None:
        with refusals(self._folder, "change"):
            for folder in (self._folder.parent, self._folder):
                if not self._files.exists(folder):
                    self._files.make_dir(folder)
                    self._files.sync_dir(folder.parent)
            lock = self._files.lock(self._folder / _LOCK)
            if lock is None:
                raise TokensBusy("another command changes the tokens; try again")
            try:
                fresh = self._folder / f"{FILE}.new"
                self._files.write(fresh, msgspec.json.format(msgspec.json.encode(change(self.grants())), indent=1))
                self._files.rename(fresh, self._folder / FILE)
                self._files.sync_dir(self._folder)
            finally:
                lock.release()


class Tokens:
    """The tokens as a server knows them: read again when the file changed. Safe in any thread."""

    def __init__(self, data: Path) -> None:
        self._path = data / ACCESS / FILE
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._by_id: dict[str, Grant] = {}
        self._problem = ""
        self._needed = False

    @property
    def needed(self) -> bool:
        """Whether a call needs a token: once there was one, always."""
        self._look()
        return self._needed

    def find(self, token: str) -> Grant | None:
        """The grant of a token, good or not; None for one that is not ours. Raises TokensUnreadable."""
        self._look()
        if self._problem:
            raise TokensUnreadable(self._problem)
        grant = self._by_id.get(id_of(token))
        if grant is None:
            return None
        return grant if hmac.compare_digest(hashed(token), grant.hash) else None

    def _look(self) -> None:
        try:
            found = os.stat(self._path)  # noqa: PTH116 - on the path of every call
        except FileNotFoundError:
            if self._needed:
                self._problem, self._seen = "the file of tokens is gone", None
            return
        seen = (found.st_mtime_ns, found.st_size, found.st_ino)
        if seen == self._seen:
            return
        with self._lock:
            self._read(seen)

    def _read(self, seen: tuple[int, int, int]) -> None:
        self._needed = True
        try:
            self._by_id = {grant.id: grant for grant in decoded(self._path.read_bytes())}
            self._problem = ""
        except (TokensUnreadable, OSError) as error:
            self._problem = str(error)
        self._seen = seen


def id_of(token: str) -> str:
    """The id in a token, which is no secret; "" when it has none."""
    parts = token.split("_", 2)
    return parts[1] if len(parts) == 3 and parts[0] == PREFIX else ""


def hashed(token: str) -> str:
    """SHA-256 in hex."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def decoded(content: bytes) -> tuple[Grant, ...]:
    """What stands in a file of tokens. Raises TokensUnreadable."""
    try:
        return msgspec.json.decode(content, type=tuple[Grant, ...])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise TokensUnreadable(f"the file of tokens cannot be read: {error}") from None


def _text(secret: bytes) -> str:
    return urlsafe_b64encode(secret).decode().rstrip("=")
