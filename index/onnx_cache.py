"""Exported encoders on disk, found by the hash of the model they were made from.

    <cache>/<weights hash>/manifest.json    format, facts of the encoder, sha256 of each file below
                           /encoder.onnx    int8; (input_ids, attention_mask[, token_type_ids]) → unit vectors
                           /tokenizer.json
                           /refused.json    instead of all these: why this model must not be served exported
    <cache>/.export-<pid>-<random>/         an export under way, or what a kill left of it

An export is installed by one rename, after its files are fsynced, so a folder under its final name is whole
or damaged by something else. `load` hashes the very bytes it hands to native code; anything that does not
match is "not there", to be exported anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

FORMAT = 1
ENCODER_FILE = "encoder.onnx"
TOKENIZER_FILE = "tokenizer.json"
_MANIFEST_FILE = "manifest.json"
_REFUSED_FILE = "refused.json"
_TEMPORARY = ".export-"
_ABANDONED_AFTER_S = 3600.0


class Manifest(msgspec.Struct, frozen=True):
    """The facts that serving needs; `files` maps file name to sha256 in hex."""

    format: int
    dimensions: int
    window_tokens: int
    lower_case: bool
    inputs: tuple[str, ...]
    files: dict[str, str]
    least_probe_cosine: float = 0.0
    pooling: Literal["none", "mean", "cls"] = "none"
    """What is left to do: nothing where the encoder gives sentence vectors, as every export here does."""


class _Refusal(msgspec.Struct, frozen=True):
    format: int
    reason: str


@dataclass(frozen=True, slots=True)
class CachedEncoder:
    """Verified bytes of one exported encoder."""

    manifest: Manifest
    encoder: bytes
    tokenizer: bytes


class OnnxCache:
    """One cache folder; several processes may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, weights_hash: str) -> CachedEncoder | None:
        """The encoder, every byte checked; None when it is absent, incomplete, damaged or of another format."""
        folder = self._folder / weights_hash
        try:
            manifest = msgspec.json.decode((folder / _MANIFEST_FILE).read_bytes(), type=Manifest)
            encoder = (folder / ENCODER_FILE).read_bytes()
            tokenizer = (folder / TOKENIZER_FILE).read_bytes()
        except (OSError, msgspec.MsgspecError):
            return None
        sums = {ENCODER_FILE: _sha256(encoder), TOKENIZER_FILE: _sha256(tokenizer)}
        if manifest.format != FORMAT or manifest.files != sums:
            return None
        return CachedEncoder(manifest, encoder, tokenizer)

    def refusal(self, weights_hash: str) -> str:
        """Why an earlier export of this model was turned down; empty when none was."""
        try:
            content = (self._folder / weights_hash / _REFUSED_FILE).read_bytes()
            refusal = msgspec.json.decode(content, type=_Refusal)
        except (OSError, msgspec.MsgspecError):
            return ""
        return refusal.reason if refusal.format == FORMAT else ""

    def begin(self) -> Path:
        """A fresh folder to export into; what dead exports left behind an hour ago is removed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for leftover in self._folder.glob(f"{_TEMPORARY}*"):
            if _age_s(leftover) > _ABANDONED_AFTER_S:
                shutil.rmtree(leftover, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=f"{_TEMPORARY}{os.getpid()}-", dir=self._folder))

    def install(self, work: Path, weights_hash: str, manifest: Manifest) -> None:
        """Makes the export in `work` the one that `load` finds, whole or not at all."""
        _write_durably(work / _MANIFEST_FILE, msgspec.json.encode(manifest))
        self._publish(work, weights_hash)

    def refuse(self, work: Path, weights_hash: str, reason: str) -> None:
        """Remembers that this model must not be served exported."""
        for file in work.iterdir():
            file.unlink()
        _write_durably(work / _REFUSED_FILE, msgspec.json.encode(_Refusal(FORMAT, reason)))
        self._publish(work, weights_hash)

    def manifest_of(self, work: Path, facts: Manifest) -> Manifest:
        """`facts` with the sums of the files in `work`, which are fsynced first."""
        sums = {}
        for name in (ENCODER_FILE, TOKENIZER_FILE):
            _fsync(work / name)
            sums[name] = _sha256((work / name).read_bytes())
        return msgspec.structs.replace(facts, files=sums)

    def _publish(self, work: Path, weights_hash: str) -> None:
        target = self._folder / weights_hash
        _fsync(work)
        if target.exists():  # damaged, or installed by another process meanwhile: either way ours is whole
            target.rename(work.with_name(f"{work.name}-replaced"))
        work.rename(target)
        _fsync(self._folder)
        shutil.rmtree(work.with_name(f"{work.name}-replaced"), ignore_errors=True)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _write_durably(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    _fsync(path)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
