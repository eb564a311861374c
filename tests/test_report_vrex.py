"""V-REX's section of the report, on runs that were worked out by hand, and against the benchmark's own functions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from report_runs import FAILED, vrex_line, write_run
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


def in_variant(of: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """Lines whose records say what a variant's say."""
    return [line | {"final_acc": line["final_acc"] | more} for line in of]


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
        steps = row(table(one, "steps"), "lab/one", mode, "own history")
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
    own = row(table(one, "steps"), "lab/one", "following", "own history")
    right = row(table(one, "steps"), "lab/one", "following", "right history")
    # Own: first steps 1 1 0 0 1 0 0 1; fourth steps of v1 v3 v5 v7: 1 1 0 1.
    assert (value(own["step 1"]), value(own["step 4"])) == (50, 75)
    assert value(right["step 2"]) == pytest.approx(200 / 3)
    assert (value(right["step 1"]), value(right["step 4"])) == (100, 100)
    # The teacher-forced task is in no other table.
    assert value(row(table(one, "leaderboard"), "lab/one")["following accuracy"]) == 62.5
    drawn = chart(one, "steps-following")
    assert {series.name for series in drawn.series} == {"lab/one, own history", "lab/one, right history"}


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
    hard = in_variant(lines("planning", ("101", "101", "111", "011")), set="hard")
    blind = in_variant(lines("direct", ("11", "10", "10", "10")), blind=True)
    write_run(tmp_path, "lab/one", "vrex_planning", lines("planning", ("111", "111", "111", "111")))
    write_run(tmp_path, "lab/one", "vrex_planning_hard", hard)
    write_run(tmp_path, "lab/one", "vrex_direct_blind", blind)
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
    readings = table(one, "readings")
    assert [found[1:3] for found in readings.rows] == [
        ("planning", "standard"),
        ("planning", "8 options"),
        ("direct", "without the picture"),
    ]
    assert value(row(readings, "lab/one", "planning", "8 options")["lenient ability"]) == 62.5
    assert row(readings, "lab/one", "direct", "without the picture")["lenient ability"] is None


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


READ_TWO_WAYS = [
    vrex_line(0, "11", replies=("(C)", "This is a riddle. Answer: C")),  # strict: the article a
    vrex_line(4, "11"),
    vrex_line(1, "11", replies=("It has a trick. Answer: C", "(C)")),
    vrex_line(5, "11"),
    vrex_line(2, "11", replies=(FAILED,)),
    vrex_line(3, "11", replies=("Cannot tell.", "(C)")),
]


def test_readings_by_hand(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "vrex_following", READ_TWO_WAYS)
    found = row(table(section(tmp_path), "readings"), "lab/one", "following", "standard")
    # Deduction v0 and v4, guessing v1 and v5, navigation v2, retrieval v3.
    assert value(found["accuracy"]) == (50 + 100 + 0 + 100) / 4
    assert value(found["lenient accuracy"]) == (100 + 100 + 0 + 100) / 4
    assert value(found["accuracy, lenient - strict"]) == 12.5
    assert value(found["ability"]) == (100 + 50 + 0 + 0) / 4
    assert value(found["lenient ability"]) == (100 + 100 + 0 + 0) / 4
    assert value(found["ability, lenient - strict"]) == 12.5
    # Plain means: replies with the form 1 of 2, 2, 1, 2, 0, 1; the failed request is no reply without an option.
    assert value(found["compliance"]) == pytest.approx(350 / 6)
    assert value(found["request failed"]) == value(found["no option named"]) == pytest.approx(100 / 6)
    assert {cell.n for name, cell in found.items() if name not in ("model", "mode", "variant")} == {6}  # type: ignore[union-attr]


def test_readings_are_compared_on_the_same_resamples(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "vrex_following", lines("following"))
    found = row(table(section(tmp_path), "readings"), "lab/one", "following", "standard")
    strict, gained = found["accuracy"], found["accuracy, lenient - strict"]
    assert strict == found["lenient accuracy"] and strict.low is not None  # type: ignore[union-attr]
    # Unpaired, the difference would have an interval about as wide as theirs.
    assert value(gained) == 0 and gained.low is None  # type: ignore[union-attr]


def test_readings_of_single_steps(tmp_path: Path) -> None:
    forced = [
        vrex_line(0, "11", step=1),
        vrex_line(0, "11", step=2, replies=("This is a riddle. Answer: C",)) | {"doc_id": 1},
    ]
    write_run(tmp_path, "lab/one", "vrex_following_tf", forced)
    found = row(table(section(tmp_path), "readings"), "lab/one", "following", "right history")
    assert [value(found[name]) for name in ("accuracy", "lenient accuracy", "compliance")] == [50, 100, 50]


def test_logs_without_the_lenient_ability_are_sound(tmp_path: Path) -> None:
    old = lines("following")
    for line in old:
        del line["final_acc"]["ability_lenient"]
    write_run(tmp_path, "lab/one", "vrex_following", old)
    found = row(table(section(tmp_path), "readings"), "lab/one", "following", "standard")
    assert value(found["ability"]) == value(row(table(section(tmp_path), "ability"), "lab/one")["average"])
    assert found["lenient ability"] is None and found["ability, lenient - strict"] is None
    assert value(found["lenient accuracy"]) == 62.5


def test_what_means_are_over_is_said(tmp_path: Path) -> None:
    # Right after a wrong step: deduction 3 of 3, guessing 0 of 1.
    rights = {0: "01", 4: "01", 8: "01", 1: "00"}
    write_run(tmp_path, "lab/one", "vrex_following", [vrex_line(number, right) for number, right in rights.items()])
    one = section(tmp_path)
    pooled = {"recovery": "following", "wrong-steps": "1 wrong", "steps": "step 2"}
    for name, column in pooled.items():
        assert value(row(table(one, name), "lab/one")[column]) == 75
    assert value(row(table(one, "accuracy"), "lab/one")["average"]) == 50
    said = {found.id for found in one.tables if any("lain mean" in note for note in found.notes)}
    assert said == {f"vrex-{name}" for name in (*pooled, "readings")}
    assert any("Tables whose figures are plain means say so." in note for note in one.notes)


def test_partial_runs_come_last(tmp_path: Path) -> None:
    for model, right in (("lab/poor", "10"), ("lab/good", "11")):
        write_run(tmp_path, model, "vrex_following", lines("following", (right,) * 8))
    write_run(tmp_path, "lab/cut", "vrex_following", lines("following", ("11",) * 4), expected=8)
    one = section(tmp_path)
    board = table(one, "leaderboard")
    names = [found[0] for found in board.rows]
    assert (names[0], names[-2:]) == ("lab/good", ["lab/poor", "lab/cut"])
    assert len(names) - 3 == len(board.published) == 32
    assert len(names) - 1 not in board.published
    assert [found[0] for found in table(one, "wrong-steps").rows[:3]] == ["lab/good", "lab/poor", "lab/cut"]
    assert "Partial runs come last." in board.notes


def test_a_partial_control_does_not_make_a_run_partial(tmp_path: Path) -> None:
    for model, right in (("lab/good", "11"), ("lab/poor", "10")):
        write_run(tmp_path, model, "vrex_following", lines("following", (right,) * 4))
    blind = in_variant(lines("direct", ("11",) * 2), blind=True)
    write_run(tmp_path, "lab/good", "vrex_direct_blind", blind, expected=4)
    board = table(section(tmp_path), "leaderboard")
    assert board.rows[0][0] == "lab/good"
    assert "Partial runs come last." not in board.notes


def test_each_mode_has_a_chart_that_says_what_the_table_says(tmp_path: Path) -> None:
    for model in range(13):
        for mode in ("planning", "following"):
            right = ("1" if model % 2 else "0") + ("1" if mode == "planning" else "0")
            write_run(tmp_path, f"lab/m{model:02}", f"vrex_{mode}", lines(mode, (right,) * 4))
    one = section(tmp_path)
    assert [drawn.id for drawn in one.charts if drawn.table == "vrex-accuracy"] == [
        "vrex-accuracy-planning",
        "vrex-accuracy-following",
    ]
    for name in ("ability", "accuracy", "wrong-steps", "steps"):
        for mode in ("planning", "following"):
            drawn = chart(one, f"{name}-{mode}")
            assert drawn.title.endswith(f", {mode} (the first 12; the table has all)")
            own = [series for series in drawn.series if not series.published]
            rows = [found for found in table(one, name).rows if found[1] == mode][:12]
            for series, found in zip(own, rows, strict=True):
                assert series.name.partition(", ")[0] == found[0]
                assert list(series.y) == [getattr(cell, "value", None) for cell in found[-len(series.x) :]]
