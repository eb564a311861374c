"""What went wrong with single samples, and by how much it could move the figures that count."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.report.columns import UNKNOWN_FAILURE, Columns
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
class Reading:
    """A figure by the official reading of replies and by another one.

    Attributes:
        figure: Its name, such as "path F1".
        value: By the official reading, per cent.
        other: The other reading's name, such as "lenient".
        other_value: By that.
    """

    figure: str
    value: float
    other: str
    other_value: float


@dataclass(frozen=True)
class Health:
    """The health of one evaluation.

    Attributes:
        n: Samples.
        failed: Those whose request failed.
        failures: How many of these failed for which reason; see `columns.COLUMNS`.
        refused: Those with a refusal: of the model in its reply, or of the provider, which is a failed request too.
        unread: Those with a reply in which no answer was found.
        truncated: Those whose reply was cut off.
        missing: Those that lack a verdict.
        unmeasured: Those of whose reply the length in tokens, or the most that was allowed, is not known.
        bounds: Of each figure that counts.
        readings: Of each figure that has another reading, what that reading gives.
    """

    n: int
    failed: int
    failures: Mapping[str, int]
    refused: int
    unread: int
    truncated: int
    missing: int
    unmeasured: int
    bounds: tuple[Bound, ...]
    readings: tuple[Reading, ...]

    @property
    def told(self) -> tuple[str, ...]:
        """What there is of each kind, such as "2 failed requests (1 error, 1 refusal)"."""
        return tuple(
            filter(
                None,
                (
                    self._failed,
                    _count(self.unread, "unread answer", "unread answers"),
                    _count(self.refused, "refusal", "refusals"),
                    *self._cut_or_missing,
                ),
            )
        )

    @property
    def grave(self) -> tuple[str, ...]:
        """The same, of what is no answer of the model's."""
        return tuple(filter(None, (self._failed, *self._cut_or_missing)))

    @property
    def _failed(self) -> str:
        text = _count(self.failed, "failed request", "failed requests")
        kinds = ", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in sorted(self.failures.items()))
        return f"{text} ({kinds})" if self.failures.keys() - {UNKNOWN_FAILURE} else text

    @property
    def _cut_or_missing(self) -> tuple[str, ...]:
        return (
            _count(self.truncated, "truncated reply", "truncated replies"),
            _count(self.missing, "missing verdict", "missing verdicts"),
        )


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}" if count else ""


def examine(benchmark: str, columns: Columns) -> Health:
    """Counts what went wrong.

    Args:
        benchmark: "condchain", "ccrv" or "vrex".
        columns: Of one evaluation, with at least one sample.
    """
    arrays = columns.arrays
    missing = arrays.get("missing", np.zeros(columns.n, dtype=np.bool_))
    affected = arrays["failed"] | arrays["no_answer"] | arrays["truncated"]
    figures, others, mean = _FIGURES[benchmark](columns)
    failures = columns.strings("failure")[arrays["failed"]]
    return Health(
        n=columns.n,
        failed=int(arrays["failed"].sum()),
        failures=dict(Counter(failures.tolist())),
        refused=int(arrays["refused"].sum()),
        unread=int((arrays["no_answer"] & ~arrays["failed"]).sum()),
        truncated=int(arrays["truncated"].sum()),
        missing=int(missing.sum()),
        unmeasured=int((~arrays["measured"]).sum()),
        bounds=tuple(
            _bound(name, values, affected | (np.isnan(values) & missing), mean) for name, values in figures.items()
        ),
        readings=tuple(
            Reading(figure, mean(by_rule), name, mean(by_other)) for figure, by_rule, name, by_other in others
        ),
    )


_Floats = NDArray[np.float64]
_Mean = Callable[[_Floats], float]
_Other = tuple[str, _Floats, str, _Floats]
_Figures = tuple[Mapping[str, _Floats], Sequence[_Other], _Mean]
"""Figures that count, those that have another reading with both readings, and how samples become a figure."""


def _bound(figure: str, values: _Floats, affected: NDArray[np.bool_], mean: _Mean) -> Bound:
    worst, best = (mean(np.where(affected, end, values)) for end in (0.0, 100.0))
    return Bound(figure, mean(values), worst, best)


def _condchain(columns: Columns) -> _Figures:
    is_true = columns.strings("path") == "true"

    def mean(values: _Floats) -> float:
        f1: float = path_f1(_mean(values[is_true]), _mean(values[~is_true]))
        return f1

    correct = columns.arrays["correct"]
    return {"path F1": correct}, [("path F1", correct, _LENIENT, columns.arrays["correct_lenient"])], mean


def _ccrv(columns: Columns) -> _Figures:
    dcr, csr, constrained = columns.arrays["dcr"], columns.arrays["csr"], columns.strings("y") != "base"
    if not constrained.any():
        return {"DCR": dcr}, [], _mean
    in_y2 = np.where(columns.strings("y") == "Y2", csr, np.nan), columns.arrays["csr_raw_pixel"]
    others = [] if np.isnan(in_y2).all() else [("CSR of Y2", in_y2[0], "pixels-only", in_y2[1])]
    return {"DCR": dcr, "eDCR": dcr * csr / 100}, others, lambda values: _mean(values[constrained])


def _vrex(columns: Columns) -> _Figures:
    category = columns.arrays["category"]

    def mean(values: _Floats) -> float:
        return _mean(np.array([_mean(values[category == code]) for code in np.unique(category)]))

    arrays = columns.arrays
    figures = {"accuracy": (arrays["score"], arrays["score_lenient"])}
    if not np.isnan(arrays["ability"]).all():
        figures = {"ability": (arrays["ability"], arrays["ability_lenient"])} | figures
    others = [(name, official, _LENIENT, lenient) for name, (official, lenient) in figures.items()]
    return {name: official for name, (official, _) in figures.items()}, others, mean


_LENIENT = "lenient"


def _mean(values: _Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


_FIGURES = {"condchain": _condchain, "ccrv": _ccrv, "vrex": _vrex}
