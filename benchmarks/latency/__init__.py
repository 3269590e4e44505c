"""How soon does the service answer? Ratios in one run, so that they mean the same on any machine.

``python -m benchmarks.latency --n 10000 --out OUT.json [--quick]`` starts a server of its own, fills one bank, and
measures, interleaved in one process so that whatever slows the machine slows all alike:

========= ==========================================================================================================
empty     grpc.health.v1 Check on the same server and channel: the emptiest call there is. It passes the same
          interceptors and thread pool as a Recall, looks up one string and answers two bytes (AdminService.Status
          would gather figures of every bank)
lexical   Recall in lexical mode; no vector is touched
encode    the query's encoding alone, in this process, by `index.embedder` with the server's own settings
hybrid    Recall in hybrid mode with a query that the server never saw
cached    the same query again: its vector is in the query cache
save      MemoryService.Save of a new text
fdatasync appending the bytes that a save adds to the log, then os.fdatasync, on the data folder's file system
restart   from starting the process anew to the first undegraded hybrid answer, less the time that the encoder's own
          load takes (measured by a start at which nobody asks the bank)
========= ==========================================================================================================

Bars: lexical ≤ 3 × empty; hybrid ≤ 1.25 × (empty + encode); cached ≤ 2 × empty; save ≤ 4 × (empty + fdatasync);
restart ≤ 2 s.

`--quick` fills the bank in this process before the server starts, and lets the encoder make a few hundred vectors, of
which those of the others are blended: what a scan costs is the same, and embedding 10,000 texts takes minutes.

`--flame OUT.svg` starts the server once more, under a sampler in its own process (`benchmarks.latency.stacks`: stacks
weighed by each thread's processor time; no other tool is needed), asks for some seconds, and draws what it found.

Percentiles are of all single measurements, none binned. Closed loops keep c calls under way; open loops start calls
at random times (Poisson) and count from the time a call was due, so a stall is charged to everyone who waited
(no coordinated omission).
"""
