"""Is B slower than A? Two checkouts or commits, asked alternately in one run: what slows the machine slows both.

``python -m benchmarks.regress A B [--rounds 12]``: A and B are folders that hold the sources, or commits of the
repository around this folder (each is laid into a temporary work tree, gone afterwards). In every round a fresh
process of each (A first in even rounds, B first in odd ones) runs the pure parts of `benchmarks.regress.pure` and
tells, for each, the median seconds of a run and the instructions of the interpreter that one run takes (a count that is
the same on any machine with this Python; native code is left out).

A figure is B / A of the rounds' medians; its interval is a bootstrap over rounds, 95 %. Instructions are compared
exactly.
"""
