"""Answers one query: the legs, the context signals, their fusion, and why each memory ranked where it did."""
