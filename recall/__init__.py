"""Answers: the memory service: truth, ranking, server, command line."""
