"""CCRV-Bench through the real harness: simulated model, and a judge that computes verdicts from the scenes' facts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval")

from chat_server import ChatServer, chat_server
from harness import evaluate, figures
from scene_judge import scene_judge

from condchain_tasks.data.ccrv_tasks import MINI_SCENES, load

BASELINE = MINI_SCENES * 8
CONSTRAINED = BASELINE * 4
VERDICTS = BASELINE + CONSTRAINED + BASELINE  # one a reply on its content, and one a Y3 reply on its constraint


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    """The judge, with a cache of its own."""
    root = load("ccrv_mini")[0].root
    monkeypatch.setenv("CCRV_JUDGE", f"facts-{tmp_path.name}")
    with chat_server(scene_judge(root)) as server:
        monkeypatch.setenv("OPENAI_API_URL", server.url)
        yield server


def test_oracle_satisfies_every_constraint_and_is_right(judge: ChatServer) -> None:
    found = figures(evaluate("ccrv_mini", model_args="policy=oracle"), "ccrv_mini")
    for metric in ("l1", "l2", "l3", "dcr", "dcr_base", "csr", "edcr", "csr_raw_pixel"):
        assert found[metric] == 100, metric
    for metric in ("cdi", "ecdi", "no_answer", "failed", "missing"):
        assert found[metric] == 0, metric
    assert len(judge.requests) == VERDICTS + 1  # and the check before the run


def test_violates_is_right_and_breaks_every_constraint(judge: ChatServer) -> None:
    results = evaluate("ccrv_mini", model_args="policy=violates")
    found = figures(results, "ccrv_mini")
    assert (found["dcr"], found["csr"], found["edcr"], found["cdi"], found["ecdi"]) == (100, 0, 0, 0, 100)
    cells = found["paired_cells"]
    assert {(row["y"], row["csr"]) for row in cells if row["group"] == "cell"} == {
        ("base", None),
        *((f"Y{y}", 0.0) for y in range(1, 5)),
    }
    assert [row["n"] for row in cells if row["group"] == "cell"] == [2 * MINI_SCENES] * 20


def test_wrong_obeys_and_is_wrong(judge: ChatServer) -> None:
    found = figures(evaluate("ccrv_mini", model_args="policy=wrong"), "ccrv_mini")
    assert (found["dcr"], found["csr"], found["edcr"], found["cdi"]) == (0, 100, 0, 0)
