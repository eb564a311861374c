"""Runs set against each other: differences of two, and the spread of one model's runs."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from scipy.special import chdtri, stdtrit

from condchain_tasks.report.estimates import Difference, partial_labels
from condchain_tasks.report.evaluations import Evaluation
from condchain_tasks.report.intervals import LEVEL, adjust
from condchain_tasks.report.model import Cell, Table, Value
from condchain_tasks.report.settings import dataset_of

MAX_LABELS = 6
"""Of more runs than these, only those of one model are compared: the number of pairs grows with the square."""

MAX_PAIRS = 100
"""Of runs that are compared, in one table."""

_MAX_LISTED = 5


@dataclass(frozen=True)
class Member:
    """What a run is to the others.

    Attributes:
        model: The model's name, without settings.
        family: The run's label without its seeds.
        is_partial: Whether it does not cover all of some task.
        is_chosen: Whether it was named to be compared.
        data: By its name, what identifies the data that it ran on; see `settings.dataset_of`.
    """

    model: str
    family: str
    is_partial: bool
    is_chosen: bool
    data: Mapping[str, str]


@dataclass(frozen=True)
class Comparison:
    """Two runs on one figure.

    Attributes:
        a: The first run's label.
        b: The second's.
        figure: What is compared.
        difference: The first's figure less the second's, on what both answered.
    """

    a: str
    b: str
    figure: str
    difference: Difference


def members(evaluations: Iterable[Evaluation], compared: Collection[str] = ()) -> dict[str, Member]:
    """What each run is, by its label.

    Args:
        evaluations: Of any tasks.
        compared: Labels, families or models that were named to be compared.
    """
    partial = partial_labels(evaluations)
    data: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for one in evaluations:
        data[one.label][dataset_of(one.task)] = one.data
    return {
        one.label: Member(
            model=one.model,
            family=one.family,
            is_partial=one.label in partial,
            is_chosen=not {one.label, one.family, one.model}.isdisjoint(compared),
            data=data[one.label],
        )
        for one in evaluations
    }


def pairs(runs: Mapping[str, Member]) -> list[tuple[str, str]]:
    """Which runs are compared.

    Args:
        runs: By label.

    Returns:
        All pairs of those that were chosen, if some were. Else all pairs if there are at most `MAX_LABELS` runs, and
        those of one model if there are more; of any of these the first `MAX_PAIRS`.
    """
    return _pairs(runs)[:MAX_PAIRS]


def _pairs(runs: Mapping[str, Member]) -> list[tuple[str, str]]:
    chosen = {label: run for label, run in runs.items() if run.is_chosen}
    every = combinations(chosen or runs, 2)
    if chosen or len(runs) <= MAX_LABELS:
        return list(every)
    return [(a, b) for a, b in every if runs[a].model == runs[b].model]


def not_compared(comparisons: Iterable[Comparison], paired: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """A sentence on pairs of runs that share nothing; none if all of them do.

    Args:
        comparisons: What there is.
        paired: The pairs that were to be compared.
    """
    found = {(one.a, one.b) for one in comparisons}
    apart = [f"{a} and {b}" for a, b in paired if (a, b) not in found]
    if not apart:
        return ()
    more = f"; and {len(apart) - _MAX_LISTED} more pairs" if len(apart) > _MAX_LISTED else ""
    return (
        f"Not compared, since no figure of theirs is over items in common: {'; '.join(apart[:_MAX_LISTED])}{more}. An "
        "item is its id and its data: the same id in other data is another item.",
    )


def differences(identity: str, title: str, comparisons: Sequence[Comparison], runs: Mapping[str, Member]) -> Table:
    """Differences of runs, with p values that are corrected for their number.

    Args:
        identity: The table's id.
        title: The table's title.
        comparisons: All that are to be shown; without any the table has no rows.
        runs: By label, those of which pairs were made.
    """
    left_out = len(_pairs(runs)) - MAX_PAIRS
    known = [one.difference.p for one in comparisons if one.difference.p is not None]
    adjusted = iter(adjust(known))
    rows: list[tuple[Cell, ...]] = [
        (
            f"{one.a} - {one.b}",
            one.figure,
            one.difference.value.n,
            one.difference.value,
            _probability(one.difference.p),
            _probability(None if one.difference.p is None else next(adjusted)),
        )
        for one in comparisons
    ]
    return Table(
        id=identity,
        title=title,
        columns=("runs", "figure", "items in common", "difference", "p", "p, corrected"),
        rows=tuple(rows),
        notes=(
            "Each difference is on the items that both runs answered, by id and data, with a paired test; p values are "
            "corrected by Holm's method for all rows of this table.",
            f"Of more than {MAX_LABELS} runs, only those of one model are compared; --compare chooses others.",
            *((f"{left_out:,} pairs of runs are left out; --compare chooses which are shown.",) * (left_out > 0)),
        ),
    )


def spread(identity: str, title: str, figures: Mapping[str, Mapping[str, Value]], runs: Mapping[str, Member]) -> Table:
    """How far a model's runs lie apart: those that differ by their seeds alone, and all of them.

    The interval of the mean is Student's t, that of the standard deviation chi-squared; both take the figures of the
    seeds for a sample of a normal distribution. Settings that somebody chose are no sample, and get none.

    Args:
        identity: The table's id.
        title: The table's title.
        figures: By label and name.
        runs: By label; partial ones are left out.
    """
    whole = {label: of for label, of in figures.items() if not runs[label].is_partial}
    seeds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    settings: defaultdict[tuple[str, frozenset[str], str], list[float]] = defaultdict(list)
    families: defaultdict[tuple[str, frozenset[str]], set[str]] = defaultdict(set)
    ambiguous = _ambiguous_data(runs[label] for label in whole)
    for label, of_run in whole.items():
        model, family = runs[label].model, runs[label].family
        data = frozenset(digest for name, digest in runs[label].data.items() if (model, name) in ambiguous)
        families[model, data].add(family)
        for name, figure in of_run.items():
            if figure.value is not None:
                seeds[family, name].append(figure.value)
                settings[model, data, name].append(figure.value)
    rows: list[tuple[Cell, ...]] = [
        (family, name, "seed", len(values), *_of_seeds(values), Value(min(values)), Value(max(values)))
        for (family, name), values in seeds.items()
        if len(values) > 1
    ]
    rows += [
        (model, name, "settings", len(values), *_of_settings(values), Value(min(values)), Value(max(values)))
        for (model, data, name), values in settings.items()
        if len(families[model, data]) > 1 and len(values) > 1
    ]
    return Table(
        id=identity,
        title=title,
        columns=("model", "figure", "the runs differ by", "runs", "mean", "standard deviation", "min", "max"),
        rows=tuple(rows),
        notes=(
            "Intervals are over seeds, for the mean and the standard deviation of a normal distribution; they say how "
            "far another seed may lead on the same items, and nothing of other items. Partial runs are left out, and "
            "runs on other data are not put together.",
        ),
    )


def _ambiguous_data(runs: Iterable[Member]) -> set[tuple[str, str]]:
    """Models and names of data, where a model ran on several data of that name."""
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for run in runs:
        for name, digest in run.data.items():
            found[run.model, name].add(digest)
    return {names for names, digests in found.items() if len(digests) > 1}


def _of_seeds(values: Sequence[float]) -> tuple[Value, Value]:
    """Their mean and standard deviation, with 95 % intervals where they differ."""
    n, mean, deviation = len(values), statistics.mean(values), statistics.stdev(values)
    if not deviation:
        return Value(mean, n=n), Value(deviation, n=n)
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * deviation / math.sqrt(n)
    low, high = (deviation * math.sqrt((n - 1) / chdtri(n - 1, (1 + side) / 2)) for side in (-LEVEL, LEVEL))
    return Value(mean, mean - half, mean + half, n), Value(deviation, low, high, n)


def _of_settings(values: Sequence[float]) -> tuple[Value, Value]:
    return Value(statistics.mean(values), n=len(values)), Value(statistics.stdev(values), n=len(values))


def _probability(p: float | None) -> str | None:
    if p is None:
        return None
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
