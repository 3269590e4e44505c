"""The truth: banks of memories, each the fold of one append-only, checksummed event log.

`banks.Banks` keeps the banks of one data folder, `bank.Bank` takes every write of one of them. What they promise:

- a write is on disk (fdatasync) before it is applied, and applied before it is acknowledged;
- an error means that nothing of the write was kept, and nobody saw it;
- what cannot be read is reported with file, line, offset and remedy, and never skipped.

`log` holds the format, `state` the fold, `lifecycle` the closed table of statuses, `files` the one door to the disk.
"""
