"""Intervals and tests: by hand, against scipy and statsmodels, and by simulation."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from condchain_tasks.report import intervals
from condchain_tasks.report.intervals import (
    Estimate,
    adjust,
    bootstrap,
    bootstrap_macro_mean,
    bootstrap_macro_path_f1,
    bootstrap_mean,
    bootstrap_path_f1,
    compare,
    compare_macro_means,
    compare_macro_path_f1,
    compare_means,
    compare_path_f1,
)
from condchain_tasks.scorers.condchain import linearised_path_f1, path_f1
from condchain_tasks.scorers.statistics import clustered_standard_error

Z = NormalDist().inv_cdf(0.975)
Floats = NDArray[np.float64]


def width(estimate: Estimate) -> float:
    assert estimate.low is not None and estimate.high is not None
    return estimate.high - estimate.low


def pairs(n: int, seed: int, skill: float = 0.0) -> tuple[Floats, NDArray[np.bool_], NDArray[np.int64]]:
    """Scores of n pairs of a true and a false path, which share half of their variance."""
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.normal(size=n), 2)
    is_true = np.tile([True, False], n)
    correct = 100.0 * (shared + rng.normal(size=2 * n) + 0.5 * is_true + skill > 0)
    return correct, is_true, np.repeat(np.arange(n), 2)


# --- one model


def test_values_by_hand() -> None:
    assert bootstrap_mean([0, 100, 50, math.nan], ["a", "b", "c", "d"]).value == 50
    # True paths 2 of 3, false paths 1 of 2: 2 · 66.7 · 50 / 116.7.
    found = bootstrap_path_f1([100, 100, 0, 100, 0], [True, True, True, False, False], [1, 2, 3, 1, 2])
    assert found.value == pytest.approx(2 * (200 / 3) * 50 / (200 / 3 + 50))
    assert bootstrap_macro_mean([0, 0, 0, 100], ["a", "a", "a", "b"], [1, 2, 3, 4]).value == 50
    correct, is_true = [100, 100, 100, 0], [True, False, True, False]
    assert bootstrap_macro_path_f1(correct, is_true, ["a", "a", "b", "b"], [1, 1, 2, 2]).value == 50


def test_both_paths_wrong_is_zero_and_no_division() -> None:
    found = bootstrap_path_f1([0, 0, 100, 100, *[0] * 6], [True, False] * 5, np.repeat(np.arange(5), 2))
    assert (found.value, found.low) == (pytest.approx(20), 0)
    few = bootstrap_path_f1([0, 0, 100, 100, *[0] * 4], [True, False] * 4, np.repeat(np.arange(4), 2))
    assert (few.value, few.low, few.high) == (pytest.approx(25), None, None)


@pytest.mark.parametrize(
    "found",
    [
        bootstrap_mean([], []),
        bootstrap_mean([math.nan, math.nan], [1, 2]),
        bootstrap_path_f1([100, 0], [True, True], [1, 2]),
        bootstrap_macro_mean([math.nan, 1, 2], ["a", "b", "b"], [1, 2, 3]),
        bootstrap_macro_path_f1([100, 0, 100], [True, False, True], ["a", "a", "b"], [1, 2, 3]),
    ],
)
def test_a_part_without_values_is_no_figure(found: Estimate) -> None:
    assert found == Estimate(None, None, None)


def test_where_resamples_say_nothing_there_is_no_interval() -> None:
    assert bootstrap_mean([0, 100, 50], ["a", "a", "a"]) == Estimate(50, None, None)
    assert bootstrap_mean([100] * 9, range(9)) == Estimate(100, None, None)
    assert bootstrap_path_f1([100, 0] * 9, [True, False] * 9, np.repeat(range(9), 2)) == Estimate(0, None, None)


def test_arguments_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="Each value has one part"):
        bootstrap_mean([1, 2, 3], [1, 2])


def test_independent_values_as_scipy_has_it() -> None:
    values = np.random.default_rng(1).exponential(size=80)
    found = bootstrap_mean(values, np.arange(80))
    other = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.05 * (other.high - other.low))


def test_clusters_of_different_sizes_as_scipy_has_it() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(60), rng.integers(1, 9, size=60))
    values = rng.normal(size=60)[clusters] + rng.normal(size=len(clusters))
    sums, counts = np.bincount(clusters, values), np.bincount(clusters)
    found = bootstrap_mean(values, clusters)
    other = stats.bootstrap(
        (sums, counts),
        lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(4),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.05 * (other.high - other.low))


def test_the_width_is_that_of_the_clustered_standard_error() -> None:
    correct, is_true, clusters = pairs(400, seed=5)
    error = clustered_standard_error(correct.tolist(), clusters.tolist())
    assert width(bootstrap_mean(correct, clusters)) == pytest.approx(2 * Z * error, rel=0.05)
    terms = linearised_path_f1(correct.tolist(), is_true.tolist())
    error = clustered_standard_error(terms, clusters.tolist())
    assert width(bootstrap_path_f1(correct, is_true, clusters)) == pytest.approx(2 * Z * error, rel=0.05)


def test_groups_with_clusters_of_their_own_are_independent_strata() -> None:
    values = np.random.default_rng(6).normal(size=300)
    groups = np.repeat(["a", "b", "c"], [20, 80, 200])
    found = bootstrap_macro_mean(values, groups, np.arange(300))
    errors = [values[groups == name].std(ddof=0) / math.sqrt((groups == name).sum()) for name in "abc"]
    assert width(found) == pytest.approx(2 * Z * math.hypot(*errors) / 3, rel=0.06)


def test_clusters_that_groups_share_are_drawn_for_all_of_them() -> None:
    values = np.random.default_rng(7).normal(size=50)
    clusters = np.arange(50)
    once = bootstrap_mean(values, clusters)
    twice = bootstrap_macro_mean(np.tile(values, 2), np.repeat(["a", "b"], 50), np.tile(clusters, 2))
    assert twice == pytest.approx(once)
    apart = bootstrap_macro_mean(np.tile(values, 2), np.repeat(["a", "b"], 50), np.arange(100))
    assert width(apart) == pytest.approx(width(once) / math.sqrt(2), rel=0.06)


def test_many_clusters_are_put_together_without_harm() -> None:
    values = np.random.default_rng(8).normal(size=9_000)
    found = bootstrap_mean(values, np.arange(9_000))
    assert width(found) == pytest.approx(2 * Z * values.std() / math.sqrt(9_000), rel=0.08)


def test_a_report_is_the_same_when_it_is_made_again() -> None:
    correct, is_true, clusters = pairs(50, seed=9)
    first = bootstrap_path_f1(correct, is_true, clusters)
    intervals._counts.cache.clear()
    assert bootstrap_path_f1(correct, is_true, clusters) == first


def test_a_rare_part_does_not_spoil_the_interval() -> None:
    """Of five clusters one alone has a false path: in some resamples there is none."""
    found = bootstrap_path_f1([100, 0, 100, 100, 0, 100], [*[True] * 5, False], [1, 2, 3, 4, 5, 5])
    assert found.low is not None and found.high is not None
    assert 0 < found.low < found.high <= 100


def test_intervals_cover_the_truth() -> None:
    """Of 300 sets of 60 clusters; without regard to clusters, of which the values are copies, many less."""
    rng = np.random.default_rng(10)
    clusters = np.repeat(np.arange(60), 4)
    covered = naive = 0
    for _ in range(300):
        values = np.repeat(100.0 * (rng.random(60) < 0.6), 4)
        for estimate, is_clustered in (
            (bootstrap_mean(values, clusters), True),
            (bootstrap_mean(values, np.arange(240)), False),
        ):
            assert estimate.low is not None and estimate.high is not None
            hit = estimate.low <= 60 <= estimate.high
            covered += hit and is_clustered
            naive += hit and not is_clustered
    assert 0.90 <= covered / 300 <= 0.98
    assert naive / 300 < 0.8


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(st.integers(0, 100), min_size=2, max_size=30),
    scale=st.floats(0.1, 10),
    shift=st.floats(-100, 100),
    seed=st.integers(0, 1_000),
)
def test_scale_shift_and_order_of_samples(values: list[int], scale: float, shift: float, seed: int) -> None:
    clusters = np.arange(len(values)) // 2
    found = bootstrap_mean(values, clusters)
    other = bootstrap_mean(scale * np.array(values) + shift, clusters)
    assert (found.low is None) == (other.low is None) == (found.high is None)
    for one, moved in zip(found, other, strict=True):
        assert one is None or moved == pytest.approx(scale * one + shift, abs=1e-6)
    order = np.random.default_rng(seed).permutation(len(values))
    assert bootstrap_mean(np.array(values)[order], clusters[order]) == pytest.approx(found)
    if found.low is not None and found.high is not None:
        assert min(values) <= found.low < found.high <= max(values)


# --- two models


def test_differences_by_hand() -> None:
    found = compare_means([100, 100, 0, math.nan], [0, 100, 100, 100], [1, 2, 3, 4])
    assert (found.n, found.difference, found.p) == (3, 0, 1)
    a, is_true, clusters = pairs(40, seed=11, skill=0.8)
    b, _, _ = pairs(40, seed=12)
    true = np.asarray(is_true)
    for_a, for_b = (path_f1(x[true].mean(), x[~true].mean()) for x in (a, b))
    compared = compare_path_f1(a, b, is_true, clusters)
    assert compared.difference == pytest.approx(for_a - for_b)
    groups = np.where(clusters < 10, "x", "y")
    macro = compare_macro_path_f1(a, b, is_true, groups, clusters)
    values = [bootstrap_macro_path_f1(x, is_true, groups, clusters).value for x in (a, b)]
    assert macro.difference == pytest.approx((values[0] or 0) - (values[1] or 0))
    means = compare_macro_means(a, b, groups, clusters)
    assert means.difference == pytest.approx(np.mean([(a - b)[groups == name].mean() for name in "xy"]))


def test_the_same_answers_are_no_difference() -> None:
    a, is_true, clusters = pairs(40, seed=13)
    assert compare_path_f1(a, a, is_true, clusters) == (80, 0, None, None, 1)


def test_without_common_samples_or_clusters_there_is_no_test() -> None:
    assert compare_means([], [], []) == (0, None, None, None, None)
    assert compare_means([math.nan, 1], [1, math.nan], [1, 2]) == (0, None, None, None, None)
    assert compare_means([100, 0], [0, 0], [1, 1]) == (2, 50, None, None, None)
    assert compare_path_f1([100, 0], [0, 0], [True, True], [1, 2]) == (2, None, None, None, None)


def test_models_with_different_numbers_of_samples_are_refused() -> None:
    with pytest.raises(ValueError):
        compare_means([1, 2, 3], [1, 2], [1, 2, 3])


def test_few_clusters_are_tested_exactly_as_scipy_has_it() -> None:
    rng = np.random.default_rng(14)
    for n in (5, 9, 13):
        a, b = rng.normal(0.5, 1, n), rng.normal(0, 1, n)
        expected = stats.permutation_test(
            (a, b), lambda x, y: x.mean() - y.mean(), permutation_type="samples", n_resamples=math.inf, vectorized=False
        ).pvalue
        assert compare_means(a, b, np.arange(n)).p == pytest.approx(expected)


def test_of_right_and_wrong_it_is_mcnemars_exact_test() -> None:
    """With a cluster for each sample, exchanging answers flips the discordant ones, which are binomial then."""
    a = np.array([100.0] * 30 + [0.0] * 70)
    b = np.concatenate([[100.0] * 12, [0.0] * 18, [100.0] * 8, [0.0] * 62])
    expected = mcnemar([[12, 18], [8, 62]], exact=True).pvalue
    assert compare_means(a, b, np.arange(100)).p == pytest.approx(expected, abs=0.01)


def test_answers_of_a_cluster_are_exchanged_together() -> None:
    """Copies of a sample add no evidence."""
    a, b = np.array([100.0, 100, 100, 0, 100, 100]), np.array([0.0, 0, 100, 100, 0, 0])
    once = compare_means(a, b, np.arange(6))
    copied = compare_means(np.repeat(a, 50), np.repeat(b, 50), np.repeat(np.arange(6), 50))
    assert copied.p == once.p == 2 * (1 + 5) / 2**5  # of five discordant samples at least four agree


def test_p_values_of_equal_models_are_uniform_and_of_different_ones_small() -> None:
    found = []
    for seed in range(120):
        a, is_true, clusters = pairs(40, seed=1_000 + seed)
        b, _, _ = pairs(40, seed=5_000 + seed)
        p = compare_path_f1(a, b, is_true, clusters).p
        assert p is not None
        found.append(p)
    assert stats.kstest(found, "uniform").pvalue > 0.001
    better, is_true, clusters = pairs(100, seed=1, skill=1.5)
    worse, _, _ = pairs(100, seed=2)
    assert compare_path_f1(better, worse, is_true, clusters).p == pytest.approx(1 / 10_001)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 30))
def test_the_order_of_the_models_turns_the_sign_alone(seed: int, n: int) -> None:
    a, is_true, clusters = pairs(n, seed)
    b, _, _ = pairs(n, seed + 1)
    one, other = (compare_path_f1(*both, is_true, clusters) for both in ((a, b), (b, a)))
    assert one.difference == pytest.approx(-(other.difference or 0))
    assert one.p == other.p
    assert one.p is not None and 0 < one.p <= 1
    if one.low is not None and other.high is not None:
        assert one.low == pytest.approx(-other.high, abs=1e-6)


def test_any_function_of_means() -> None:
    """Recovery as a ratio of two means, and its difference."""
    values, parts = [100, 0, 50, 50], [0, 0, 1, 1]

    def ratio(means: Floats) -> Floats:
        return means[:, 0] / means[:, 1]

    assert bootstrap(values, parts, 2, [1, 2, 1, 2], ratio).value == 1
    assert compare(values, [100, 100, 50, 50], parts, 2, [1, 2, 1, 2], ratio).difference == -1


# --- many comparisons


def test_holm_by_hand() -> None:
    assert adjust([0.01, None, 0.04, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.06), pytest.approx(0.06)]
    assert adjust([0.6, 0.7]) == [1, 1]
    assert (adjust([]), adjust([None])) == ([], [None])
