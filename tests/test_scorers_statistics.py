"""Means and clustered standard errors."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condchain_tasks.scorers.statistics import clustered_standard_error, mean


def test_mean() -> None:
    assert mean([1, 2, 6]) == 3
    assert mean(value for value in (0.0, 50.0)) == 25
    assert math.isnan(mean([]))


def test_clustered_standard_error_by_hand() -> None:
    # Mean 2, deviations -2, -1, 1, 2. SE_CLT² = (4 + 1 + 1 + 4) / 3 / 4 = 10/12. The clusters' cross terms are
    # 2 · (-2)(-1) = 4 and 2 · 1 · 2 = 4, over n² = 16: 1/2. Together 4/3.
    assert clustered_standard_error([0, 1, 3, 4], ["a", "a", "b", "b"]) == pytest.approx(math.sqrt(4 / 3))
    # Deviations cancel within each cluster: cross terms 2 · (-2)(2) = -8 and 2 · (-1)(1) = -2; 10/12 - 10/16 = 5/24.
    assert clustered_standard_error([0, 1, 3, 4], ["a", "b", "b", "a"]) == pytest.approx(math.sqrt(5 / 24))


def test_no_standard_error_below_two_values() -> None:
    assert math.isnan(clustered_standard_error([], []))
    assert math.isnan(clustered_standard_error([1.0], ["a"]))


def test_equal_values_have_no_error() -> None:
    assert clustered_standard_error([100.0] * 5, ["a", "a", "b", "b", "c"]) == 0


def test_each_value_needs_a_cluster() -> None:
    with pytest.raises(ValueError, match="expected 2 clusters, found 1"):
        clustered_standard_error([1.0, 2.0], ["a"])


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=40))
def test_clusters_of_one_give_the_plain_standard_error(values: list[float]) -> None:
    plain = statistics.stdev(values) / math.sqrt(len(values))
    assert clustered_standard_error(values, range(len(values))) == pytest.approx(plain, abs=1e-9)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=20), st.integers(2, 4))
def test_copies_within_clusters_tell_nothing_new(values: list[float], copies: int) -> None:
    repeated = [value for value in values for _ in range(copies)]
    clusters = [number for number in range(len(values)) for _ in range(copies)]
    # Σ over clusters of (copies · d)² / (copies · n)² is the error with n in place of n - 1, and what is left is small.
    center = mean(values)
    squares = sum((value - center) ** 2 for value in values)
    expected = squares / len(values) ** 2 + copies * squares / (len(repeated) - 1) / len(repeated) ** 2
    assert clustered_standard_error(repeated, clusters) == pytest.approx(math.sqrt(expected), abs=1e-9)


def test_one_cluster_tells_nothing_of_how_clusters_differ() -> None:
    assert math.isnan(clustered_standard_error([0.0, 100.0, 100.0], ["a", "a", "a"]))


@pytest.mark.parametrize("n", [2, 3, 10, 200])
@pytest.mark.parametrize("clusters", [2, 25])
def test_equals_the_function_of_the_harness(n: int, clusters: int) -> None:
    metrics = pytest.importorskip("lmms_eval.api.metrics")
    draw = random.Random(n + clusters)
    values = [draw.choice([0, 100 / 3, 200 / 3, 100]) for _ in range(n)]
    images = ["0", "1", *(str(draw.randrange(clusters)) for _ in range(n - 2))]
    assert clustered_standard_error(values, images) == pytest.approx(metrics.clustered_stderr(values, images))
