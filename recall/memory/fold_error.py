"""What a fold refuses."""


class FoldError(ValueError):
    """An event that cannot follow what came before it; the message says why."""
