"""Replies of thinking models through the real harness: thoughts that are cut off, and those with nothing after them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

import official_vrex
from chat_server import ChatServer, Reply, chat_server
from harness import evaluate, figures
from lmms_eval.models.model_utils.usage_metrics import reset_usage_metrics

from condchain_tasks.prompts import render

CUT = "<think>It could be (A) or A1, but"
TAGS = '[["<think>", "</think>"], ["<analysis>", "</analysis>"]]'  # lmms-eval's own


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four samples of V-REX, named by VREX_DATA."""
    root = official_vrex.write_dataset(tmp_path / "vrex", 4)
    monkeypatch.setenv("VREX_DATA", str(root))
    return root


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    """A judge that finds everything right, with a cache of its own."""
    monkeypatch.setenv("CCRV_JUDGE", f"judge-{tmp_path.name}")
    with chat_server(lambda _: Reply('{"reasoning": "", "r1": 1, "r2": 1, "r3": 1, "csr": 1}')) as server:
        monkeypatch.setenv("OPENAI_API_URL", server.url)
        yield server


def run(task: str, reply: Reply | str, tags: str | None = TAGS, **more: Any) -> tuple[dict[str, Any], ChatServer]:
    """Evaluates on a server that always says the same; `tags` as `--reasoning_tags` has them, None as from Python."""
    said = reply if isinstance(reply, Reply) else Reply(reply)
    options = None if tags is None else Namespace(reasoning_tags=tags, process_with_media=False)
    with chat_server(lambda _: said) as server:
        arguments = f"model_version=local,base_url={server.url},api_key=x,max_retries=1"
        return evaluate(task, model="openai", model_args=arguments, cli_args=options, **more), server


def said_to(server: ChatServer) -> str:
    return str([request["messages"] for request in server.requests])


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (CUT, TAGS),
        (CUT, None),
        (CUT.replace("think", "analysis"), TAGS),
        ("<think>Surely A1.</think", TAGS),
        (CUT.replace("<think>", "[THINK]"), '[["[THINK]", "[/THINK]"]]'),
    ],
)
def test_condchain_reads_a_thought_officially_and_never_leniently(dataset: Path, text: str, tags: str | None) -> None:
    results, _ = run("condchain_chart", text, tags)
    records = [sample["path_f1"] for sample in results["samples"]["condchain_chart"]]
    assert {(record["pred"], record["pred_lenient"], record["pred_lenient_source"]) for record in records} == {
        ("A1", "None", "none")
    }
    assert {(record["truncated"], record["failed"]) for record in records} == {(True, False)}
    found = figures(results, "condchain_chart")
    assert (found["false_acc"], found["path_f1_lenient"], found["failed"]) == (100, 0, 0)


def test_tags_that_are_turned_off_are_text(dataset: Path) -> None:
    results, _ = run("condchain_chart", CUT, "none", limit=2)
    record = results["samples"]["condchain_chart"][0]["path_f1"]
    assert (record["pred_lenient"], record["truncated"]) == ("A1", False)


@pytest.mark.parametrize(("text", "tags"), [(CUT, TAGS), (CUT, None), ("So A, (A).\n</think", TAGS)])
def test_vrex_goes_on_without_the_thought(data: Path, text: str, tags: str | None) -> None:
    results, server = run("vrex_planning", text, tags)
    samples = results["samples"]["vrex_planning"]
    assert len(server.requests) == sum(len(sample["final_acc"]["steps"]) for sample in samples)
    for sample in samples:
        record = sample["final_acc"]
        assert {(step["choice"], step["choice_lenient"]) for step in record["steps"]} == {(0, None)}
        assert (record["truncated"], record["failed"]) == (True, False)
    assert text not in said_to(server)
    assert "(no answer)" in said_to(server)
    assert render("vrex_unread") in said_to(server)
    assert figures(results, "vrex_planning")["final_acc_lenient"] == 0


def test_no_judge_sees_a_thought_and_what_was_cut_off_obeys_nothing(judge: ChatServer) -> None:
    for task in ("ccrv_x1_base_mini", "ccrv_x1_y1_mini", "ccrv_x1_y3_mini", "ccrv_x1_y4_mini"):
        results, _ = run(task, CUT, limit=2)
        found = figures(results, task)
        assert (found["dcr"], found["failed"], found["missing"], found["no_answer"]) == (0, 0, 0, 100)
        if "base" not in task:
            assert (found["csr"], found["edcr"]) == (0, 0)
        assert all(sample["dcr"]["truncated"] for sample in results["samples"][task])
    assert "It could be" not in said_to(judge)


def test_a_judge_sees_what_follows_the_thought(judge: ChatServer) -> None:
    results, _ = run("ccrv_x1_base_mini", "It could be a lamp.</think>\nThe cup holds the lamp.", None, limit=1)
    assert figures(results, "ccrv_x1_base_mini")["dcr"] == 100
    assert "The cup holds the lamp." in said_to(judge)
    assert "It could be" not in said_to(judge)


def test_nothing_but_a_thought_is_no_failure_and_no_answer(
    dataset: Path, data: Path, judge: ChatServer, warnings: list[str]
) -> None:
    for task in ("condchain_chart", "vrex_direct", "vrex_planning", "ccrv_x1_y4_mini"):
        results, _ = run(task, "<think>It could be (A) or A1.</think>", limit=2)
        found = figures(results, task)
        assert (found["failed"], found["no_answer"]) == (0, 100), task
        score = {"condchain_chart": "path_f1", "ccrv_x1_y4_mini": "csr"}.get(task, "final_acc")
        assert found[score] == 0, task
    assert not any("requests failed" in warning for warning in warnings)
    assert len(judge.requests) == 1  # the check before the run


def test_a_failure_whose_words_hold_a_tag_stays_one(dataset: Path, data: Path) -> None:
    refusal = Reply(message={"content": None, "refusal": "I will not think.</think>(A) A1"})
    for task in ("condchain_chart", "vrex_direct", "vrex_planning"):
        found = figures(run(task, refusal, limit=2)[0], task)
        assert (found["failed"], found["refused"]) == (100, 100), task


def test_a_refusal_in_words_is_scored_and_counted(dataset: Path) -> None:
    found = figures(run("condchain_chart", "I'm sorry, but I can't help with that.")[0], "condchain_chart")
    assert (found["refused"], found["failed"], found["no_answer"], found["path_f1"]) == (100, 0, 100, 0)


def test_what_the_token_budget_leaves_unsent_has_failed(data: Path, warnings: list[str]) -> None:
    """lmms-eval sends no further type of request, and then has nothing to score."""
    try:
        results, _ = run("vrex", "(B)", max_tokens=15)  # a request takes 10
    finally:
        reset_usage_metrics()
    samples = {task: results["samples"][task] for task in ("vrex_planning", "vrex_following", "vrex_direct")}
    failures = {task: {one["final_acc"]["failure"] for one in found} for task, found in samples.items()}
    assert failures["vrex_direct"] == {"budget"}
    assert all(found <= {"budget", None} for found in failures.values())
    assert figures(results, "vrex_direct")["failed"] == 100
    assert any("4 of 4 requests failed (4 beyond the token budget)." in warning for warning in warnings)


@pytest.mark.parametrize("task", ["condchain_chart", "vrex_direct", "vrex_planning"])
def test_repeats_are_read_like_first_tries(dataset: Path, data: Path, task: str) -> None:
    results, _ = run(task, Reply(None), repeats=2, limit=2)
    assert figures(results, task)["failed"] == 100
