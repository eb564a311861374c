"""V-REX through the real harness: the simulated model, a local vision-language model, ranks."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

import official_vrex
from harness import evaluate, figures

from condchain_tasks.data.vrex_tasks import MINI_CHAINS

CATEGORIES = ("deduction", "guessing", "navigation", "retrieval")
VARIANTS = [
    "vrex_planning_hard_mini",
    "vrex_planning_blind_mini",
    "vrex_following_blind_mini",
    "vrex_direct_blind_mini",
]
FORCED = ["vrex_planning_tf_mini", "vrex_following_tf_mini"]


def records(results: dict[str, Any], task: str, metric: str = "final_acc") -> list[dict[str, Any]]:
    return [sample[metric] for sample in results["samples"][task]]


def test_oracle_is_right_everywhere() -> None:
    results = evaluate(["vrex_mini", *VARIANTS, *FORCED], model_args="policy=oracle")
    for task in ["vrex_planning_mini", "vrex_following_mini", "vrex_direct_mini", *VARIANTS, *FORCED]:
        found = figures(results, task)
        for metric, value in found.items():
            if metric in ("no_answer", "failed", "refused"):
                assert value == 0, (task, metric)
            elif metric == "recovery":
                assert value is None  # no step went wrong
            elif "stderr" not in metric and metric != "paired_tables":
                assert value == 100, (task, metric)
    assert {f"ability_{name}" for name in CATEGORIES} <= figures(results, "vrex_planning_mini").keys()
    assert len(results["samples"]["vrex_planning_mini"]) == MINI_CHAINS
    assert results["group_subtasks"]["vrex_mini"]


def steps_right(found: list[dict[str, Any]]) -> list[float]:
    return [float(step["choice"] == step["gold"]) for record in found for step in record["steps"]]


@pytest.mark.parametrize("task", ["vrex_planning_mini", "vrex_following_mini"])
def test_accuracy_is_what_was_asked_for(task: str) -> None:
    results = evaluate(task, model_args="policy=oracle,accuracy=0.7,seed=1")
    found = figures(results, task)
    assert abs(found["ability"] - 70) < 3 * found["ability_stderr_clustered"]
    # Each step is right or wrong by itself, so the final one is no worse after a wrong one.
    right = steps_right(records(results, task))
    assert abs(sum(right) / len(right) - 0.7) < 4 * math.sqrt(0.21 / len(right))
    recovered = [record["score"] for record in records(results, task) if record["wrong_steps"]]
    assert found["recovery"] == pytest.approx(sum(recovered) / len(recovered))


def test_teacher_forced_steps_are_equally_hard_for_a_model_of_one_accuracy() -> None:
    right: dict[int, list[float]] = {}
    for seed in range(4):
        results = evaluate(FORCED, model_args=f"policy=oracle,accuracy=0.7,seed={seed}")
        for task in FORCED:
            for record in records(results, task, "step_acc"):
                right.setdefault(record["step"], []).append(record["score"] / 100)
    assert right.keys() == set(range(1, 7))
    # Slope of accuracy over the step's number, and its standard error for independent answers.
    pairs = [(step, score) for step, scores in right.items() for score in scores]
    centre = sum(step for step, _ in pairs) / len(pairs)
    spread = sum((step - centre) ** 2 for step, _ in pairs)
    slope = sum((step - centre) * score for step, score in pairs) / spread
    assert abs(slope) < 3 * math.sqrt(0.21 / spread)


def test_distracted_plans_nothing_and_answers_all() -> None:
    results = evaluate("vrex_mini", model_args="policy=distracted")
    planning = figures(results, "vrex_planning_mini")
    assert (planning["ability"], planning["final_acc"], planning["recovery"]) == (0, 100, 100)
    assert figures(results, "vrex_following_mini")["ability"] == 100


def test_random_is_at_chance() -> None:
    results = evaluate("vrex_planning_mini", model_args="policy=random,seed=5")
    picks = [step for record in records(results, "vrex_planning_mini") for step in record["steps"][:-1]]
    right = sum(step["choice"] == step["gold"] for step in picks)
    assert abs(right / len(picks) - 0.25) < 4 * math.sqrt(0.25 * 0.75 / len(picks))


def test_macro_average_its_error_and_the_tables() -> None:
    task = "vrex_following_mini"
    results = evaluate(task, model_args="policy=oracle,accuracy=0.6,seed=2")
    found, log = figures(results, task), records(results, task)
    by_category = {name: [r["ability"] for r in log if r["category"] == name] for name in CATEGORIES}
    means = {name: sum(values) / len(values) for name, values in by_category.items()}
    assert {name: found[f"ability_{name}"] for name in CATEGORIES} == pytest.approx(means)
    assert found["ability"] == pytest.approx(sum(means.values()) / 4)
    variances = [
        sum((value - means[name]) ** 2 for value in values) / (len(values) - 1) / len(values)
        for name, values in by_category.items()
    ]
    assert found["ability_stderr_clustered"] == pytest.approx(math.sqrt(sum(variances)) / 4)
    tables = found["paired_tables"]
    assert sum(line["n"] for line in tables["wrong_steps"]) == MINI_CHAINS
    for line in tables["wrong_steps"]:
        scores = [r["score"] for r in log if r["wrong_steps"] == line["wrong_steps"]]
        assert (line["n"], line["value"]) == (len(scores), pytest.approx(sum(scores) / len(scores)))
    assert [line["length"] for line in tables["length"]] == sorted({r["length"] for r in log})
    assert json.loads(json.dumps(tables, allow_nan=False)) == tables


def test_the_sample_log_keeps_each_step() -> None:
    results = evaluate("vrex_planning_mini", model_args="policy=distracted")
    record = json.loads(json.dumps(records(results, "vrex_planning_mini")[0]))
    assert len(record["steps"]) == record["length"]
    step = record["steps"][0]
    assert step.keys() >= {"question", "options", "gold", "choice", "rule", "choice_lenient", "compliant", "reply"}
    assert step["reply"] == f"({'ABCD'[step['choice']]})\n\nThis reply is simulated."
    assert (step["rule"], step["compliant"]) == ("parenthesis", True)
    assert record["wrong_steps"] == record["length"] - 1
    metadata = results["configs"]["vrex_planning_mini"]["metadata"]
    assert metadata["prompts"][0]["name"] == "vrex_goal"


@pytest.mark.parametrize("force_simple", [False, True])
def test_a_local_model_runs_in_turns_and_as_one_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force_simple: bool
) -> None:
    pytest.importorskip("decord", reason="lmms-eval's Qwen-VL models import it: pip install '.[qwen]'")
    from tiny_model import make_tiny_qwen

    monkeypatch.setenv("VREX_DATA", str(official_vrex.write_dataset(tmp_path / "vrex")))
    folder = make_tiny_qwen(tmp_path / "qwen")
    results = evaluate(
        ["vrex_planning", "vrex_following_tf"],
        model="qwen2_5_vl",
        model_args=f"pretrained={folder},device_map=cpu,attn_implementation=sdpa",
        device="cpu",
        batch_size=2,
        gen_kwargs="max_new_tokens=8",
        force_simple=force_simple,
    )
    assert results["config"]["model_backend"].endswith("(simple)" if force_simple else "(chat)")
    samples = results["samples"]["vrex_planning"]
    assert [len(sample["resps"][0][0]) for sample in samples] == [official_vrex.length(n) for n in range(4)]
    assert figures(results, "vrex_planning")["failed"] == 0
    assert len(results["samples"]["vrex_following_tf"]) == sum(official_vrex.length(n) for n in range(4))


@pytest.mark.parametrize("limit", ["", "7"])
def test_two_ranks_give_what_one_gives(tmp_path: Path, limit: str) -> None:
    """With seven chains, one rank has four and the other three and a clone."""
    arguments = "policy=oracle,accuracy=0.6"
    one = evaluate("vrex_planning_mini", model_args=arguments, **({"limit": int(limit)} if limit else {}))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    options = ["--model", "condchain_sim", "--model_args", arguments, "--tasks", "vrex_planning_mini", "--log_samples"]
    done = subprocess.run(
        [
            *launcher,
            "-m",
            "lmms_eval",
            *options,
            *(["--limit", limit] if limit else []),
            "--output_path",
            str(tmp_path),
        ],
        env=os.environ | {"ACCELERATE_USE_CPU": "true"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (results,) = tmp_path.rglob("*_results.json")
    (log,) = tmp_path.rglob("*_samples_vrex_planning_mini.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    expected = {sample["doc_id"]: sample["final_acc"] for sample in one["samples"]["vrex_planning_mini"]}
    assert {line["doc_id"]: line["final_acc"] for line in lines} == expected
    assert len(lines) == (int(limit) if limit else MINI_CHAINS)
    two = json.loads(results.read_text())["results"]["vrex_planning_mini"]
    for key, value in one["results"]["vrex_planning_mini"].items():
        if key not in ("alias", "paired_tables,none"):
            assert two[key] == (pytest.approx(value) if isinstance(value, float) else value), key
