"""What a bank says of its backfill."""

import pytest

from index.embedder import EmbedderState
from recall.server.describe import stalled_by


@pytest.mark.parametrize(
    ("state", "detail", "told"),
    [
        ("ready", "", ""),
        ("loading", "", ""),
        ("down", "connection refused", "the embedder is down: connection refused"),
        ("off", "", "the embedder is off"),
    ],
)
def test_a_backfill_stands_still_when_the_embedder_is_off_or_down_not_while_it_loads(
    state: str, detail: str, told: str
) -> None:
    embedder = EmbedderState(state=state, backend="", dimensions=0, detail=detail, model_id="")  # type: ignore[arg-type]
    assert stalled_by(embedder) == told
