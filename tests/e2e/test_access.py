"""Who may call what, over a real server: every rpc in every role, banks, tenants, denials and addresses."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
import service_process
from service_process import ServiceProcess

from recall.client import ClientOptions, RecallClient
from recall.memory.files import DiskFiles
from recall.memory.lifecycle import Role
from recall.server.edge import DESCRIPTORS
from recall.server.listening import is_loopback
from recall.server.requirements import ROLES, UndeclaredAccess, requirements
from recall.tokens import TokenFile
from recall.v1 import access_pb2, bank_service_pb2, memory_pb2
from recall.v1.memory_service_pb2 import ImportRequest, NewMemory
from recall.v1.recall_service_pb2 import RecallRequest, RecallStreamRequest

DENIED = grpc.StatusCode.PERMISSION_DENIED
UNKNOWN = grpc.StatusCode.UNAUTHENTICATED
REFUSED = grpc.StatusCode.FAILED_PRECONDITION
METHODS = [(f"/{service.full_name}/{method.name}", method) for service in DESCRIPTORS for method in service.methods]


@dataclass
class Guarded:
    """A server with tokens."""

    service: ServiceProcess
    made: list[str] = field(default_factory=list)

    def token(self, role: str, tenant: str = "default", banks: tuple[str, ...] = (), expires_at: int = 0) -> str:
        file = TokenFile(self.service.data, DiskFiles())
        token, _ = file.create(Role(role), tenant, banks, f"{role} of {tenant}", 1, expires_at)
        self.made.append(token)
        return token

    def client(self, role: str, tenant: str = "default", banks: tuple[str, ...] = ()) -> RecallClient:
        return self.client_with(self.token(role, tenant, banks))

    def client_with(self, token: str) -> RecallClient:
        return RecallClient(self.service.address, ClientOptions(timeout_s=20, token=token))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with service_process.serving(tmp_path_factory.mktemp("guarded") / "data") as running:
        assert "no tokens: every caller on this machine is the admin" in running.logged()
        guarded = Guarded(running)
        with guarded.client("admin") as admin:
            admin.create_bank(name="shared")
        yield guarded
        assert not [token for token in guarded.made if token in running.logged()]


@pytest.fixture(scope="module")
def tokens(guarded: Guarded) -> dict[str, str]:
    return {role: guarded.token(role) for role in Role}


def code_of(channel: grpc.Channel, path: str, method: Any, token: str) -> grpc.StatusCode:
    """The status of a call with an empty request."""
    shape = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
    call = getattr(channel, shape)(path)
    request = iter([b""]) if method.client_streaming else b""
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    try:
        answer = call(request, metadata=metadata, timeout=20)
        if method.server_streaming:
            list(answer)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def enough(role: Role, needed: Role) -> bool:
    """Said here once more, in other words than the server's."""
    if needed is Role.USER:
        return role is Role.USER
    ladder = [Role.READER, Role.AGENT, Role.JOB, Role.REVIEWER, Role.ADMIN]
    assert list(ROLES) == ladder
    return needed in ladder[: 1 if role is Role.USER else ladder.index(role) + 1]


@pytest.mark.parametrize("role", ["", *Role])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method[0].removeprefix("/recall.v1."))
def test_every_rpc_lets_in_the_roles_that_the_contract_names(
    guarded: Guarded, tokens: dict[str, str], method: tuple[str, Any], role: str
) -> None:
    path, descriptor = method
    if descriptor.name == "Watch":
        pytest.skip("a stream without an end: below")
    declared = descriptor.GetOptions().Extensions[access_pb2.access].role
    needed = Role(access_pb2.Role.Name(declared).removeprefix("ROLE_").lower())
    with grpc.insecure_channel(guarded.service.address, options=[("grpc.enable_http_proxy", 0)]) as channel:
        code = code_of(channel, path, descriptor, tokens.get(role, ""))
    if not role:
        assert code is UNKNOWN
    elif not enough(Role(role), needed):
        assert code is DENIED
    else:
        assert code not in (DENIED, UNKNOWN, grpc.StatusCode.INTERNAL)


@pytest.mark.parametrize("token", ["", "nonsense", "recall_0011223344556677_AAAA"])
def test_a_stream_is_denied_too(guarded: Guarded, token: str) -> None:
    with guarded.client_with(token) as stranger, pytest.raises(grpc.RpcError) as denied:
        next(stranger.watch(bank="shared"))
    assert denied.value.code() is UNKNOWN


def asked_of(*banks: str) -> Iterator[RecallStreamRequest]:
    return (RecallStreamRequest(request=RecallRequest(bank=bank, query="q")) for bank in banks)


def test_a_token_for_some_banks_is_held_to_them(guarded: Guarded) -> None:
    with guarded.client("admin") as admin, guarded.client("agent", banks=("mine",)) as agent:
        admin.save(bank="other", memory=NewMemory(text="not for the agent"))
        agent.save(bank="mine", memory=NewMemory(text="the agent's own"))
        assert [bank.name for bank in agent.list_banks().banks] == ["mine"]
        assert agent.status().banks == 1
        for call in (
            lambda: agent.recall(bank="other", query="agent"),
            lambda: agent.recall_batch(requests=[RecallRequest(bank=b, query="q") for b in ("mine", "other")]),
            lambda: list(agent.recall_stream(asked_of("other"))),
            lambda: list(agent.recall_stream(asked_of("mine", "other"))),
            lambda: agent.save(bank="other", memory=NewMemory(text="x")),
            lambda: agent.get_bank(name="other"),
            lambda: next(agent.watch()),
            lambda: next(agent.watch(bank="other")),
        ):
            with pytest.raises(grpc.RpcError) as denied:
                call()
            assert denied.value.code() is DENIED
    with guarded.client("reviewer", banks=("mine",)) as reviewer, pytest.raises(grpc.RpcError) as denied:
        reviewer.import_memories([ImportRequest(bank="other")])
    assert denied.value.code() is DENIED


def test_a_move_asks_for_both_banks(guarded: Guarded) -> None:
    with guarded.client("admin") as admin, guarded.client("reviewer", banks=("from",)) as reviewer:
        admin.create_bank(name="from")
        admin.create_bank(name="to")
        id_ = admin.save(bank="from", memory=NewMemory(text="misfiled")).memory.id
        with pytest.raises(grpc.RpcError) as denied:
            reviewer.move(bank="from", id=id_, to_bank="to")
        assert denied.value.code() is DENIED
        moved = admin.move(bank="from", id=id_, to_bank="to", note="belongs there")
        assert (moved.memory.bank, moved.memory.id, moved.departed.moved_to) == ("to", id_, f"to/{id_}")
        assert [one.memory.id for one in admin.recall(bank="to", query="misfiled").results] == [id_]
        assert not admin.recall(bank="from", query="misfiled").results


def test_a_tenant_sees_nothing_of_another(guarded: Guarded) -> None:
    with guarded.client("admin", "acme") as acme, guarded.client("admin") as ours:
        acme.create_bank(name="plans")
        acme.save(bank="plans", memory=NewMemory(text="acme's secret plan"))
        ours.create_bank(name="plans")
        ours.save(bank="plans", memory=NewMemory(text="our plan"))
        assert [r.memory.text for r in ours.recall(bank="plans", query="secret plan").results] == ["our plan"]
        assert [bank.name for bank in acme.list_banks().banks] == ["plans"]
        assert acme.status().open_banks == 1
        backup = b"".join(part.data for part in acme.backup())
        assert b"acme's secret plan" in backup
        assert b"our plan" not in backup
        with pytest.raises(grpc.RpcError) as missing:
            acme.get_bank(name="shared")
        assert missing.value.code() is grpc.StatusCode.NOT_FOUND


def test_a_revoked_or_expired_token_ends_at_once_and_each_denial_is_one_line(guarded: Guarded) -> None:
    token = guarded.token("agent")
    with guarded.client_with(token) as agent:
        agent.get_bank(name="shared")
        TokenFile(guarded.service.data, DiskFiles()).revoke(token.split("_")[1], 2)
        with pytest.raises(grpc.RpcError) as denied:
            agent.get_bank(name="shared")
    assert (denied.value.code(), denied.value.details()) == (UNKNOWN, "the token was revoked")
    lines = [line for line in guarded.service.logged().splitlines() if f"token={token.split('_')[1]}" in line]
    assert len(lines) == 1
    assert "recall.audit denied rpc=BankService/Get" in lines[0].replace(".v1", "").replace("recall.BankS", "BankS")


def test_who_guesses_at_a_token_is_stopped_and_locks_out_nobody_else(guarded: Guarded) -> None:
    token = guarded.token("reader")
    wrong = f"{token[:-1]}{'A' if token[-1] != 'A' else 'B'}"
    codes = set()
    with guarded.client_with(wrong) as guesser:
        for _ in range(12):
            with pytest.raises(grpc.RpcError) as denied:
                guesser.get_bank(name="shared")
            codes.add(denied.value.code())
    assert codes == {UNKNOWN, grpc.StatusCode.RESOURCE_EXHAUSTED}
    with guarded.client("reader") as other:
        other.get_bank(name="shared")


def test_the_actor_of_a_write_is_the_token_not_what_the_caller_says(guarded: Guarded) -> None:
    with guarded.client("agent") as agent:
        saved = agent.save(bank="shared", memory=NewMemory(text="who said this", author="the admin"))
        (event,) = agent.get_history(bank="shared", id=saved.memory.id).events
    assert (event.actor, event.role) == ("agent of default", "agent")


@pytest.mark.parametrize("settings", [(), ("access.tls_certificate=/no/cert.pem", "access.tls_private=/no/key.pem")])
def test_other_machines_are_not_served_without_tokens_and_tls(tmp_path: Path, settings: tuple[str, ...]) -> None:
    command = service_process.command(tmp_path / "data", "none", "0.0.0.0:0", *settings)
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=service_process.environment()
    )
    assert done.returncode == 1
    assert "other machines would reach it without tokens" in done.stderr
    assert "access.allow_open_network" in done.stderr


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_only_this_machine_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_a_contract_with_an_rpc_that_names_no_role_is_refused() -> None:
    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(name="loose.proto", package="loose", syntax="proto3")
    file.message_type.add(name="Nothing")
    file.service.add(name="Loose").method.add(name="Do", input_type=".loose.Nothing", output_type=".loose.Nothing")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    with pytest.raises(UndeclaredAccess, match="Loose/Do"):
        requirements([pool.FindServiceByName("loose.Loose")])


def test_a_user_keeps_preferences_of_their_own_alone_and_no_other_role_does(guarded: Guarded) -> None:
    governed = bank_service_pb2.BANK_POLICY_GOVERNED
    user_scope = bank_service_pb2.SCOPE_KIND_USER
    with guarded.client("admin") as admin:
        for name in ("dana", "eve"):
            admin.create_bank(name=f"of-{name}", policy=governed, scope_kind=user_scope, scope_ref=name)
        admin.create_bank(name="of-all", policy=governed)
    token, _ = TokenFile(guarded.service.data, DiskFiles()).create(Role.USER, "default", (), "dana", 1)
    with guarded.client_with(token) as dana, guarded.client("reviewer") as reviewer, guarded.client("agent") as agent:
        kept = dana.save_preference(bank="of-dana", text="I like short answers in the morning").memory
        assert (kept.status, kept.kind, kept.author) == (memory_pb2.STATUS_ACCEPTED, memory_pb2.KIND_PREFERENCE, "dana")
        assert [one.memory.id for one in dana.recall(bank="of-dana", query="short answers").results] == [kept.id]
        assert dana.save_preference(bank="of-dana", text="I like short answers in the morning").seq == 0
        for refused, code in (
            (lambda: dana.save_preference(bank="of-dana", text="I like short answers in the mornings"), REFUSED),
            (lambda: dana.save_preference(bank="of-eve", text="Eve likes long answers"), REFUSED),
            (lambda: dana.save_preference(bank="of-all", text="Everybody likes it"), REFUSED),
            (lambda: dana.save(bank="of-dana", memory=NewMemory(text="anything")), DENIED),
            (lambda: dana.delete(bank="of-dana", id=kept.id), DENIED),
            (lambda: agent.save_preference(bank="of-dana", text="Dana likes it my way"), DENIED),
            (lambda: reviewer.save_preference(bank="of-dana", text="Dana likes it my way"), DENIED),
        ):
            with pytest.raises(grpc.RpcError) as denied:
                refused()
            assert denied.value.code() is code
        (entry,) = reviewer.list_queue(bank="of-dana", status=memory_pb2.STATUS_ACCEPTED).entries
        assert (entry.memory.id, entry.actor, entry.role) == (kept.id, "dana", "user")
        reviewer.quarantine(bank="of-dana", id=kept.id, reason="not a preference")
        assert not dana.recall(bank="of-dana", query="short answers").results
        again = dana.save_preference(bank="of-dana", text="I like short answers in the morning")
        assert (again.seq, again.memory.status) == (0, memory_pb2.STATUS_QUARANTINED)
