"""The engine's best k against a scorer that goes through every memory in plain Python, straight from the formula."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest
from ranked_bank import ANALYZER, DAY, NOW, RankedBank, ranked_bank, turn

from index.bm25 import LENGTHS
from recall.memory.record import NewMemory, Record
from recall.ranking.query import Mode

WORDS = ["otter", "heron", "river", "bank", "reed", "stone", "moss", "fern", "newt", "pike"]
AUTHORS = ["dana", "eve", "user", ""]

QUERY_WORDS = [*WORDS, "dana", "I", "unheard"]
SEEDS = range(24)


@dataclass(frozen=True)
class _Told:
    """One memory as the oracle sees it."""

    record: Record
    text: str
    terms: Counter[str]


class _Oracle:
    """The formula of `recall.ranking.fuse`, memory by memory."""

    def __init__(self, bank: RankedBank, query: str) -> None:
        self.bank, self.settings = bank, bank.settings
        self.told = [
            _Told(r, bank.bank.text(r), Counter(ANALYZER.tokens(bank.bank.text(r)))) for r in bank.bank.records()
        ]
        self.told = [one for one in self.told if one.record.status.value == "accepted"]
        self.names = _named(query, {one.record.author for one in self.told if one.record.author})
        self.terms = self._terms(query)
        self.bm25 = self.settings.bm25
        self.user, self.user_share = self._user(query)
        self.cosine = self._cosines(query)
        self.recency = {one.record.ordinal: self._recency(one.record) for one in self.told}
        self.norm = math.sqrt(sum(f * f for f in self.recency.values()) / len(self.told))

    def scores(self, hybrid: bool) -> dict[str, float]:
        """Sum by id, of those that match."""
        self.bm25 = self.settings.bm25 if hybrid else self.settings.bm25_alone
        lexical = {one.record.ordinal: self._lexical(one) for one in self.told}
        semantic = {o: self._standard(c) if hybrid else 0.0 for o, c in self.cosine.items()}
        content = {o: lexical[o] + semantic[o] for o in lexical}
        zero = self._zero() if hybrid else 0.0
        found = {}
        for one in self.told:
            at = one.record.ordinal
            near = self._near(one, content)
            total = content[at] + zero + near + self._session(one, content) + self._context(one)
            above = hybrid and self.cosine[at] >= self.settings.semantic_floor
            if self._cover(one) > 0 or above or near >= self.settings.near_floor or self._named_rarely(one):
                found[str(one.record.id)] = total
        return found

    def _terms(self, query: str) -> Counter[str]:
        hubs = [
            n for n in self.names if self._share(n) >= self.settings.hub_author_share and n in query.lower().split()
        ]
        words = [w for w in query.split() if w.lower() not in hubs] or query.split()
        terms = Counter(ANALYZER.query_terms(" ".join(words), 64).terms)
        if not terms:
            terms = Counter(ANALYZER.query_terms(query, 64).terms)
        return terms

    def _user(self, query: str) -> tuple[Counter[str], float]:
        """The handle as a word, and what part of the query it is."""
        known = any(one.terms[t] for t in self.terms for one in self.told)
        asked = "i" in query.lower().split() and (self._share("user") == 0.0 or not known)
        if not asked or "user" in self.terms:
            return Counter(), 0.0
        topical = ANALYZER.query_terms(query, 64).topical
        return Counter({"user": 1}), 1 / (1 + len(self.terms)) if topical else 1.0

    def _hubs(self, query: str) -> list[str]:
        said = query.lower().split()
        return [name for name in self.names if name in said and self._share(name) >= self.settings.hub_author_share]

    def _share(self, author: str) -> float:
        return sum(one.record.author == author for one in self.told) / len(self.told)

    def _named_rarely(self, one: _Told) -> bool:
        author, count = one.record.author, len(self.told)
        if author not in self.names or not author:
            return False
        df = sum(other.record.author == author for other in self.told)
        rarity = math.log1p((count - df + 0.5) / (df + 0.5)) / math.log1p((count - 0.5) / 1.5)
        return rarity >= self.settings.entity_floor

    def _idf(self, term: str) -> float:
        df = sum(one.terms[term] > 0 for one in self.told)
        return math.log(1 + (len(self.told) - df + 0.5) / (df + 0.5)) if df else 0.0

    def _bm25(self, one: _Told) -> float:
        return self._bm25_of(one, self.terms) + self.user_share * self._bm25_of(one, self.user)

    def _bm25_of(self, one: _Told, terms: Counter[str]) -> float:
        average = sum(other.terms.total() for other in self.told) / len(self.told)
        length = float(LENGTHS[one.terms.total() >= LENGTHS][-1])  # coarsened to one byte, as segments keep it
        saturation = 1.2 * (1 - 0.75 + 0.75 * length / average)
        return sum(n * self._idf(t) * one.terms[t] * 2.2 / (one.terms[t] + saturation) for t, n in terms.items())

    def _cover(self, one: _Told) -> float:
        return min(1.0, self._cover_of(one, self.terms) + self.user_share * self._cover_of(one, self.user))

    def _cover_of(self, one: _Told, terms: Counter[str]) -> float:
        whole = sum(self._idf(t) for t in terms)
        return sum(self._idf(t) for t in terms if one.terms[t]) / whole if whole else 0.0

    def _lexical(self, one: _Told) -> float:
        leg = self.bm25 * self._bm25(one) + self.settings.cover * self._cover(one) * math.sqrt(self._short(one))
        return leg * self.recency[one.record.ordinal] / self.norm

    def _short(self, one: _Told) -> float:
        return min(1.0, self.settings.short_characters / len(one.text))

    def _recency(self, record: Record) -> float:
        said = max(record.created_at, record.updated_at) if record.corroboration else record.created_at
        minute = self.bank.clock.time // 60_000_000 * 60_000_000
        return max(self.settings.recency_floor, 2 ** (-max(0, minute - said) / DAY / self.settings.half_life_days))

    def _cosines(self, query: str) -> dict[int, float]:
        embedder = self.bank.slot.embedder
        assert embedder is not None
        hubs = [
            n for n in self.names if self._share(n) >= self.settings.hub_author_share and n in query.lower().split()
        ]
        bare = [w for w in query.split() if w.lower() not in hubs]
        asked = " ".join("I" if w.lower() in hubs else w for w in query.split()) if hubs and bare else query
        vectors = embedder.encode([one.text for one in self.told])
        scores = vectors @ embedder.encode([asked])[0]
        return {one.record.ordinal: float(c) for one, c in zip(self.told, scores, strict=True)}

    def _scale(self) -> tuple[float, float]:
        seen, n0 = np.array(list(self.cosine.values())), self.settings.prior_memories
        mean = (seen.sum() + n0 * self.settings.prior_cosine_mean) / (len(seen) + n0)
        spread = ((seen - mean) ** 2).sum()
        spread += n0 * (self.settings.prior_cosine_deviation**2 + (self.settings.prior_cosine_mean - mean) ** 2)
        return float(mean), math.sqrt(spread / (len(seen) + n0))

    def _standard(self, cosine: float) -> float:
        mean, deviation = self._scale()
        return (cosine - mean) / deviation

    def _zero(self) -> float:
        mean, deviation = self._scale()
        return mean / deviation

    def _session_of(self, one: _Told) -> list[_Told]:
        source = one.record.source
        if source is None or not source.session:
            return []
        mates = [o for o in self.told if o.record.source and o.record.source.session == source.session]
        return sorted(mates, key=lambda o: (o.record.source.position if o.record.source else 0, o.record.ordinal))

    def _near(self, one: _Told, content: dict[int, float]) -> float:
        mates = [mate.record.ordinal for mate in self._session_of(one)]
        if not mates:
            return 0.0
        at = mates.index(one.record.ordinal)
        offers = [0.0]
        for place, ordinal in enumerate(mates):
            distance = abs(place - at)
            if 0 < distance <= len(self.settings.near_shares) and content[ordinal] >= self.settings.lent_from:
                offers.append(self.settings.near_shares[distance - 1] * content[ordinal])
        return max(offers) * self._short(one)

    def _session(self, one: _Told, content: dict[int, float]) -> float:
        mates = [content[mate.record.ordinal] for mate in self._session_of(one)]
        best = max((c for c in mates if c >= self.settings.lent_from), default=0.0)
        return self.settings.session_share * max(0.0, best - max(0.0, content[one.record.ordinal]))

    def _context(self, one: _Told) -> float:
        record = one.record
        asks = one.text.endswith("?") and len(one.text) < self.settings.bare_question_characters
        total = self.settings.entity * (record.author in self.names and record.author != "")
        total += self.settings.corroboration * math.log1p(record.corroboration) + self.settings.pinned * record.pinned
        return total - self.settings.bare_question * asks


def _named(query: str, authors: set[str]) -> set[str]:
    words = set(query.lower().split())
    return (words & authors) | ({"user"} if "i" in words else set())


def _fill(bank: RankedBank, random: Random) -> None:
    items = [_memory(n, random) for n in range(random.randint(3, 40))]
    records = bank.save(*items)
    for record in records[::5]:
        bank.bank.pin(record.id, True)
    bank.save(*[item.text for item in items[1::4]])
    for record in records[2::6]:
        bank.bank.delete(record.id)


def _memory(n: int, random: Random) -> NewMemory:
    said = " ".join(random.choices(WORDS, k=random.randint(1, 12) if random.random() < 0.9 else 90))
    text, author = f"{said} n{n}{random.choice(['', '?'])}", random.choice(AUTHORS)
    created = NOW - random.randint(0, 200) * DAY
    if random.random() < 0.7:
        return turn(text, author, f"s{random.randint(1, 3)}", random.randint(0, 9), created)
    return NewMemory(text=text, author=author, created_at=created)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", [Mode.LEXICAL, Mode.HYBRID])
def test_the_best_k_are_those_of_scoring_every_memory(tmp_path: Path, seed: int, mode: Mode) -> None:
    random = Random(seed)
    with ranked_bank(tmp_path) as bank:
        _fill(bank, random)
        for _ in range(4):
            query = " ".join(random.choices(QUERY_WORDS, k=random.randint(1, 5)))
            expected = _Oracle(bank, query).scores(hybrid=mode is Mode.HYBRID)
            found = {str(r.record.id): r.score for r in bank.ask(query, mode, limit=100).results}
            assert found.keys() == expected.keys(), query
            assert list(found.values()) == sorted(found.values(), reverse=True)
            for memory_id, total in expected.items():
                score = total if total >= 1.0 else math.exp(total - 1.0)
                assert found[memory_id] == pytest.approx(score, rel=1e-4), query
