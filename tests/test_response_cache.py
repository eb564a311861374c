"""lmms-eval's response cache, mended: what is stored, what is taken back, what a killed run leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from lmms_eval.caching.response_cache import ResponseCache

from condchain_tasks import response_cache
from condchain_tasks.model_replies import read_model_replies
from condchain_tasks.response_cache import mend_response_cache

FAILURE = "[LMMS_EVAL_REQUEST_FAILED after 3 retries] H100"


@pytest.fixture(autouse=True)
def _mended() -> None:
    read_model_replies()
    mend_response_cache()


class Model(lmms):
    """Answers by document, and keeps what it was asked, a list a call."""

    def __init__(self, answers: dict[int, str] | None = None, base_url: str = "") -> None:
        super().__init__()
        self.answers = answers or {}
        self.base_url = base_url
        self.calls: list[list[int]] = []

    def generate_until(self, requests: list[Instance]) -> list[str]:
        self.calls.append([request.doc_id for request in requests])
        return [self.answers.get(request.doc_id, f"reply {request.doc_id}") for request in requests]

    def generate_until_multi_round(self, requests: list[Instance]) -> list[str]:
        raise NotImplementedError

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        raise NotImplementedError


def run(root: Path, model: Model, documents: int = 3, is_killed: bool = False, sent: str = "") -> list[Any]:
    cache = ResponseCache.create(str(root), model="m", model_args="", task_dict={})
    requests = [
        Instance(
            "generate_until",
            (f"question {number}", {"temperature": 0}, None, number, "task", "test"),
            0,
            {"task": "task", "doc_id": number, "repeats": 1, "requests_sha256": sent},
        )
        for number in range(documents)
    ]
    replies: list[Any] = cache.execute(model, "generate_until", requests)
    if is_killed:
        cache.close()
    else:
        cache.finalize(success=True)
    return replies


def test_what_a_killed_run_had_is_found_by_the_next(tmp_path: Path) -> None:
    first, second = Model({1: FAILURE}), Model()
    run(tmp_path, first, is_killed=True)
    assert run(tmp_path, second) == ["reply 0", "reply 1", "reply 2"]
    assert (first.calls, second.calls) == ([[0, 1, 2]], [[1]])


def test_a_failure_is_not_taken_back_from_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under SLURM, and under accelerate launch, every start has the same run id and replays the same log."""
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    run(tmp_path, Model({0: FAILURE, 2: " "}), is_killed=True)
    second = Model()
    assert run(tmp_path, second) == ["reply 0", "reply 1", "reply 2"]
    assert second.calls == [[0, 2]]


def test_replies_are_kept_before_the_last_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "_KEPT_AT_ONCE", 2)

    class Dying(Model):
        def generate_until(self, requests: list[Instance]) -> list[str]:
            if len(self.calls) == 2:
                raise KeyboardInterrupt
            return super().generate_until(requests)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Dying(), documents=5)
    second = Model()
    assert run(tmp_path, second, documents=5) == [f"reply {number}" for number in range(5)]
    assert second.calls == [[4]]


def test_half_characters_are_replaced_before_they_are_kept(tmp_path: Path) -> None:
    model = Model({0: "half \ud83d of it"})
    assert run(tmp_path, model)[0] == "half ? of it"
    assert run(tmp_path, Model())[0] == "half ? of it"


def test_another_server_is_asked_itself(tmp_path: Path) -> None:
    first, second = Model(base_url="http://a:1/v1"), Model({0: "other"}, base_url="http://b:1/v1")
    assert run(tmp_path, first)[0] == "reply 0"
    assert run(tmp_path, second)[0] == "other"
    assert second.calls == [[0, 1, 2]]
    for again in (Model(base_url="http://user:password@a:1/v1/"), Model(base_url="http://b:1/v1")):
        run(tmp_path, again)
        assert again.calls == []


def test_a_task_that_sends_something_else_is_asked_anew(tmp_path: Path) -> None:
    run(tmp_path, Model(), sent="0123")
    second, third = Model(), Model()
    run(tmp_path, second, sent="4567")
    run(tmp_path, third, sent="0123")
    assert (second.calls, third.calls) == ([[0, 1, 2]], [])
