"""The whole service on one screen: what it is made of, in which order it starts and stops.

Start: data folder (locked) → encoder (loads in the background) → banks (opened when asked for) → gRPC → SERVING.
Stop, on SIGTERM or SIGINT: NOT_SERVING, no new calls, watch streams end, running calls finish within the grace, then
what works in the background, then the logs.
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from index.analysis_settings import AnalysisSettings
from index.analyzer import Analyzer, analyzer_of
from index.backfill import Backfill
from index.embedder import EmbedderSlot
from index.late_interaction import LateInteraction
from index.query_cache import QueryCache
from index.token_encoder import TokenEncoder
from recall.address import Address
from recall.context.assemble import Assembler
from recall.context.catalogue import Catalogue
from recall.doctor import Doctor
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import Clock, SystemClock
from recall.memory.errors import DataFolderUnusable
from recall.memory.files import DiskFiles
from recall.ranking.bank_index import BankIndex
from recall.ranking.engine import Engine
from recall.ranking.index_settings import IndexSettings
from recall.ranking.second_stage import SecondStage
from recall.ranking.settings import RerankSettings
from recall.server.admin_service import AdminService, Running
from recall.server.bank_service import BankService
from recall.server.consolidate_service import ConsolidateService, Tending
from recall.server.context_service import ContextService
from recall.server.describe import Describer
from recall.server.edge import Services, answering_calls
from recall.server.ending import ended_by_signals
from recall.server.flushing import Flusher
from recall.server.listening import CannotListen
from recall.server.live import LONGEST_WAIT_S, Indexes, LiveBank, LiveBanks
from recall.server.memory_service import MemoryService
from recall.server.places import Places
from recall.server.recall_service import Answering, RecallService
from recall.server.review_service import ReviewService
from recall.server.rule_service import RuleService
from recall.server.surplus import Afterwards, flush_last
from recall.server.trouble import gauges
from recall.server.warming import Warmer
from recall.server.watch import BankChanges, WatchHub
from recall.settings import Settings
from recall.telemetry import Telemetry
from recall.tending.checkpoints import Checkpoints
from recall.tending.runner import Runner
from recall.tending.scheduler import Scheduler
from recall.tending.traffic import Traffic

logger = logging.getLogger(__name__)

FIRST_TEXT = "Zoë's first word"
"""Analysed before anybody asks: the tables of the analysis are built with the first text."""
MODELS = ".models"
DERIVED = "derived"
VECTORS_AT_ONCE = 5_000
"""Memories of a bank that is open only once its vectors are there; a larger one answers by words until they are."""
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"
STOPPED_CLEANLY, CANNOT_START = 0, 1


def serve(settings: Settings) -> int:
    """Runs the service until SIGTERM or SIGINT: 0 after a clean stop; 1, with a line on stderr, if it cannot start."""
    logging.basicConfig(level=settings.server.log_level.upper(), stream=sys.stderr, format=LOG_FORMAT)
    wait = ended_by_signals()
    try:
        with running(settings) as address:
            gc.collect()
            gc.freeze()  # what a start leaves stays: to look through it took 50 ms now and then, in which no call ran
            sys.stdout.write(f"listening on {address}\n")
            sys.stdout.flush()
            wait()
            logger.info("stopping grace_s=%g", settings.server.grace_s)
    except (DataFolderUnusable, CannotListen) as error:
        sys.stderr.write(f"recall: {error}\n")
        return CANNOT_START
    return STOPPED_CLEANLY


@contextmanager
def running(settings: Settings) -> Iterator[Address]:
    """The service, answering inside the `with`. Raises DataFolderUnusable, CannotListen."""
    clock, telemetry = SystemClock(), Telemetry()
    hub = WatchHub(settings.server.max_watchers, settings.server.watch_queue)
    with ExitStack() as parts:
        analyzer(settings.analysis).tokens(FIRST_TEXT)
        slot = EmbedderSlot(settings.embedding, settings.data / MODELS)
        backfill = Backfill(slot, settings.backfill, time.monotonic)
        indexes = Indexes(partial(make_index, settings, slot, backfill, hub), partial(let_go, backfill), flush_last)
        catalogue = Catalogue()
        afterwards = Afterwards()
        banks = Banks(
            settings.data,
            settings.storage,
            DiskFiles(),
            clock,
            on_open=indexes.opened,
            on_close=catalogue.before(indexes.closed),
            on_surplus=indexes.surplus,
            later=afterwards,
        )
        parts.callback(banks.close)
        parts.enter_context(closing(afterwards))
        parts.callback(slot.close)
        parts.callback(backfill.close)
        queries = parts.enter_context(closing(QueryCache(slot)))
        live = parts.enter_context(closing(LiveBanks(banks, indexes, settings.server.create_banks_on_save)))
        telemetry.show(gauges(live))
        flusher = parts.enter_context(closing(Flusher(live, settings.server.flush_every_s)))
        warmer = parts.enter_context(closing(Warmer(live, settings.server.warm_banks)))
        second = parts.enter_context(second_stage(settings.rerank))
        engine = Engine(settings.ranking, queries, slot, clock, second_stage=second)
        doctor = Doctor(settings.data, live, engine, slot, partial(scratch, settings, slot))
        traffic = Traffic(backfill.paused)
        tending = make_tending(settings, live, traffic, clock)
        parts.enter_context(closing(tending.scheduler))
        services = Services(
            recall=RecallService(
                live,
                engine,
                answering(settings),
                telemetry,
                traffic.recall,
                Places(settings.server.max_recall_streams),
            ),
            memory=MemoryService(live, settings.server),
            bank=BankService(live, Describer(slot, clock), hub),
            admin=AdminService(about(settings, clock), live, slot, hub, telemetry, clock, doctor.examine),
            consolidate=ConsolidateService(live, tending, clock),
            review=ReviewService(live, clock),
            rule=RuleService(live),
            context=ContextService(
                live, engine, Assembler(settings.context), catalogue, clock, settings.budget, traffic.recall
            ),
        )
        address = parts.enter_context(answering_calls(services, settings, hub, telemetry, live, clock))
        slot.start()
        backfill.start()
        flusher.start()
        warmer.start()
        tending.scheduler.start()
        yield address


def make_tending(settings: Settings, live: LiveBanks, traffic: Traffic, clock: Clock) -> Tending:
    """What keeps banks small and true."""
    checkpoints, chosen = Checkpoints(DiskFiles()), settings.consolidate
    lease = partial(lease_in_time, live)
    runner = Runner(lease, chosen, settings.judge, checkpoints, traffic, clock)
    scheduler = Scheduler(runner, live.banks, checkpoints, chosen, clock)
    return Tending(runner, scheduler, chosen.enabled, chosen.interval_hours, bool(settings.judge.endpoint))


def lease_in_time(live: LiveBanks, tenant: str, name: str) -> AbstractContextManager[LiveBank]:
    """A bank for work that is in no hurry."""
    return live.lease(name, LONGEST_WAIT_S, tenant)


@contextmanager
def second_stage(settings: RerankSettings) -> Iterator[SecondStage | None]:
    """The stage that reorders by late interaction, where a model is named for it."""
    if not settings.model:
        yield None
        return
    load = partial(TokenEncoder, Path(settings.model), settings.max_tokens)
    with closing(LateInteraction(load, settings.cache_bytes, settings.most_pending, time.monotonic)) as late:
        late.start()
        yield SecondStage(late, settings)


def make_index(settings: Settings, slot: EmbedderSlot, backfill: Backfill, hub: WatchHub, bank: Bank) -> BankIndex:
    """Everything derived from a bank that was just opened."""
    index = bare_index(settings, slot, bank, VECTORS_AT_ONCE)
    bank.subscribe(BankChanges(bank, hub, backfill.poke))
    backfill.register(index)
    if index.embedded is None and slot.current() is not None:  # the backfill would do it too, but yields to recalls
        threading.Thread(target=index.use_current_model, name="recall-vectors", daemon=True).start()
    return index


def let_go(backfill: Backfill, index: BankIndex) -> None:
    """Ends the index of a bank that is about to close."""
    backfill.unregister(index)
    index.close()


def bare_index(settings: Settings, slot: EmbedderSlot, bank: Bank, vectors_at_once: int = sys.maxsize) -> BankIndex:
    """The search structures of a bank alone."""
    index_settings = IndexSettings(
        lexical=settings.lexical,
        vectors=settings.vectors,
        ranking=settings.ranking,
        vectors_at_once=vectors_at_once,
    )
    return BankIndex.open(bank, bank.place.folder / DERIVED, analyzer(settings.analysis), index_settings, slot.current)


@cache
def analyzer(settings: AnalysisSettings) -> Analyzer:
    """One for all banks: it remembers stems."""
    return analyzer_of(settings)


@contextmanager
def scratch(settings: Settings, slot: EmbedderSlot, folder: Path) -> Iterator[LiveBank]:
    """A bank in a folder of its own, for the doctor."""
    indexes = Indexes(partial(bare_index, settings, slot), BankIndex.close)
    banks = Banks(folder, settings.storage, DiskFiles(), SystemClock(), indexes.opened, indexes.closed)
    with closing(banks):
        bank = banks.create(DEFAULT_TENANT, "scratch")
        yield LiveBank(bank, indexes.of(bank))


def answering(settings: Settings) -> Answering:
    """What recalls leave open."""
    return Answering(settings.ranking, settings.budget, settings.recall.default_limit)


def about(settings: Settings, clock: Clock) -> Running:
    """What Status tells of the process."""
    return Running(version("recall-service"), settings.data.absolute(), settings.embedding.model, clock.now())
