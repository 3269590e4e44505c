"""Reads published layouts. One file a set; each takes a path, and says what it dropped and why."""
