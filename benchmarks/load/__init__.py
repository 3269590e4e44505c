"""What does the service do under many hands, for a long time, with many banks?

=================== ================================================================================================
``group-commit``    16 writers at once against one writer, in process and over gRPC, in turn so that whatever slows
                    the disk slows both; and one writer of a quiet bank beside 16 of a busy one
``soak``            recalls and saves at Poisson times at 70 % of the measured capacity, while banks are filled,
                    embedded and deleted and the bank under load is reloaded; memory, descriptors and threads of the
                    server second by second
``overload``        recalls at 1.5 times the capacity: which are refused, and how soon the others are answered
``banks``           1,000 banks or more, each opened in turn, twice, and a start with all of them on disk
``cold``            the first recall of banks of 1,000 memories that were closed for want of room
``ways``            one query by a call, a stream, a batch, over TCP and a unix socket; one text by a call and a batch
=================== ================================================================================================

``python -m benchmarks.load soak --minutes 10 --out OUT.json``; ``--quick`` takes less than a minute. Exit code 1 when
a bar is not kept. Each starts a server of its own and talks to 127.0.0.1 alone.

A latency counts from the time a call was due, not from when it could be made (no coordinated omission).
"""
