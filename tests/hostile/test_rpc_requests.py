"""Whatever is sent to an rpc, a clear status comes back, the server lives and its log holds no traceback."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest
from hostile_calls import CLEAR, METHODS, Attacker, Attempt, attempts, seed, well
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from service_process import ServiceProcess, serving

from recall.check import check
from recall.memory.files import DiskFiles

CALLS_AN_EXAMPLE = 8
QUICK, DEEP = 400, 14_000
_CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)

batches = st.lists(attempts(), min_size=CALLS_AN_EXAMPLE, max_size=CALLS_AN_EXAMPLE)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServiceProcess, Attacker]]:
    """A server to attack; at the end it must be well, stop cleanly, and have left sound logs."""
    data = tmp_path_factory.mktemp("hostile") / "data"
    with serving(data) as service, grpc.insecure_channel(service.address) as channel:
        yield service, Attacker(channel)
        well(service)
        assert service.stop() == 0, service.logged()[-2_000:]
        found = check(data, DiskFiles())
        assert found.sound, found.findings


def attack(target: tuple[ServiceProcess, Attacker], batch: list[Attempt]) -> None:
    service, attacker = target
    for one in batch:
        code = attacker.attempt(one)
        assert code in CLEAR, (code, one)
    well(service)


def fuzzed(target: tuple[ServiceProcess, Attacker], examples: int, repeatable: bool) -> int:
    """How many calls were made."""
    service, attacker = target
    with service.client() as client:
        rounds = 0

        @settings(
            max_examples=examples,
            derandomize=repeatable,
            deadline=None,
            database=None,
            phases=_PHASES,
            suppress_health_check=_CHECKS,
        )
        @given(batches)
        def run(batch: list[Attempt]) -> None:
            nonlocal rounds
            if rounds % 50 == 0:
                seed(client)
            rounds += 1
            attack(target, batch)

        run()
    return attacker.codes.total()


def test_no_request_brings_an_internal_error(target: tuple[ServiceProcess, Attacker]) -> None:
    calls = fuzzed(target, QUICK, repeatable=True)
    assert calls >= QUICK * CALLS_AN_EXAMPLE
    codes = target[1].codes
    assert {"OK", "INVALID_ARGUMENT", "NOT_FOUND"} <= set(codes), codes
    assert codes["OK"] >= calls // 20, codes


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_no_request_of_a_hundred_thousand_brings_an_internal_error(
    target: tuple[ServiceProcess, Attacker], capsys: pytest.CaptureFixture[str]
) -> None:
    calls = fuzzed(target, DEEP, repeatable=False)
    with capsys.disabled():
        print(f"\n{calls:,} hostile calls over {len(METHODS)} rpcs: {dict(target[1].codes)}")  # noqa: T201
    assert calls >= 100_000
