"""All benchmarks against a server that answers in every way that is no reply: counted, not scored, and sent again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

from chat_server import Reply, chat_server
from harness import evaluate, figures

CALL = {"id": "1", "type": "function", "function": {"name": "zoom", "arguments": "{}"}}

FAULTS = {
    "null": (Reply(message={"content": None}), "empty"),
    "no content": (Reply(message={}), "empty"),
    "empty": (Reply(""), "empty"),
    "blank": (Reply(" \n"), "empty"),
    "refusal": (Reply(message={"content": None, "refusal": "I can't help with that. A1"}), "refusal"),
    "content filter": (Reply("(A) \\boxed{", finish_reason="content_filter"), "content_filter"),
    "tool call": (Reply(message={"content": None, "tool_calls": [CALL]}, finish_reason="tool_calls"), "not_text"),
    "number": (Reply(message={"content": 5}), "not_text"),
    "bool": (Reply(message={"content": True}), "not_text"),
    "error object": (Reply(payload={"error": {"message": "The model is overloaded.", "code": 503}}), "error"),
    "truncated JSON": (Reply(payload=b'{"id": "1", "choices": [{"index": 0, "mess'), "error"),
    "connection reset": (Reply(resets=True), "error"),
}
"""What the server answers, and the kind of failure that it is."""

KINDS = Counter(kind for _, kind in FAULTS.values())  # 4 empty, 1 refusal, 1 filtered, 3 not text, 3 errors

PARTS = Reply(message={"content": [{"type": "text", "text": "(B) \\boxed"}, {"type": "text", "text": "{B2}"}]})
BUSY = Reply(status=429, headers={"retry-after-ms": "1"})
GOOD = Reply("(B) \\boxed{B2}")


class Server:
    """Answers new conversations with one fault each, then in parts, then with 429 twice; and every other as it should.

    Every second fault waits for the second turn, if there is to be one.
    """

    def __init__(self, has_turns: bool) -> None:
        self.has_turns = has_turns
        self.lock = threading.Lock()
        self.roles: dict[str, str] = {}  # by conversation
        self.left: Iterator[str] = iter([*FAULTS, "parts", "429 twice"])
        self.failed: set[str] = set()  # requests
        self.busy: Counter[str] = Counter()
        self.is_mended = False

    def __call__(self, request: dict[str, Any]) -> Reply:
        conversation, this = digest(request["messages"][0]), digest(request["messages"])
        if not self.has_turns:
            conversation = this
        with self.lock:
            role = self.roles.setdefault(conversation, next(self.left, "good"))
            self.busy[this] += 1
            if role == "429 twice" and self.busy[this] <= 2:
                return BUSY
            if role == "parts":
                return PARTS
            if role not in FAULTS or self.is_mended:
                return GOOD
            waits = self.has_turns and list(FAULTS).index(role) % 2 == 1
            if waits and len(request["messages"]) == 1:
                return GOOD
            self.failed.add(this)
            return FAULTS[role][0]


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def arguments(url: str, backend: str) -> str:
    concurrency = "num_cpus" if backend == "async_openai" else "num_concurrent"
    return f"model_version=local,base_url={url},api_key=x,timeout=20,max_retries=1,retry_backoff_s=0,{concurrency}=8"


def stored(cache: Path) -> list[str]:
    with closing(sqlite3.connect(cache / "cache.db")) as database:
        return [response for (response,) in database.execute("SELECT response FROM responses")]


@pytest.mark.parametrize(
    ("task", "limit", "metric"),
    [
        ("condchain_natural_mini", 20, "path_f1"),
        ("ccrv_mini", 30, "dcr"),
        ("vrex_planning_mini", 16, "final_acc"),
    ],
)
@pytest.mark.parametrize("backend", ["openai", "async_openai", "openai, simple"])
def test_whatever_is_no_reply_is_failed_and_sent_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    warnings: list[str],
    backend: str,
    task: str,
    limit: int,
    metric: str,
) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "none")
    model, _, is_simple = backend.partition(", ")
    faulty = Server(has_turns=task.startswith("vrex") and not is_simple)
    with chat_server(faulty) as server:
        settings: dict[str, Any] = {"model": model, "model_args": arguments(server.url, model), "limit": limit}
        settings |= {"use_cache": str(tmp_path / "cache"), "force_simple": bool(is_simple)}
        results = evaluate(task, **settings)
        records = [
            sample[metric] if "failed" in sample[metric] else sample["dcr_base"] for sample in results["samples"][task]
        ]
        assert len(records) == limit
        assert Counter(record["failure"] for record in records if record["failed"]) == KINDS
        assert [record["refused"] for record in records].count(True) == 2
        found = figures(results, task)
        assert (found["failed"], found["refused"]) == pytest.approx((100 * len(FAULTS) / limit, 100 * 2 / limit))
        kinds = "3 errors, 4 empty, 3 not text, 1 refusal, 1 by a content filter"
        assert any(line.startswith(f"{len(FAULTS)} of {limit} requests failed ({kinds}).") for line in warnings)
        for record in records:
            if record["failed"]:
                assert record["score"] == 0
                assert not record.get("csr")
        assert len(faulty.failed) == len(FAULTS)
        assert not any(
            "REQUEST_FAILED" in response or response in ('""', "null", "5") for response in stored(tmp_path / "cache")
        )

        faulty.is_mended = True
        server.requests.clear()
        again = evaluate(task, **settings)
    assert (figures(again, task)["failed"], figures(again, task)["refused"]) == (0, 0)
    sent = [digest(request["messages"]) for request in server.requests]
    assert len(set(sent)) == len(sent)
    assert faulty.failed <= set(sent)
    if task.startswith("vrex"):  # the rest of those chains, and nothing else
        lengths = {record["id"]: len(record["steps"]) for record in records if record["failed"]}
        heard = {
            sample["final_acc"]["id"]: sum("REQUEST_FAILED" not in reply for reply in sample["filtered_resps"][0])
            for sample in results["samples"][task]
        }
        assert len(sent) == sum(length - heard[name] for name, length in lengths.items())
    else:
        assert set(sent) == faulty.failed


@pytest.mark.parametrize("backend", ["openai", "async_openai"])
@pytest.mark.parametrize(
    ("task", "metric"),
    [("condchain_chart_mini", "path_f1"), ("ccrv_x1_y1_mini", "dcr"), ("vrex_planning_mini", "final_acc")],
)
def test_without_a_cache_the_same_are_failed(
    monkeypatch: pytest.MonkeyPatch, backend: str, task: str, metric: str
) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "none")
    with chat_server(Server(has_turns=task.startswith("vrex"))) as server:
        results = evaluate(task, model=backend, model_args=arguments(server.url, backend), limit=16)
    records = [sample[metric] for sample in results["samples"][task]]
    assert Counter(record["failure"] for record in records if record["failed"]) == KINDS
    assert figures(results, task)["failed"] == 100 * len(FAULTS) / 16
