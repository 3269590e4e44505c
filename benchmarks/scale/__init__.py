"""How does the cost grow with the number of memories in a bank? Slopes in log-log space, so that they mean the same on
any machine.

``python -m benchmarks.scale --sizes 1000,10000,100000 --out OUT.json [--quick]`` gives each size a server process and a
data folder of its own, fills one bank with synthetic text before the server starts, and measures:

=============== ====================================================================================================
recall_ms       Recall in hybrid mode at the caller, over gRPC, p50
engine_ms       the same calls by the server's own account: legs and fusion, without rpc and encoding, p50
save_ms         MemoryService.Save of a new text, p50
start_words_s   from starting the process anew to the first answer of any kind
start_hybrid_s  from starting the process anew to the first undegraded hybrid answer
rss_mib         resident memory of the server that was started anew, once it answered
own_mib         of that, what is no page of a file
disk_bytes      the data folder
fill_s          until every memory is on disk with its vector and its words, in this process
=============== ====================================================================================================

Calls are measured once a start has no work left behind it. Beside OUT.json it writes OUT.html with plots.

Vectors come from the hashing embedder (384 dimensions): no model is loaded, so a start holds no model load. `--model
default` takes the language model, which embeds a sample; the other vectors are blended of it. Neither are those of the
texts: figures of recall@k do not belong here.

A slope is the least-squares line through (ln memories, ln figure): 0 does not grow, 1 grows in proportion.
"""
