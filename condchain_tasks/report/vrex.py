"""V-REX in the report: asking the right questions against answering them, and what either is good for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.report import estimates, families, intervals
from condchain_tasks.report.estimates import Drawn, Key
from condchain_tasks.report.evaluations import Evaluation, apart
from condchain_tasks.report.model import Cell, Chart, Section, Table, Value
from condchain_tasks.report.published_tables import published_table
from condchain_tasks.report.vrex_published import accuracy_by_wrong_steps
from condchain_tasks.scorers.vrex_metrics import CATEGORIES, gain

AVERAGE = "average"

_DIRECT, _PLANNING, _FOLLOWING = "direct", "planning", "following"
_MODES = (_PLANNING, _FOLLOWING)
_STANDARD, _HARD, _BLIND, _FORCED = "standard", "hard", "blind", "tf"
_VARIANTS = {_STANDARD: "standard", _HARD: "8 options", _BLIND: "without the picture", _FORCED: "right history"}
_WRONG = range(6)
_STEPS = range(1, 7)
_HEADLINE = f"{_FOLLOWING} accuracy"
_TASK = re.compile(r"vrex_(planning|following|direct)(?:_(hard|blind|tf))?(?:_mini)?")
_PAPER = "in the paper"
_SYNTHETIC = "The data is synthetic, drawn by this package: the figures are not those of V-REX."
_PLAIN_MEAN = "A plain mean over all samples that are counted, whatever their category."
_NOTES = (
    "Planning: the model picks the next question, whose true answer it is told. Following: it answers the given "
    "questions. Ability is the share of right steps before the final question.",
    "Figures are averages over the four categories, each with the same weight, whatever their numbers of samples; a "
    "category that no sample is of is left out. Tables whose figures are plain means say so.",
    "Intervals are 95 % bootstrap intervals over samples, each with all its steps; where a table says nothing else, as "
    f"many of each category are drawn as there are. {intervals.WITHOUT}",
)


def sections(evaluations: Sequence[Evaluation], compared: Collection[str] = ()) -> list[Section]:
    """The benchmark's sections.

    Args:
        evaluations: Of any benchmarks.
        compared: Labels, families or models that were named to be compared.

    Returns:
        One section for V-REX itself and one for synthetic data, as far as there are runs of them.
    """
    held = [one for one in evaluations if one.n]
    return [
        _section(_runs(chosen), families.members(chosen, compared), synthetic)
        for synthetic, chosen in apart("vrex", held)
    ]


@dataclass(frozen=True)
class _Samples:
    """Scored samples of one task, one entry each.

    Attributes:
        id: The data's and the chain's; with a teacher-forced history several samples have it.
        category: One of `CATEGORIES`.
        step: The one step that was asked, from 1; 0 if the whole chain was.
        wrong_steps: Wrong steps before the final question; -1 if none were asked.
        score: 100 if the final question (teacher-forced: the step) was answered right, else 0.
        lenient_score: The same by the lenient reading.
        ability: Per cent; not a number if only one step was asked.
        lenient_ability: The same by the lenient reading; not a number either in logs that do not tell.
        compliant: Of its replies, those that had the form that was asked for, per cent.
        failed: 100 if a request failed, else 0.
        no_answer: 100 if none failed and a reply names no option, else 0.
        chain: For each step of each chain, the number of the sample; the next two likewise.
        number: The step's number, from 1.
        right: 100 if the step is right, else 0.
        flags: Why figures of them must be taken with care.
    """

    id: NDArray[Any]
    category: NDArray[Any]
    step: NDArray[np.int64]
    wrong_steps: NDArray[np.int64]
    score: NDArray[np.float64]
    lenient_score: NDArray[np.float64]
    ability: NDArray[np.float64]
    lenient_ability: NDArray[np.float64]
    compliant: NDArray[np.float64]
    failed: NDArray[np.float64]
    no_answer: NDArray[np.float64]
    chain: NDArray[np.int64]
    number: NDArray[np.int64]
    right: NDArray[np.float64]
    flags: tuple[str, ...]

    def average(self, field: str) -> Value:
        """The mean of the categories' means of "ability" or "score"."""
        return self._means[field, AVERAGE]

    def by_category(self, field: str) -> list[Value]:
        """The mean in each category, and `average`."""
        return [self._means[field, name] for name in (*CATEGORIES, AVERAGE)]

    @property
    def recovery(self) -> Value:
        """The mean of the scores after at least one wrong step."""
        return self._means["score", "recovery"]

    @property
    def by_wrong_steps(self) -> list[Value]:
        """The mean of the scores after as many wrong steps as `_WRONG` says."""
        return [self._means["score", str(number)] for number in _WRONG]

    @property
    def readings(self) -> list[Value | None]:
        """The figures of `_READINGS`; None for one that none of the samples has."""
        figures = (self._means[key] for key in _READINGS)
        return [figure if figure.n else None for figure in figures]

    @cached_property
    def _means(self) -> dict[Key, Value]:
        fields = {
            "ability": self.ability,
            "lenient ability": self.lenient_ability,
            "ability gained": self.lenient_ability - self.ability,
            "score": self.score,
            "lenient score": self.lenient_score,
            "score gained": self.lenient_score - self.score,
        }
        columns: dict[Key, NDArray[np.float64]] = {
            ("compliant",): self.compliant,
            ("failed",): self.failed,
            ("no answer",): self.no_answer,
        }
        derived: dict[Key, estimates.Derived] = {}
        for field, values in fields.items():
            present = [name for name in CATEGORIES if (~np.isnan(values[self.category == name])).any()]
            for name in CATEGORIES:
                columns[field, name] = np.where(self.category == name, values, np.nan)
            averaged = tuple((field, name) for name in present or CATEGORIES)
            derived[field, AVERAGE] = estimates.Derived(averaged, estimates.arithmetic_mean)
        columns["score", "recovery"] = np.where(self.wrong_steps > 0, self.score, np.nan)
        for number in _WRONG:
            columns["score", str(number)] = np.where(self.wrong_steps == number, self.score, np.nan)
        return estimates.estimate_all(columns, self.id, self.flags, derived, self.category)

    @cached_property
    def by_step(self) -> list[Value]:
        """Accuracy at each of `_STEPS`: of the steps that were asked one by one, or of those of chains."""
        if (self.step > 0).any():
            number, right, drawn = self.step, self.score, self.id
        else:
            number, right, drawn = self.number, self.right, self.id[self.chain]
        columns: dict[Key, NDArray[np.float64]] = {
            (str(step),): np.where(number == step, right, np.nan) for step in _STEPS
        }
        found = estimates.estimate_all(columns, drawn, self.flags)
        return [found[str(step),] for step in _STEPS]


@dataclass(frozen=True)
class _Run:
    """What one label answered.

    Attributes:
        label: Its name.
        is_partial: Whether it does not cover all of some task of the benchmark proper.
        tasks: Its samples, by variant ("standard", which is the benchmark proper, "hard", "blind", "tf") and mode.
    """

    label: str
    is_partial: bool
    tasks: Mapping[tuple[str, str], _Samples]

    @cached_property
    def figures(self) -> dict[str, Value]:
        """Those of the leaderboard."""
        found: dict[str, Value] = {}
        for mode in (_DIRECT, *_MODES):
            if samples := self.tasks.get((_STANDARD, mode)):
                found[f"{mode} accuracy"] = samples.average("score")
                if mode != _DIRECT:
                    found[f"{mode} ability"] = samples.average("ability")
        return found


def _runs(evaluations: Sequence[Evaluation]) -> list[_Run]:
    flags = estimates.flags_by_task(evaluations)
    found: dict[str, dict[tuple[str, str], _Samples]] = {}
    proper = []
    for one in evaluations:
        if match := _TASK.fullmatch(one.task):
            tasks = found.setdefault(one.label, {})
            tasks[match[2] or _STANDARD, match[1]] = _samples(one, flags[one.task][one.label])
            if not match[2]:
                proper.append(one)
    partial = estimates.partial_labels(proper)
    runs = [_Run(label, label in partial, tasks) for label, tasks in found.items()]
    return sorted(runs, key=lambda run: (run.is_partial, estimates.order(run.figures.get(_HEADLINE)), run.label))


def _samples(one: Evaluation, flags: tuple[str, ...]) -> _Samples:
    columns = one.columns
    starts = columns["step_start"]
    chain = np.repeat(np.arange(one.n), np.diff(starts))
    return _Samples(
        id=np.char.add(f"{one.data} ", one.strings("id").astype(str)),
        category=one.strings("category").astype(str),
        step=columns["step"],
        wrong_steps=columns["wrong_steps"],
        score=columns["score"],
        lenient_score=columns["score_lenient"],
        ability=columns["ability"],
        lenient_ability=columns["ability_lenient"],
        compliant=columns["compliant"],
        failed=100.0 * columns["failed"],
        no_answer=100.0 * (columns["no_answer"] & ~columns["failed"]),
        chain=chain,
        number=np.arange(len(chain)) - starts[:-1][chain] + 1,
        right=100.0 * columns["step_right"],
        flags=flags,
    )


def _section(runs: Sequence[_Run], members: Mapping[str, families.Member], synthetic: bool) -> Section:
    prefix, official = ("vrex-mini", False) if synthetic else ("vrex", True)
    shown = {run.label: members[run.label] for run in runs}  # in the order of the leaderboard
    paired = families.pairs(shown)
    compared = _comparisons({run.label: run for run in runs}, paired)
    drawn = [
        _leaderboard(prefix, runs, official),
        _abilities(prefix, runs, official),
        _accuracies(prefix, runs, official),
        _gains(prefix, runs, official),
        _recovery(prefix, runs, official),
        _by_wrong_steps(prefix, runs, official),
        _by_step(prefix, runs),
        _hard(prefix, runs, official),
        _blind(prefix, runs, official),
        _readings(prefix, runs),
        (families.differences(f"{prefix}-differences", "Differences, points", compared, shown), ()),
        (
            families.spread(
                f"{prefix}-spread", "Runs of one model: spread", {run.label: run.figures for run in runs}, members
            ),
            (),
        ),
    ]
    notes = (_SYNTHETIC,) * synthetic + _NOTES + families.not_compared(compared, paired)
    return estimates.section(prefix, "V-REX, synthetic data" if synthetic else "V-REX", notes, drawn)


# --- abilities and accuracies


def _leaderboard(prefix: str, runs: Sequence[_Run], official: bool) -> Drawn:
    columns = [f"{mode} ability" for mode in _MODES] + [f"{mode} accuracy" for mode in (_DIRECT, *_MODES)]
    rows = [(run.label, False, run.figures) for run in runs if run.figures]
    if official and rows:
        rows += [(name, True, figures) for name, figures in _printed_main().items()]
    partial = {run.label for run in runs if run.is_partial}
    rows.sort(key=lambda row: (not row[1] and row[0] in partial, estimates.order(row[2].get(_HEADLINE))))
    identity = f"{prefix}-leaderboard"
    table = Table(
        id=identity,
        title="Leaderboard: abilities, and accuracy on the final question, %",
        columns=("model", *columns, "following / planning"),
        rows=tuple((name, *(figures.get(c) for c in columns), _ratio(figures)) for name, _, figures in rows),
        published=frozenset(place for place, row in enumerate(rows) if row[1]),
        notes=("Accuracy: on the final question asked alone (direct), after planning, and after following.",)
        + (("Partial runs come last.",) if partial else ()),
    )
    x, y = columns[:2]
    points = [(name, printed, figures[x], figures[y]) for name, printed, figures in rows if {x, y} <= figures.keys()]
    chart = Chart(
        id=f"{identity}-abilities",
        title="Following against planning",
        kind="scatter",
        series=estimates.scatters(points),
        x_title="ability to plan, %",
        y_title="ability to follow, %",
        table=identity,
        lines=((0, 0, 100, 100, "balance"),),
    )
    return table, (chart,) if any(not printed for _, printed, _, _ in points) else ()


def _ratio(figures: Mapping[str, Value]) -> str | None:
    following, planning = (figures.get(f"{mode} ability", Value(None)).value for mode in (_FOLLOWING, _PLANNING))
    return f"{following / planning:.2f}" if following is not None and planning else None


def _abilities(prefix: str, runs: Sequence[_Run], official: bool) -> Drawn:
    rows: list[tuple[Cell, ...]] = [
        (run.label, mode, *samples.by_category("ability"))
        for run in runs
        for mode in _MODES
        if (samples := run.tasks.get((_STANDARD, mode)))
    ]
    paper: list[tuple[Cell, ...]] = [
        (row["model"], mode, *_values(row, [*(f"{mode}_{name}" for name in CATEGORIES), f"{mode}_avg"]))
        for row in published_table("vrex_ability")
        for mode in _MODES
        if official and rows
    ]
    return _by_category(f"{prefix}-ability", "Ability by category, %", rows, paper)


def _accuracies(prefix: str, runs: Sequence[_Run], official: bool) -> Drawn:
    rows: list[tuple[Cell, ...]] = [
        (run.label, mode, *samples.by_category("score"))
        for run in runs
        for mode in (_DIRECT, *_MODES)
        if (samples := run.tasks.get((_STANDARD, mode)))
    ]
    paper: list[tuple[Cell, ...]] = [
        (row["model"], mode, *_values(row, [f"{name}_{mode}" for name in (*CATEGORIES, "overall")]))
        for row in published_table("vrex_final_accuracy")
        for mode in (_DIRECT, *_MODES)
        if official and rows
    ]
    return _by_category(f"{prefix}-accuracy", "Accuracy on the final question by category, %", rows, paper)


def _by_category(
    identity: str, title: str, rows: Sequence[tuple[Cell, ...]], paper: Sequence[tuple[Cell, ...]]
) -> Drawn:
    groups = (*CATEGORIES, AVERAGE)
    table = Table(identity, title, ("model", "mode", *groups), (*rows, *paper), estimates.last(rows, paper))
    return table, _charts(table, "bar", groups, "category", rows)


def _charts(
    table: Table,
    kind: Literal["bar", "line"],
    x: Collection[str | int],
    x_title: str,
    rows: Sequence[tuple[Cell, ...]],
    paper: Sequence[tuple[Cell, ...]] = (),
) -> tuple[Chart, ...]:
    """A chart for each mode: with several of them in one, few runs would find room.

    Args:
        table: Its second column is the mode.
        kind: The charts' form.
        x: What the table's last columns stand for.
        x_title: With the unit.
        rows: Those of runs.
        paper: Those that stand in print.
    """
    charts = []
    for mode in (_DIRECT, *_MODES):
        series = tuple(
            estimates.points(
                ", ".join(str(cell) for cell in (row[0], *row[2 : -len(x)])),
                x,
                [_shown(cell) for cell in row[-len(x) :]],
                published=of is paper,
            )
            for of in (rows, paper)
            for row in of
            if row[1] == mode
        )
        if not all(one.published for one in series):
            title = f"{table.title.removesuffix(', %')}, {mode}"
            charts.append(Chart(f"{table.id}-{mode}", title, kind, series, x_title, "%", table.id))
    return tuple(charts)


# --- what planning and following are good for


def _gains(prefix: str, runs: Sequence[_Run], official: bool) -> Drawn:
    rows: list[tuple[Cell, ...]] = [
        (run.label, mode, *_gain(samples, direct))
        for run in runs
        if (direct := run.tasks.get((_STANDARD, _DIRECT)))
        for mode in _MODES
        if (samples := run.tasks.get((_STANDARD, mode)))
    ]
    paper: list[tuple[Cell, ...]] = []
    for row in published_table("vrex_final_accuracy") if official and rows else ():
        for mode in _MODES:
            printed = float(row[f"overall_{mode}"]), float(row["overall_direct"])
            paper.append((row["model"], mode, Value(gain(*printed)), Value(printed[0] - printed[1])))
    table = Table(
        id=f"{prefix}-gain",
        title="Gain over the final question asked alone",
        columns=("model", "mode", "gain, %", "difference, points"),
        rows=(*rows, *paper),
        published=estimates.last(rows, paper),
        notes=("The gain is relative to the accuracy of direct, on the samples that both tasks have.",)
        + (("The papers' gains are computed from the published accuracies.",) if paper else ()),
    )
    return table, ()


def _gain(samples: _Samples, direct: _Samples) -> tuple[Value, Value]:
    """The relative gain, per cent, and the difference, points, of the averages over the samples of both."""
    after, alone, both = _paired(samples, direct, "score")
    if not len(both.id):
        return Value(None, n=0), Value(None, n=0)
    columns: dict[Key, NDArray[np.float64]] = {}
    for which, values in (("after", after), ("alone", alone)):
        for name in np.unique(both.category):
            columns[which, name] = np.where(both.category == name, values, np.nan)
    width = len(columns) // 2

    def difference(means: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(means[:, :width].mean(axis=1) - means[:, width:].mean(axis=1))

    def relative(means: NDArray[np.float64]) -> NDArray[np.float64]:
        before = means[:, width:].mean(axis=1)
        return 100 * difference(means) / np.where(before == 0, np.nan, before)

    derived: dict[Key, estimates.Derived] = {
        ("gain",): estimates.Derived(tuple(columns), relative, times=2),
        ("difference",): estimates.Derived(tuple(columns), difference, times=2),
    }
    found = estimates.estimate_all(columns, both.id, both.flags, derived, both.category)
    return found["gain",], found["difference",]


def _recovery(prefix: str, runs: Sequence[_Run], official: bool) -> Drawn:
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        found = [run.tasks.get((_STANDARD, mode)) for mode in _MODES]
        if found != [None, None]:
            rows.append((run.label, *(None if samples is None else samples.recovery for samples in found)))
    paper: list[tuple[Cell, ...]] = [
        (row["model"], *_values(row, [f"from_failed_{mode}" for mode in _MODES]))
        for row in published_table("vrex_recovery")
        if official and rows
    ]
    identity, title = f"{prefix}-recovery", "Recovery: right final answers after at least one wrong step, %"
    series = [estimates.points(str(row[0]), _MODES, [_shown(cell) for cell in row[1:]]) for row in rows]
    table = Table(identity, title, ("model", *_MODES), (*rows, *paper), estimates.last(rows, paper), (_PLAIN_MEAN,))
    return table, (Chart(f"{identity}-chart", title, "bar", tuple(series), "mode", "%", identity),)


def _by_wrong_steps(prefix: str, runs: Sequence[_Run], official: bool) -> Drawn:
    rows: list[tuple[Cell, ...]] = [
        (run.label, mode, *samples.by_wrong_steps)
        for run in runs
        for mode in _MODES
        if (samples := run.tasks.get((_STANDARD, mode)))
    ]
    curve = accuracy_by_wrong_steps()
    paper: list[tuple[Cell, ...]] = []
    if official and rows:
        paper = [("all models of the paper", _FOLLOWING, *(Value(curve[number]) for number in _WRONG))]
    identity = f"{prefix}-wrong-steps"
    table = Table(
        id=identity,
        title="Accuracy on the final question by the number of wrong steps before it, %",
        columns=("model", "mode", *(f"{number} wrong" for number in _WRONG)),
        rows=(*rows, *paper),
        published=estimates.last(rows, paper),
        notes=(_PLAIN_MEAN,),
    )
    return table, _charts(table, "line", _WRONG, "wrong steps", rows, paper)


def _by_step(prefix: str, runs: Sequence[_Run]) -> Drawn:
    """Steps of whole chains, beside the same steps with the right history."""
    rows: list[tuple[Cell, ...]] = [
        (run.label, mode, f"{history} history", *samples.by_step)
        for run in runs
        for mode in _MODES
        for variant, history in ((_STANDARD, "own"), (_FORCED, "right"))
        if (samples := run.tasks.get((variant, mode)))
    ]
    table = Table(
        id=f"{prefix}-steps",
        title="Accuracy by step, %",
        columns=("model", "mode", "history", *(f"step {number}" for number in _STEPS)),
        rows=tuple(rows),
        notes=(
            "A plain mean over all steps of that number, whatever their category. Intervals are over samples of all "
            "categories together.",
            "Late steps are those of long chains alone. The right history shows a step's own difficulty; with its own "
            "history a model carries its errors on.",
        ),
    )
    return table, _charts(table, "line", _STEPS, "step", rows)


# --- variants


def _hard(prefix: str, runs: Sequence[_Run], official: bool) -> Drawn:
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        four, eight = run.tasks.get((_STANDARD, _PLANNING)), run.tasks.get((_HARD, _PLANNING))
        if eight is not None:
            among_four = cost = None
            if four is not None:
                among_four = four.average("ability")
                cost = _difference(*_paired(eight, four, "ability")).value
            *by_category, average = eight.by_category("ability")
            rows.append((run.label, among_four, average, cost, *by_category))
    paper: list[tuple[Cell, ...]] = []
    for row in published_table("vrex_planning_options") if official and rows else ():
        four_of_it, eight_of_it = _values(row, ("average_4", "average_8"))
        change = Value(float(row["average_8"]) - float(row["average_4"]))
        by_category = _values(row, [f"{name}_8" for name in CATEGORIES])
        paper.append((row["model"], four_of_it, eight_of_it, change, *by_category))
    columns = ("model", "4 options", "8 options", "8 - 4", *(f"{name}, 8 options" for name in CATEGORIES))
    table = Table(
        f"{prefix}-options",
        "Planning among eight questions instead of four: ability, %",
        columns,
        (*rows, *paper),
        estimates.last(rows, paper),
    )
    return table, ()


def _blind(prefix: str, runs: Sequence[_Run], official: bool) -> Drawn:
    rows: list[tuple[Cell, ...]] = [
        (run.label, mode, *samples.by_category("score"))
        for run in runs
        for mode in (_DIRECT, *_MODES)
        if (samples := run.tasks.get((_BLIND, mode)))
    ]
    paper: list[tuple[Cell, ...]] = [
        (row["model"], _DIRECT, *_values(row, CATEGORIES), None)
        for row in published_table("vrex_blindfold")
        if official and rows
    ]
    table = Table(
        id=f"{prefix}-blind",
        title="Without the picture: accuracy on the final question, %",
        columns=("model", "mode", *CATEGORIES, AVERAGE),
        rows=(*rows, *paper),
        published=estimates.last(rows, paper),
    )
    return table, ()


# --- readings


_READINGS: Mapping[Key, str] = {
    ("score", AVERAGE): "accuracy",
    ("lenient score", AVERAGE): "lenient accuracy",
    ("score gained", AVERAGE): "accuracy, lenient - strict",
    ("ability", AVERAGE): "ability",
    ("lenient ability", AVERAGE): "lenient ability",
    ("ability gained", AVERAGE): "ability, lenient - strict",
    ("compliant",): "compliance",
    ("failed",): "request failed",
    ("no answer",): "no option named",
}


def _readings(prefix: str, runs: Sequence[_Run]) -> Drawn:
    rows: list[tuple[Cell, ...]] = [
        (run.label, mode, shown, *samples.readings)
        for run in runs
        for variant, shown in _VARIANTS.items()
        for mode in (_DIRECT, *_MODES)
        if (samples := run.tasks.get((variant, mode)))
    ]
    table = Table(
        id=f"{prefix}-readings",
        title="How replies were read, %",
        columns=("model", "mode", "variant", *_READINGS.values()),
        rows=tuple(rows),
        notes=(
            "Accuracy and ability are by the official (strict) rules, as everywhere else; the lenient reading takes a "
            "choice as a person would. It may also find less: the official rules take the article a for option A.",
            "Accuracy is on the final question; with the right history, on each step.",
            "Compliance is the share of a sample's replies whose first line is a letter in parentheses and nothing "
            "else; a step that was not reached has none.",
            "The last two columns are shares of the samples: those with a failed request, and others with a reply in "
            "which the official rules find no option. They and compliance are plain means, whatever the category.",
        ),
    )
    return table, ()


# --- comparisons


def _comparisons(runs: Mapping[str, _Run], pairs: Iterable[tuple[str, str]]) -> list[families.Comparison]:
    found = []
    for a, b in pairs:
        for mode in (*_MODES, _DIRECT):
            one, other = (runs[label].tasks.get((_STANDARD, mode)) for label in (a, b))
            if one is None or other is None:
                continue
            for name, field in (("ability", "ability"), ("accuracy", "score")):
                if (mode, field) != (_DIRECT, "ability"):
                    difference = _difference(*_paired(one, other, field))
                    if difference.value.n:
                        found.append(families.Comparison(a, b, f"{mode} {name}", difference))
    return found


@dataclass(frozen=True)
class _Both:
    """What two tasks have in common, in the same order."""

    id: NDArray[Any]
    category: NDArray[Any]
    flags: tuple[str, ...]


def _paired(a: _Samples, b: _Samples, field: str) -> tuple[NDArray[np.float64], NDArray[np.float64], _Both]:
    in_a, in_b = estimates.in_common(a.id, b.id)
    both = _Both(a.id[in_a], a.category[in_a], estimates.joined((a.flags, b.flags)))
    return getattr(a, field)[in_a], getattr(b, field)[in_b], both


def _difference(a: NDArray[np.float64], b: NDArray[np.float64], both: _Both) -> estimates.Difference:
    if not len(both.id):
        return estimates.Difference(Value(None, n=0), None)
    return estimates.difference(intervals.compare_macro_means(a, b, both.category, both.id), both.flags)


# --- published rows


def _printed_main() -> dict[str, dict[str, Value]]:
    found: dict[str, dict[str, Value]] = {}
    for row in published_table("vrex_ability"):
        found[row["model"]] = {f"{mode} ability": Value(float(row[f"{mode}_avg"])) for mode in _MODES}
    for row in published_table("vrex_final_accuracy"):
        accuracies = {f"{mode} accuracy": Value(float(row[f"overall_{mode}"])) for mode in (_DIRECT, *_MODES)}
        found.setdefault(row["model"], {}).update(accuracies)
    return found


def _values(row: Mapping[str, str], columns: Iterable[str]) -> list[Value]:
    return [Value(float(row[column])) for column in columns]


def _shown(cell: Cell) -> Value | None:
    return cell if isinstance(cell, Value) else None
