"""Each guard on texts that only it should keep apart, and what no guard may say."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consolidate.guards import GUARDS, Verdict, plainly, speak
from consolidate.judgement import Likeness, judge
from consolidate.memo import Memo
from consolidate.settings import ConsolidateSettings

ALIKE = Likeness(0.99, 0.9)
SETTINGS = ConsolidateSettings()

KEPT = [
    ("numbers", "The limit is 100 req/min", "The limit is 1000 req/min"),
    ("numbers", "The user has two kids", "The user has three kids"),
    ("numbers", "Pages 1-5 are missing", "Pages 1, 5 are missing"),
    ("numbers", "The age limit is 18+", "The age limit is 18"),
    ("numbers", "The dose is .5 mg", "The dose is 5 mg"),
    ("numbers", "Use 5 + 3 slots", "Use 5 - 3 slots"),
    ("numbers", "It is -5 outside", "It is 5 outside"),
    ("numbers", "The deadline is October 15th", "The deadline is October 16th"),
    ("units", "Tokens live 15 minutes", "Tokens live 15 hours"),
    ("units", "The link carries 100 Mb", "The link carries 100 MB"),
    ("units", "The probe waits 500ms", "The probe waits 500m"),
    ("units", "It costs $12", "It costs €12"),
    ("units", "The plant yields 5 mW", "The plant yields 5 MW"),
    ("dates", "Never deploy on Fridays", "Never deploy on Mondays"),
    ("dates", "Open May–July", "Open May, July"),
    ("dates", "Rent is due in May", "Rent is due in June"),
    ("dates", "Backups run at 3am", "Backups run at 3pm"),
    ("dates", "The pharmacy closes at noon", "The pharmacy closes at midnight"),
    ("negation", "The user is allergic to peanuts", "The user is not allergic to peanuts"),
    ("negation", "Deploys need approval", "Deploys don't need approval"),
    ("opposites", "Enable tracing", "Disable tracing"),
    ("opposites", "The user likes tea", "The user dislikes tea"),
    ("opposites", "The cache is mutable", "The cache is immutable"),
    ("quantifiers", "All tests pass", "Some tests pass"),
    ("modality", "Reviews must be done", "Reviews may be done"),
    ("question", "The user likes jazz", "Does the user like jazz?"),
    ("question", "The build is broken", "Is the build broken"),
    ("identifiers", "See example.com/a", "See example.com/b"),
    ("identifiers", "Use scikit_learn", "Use scikit_image"),
    ("identifiers", "Mail ann@a.org", "Mail anna@a.org"),
    ("identifiers", "Run it with -v", "Run it with -V"),
    ("quotations", 'The label is "Save draft"', 'The label is "Save copy"'),
    ("symbols", "Latency < limit", "Latency > limit"),
    ("symbols", "<5 users left", ">5 users left"),
    ("symbols", "x < y > z", "x > y < z"),
    ("symbols", "Retry while a && b", "Retry while a || b"),
    ("symbols", "Use x ∈ S", "Use x ∉ S"),
    ("symbols", "The range is [0, 1)", "The range is (0, 1]"),
    ("symbols", "The board is 5' long", 'The board is 5" long'),
    ("symbols", "Flag 🇲🇨", "Flag 🇨🇲"),
    ("question", "الملف جاهز", "الملف جاهز؟"),
    ("names", "The user met Dana in Oslo", "The user met Dana in Bergen"),
    ("persons", "He likes tea", "She likes tea"),
    ("argument_order", "Alice manages Bob", "Bob manages Alice"),
    ("argument_order", "The user moved from New York to Florida", "The user moved from Florida to New York"),
    ("language", "The cat is on the mat and it is fat", "Die Katze ist auf der Matte und ist fett"),
    ("language", "tea", "чай"),
    ("classes", "The favourite colour is purple", "The favourite colour is cyan"),
    ("classes", "In dev the cache is off", "In prod the cache is off"),
]

DOUBTED = [
    ("names", "Ask Williams", "Ask William"),
    ("letter_case", "The user reads US news", "The user reads us news"),
    ("names", "Andreas manages the shop", "Andrea manages the shop"),
    ("names", "Perkins leads the team", "Perkin leads the team"),
    ("names", "Ask Ms Grey", "Ask Ms Gray"),
    ("names", "The user works with Windows", "The user works with a window"),
    ("letter_case", "The user needs RAM", "The user needs ram"),
    ("letter_case", "The user works at Target", "The user works at target"),
    ("letter_case", "Set userId in the form", "Set userid in the form"),
    ("letter_case", "Set userId in the header", "Set userID in the header"),
    ("letter_case", "Set MAX_LEN to ten", "Set max_len to ten"),
    ("identifiers", "The grade is C-", "The grade is C"),
    ("symbols", "Match *.py", "Match .py"),
    ("symbols", "Use x % y", "Use x / y"),
    ("symbols", "Set $HOME", "Set HOME"),
    ("symbols", "The rate is 5‰", "The rate is 5"),
    ("symbols", "The hotel has 5*", "The hotel has 5"),
    ("wording", "Bring a dozen", "Bring dozens"),
    ("symbols", "Use a + b", "Use a - b"),
    ("punctuation", "Let's eat, grandma", "Let's eat grandma"),
    ("punctuation", "Drive slow, children", "Drive slow children"),
    ("punctuation", "The users, who pay, get support", "The users who pay get support"),
    ("punctuation", "He did not leave, because he was tired", "He did not leave because he was tired"),
    ("punctuation", "However, you fix it", "However you fix it"),
    ("punctuation", "Bob, restart the server", "Bob restarts the server"),
    ("punctuation", "Woman, without her man, is lost", "Woman, without her, man is lost"),
    ("punctuation", "Bob said Ann is late", "Bob, said Ann, is late"),
    ("punctuation", "He left? Fine.", "He left. Fine."),
    ("punctuation", "A man-eating shark", "A man eating shark"),
    ("counts", "The user has a daughter", "The user has daughters"),
    ("symbols", "No, restart the server", "No restart the server"),
    ("wording", "The couch is in the living room", "The couch is in the waiting room"),
    ("argument_order", "On rainy afternoons the user paints", "The user paints on rainy afternoons"),
]


@pytest.mark.parametrize(("guard", "a", "b"), KEPT)
def test_a_guard_keeps_different_facts_apart(guard: str, a: str, b: str) -> None:
    found = GUARDS[guard](Memo("1", a), Memo("2", b))
    assert found is not None
    assert (found.guard, found.verdict) == (guard, Verdict.KEEP)
    assert judge(Memo("1", a), Memo("2", b), ALIKE, SETTINGS).verdict is Verdict.KEEP


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The user sees a therapist every week", "The user goes to therapy weekly"),
        ("The user has trouble falling asleep", "The user finds it hard to get to sleep"),
        ("The meeting was moved from Monday to Tuesday", "The Monday meeting takes place on Tuesday"),
        ("The user loves the fall", "The user loves autumn"),
        ("Pages 1-5 are missing", "Pages 1 to 5 are missing"),
    ],
)
def test_what_may_be_a_paraphrase_is_not_kept_apart(a: str, b: str) -> None:
    assert judge(Memo("1", a), Memo("2", b), ALIKE, SETTINGS).verdict is Verdict.PROPOSE


@pytest.mark.parametrize(("guard", "a", "b"), DOUBTED)
def test_a_doubt_is_left_to_people(guard: str, a: str, b: str) -> None:
    judged = judge(Memo("1", a), Memo("2", b), ALIKE, SETTINGS)
    assert judged.verdict is Verdict.PROPOSE
    assert guard in {finding.guard for finding in judged.findings}


def test_every_guard_is_shown_to_speak() -> None:
    elsewhere = {"emptiness", "scope", "entities"}
    assert {guard for guard, _, _ in KEPT + DOUBTED} | elsewhere == GUARDS.keys()


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (Memo("1", "x y", kind="fact"), Memo("2", "x y", kind="decision"), Verdict.KEEP),
        (Memo("1", "x y", author="ann"), Memo("2", "x y", author="bob"), Verdict.KEEP),
        (Memo("1", "x y", author="Ann"), Memo("2", "x y", author="ann"), Verdict.MERGE),
        (Memo("1", "x y", author="ann"), Memo("2", "x y"), Verdict.MERGE),
        (Memo("1", "x y", agent="planner"), Memo("2", "x y", agent="coder"), Verdict.PROPOSE),
        (Memo("1", "x y", tags=("work",)), Memo("2", "x y", tags=("home",)), Verdict.PROPOSE),
        (Memo("1", "x y", tags=("work", "q")), Memo("2", "x y", tags=("work",)), Verdict.MERGE),
        (Memo("1", "x y", entities=("ann",)), Memo("2", "x y", entities=("bob",)), Verdict.KEEP),
        (Memo("1", "x y", pinned=True), Memo("2", "x y"), Verdict.MERGE),
    ],
)
def test_scope_decides_where_the_texts_are_equal(a: Memo, b: Memo, verdict: Verdict) -> None:
    assert judge(a, b, ALIKE, SETTINGS).verdict is verdict


@pytest.mark.parametrize("text", ["", " ", "...", "—", "🙂", "\0", "\ud800"])
def test_texts_without_words_are_kept_apart_even_from_themselves(text: str) -> None:
    assert judge(Memo("1", text), Memo("2", text), Likeness(1.0, 1.0), SETTINGS).verdict is Verdict.KEEP


@pytest.mark.parametrize(
    ("a", "b"),
    [
        # as reported from the field: two people, two places, two values
        ("Alice is the CEO", "Sarah is the CTO"),
        ("The HQ is in San Francisco", "The HQ is in New York"),
        ("The user's favourite colour is purple", "The user's favourite colour is cyan"),
        ("The user lives in Lyon", "The user lives in Nice"),
        ("The default branch is main", "The default branch is trunk"),
    ],
)
def test_no_likeness_merges_two_values(a: str, b: str) -> None:
    assert judge(Memo("1", a), Memo("2", b), Likeness(1.0, 1.0), SETTINGS).verdict is not Verdict.MERGE


WORDS = st.sampled_from(
    "the a user likes not never tea 3 4 kg Alice Bob Friday may May can is was no without on off all ? ! a/b".split()
)
TEXTS = st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=30)


@settings(deadline=None)
@given(TEXTS, TEXTS, st.floats(-1, 1), st.floats(0, 1))
def test_a_judgement_does_not_depend_on_the_order_of_the_pair(a: str, b: str, cosine: float, jaccard: float) -> None:
    one, two, alike = Memo("1", a), Memo("2", b), Likeness(cosine, jaccard)
    there, back = judge(one, two, alike, SETTINGS), judge(two, one, alike, SETTINGS)
    assert there == back


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_skipping_what_both_state_alike_changes_no_word(a: str, b: str) -> None:
    """The guards that are not asked because both texts state the same would have said nothing."""
    first, second = sorted((plainly(Memo("1", a)), plainly(Memo("2", b))), key=lambda memo: (memo.text, memo.id))
    said = [finding for guard in GUARDS.values() if (finding := guard(first, second))]
    keep = next((at for at, finding in enumerate(said) if finding.verdict is Verdict.KEEP), len(said))
    assert speak(first, second) == tuple(said[: keep + 1])


@settings(deadline=None)
@given(st.lists(st.sampled_from("user likes green tea Oslo cats runs daily 12".split()), min_size=1, max_size=8))
def test_texts_with_other_content_words_never_merge(words: list[str]) -> None:
    text = " ".join(words)
    for other in (f"{text} zanzibar", f"zanzibar {text}", " ".join(["zanzibar", *words[1:]])):
        judged = judge(Memo("1", text), Memo("2", other), Likeness(1.0, 1.0), SETTINGS)
        assert judged.verdict is not Verdict.MERGE


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "A ",
        "a-",
        "a.",
        "a/",
        "'",
        '"a',
        "1",
        "1,",
        "@a",
        "_a",
        "-",
        "é",
        "ll",
        "No, ",
        "not ",
        "so, ",
        ", who ",
        "5' ",
        "(1,",
    ],
)
def test_the_longest_memory_of_one_piece_is_judged_at_once(piece: str) -> None:
    text = (piece * 8_000)[:8_000]
    began = time.process_time()
    judge(Memo("1", text), Memo("2", text + " x"), ALIKE, SETTINGS)
    assert time.process_time() - began < 2.0
