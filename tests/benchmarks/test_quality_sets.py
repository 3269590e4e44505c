"""Every loader on a small file in the published layout: what it takes, and what it says it dropped."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.dataset import Dataset, LayoutError
from benchmarks.quality.sets import registry


def _written(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def _evidence(dataset: Dataset) -> dict[str, list[str]]:
    return {question.id: [piece.document for piece in question.evidence] for question in dataset.questions()}


def _dropped(dataset: Dataset) -> dict[str, int]:
    return {reason: len(ids) for reason, ids in dataset.dropped.items()}


def _texts(dataset: Dataset) -> dict[str, str]:
    return {document.id: document.text for haystack in dataset.haystacks for document in haystack.documents}


_CHAT = {
    "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "last"}],
    "session_10_date_time": "1:05 pm on 8 May, 2023",
    "session_2": [
        {"speaker": "Al", "dia_id": "D2:1", "text": "look", "blip_caption": "a red boat"},
        {"speaker": "Bo", "dia_id": "D2:2", "text": " "},
        {"speaker": "Bo", "dia_id": "D2:3", "text": "fine"},
    ],
    "session_2_date_time": "11:59 am on 1 January, 2023",
    "speaker_a": "Al",
}
_QA = [
    {"question": "both", "evidence": ["D2:1; D10:1"], "category": 1},
    {"question": "twice", "evidence": ["D2:3", "D2:3,D2:1"], "category": 4},
    {"question": "partly", "evidence": ["D", "D10:1 D9:9"], "category": 2},
    {"question": "none", "evidence": [], "category": 5},
    {"question": "gone", "evidence": ["D2:2"], "category": 3},
]


def _locomo(folder: Path) -> Path:
    return _written(folder / "l.json", [{"sample_id": "c1", "conversation": _CHAT, "qa": _QA}])


def test_locomo_turns_keep_speaker_session_order_caption_and_time(tmp_path: Path) -> None:
    dataset = registry.load("locomo", _locomo(tmp_path), "turn")
    documents = dataset.haystacks[0].documents
    assert [document.id for document in documents] == ["D2:1", "D2:3", "D10:1"]
    assert documents[0].text == "look (image: a red boat)"
    assert (documents[0].author, documents[0].session) == ("Al", "session_2")
    assert documents[2].at == datetime(2023, 5, 8, 13, 5, tzinfo=UTC)


def test_locomo_evidence_is_split_deduplicated_and_what_does_not_resolve_is_counted(tmp_path: Path) -> None:
    dataset = registry.load("locomo", _locomo(tmp_path))
    assert _evidence(dataset) == {"c1/0": ["D2:1", "D10:1"], "c1/1": ["D2:3", "D2:1"], "c1/2": ["D10:1"]}
    assert _dropped(dataset) == {
        "evidence: no such document": 3,
        "question: no evidence that resolves": 2,
        "turn: no text": 1,
    }


def test_locomo_headline_leaves_the_adversarial_category_out(tmp_path: Path) -> None:
    dataset = registry.load("locomo", _locomo(tmp_path))
    assert [dataset.in_headline(category) for category in "12345"] == [True, True, True, True, False]


def test_locomo_sessions_are_joined_and_evidence_moves_to_its_session(tmp_path: Path) -> None:
    dataset = registry.load("locomo", _locomo(tmp_path), "session")
    assert _texts(dataset) == {"session_2": "Al: look (image: a red boat)\nBo: fine", "session_10": "Bo: last"}
    assert _evidence(dataset)["c1/1"] == ["session_2"]
    assert all(not document.session for document in dataset.haystacks[0].documents)


def test_realtalk_reads_clean_text_and_the_time_of_a_turn(tmp_path: Path) -> None:
    chat = {
        "name": {"speaker_1": "Al"},
        "session_1": [
            {
                "speaker": "Al",
                "dia_id": "D1:1",
                "clean_text": "clean",
                "text": "raw",
                "date_time": "29.12.2023, 00:51:12",
            }
        ],
        "session_1_date_time": "29.12.2023, 00:50:00",
        "events_session_1": {"agent_a": []},
        "qa": [{"question": "what", "evidence": ["D1:1"], "category": 2}, {"question": "how", "category": 3}],
    }
    _written(tmp_path / "chats" / "Chat_1.json", chat)
    dataset = registry.load("realtalk", tmp_path / "chats")
    assert _texts(dataset) == {"D1:1": "clean"}
    assert _dropped(dataset) == {"question: no evidence that resolves": 1}
    assert dataset.haystacks[0].documents[0].at == datetime(2023, 12, 29, 0, 51, 12, tzinfo=UTC)


def _longmemeval(folder: Path) -> Path:
    sessions = {
        "s1": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}],
        "answer_1": [
            {"role": "user", "content": "I moved", "has_answer": True},
            {"role": "assistant", "content": "ok", "has_answer": False},
            {"role": "user", "content": "thanks", "has_answer": False},
        ],
        "answer_2": [
            {"role": "user", "content": "tell me", "has_answer": False},
            {"role": "assistant", "content": "42", "has_answer": True},
        ],
        "mute": [{"role": "assistant", "content": "anyone?"}],
    }
    one = {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "where",
        "answer_session_ids": ["answer_1", "answer_2"],
        "haystack_dates": ["2023/07/12 (Wed) 10:14"] * 4,
        "haystack_session_ids": list(sessions),
        "haystack_sessions": list(sessions.values()),
    }
    lists = {key: value for key, value in one.items() if key not in ("question", "answer_session_ids")}
    many = {**lists, "question_id": "q2", "questions": ["a", "b"], "answer_session_ids": [["s1"], ["answer_1"]]}
    return _written(folder / "lme.json", [one, {**one, "question_id": "q3_abs"}, many])


def test_longmemeval_sessions_are_the_user_turns_joined(tmp_path: Path) -> None:
    dataset = registry.load("longmemeval", _longmemeval(tmp_path), "session")
    assert _texts(dataset) == {"s1": "hello", "answer_1": "I moved\nthanks", "answer_2": "tell me"}
    assert _evidence(dataset) == {"q1": ["answer_1"], "q2/0": ["s1"], "q2/1": ["answer_1"]}
    assert _dropped(dataset)["question: abstention, nothing to find"] == 1


def test_longmemeval_turn_evidence_is_the_labelled_user_turns_alone(tmp_path: Path) -> None:
    dataset = registry.load("longmemeval", _longmemeval(tmp_path), "turn")
    assert _evidence(dataset) == {"q1": ["answer_1#0"], "q2/1": ["answer_1#0"]}
    assert _dropped(dataset)["question: no user turn of its answer sessions is labelled"] == 1
    assert dataset.haystacks[0].documents[0].at == datetime(2023, 7, 12, 10, 14, tzinfo=UTC)


def test_beam_strips_markers_and_flattens_nested_source_ids(tmp_path: Path) -> None:
    chat = [
        {
            "batch_number": 1,
            "turns": [
                [
                    {"role": "user", "id": 0, "content": "plan it ->-> 1,1", "time_anchor": "March-15-2024"},
                    {"role": "assistant", "id": 1, "content": "a -> b"},
                ],
                [{"role": "user", "id": 2, "content": "done ->-> 1,N/A)"}],
            ],
        }
    ]
    probes = {
        "abstention": [{"question": "never said"}],
        "knowledge_update": [{"question": "now", "source_chat_ids": {"old": [0], "new": [[2], 99]}}],
        "summarization": [{"question": "lost", "source_chat_ids": [77]}],
    }
    _written(tmp_path / "beam" / "7" / "chat.json", chat)
    _written(tmp_path / "beam" / "7" / "probing_questions.json", probes)
    dataset = registry.load("beam", tmp_path / "beam")
    assert _texts(dataset) == {"0": "plan it", "1": "a -> b", "2": "done"}
    assert _evidence(dataset) == {"7/knowledge_update/0": ["0", "2"]}
    assert _dropped(dataset) == {
        "evidence: no such document": 2,
        "question: no source messages (abstention)": 1,
        "question: no evidence that resolves": 1,
    }
    assert dataset.haystacks[0].documents[2].at == datetime(2024, 3, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "topic",
    [
        "<top>\n<num>1</num><title>\nRED\nBOATS\n</title>\n</top>",
        "<top>\n<num> Number: 1\n<title> Topic: RED BOATS\n\n<desc> Description:\nlong\n</top>",
    ],
)
def test_a_trec_folder_is_read_in_both_styles_of_topic(tmp_path: Path, topic: str) -> None:
    folder = tmp_path / "coll"
    _written(
        folder / "doc-text.trec",
        "<DOC>\n<DOCNO> d1 </DOCNO>\n<TEXT>a red\nboat</TEXT>\n</DOC>\n<DOC><DOCNO>d2</DOCNO>\nx\n</DOC>",
    )
    _written(folder / "query-text.trec", topic + "\n<top><num>2</num><title>none</title></top>")
    _written(folder / "qrels", "1 0 d1 2\n1 0 d2 0\n1 0 d9 1\n")
    dataset = registry.load("trec", folder)
    questions = list(dataset.questions())
    assert _texts(dataset) == {"d1": "a red boat", "d2": "x"}
    assert [(question.text, question.evidence[0].gain) for question in questions] == [("RED BOATS", 2)]
    assert _dropped(dataset) == {"evidence: no such document": 1, "question: no relevant document": 1}


def test_a_beir_folder_puts_the_title_before_the_text(tmp_path: Path) -> None:
    _written(tmp_path / "corpus.jsonl", '{"_id":"d1","title":"Boats","text":"are red"}\n{"_id":"d2","text":""}\n')
    _written(tmp_path / "queries.jsonl", '{"_id":"q1","text":"boats?"}\n{"_id":"q2","text":"unjudged"}\n')
    _written(tmp_path / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    dataset = registry.load("beir", tmp_path)
    assert _texts(dataset) == {"d1": "Boats\nare red"}
    assert _evidence(dataset) == {"q1": ["d1"]}
    assert _dropped(dataset) == {"document: no text": 1, "question: no relevant document": 1}


def test_devbench_evidence_is_every_memory_with_an_expected_tag(tmp_path: Path) -> None:
    memories = [
        {"id": "m1", "content": "x", "tags": ["t", "m1"], "created_at_iso": "2025-06-12T09:15:00Z"},
        {"id": "m2", "content": "y", "tags": ["t", "m2"]},
    ]
    queries = [
        {"id": "q1", "category": "exact", "question": "?", "expected_tags": ["m2", "m1"]},
        {"id": "q2", "category": "negative", "question": "?", "expected_tags": []},
    ]
    dataset = registry.load("devbench", _written(tmp_path / "d.json", {"memories": memories, "queries": queries}))
    assert _evidence(dataset) == {"q1": ["m1", "m2"]}
    assert _dropped(dataset) == {"question: no memory carries its expected tags": 1}


def test_memdaily_gives_every_trajectory_a_haystack_of_its_own(tmp_path: Path) -> None:
    messages = [{"mid": n, "message": f"消息{n}", "time": "2024年04月01日 周一 08:39"} for n in range(3)]
    good = {"question": "谁", "answer": "我", "target_step_id": [1, 8]}
    failed = {"question": "[ERRORQ]", "answer": "", "target_step_id": [0]}
    trajectories = [
        {"tid": 0, "message_list": messages, "QA": good},
        {"tid": 1, "message_list": messages, "QA": failed},
    ]
    dataset = registry.load("memdaily", _written(tmp_path / "m.json", {"simple": {"roles": trajectories}}))
    assert _evidence(dataset) == {"simple/roles/0/0": ["1"]}
    assert [question.category for question in dataset.questions()] == ["simple/roles"]
    assert dataset.haystacks[0].documents[0].at == datetime(2024, 4, 1, 8, 39, tzinfo=UTC)
    assert _dropped(dataset) == {"evidence: no such document": 1, "question: the generator failed on it": 1}


def test_memdaily_among_the_messages_of_others_is_cited_by_place(tmp_path: Path) -> None:
    messages = ["别人的话", "我表弟36岁 (消息地点 广东深圳, 消息时间 2024年04月02日 周二 21:21)", "还有(括号)的话"]
    good = {"question": "多大", "answer": "36岁", "target_step_id": [1]}
    content = {"simple": {"roles": [{"tid": 0, "message_list": messages, "QA": good}], "items": None}}
    dataset = registry.load("memdaily", _written(tmp_path / "memdaily_1.json", content))
    assert _texts(dataset) == {"0": "别人的话", "1": "我表弟36岁", "2": "还有(括号)的话"}
    assert _evidence(dataset) == {"simple/roles/0/0": ["1"]}
    assert [document.at for document in dataset.haystacks[0].documents] == [
        None,
        datetime(2024, 4, 2, 21, 21, tzinfo=UTC),
        None,
    ]


def test_memdaily_as_its_generator_leaves_it_is_a_folder_of_lists(tmp_path: Path) -> None:
    messages = [
        {"mid": n, "message": f"消息{n}", "time": "2024年04月01日 周一 08:39", "place": "上海"} for n in range(4)
    ]
    asked = {"qid": 0, "question": "谁", "answer": "我", "target_step_id": [0, 2], "choices": {}, "ground_truth": "A"}
    for name in ("01_simple_roles", "06_noisy_hybrid"):
        trajectories = [{"tid": 0, "message_list": messages, "question_list": [asked]}]
        _written(tmp_path / "made" / f"{name}.json", trajectories)
    dataset = registry.load("memdaily", tmp_path / "made")
    assert _evidence(dataset) == {"01_simple_roles/0/0": ["0", "2"], "06_noisy_hybrid/0/0": ["0", "2"]}


def test_the_set_of_our_own_has_every_category_and_words_said_twice() -> None:
    dataset = registry.load("tiny", None)
    assert {question.category for question in dataset.questions()} == set("12345")
    texts = [document.text for document in dataset.haystacks[0].documents]
    assert len(texts) > len(set(texts))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("locomo", [{"qa": []}]),
        ("longmemeval", [{"question_id": "q"}]),
        ("devbench", {"queries": []}),
        ("realtalk", {"qa": [], "session_1": [{}]}),
    ],
)
def test_another_layout_is_refused_with_the_path(tmp_path: Path, name: str, content: Any) -> None:
    with pytest.raises(LayoutError, match=r"x\.json"):
        registry.load(name, _written(tmp_path / "x.json", content))


@pytest.mark.parametrize(
    ("name", "path", "unit"), [("nope", "x", None), ("locomo", "x", "paragraph"), ("locomo", None, None)]
)
def test_an_unknown_set_or_unit_or_a_missing_path_is_named(name: str, path: str | None, unit: str | None) -> None:
    with pytest.raises(registry.UnknownSetError):
        registry.load(name, Path(path) if path else None, unit)


def test_cutting_a_set_to_its_first_haystacks_counts_the_rest(tmp_path: Path) -> None:
    two = [{"sample_id": name, "conversation": _CHAT, "qa": _QA} for name in ("c1", "c2")]
    dataset = registry.load("locomo", _written(tmp_path / "l.json", two)).first(1)
    assert len(dataset.haystacks) == 1
    assert _dropped(dataset)["question: haystack beyond --haystacks"] == 3
