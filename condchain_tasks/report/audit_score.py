"""Compares annotators with each other, and their majority with the judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from condchain_tasks.data.errors import DataError
from condchain_tasks.report.audit import BASELINE, CONSTRAINTS, CSR, LAYERS, VERDICTS, Judged, read_key
from condchain_tasks.report.audit_sheets import Verdicts, read_sheet
from condchain_tasks.scorers.ccrv import cascade
from condchain_tasks.scorers.statistics import mean

CHAIN = "chain"
"""Whether all three layers are right."""

PATTERN = "pattern"
"""All three layers, each as it is: one of eight."""

ALL = "all"


@dataclass(frozen=True)
class Measure:
    """How far verdicts agree, on one layer or on all three.

    Attributes:
        name: "L1", "L2", "L3", "chain" (all three are right), "pattern" (the three as they are), "CSR".
        annotated: Items on which every annotator has a verdict; the next two are over these.
        unanimous: Those on which all annotators agree, per cent. None if there are none, or one annotator.
        fleiss_kappa: Agreement of the annotators beyond chance, at most 1. None if there are no such items, one
            annotator, or one verdict throughout, for which it is undefined (0/0).
        ties: Items on which, on some layer, as many annotators say 1 as 0. They have no majority.
        n: Items with a majority and a verdict of the judge; the next two are over these.
        agreement: Those on which majority and judge agree, per cent. None if there are none.
        cohens_kappa: Agreement of majority and judge beyond chance, -1 to 1. None if there are no such items, or one
            verdict throughout, for which it is undefined (0/0).
    """

    name: str
    annotated: int
    unanimous: float | None
    fleiss_kappa: float | None
    ties: int
    n: int
    agreement: float | None
    cohens_kappa: float | None


@dataclass(frozen=True)
class Levels:
    """Means over items, per cent: verdicts in cascade, and DCR."""

    l1: float
    l2: float
    l3: float
    dcr: float


@dataclass(frozen=True)
class Cascade:
    """Causal quality of the same items by the majority's verdicts and by the judge's.

    Attributes:
        y: "base", "Y1" to "Y4", or "all".
        n: Items with a majority on all three layers; at least one.
        human: By the majority.
        judge: By the judge.
    """

    y: str
    n: int
    human: Levels
    judge: Levels


@dataclass(frozen=True)
class Direction:
    """Whether a constraint lowers causal quality for people where it does for the judge.

    Attributes:
        y: "Y1" to "Y4".
        human: Mean DCR of the baseline's audited items less that of the constraint's, by the majority; points.
        judge: The same by the judge.
        alike: Whether both have the same sign, or are both 0.
    """

    y: str
    human: float
    judge: float
    alike: bool


@dataclass(frozen=True)
class Consensus:
    """One item.

    Attributes:
        id: On the sheets.
        y: The constraint, or "base".
        majority: What more than half of the annotators say who have a verdict, by column; None if no more than half.
        judge: The judge's verdicts, each layer for itself.
    """

    id: str
    y: str
    majority: Verdicts
    judge: Verdicts


@dataclass(frozen=True)
class Agreement:
    """What an audit found.

    Attributes:
        annotators: Sheets.
        items: On each sheet.
        measures: On each layer, on all three, and on the constraint.
        cascades: Over all items, and over those of each setting.
        directions: Of each constraint, if the baseline has items.
        consensus: Each item, in the key's order.
    """

    annotators: int
    items: int
    measures: tuple[Measure, ...]
    cascades: tuple[Cascade, ...]
    directions: tuple[Direction, ...]
    consensus: tuple[Consensus, ...]


def score(sheets: Sequence[Path], key: Path) -> Agreement:
    """Compares the filled sheets of an audit.

    Args:
        sheets: One an annotator; see `audit_sheets.read_sheet` for what they may look like. The column CSR of a
            baseline item is not read: it has no constraint.
        key: The audit's `key.json`.

    Returns:
        The comparison. Of a single annotator it says only how far the judge agrees.

    Raises:
        DataError: A file is wrong, or a sheet is given twice.
    """
    if not sheets or len({path.resolve() for path in sheets}) < len(sheets):
        raise DataError("Expected the filled sheets, each once and one an annotator; two are needed for a kappa.")
    hidden = read_key(key)
    read = [read_sheet(path, hidden) for path in sheets]
    answers = [[_with_constraint(sheet[name], judged) for sheet in read] for name, judged in hidden.items()]
    consensus = tuple(
        Consensus(name, judged.y, _majority(answer), _by_judge(judged))
        for (name, judged), answer in zip(hidden.items(), answers, strict=True)
    )
    cascades = tuple(_cascades(consensus))
    return Agreement(
        annotators=len(sheets),
        items=len(hidden),
        measures=tuple(_measure(criterion, answers, consensus) for criterion in _CRITERIA),
        cascades=cascades,
        directions=tuple(_directions({one.y: one for one in cascades})),
        consensus=consensus,
    )


@dataclass(frozen=True)
class _Criterion:
    """What verdicts are compared by: the category that those in some columns make together."""

    name: str
    columns: tuple[str, ...]
    category: Callable[[list[int]], str]

    def of(self, verdicts: Verdicts) -> str | None:
        """The category; None if a verdict is not there."""
        values = [value for column in self.columns if (value := verdicts[column]) is not None]
        return self.category(values) if len(values) == len(self.columns) else None


def _as_they_are(values: list[int]) -> str:
    return "".join(map(str, values))


def _all_right(values: list[int]) -> str:
    return str(min(values))


_CRITERIA = (
    *(_Criterion(layer, (layer,), _as_they_are) for layer in LAYERS),
    _Criterion(CHAIN, LAYERS, _all_right),
    _Criterion(PATTERN, LAYERS, _as_they_are),
    _Criterion(CSR, (CSR,), _as_they_are),
)


def _measure(criterion: _Criterion, answers: Sequence[Sequence[Verdicts]], consensus: Sequence[Consensus]) -> Measure:
    rated = [[criterion.of(verdicts) for verdicts in answer] for answer in answers]
    complete = [[category for category in row if category is not None] for row in rated if None not in row]
    comparable = [row for row in complete if len(row) > 1]
    pairs = [(criterion.of(one.majority), criterion.of(one.judge)) for one in consensus]
    both = [(human, judge) for human, judge in pairs if human is not None and judge is not None]
    return Measure(
        name=criterion.name,
        annotated=len(complete),
        unanimous=_per_cent(len(set(row)) == 1 for row in comparable),
        fleiss_kappa=_fleiss_kappa(comparable),
        ties=sum(any(_tied(_given(answer, column)) for column in criterion.columns) for answer in answers),
        n=len(both),
        agreement=_per_cent(human == judge for human, judge in both),
        cohens_kappa=_cohens_kappa(both),
    )


def _fleiss_kappa(rows: Sequence[Sequence[str]]) -> float | None:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa  # takes seconds to import

    if len({category for row in rows for category in row}) < 2:
        return None
    counts, _ = aggregate_raters(rows)
    return float(fleiss_kappa(counts))


def _cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    from statsmodels.stats.inter_rater import cohens_kappa  # takes seconds to import

    categories = sorted({category for pair in pairs for category in pair})
    if len(categories) < 2:
        return None
    counts = Counter(pairs)
    table = [[counts[human, judge] for judge in categories] for human in categories]
    return float(cohens_kappa(table, return_results=False))


def _with_constraint(verdicts: Verdicts, judged: Judged) -> Verdicts:
    return {**verdicts, CSR: None} if judged.y == BASELINE else verdicts


def _given(answer: Iterable[Verdicts], column: str) -> list[int]:
    return [value for verdicts in answer if (value := verdicts[column]) is not None]


def _tied(values: Sequence[int]) -> bool:
    return 0 < 2 * sum(values) == len(values)


def _majority(answer: Sequence[Verdicts]) -> Verdicts:
    given = {column: _given(answer, column) for column in VERDICTS}
    return {
        column: None if not values or _tied(values) else int(2 * sum(values) > len(values))
        for column, values in given.items()
    }


def _by_judge(judged: Judged) -> Verdicts:
    return dict(zip(VERDICTS, (judged.r1, judged.r2, judged.r3, judged.csr), strict=True))


def _cascades(consensus: Iterable[Consensus]) -> Iterator[Cascade]:
    chains = [(one.y, _chain(one.majority), _chain(one.judge)) for one in consensus]
    for y in (ALL, BASELINE, *CONSTRAINTS):
        both = [(human, judge) for at, human, judge in chains if human and judge and y in (ALL, at)]
        if both:
            humans, judges = zip(*both, strict=True)
            yield Cascade(y, len(both), _levels(humans), _levels(judges))


def _chain(verdicts: Verdicts) -> tuple[int, int, int] | None:
    """The cascaded verdicts; None if one is not there."""
    r1, r2, r3 = (verdicts[layer] for layer in LAYERS)
    return None if r1 is None or r2 is None or r3 is None else cascade(r1, r2, r3)


def _levels(chains: Sequence[tuple[int, int, int]]) -> Levels:
    l1, l2, l3 = (100 * mean(layer) for layer in zip(*chains, strict=True))
    # From whole numbers: equal means are equal to the last digit then, and have no direction.
    return Levels(l1, l2, l3, dcr=100 * mean(map(sum, chains)) / 3)


def _directions(cascades: Mapping[str, Cascade]) -> Iterator[Direction]:
    base = cascades.get(BASELINE)
    for y in CONSTRAINTS:
        if base and (one := cascades.get(y)):
            human, judge = base.human.dcr - one.human.dcr, base.judge.dcr - one.judge.dcr
            yield Direction(y, human, judge, alike=_sign(human) == _sign(judge))


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _per_cent(held: Iterable[bool]) -> float | None:
    share = mean(held)
    return None if math.isnan(share) else 100 * share
