"""What went wrong with single samples, and by how much it could move the figure that counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.report.columns import Columns
from condchain_tasks.scorers.condchain import path_f1


@dataclass(frozen=True)
class Health:
    """The health of one evaluation.

    Attributes:
        n: Samples.
        failed: Those whose request failed.
        unread: Those with a reply in which no answer was found.
        truncated: Those whose reply is as long as replies were allowed to be.
        missing: Those that lack a verdict.
        figure: The name of the figure: "path F1", "DCR", "ability" or "accuracy".
        value: It, per cent; not a number if there is nothing to average.
        worst: What it were if all that are affected were wrong.
        best: What it were if all were right.
    """

    n: int
    failed: int
    unread: int
    truncated: int
    missing: int
    figure: str
    value: float
    worst: float
    best: float

    @property
    def told(self) -> tuple[str, ...]:
        """What there is of each kind, such as "1 failed request"."""
        return tuple(
            f"{count:,} {one if count == 1 else many}"
            for count, one, many in (
                (self.failed, "failed request", "failed requests"),
                (self.unread, "unread answer", "unread answers"),
                (self.truncated, "truncated reply", "truncated replies"),
                (self.missing, "missing verdict", "missing verdicts"),
            )
            if count
        )


def examine(benchmark: str, columns: Columns) -> Health:
    """Counts what went wrong.

    Args:
        benchmark: "condchain", "ccrv" or "vrex".
        columns: Of one evaluation, with at least one sample.
    """
    arrays = columns.arrays
    figure, values, mean = _FIGURES[benchmark](columns)
    missing = arrays.get("missing", np.zeros(columns.n, dtype=np.bool_))
    affected = arrays["failed"] | arrays["no_answer"] | arrays["truncated"] | (np.isnan(values) & missing)
    return Health(
        n=columns.n,
        failed=int(arrays["failed"].sum()),
        unread=int((arrays["no_answer"] & ~arrays["failed"]).sum()),
        truncated=int(arrays["truncated"].sum()),
        missing=int(missing.sum()),
        figure=figure,
        value=mean(values),
        worst=mean(np.where(affected, 0.0, values)),
        best=mean(np.where(affected, 100.0, values)),
    )


_Floats = NDArray[np.float64]
_Mean = Callable[[_Floats], float]


def _condchain(columns: Columns) -> tuple[str, _Floats, _Mean]:
    is_true = columns.strings("path") == "true"

    def mean(values: _Floats) -> float:
        f1: float = path_f1(_mean(values[is_true]), _mean(values[~is_true]))
        return f1

    return "path F1", columns.arrays["correct"], mean


def _ccrv(columns: Columns) -> tuple[str, _Floats, _Mean]:
    constrained = columns.strings("y") != "base"
    counted = constrained if constrained.any() else ~constrained
    return "DCR", columns.arrays["dcr"], lambda values: _mean(values[counted])


def _vrex(columns: Columns) -> tuple[str, _Floats, _Mean]:
    category = columns.arrays["category"]

    def mean(values: _Floats) -> float:
        return _mean(np.array([_mean(values[category == code]) for code in np.unique(category)]))

    ability = columns.arrays["ability"]
    return ("accuracy", columns.arrays["score"], mean) if np.isnan(ability).all() else ("ability", ability, mean)


def _mean(values: _Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


_FIGURES = {"condchain": _condchain, "ccrv": _ccrv, "vrex": _vrex}
