"""Tending banks while they serve: the port of `consolidate` on a live bank, runs, their schedule, and sweeps."""
