"""A server with the bundled model: it answers by words at once, and by meaning when the model is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration
from service_process import ServiceProcess, serving

from recall.client import RecallClient
from recall.v1.memory_service_pb2 import NewMemory
from recall.v1.recall_service_pb2 import (
    DEGRADATION_REASON_EMBEDDER_LOADING,
    DEGRADATION_REASON_EMBEDDER_OFF,
    RECALL_MODE_HYBRID,
)

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

SAID = "Blog posts go out on Tuesday mornings"
ASKED = "when do I publish articles"


def wait_for_vectors(client: RecallClient, bank: str) -> None:
    while client.status().embedder.state == "loading":
        client.recall(bank=bank, query=ASKED)
    coverage = client.get_bank(name=bank).bank.coverage
    while coverage.embedded < coverage.total:
        coverage = client.get_bank(name=bank).bank.coverage


def test_it_serves_lexically_while_the_model_loads_and_semantically_after(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "default") as service, service.client() as client:
        client.save_batch(bank="demo", memories=[NewMemory(text=SAID), NewMemory(text="Dana likes green tea")])
        early = client.recall(bank="demo", query="blog posts")
        assert early.results[0].memory.text == SAID
        assert early.retrieval == "lexical"
        assert [one.reason for one in early.degraded] == [DEGRADATION_REASON_EMBEDDER_LOADING]
        wait_for_vectors(client, "demo")
        late = client.recall(bank="demo", query=ASKED, mode=RECALL_MODE_HYBRID, time_budget=Duration(seconds=10))
        assert (late.retrieval, list(late.degraded)) == ("hybrid", [])
        assert late.results[0].memory.text == SAID
        assert service.stop() == 0
        assert "Traceback" not in service.logged()


def test_the_end_of_a_long_memory_is_found_by_meaning(model_service: ServiceProcess) -> None:
    with model_service.client() as client:
        padding = "The quarterly report covers budgets, staffing and office rent. " * 60
        client.save(bank="long", memory=NewMemory(text=f"{padding}Our veterinarian is called Doctor Okafor."))
        client.save_batch(bank="long", memories=[NewMemory(text=f"Invoice {n} was paid in March") for n in range(8)])
        wait_for_vectors(client, "long")
        answer = client.recall(bank="long", query="who treats our sick pets", time_budget=Duration(seconds=10))
        assert answer.results[0].memory.text.endswith("Okafor.")


def test_the_doctor_finds_the_model_in_order(model_service: ServiceProcess) -> None:
    with model_service.client() as client:
        client.save(bank="checked", memory=NewMemory(text="hello"))
        wait_for_vectors(client, "checked")
        model = next(check for check in client.doctor().checks if check.name == "model")
        assert model.outcome == 1, model
        assert "384 dimensions" in model.detail


def test_without_a_model_it_says_so(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "none") as service, service.client() as client:
        client.save(bank="demo", memory=NewMemory(text=SAID))
        answer = client.recall(bank="demo", query="blog", mode=RECALL_MODE_HYBRID)
        assert answer.retrieval == "lexical"
        assert [one.reason for one in answer.degraded] == [DEGRADATION_REASON_EMBEDDER_OFF]
        assert client.status().embedder.state == "off"
