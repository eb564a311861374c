"""Runs over part of a task: what they write is JSON, and what they leave out is said."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("lmms_eval")

from harness import evaluate, figures

EVERY_KIND = ["condchain_mini", "condchain_gui_chrono_mini", "ccrv_mini", "ccrv_x1_y3_mini", "vrex_mini"]
EVERY_KIND += ["vrex_planning_hard_mini", "vrex_planning_tf_mini", "vrex_direct_blind_mini"]


@pytest.fixture(autouse=True)
def _no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "none")


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("accuracy", [0, 1])
def test_no_figure_is_a_bare_nan(limit: int, accuracy: int) -> None:
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


def said(warnings: list[str]) -> list[str]:
    return [warning.strip() for warning in warnings if "--limit" in warning]


def test_a_share_of_several_tasks_is_said_to_be_of_the_first(warnings: list[str]) -> None:
    results = evaluate(["ccrv_x1_base_mini", "vrex_direct_mini"], limit=0.5)
    assert results["n-samples"]["vrex_direct_mini"] == {"original": 40, "effective": 20}
    assert results["n-samples"]["ccrv_x1_base_mini"] == {"original": 20, "effective": 20}
    (warning,) = said(warnings)
    assert warning == (
        "--limit 0.5 is taken of vrex_direct_mini alone, the first that lmms-eval loads: 20 samples of each task. Run "
        "the tasks one by one for the same share of each (vrex_direct_mini 20 of 40, ccrv_x1_base_mini 10 of 20)."
    )


def test_a_share_of_tasks_of_one_size_is_as_it_is_meant(warnings: list[str]) -> None:
    evaluate(["ccrv_x1_base_mini", "ccrv_x2_base_mini"], limit=0.5)
    assert said(warnings) == []


@pytest.mark.parametrize(
    ("limit", "offset", "alone"),
    [(1, 0, "1 of 1 chains"), (3, 0, "1 of 2 chains"), (4, 0, ""), (2, 1, "2 of 2 chains"), (2, 2, ""), (None, 0, "")],
)
def test_a_chain_with_one_path_is_said_before_the_run(
    warnings: list[str], limit: int | None, offset: int, alone: str
) -> None:
    evaluate("condchain_natural_mini", limit=limit, offset=offset)
    assert [alone in warning for warning in said(warnings)] == ([True] if alone else [])
