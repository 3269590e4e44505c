"""How do other stores do on the same memories? One corpus, one set of vectors, one list of questions, given to all.

``python -m benchmarks.peers --n 100000 [--only NAME,…] --out OUT.json [--quick]``. The corpus is made once (seeded):
texts of a Zipf vocabulary, 384-dimensional unit vectors around cluster centres, questions in the words of a random text
with a vector near its own. Each system then runs in a process of its own, on an empty folder:

============== =====================================================================================================
fill           all memories, as fast as the system takes them, until they can be searched at full speed
search         words and vector to the ten best, one caller; p50 and p99
recall@10      share of the exact fused ten: reciprocal ranks (k = 60) over every BM25 score and every cosine,
               or over the 100 best of each where a system fuses no more; where equal scores leave the
               order open, any order is right
save           one memory; visible: from its start to the end of the first search that finds it
RSS            resident memory at the end, of this process and of those the system starts (what they share counts
               once), and how much of it came after the corpus was in memory
disk           what lies in the folder
============== =====================================================================================================

A system that has words or vectors alone is asked with what it has. No stemming anywhere; what a system cannot be told
about its BM25 costs it recall here. A peer that is not installed is left out with a line that says what to install.
"""
