"""What a recall refuses before it ranks anything.

RankingError
└── QueryHasNoWords      the query is empty or holds no word: an argument error of the caller
"""


class RankingError(Exception):
    """Base of every error this package raises on purpose."""


class QueryHasNoWords(RankingError):  # noqa: N818 - named for what is wrong, as the status table reads it
    """The query holds no word, so it asks for nothing; it never means "everything"."""

    def __init__(self, query_length: int) -> None:
        super().__init__(f"the query has no words in it (length={query_length})")
        self.query_length = query_length
