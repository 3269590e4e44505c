"""Finds: search structures derived from (ordinal, text). Knows no bank and no gRPC."""
