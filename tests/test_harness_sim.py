"""The tasks through the real harness, with the simulated model."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval")

from harness import evaluate, figures

from condchain_tasks.data.condchain_source import MINI_CHAINS
from condchain_tasks.data.harness import RunNotPossible
from condchain_tasks.models.sim import SimulatedModel

DOMAIN_TASKS = [f"condchain_{domain}_mini" for domain in ("natural", "chart", "gui")]


def test_oracle_is_right_everywhere() -> None:
    results = evaluate(["condchain_mini", "condchain_gui_chrono_mini"], model_args="policy=oracle")
    for task in ["condchain_mini", "condchain_gui_chrono_mini", *DOMAIN_TASKS]:
        found = figures(results, task)
        assert found["path_f1"] == found["path_f1_lenient"] == found["true_acc"] == found["false_acc"] == 100
        assert found["no_answer"] == found["failed"] == 0
    assert [len(results["samples"][task]) for task in DOMAIN_TASKS] == [2 * MINI_CHAINS] * 3


@pytest.mark.parametrize(("policy", "true_acc", "false_acc"), [("always_continue", 100, 0), ("always_stop", 0, 100)])
def test_one_sided_policies(policy: str, true_acc: float, false_acc: float) -> None:
    results = evaluate("condchain_mini", model_args=f"policy={policy}")
    for task in ["condchain_mini", *DOMAIN_TASKS]:
        found = figures(results, task)
        assert (found["true_acc"], found["false_acc"], found["path_f1"]) == (true_acc, false_acc, 0)


def test_random_is_at_chance() -> None:
    """A depth-T chain shows 4 options for each of T questions, so a random label is right with 1/(4T)."""
    right, expected, variance = 0.0, 0.0, 0.0
    for seed in range(4):
        results = evaluate("condchain_mini", model_args=f"policy=random,seed={seed}")
        for task in DOMAIN_TASKS:
            for sample in results["samples"][task]:
                record = sample["path_f1"]
                chance = 1 / (4 * record["depth"])
                assert len(record["labels"]) == 4 * record["depth"]
                right += record["score"] / 100
                expected += chance
                variance += chance * (1 - chance)
    assert abs(right - expected) < 4 * math.sqrt(variance)


def test_accuracy_is_what_was_asked_for() -> None:
    results = evaluate("condchain_mini", model_args="policy=oracle,accuracy=0.7,seed=3")
    scores = [sample["path_f1"]["score"] for task in DOMAIN_TASKS for sample in results["samples"][task]]
    assert abs(sum(scores) / len(scores) - 70) < 4 * 100 * math.sqrt(0.7 * 0.3 / len(scores))


def test_group_is_the_macro_mean_and_standard_errors_are_clustered() -> None:
    results = evaluate("condchain_mini", model_args="policy=oracle,accuracy=0.6,seed=1")
    found = [figures(results, task) for task in DOMAIN_TASKS]
    for metric in ("path_f1", "path_f1_lenient", "true_acc", "false_acc", "no_answer", "failed", "refused"):
        assert figures(results, "condchain_mini")[metric] == pytest.approx(sum(f[metric] for f in found) / 3)
    for task, values in zip(DOMAIN_TASKS, found, strict=True):
        records = [sample["path_f1"] for sample in results["samples"][task]]
        true, false = ([r["score"] for r in records if r["path"] == path] for path in ("true", "false"))
        t, f = sum(true) / len(true), sum(false) / len(false)
        assert values["path_f1"] == pytest.approx(2 * t * f / (t + f))
        # Delta method over pairs, written out: variance of 2f²/(t+f)²·(x−t) + 2t²/(t+f)²·(y−f).
        influence = [2 * (f * f * (x - t) + t * t * (y - f)) / (t + f) ** 2 for x, y in zip(true, false, strict=True)]
        error = math.sqrt(sum(i * i for i in influence)) / len(influence)
        assert values["path_f1_stderr_clustered"] == pytest.approx(error, rel=0.02)


def test_the_sample_log_has_what_a_report_needs(dataset: Path, tmp_path: Path) -> None:
    results = evaluate("condchain_gui", model_args="policy=always_continue")
    sample = results["samples"]["condchain_gui"][3]
    assert json.loads(json.dumps(sample["path_f1"])) == {
        "score": 0.0,
        "pair": "gui-1",
        "id": "gui-1",
        "domain": "gui",
        "path": "false",
        "image": "images/gui/gui1",
        "frames": 3,
        "gold": "A1",
        "gold_true": "C2",
        "gold_false": "A1",
        "labels": ["A1", "A2", "B1", "B2", "C1", "C2"],
        "diverge_layer": 1,
        "depth": 3,
        "operators": 1.0,
        "complexity": "simple",
        "pred": "C2",
        "pred_source": "boxed",
        "pred_lenient": "C2",
        "pred_lenient_source": "boxed",
        "failed": False,
        "failure": None,
        "refused": False,
        "truncated": False,
        "no_answer": False,
    }
    metadata = results["configs"]["condchain_gui"]["metadata"]
    assert metadata["prompt"]["name"] == "condchain_gui"
    assert len(metadata["prompt"]["sha256"]) == 16
    assert metadata["data"]["source"] == "folder"
    assert metadata["data"]["root"] == str(dataset)


def test_limit_to_a_single_path_gives_no_figure_instead_of_a_wrong_one(dataset: Path) -> None:
    found = figures(evaluate("condchain_chart", model_args="policy=oracle", limit=1), "condchain_chart")
    assert found["true_acc"] == 100
    assert found["path_f1"] is None
    assert "false_acc" not in found


def test_use_cache_twice(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from condchain_tasks.models.sim import SimulatedModel

    first = evaluate("condchain_chart", model_args="policy=oracle,accuracy=0.5", use_cache=str(tmp_path / "cache"))
    monkeypatch.setattr(SimulatedModel, "generate_until", lambda *_: pytest.fail("a request was sent"))
    second = evaluate("condchain_chart", model_args="policy=oracle,accuracy=0.5", use_cache=str(tmp_path / "cache"))
    assert second["results"] == first["results"]


@pytest.mark.parametrize(
    "arguments",
    [
        "policy=best",
        "policy=1",
        "policy=true",
        "policy=",
        "accuracy=2",
        "accuracy=abc",
        "accuracy=true",
        "accuracy=nan",
        "seed=1.5",
        "seed=true",
        "seed=inf",
        "seed=nan",
        "seed=one",
        "policy=oracle,temperature=1",
    ],
)
def test_the_simulated_model_refuses_what_it_does_not_know(arguments: str, dataset: Path) -> None:
    with pytest.raises(RunNotPossible, match=r"condchain_sim: expected policy=oracle\|"):
        evaluate("condchain_chart", model_args=arguments)


FAULTS = {
    "picture": "chart0.png does not exist",
    "cache": "Not a directory",
    "prompt": "'question' is undefined",
    "prompt without the instruction": "does not show the instruction",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_the_run_before_any_request(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    from condchain_tasks.models.sim import SimulatedModel

    monkeypatch.setattr(SimulatedModel, "generate_until", lambda *_: pytest.fail("a request was sent"))
    if fault == "picture":
        (dataset / "images/chart/chart0.png").unlink()
    elif fault == "cache":
        (tmp_path / "file").write_text("no folder")
        monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "file"))
    else:
        (tmp_path / "prompts").mkdir()
        (tmp_path / "prompts" / "condchain.j2").write_text("{{ question }}" if fault == "prompt" else "Look.")
        monkeypatch.setenv("CONDCHAIN_PROMPTS", str(tmp_path / "prompts"))
    with pytest.raises(RunNotPossible, match=FAULTS[fault]):
        evaluate(["condchain_natural", "condchain_chart"])


def run_cli(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=os.environ | env, capture_output=True, text=True, timeout=300)


def test_a_fault_has_exit_code_1_and_one_sentence(dataset: Path) -> None:
    (dataset / "images/chart/chart0.png").unlink()
    done = run_cli("lmms-eval", "--model", "condchain_sim", "--tasks", "condchain_chart")
    assert done.returncode == 1
    assert (
        done.stderr.strip()
        .splitlines()[-1]
        .startswith(
            f"condchain_chart: {dataset / 'data' / 'chart.jsonl'}, line 1, id 'chart-0', field image: the picture "
        )
    )
    assert "Traceback" not in done.stderr


def test_two_ranks_give_what_one_gives(tmp_path: Path) -> None:
    arguments = "policy=oracle,accuracy=0.6"
    one = evaluate("condchain_mini", model_args=arguments)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    options = ["--model", "condchain_sim", "--model_args", arguments, "--tasks", "condchain_mini", "--log_samples"]
    done = run_cli(*launcher, "-m", "lmms_eval", *options, "--output_path", str(tmp_path), ACCELERATE_USE_CPU="true")
    assert done.returncode == 0, done.stderr[-3000:]
    (results,) = tmp_path.rglob("*_results.json")
    two = json.loads(results.read_text())["results"]
    for task in DOMAIN_TASKS:
        (log,) = tmp_path.rglob(f"*_samples_{task}.jsonl")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert len(lines) == 2 * MINI_CHAINS
        assert {line["doc_id"]: (line["path_f1"], line["filtered_resps"]) for line in lines} == {
            sample["doc_id"]: (sample["path_f1"], sample["filtered_resps"][0]) for sample in one["samples"][task]
        }
    for task in ["condchain_mini", *DOMAIN_TASKS]:
        for key, value in one["results"][task].items():
            if key != "alias":
                assert two[task][key] == (value if isinstance(value, str) else pytest.approx(value)), (task, key)


@pytest.mark.parametrize("arguments", ["", "policy=random", "accuracy=1,seed=-1", "accuracy=0.5,seed=3.0"])
def test_every_simulated_run_says_that_it_is_no_model(arguments: str, warnings: list[str]) -> None:
    evaluate("condchain_chart_mini", model_args=arguments, limit=2)
    said = [warning for warning in warnings if "condchain_sim is no model" in warning]
    assert len(said) == 1
    assert "no results" in said[0]


def test_a_seed_and_the_same_seed_as_a_float_are_one() -> None:
    first, second = (SimulatedModel(policy="random", seed=seed) for seed in (3, 3.0))
    assert (first.seed, second.seed) == (3, 3)
