"""Are the right memories found? Strict metrics, every leg, over gRPC.

``python -m benchmarks.quality --set locomo --data FILE --out OUT.json`` loads each haystack of a set into a bank of
its own, waits until every memory has a vector, asks every question in every system, and prints, by category and over
all of them, n, fraction@5/10/50, any@5, all@10, MRR and nDCG@10. Beside OUT.json it writes OUT.html with plots.
``python -m benchmarks.quality compare A.json B.json`` says whether two runs differ by more than chance,
``… held-out RUN.json`` what the choice of the best system is worth on conversations that it was not chosen on.

Words, because published figures differ on them: *fraction@k* is the share of a question's evidence in the top k,
averaged over the questions that have evidence; *any@k* is 1 if one piece is there; *all@k* only if all are (called
recall_all by LongMemEval). *any* is never called recall. MRR looks at the first 100 results.

What a run never does: drop a question in silence. Every document, question and piece of evidence that was left out is
counted under its reason, and so is every answer that the service marked as degraded.
"""
