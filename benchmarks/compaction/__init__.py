"""How well the hygiene of a bank tells restatements from other facts, what it does to recall, and how it grows.

``pairs_seen.tsv`` and ``pairs_unseen.tsv`` are labelled by hand. The guards are developed against the first. The
second was written before any guard was looked at; while guards change, only its total counts may be looked at, never
a pair of it: it tells what the guards do to memories that nobody had in mind.
"""
