"""What went wrong with single samples, and by how much it could move the figures that count."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.report.columns import Columns
from condchain_tasks.scorers.condchain import path_f1


@dataclass(frozen=True)
class Bound:
    """A figure that leaderboards rank by, and how far it could move.

    Attributes:
        figure: Its name: "path F1", "DCR", "eDCR", "ability" or "accuracy".
        value: It, per cent; not a number if there is nothing to average.
        worst: What it were if all that are affected were wrong.
        best: What it were if all were right.
    """

    figure: str
    value: float
    worst: float
    best: float


@dataclass(frozen=True)
class Health:
    """The health of one evaluation.

    Attributes:
        n: Samples.
        failed: Those whose request failed.
        unread: Those with a reply in which no answer was found.
        truncated: Those whose reply is as long as replies were allowed to be.
        missing: Those that lack a verdict.
        unmeasured: Those of whose reply the length in tokens, or the most that was allowed, is not known.
        bounds: Of each figure that counts.
    """

    n: int
    failed: int
    unread: int
    truncated: int
    missing: int
    unmeasured: int
    bounds: tuple[Bound, ...]

    @property
    def told(self) -> tuple[str, ...]:
        """What there is of each kind, such as "1 failed request"."""
        unread = ((self.unread, "unread answer", "unread answers"),)
        return _told((*self._grave[:1], *unread, *self._grave[1:]))

    @property
    def grave(self) -> tuple[str, ...]:
        """The same, of what is no answer of the model's."""
        return _told(self._grave)

    @property
    def _grave(self) -> tuple[tuple[int, str, str], ...]:
        return (
            (self.failed, "failed request", "failed requests"),
            (self.truncated, "truncated reply", "truncated replies"),
            (self.missing, "missing verdict", "missing verdicts"),
        )


def _told(counts: tuple[tuple[int, str, str], ...]) -> tuple[str, ...]:
    return tuple(f"{count:,} {one if count == 1 else many}" for count, one, many in counts if count)


def examine(benchmark: str, columns: Columns) -> Health:
    """Counts what went wrong.

    Args:
        benchmark: "condchain", "ccrv" or "vrex".
        columns: Of one evaluation, with at least one sample.
    """
    arrays = columns.arrays
    missing = arrays.get("missing", np.zeros(columns.n, dtype=np.bool_))
    affected = arrays["failed"] | arrays["no_answer"] | arrays["truncated"]
    figures, mean = _FIGURES[benchmark](columns)
    return Health(
        n=columns.n,
        failed=int(arrays["failed"].sum()),
        unread=int((arrays["no_answer"] & ~arrays["failed"]).sum()),
        truncated=int(arrays["truncated"].sum()),
        missing=int(missing.sum()),
        unmeasured=int((~arrays["measured"]).sum()),
        bounds=tuple(
            _bound(name, values, affected | (np.isnan(values) & missing), mean) for name, values in figures.items()
        ),
    )


_Floats = NDArray[np.float64]
_Mean = Callable[[_Floats], float]


def _bound(figure: str, values: _Floats, affected: NDArray[np.bool_], mean: _Mean) -> Bound:
    worst, best = (mean(np.where(affected, end, values)) for end in (0.0, 100.0))
    return Bound(figure, mean(values), worst, best)


def _condchain(columns: Columns) -> tuple[Mapping[str, _Floats], _Mean]:
    is_true = columns.strings("path") == "true"

    def mean(values: _Floats) -> float:
        f1: float = path_f1(_mean(values[is_true]), _mean(values[~is_true]))
        return f1

    return {"path F1": columns.arrays["correct"]}, mean


def _ccrv(columns: Columns) -> tuple[Mapping[str, _Floats], _Mean]:
    dcr, csr, constrained = columns.arrays["dcr"], columns.arrays["csr"], columns.strings("y") != "base"
    if not constrained.any():
        return {"DCR": dcr}, _mean
    return {"DCR": dcr, "eDCR": dcr * csr / 100}, lambda values: _mean(values[constrained])


def _vrex(columns: Columns) -> tuple[Mapping[str, _Floats], _Mean]:
    category = columns.arrays["category"]

    def mean(values: _Floats) -> float:
        return _mean(np.array([_mean(values[category == code]) for code in np.unique(category)]))

    ability, accuracy = columns.arrays["ability"], columns.arrays["score"]
    return ({} if np.isnan(ability).all() else {"ability": ability}) | {"accuracy": accuracy}, mean


def _mean(values: _Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


_FIGURES = {"condchain": _condchain, "ccrv": _ccrv, "vrex": _vrex}
