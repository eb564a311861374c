"""Models side by side, from the sample logs of their runs."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from report_runs import GENERATION, write_run
from rich.console import Console

from condchain_tasks.data.errors import DataError
from condchain_tasks.report import vrex_compare
from condchain_tasks.report.selection import select
from condchain_tasks.report.vrex_compare import Comparison, SettingComparison, render
from condchain_tasks.report.vrex_published import Figure, accuracy_by_wrong_steps, published_figures
from condchain_tasks.scorers.vrex_metrics import CATEGORIES

OLD, NEW = "20260101_080000", "20260102_080000"


def record(number: int, mode: str, rights: str, **other: Any) -> dict[str, Any]:
    """The record of one chain; `rights` holds a 1 for each step that is right. The categories take turns."""
    wrong = rights[:-1].count("0")
    steps = [{"gold": 2, "choice": 2 if right == "1" else None, "compliant": right == "1"} for right in rights]
    chained = mode != "direct"
    return {
        "id": f"v{number}",
        "category": CATEGORIES[number % 4],
        "mode": mode,
        "set": "standard",
        "blind": False,
        "step": 0,
        "length": len(rights),
        "score": 100.0 * (rights[-1] == "1"),
        "ability": 100 - 100 * wrong / (len(rights) - 1) if chained else None,
        "wrong_steps": wrong if chained else None,
        "failed": False,
        "no_answer": False,
        "scenario": "maps",
        "score_lenient": 100.0 * (rights[-1] == "1"),
        "compliant": 100.0,
        "steps": steps if chained else steps[-1:],
        **other,
    }


def log(folder: Path, model: str, task: str, records: list[dict[str, Any]], date: str = OLD, **more: Any) -> Path:
    metric = "step_acc" if "_tf" in task else "final_acc"
    lines = [{"doc_id": number, metric: one} for number, one in enumerate(records)]
    return write_run(folder, model, task, lines, date=date, **more)


def compare(paths: list[Path], run: str | None = None) -> Comparison:
    return vrex_compare.compare(select(paths, benchmark="vrex", run=run))


def found(comparison: Comparison) -> list[tuple[bool, str]]:
    return [(one.setting.synthetic, one.setting.variant) for one in comparison.settings]


def chains(mode: str, *rights: str, **other: Any) -> list[dict[str, Any]]:
    return [record(number, mode, one, **other) for number, one in enumerate(rights)]


def run(folder: Path, model: str, scores: Mapping[str, tuple[str, ...]], suffix: str = "", date: str = OLD) -> None:
    for mode, rights in scores.items():
        log(folder, model, f"vrex_{mode}{suffix}", chains(mode, *rights), date)


def only(comparison: Comparison) -> SettingComparison:
    (one,) = comparison.settings
    return one


def shown(comparison: Comparison) -> str:
    console = Console(file=io.StringIO(), width=300, markup=False, highlight=False)
    for table in render(comparison):
        console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]


GOOD = {
    "planning": ("111", "111", "111", "101"),
    "following": ("111", "111", "111", "011"),
    "direct": ("111", "111", "111", "110"),
}
FAIR = {
    "planning": ("111", "001", "011", "000"),
    "following": ("111", "110", "101", "000"),
    "direct": ("111", "111", "110", "110"),
}
POOR = {
    "planning": ("111", "001", "001", "000"),
    "following": ("111", "000", "100", "000"),
    "direct": ("111", "110", "110", "110"),
}


@pytest.fixture
def three(tmp_path: Path) -> Path:
    for model, scores in (("Qwen/Qwen2.5-VL-7B-Instruct", FAIR), ("good", GOOD), ("poor", POOR)):
        run(tmp_path, model, scores)
    return tmp_path


def test_figures_of_a_model_by_hand(three: Path) -> None:
    one = only(compare([three]))
    assert (one.setting.synthetic, one.setting.variant, one.title) == (False, "standard", "V-REX")
    assert [model.label for model in one.models] == ["Qwen/Qwen2.5-VL-7B-Instruct", "good", "poor"]
    fair = one.models[0]
    planning, following, direct = (fair.modes[mode] for mode in ("planning", "following", "direct"))
    assert planning.ability is not None and following.ability is not None and direct.ability is None
    assert {name: mean.value for name, mean in planning.ability.categories.items()} == dict(
        zip(CATEGORIES, (100, 0, 50, 0), strict=True)
    )
    assert (planning.ability.value, following.ability.value) == (37.5, 62.5)
    assert fair.following_to_planning == pytest.approx(62.5 / 37.5)
    assert (planning.accuracy.value, following.accuracy.value, direct.accuracy.value) == (75, 50, 50)
    assert (planning.gain, following.gain) == (50, 0)
    assert math.isnan(direct.gain)
    assert (planning.recovery.n, planning.recovery.value) == (3, pytest.approx(200 / 3))
    assert (following.recovery.n, following.recovery.value) == (2, 50)
    assert (planning.compliance.n, planning.compliance.value) == (12, 50)
    assert [(row.number, row.estimate.value) for row in following.by_step] == [(1, 75), (2, 50), (3, 50)]


def test_figures_across_models_by_hand(three: Path) -> None:
    across = only(compare([three])).across
    assert list(across) == ["planning", "following"]
    planning = across["planning"]
    assert (planning.models, planning.samples, planning.correlated) == (3, 4, 3)
    # v0 is right throughout; v1 and v2 are 5 and 6 of 9 right; step 2 of v3 is wrong by all.
    assert planning.difficulty == {"easy": 1, "moderate": 2, "hard": 1}
    assert planning.shared_failures is not None
    assert [(row.number, row.estimate.value) for row in planning.shared_failures] == [(1, 0), (2, 25), (3, 0)]
    # Two wrong: 001 twice, 000 twice, 001 of the poor; one: 101 and 011.
    assert [(row.number, row.estimate.n, row.estimate.value) for row in planning.by_wrong_steps] == [
        (0, 5, 100),
        (1, 2, 100),
        (2, 5, 60),
    ]
    # Abilities 37.5, 87.5, 25; direct 50, 75, 25.
    assert planning.correlation == pytest.approx(0.9449, abs=5e-5)


def test_published_figures_stand_beside_ones_own(three: Path) -> None:
    text = shown(compare([three]))
    row = next(line for line in text.splitlines() if "Qwen" in line and "planning" in line)
    assert "100.0 (59.1)" in row and "37.5 (57.1)" in row  # ability: deduction, average
    row = next(line for line in text.splitlines() if "Qwen" in line and "direct" in line)
    assert "100.0 (60.8)" in row and "50.0 (61.1)" in row
    assert "1.67 (1.25)" in text  # 71.1 / 57.1
    assert "0.945 (0.858)" in text
    assert "83.3 (88.0)" in text  # following without wrong steps: 5 of 6 finals are right
    assert "easy" in text and "25%" in text
    assert "(" not in next(line for line in text.splitlines() if "good" in line and "direct" in line)


def test_the_newest_run_of_a_model_counts(tmp_path: Path) -> None:
    run(tmp_path / "first", "m", {"planning": ("11", "11")}, date=NEW)
    run(tmp_path / "second", "m", {"planning": ("00", "00"), "direct": ("11", "10")}, date=OLD)
    for runs in ([tmp_path], [tmp_path / "first", tmp_path / "second"], [tmp_path / "second", tmp_path / "first"]):
        (model,) = only(compare(runs)).models
        assert (model.modes["planning"].accuracy.value, model.modes["direct"].accuracy.value) == (100, 50)


def test_settings_are_never_mixed(tmp_path: Path) -> None:
    run(tmp_path, "m", {"direct": ("11", "11")}, "_mini")
    run(tmp_path, "m", {"direct": ("10", "10")})
    run(tmp_path, "m", {"planning": ("10", "11")}, "_mini")
    log(tmp_path, "m", "vrex_direct_blind", chains("direct", "10", "11", blind=True))
    log(tmp_path, "m", "vrex_planning_hard", chains("planning", "10", "11", set="hard"))
    forced = [
        record(0, "planning", "111", step=step, steps=[{"gold": 0, "choice": 1, "compliant": True}], score=0.0)
        for step in (1, 2)
    ]
    log(tmp_path, "m", "vrex_planning_tf", forced)
    log(tmp_path, "m", "ccrv_mini", [{}])
    accuracies = {
        (one.setting.synthetic, one.setting.variant): {
            mode: result.accuracy.value for mode, result in one.models[0].modes.items()
        }
        for one in compare([tmp_path]).settings
    }
    assert accuracies == {
        (False, "standard"): {"direct": 0},
        (False, "hard"): {"planning": 50},
        (False, "blind"): {"direct": 50},
        (False, "tf"): {"planning": 0},
        (True, "standard"): {"direct": 100, "planning": 50},
    }
    assert list(accuracies) == found(compare([tmp_path]))
    assert math.isnan(
        compare([tmp_path]).settings[1].models[0].modes["planning"].gain
    )  # its direct accuracy is another's


def test_nothing_published_stands_beside_the_embedded_benchmark(tmp_path: Path) -> None:
    for model in ("Qwen2.5-VL-7B", "InternVL3-8B", "gpt-5"):
        run(tmp_path, model, GOOD if model == "gpt-5" else FAIR if model == "InternVL3-8B" else POOR, "_mini")
    text = shown(compare([tmp_path]))
    assert "synthetic data" in text and "0.945" in text
    for published in ("57.1", "0.858", "88.0"):
        assert f"({published})" not in text


def test_controls_have_their_published_figures(tmp_path: Path) -> None:
    log(tmp_path, "gpt-4o", "vrex_direct_blind", chains("direct", "10", "11", blind=True))
    log(tmp_path, "gpt-4o", "vrex_planning_hard", chains("planning", "10", "11", set="hard"))
    text = shown(compare([tmp_path]))
    assert "0.0 (42.9)" in text  # deduction, without the picture
    assert "100.0 (36.3)" in text and "(41.1)" in text  # guessing and average of eight options


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    log(tmp_path, "one", "vrex_planning", [record(0, "planning", "11", failed=True), record(1, "planning", "01")])
    log(tmp_path, "one", "vrex_direct", [record(0, "direct", "11")])
    one = only(compare([tmp_path]))
    assert one.across["planning"].difficulty is None and one.across["planning"].shared_failures is None
    assert math.isnan(one.across["planning"].correlation)
    assert one.remarks == (
        "one, direct: no samples of guessing, navigation, retrieval; the averages lack them and are not official.",
        "one, planning: no samples of navigation, retrieval; the averages lack them and are not official.",
        "one, planning: 1 of 2 have a failed request, which is wrong.",
        "one: the modes have different samples (direct 1, planning 2; 1 in all); gain and ratio are on those that both "
        "modes have.",
        "Difficulty and shared failures of planning need at least two models; there is one.",
        "The correlation of planning with direct accuracy needs at least three models that have both; there is 1.",
    )
    assert all(remark in shown(compare([tmp_path])) for remark in one.remarks)


def test_models_without_samples_in_common(tmp_path: Path) -> None:
    log(tmp_path, "x", "vrex_following", [record(0, "following", "11")])
    log(tmp_path, "y", "vrex_following", [record(1, "following", "11")])
    one = only(compare([tmp_path]))
    assert one.across["following"].samples == 0
    assert any("have no samples in common" in remark for remark in one.remarks)
    assert "difficulty of the samples" not in shown(compare([tmp_path]))


def test_teacher_forced_steps_stand_by_their_number(tmp_path: Path) -> None:
    for model, right in (("x", (1, 1, 0)), ("y", (1, 0, 0))):
        steps = [
            record(
                0, "following", "111", step=n, score=100.0 * r, steps=[{"gold": 0, "choice": 1 - r, "compliant": True}]
            )
            for n, r in enumerate(right, start=1)
        ]
        log(tmp_path, model, "vrex_following_tf_mini", steps)
    one = only(compare([tmp_path]))
    assert [row.estimate.value for row in one.models[0].modes["following"].by_step] == [100, 100, 0]
    assert one.models[0].modes["following"].ability is None
    assert one.across["following"].difficulty == {"easy": 0, "moderate": 0, "hard": 1}
    assert [row.estimate.value for row in one.across["following"].shared_failures or ()] == [0, 0, 100]
    text = shown(compare([tmp_path]))
    assert "teacher-forced: accuracy by step, with the right history" in " ".join(text.split())
    assert "correlation" not in text


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    run(tmp_path, "[red]m\x1b[31m]", {"direct": ("11",)})
    text = shown(compare([tmp_path]))
    assert "[red]m" in text and "\x1b" not in text


@pytest.mark.parametrize(
    ("task", "change", "why"),
    [
        ("vrex_planning", {"category": "logic"}, "Line 2 is left out: field final_acc.category: Input should be"),
        ("vrex_planning", {"id": "v0"}, "Line 2 is left out: the document is there twice, and the first counts."),
    ],
)
def test_a_wrong_record_is_left_out_and_said(tmp_path: Path, task: str, change: dict[str, Any], why: str) -> None:
    records = chains("planning", "11", "11")
    log(tmp_path, "m", task, [records[0], {**records[1], **change}])
    selection = select([tmp_path], benchmark="vrex")
    assert why in " ".join(problem.text for problem in selection.problems)
    (model,) = only(vrex_compare.compare(selection)).models
    assert (model.modes["planning"].n, model.modes["planning"].expected) == (1, 2)


def test_a_log_that_is_not_the_task_s_is_told(tmp_path: Path) -> None:
    log(tmp_path / "a", "m", "vrex_following", chains("planning", "11"))
    with pytest.raises(DataError, match=r"Holds samples of another task.* mode 'planning', expected following"):
        compare([tmp_path / "a"])
    log(tmp_path / "b", "m", "vrex_planning_tf", chains("planning", "11"))
    with pytest.raises(DataError, match="sample 1: mode planning, step 0, is not of the task vrex_planning_tf"):
        compare([tmp_path / "b"])


def test_a_log_without_records_is_told(tmp_path: Path) -> None:
    path = log(tmp_path, "m", "vrex_direct", chains("direct", "11"))
    path.write_text('{"doc_id": 0, "final_acc": 100.0}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"_samples_vrex_direct\.jsonl: Holds no sound sample"):
        compare([tmp_path])


def test_runs_of_other_tasks_are_told(tmp_path: Path) -> None:
    log(tmp_path, "m", "condchain_gui", [{}])
    with pytest.raises(
        DataError, match=r"Found no samples of V-REX that can be read in .*\. Run lmms-eval with --tasks"
    ):
        compare([tmp_path])
    with pytest.raises(DataError, match="in no folder"):
        compare([])


# --- what may stand in one table


def test_settings_of_one_model_stand_side_by_side(tmp_path: Path) -> None:
    for date, temperature, rights in ((OLD, 0.0, ("11", "11")), (NEW, 0.7, ("10", "11"))):
        generation = {**GENERATION, "temperature": temperature}
        log(tmp_path, "m", "vrex_direct", chains("direct", *rights), date, generation=generation)
    one = only(compare([tmp_path]))
    assert [(model.label, model.modes["direct"].accuracy.value) for model in one.models] == [
        ("m (temperature=0)", 100),
        ("m (temperature=0.7)", 50),
    ]
    assert [model.label for model in only(compare([tmp_path], run="m (temperature=0)")).models] == ["m (temperature=0)"]
    assert [model.label for model in only(compare([tmp_path], run=NEW)).models] == ["m (temperature=0.7)"]


def test_other_data_has_tables_of_its_own(tmp_path: Path) -> None:
    for model, data in (("m7", "7" * 16), ("m7b", "7" * 16), ("m8", "8" * 16)):
        said = {"data": {"sha256": data, "synthetic": True}}
        log(tmp_path, model, "vrex_planning", chains("planning", "11", "01", "11", "11"), metadata=said)
    seven, eight = compare([tmp_path]).settings
    assert [model.label for model in seven.models] == ["m7", "m7b"] and [model.label for model in eight.models] == [
        "m8"
    ]
    assert (seven.title, eight.title) == (
        "V-REX, synthetic data, data 7777777777777777",
        "V-REX, synthetic data, data 8888888888888888",
    )
    assert seven.across["planning"].samples == 4 and eight.across["planning"].difficulty is None
    assert all(one.remarks[0].startswith("Other runs are on other data.") for one in (seven, eight))


def test_runs_whose_data_is_unknown_are_compared_with_none(tmp_path: Path) -> None:
    for model in ("x", "y"):
        log(tmp_path, model, "vrex_planning", chains("planning", "11")).with_name(f"{OLD}_results.json").unlink()
    assert [one.title for one in compare([tmp_path]).settings] == ["V-REX, data unknown"] * 2


def test_a_partial_run_is_marked_last_and_left_out_across_models(tmp_path: Path) -> None:
    whole = ("11", "01", "11", "10", "11", "11", "11", "11")
    for model in ("b", "c"):
        log(tmp_path, model, "vrex_planning", chains("planning", *whole))
    log(tmp_path, "a", "vrex_planning", chains("planning", *whole[:4]), expected=8, config={"limit": 4})
    one = only(compare([tmp_path]))
    assert [(model.label, model.modes["planning"].is_partial) for model in one.models] == [
        ("b", False),
        ("c", False),
        ("a", True),
    ]
    assert (one.across["planning"].models, one.across["planning"].samples) == (2, 8)
    assert "a, planning: partial, 4 of 8 samples." in one.remarks
    assert (
        "Difficulty, shared failures, wrong steps and correlation of planning are without a (4), which lack some of "
        "the 8 samples."
    ) in one.remarks
    assert "4 of 8" in shown(compare([tmp_path]))


def test_gain_and_ratio_are_on_the_samples_that_both_modes_have(tmp_path: Path) -> None:
    log(tmp_path, "m", "vrex_direct", chains("direct", "11", "10", "10", "10"))
    log(tmp_path, "m", "vrex_planning", chains("planning", "111", "111"), expected=4, config={"limit": 2})
    log(tmp_path, "m", "vrex_following", chains("following", "011", "111", "001", "001"))
    (model,) = only(compare([tmp_path])).models
    # Of v0 and v1 alone: 100 after planning, 50 directly; abilities 75 and 100.
    assert model.modes["planning"].gain == 100
    assert model.following_to_planning == pytest.approx(0.75)


def test_what_is_simulated_says_so(tmp_path: Path) -> None:
    log(tmp_path, "m", "vrex_direct", chains("direct", "11"), metadata={"simulated": True})
    assert "m (simulated)" in shown(compare([tmp_path]))
    assert only(compare([tmp_path])).remarks[0].startswith("m: The model qwen2_5_vl is simulated")


# --- published figures


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Qwen__Qwen2.5-VL-7B-Instruct", "Qwen2.5-VL-7B"),
        ("Qwen__Qwen3-VL-8B-Instruct", "Qwen3-VL-8B-IT"),
        ("Qwen__Qwen3-VL-8B-Thinking", "Qwen3-VL-8B-Think"),
        ("OpenGVLab__InternVL3_5-8B", "InternVL3.5-8B"),
        ("OpenGVLab__InternVL3-8B-hf", "InternVL3-8B"),
        ("lmms-lab__llava-onevision-qwen2-7b-ov", "LLaVA-OV-7B"),
        ("openai__gpt-4o", "GPT-4o"),
        ("o3", "O3"),
        ("gemini-2.5-flash", "Gemini 2.5 Flash"),
    ],
)
def test_a_model_is_known_by_its_folder(model: str, name: str) -> None:
    assert published_figures(name)
    assert published_figures(model) == published_figures(name)


@pytest.mark.parametrize(
    "model",
    ["gpt-4o-2024-11-20", "gpt-4o-mini", "Qwen2-VL-7B", "Qwen2.5-VL-7B-AWQ", "InternVL4-8B", "condchain_sim", "", "__"],
)
def test_another_model_is_not_taken_for_one(model: str) -> None:
    assert not published_figures(model)


def test_published_figures() -> None:
    figures = published_figures("GPT-4o")
    assert figures[Figure("standard", "ability", "planning", "average")] == 72.7
    assert figures[Figure("standard", "accuracy", "direct", "deduction")] == 68.3
    assert figures[Figure("standard", "recovery", "following", "average")] == 56.5
    assert figures[Figure("hard", "ability", "planning", "average")] == 41.06
    assert figures[Figure("blind", "accuracy", "direct", "guessing")] == 10.74
    assert accuracy_by_wrong_steps()[1] == pytest.approx(62.6)
