"""Tends: plans and applies the hygiene of a bank, through a small port. Removable."""
