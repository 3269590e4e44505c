"""RuleService: check → write or read → convert."""

from __future__ import annotations

import grpc

from recall.memory.bank import Bank
from recall.memory.errors import MemoryServiceError
from recall.memory.lifecycle import Role
from recall.memory.record import Actor, Kind, NewMemory, Policy
from recall.memory.rule_book import RuleBook
from recall.memory.rule_state import Rule
from recall.memory.rules import LEARNED
from recall.server import checks_rule, convert
from recall.server.caller import caller, seconds_left
from recall.server.live import LiveBanks
from recall.v1 import rule_service_pb2 as pb
from recall.v1.rule_service_pb2_grpc import RuleServiceServicer


class RuleService(RuleServiceServicer):
    """Keeps the rules of banks."""

    def __init__(self, live: LiveBanks) -> None:
        self._live = live

    def Set(self, request: pb.RuleServiceSetRequest, context: grpc.ServicerContext) -> pb.RuleServiceSetResponse:  # noqa: N802
        """Writes a rule."""
        checks_rule.set_rule(request)
        who = caller(context)
        expected = request.expected_revision if request.HasField("expected_revision") else None
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            book = RuleBook(live.bank)
            written = book.set(request.name, request.text, who.actor, expected, request.note)
            return pb.RuleServiceSetResponse(rule=_message(book, written.rule), seq=written.seq)

    def Get(self, request: pb.RuleServiceGetRequest, context: grpc.ServicerContext) -> pb.RuleServiceGetResponse:  # noqa: N802
        """One rule."""
        checks_rule.get(request)
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            book = RuleBook(live.bank)
            revisions = book.revisions(request.name) if request.history else []
            told = [_revision(rule, actor.id) for rule, actor in revisions]
            if told and not told[-1].text:  # it was taken out of use; what it said is asked for
                return pb.RuleServiceGetResponse(revisions=told)
            return pb.RuleServiceGetResponse(rule=_message(book, book.get(request.name)), revisions=told)

    def List(self, request: pb.RuleServiceListRequest, context: grpc.ServicerContext) -> pb.RuleServiceListResponse:  # noqa: N802
        """All rules of a bank."""
        checks_rule.list_rules(request)
        with self._live.lease(request.bank, seconds_left(context), caller(context).tenant) as live:
            book = RuleBook(live.bank)
            return pb.RuleServiceListResponse(rules=[_message(book, rule) for rule in book.in_force()])

    def Delete(  # noqa: N802
        self, request: pb.RuleServiceDeleteRequest, context: grpc.ServicerContext
    ) -> pb.RuleServiceDeleteResponse:
        """Takes a rule out of use."""
        checks_rule.delete(request)
        who = caller(context)
        expected = request.expected_revision if request.HasField("expected_revision") else None
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            written = RuleBook(live.bank).delete(request.name, who.actor, expected, request.note)
            return pb.RuleServiceDeleteResponse(seq=written.seq)

    def LearnRule(self, request: pb.LearnRuleRequest, context: grpc.ServicerContext) -> pb.LearnRuleResponse:  # noqa: N802
        """Adds lines to the rule `learned`, or nominates them."""
        checks_rule.learn(request)
        who = caller(context)
        with self._live.lease(request.bank, seconds_left(context), who.tenant) as live:
            bank, texts = live.bank, list(request.texts)
            if bank.info.policy is Policy.GOVERNED and who.role is Role.JOB:
                return pb.LearnRuleResponse(outcomes=_nominated(bank, texts, who.actor))
            book = RuleBook(bank)
            fresh = book.learn(texts, who.actor)
            outcomes = [pb.LEARN_OUTCOME_ADDED if new else pb.LEARN_OUTCOME_KNOWN for new in fresh]
            return pb.LearnRuleResponse(outcomes=outcomes, rule=_message(book, book.get(LEARNED)))


def _nominated(bank: Bank, texts: list[str], actor: Actor) -> list[pb.LearnOutcome.ValueType]:
    items = [NewMemory(text=" ".join(text.split()), kind=Kind.CONVENTION) for text in texts]
    for saved in bank.nominate(items, actor):
        if isinstance(saved, MemoryServiceError):
            raise saved
    return [pb.LEARN_OUTCOME_NOMINATED] * len(items)


def _message(book: RuleBook, rule: Rule) -> pb.Rule:
    message = _revision(rule, book.writer(rule))
    message.edited_by_hand = book.edited_by_hand(rule.name)
    return message


def _revision(rule: Rule, writer: str) -> pb.Rule:
    message = pb.Rule(name=rule.name, text=rule.text, revision=rule.revision, updated_by=writer)
    convert.set_time(message.updated_at, rule.at)
    return message
