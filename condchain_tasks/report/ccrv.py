"""CCRV-Bench in the report: causal quality with and without constraints, by dimension and constraint."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.report import estimates, families, intervals
from condchain_tasks.report.estimates import Drawn, Key
from condchain_tasks.report.evaluations import Evaluation, apart
from condchain_tasks.report.model import Cell, Chart, Section, Series, Table, Value
from condchain_tasks.scorers.ccrv_tables import BASELINE, DIMENSIONS, SETTINGS

CONSTRAINTS = tuple(y for y in SETTINGS if y != BASELINE)

_STANDARD = "standard"
_ALL = "all"
_BASELINE_ALL = "baseline DCR, all"
_PAPER = "mean of the paper's models"
_SYNTHETIC = "The data is synthetic, drawn by this package: the figures are not those of CCRV-Bench."
_NOTES = (
    "DCR is the mean of three layers that a judge checks in order (entities, interaction, causal outcome); l1' to l3' "
    "are the layers, each counted only if those before it hold. eDCR is DCR if the constraint is kept, else 0. CDI and "
    "eCDI are the baseline's DCR less DCR and eDCR of the same item, in points.",
    "Items without a verdict are left out of the means. An item without a DCR has no eDCR either, even if its "
    "constraint fails: counted only where it is sure to be 0, such items would pull the mean down.",
    "Intervals are 95 % bootstrap intervals over images.",
)
_CSR_CAVEAT = "The CSR of the settings Y1 to Y4 are not comparable with each other: each has a rule of its own."
_Y3_CAVEAT = "In Y3, DCR and CSR overlap by design: both reward the marking of the false premise."
_CAVEATS = (_CSR_CAVEAT, _Y3_CAVEAT)
_BASELINE_NOTE = (
    "baseline DCR is a mean over constrained items, and so is its n: each baseline item counts once for each of its "
    "constrained forms."
)
_UNEVEN_NOTE = (
    "Verdicts, or baseline items, are missing here: baseline DCR, DCR and eDCR are each over all constrained items "
    "that have one, CDI and eCDI over those that have both figures of the difference, so that the columns do not "
    "subtract."
)
_UNEVEN_CONTROL_NOTE = (
    "Verdicts, or items, are missing here: control - that is over the items that have both figures, so that the "
    "columns do not subtract."
)

_MEASURES = {
    "dcr": "DCR",
    "csr": "CSR",
    "edcr": "eDCR",
    "dcr_compliant": "DCR if kept",
    "base_dcr": "baseline DCR",
    "cdi": "CDI",
    "ecdi": "eCDI",
}
_PAPER_CDI = {"X1": 12.7, "X2": 18.4, "X3": 14.9, "X4": 22.3}
_PAPER_BY_Y = {"Y2": {"dcr": 41.9}, "Y3": {"dcr": 90.2, "ecdi": -12.4}}
_PAPER_OVERVIEW = {"baseline l1'": 85.7, "baseline l3'": 68.3, "l1'": 71.3, "l3'": 50.4}
_PAPER_CONTROLS = {
    "textonly": {"DCR": 22.67, "beside": 81.58},
    "oracle_textonly_y1": {"DCR": 83.81, "beside": 54.82},
    "oracle_y1": {"difference": 18.76},
    "oracle_y2": {"difference": 11.03},
    "oracle_y4": {"difference": 20.07},
}


def sections(evaluations: Sequence[Evaluation], compared: Collection[str] = ()) -> list[Section]:
    """The benchmark's sections.

    Args:
        evaluations: Of any benchmarks.
        compared: Labels, families or models that were named to be compared.

    Returns:
        One section for CCRV-Bench itself and one for synthetic data, as far as there are runs of them.
    """
    held = [one for one in evaluations if one.n]
    return [
        _section(_runs(chosen), families.members(chosen, compared), synthetic)
        for synthetic, chosen in apart("ccrv", held)
    ]


@dataclass(frozen=True)
class _Items:
    """Scored replies of one run to the benchmark proper, or to one control; one entry each.

    Attributes:
        key: Of the data, and what a baseline item and its constrained forms share.
        image: The number of the image.
        x: "X1" to "X4".
        y: "Y1" to "Y4", or "base".
        measures: By name, per cent or points; not a number where there is none.
        failed: Whether there was no reply.
        cached: Verdicts that were there already; -1 if the log does not tell.
        calls: Requests to the judge; -1 if the log does not tell.
        judge: The judge's name.
        flags: Why figures of them must be taken with care.
    """

    key: NDArray[Any]
    image: NDArray[Any]
    x: NDArray[Any]
    y: NDArray[Any]
    measures: Mapping[str, NDArray[np.float64]]
    failed: NDArray[np.bool_]
    cached: NDArray[np.int64]
    calls: NDArray[np.int64]
    judge: str
    flags: tuple[str, ...]

    def mean(self, measure: str, x: str = "", y: str = "") -> Value:
        """A measure's mean over a dimension and a constraint; without a constraint, over all constrained items."""
        return self._means[measure, x, y]

    def everywhere(self, measure: str) -> Value:
        """A measure's mean over all items, whatever their constraint."""
        return estimates.mean(self.measures[measure], self.image, self.flags)

    @cached_property
    def _means(self) -> dict[Key, Value]:
        columns: dict[Key, NDArray[np.float64]] = {}
        for x in (*DIMENSIONS, ""):
            of_x = self.x == x if x else np.ones(len(self.x), dtype=np.bool_)
            for y in (*SETTINGS, ""):
                here = of_x & (self.y == y if y else self.y != BASELINE)
                columns |= {(name, x, y): np.where(here, values, np.nan) for name, values in self.measures.items()}
        return estimates.estimate_all(columns, self.image, self.flags)

    @cached_property
    def figures(self) -> dict[str, Value]:
        """Those of the overview."""
        found = {f"baseline l{n}'": self.mean(f"l{n}", y=BASELINE) for n in (1, 2, 3)}
        found["baseline"] = self.mean("dcr", y=BASELINE)
        found |= {f"l{n}'": self.mean(f"l{n}") for n in (1, 2, 3)}
        return found | {measure: self.mean(measure) for measure in _MEASURES}


@dataclass(frozen=True)
class _Run:
    """What one label answered.

    Attributes:
        label: Its name.
        is_partial: Whether it does not cover all of some task of the benchmark proper.
        experiments: "standard", which is the benchmark proper, and the names of controls, to their items.
    """

    label: str
    is_partial: bool
    experiments: Mapping[str, _Items]

    @property
    def standard(self) -> _Items | None:
        """Those of the benchmark proper."""
        return self.experiments.get(_STANDARD)


def _runs(evaluations: Sequence[Evaluation]) -> list[_Run]:
    flags = estimates.flags_by_task(evaluations)
    partial = estimates.partial_labels(one for one in evaluations if _experiment(one) == _STANDARD)
    parts: dict[str, dict[str, list[Evaluation]]] = {}
    # What two tasks have is taken from the newest run, and of one run from the task with all cells.
    by_size = sorted(evaluations, key=lambda one: len(one.task))
    for one in sorted(by_size, key=lambda one: one.date, reverse=True):
        parts.setdefault(one.label, {}).setdefault(_experiment(one), []).append(one)
    return [
        _Run(label, label in partial, {name: _items(of, flags) for name, of in experiments.items()})
        for label, experiments in parts.items()
    ]


def _experiment(one: Evaluation) -> str:
    """The control's name, or "standard": several controls share a setting, and each has a constraint of its own."""
    if one.names["setting"] == (_STANDARD,):
        return _STANDARD
    return one.task.removesuffix("_mini").removeprefix("ccrv_")


def _items(parts: Sequence[Evaluation], flags: Mapping[str, Mapping[str, tuple[str, ...]]]) -> _Items:
    """All tasks of one experiment together; an item that two of them have counts once."""

    def strings(name: str) -> NDArray[Any]:
        return np.concatenate([one.strings(name).astype(str) for one in parts])

    def identities(name: str) -> NDArray[Any]:
        return np.concatenate([np.char.add(f"{one.data}|", one.strings(name).astype(str)) for one in parts])

    def numbers(name: str) -> NDArray[Any]:
        return np.concatenate([one.columns[name] for one in parts])[first]

    items, ys = identities("item"), strings("y")
    keys = np.char.add(np.char.add(items, "|"), ys)
    first = np.sort(np.unique(keys, return_index=True)[1])
    key, y = items[first], ys[first]
    dcr, csr = numbers("dcr"), numbers("csr")
    base = _baseline(key, y, dcr)
    # Missing without a DCR even if CSR is 0: counted only where it is sure to be 0, such items would bias the mean.
    edcr = np.where(np.isnan(csr) | np.isnan(dcr), np.nan, np.where(csr > 0, dcr, 0.0))
    measures = {name: numbers(name) for name in ("l1", "l2", "l3", "csr_raw_pixel")} | {
        "dcr": dcr,
        "csr": csr,
        "edcr": edcr,
        "dcr_compliant": np.where(csr > 0, dcr, np.nan),
        "base_dcr": base,
        "cdi": base - dcr,
        "ecdi": base - edcr,
    }
    return _Items(
        key=key,
        image=np.unique(identities("image")[first], return_inverse=True)[1],
        x=strings("x")[first],
        y=y,
        measures=measures,
        failed=numbers("failed"),
        cached=numbers("cached"),
        calls=numbers("judge_calls"),
        judge=", ".join(sorted({one.settings.judge for one in parts} - {""})),
        flags=estimates.joined(flags[one.task][one.label] for one in parts),
    )


def _baseline(key: NDArray[Any], y: NDArray[Any], dcr: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each constrained item its baseline item's DCR; not a number for baseline items themselves."""
    names, codes = np.unique(key, return_inverse=True)
    of_key = np.full(len(names), np.nan)
    is_base = y == BASELINE
    of_key[codes[is_base]] = dcr[is_base]
    return np.where(is_base, np.nan, of_key[codes])


def _section(runs: Sequence[_Run], members: Mapping[str, families.Member], synthetic: bool) -> Section:
    prefix = "ccrv-mini" if synthetic else "ccrv"
    proper = [(run.is_partial, run.label, run.standard) for run in runs if run.standard is not None]
    proper.sort(key=lambda one: (one[0], estimates.order(one[2].figures["edcr"]), one[1]))
    standard = {label: items for _, label, items in proper}
    shown = {label: members[label] for label in standard}
    paired = families.pairs(shown)
    compared = _comparisons(standard, paired)
    drawn = [
        _overview(prefix, standard, official=not synthetic),
        _by_x(prefix, standard, official=not synthetic),
        _by_y(prefix, standard, official=not synthetic),
        *(_matrix(prefix, measure, standard) for measure in ("dcr", "csr", "edcr", "ecdi")),
        _controls(prefix, runs, official=not synthetic),
        _judge_health(prefix, runs),
        (families.differences(f"{prefix}-differences", "Differences, points", compared, shown), ()),
        (families.spread(f"{prefix}-spread", "Runs of one model: spread", _means(standard), members), ()),
    ]
    notes = (_SYNTHETIC,) * synthetic + _NOTES + families.not_compared(compared, paired)
    notes += ("Partial runs come last.",) * any(is_partial for is_partial, *_ in proper)
    return estimates.section(prefix, "CCRV-Bench, synthetic data" if synthetic else "CCRV-Bench", notes, drawn)


def _uneven(cells: Iterable[Mapping[str, Value]]) -> tuple[str, ...]:
    """A note, if in some row a difference is over other items than its parts."""
    is_uneven = any(
        _is_uneven(of["cdi"], of["base_dcr"], of["dcr"]) or _is_uneven(of["ecdi"], of["base_dcr"], of["edcr"])
        for of in cells
    )
    return (_UNEVEN_NOTE,) * is_uneven


def _is_uneven(difference: Value, *parts: Value) -> bool:
    # A difference is over the items of both parts, so that equal numbers mean the same items.
    return bool(difference.n) and any(part.n != difference.n for part in parts)


# --- overview, by X, by Y


def _overview(prefix: str, standard: Mapping[str, _Items], official: bool) -> Drawn:
    columns = ("baseline l1'", "baseline l2'", "baseline l3'", "baseline", "l1'", "l2'", "l3'", *_MEASURES)
    found = {label: items.figures for label, items in standard.items()}
    rows: list[tuple[Cell, ...]] = [(label, *(of[column] for column in columns)) for label, of in found.items()]
    paper: list[tuple[Cell, ...]] = []
    if official and rows:
        paper = [(_PAPER, *estimates.printed(_PAPER_OVERVIEW, columns))]
    identity = f"{prefix}-overview"
    table = Table(
        id=identity,
        title="Causal quality without and with constraints, %",
        columns=(
            "model",
            *(_BASELINE_ALL if c == "baseline" else _MEASURES.get(c, c) for c in columns),
        ),
        rows=(*rows, *paper),
        published=estimates.last(rows, paper),
        notes=(
            "Columns that begin with baseline l, and baseline DCR, all, are over the unconstrained items, each once.",
            _BASELINE_NOTE,
            *_uneven(found.values()),
            *_CAVEATS,
        ),
    )
    chart = Chart(
        id=f"{identity}-cdi",
        title="What constraints cost (CDI) against quality without them",
        kind="scatter",
        series=estimates.scatters((label, False, of["base_dcr"], of["cdi"]) for label, of in found.items()),
        x_title="baseline DCR, %",
        y_title="CDI, points",
        table=identity,
        lines=((0, 0, 100, 0, "constraints cost nothing"),),
    )
    return table, (chart,)


def _by_x(prefix: str, standard: Mapping[str, _Items], official: bool) -> Drawn:
    shown = ("base_dcr", "dcr", "csr", "edcr", "cdi", "ecdi")
    found = {
        (label, x): {measure: items.mean(measure, x) for measure in shown}
        for label, items in standard.items()
        for x in DIMENSIONS
    }
    rows: list[tuple[Cell, ...]] = [(label, x, *values.values()) for (label, x), values in found.items()]
    paper: list[tuple[Cell, ...]] = [
        (_PAPER, x, *(Value(cdi) if measure == "cdi" else None for measure in shown))
        for x, cdi in _PAPER_CDI.items()
        if official and rows
    ]
    columns = ("model", "dimension", *(_MEASURES[measure] for measure in shown))
    table = Table(
        id=f"{prefix}-by-x",
        title="By causal dimension, all constraints together, %",
        columns=columns,
        rows=(*rows, *paper),
        published=estimates.last(rows, paper),
        notes=(
            "X1 discovery, X2 prediction, X3 diagnosis, X4 outcome of an intervention.",
            _BASELINE_NOTE,
            *_uneven(found.values()),
            *_CAVEATS,
        ),
    )
    return table, ()


def _by_y(prefix: str, standard: Mapping[str, _Items], official: bool) -> Drawn:
    shown = ("base_dcr", "dcr", "csr", "csr_raw_pixel", "edcr", "dcr_compliant", "cdi", "ecdi")
    found = {
        (label, y): {measure: items.mean(measure, y=y) for measure in shown}
        for label, items in standard.items()
        for y in SETTINGS
    }
    rows: list[tuple[Cell, ...]] = [
        (label, y, *(None if values[measure].n == 0 else values[measure] for measure in shown))
        for (label, y), values in found.items()
    ]
    paper: list[tuple[Cell, ...]] = [
        (_PAPER, y, *estimates.printed(values, shown)) for y, values in _PAPER_BY_Y.items() if official and rows
    ]
    identity = f"{prefix}-by-y"
    names = _MEASURES | {"csr_raw_pixel": "CSR, pixels only"}
    table = Table(
        id=identity,
        title="By constraint, all dimensions together, %",
        columns=("model", "setting", *(names[measure] for measure in shown)),
        rows=(*rows, *paper),
        published=estimates.last(rows, paper),
        notes=(
            "Y1 entities as symbols, Y2 coordinates, Y3 a false premise, Y4 few words.",
            "CSR, pixels only, is Y2's as the released script computes it; CSR also reads fractions and thousandths.",
            _BASELINE_NOTE,
            *_uneven(found.values()),
            *_CAVEATS,
        ),
    )
    profiles = [
        Chart(
            id=f"{identity}-{measure}",
            title=f"Profile over the constraints: {_MEASURES[measure]}",
            kind="line",
            series=tuple(
                estimates.points(label, ys, [found[label, y][measure] for y in ys])
                for label in standard
                if any(found[label, y][measure].value is not None for y in ys)
            ),
            x_title="setting",
            y_title=f"{_MEASURES[measure]}, %",
            table=identity,
        )
        for measure, ys in (("dcr", SETTINGS), ("edcr", CONSTRAINTS))
    ]
    return table, tuple(profiles)


def _matrix(prefix: str, measure: str, standard: Mapping[str, _Items]) -> Drawn:
    """One measure in each cell X×Y, with the margins."""
    ys = SETTINGS if measure == "dcr" else CONSTRAINTS
    rows: list[tuple[Cell, ...]] = []
    series = []
    for label, items in standard.items():
        cells = {(x, y): items.mean(measure, x, y) for x in (*DIMENSIONS, "") for y in (*ys, "")}
        rows += [(label, x or _ALL, *(cells[x, y] for y in (*ys, ""))) for x in (*DIMENSIONS, "")]
        if any(cell.value is not None for cell in cells.values()):
            z = tuple(tuple(cells[x, y].value for y in ys) for x in DIMENSIONS)
            series.append(Series(label, ys, DIMENSIONS, z))
    identity = f"{prefix}-{measure}"
    title = f"{_MEASURES[measure]} in each cell, {'points' if measure == 'ecdi' else '%'}"
    caveats = {"csr": (_CSR_CAVEAT, _Y3_CAVEAT), "ecdi": (_Y3_CAVEAT,)}.get(measure, (_Y3_CAVEAT,))
    table = Table(identity, title, ("model", "dimension", *ys, "all constraints"), tuple(rows), notes=caveats)
    return table, (Chart(f"{identity}-map", title, "heatmap", tuple(series), "constraint", "dimension", identity),)


# --- controls and the judge


def _controls(prefix: str, runs: Sequence[_Run], official: bool) -> Drawn:
    rows: list[tuple[Cell, ...]] = []
    is_uneven = False
    for run in runs:
        for control, items in run.experiments.items():
            if control != _STANDARD:
                dcr, csr = items.everywhere("dcr"), items.everywhere("csr")
                beside: tuple[Cell, ...] = (None, None)
                if run.standard is not None:
                    same = _aligned(run.standard, items)
                    that, difference = same[0].everywhere("dcr"), _difference(*same).value
                    beside = (that, difference)
                    is_uneven = is_uneven or _is_uneven(difference, dcr, that)
                rows.append((run.label, control, dcr, *beside, csr))
    paper: list[tuple[Cell, ...]] = [
        (_PAPER, control, *estimates.printed(values, ("DCR", "beside", "difference", "CSR")))
        for control, values in _PAPER_CONTROLS.items()
        if official and rows
    ]
    table = Table(
        id=f"{prefix}-controls",
        title="Controls, %",
        columns=("model", "control", "DCR", "DCR it is set against", "control - that", "CSR"),
        rows=(*rows, *paper),
        published=estimates.last(rows, paper),
        notes=(
            "In these runs a control is set against the benchmark proper, on the same items: of the same questions and "
            "the same constraint.",
            *((_UNEVEN_CONTROL_NOTE,) * is_uneven),
            *_CAVEATS,
        ),
    )
    return table, ()


def _judge_health(prefix: str, runs: Sequence[_Run]) -> Drawn:
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for experiment, items in run.experiments.items():
            sent = ~items.failed
            third = sent & (items.y == "Y3")
            needed = int(sent.sum() + third.sum())
            lacking = [np.isnan(items.measures["dcr"])[sent], np.isnan(items.measures["csr"])[third]]
            missing = int(sum(part.sum() for part in lacking))
            share = estimates.mean(
                100.0 * np.concatenate(lacking), np.concatenate([items.image[sent], items.image[third]]), items.flags
            )
            asked = (_total(items.cached), _total(items.calls))
            judge = items.judge or "none"
            rows.append((run.label, experiment, judge, needed, needed - missing, *asked, missing, share))
    table = Table(
        id=f"{prefix}-judge",
        title="The judge",
        columns=(
            "model",
            "experiment",
            "judge",
            "verdicts needed",
            "had",
            "from the cache",
            "calls",
            "missing",
            "missing, %",
        ),
        rows=tuple(rows),
        notes=(
            "standard is the benchmark proper; each of the others is one control.",
            "One verdict an item, two in Y3; failed requests are not judged and score 0.",
            "Calls count retries and answers that held no verdict; a verdict from the cache took none.",
        ),
    )
    return table, ()


def _total(counts: NDArray[np.int64]) -> int | None:
    """Of all items; None if some do not tell."""
    return None if (counts < 0).any() else int(counts.sum())


# --- comparisons


def _comparisons(standard: Mapping[str, _Items], pairs: Iterable[tuple[str, str]]) -> list[families.Comparison]:
    found = []
    for a, b in pairs:
        one, other = _aligned(standard[a], standard[b])
        flags = estimates.joined((one.flags, other.flags))
        baseline = one.y == BASELINE
        for name, measure, mask in (
            (_BASELINE_ALL, "dcr", baseline),
            *((_MEASURES[measure], measure, ~baseline) for measure in ("dcr", "csr", "edcr", "cdi")),
        ):
            compared = intervals.compare_means(
                one.measures[measure][mask], other.measures[measure][mask], one.image[mask]
            )
            difference = estimates.difference(compared, flags)
            if difference.value.n:
                found.append(families.Comparison(a, b, name, difference))
    return found


def _means(standard: Mapping[str, _Items]) -> dict[str, dict[str, Value]]:
    """By label and figure."""
    return {
        label: {_BASELINE_ALL: items.figures["baseline"]}
        | {_MEASURES[measure]: items.figures[measure] for measure in ("dcr", "csr", "edcr", "cdi", "ecdi")}
        for label, items in standard.items()
    }


def _difference(a: _Items, b: _Items) -> estimates.Difference:
    """Of b's DCR from a's, on the same items."""
    compared = intervals.compare_means(b.measures["dcr"], a.measures["dcr"], a.image)
    return estimates.difference(compared, estimates.joined((a.flags, b.flags)))


def _aligned(a: _Items, b: _Items) -> tuple[_Items, _Items]:
    """The items that both have, in the same order."""
    keys = [np.char.add(np.char.add(one.key, "|"), one.y) for one in (a, b)]
    in_a, in_b = estimates.in_common(*keys)
    return _picked(a, in_a), _picked(b, in_b)


def _picked(items: _Items, places: NDArray[np.int64]) -> _Items:
    return _Items(
        key=items.key[places],
        image=items.image[places],
        x=items.x[places],
        y=items.y[places],
        measures={name: values[places] for name, values in items.measures.items()},
        failed=items.failed[places],
        cached=items.cached[places],
        calls=items.calls[places],
        judge=items.judge,
        flags=items.flags,
    )
