"""V-REX's section of the report, on runs that were worked out by hand, and against the benchmark's own functions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from report_runs import vrex_line, write_run
from report_sections import chart, row, table, value

from condchain_tasks.report import vrex
from condchain_tasks.report.evaluations import read_runs
from condchain_tasks.report.model import Section
from condchain_tasks.report.published_tables import published_table
from condchain_tasks.scorers import vrex_metrics as metrics
from condchain_tasks.scorers.vrex_metrics import CATEGORIES, Sample

RIGHTS = ("111", "1011", "010", "0001", "110", "0110", "001", "1111")
"""Chains v0 to v7, whose categories take turns."""


def section(root: Path, number: int = 0) -> Section:
    return vrex.sections(read_runs([root]).evaluations)[number]


def lines(mode: str, rights: tuple[str, ...] = RIGHTS) -> list[dict[str, Any]]:
    return [vrex_line(number, right, mode) for number, right in enumerate(rights)]


def write(root: Path, model: str = "lab/one", mini: bool = False) -> None:
    for mode in ("planning", "following"):
        write_run(root, model, f"vrex_{mode}{'_mini' * mini}", lines(mode))
    write_run(root, model, f"vrex_direct{'_mini' * mini}", lines("direct", ("11", "10", "10", "11") * 2))


def test_leaderboard_by_hand(tmp_path: Path) -> None:
    write(tmp_path)
    found = row(table(section(tmp_path), "leaderboard"), "lab/one")
    # Abilities: deduction v0 100, v4 100; guessing v1 2/3, v5 2/3; navigation v2 1/2, v6 0; retrieval v3 0, v7 100.
    assert value(found["planning ability"]) == pytest.approx((100 + 200 / 3 + 25 + 50) / 4)
    # Final answers: v0 1 v4 0, v1 1 v5 0, v2 0 v6 1, v3 1 v7 1; alone: right for v0 v3 v4 v7.
    assert value(found["following accuracy"]) == (50 + 50 + 50 + 100) / 4
    assert value(found["direct accuracy"]) == (100 + 0 + 0 + 100) / 4
    assert found["following / planning"] == "1.00"
    assert found["planning ability"].n == 8  # type: ignore[union-attr]


def test_the_average_gives_categories_the_same_weight(tmp_path: Path) -> None:
    # Five chains of deduction, four of them right; one of guessing, wrong.
    rights = {0: "11", 4: "11", 8: "11", 12: "11", 16: "10", 1: "10"}
    samples = [vrex_line(number, right) for number, right in rights.items()]
    write_run(tmp_path, "lab/one", "vrex_following", samples)
    found = row(table(section(tmp_path), "accuracy"), "lab/one", "following")
    assert (value(found["deduction"]), value(found["guessing"]), value(found["average"])) == (80, 0, 40)
    assert getattr(found["navigation"], "value", None) is None


def random_lines(mode: str, seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    lengths = random.Random(0)
    return [
        vrex_line(number, "".join(rng.choice("0111") for _ in range(lengths.randint(2, 6))), mode)
        for number in range(40)
    ]


def test_every_figure_equals_the_benchmark_s_own(tmp_path: Path) -> None:
    logged = {mode: random_lines(mode, seed) for seed, mode in enumerate(("planning", "following", "direct"))}
    for mode, of in logged.items():
        write_run(tmp_path, "lab/one", f"vrex_{mode}", of)
    samples = {mode: [Sample.from_record(line["final_acc"]) for line in of] for mode, of in logged.items()}
    one = section(tmp_path)
    direct = metrics.macro_average([s.score for s in samples["direct"]], [s.category for s in samples["direct"]])
    for mode in ("planning", "following"):
        of = samples[mode]
        categories = [s.category for s in of]
        for name, values in (("ability", [s.ability or 0.0 for s in of]), ("accuracy", [s.score for s in of])):
            expected = metrics.macro_average(values, categories)
            found = row(table(one, name), "lab/one", mode)
            assert value(found["average"]) == pytest.approx(expected.value)
            for category in CATEGORIES:
                assert value(found[category]) == pytest.approx(expected.categories[category].value)
                assert found[category].n == expected.categories[category].n  # type: ignore[union-attr]
        recovery = row(table(one, "recovery"), "lab/one")[mode]
        assert value(recovery) == pytest.approx(metrics.recovery(of).value)
        gain = row(table(one, "gain"), "lab/one", mode)["gain, %"]
        accuracy = metrics.macro_average([s.score for s in of], categories)
        assert value(gain) == pytest.approx(metrics.gain(accuracy.value, direct.value))
        wrong = row(table(one, "wrong-steps"), "lab/one", mode)
        for expected_row in metrics.accuracy_by_wrong_steps(of):
            assert value(wrong[f"{expected_row.number} wrong"]) == pytest.approx(expected_row.estimate.value)
        steps = row(table(one, "steps"), "lab/one", f"{mode}, own history")
        for expected_row in metrics.accuracy_by_step(of):
            assert value(steps[f"step {expected_row.number}"]) == pytest.approx(expected_row.estimate.value)
            assert steps[f"step {expected_row.number}"].n == expected_row.estimate.n  # type: ignore[union-attr]


def test_gain_is_on_the_samples_that_both_tasks_have(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "vrex_planning", lines("planning", ("11", "11", "10", "11")))
    write_run(tmp_path, "lab/one", "vrex_direct", lines("direct", ("11", "10", "11")))
    found = row(table(section(tmp_path), "gain"), "lab/one", "planning")
    # v0, v1, v2, each of a category of its own: after planning 1 1 0, alone 1 0 1.
    assert value(found["gain, %"]) == 0 and found["gain, %"].n == 3  # type: ignore[union-attr]


def test_without_direct_there_is_no_gain(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "vrex_planning", lines("planning"))
    assert not [found for found in section(tmp_path).tables if found.id.endswith("gain")]


def test_teacher_forced_steps_stand_beside_chained_ones(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "vrex_following", lines("following"))
    forced = [
        vrex_line(number, right, step=step) | {"doc_id": 10 * number + step}
        for number, right in enumerate(("111", "1101", "101"))
        for step in range(1, len(right) + 1)
    ]
    write_run(tmp_path, "lab/one", "vrex_following_tf", forced)
    one = section(tmp_path)
    own = row(table(one, "steps"), "lab/one", "following, own history")
    right = row(table(one, "steps"), "lab/one", "following, right history")
    # Own: first steps 1 1 0 0 1 0 0 1; fourth steps of v1 v3 v5 v7: 1 1 0 1.
    assert (value(own["step 1"]), value(own["step 4"])) == (50, 75)
    assert value(right["step 2"]) == pytest.approx(200 / 3)
    assert (value(right["step 1"]), value(right["step 4"])) == (100, 100)
    # The teacher-forced task is in no other table.
    assert value(row(table(one, "leaderboard"), "lab/one")["following accuracy"]) == 62.5
    drawn = chart(one, "steps-chart")
    assert {series.name for series in drawn.series} == {
        "lab/one, following, own history",
        "lab/one, following, right history",
    }


def test_published_tables_equal_the_files(tmp_path: Path) -> None:
    write(tmp_path)
    one = section(tmp_path)
    board = table(one, "leaderboard")
    assert len(board.published) == 32
    for line in published_table("vrex_ability"):
        found = row(board, line["model"])
        for mode in ("planning", "following"):
            assert value(found[f"{mode} ability"]) == float(line[f"{mode}_avg"])
            by_category = row(table(one, "ability"), line["model"], mode)
            assert [value(by_category[name]) for name in CATEGORIES] == [
                float(line[f"{mode}_{name}"]) for name in CATEGORIES
            ]
    for line in published_table("vrex_final_accuracy"):
        found = row(board, line["model"])
        for mode in ("direct", "planning", "following"):
            assert value(found[f"{mode} accuracy"]) == float(line[f"overall_{mode}"])
            by_category = row(table(one, "accuracy"), line["model"], mode)
            assert [value(by_category[name]) for name in CATEGORIES] == [
                float(line[f"{name}_{mode}"]) for name in CATEGORIES
            ]
    for line in published_table("vrex_recovery"):
        found = row(table(one, "recovery"), line["model"])
        assert [value(found[mode]) for mode in ("planning", "following")] == [
            float(line["from_failed_planning"]),
            float(line["from_failed_following"]),
        ]
    curve = row(table(one, "wrong-steps"), "all models of the paper", "following")
    assert [value(curve[f"{n} wrong"]) for n in range(6)] == pytest.approx([88, 62.6, 46.8, 32.4, 20.4, 0])


def test_published_averages_are_the_means_of_the_categories() -> None:
    for line in published_table("vrex_ability"):
        for mode in ("planning", "following"):
            mean = sum(float(line[f"{mode}_{name}"]) for name in CATEGORIES) / 4
            assert mean == pytest.approx(float(line[f"{mode}_avg"]), abs=0.11)


def test_planning_against_following_with_the_published_models(tmp_path: Path) -> None:
    write(tmp_path)
    own, printed = chart(section(tmp_path), "leaderboard-abilities").series
    assert own.x == own.y == (pytest.approx((100 + 200 / 3 + 25 + 50) / 4),)
    assert printed.published and len(printed.x) == 32
    assert (printed.x[printed.text.index("GPT-5")], printed.y[printed.text.index("GPT-5")]) == (84.4, 84.6)


def test_variants_have_tables_of_their_own(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "vrex_planning", lines("planning", ("111", "111", "111", "111")))
    write_run(tmp_path, "lab/one", "vrex_planning_hard", lines("planning", ("101", "101", "111", "011")))
    write_run(tmp_path, "lab/one", "vrex_direct_blind", lines("direct", ("11", "10", "10", "10")))
    one = section(tmp_path)
    options = row(table(one, "options"), "lab/one")
    assert [value(options[name]) for name in ("4 options", "8 options", "8 - 4")] == [100, 62.5, -37.5]
    printed = row(table(one, "options"), "GPT-5")
    assert [value(printed[name]) for name in ("4 options", "8 options")] == [84.44, 55.79]
    blind = row(table(one, "blind"), "lab/one", "direct")
    assert value(blind["average"]) == 25
    assert value(row(table(one, "blind"), "GPT-5", "direct")["navigation"]) == 77.55
    assert value(row(table(one, "leaderboard"), "lab/one")["planning ability"]) == 100
    assert row(table(one, "leaderboard"), "lab/one")["direct accuracy"] is None


def test_the_twin_has_a_section_of_its_own_without_published_figures(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, mini=True)
    official, twin = vrex.sections(read_runs([tmp_path]).evaluations)
    assert (official.id, twin.id) == ("vrex", "vrex-mini")
    assert not any(found.published for found in twin.tables)
    assert not any(series.published for drawn in twin.charts for series in drawn.series)


def test_differences_and_families(tmp_path: Path) -> None:
    for seed, rights in ((1, RIGHTS), (2, ("111",) * 8)):
        folder = tmp_path / f"seed{seed}"
        write_run(folder, "lab/one", "vrex_following", lines("following", rights), arguments=f"seed={seed}")
    one = section(tmp_path)
    found = row(table(one, "differences"), "lab/one (seed=2) - lab/one (seed=1)", "following accuracy")
    assert value(found["difference"]) == 100 - 62.5
    spread = row(table(one, "spread"), "lab/one", "following accuracy")
    assert [value(spread[name]) for name in ("mean", "min", "max")] == [81.25, 62.5, 100]
