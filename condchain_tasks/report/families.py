"""Runs set against each other: differences of two, and the spread of one model's runs."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from condchain_tasks.report.estimates import Difference
from condchain_tasks.report.intervals import adjust
from condchain_tasks.report.model import Cell, Table, Value

MAX_LABELS = 6
"""Of more runs than these, only those of one model are compared: the number of pairs grows with the square."""

_MAX_PAIRS = 100


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


@dataclass(frozen=True)
class Member:
    """One run of a model.

    Attributes:
        model: The model's name, without settings.
        label: The run's label.
        figures: By name.
    """

    model: str
    label: str
    figures: Mapping[str, Value]


def pairs(models: Mapping[str, str]) -> list[tuple[str, str]]:
    """Which runs are compared.

    Args:
        models: The model's name, by the run's label.

    Returns:
        All pairs of labels if there are at most `MAX_LABELS`, else the first pairs of runs of one model.
    """
    every = combinations(models, 2)
    if len(models) <= MAX_LABELS:
        return list(every)
    return [(a, b) for a, b in every if models[a] == models[b]][:_MAX_PAIRS]


def differences(identity: str, title: str, comparisons: Sequence[Comparison]) -> Table:
    """Differences of runs, with p values that are corrected for their number.

    Args:
        identity: The table's id.
        title: The table's title.
        comparisons: All that are to be shown; without any the table has no rows.
    """
    known = [one.difference.p for one in comparisons if one.difference.p is not None]
    adjusted = iter(adjust(known))
    rows: list[tuple[Cell, ...]] = [
        (
            f"{one.a} - {one.b}",
            one.figure,
            one.difference.value,
            _probability(one.difference.p),
            _probability(None if one.difference.p is None else next(adjusted)),
        )
        for one in comparisons
    ]
    return Table(
        id=identity,
        title=title,
        columns=("runs", "figure", "difference", "p", "p, corrected"),
        rows=tuple(rows),
        notes=(
            "Each difference is on the items that both runs answered, with a paired test; p values are corrected by "
            "Holm's method for all rows of this table.",
            f"Of more than {MAX_LABELS} runs, only those of one model are compared; name fewer runs for other pairs.",
        ),
    )


def spread(identity: str, title: str, members: Sequence[Member]) -> Table:
    """How far a model's runs with different settings, such as seeds, lie apart.

    Args:
        identity: The table's id.
        title: The table's title.
        members: All runs; a model with a single one has no row.
    """
    grouped: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for member in members:
        for name, figure in member.figures.items():
            if figure.value is not None:
                grouped[member.model, name].append(figure.value)
    rows: list[tuple[Cell, ...]] = [
        (
            model,
            name,
            len(values),
            Value(statistics.mean(values), n=len(values)),
            Value(statistics.stdev(values), n=len(values)),
            Value(min(values)),
            Value(max(values)),
        )
        for (model, name), values in grouped.items()
        if len(values) > 1
    ]
    return Table(
        id=identity,
        title=title,
        columns=("model", "figure", "runs", "mean", "standard deviation", "min", "max"),
        rows=tuple(rows),
        notes=(
            "Over the model's runs, whatever tells them apart; their differences stand in the table of differences.",
        ),
    )


def _probability(p: float | None) -> str | None:
    if p is None:
        return None
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
