"""Other people's retrievers, asked the same questions in the same run, when they are installed.

========  ====================================================================================================
bm25s     BM25 (Lucene's variant, k1 1.2, b 0.75) over the terms of our own analysis: what our lexical leg should
          equal when nothing but words is scored, and what degraded mode is held against
lancedb   its hybrid search as it comes: its full-text index and the vectors, merged by its reciprocal ranks
chroma    nearest vectors of its HNSW index, by cosine
========  ====================================================================================================

A peer sees documents and questions, no service: texts as they are saved, the question as it is asked, and the vectors
that our encoder makes of just these. Who said a text has no place of its own there, so LanceDB and Chroma get it in
front of the text, which is how they are used and finds more than without; bm25s gets the bare text, to be what our
words alone are compared with. When and in which session it was said is not given to a peer.
"""

from benchmarks.quality.peers.peer import Peer, Search, UnknownPeerError
from benchmarks.quality.peers.registry import INSTALLED, NONE, PEERS, Choice, chosen

__all__ = ["INSTALLED", "NONE", "PEERS", "Choice", "Peer", "Search", "UnknownPeerError", "chosen"]
