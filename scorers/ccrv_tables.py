"""CCRV-Bench: effective scores, drops against the baseline, and the tables by X and Y, from scored replies.

A verdict that could not be had is None here, never 0. Each column of a table averages what is there for it: where
verdicts are missing, two columns may rest on different items, and `cdi` need not be `base_dcr` less `dcr`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from condchain_tasks.scorers.statistics import clustered_standard_error, mean

_T = TypeVar("_T")

BASELINE = "base"
DIMENSIONS = ("X1", "X2", "X3", "X4")
SETTINGS = (BASELINE, "Y1", "Y2", "Y3", "Y4")

_VERDICTS = (0, 1, None)
_MAX_QUOTED = 80


@dataclass(frozen=True)
class Item:
    """One scored reply.

    Attributes:
        key: Image, dimension and index of the question; a baseline item and its constrained forms share it.
        image: The image's id. Items of one image are not independent, so standard errors are clustered by it.
        x: The causal dimension, "X1" to "X4".
        y: The constraint, "Y1" to "Y4", or "base".
        l1: The verdict on the entities, 0 or 1; None if missing, like all verdicts here.
        l2: The cascaded verdict on the interaction.
        l3: The cascaded verdict on the causal outcome.
        dcr: Per cent.
        csr: 0 or 1; None for the baseline too.
        csr_raw_pixel: The CSR if coordinates can only be pixels; None for all but Y2.
        failed: There was no reply; it scores 0.
    """

    key: str
    image: str
    x: str
    y: str
    l1: int | None
    l2: int | None
    l3: int | None
    dcr: float | None
    csr: int | None
    csr_raw_pixel: int | None
    failed: bool

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Item:
        """Reads a record of the sample log.

        Args:
            record: What the task logs for one reply, under "dcr": the item's fields, with `image_id` for the image and
                `score` for the DCR, which is absent if missing. Other fields are ignored.

        Raises:
            ValueError: A field is missing or has no value that it can have.
        """
        return cls(
            key=_text(record, "key"),
            image=_text(record, "image_id"),
            x=_one_of(record, "x", DIMENSIONS),
            y=_one_of(record, "y", SETTINGS),
            l1=_one_of(record, "l1", _VERDICTS),
            l2=_one_of(record, "l2", _VERDICTS),
            l3=_one_of(record, "l3", _VERDICTS),
            dcr=_score(record),
            csr=_one_of(record, "csr", _VERDICTS),
            csr_raw_pixel=_one_of(record, "csr_raw_pixel", _VERDICTS),
            failed=_one_of(record, "failed", (False, True)),
        )


@dataclass(frozen=True)
class Pair:
    """A constrained item and its baseline item.

    Attributes:
        item: The constrained item.
        base: The baseline item of the same key; None if there is none.
    """

    item: Item
    base: Item | None

    @property
    def base_dcr(self) -> float | None:
        """DCR of the baseline item, per cent."""
        return self.base.dcr if self.base else None

    @property
    def cdi(self) -> float | None:
        """Constraint-induced drop: baseline DCR less DCR, points in -100..100; None if either is missing."""
        return _difference(self.base_dcr, self.item.dcr)

    @property
    def ecdi(self) -> float | None:
        """Effective drop: baseline DCR less eDCR, points in -100..100; None if either is missing."""
        return _difference(self.base_dcr, edcr(self.item))


@dataclass(frozen=True)
class Row:
    """One row of a table: averages over a group of items, None where there is nothing to average.

    Attributes:
        group: Whether the row stands for all constrained items, those of a dimension, those of a constraint or of the
            baseline, or a cell of the two.
        x: "X1" to "X4"; "" if the row is over all.
        y: "Y1" to "Y4" or "base"; "" if the row is over all constraints.
        n: Items.
        missing: Items without a DCR.
        failed: Items without a reply, which score 0.
        l1: Per cent, like l2 and l3: cascaded.
        dcr: Per cent.
        csr: Per cent of the items that have a verdict.
        csr_raw_pixel: Per cent of the items of Y2 that have a verdict.
        edcr: Per cent.
        dcr_compliant: DCR of the items whose CSR is 1, per cent.
        base_dcr: DCR of the same items' baseline items, per cent; None in the baseline's own rows.
        cdi: Points; positive if the constraint costs.
        ecdi: Points.
        dcr_se: Standard error clustered by image, like the other `_se`, in the unit of its column; None below two
            values.
    """

    group: Literal["overall", "x", "y", "cell"]
    x: str
    y: str
    n: int
    missing: int
    failed: int
    l1: float | None
    l2: float | None
    l3: float | None
    dcr: float | None
    csr: float | None
    csr_raw_pixel: float | None
    edcr: float | None
    dcr_compliant: float | None
    base_dcr: float | None
    cdi: float | None
    ecdi: float | None
    dcr_se: float | None
    csr_se: float | None
    edcr_se: float | None
    cdi_se: float | None
    ecdi_se: float | None


def edcr(item: Item) -> float | None:
    """Effective DCR, per cent: the DCR if the constraint is kept, else 0; None if either verdict is missing."""
    if item.dcr is None or item.csr is None:
        return None
    return item.dcr if item.csr else 0.0


def paired(items: Iterable[Item]) -> list[Pair]:
    """Puts each constrained item beside the baseline item of the same key.

    Args:
        items: Of one run and one setting, in any order.

    Returns:
        One pair for each constrained item, in the order of `items`.

    Raises:
        ValueError: Two items have one key and one y.
    """
    by_key: dict[tuple[str, str], Item] = {}
    for item in items:
        if (item.key, item.y) in by_key:
            raise ValueError(
                f"Two CCRV items have the key {_quoted(item.key)} and y {item.y!r}; a table takes each once. "
                "Are records of two runs or of two tasks together?"
            )
        by_key[item.key, item.y] = item
    return [Pair(item, by_key.get((item.key, BASELINE))) for item in by_key.values() if item.y != BASELINE]


def tabulate(items: Iterable[Item]) -> list[Row]:
    """The tables of the paper.

    The rows over all constraints ("overall", "x") are over constrained items alone. Their baseline is the column
    `base_dcr`; the baseline items' own rows are those with y "base". A group without items has no row.

    Args:
        items: Of one run and one setting, in any order.

    Returns:
        Overall; by X; by Y, the baseline first; each cell X×Y, the baseline first.

    Raises:
        ValueError: Two items have one key and one y.
    """
    items = list(items)
    constrained = paired(items)
    everything = [Pair(item, None) for item in items if item.y == BASELINE] + constrained
    rows = [_row("overall", "", "", constrained)]
    rows += [_row("x", x, "", [pair for pair in constrained if pair.item.x == x]) for x in DIMENSIONS]
    rows += [_row("y", "", y, [pair for pair in everything if pair.item.y == y]) for y in SETTINGS]
    rows += [
        _row("cell", x, y, [pair for pair in everything if (pair.item.x, pair.item.y) == (x, y)])
        for x in DIMENSIONS
        for y in SETTINGS
    ]
    return [row for row in rows if row.n]


_COLUMNS: dict[str, Callable[[Pair], float | None]] = {
    "l1": lambda pair: _per_cent(pair.item.l1),
    "l2": lambda pair: _per_cent(pair.item.l2),
    "l3": lambda pair: _per_cent(pair.item.l3),
    "dcr": lambda pair: pair.item.dcr,
    "csr": lambda pair: _per_cent(pair.item.csr),
    "csr_raw_pixel": lambda pair: _per_cent(pair.item.csr_raw_pixel),
    "edcr": lambda pair: edcr(pair.item),
    "dcr_compliant": lambda pair: pair.item.dcr if pair.item.csr else None,
    "base_dcr": lambda pair: pair.base_dcr,
    "cdi": lambda pair: pair.cdi,
    "ecdi": lambda pair: pair.ecdi,
}
_WITH_ERROR = ("dcr", "csr", "edcr", "cdi", "ecdi")


def _row(group: Literal["overall", "x", "y", "cell"], x: str, y: str, pairs: Sequence[Pair]) -> Row:
    items = [pair.item for pair in pairs]
    return Row(
        group=group,
        x=x,
        y=y,
        n=len(items),
        missing=sum(item.dcr is None for item in items),
        failed=sum(item.failed for item in items),
        **{name: _average(pairs, column) for name, column in _COLUMNS.items()},
        **{f"{name}_se": _standard_error(pairs, _COLUMNS[name]) for name in _WITH_ERROR},
    )


def _average(pairs: Iterable[Pair], column: Callable[[Pair], float | None]) -> float | None:
    return _number(mean(value for pair in pairs if (value := column(pair)) is not None))


def _standard_error(pairs: Iterable[Pair], column: Callable[[Pair], float | None]) -> float | None:
    there = [(value, pair.item.image) for pair in pairs if (value := column(pair)) is not None]
    return _number(clustered_standard_error([value for value, _ in there], [image for _, image in there]))


def _number(value: float) -> float | None:
    """None for what is not a number, which JSON does not know."""
    return None if math.isnan(value) else value


def _per_cent(verdict: int | None) -> float | None:
    return None if verdict is None else 100.0 * verdict


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def _text(record: Mapping[str, Any], field: str) -> str:
    value = _value(record, field)
    if not isinstance(value, str):
        raise _fault(record, field, f"expected text, found {_quoted(value)}")
    return value


def _one_of(record: Mapping[str, Any], field: str, choices: Sequence[_T]) -> _T:
    value = _value(record, field)
    if value not in choices:
        raise _fault(record, field, f"expected one of {', '.join(map(repr, choices))}, found {_quoted(value)}")
    return choices[choices.index(value)]


def _score(record: Mapping[str, Any]) -> float | None:
    value = record.get("score")
    if value is None or (isinstance(value, int | float) and 0 <= value <= 100):
        return value
    raise _fault(record, "score", f"expected a number in 0..100, found {_quoted(value)}")


def _value(record: Mapping[str, Any], field: str) -> Any:
    if field not in record:
        raise _fault(record, field, "is missing")
    return record[field]


def _fault(record: Mapping[str, Any], field: str, fault: str) -> ValueError:
    key = _quoted(record.get("key"))
    return ValueError(f"CCRV record {key}, field {field}: {fault}. Is it from the sample log of a ccrv task?")


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + "…"
