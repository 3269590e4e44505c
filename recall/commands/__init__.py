"""The verbs of the command line, one a file: each takes words, makes one call (or a few) and shows the answer.

Modules here import the standard library and typer alone when they are loaded; grpc, rich and settings are imported by
the command that needs them, so that `recall --help` is there at once and a client command never imports numpy.
"""
