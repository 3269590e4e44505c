"""Measures the service from outside: `quality` (are the right memories found) and `latency` (how soon).

Both start a real server process, or use a running one, and talk gRPC to it. `results/` holds the figures that the
README quotes. Nothing here is part of the wheel.
"""
