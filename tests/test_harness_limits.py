"""Runs over part of a task: what they write is JSON, and what they leave out is said."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("lmms_eval")

from harness import evaluate, figures

EVERY_KIND = ["condchain_mini", "condchain_gui_chrono_mini", "ccrv_mini", "ccrv_x1_y3_mini", "vrex_mini"]
EVERY_KIND += ["vrex_planning_hard_mini", "vrex_planning_tf_mini", "vrex_direct_blind_mini"]


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("accuracy", [0, 1])
def test_no_figure_is_a_bare_nan(monkeypatch: pytest.MonkeyPatch, limit: int, accuracy: int) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "none")
    results = evaluate(EVERY_KIND, model_args=f"accuracy={accuracy}", limit=limit)
    for part in ("results", "groups", "configs", "samples", "n-samples", "config"):
        json.dumps(results[part], allow_nan=False, default=str)


def test_a_group_has_no_average_where_a_task_has_no_figure() -> None:
    results = evaluate("condchain_mini", limit=1)
    for task in ("condchain_mini", "condchain_natural_mini", "condchain_chart_mini", "condchain_gui_mini"):
        assert figures(results, task)["path_f1"] is None
        assert figures(results, task)["true_acc"] == 100
    assert figures(results, "condchain_mini")["failed"] == 0


def test_a_group_is_the_mean_of_its_tasks() -> None:
    results = evaluate("condchain_mini", model_args="accuracy=0.6,seed=3")
    parts = [figures(results, f"condchain_{domain}_mini")["path_f1"] for domain in ("natural", "chart", "gui")]
    assert figures(results, "condchain_mini")["path_f1"] == pytest.approx(sum(parts) / 3)


def test_no_two_tables_of_a_run_have_the_same_title(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(["vrex_mini", "vrex_planning_hard_mini", "vrex_planning_blind_mini", "vrex_planning_tf_mini"], limit=4)
    titles = re.findall(r"^V-REX .*:.*$", capsys.readouterr().out, re.MULTILINE)
    assert len(titles) == len(set(titles)) == 4 * 4 + 3
    assert "V-REX planning, 4 samples: accuracy by step" in [title.strip() for title in titles]
    assert "V-REX following, 4 samples: accuracy by step" in [title.strip() for title in titles]
