"""Averages over categories, recovery, accuracy by steps, and comparisons across models."""

from __future__ import annotations

import csv
import math
import random
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import condchain_tasks.report
from condchain_tasks.scorers.statistics import clustered_standard_error
from condchain_tasks.scorers.vrex_metrics import (
    CATEGORIES,
    Estimate,
    Row,
    Sample,
    Step,
    accuracy_by_length,
    accuracy_by_step,
    accuracy_by_wrong_steps,
    correlation,
    difficulties,
    following_to_planning,
    format_compliance,
    gain,
    linearised_macro_average,
    macro_average,
    recovery,
    shared_failures,
)

PUBLISHED = Path(condchain_tasks.report.__file__).parent / "published"


def published(table: str) -> list[dict[str, str]]:
    with (PUBLISHED / f"{table}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def record(name: str, rights: str, **other: Any) -> dict[str, Any]:
    """The record of a chain; `rights` holds a 1 for each step that is right and a 0 for each that is wrong."""
    steps = [{"gold": 1, "choice": int(right), "compliant": True} for right in rights]
    wrong = rights[:-1].count("0")
    return {
        "id": name,
        "category": "deduction",
        "mode": "following",
        "set": "standard",
        "blind": False,
        "step": 0,
        "length": len(rights),
        "score": 100.0 * int(rights[-1]),
        "ability": 100 * (1 - wrong / (len(rights) - 1)),
        "wrong_steps": wrong,
        "failed": False,
        "steps": steps,
        **other,
    }


def sample(name: str, rights: str, **other: Any) -> Sample:
    return Sample.from_record(record(name, rights, **other))


def direct(name: str, right: bool, length: int = 3) -> Sample:
    step = {"gold": 0, "choice": 0 if right else None, "compliant": right}
    alone = {"mode": "direct", "ability": None, "wrong_steps": None, "length": length, "steps": [step]}
    return sample(name, "11", **alone, score=100.0 * right)


def forced(name: str, step: int, right: bool, length: int = 3) -> Sample:
    asked = {"gold": 0, "choice": 0 if right else 1, "compliant": True}
    alone = {"step": step, "ability": None, "wrong_steps": None, "length": length, "steps": [asked]}
    return sample(name, "11", **alone, score=100.0 * right)


def samples(*rights: str) -> list[Sample]:
    return [sample(str(number), one) for number, one in enumerate(rights)]


def values(rows: Sequence[Row]) -> dict[int, tuple[int, float]]:
    return {row.number: (row.estimate.n, pytest.approx(row.estimate.value)) for row in rows}


# --- records


def test_a_sample_is_read_from_its_record() -> None:
    one = Sample.from_record({**record("7", "101"), "scenario": "map", "rules": ["line"]})
    steps = (Step(1, 1, True), Step(1, 0, True), Step(1, 1, True))
    assert one == Sample("7", "deduction", "following", "standard", False, 0, 3, 100.0, 50.0, 1, False, steps)
    assert one.rights == {1: True, 2: False, 3: True}


def test_steps_that_were_not_reached_are_wrong() -> None:
    cut = record("7", "1111", failed=True, score=0.0)
    cut["steps"] = cut["steps"][:2]
    assert Sample.from_record(cut).rights == {1: True, 2: True, 3: False, 4: False}


def test_a_sample_of_one_step_has_no_ability() -> None:
    assert (direct("7", True).ability, direct("7", True).wrong_steps) == (None, None)
    assert direct("7", True, length=5).rights == {5: True}
    assert forced("7", 2, False).rights == {2: False}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", 7),
        ("category", "logic"),
        ("mode", "tf"),
        ("set", ""),
        ("blind", None),
        ("step", -1),
        ("step", 4),
        ("step", True),
        ("length", 1),
        ("length", 7),
        ("length", 3.0),
        ("score", 50.0),
        ("score", math.nan),
        ("score", "100"),
        ("ability", None),
        ("ability", 100.5),
        ("ability", math.nan),
        ("wrong_steps", 3),
        ("wrong_steps", None),
        ("failed", "no"),
        ("steps", "101"),
        ("steps", []),
        ("steps", [{"gold": 0, "choice": 0, "compliant": True}] * 4),
        ("steps", [{"gold": 0, "choice": 0, "compliant": True}] * 2),
        ("steps", [None] * 3),
        ("steps", [[["x" * 10**6]] * 10**4] * 3),
    ],
)
def test_a_record_with_a_wrong_value_is_told(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^V-REX record .*, field {field}.*: expected .*, found ") as error:
        Sample.from_record({**record("7", "101"), field: value})
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    ("field", "value"), [("gold", 8), ("gold", None), ("choice", -1), ("choice", "a"), ("compliant", 2)]
)
def test_a_step_with_a_wrong_value_is_told(field: str, value: object) -> None:
    wrong = record("7", "101")
    wrong["steps"][1] = {**wrong["steps"][1], field: value}
    with pytest.raises(ValueError, match=rf"^V-REX record '7', step 2, field {field}: expected .*, found "):
        Sample.from_record(wrong)


@pytest.mark.parametrize("field", record("7", "101"))
def test_a_missing_field_is_told(field: str) -> None:
    incomplete = record("7", "101")
    del incomplete[field]
    with pytest.raises(ValueError, match=f"field {field} is missing. Is it from the sample log of a vrex task"):
        Sample.from_record(incomplete)


# --- averages over categories


def test_each_category_has_the_same_weight() -> None:
    average = macro_average(
        [100, 0, 0, 100, 100, 0, 100], ["navigation"] * 3 + ["deduction"] * 2 + ["guessing", "retrieval"]
    )
    assert {name: (one.n, one.value) for name, one in average.categories.items()} == {
        "deduction": (2, 100),
        "guessing": (1, 0),
        "navigation": (3, pytest.approx(100 / 3)),
        "retrieval": (1, 100),
    }
    assert average.value == pytest.approx((100 + 0 + 100 / 3 + 100) / 4)
    assert average.missing == ()
    assert math.isnan(average.error)  # of a single sample's mean nothing is known


def test_standard_error_over_strata_by_hand() -> None:
    # Deduction 0, 100: s² = 5000, /2 = 2500. Guessing 100, 100, 0, 0: s² = 10000/3, /4 = 2500/3.
    average = macro_average([0, 100, 100, 100, 0, 0], ["deduction"] * 2 + ["guessing"] * 4)
    assert average.value == 50
    assert average.error == pytest.approx(math.sqrt(2500 + 2500 / 3) / 2)
    assert average.missing == ("navigation", "retrieval")


def test_standard_error_over_clusters_by_hand() -> None:
    # Deviations -50, -50, 50, 50 in two clusters: sums -100, 100; (20,000 + 10,000 / 3) / 16.
    average = macro_average([0, 0, 100, 100], ["deduction"] * 4, ["x", "x", "y", "y"])
    assert average.error == pytest.approx(math.sqrt(70_000 / 3 / 16))
    assert average.error == average.categories["deduction"].error
    with pytest.raises(ValueError):
        macro_average([0, 100], ["deduction"] * 2, ["x"])


def test_no_samples_have_no_average() -> None:
    average = macro_average([], [])
    assert (math.isnan(average.value), math.isnan(average.error), average.missing) == (True, True, CATEGORIES)
    assert linearised_macro_average([], []) == []


def test_each_value_needs_a_category() -> None:
    for function in (macro_average, linearised_macro_average):
        with pytest.raises(ValueError):
            function([1.0, 2.0], ["deduction"])


VALUES = st.lists(st.tuples(st.floats(0, 100), st.sampled_from(CATEGORIES)), min_size=1, max_size=40)


@given(VALUES)
def test_terms_average_to_the_average(pairs: list[tuple[float, str]]) -> None:
    scores, categories = [list(column) for column in zip(*pairs, strict=True)]
    terms = linearised_macro_average(scores, categories)
    assert statistics.fmean(terms) == pytest.approx(macro_average(scores, categories).value, abs=1e-9)


@given(VALUES)
def test_terms_have_the_standard_error_of_the_average(pairs: list[tuple[float, str]]) -> None:
    doubled = pairs + [(100 - value, category) for value, category in pairs]  # no category of one sample
    scores, categories = [list(column) for column in zip(*doubled, strict=True)]
    terms = linearised_macro_average(scores, categories)
    plain = statistics.stdev(terms) / math.sqrt(len(terms))
    assert plain == pytest.approx(macro_average(scores, categories).error, abs=1e-9)
    assert clustered_standard_error(terms, range(len(terms))) == pytest.approx(plain, abs=1e-9)


def test_a_category_of_one_sample_adds_nothing_to_the_terms() -> None:
    terms = linearised_macro_average([0, 100, 30], ["deduction", "deduction", "guessing"])
    # Average (50 + 30) / 2 = 40; scale sqrt(3 · 2 / (2 · 1)) / 2.
    assert terms == pytest.approx([40 - 25 * math.sqrt(3), 40 + 25 * math.sqrt(3), 40])


def test_standard_error_is_that_of_a_bootstrap_over_strata() -> None:
    draw = random.Random(0)
    sizes = dict(zip(CATEGORIES, (91, 121, 98, 41), strict=True))
    strata = {
        name: [100.0 * (draw.random() < share) for _ in range(sizes[name])]
        for name, share in zip(CATEGORIES, (0.5, 0.7, 0.9, 0.3), strict=True)
    }
    scores = [score for group in strata.values() for score in group]
    categories = [name for name, group in strata.items() for _ in group]
    means = [
        statistics.fmean(statistics.fmean(draw.choices(group, k=len(group))) for group in strata.values())
        for _ in range(1500)
    ]
    assert macro_average(scores, categories).error == pytest.approx(statistics.stdev(means), rel=0.08)


@pytest.mark.parametrize(
    ("table", "category", "average"),
    [
        ("vrex_ability", "planning_{}", "planning_avg"),
        ("vrex_ability", "following_{}", "following_avg"),
        ("vrex_final_accuracy", "{}_direct", "overall_direct"),
        ("vrex_final_accuracy", "{}_planning", "overall_planning"),
        ("vrex_final_accuracy", "{}_following", "overall_following"),
    ],
)
def test_published_averages(table: str, category: str, average: str) -> None:
    rows = published(table)
    assert len(rows) == 32
    for row in rows:
        computed = macro_average([float(row[category.format(name)]) for name in CATEGORIES], CATEGORIES)
        # Categories and averages are rounded to 0.1: the two can differ by 0.05 + 0.05.
        assert computed.value == pytest.approx(float(row[average]), abs=0.1), row["model"]


def test_published_averages_of_four_and_eight_options() -> None:
    rows = published("vrex_planning_options")
    assert len(rows) == 8
    for row in rows:
        for options in (4, 8):
            computed = macro_average([float(row[f"{name}_{options}"]) for name in CATEGORIES], CATEGORIES)
            assert computed.value == pytest.approx(float(row[f"average_{options}"]), abs=0.0101)


# --- one model


def test_recovery() -> None:
    # Wrong intermediate steps: 011 (right), 001 (right), 010 (wrong), 0000 (wrong).
    found = recovery(samples("111", "110", "011", "001", "010", "0000"))
    assert (found.n, found.value) == (4, 50)
    assert found.error == pytest.approx(math.sqrt(10_000 / 3 / 4))


def test_nothing_to_recover_from() -> None:
    found = recovery([*samples("111", "10"), direct("7", False), forced("7", 1, False)])
    assert found.n == 0
    assert math.isnan(found.value) and math.isnan(found.error)


def test_accuracy_by_wrong_steps_and_by_length() -> None:
    several = [*samples("11", "10", "111", "010", "001", "0001"), direct("6", True)]
    assert values(accuracy_by_wrong_steps(several)) == {0: (3, 200 / 3), 1: (1, 0), 2: (1, 100), 3: (1, 100)}
    assert values(accuracy_by_length(several)) == {2: (2, 50), 3: (4, 75), 4: (1, 100)}


def test_accuracy_by_step() -> None:
    chained = samples("11", "010", "1101")
    assert values(accuracy_by_step(chained)) == {1: (3, 200 / 3), 2: (3, 100), 3: (2, 0), 4: (1, 100)}
    each = [forced("1", step, step != 2) for step in (1, 2, 3)] + [forced("2", step, True) for step in (1, 2)]
    assert values(accuracy_by_step(each)) == {1: (2, 100), 2: (2, 50), 3: (1, 100)}


def test_a_row_has_its_standard_error() -> None:
    (first, *_) = accuracy_by_step(samples("11", "01", "01", "11"))
    assert first == Row(1, Estimate(4, 50, pytest.approx(math.sqrt(10_000 / 3 / 4))))  # type: ignore[arg-type]


def test_samples_of_several_models_are_not_independent() -> None:
    once = accuracy_by_wrong_steps(samples("11", "10") * 1)[0].estimate
    twice = accuracy_by_wrong_steps(samples("11", "10") * 2)[0].estimate
    assert (once.error, twice.error) == pytest.approx((50, math.sqrt(20_000 + 10_000 / 3) / 4))


@pytest.mark.parametrize(("acc", "acc_direct", "value"), [(60, 50, 20), (50, 60, -100 / 6), (0, 50, -100), (50, 50, 0)])
def test_gain(acc: float, acc_direct: float, value: float) -> None:
    assert gain(acc, acc_direct) == pytest.approx(value)


def test_no_gain_over_nothing() -> None:
    assert math.isnan(gain(50, 0)) and math.isnan(gain(50, math.nan))
    assert math.isnan(following_to_planning(50, 0))
    assert following_to_planning(60, 40) == 1.5


def test_format_compliance_counts_replies() -> None:
    loose = record("1", "11")
    loose["steps"] = [{**step, "compliant": False} for step in loose["steps"]]
    found = format_compliance([sample("0", "11"), Sample.from_record(loose), direct("2", True), direct("3", False)])
    assert (found.n, found.value) == (6, 50)
    # Deviations ±50; sums by chain 100, -100, 50, -50; (25,000 + 6 · 2500 / 5) / 36.
    assert found.error == pytest.approx(math.sqrt(28_000 / 36))


# --- several models


def test_difficulties() -> None:
    models = {
        "x": samples("111", "110", "101", "100", "1111"),
        "y": samples("111", "111", "001", "010", "1111"),
        "z": samples("111", "111", "111", "001", "0011"),
    }
    assert difficulties(models) == {
        "0": "easy",
        "1": "moderate",
        "2": "moderate",  # 6 of 9 are right, and each step by somebody
        "3": "hard",  # 3 of 9 are right
        "4": "moderate",
    }
    assert difficulties({**models, "x": samples("110", "110", "101", "100", "1111")})["0"] == "moderate"
    all_fail = {name: samples("1101111"[:6]) for name in "xyz"}
    assert difficulties(all_fail) == {"0": "hard"}  # though 5 of 6 are right


def test_half_right_is_not_hard() -> None:
    assert difficulties({"x": samples("10"), "y": samples("01")}) == {"0": "moderate"}
    assert difficulties({"x": samples("100"), "y": samples("011")}) == {"0": "moderate"}


def test_only_samples_in_common_are_compared() -> None:
    models = {"x": samples("11", "11"), "y": samples("11")}
    assert difficulties(models) == {"0": "easy"}
    assert values(shared_failures(models)) == {1: (1, 0), 2: (1, 0)}
    assert difficulties({"x": samples("11"), "y": samples("111")}) == {}
    assert difficulties({}) == {}
    assert shared_failures({"x": samples("11"), "y": []}) == []


def test_shared_failures() -> None:
    models = {
        "w": samples("000", "10"),
        "x": samples("001", "10"),
        "y": samples("001", "00"),
        "z": samples("110", "11"),
    }
    # Step 1: 3 of 4 fail, 1 of 4. Step 2: 3 of 4, 3 of 4. Step 3: 2 of 4.
    assert values(shared_failures(models)) == {1: (2, 50), 2: (2, 100), 3: (1, 0)}


def test_two_of_three_models_share_no_failure() -> None:
    models = {"x": samples("01"), "y": samples("01"), "z": samples("11")}
    assert values(shared_failures(models)) == {1: (1, 0), 2: (1, 0)}


def test_teacher_forced_steps_are_compared_as_one_sample() -> None:
    x = [forced("7", step, True, length=2) for step in (1, 2)]
    y = [forced("7", step, step == 1, length=2) for step in (1, 2)]
    assert difficulties({"x": x, "y": x}) == {"7": "easy"}
    assert difficulties({"x": x, "y": y}) == {"7": "moderate"}
    assert difficulties({"x": x, "y": y[:1]}) == {}


def test_a_sample_that_is_there_twice_is_told() -> None:
    for function in (difficulties, shared_failures):
        with pytest.raises(ValueError, match="has the V-REX sample '0' twice"):
            function({"x": samples("11") * 2, "y": samples("11")})


def test_correlation() -> None:
    assert correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert correlation([1, 2, 3], [6, 4, 2]) == pytest.approx(-1)
    assert correlation([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
    assert math.isnan(correlation([1, 2], [1, 2]))
    assert math.isnan(correlation([1, 1, 1], [1, 2, 3]))
    assert math.isnan(correlation([1, 2, 3], [4, 4, 4]))
    with pytest.raises(ValueError, match="3 and 2"):
        correlation([1, 2, 3], [1, 2])


@pytest.mark.parametrize(("mode", "expected", "within"), [("following", 0.948, 0.0005), ("planning", 0.858, 0.001)])
def test_published_correlations(mode: str, expected: float, within: float) -> None:
    accuracies = {row["model"]: float(row["overall_direct"]) for row in published("vrex_final_accuracy")}
    abilities = {row["model"]: float(row[f"{mode}_avg"]) for row in published("vrex_ability")}
    assert accuracies.keys() == abilities.keys()
    found = correlation(list(abilities.values()), [accuracies[model] for model in abilities])
    # From tables rounded to 0.1, planning gives 0.8572.
    assert found == pytest.approx(expected, abs=within)
