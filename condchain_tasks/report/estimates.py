"""From arrays to the figures, series and sections of a report, the same for every benchmark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.report import intervals
from condchain_tasks.report.evaluations import Evaluation
from condchain_tasks.report.evaluations import flags as flags_of
from condchain_tasks.report.intervals import (
    LEVEL,
    MIN_CLUSTERS,
    Comparison,
    Estimate,
    Statistic,
    cluster_sums,
    resampled,
    rounding,
)
from condchain_tasks.report.model import Chart, Section, Series, Table, Value

Array = NDArray[Any]
Drawn = tuple[Table, tuple[Chart, ...]]
"""A table, and the charts that stand before it."""

Flags = tuple[str, ...]

MAX_SERIES = 12
"""Of lines, bars and heat maps in one chart; more cannot be told apart."""


@dataclass(frozen=True)
class Difference:
    """A difference of two figures on the same samples.

    Attributes:
        value: In points.
        p: Of a paired test, two-sided; None if there is none.
    """

    value: Value
    p: float | None


# --- figures


def mean(values: Array, clusters: Array, flags: Flags) -> Value:
    """A mean with its interval; what is not a number is left out. See `intervals.bootstrap_mean`."""
    return _value(intervals.bootstrap_mean(values, clusters), values, flags)


Key = tuple[str, ...]


@dataclass(frozen=True)
class Derived:
    """A figure that is a function of several means.

    Attributes:
        columns: The names of the means' columns.
        statistic: From the means, one row a resample and one column a mean, to the figure.
        times: In how many of the columns each sample is.
    """

    columns: tuple[Key, ...]
    statistic: Statistic
    times: int = 1


def harmonic_mean(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Path F1, of two accuracies, for `Derived`."""
    total = means[:, 0] + means[:, 1]
    return np.asarray(2 * means[:, 0] * means[:, 1] / np.where(total == 0, 1, total))


def arithmetic_mean(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """An average over groups, for `Derived`."""
    return np.asarray(means.mean(axis=1))


def estimate_all(
    columns: Mapping[Key, Array],
    clusters: Array,
    flags: Flags,
    derived: Mapping[Key, Derived] | None = None,
    strata: Array | None = None,
) -> dict[Key, Value]:
    """Many figures of the same samples with their intervals, from the same resamples.

    This takes one product of matrices, where figures one by one would take one each.

    Args:
        columns: By name, one value for each sample; not a number where a sample does not count for the mean.
        clusters: What each sample is drawn with.
        flags: Of all figures.
        derived: Further figures, by name.
        strata: Groups whose sizes are given and not left to chance; see `intervals.bootstrap`.

    Returns:
        By name: each column's mean, and the derived figures. The size of what a column picks is another one in each
        resample; those in which it is empty are left out.
    """
    wanted = {name: Derived((name,), _only) for name in columns} | dict(derived or {})
    place = {name: number for number, name in enumerate(columns)}
    values = np.array(list(columns.values()), dtype=np.float64).reshape(len(columns), len(clusters))
    part, sample = np.nonzero(~np.isnan(values))
    own = None if strata is None else strata[sample]
    sums = cluster_sums(values[part, sample][np.newaxis], part, len(columns), clusters[sample], own)
    counts = sums.counts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        means = (sums.sums.sum(axis=0) / counts)[np.newaxis]
    drawn = np.concatenate(list(resampled(sums))) if sums.clusters > 1 else means
    equal = rounding(sums)
    found = {}
    for name, one in wanted.items():
        picked = [place[column] for column in one.columns]
        (figure,) = one.statistic(means[:, picked])
        clusters = sums.counts[:, picked].any(axis=1).sum()
        resamples = one.statistic(drawn[:, picked]) if clusters >= MIN_CLUSTERS else drawn[:0, 0]
        low, high = _interval(resamples, equal)
        n = int(counts[picked].sum()) // one.times
        found[name] = Value(None if math.isnan(figure) else float(figure), low, high, n, flags)
    return found


def _only(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(means[:, 0])


def _interval(drawn: NDArray[np.float64], rounding: float) -> tuple[float | None, float | None]:
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn) or np.ptp(drawn) <= rounding:
        return None, None
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def macro_path_f1(correct: Array, is_true: Array, groups: Array, clusters: Array, flags: Flags) -> Value:
    """The mean of groups' path F1 with its interval. See `intervals.bootstrap_macro_path_f1`."""
    return _value(intervals.bootstrap_macro_path_f1(correct, is_true, groups, clusters), correct, flags)


def difference(compared: Comparison, flags: Flags) -> Difference:
    """A comparison of two models as a figure."""
    return Difference(Value(compared.difference, compared.low, compared.high, compared.n, flags), compared.p)


def _value(found: Estimate, values: Array, flags: Flags) -> Value:
    known = found.value is not None and not math.isnan(found.value)
    return Value(found.value if known else None, found.low, found.high, int((~np.isnan(values)).sum()), flags)


# --- flags


def flags_by_task(evaluations: Sequence[Evaluation]) -> dict[str, dict[str, Flags]]:
    """Why an evaluation's figures must not be set beside others' without thought, by task and label."""
    by_task: dict[str, list[Evaluation]] = {}
    for one in evaluations:
        by_task.setdefault(one.task, []).append(one)
    return {task: flags_of(listed) for task, listed in by_task.items()}


def joined(several: Iterable[Flags]) -> Flags:
    """Flags together, each once."""
    return tuple(dict.fromkeys(flag for one in several for flag in one))


def order(figure: Value | None) -> float:
    """Sorts rows by a figure, the highest first; rows without it come last."""
    return math.inf if figure is None or figure.value is None else -figure.value


def partial_labels(evaluations: Iterable[Evaluation]) -> frozenset[str]:
    """Labels of runs that do not cover all of some task: their rows come after those of whole runs."""
    return frozenset(one.label for one in evaluations if one.is_partial)


def in_common(a: Array, b: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where two arrays of names, each without repetition, have the names that are in both; in one order."""
    _, in_a, in_b = np.intersect1d(a, b, return_indices=True)
    return in_a.astype(np.int64), in_b.astype(np.int64)


# --- charts and sections


def scatters(points: Iterable[tuple[str, bool, Value, Value]]) -> tuple[Series, ...]:
    """A series for each run, and one for what stands in print.

    Args:
        points: Name, whether it stands in print, and the figures for x and y; points that lack one are left out.
    """
    known = [point for point in points if point[2].value is not None and point[3].value is not None]
    alone = [[point] for point in known if not point[1]]
    printed = [point for point in known if point[1]]
    return tuple(
        Series(
            name="in the paper" if of is printed else of[0][0],
            x=tuple(float(x.value) for _, _, x, _ in of if x.value is not None),
            y=tuple(y.value for *_, y in of),
            low=tuple(y.low for *_, y in of),
            high=tuple(y.high for *_, y in of),
            text=tuple(name for name, *_ in of),
            published=of is printed,
        )
        for of in (*alone, printed)
        if of
    )


def points(name: str, x: Iterable[str | int], values: Iterable[Value | None], published: bool = False) -> Series:
    """A series of a line or bar chart: a value for each x, None for a gap."""
    listed = [value or Value(None) for value in values]
    return Series(
        name=name,
        x=tuple(x),
        y=tuple(value.value for value in listed),
        low=tuple(value.low for value in listed),
        high=tuple(value.high for value in listed),
        text=tuple("" if value.n is None else f"n = {value.n:,}" for value in listed),
        published=published,
    )


def section(identity: str, title: str, notes: tuple[str, ...], drawn: Sequence[Drawn]) -> Section:
    """A section of what there is to show.

    Tables in which no run has a figure are left out, and charts without series. A chart that is none of points shows
    the first `MAX_SERIES` runs.
    """
    shown = [(table, charts) for table, charts in drawn if _has_figures(table)]
    return Section(
        id=identity,
        title=title,
        notes=notes,
        tables=tuple(table for table, _ in shown),
        charts=tuple(_legible(chart) for _, charts in shown for chart in charts if chart.series),
    )


def _has_figures(table: Table) -> bool:
    own = (row for number, row in enumerate(table.rows) if number not in table.published)
    return any(isinstance(cell, Value) and cell.value is not None for row in own for cell in row)


def _legible(chart: Chart) -> Chart:
    own = [one for one in chart.series if not one.published]
    if chart.kind == "scatter" or len(own) <= MAX_SERIES:
        return chart
    kept = own[:MAX_SERIES] + [one for one in chart.series if one.published]
    return replace(chart, series=tuple(kept), title=f"{chart.title} (the first {MAX_SERIES}; the table has all)")


def last(rows: Sequence[Any], printed: Sequence[Any]) -> frozenset[int]:
    """The numbers of a table's rows that stand in print, where these come last."""
    return frozenset(range(len(rows), len(rows) + len(printed)))


def printed(figures: Mapping[str, float], names: Iterable[str]) -> list[Value | None]:
    """Figures that stand in print, in the order of columns; None for a column that has none."""
    return [Value(figures[name]) if name in figures else None for name in names]
