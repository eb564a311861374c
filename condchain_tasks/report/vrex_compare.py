"""V-REX across models: abilities and accuracies side by side, and what only several models together can tell."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from condchain_tasks.data.errors import DataError
from condchain_tasks.report import vrex_published as published
from condchain_tasks.report.selection import Chosen, Selection
from condchain_tasks.report.vrex_published import AVERAGE, Figure
from condchain_tasks.scorers import vrex_metrics as metrics
from condchain_tasks.scorers.vrex_metrics import CATEGORIES, DIFFICULTIES, Average, Estimate, Row, Sample

_TASK = re.compile(r"vrex_(?P<mode>planning|following|direct)(?:_(?P<variant>hard|blind|tf))?(?P<mini>_mini)?")
_STANDARD = "standard"
_FORCED = "tf"
_VARIANTS = {
    _STANDARD: "",
    "hard": ", eight options",
    "blind": ", without the picture",
    _FORCED: ", teacher-forced",
}
_DIRECT = "direct"
_MODES = (_DIRECT, "planning", "following")
_NONE = "–"
_OTHER_DATA = (
    "Other runs are on other data. Their samples are others, though the ids may be the same: they stand in tables of "
    "their own."
)


class Setting(NamedTuple):
    """Tasks whose figures may stand side by side.

    Attributes:
        synthetic: Of data that this package drew, not of V-REX itself.
        variant: "standard", "hard" (eight options), "blind" (no picture) or "tf" (teacher-forced).
        data: What identifies the data; see `Chosen.data`. Samples of other data are other samples, whatever their ids.
    """

    synthetic: bool
    variant: str
    data: str


@dataclass(frozen=True)
class ModeResult:
    """One model in one mode; per cent.

    Attributes:
        n: Samples; teacher-forced, steps.
        expected: As many as the task has; None if that is not known.
        failed: Those of which a request failed.
        ability: The ability to plan or to follow; None for "direct", and teacher-forced.
        accuracy: On the final question; teacher-forced, on all steps.
        gain: Of the accuracy over that of "direct", on the samples that both have; not a number without any.
        recovery: Right finals among the samples with a wrong intermediate step.
        compliance: Replies in the form that was asked for.
        by_step: Accuracy at each step, by its number.
    """

    n: int
    expected: int | None
    failed: int
    ability: Average | None
    accuracy: Average
    gain: float
    recovery: Estimate
    compliance: Estimate
    by_step: tuple[Row, ...]

    @property
    def is_partial(self) -> bool:
        """Whether it is known not to cover the task."""
        return self.expected is not None and self.n != self.expected


@dataclass(frozen=True)
class ModelResult:
    """One model with one setting.

    Attributes:
        label: The run's label: the model's name, with what tells it from other runs of the model.
        model: The model's name.
        simulated: What stood in for the model, a sentence each.
        modes: Its results, by "direct", "planning" and "following", as far as there are any.
        following_to_planning: The ratio of the two abilities, on the samples that both have; not a number without any.
    """

    label: str
    model: str
    simulated: tuple[str, ...]
    modes: Mapping[str, ModeResult]
    following_to_planning: float


@dataclass(frozen=True)
class Across:
    """All models together, in one mode: those with as many samples as any has.

    Attributes:
        models: How many there are.
        samples: Samples that all of them have; the next two are over these.
        difficulty: How many are "easy", "moderate" and "hard"; None for a single model.
        shared_failures: By step number, the share of steps that 75 per cent of the models or more fail, per cent; None
            for a single model.
        by_wrong_steps: Accuracy on the final question of all models' samples, by the number of wrong intermediate
            steps, per cent.
        correlated: Models with this mode's ability and the accuracy of "direct".
        correlation: Pearson's, of the two; not a number below three such models.
    """

    models: int
    samples: int
    difficulty: Mapping[str, int] | None
    shared_failures: tuple[Row, ...] | None
    by_wrong_steps: tuple[Row, ...]
    correlated: int
    correlation: float


@dataclass(frozen=True)
class SettingComparison:
    """The models of one setting.

    Attributes:
        setting: Which.
        title: What its tables begin with.
        models: In the order of their labels, partial ones last.
        across: By "planning" and "following", as far as there are any.
        remarks: A sentence each: what could not be compared, and what to beware of.
    """

    setting: Setting
    title: str
    models: tuple[ModelResult, ...]
    across: Mapping[str, Across]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """A comparison of runs.

    Attributes:
        settings: Those that the runs have samples of, V-REX itself before synthetic data.
    """

    settings: tuple[SettingComparison, ...]


def compare(selection: Selection) -> Comparison:
    """Compares models by their runs of vrex tasks.

    Synthetic data and V-REX itself are never mixed, nor are other data of the same kind, nor the variants of the tasks.

    Args:
        selection: Of V-REX; runs of one model with several settings stand side by side.

    Returns:
        The comparison.

    Raises:
        DataError: There are no samples of a vrex task, or they are not what it logs.
    """
    found: defaultdict[Setting, dict[tuple[str, str], Chosen]] = defaultdict(dict)
    for one in selection.chosen:
        if match := _TASK.fullmatch(one.log.file.task):
            setting = Setting(one.log.scope[1], match["variant"] or _STANDARD, one.data)
            found[setting][match["mode"], one.label] = one
    if not found:
        raise selection.nothing_of("V-REX", "vrex")
    order = list(_VARIANTS)
    settings = sorted(found, key=lambda setting: (setting.synthetic, order.index(setting.variant), setting.data))
    data = Counter((setting.synthetic, setting.variant) for setting in found)
    return Comparison(
        tuple(
            _compared(setting, found[setting], has_others=data[setting.synthetic, setting.variant] > 1)
            for setting in settings
        )
    )


def _compared(setting: Setting, logs: Mapping[tuple[str, str], Chosen], *, has_others: bool) -> SettingComparison:
    by_mode: defaultdict[str, dict[str, list[Sample]]] = defaultdict(dict)
    by_label: defaultdict[str, dict[str, list[Sample]]] = defaultdict(dict)
    of_label: defaultdict[str, dict[str, Chosen]] = defaultdict(dict)
    for mode, label in sorted(logs, key=lambda key: (_MODES.index(key[0]), key[1])):
        of_label[label][mode] = logs[mode, label]
        samples = list(_samples(logs[mode, label], mode, forced=setting.variant == _FORCED))
        by_mode[mode][label] = by_label[label][mode] = samples
    models = [_model_result(of_label[label], by_label[label]) for label in by_label]
    models.sort(key=lambda one: (any(mode.is_partial for mode in one.modes.values()), one.label))
    across = {mode: _across(mode, samples_of, models) for mode, samples_of in by_mode.items() if mode != _DIRECT}
    is_known = all(one.log.settings.data for one in logs.values())
    remarks = [_OTHER_DATA] if has_others else []
    remarks += [
        *_remarks_on_models(models),
        *_remarks_on_pairs(models, by_label),
        *_remarks_across(setting, across, by_mode),
    ]
    title = f"V-REX{', synthetic data' * setting.synthetic}{_VARIANTS[setting.variant]}"
    if has_others:
        title += f", data {setting.data if is_known else 'unknown'}"
    return SettingComparison(setting, title, tuple(models), across, tuple(remarks))


def _samples(chosen: Chosen, mode: str, *, forced: bool) -> Iterator[Sample]:
    metric, file = "step_acc" if forced else "final_acc", chosen.log.file
    for number, logged in enumerate(chosen.samples(), start=1):
        place = f"{file.path}, sample {number}"
        record = logged.get(metric)
        if not isinstance(record, dict):
            raise DataError(
                f"{place}: expected under {metric} what the task {file.task} logs, found {type(record).__name__}."
            )
        try:
            sample = Sample.from_record(record)
        except ValueError as error:
            raise DataError(f"{place}: {error}") from error
        if (sample.mode, sample.step > 0) != (mode, forced):
            raise DataError(f"{place}: mode {sample.mode}, step {sample.step}, is not of the task {file.task}.")
        yield sample


def _model_result(logs: Mapping[str, Chosen], samples: Mapping[str, Sequence[Sample]]) -> ModelResult:
    direct = samples.get(_DIRECT, ())
    modes = {
        mode: _mode_result(of_mode, logs[mode].log.expected, math.nan if mode == _DIRECT else _gain(of_mode, direct))
        for mode, of_mode in samples.items()
    }
    followed, planned = _in_both(samples.get("following", ()), samples.get("planning", ()))
    ratio = metrics.following_to_planning(_mean_ability(followed), _mean_ability(planned)) if followed else math.nan
    first = next(iter(logs.values()))
    return ModelResult(first.label, first.model, first.log.simulated, modes, ratio)


def _mode_result(samples: Sequence[Sample], expected: int | None, gain: float) -> ModeResult:
    return ModeResult(
        n=len(samples),
        expected=expected,
        failed=sum(one.failed for one in samples),
        ability=_abilities_of(samples),
        accuracy=_accuracy(samples),
        gain=gain,
        recovery=metrics.recovery(samples),
        compliance=metrics.format_compliance(samples),
        by_step=tuple(metrics.accuracy_by_step(samples)),
    )


def _gain(samples: Sequence[Sample], direct: Sequence[Sample]) -> float:
    after, alone = _in_both(samples, direct)
    relative: float = metrics.gain(_accuracy(after).value, _accuracy(alone).value)
    return relative


def _in_both(a: Sequence[Sample], b: Sequence[Sample]) -> tuple[list[Sample], list[Sample]]:
    """The samples of two tasks with ids that both have."""
    ids = {one.id for one in a} & {one.id for one in b}
    return [one for one in a if one.id in ids], [one for one in b if one.id in ids]


def _abilities_of(samples: Iterable[Sample]) -> Average | None:
    abilities = [(one.ability, one.category) for one in samples if one.ability is not None]
    return metrics.macro_average(*zip(*abilities, strict=True)) if abilities else None


def _mean_ability(samples: Iterable[Sample]) -> float:
    ability = _abilities_of(samples)
    return ability.value if ability else math.nan


def _accuracy(samples: Sequence[Sample]) -> Average:
    values = [one.score for one in samples]
    return metrics.macro_average(values, [one.category for one in samples], [one.id for one in samples])


def _ability(modes: Mapping[str, ModeResult], mode: str) -> float:
    result = modes.get(mode)
    return result.ability.value if result and result.ability else math.nan


def _across(mode: str, samples: Mapping[str, Sequence[Sample]], models: Sequence[ModelResult]) -> Across:
    most = max(map(len, samples.values()))
    samples = {label: of_label for label, of_label in samples.items() if len(of_label) == most}
    difficulties = metrics.difficulties(samples)
    counts = Counter(difficulties.values())
    several = len(samples) > 1
    both = [
        one
        for one in models
        if one.label in samples and _DIRECT in one.modes and not math.isnan(_ability(one.modes, mode))
    ]
    return Across(
        models=len(samples),
        samples=len(difficulties),
        difficulty={name: counts[name] for name in DIFFICULTIES} if several else None,
        shared_failures=tuple(metrics.shared_failures(samples)) if several else None,
        by_wrong_steps=tuple(metrics.accuracy_by_wrong_steps(one for listed in samples.values() for one in listed)),
        correlated=len(both),
        correlation=metrics.correlation(
            [_ability(one.modes, mode) for one in both], [one.modes[_DIRECT].accuracy.value for one in both]
        ),
    )


def _remarks_on_models(models: Iterable[ModelResult]) -> Iterator[str]:
    for one in models:
        yield from (f"{one.label}: {sentence}" for sentence in one.simulated)
        for mode, result in one.modes.items():
            if result.accuracy.missing:
                missing = ", ".join(result.accuracy.missing)
                yield f"{one.label}, {mode}: no samples of {missing}; the averages lack them and are not official."
            if result.failed:
                yield f"{one.label}, {mode}: {result.failed} of {result.n} have a failed request, which is wrong."
            if result.is_partial:
                yield f"{one.label}, {mode}: partial, {result.n} of {result.expected} samples."


def _remarks_on_pairs(
    models: Iterable[ModelResult], samples: Mapping[str, Mapping[str, Sequence[Sample]]]
) -> Iterator[str]:
    for one in models:
        ids = {mode: {sample.id for sample in of_mode} for mode, of_mode in samples[one.label].items()}
        if len({frozenset(of_mode) for of_mode in ids.values()}) > 1:
            counted = ", ".join(f"{mode} {len(of_mode)}" for mode, of_mode in ids.items())
            common = len(set.intersection(*ids.values()))
            yield (
                f"{one.label}: the modes have different samples ({counted}; {common} in all); gain and ratio are on "
                "those that both modes have."
            )


def _remarks_across(
    setting: Setting, across: Mapping[str, Across], samples: Mapping[str, Mapping[str, Sequence[Sample]]]
) -> Iterator[str]:
    for mode, one in across.items():
        sizes = {label: len(of_label) for label, of_label in samples[mode].items()}
        if fewer := [f"{label} ({n})" for label, n in sizes.items() if n < max(sizes.values())]:
            yield (
                f"Difficulty, shared failures, wrong steps and correlation of {mode} are without {', '.join(fewer)}, "
                f"which lack some of the {max(sizes.values())} samples."
            )
        if one.models < 2:
            yield f"Difficulty and shared failures of {mode} need at least two models; there is one."
        elif not one.samples:
            yield f"Difficulty and shared failures of {mode}: the {one.models} models have no samples in common."
        if setting.variant in (_STANDARD, "blind") and one.correlated < 3:
            yield (
                f"The correlation of {mode} with direct accuracy needs at least three models that have both; "
                f"there {'is' if one.correlated == 1 else 'are'} {one.correlated}."
            )


# --- what a person sees


def render(comparison: Comparison) -> list[Table]:
    """A comparison's tables, for the command line.

    In parentheses stands the published figure, where there is one for a model of that name. Beside synthetic data there
    is none, since its figures are not comparable with V-REX's.

    Args:
        comparison: What `compare` returned.

    Returns:
        For each setting, as far as there is anything to show: ability; accuracy; gain, recovery and form; accuracy by
        step; difficulty of the samples; shared failures; accuracy by wrong steps; correlations; remarks.
    """
    each = (_abilities, _accuracies, _outcomes, _by_step)
    together = (_difficulty, _shared_failures, _by_wrong_steps, _correlations)
    tables = [part(one) for one in comparison.settings for part in (*each, *together, _remarks)]
    return [table for table in tables if table.row_count]


def _abilities(one: SettingComparison) -> Table:
    table = _table(one, "ability, %", "model", "mode", "n", *CATEGORIES, AVERAGE, "± s.e.")
    for model, mode, result in _results(one):
        if result.ability:
            figure = Figure(one.setting.variant, "ability", mode, AVERAGE)
            cells = _averages(result.ability, figure, _published(one, model))
            table.add_row(_name(model), mode, _n(result), *cells)
    return table


def _accuracies(one: SettingComparison) -> Table:
    asked = "all steps" if one.setting.variant == _FORCED else "the final question"
    table = _table(one, f"accuracy on {asked}, %", "model", "mode", "n", *CATEGORIES, AVERAGE, "± s.e.")
    for model, mode, result in _results(one):
        figure = Figure(one.setting.variant, "accuracy", mode, AVERAGE)
        cells = _averages(result.accuracy, figure, _published(one, model))
        table.add_row(_name(model), mode, _n(result), *cells)
    return table


def _outcomes(one: SettingComparison) -> Table:
    columns = ("gain, %", "recovery, %", "following / planning", "form kept, %", "failed")
    table = _table(one, "gain over direct, recovery, ratio of the abilities, form", "model", "mode", *columns)
    for model, mode, result in _results(one):
        abilities = (_known(one, model, "ability", of) for of in ("following", "planning"))
        gain = metrics.gain(_known(one, model, "accuracy", mode), _known(one, model, "accuracy", _DIRECT))
        ratio = _beside(model.following_to_planning, metrics.following_to_planning(*abilities), 2)
        table.add_row(
            _name(model),
            mode,
            _NONE if mode == _DIRECT else _beside(result.gain, gain),
            _beside(result.recovery.value, _known(one, model, "recovery", mode)),
            ratio if mode == "following" else _NONE,
            _number(result.compliance.value),
            str(result.failed),
        )
    return table


def _by_step(one: SettingComparison) -> Table:
    rows = [(model, mode, result.by_step) for model, mode, result in _results(one) if mode != _DIRECT]
    numbers = _numbers(by_step for _, _, by_step in rows)
    history = "the right history" if one.setting.variant == _FORCED else "the model's own history"
    table = _table(one, f"accuracy by step, with {history}, %", "model", "mode", *map(str, numbers))
    for model, mode, by_step in rows:
        table.add_row(_name(model), mode, *_cells(by_step, numbers))
    return table


def _difficulty(one: SettingComparison) -> Table:
    table = _table(one, "difficulty of the samples", "mode", "models", "samples", *DIFFICULTIES)
    for mode, across in one.across.items():
        if across.difficulty and across.samples:
            shares = (f"{n} ({n / across.samples:.0%})" for n in across.difficulty.values())
            table.add_row(mode, str(across.models), str(across.samples), *shares)
    return table


def _shared_failures(one: SettingComparison) -> Table:
    rows = {mode: across.shared_failures for mode, across in one.across.items() if across.shared_failures}
    numbers = _numbers(rows.values())
    table = _table(one, "steps that at least 75 % of the models fail, by step, %", "mode", *map(str, numbers))
    for mode, shared in rows.items():
        table.add_row(mode, *_cells(shared, numbers))
    return table


def _by_wrong_steps(one: SettingComparison) -> Table:
    rows = {mode: across.by_wrong_steps for mode, across in one.across.items() if across.by_wrong_steps}
    numbers = _numbers(rows.values())
    table = _table(one, "accuracy on the final question by wrong steps, all models, %", "mode", *map(str, numbers))
    for mode, by_wrong_steps in rows.items():
        official = mode == "following" and one.setting == Setting(False, _STANDARD, one.setting.data)
        table.add_row(mode, *_cells(by_wrong_steps, numbers, published.accuracy_by_wrong_steps() if official else {}))
    return table


def _correlations(one: SettingComparison) -> Table:
    table = _table(one, "correlation of ability with direct accuracy", "mode", "models", "Pearson's r")
    official = one.setting == Setting(False, _STANDARD, one.setting.data)
    for mode, across in one.across.items():
        if not math.isnan(across.correlation):
            r = _beside(across.correlation, published.CORRELATIONS[mode] if official else math.nan, 3)
            table.add_row(mode, str(across.correlated), r)
    return table


def _remarks(one: SettingComparison) -> Table:
    table = _table(one, "remarks", "", show_header=False)
    for remark in one.remarks:
        table.add_row(_plain(remark))
    return table


def _table(one: SettingComparison, title: str, *columns: str, show_header: bool = True) -> Table:
    table = Table(title=f"{one.title}: {title}", title_justify="left", show_header=show_header)
    for column in columns:
        table.add_column(column, justify="left" if column in ("", "model", "mode") else "right", overflow="fold")
    return table


def _results(one: SettingComparison) -> Iterator[tuple[ModelResult, str, ModeResult]]:
    return ((model, mode, result) for model in one.models for mode, result in model.modes.items())


def _published(one: SettingComparison, model: ModelResult) -> Mapping[Figure, float]:
    return {} if one.setting.synthetic else published.published_figures(model.model)


def _known(one: SettingComparison, model: ModelResult, measure: str, mode: str) -> float:
    return _published(one, model).get(Figure(one.setting.variant, measure, mode, AVERAGE), math.nan)


def _averages(average: Average, figure: Figure, known: Mapping[Figure, float]) -> list[str]:
    means = [(name, average.categories[name].value if name in average.categories else math.nan) for name in CATEGORIES]
    cells = [
        _beside(value, known.get(figure._replace(part=name), math.nan))
        for name, value in [*means, (AVERAGE, average.value)]
    ]
    return [*cells, _number(average.error)]


def _name(model: ModelResult) -> Text:
    return _plain(f"{model.label} (simulated)" if model.simulated else model.label)


def _n(result: ModeResult) -> str:
    return f"{result.n} of {result.expected}" if result.is_partial else str(result.n)


def _numbers(tables: Iterable[Iterable[Row]]) -> list[int]:
    return sorted({row.number for rows in tables for row in rows})


def _cells(rows: Iterable[Row], numbers: Iterable[int], known: Mapping[int, float] | None = None) -> list[str]:
    values = {row.number: row.estimate.value for row in rows}
    return [_beside(values.get(number, math.nan), (known or {}).get(number, math.nan)) for number in numbers]


def _beside(value: float, known: float, digits: int = 1) -> str:
    return _number(value, digits) if math.isnan(known) else f"{_number(value, digits)} ({known:.{digits}f})"


def _number(value: float, digits: int = 1) -> str:
    return _NONE if math.isnan(value) else f"{value:.{digits}f}"


def _plain(text: str) -> Text:
    """A text that can hold no markup and no control characters: names of folders are anybody's."""
    return Text("".join(character if character.isprintable() else "�" for character in text))
