"""What a request of RuleService must be."""

from __future__ import annotations

from typing import Any

from recall.memory import names
from recall.memory.names import LIMITS
from recall.memory.rules import learned_line
from recall.server import checks
from recall.server.checks import Check
from recall.v1 import rule_service_pb2 as pb

MOST_LEARNED = 16


def set_rule(request: pb.RuleServiceSetRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = named_fields(request)
    checks.as_kept(check, names.checked_rule, request.text)
    checks.at_most(check, request.note, LIMITS.note, "note")
    check.done()


def delete(request: pb.RuleServiceDeleteRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = named_fields(request)
    checks.at_most(check, request.note, LIMITS.note, "note")
    check.done()


def get(request: pb.RuleServiceGetRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    named_fields(request).done()


def list_rules(request: pb.RuleServiceListRequest) -> None:
    """Raises InvalidRequest unless the request names a bank."""
    check = Check()
    checks.bank_name(check, request.bank)
    check.done()


def learn(request: pb.LearnRuleRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.int_between(check, len(request.texts), 1, MOST_LEARNED, "texts")
    for place, text in enumerate(request.texts[:MOST_LEARNED]):
        checks.as_kept(check, learned_line, text, f"texts[{place}]")
    check.done()


def named_fields(request: Any) -> Check:
    """A bank and a rule, both required."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.bank_name(check, request.name, "name")
    return check
