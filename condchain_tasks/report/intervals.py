"""How sure a figure is: bootstrap intervals over clusters, and paired comparisons of two models.

Samples that share a picture are not independent, so clusters are what is drawn: pairs of paths, images, or V-REX's
chains. Every figure here is a function of a few means, and a resample changes a mean only through how often each
cluster was drawn. So a resample is a row of counts, multinomial with equal chances, and the means of all resamples are
one product of matrices, of counts and the clusters' sums. Intervals are percentile intervals (B. Efron, R. Tibshirani:
An Introduction to the Bootstrap, 1993, chapter 13).

The counts depend on numbers of clusters alone and are seeded, so a report does not change when it is made again.
More than 1,000 clusters, which is more than any of the benchmarks has, are put together at random into 1,000 of equal
size: if clusters are independent, so are these, and the width of an interval changes by 2 per cent or so (its standard
deviation is 1 / sqrt(2 * 1,000)), about as much as with another seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 10_000
LEVEL = 0.95
MAX_CLUSTERS = 1_000
MIN_CLUSTERS = 5
"""With fewer, a percentile interval holds the figure less often than it says: at 4 pairs in 87 of 100 cases."""

WITHOUT = (
    f"There is none over fewer than {MIN_CLUSTERS} of these, nor where all resamples agree, as at 0 and 100 %; over "
    "fewer than about ten an interval is too narrow."
)
"""What a reader of intervals must know."""

_SEED = 20_260_301
_BLOCK = 1_000  # resamples at a time: at most 4 MB of counts
_CACHE_BYTES = 320_000_000
_MAX_EXACT = 13  # 2 ** 13 ways to exchange are fewer than the random ones

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""From means, one row a resample and one column a part, to one figure a row."""


class Estimate(NamedTuple):
    """A figure with its interval.

    Attributes:
        value: In the unit of the values; None if a part of it has no values.
        low: Lower end of the 95 % interval; None if there are fewer than `MIN_CLUSTERS`, or if all resamples agree, as
            at 0 or 100 per cent, where a resample says nothing of what other samples would have given.
        high: Upper end.
    """

    value: float | None
    low: float | None
    high: float | None


class Comparison(NamedTuple):
    """The difference between two models on the samples that both answered.

    Attributes:
        n: Samples.
        difference: The first less the second, in the unit of the values; None if a part of it has no values.
        low: Lower end of its 95 % interval; None as in `Estimate`.
        high: Upper end.
        p: Two-sided; None if there is no difference to speak of, or fewer than two clusters.
    """

    n: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None


# --- one model


def bootstrap_mean(values: ArrayLike, clusters: ArrayLike) -> Estimate:
    """A mean with its interval.

    Args:
        values: One for each sample; those that are not a number are left out.
        clusters: What each sample is drawn with, such as its image.
    """
    return bootstrap(values, np.zeros(np.shape(values), dtype=np.int64), 1, clusters, _only)


def bootstrap_path_f1(correct: ArrayLike, is_true: ArrayLike, clusters: ArrayLike) -> Estimate:
    """Path F1, the harmonic mean of the accuracies on true and on false paths, with its interval.

    Args:
        correct: 0 or 100 for each reply.
        is_true: Whether it is to a true path.
        clusters: Its pair.
    """
    return bootstrap(correct, _paths(is_true), 2, clusters, _mean_path_f1)


def bootstrap_macro_mean(values: ArrayLike, groups: ArrayLike, clusters: ArrayLike) -> Estimate:
    """The mean of groups' means, each with the same weight, with its interval.

    Args:
        values: One for each sample; those that are not a number are left out.
        groups: Each sample's group, such as a category.
        clusters: What each sample is drawn with.
    """
    parts, width = _codes(groups)
    return bootstrap(values, parts, width, clusters, _mean_of_means, groups)


def bootstrap_macro_path_f1(correct: ArrayLike, is_true: ArrayLike, groups: ArrayLike, clusters: ArrayLike) -> Estimate:
    """The mean of groups' path F1, such as of the three domains', with its interval.

    Args:
        correct: 0 or 100 for each reply.
        is_true: Whether it is to a true path.
        groups: Its domain.
        clusters: Its pair.
    """
    parts, width = _codes(groups)
    return bootstrap(correct, 2 * parts + _paths(is_true), 2 * width, clusters, _mean_path_f1, groups)


def bootstrap(
    values: ArrayLike,
    parts: ArrayLike,
    width: int,
    clusters: ArrayLike,
    statistic: Statistic,
    strata: ArrayLike | None = None,
) -> Estimate:
    """Any function of means, with its interval.

    Args:
        values: One for each sample; those that are not a number are left out.
        parts: The number of the mean that each value belongs to, from 0.
        width: How many means there are.
        clusters: What each sample is drawn with; the same name is the same cluster.
        statistic: From the means to the figure.
        strata: Groups whose sizes are given and not left to chance, such as domains. They are resampled one by one,
            unless a cluster has samples in two of them.

    Returns:
        The figure. A resample in which a part has no value is left out; that happens to tiny parts only.

    Raises:
        ValueError: The arguments are not equally long.
    """
    numbers = np.asarray(values, dtype=np.float64)
    sums = cluster_sums(numbers[np.newaxis], parts, width, clusters, strata)
    return _interval(sums, statistic)


# --- two models


def compare_means(first: ArrayLike, second: ArrayLike, clusters: ArrayLike) -> Comparison:
    """The difference of two models' means.

    Args:
        first: The first model's values; a sample that is not a number in either is left out.
        second: The second model's, of the same samples in the same order.
        clusters: What each sample is drawn with.
    """
    return compare(first, second, np.zeros(np.shape(first), dtype=np.int64), 1, clusters, _only)


def compare_path_f1(first: ArrayLike, second: ArrayLike, is_true: ArrayLike, clusters: ArrayLike) -> Comparison:
    """The difference of two models' path F1; see `compare_means` and `bootstrap_path_f1`."""
    return compare(first, second, _paths(is_true), 2, clusters, _mean_path_f1)


def compare_macro_means(first: ArrayLike, second: ArrayLike, groups: ArrayLike, clusters: ArrayLike) -> Comparison:
    """The difference of two models' means of groups' means; see `compare_means` and `bootstrap_macro_mean`."""
    parts, width = _codes(groups)
    return compare(first, second, parts, width, clusters, _mean_of_means, groups)


def compare_macro_path_f1(
    first: ArrayLike, second: ArrayLike, is_true: ArrayLike, groups: ArrayLike, clusters: ArrayLike
) -> Comparison:
    """The difference of two models' means of groups' path F1; see `compare_means` and `bootstrap_macro_path_f1`."""
    parts, width = _codes(groups)
    return compare(first, second, 2 * parts + _paths(is_true), 2 * width, clusters, _mean_path_f1, groups)


def compare(
    first: ArrayLike,
    second: ArrayLike,
    parts: ArrayLike,
    width: int,
    clusters: ArrayLike,
    statistic: Statistic,
    strata: ArrayLike | None = None,
) -> Comparison:
    """The difference of any function of means between two models, with its interval and a p value.

    The p value is that of a permutation test: if the models do not differ, their answers to a cluster may be exchanged,
    all of the cluster's together (for a mean this is the sign-flip test on the clusters' differences). Up to 13
    clusters all exchanges are tried, else 10,000 random ones, of which the least p value is 1/10,001.

    Args:
        first: The first model's values; a sample that is not a number in either is left out.
        second: The second model's, of the same samples in the same order.
        parts: The number of the mean that each value belongs to, from 0.
        width: How many means there are.
        clusters: What each sample is drawn with.
        statistic: From the means to the figure.
        strata: Groups whose sizes are given.

    Raises:
        ValueError: The arguments are not equally long.
    """
    both = np.array([first, second], dtype=np.float64)
    sums = cluster_sums(both, parts, width, clusters, strata)

    def difference(means: Floats) -> Floats:
        return statistic(means[:, :width]) - statistic(means[:, width:])

    estimate = _interval(sums, difference)
    p = None if estimate.value is None or sums.clusters < 2 else _p_value(sums, statistic, width)
    return Comparison(int(sums.counts[:, :width].sum()), *estimate, p)


def adjust(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's correction, which bounds the chance of any false finding among all of them.

    Args:
        p_values: Those of one table; None for no test.

    Returns:
        The adjusted ones, in order; None for no test.
    """
    tested = [p for p in p_values if p is not None]
    if not tested:
        return list(p_values)
    from statsmodels.stats.multitest import multipletests  # takes seconds to import

    adjusted = iter(multipletests(tested, method="holm")[1])
    return [None if p is None else float(next(adjusted)) for p in p_values]


# --- functions of means


def _only(means: Floats) -> Floats:
    return np.asarray(means[:, 0])


def _mean_of_means(means: Floats) -> Floats:
    return np.asarray(means.mean(axis=1))


def _mean_path_f1(means: Floats) -> Floats:
    """The mean over groups, of which each has two columns: true paths and false paths."""
    true, false = means[:, 0::2], means[:, 1::2]
    total = true + false
    return _mean_of_means(2 * true * false / np.where(total == 0, 1, total))


# --- sums by cluster


@dataclass(frozen=True)
class ClusterSums:
    """Samples, as far as means over resampled clusters depend on them.

    Attributes:
        sums: Of the values, one row a cluster, one column a part.
        counts: How many values these are.
        starts: Where each stratum's clusters begin, and the number of clusters at the end.
    """

    sums: Floats
    counts: Floats
    starts: tuple[int, ...]

    @property
    def clusters(self) -> int:
        """How many there are."""
        return len(self.sums)


_Codes = NDArray[np.int64]


def _codes(names: ArrayLike) -> tuple[_Codes, int]:
    """Numbers for names, and how many names there are."""
    found, codes = np.unique(np.asarray(names), return_inverse=True)
    return codes.astype(np.int64), len(found)


def _paths(is_true: ArrayLike) -> _Codes:
    return np.where(np.asarray(is_true, dtype=np.bool_), 0, 1)


def cluster_sums(
    values: Floats, parts: ArrayLike, width: int, clusters: ArrayLike, strata: ArrayLike | None
) -> ClusterSums:
    """Sums by cluster.

    Args:
        values: One row a model; samples that are not a number in some row are left out.
        parts: See `bootstrap`.
        width: How many there are.
        clusters: See `bootstrap`.
        strata: See `bootstrap`.

    Returns:
        With `width` columns for each row of `values`.
    """
    part, drawn = np.asarray(parts, dtype=np.int64), np.asarray(clusters)
    given = np.zeros_like(part) if strata is None else _codes(strata)[0]
    if not values.shape[1:] == part.shape == drawn.shape == given.shape:
        raise ValueError(
            f"Each value has one part, one cluster and one stratum: found {values.shape[1:]}, {part.shape}, "
            f"{drawn.shape} and {given.shape}."
        )
    kept = ~np.isnan(values).any(axis=0)
    cluster, n = _codes(drawn[kept])
    row, starts = _rows(_strata(cluster, n, given[kept]))
    cell, shape = row[cluster] * width + part[kept], (starts[-1], width)

    def total(weights: Floats | None) -> Floats:
        return np.bincount(cell, weights, shape[0] * width).reshape(shape).astype(np.float64)

    sums = [total(one) for one in values[:, kept]]
    return ClusterSums(np.hstack(sums), np.hstack([total(None)] * len(sums)), starts)


def _strata(cluster: _Codes, n: int, given: _Codes) -> _Codes:
    """The stratum of each of n clusters; the same for all if a cluster has samples in two."""
    stratum = np.zeros(n, dtype=np.int64)
    stratum[cluster] = given
    return stratum if (stratum[cluster] == given).all() else np.zeros_like(stratum)


def _rows(stratum: _Codes) -> tuple[_Codes, tuple[int, ...]]:
    """The row of each cluster, those of a stratum together, at most `MAX_CLUSTERS` for each stratum."""
    row = np.zeros_like(stratum)
    starts = [0]
    for number in np.unique(stratum):
        members = np.flatnonzero(stratum == number)
        size = min(len(members), MAX_CLUSTERS)
        random = np.random.default_rng((_SEED, len(members)))
        order = random.permutation(len(members)) if len(members) > size else np.arange(len(members))
        row[members] = starts[-1] + order % size
        starts.append(starts[-1] + size)
    return row, tuple(starts)


# --- resampling


def _interval(sums: ClusterSums, statistic: Statistic) -> Estimate:
    totals = sums.counts.sum(axis=0)
    if not totals.all():
        return Estimate(None, None, None)
    value = float(statistic((sums.sums.sum(axis=0) / totals)[np.newaxis])[0])
    if sums.clusters < MIN_CLUSTERS:
        return Estimate(value, None, None)
    drawn = np.concatenate([statistic(means) for means in resampled(sums)])
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn) or np.ptp(drawn) <= rounding(sums):
        return Estimate(value, None, None)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(low), float(high))


def resampled(sums: ClusterSums) -> Iterator[Floats]:
    """The parts' means in each resample, in blocks."""
    width = sums.sums.shape[1]
    both = np.hstack([sums.sums, sums.counts])
    # Whole numbers below 2 ** 24 are exact in single precision, which takes half the time.
    is_exact = (both == np.rint(both)).all() and np.abs(both).max() * sums.clusters < 2**24
    both = both.astype(np.float32 if is_exact else np.float64)
    slices = [slice(*ends) for ends in zip(sums.starts, sums.starts[1:], strict=False)]
    weights = [_counts(part.stop - part.start, stratum) for stratum, part in enumerate(slices)]
    for start in range(0, RESAMPLES, _BLOCK):
        total = np.zeros((_BLOCK, 2 * width))
        for part, counts in zip(slices, weights, strict=True):
            total += counts[start : start + _BLOCK].astype(both.dtype, copy=False) @ both[part]
        with np.errstate(invalid="ignore"):
            yield total[:, :width] / total[:, width:]


@cached(LRUCache(_CACHE_BYTES, getsizeof=lambda counts: counts.nbytes))
def _counts(clusters: int, stratum: int) -> NDArray[np.float32]:
    """How often each of so many clusters is drawn, in each resample.

    Strata of the same size have different counts: they would vary together otherwise.
    """
    random = np.random.default_rng((_SEED, clusters, stratum))
    counts = np.empty((RESAMPLES, clusters), dtype=np.float32)
    offsets = clusters * np.arange(_BLOCK)[:, np.newaxis]
    for start in range(0, RESAMPLES, _BLOCK):
        drawn = random.integers(clusters, size=(_BLOCK, clusters)) + offsets
        counts[start : start + _BLOCK] = np.bincount(drawn.ravel(), minlength=_BLOCK * clusters).reshape(_BLOCK, -1)
    counts.flags.writeable = False
    return counts


def _p_value(sums: ClusterSums, statistic: Statistic, width: int) -> float:
    """The share of exchanges after which the difference is at least as far from 0 as it is."""
    a, b, totals = sums.sums[:, :width], sums.sums[:, width:], sums.counts[:, :width].sum(axis=0)

    def differences(exchanged: Floats) -> Floats:
        moved = exchanged @ (b - a)
        return statistic((a.sum(axis=0) + moved) / totals) - statistic((b.sum(axis=0) - moved) / totals)

    (observed,) = differences(np.zeros((1, sums.clusters)))
    exact = sums.clusters <= _MAX_EXACT
    extreme = sum(
        int((np.abs(differences(block)) >= abs(observed) - rounding(sums)).sum())
        for block in (_all_exchanges(sums.clusters) if exact else _random_exchanges(sums.clusters))
    )
    return extreme / 2**sums.clusters if exact else (extreme + 1) / (RESAMPLES + 1)


def _all_exchanges(clusters: int) -> Iterator[Floats]:
    yield (np.arange(2**clusters)[:, np.newaxis] >> np.arange(clusters) & 1).astype(np.float64)


def _random_exchanges(clusters: int) -> Iterator[Floats]:
    random = np.random.default_rng((_SEED, clusters))
    for _ in range(0, RESAMPLES, _BLOCK):
        yield random.integers(2, size=(_BLOCK, clusters), dtype=np.uint8).astype(np.float64)


def rounding(sums: ClusterSums) -> float:
    """What may be rounding in a figure: figures that are the same need not be so to the last bit."""
    return 1e-9 * max(1.0, float(np.abs(sums.sums).max(initial=0.0)))
