"""Is a data folder sound? Reads every log from its first byte: sums, chain, fold. Changes nothing.

The command line, the doctor and the tests share it. It may run beside a server; a write that is under way may then
show as a torn tail, which is why that is a note and not an error.

`repair` mends what `check` finds, on a folder that no server holds. It keeps what it replaces as `log.broken-<n>`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from recall.memory.data_folder import DataFolder, Layout
from recall.memory.errors import BankNotFound, Damaged
from recall.memory.events import decode
from recall.memory.files import Files
from recall.memory.log import LOG_NAME
from recall.memory.names import bank_name
from recall.memory.opening import open_bank
from recall.memory.refusal import refusals
from recall.memory.repair import REMEDY, repair_log, verified
from recall.memory.scan import Scan
from recall.memory.segments import Segments, needed
from recall.memory.settings import StorageSettings


class Severity(StrEnum):
    """How bad a finding is."""

    NOTE = "note"  # mended by itself at the next start
    DAMAGE = "damage"  # the bank does not open, or lacks a part of its history


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, where (`line` from 1, `offset` in bytes of that line's start), and what to do."""

    tenant: str
    bank: str
    file: Path
    line: int
    offset: int
    severity: Severity
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The log of a bank as far as it can be trusted: each of its events carries the sum of the one before.

    `head` is the sum of the last one and stands for all of them: kept elsewhere, it shows later that nothing was
    rewritten, which a log alone cannot show of its own end.
    """

    tenant: str
    bank: str
    events: int
    head: str
    unbroken: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """How much was read, and what was found."""

    banks: int
    events: int
    findings: tuple[Finding, ...]
    chains: tuple[Chain, ...] = ()

    @property
    def sound(self) -> bool:
        """True when every bank opens."""
        return not any(finding.severity is Severity.DAMAGE for finding in self.findings)


def check(data: Path, files: Files) -> Checked:
    """Read every bank of a data folder, those in the trash too. Raises StorageFailure where the disk refuses."""
    chains, findings = list[Chain](), list[Finding]()
    with refusals(data, "check"):
        for tenant, bank, log in _logs(Layout(data, files), files):
            chain, finding = _check_log(tenant, bank, log, files)
            chains.append(chain)
            findings += [] if finding is None else [finding]
    return Checked(len(chains), sum(chain.events for chain in chains), tuple(findings), tuple(chains))


def repair(data: Path, tenant: str, bank: str, files: Files, settings: StorageSettings) -> list[str]:
    """Make one bank open again; a line for each thing that was done, none when it was sound.

    Raises DataFolderInUse while a server runs, BankNotFound, StorageFailure, and Damaged where nothing can be read.
    """
    folder = DataFolder(data, files)
    log = folder.bank(tenant, bank_name(bank)) / LOG_NAME
    try:
        with refusals(log, "repair"):
            if not files.exists(log):
                raise BankNotFound(bank)
            torn = verified(files.read(log)).tear
            done = repair_log(log, files)
        open_bank(log, files, settings)
        cut = [f"a torn tail was cut off at byte {torn.offset} (a copy is kept)"] if torn is not None else []
        return cut + done
    finally:
        folder.release()


def _logs(layout: Layout, files: Files) -> Iterator[tuple[str, str, Path]]:
    for tenant in layout.tenants():
        for name in layout.bank_names(tenant):
            yield tenant, name, layout.bank(tenant, name) / LOG_NAME
    for tenant in files.list_dir(layout.trash_root()):
        for trash_id in files.list_dir(layout.trash(tenant)):
            yield tenant, f"{trash_id} (in the trash)", layout.trash(tenant) / trash_id / LOG_NAME


def _check_history(tenant: str, bank: str, log: Path, files: Files, data: bytes, scan: Scan) -> Finding | None:
    """What vacuums took out of a log that is sound: every sum, and the chain through all files."""
    lost = Finding(tenant, bank, log, 1, 0, Severity.DAMAGE, "", "bring the file back from a backup")
    try:
        first, _ = decode(data.split(b"\n", 1)[0])
        for path in needed(log.parent, files, first):
            if not files.exists(path):
                return replace(lost, file=path, problem="the file is missing: histories begin later")
        Segments(log.parent, files, scan.base, scan.base_sum).check()
    except Damaged as damage:
        return replace(lost, file=damage.file, line=damage.line, offset=damage.offset, problem=damage.problem)
    return None


def _check_log(tenant: str, bank: str, log: Path, files: Files) -> tuple[Chain, Finding | None]:
    if not files.exists(log):
        remedy = "bring it back from a backup, or delete the bank"
        return Chain(tenant, bank, 0, "", False), Finding(
            tenant, bank, log, 1, 0, Severity.DAMAGE, "the file is missing", remedy
        )
    data = files.read(log)
    scan = verified(data)
    chain = Chain(tenant, bank, scan.last_seq, scan.last_sum, scan.damage is None)
    if scan.damage is not None:
        found = scan.damage
        return chain, Finding(tenant, bank, log, found.line, found.offset, Severity.DAMAGE, found.problem, REMEDY)
    if scan.tear is not None:
        problem = "a write was torn by a crash; it was never acknowledged"
        remedy = "nothing: it is cut off, and a copy kept, when the bank is opened"
        tear = scan.tear
        return chain, Finding(tenant, bank, log, tear.line, tear.offset, Severity.NOTE, problem, remedy)
    return chain, _check_history(tenant, bank, log, files, data, scan)
