"""Means and standard errors, the same for every benchmark."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; not a number if there are no values."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else math.nan


def clustered_standard_error(values: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Standard error of a mean over values that are independent between clusters only (arXiv 2411.00640, equation 4).

    With d the deviations from the mean, SE² = Σ d² / (n (n - 1)) + 1/n² Σ over clusters Σ over i ≠ j of d_i d_j. The
    inner sum is the square of the cluster's sum of d, less its sum of d²; so SE² = (Σ over clusters (Σ d)² + Σ d² /
    (n - 1)) / n², which rounding cannot make negative.

    Args:
        values: n values, in any unit.
        clusters: For each value, what it shares with others, such as the id of its image.

    Returns:
        In the unit of the values; with a cluster for each value the plain standard error, and not a number below two
        clusters, which tell nothing of how clusters differ.

    Raises:
        ValueError: There are not as many clusters as values.
    """
    n = len(values)
    if len(clusters) != n:
        raise ValueError(f"Each value has one cluster: expected {n} clusters, found {len(clusters)}.")
    if len(set(clusters)) < 2:
        return math.nan
    center = mean(values)
    deviations = [value - center for value in values]
    cluster_sums: defaultdict[Hashable, float] = defaultdict(float)
    for cluster, deviation in zip(clusters, deviations, strict=True):
        cluster_sums[cluster] += deviation
    between = sum(total * total for total in cluster_sums.values())
    return math.sqrt(between + sum(d * d for d in deviations) / (n - 1)) / n
