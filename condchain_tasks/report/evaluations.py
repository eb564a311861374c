"""One model on one task: what its run says of itself, and its samples as columns."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.report import logs
from condchain_tasks.report.health import Bound, Health, examine
from condchain_tasks.report.labels import Label, Named, make_labels, plain, short_names
from condchain_tasks.report.logs import Chosen, Log, Older
from condchain_tasks.report.model import Problem
from condchain_tasks.report.processes import in_processes
from condchain_tasks.report.settings import Settings


@dataclass(frozen=True)
class Evaluation:
    """One model on one task, in one run.

    Attributes:
        model: Its name: of the checkpoint or API, without settings.
        label: Its name in this report; with what tells it from other runs of the same model, if there are several.
        family: The label without seeds: runs that share it differ by their seeds alone.
        task: Such as "ccrv_x1_y2_mini".
        benchmark: "condchain", "ccrv" or "vrex".
        mini: Of the embedded twin.
        date: Of the run, as in its files' names.
        path: Of its samples.
        settings: See `Settings`.
        n: Samples in the log.
        expected: Samples that the task has; None if unknown.
        limited: Whether `--limit` or `--offset` was given.
        health: What went wrong with its samples.
        columns: By name, one entry a sample; see `columns.COLUMNS`. Strings are categorical: codes.
        names: By name of a string column: what its codes mean.
    """

    model: str
    label: str
    family: str
    task: str
    benchmark: str
    mini: bool
    date: str
    path: str
    settings: Settings
    n: int
    expected: int | None
    limited: bool
    health: Health
    columns: dict[str, NDArray[Any]]
    names: dict[str, tuple[str, ...]]

    @property
    def is_partial(self) -> bool:
        """Whether it does not cover the whole task."""
        return self.limited or (self.expected is not None and self.n != self.expected)

    def strings(self, column: str) -> NDArray[np.object_]:
        """A categorical column's strings, one a sample."""
        found: NDArray[np.object_] = np.array(self.names[column], dtype=object)[self.columns[column]]
        return found


@dataclass(frozen=True)
class Runs:
    """What the report is made of.

    Attributes:
        evaluations: By benchmark, the benchmark itself before its embedded twin, then by task and label.
        problems: What a reader must know first; the worst first.
        older: Runs that another one stands for.
    """

    evaluations: tuple[Evaluation, ...]
    problems: tuple[Problem, ...]
    older: tuple[Older, ...]


def read_runs(paths: Sequence[Path]) -> Runs:
    """Reads runs of any number of models, as lmms-eval 0.7.1 to 0.7.3 wrote them.

    Of several runs of a model on a task with the same settings, the newest that is whole counts, or that with the most
    samples if none is; runs with other settings stand beside it, and their labels tell them apart.

    Args:
        paths: Folders at any depth, files of samples, or files of results, whose samples are meant.

    Returns:
        All that is sound. What is not is among the problems, and never an exception; there may be no evaluation.
    """
    found = logs.find(paths)
    spread = in_processes if sum(log.size for log in found.logs) > _MUCH_BYTES else map
    choices = list(spread(logs.choose, logs.groups(found.logs)))
    chosen = [choice.chosen for choice in choices if choice.chosen]
    short = short_names(log.model for log in found.logs)
    labels = make_labels([_named(one.log) for one in chosen])
    evaluations = [_evaluation(one, short[one.log.model], label) for one, label in zip(chosen, labels, strict=True)]
    problems = [*found.problems, *(problem for choice in choices for problem in choice.problems)]
    problems += [problem for one in evaluations for problem in _health(one)]
    return Runs(
        evaluations=tuple(sorted(evaluations, key=lambda one: (one.benchmark, one.mini, one.task, one.label))),
        problems=tuple(sorted(problems, key=lambda problem: _SEVERITIES.index(problem.severity))),
        older=tuple(replace(one, model=short[one.model]) for choice in choices for one in choice.older),
    )


_SEVERITIES = ("error", "warning", "note")
_MUCH_BYTES = 200_000_000  # takes longer to read than processes to start


def _named(log: Log) -> Named:
    return Named(log.model, log.scope, log.file.task, log.file.date, log.settings, log.prompts, log.data)


def _evaluation(chosen: Chosen, model: str, label: Label) -> Evaluation:
    log, columns = chosen.log, chosen.columns
    expected = log.expected
    if expected is None and columns.unsound:
        expected = columns.n + columns.unsound  # at least; so that it is known to be partial
    return Evaluation(
        model=model,
        label=label.name,
        family=label.family,
        task=log.file.task,
        benchmark=log.benchmark,
        mini=log.scope[1],
        date=log.file.date,
        path=str(log.file.path),
        settings=log.settings,
        n=columns.n,
        expected=expected,
        limited=log.is_limited,
        health=examine(log.benchmark, columns),
        columns=columns.arrays,
        names=columns.names,
    )


def _health(one: Evaluation) -> Iterator[Problem]:
    where = f"{one.label}, {one.task}"
    if one.is_partial:
        why = "--limit or --offset was given" if one.limited else "the run is not whole"
        yield Problem("warning", where, f"Partial: {_of(one)} samples; {why}.")
    elif one.expected is None and one.settings.is_known:
        yield Problem("warning", where, f"Whether {one.n:,} samples are all is not known: the results do not say.")
    if one.health.told:
        text = f"{', '.join(one.health.told)} among {one.health.n:,} samples. "
        text += " ".join(map(_bounded, one.health.bounds))
        if one.health.missing:
            text += " `condchain judge` adds verdicts without inference."
        yield Problem("warning" if one.health.grave else "note", where, text)


def _bounded(one: Bound) -> str:
    figure = f"{one.figure[0].upper()}{one.figure[1:]}" if one.figure.islower() or " " in one.figure else one.figure
    if math.isnan(one.worst):
        return f"There is no {one.figure} yet."
    if one.worst == one.best:
        return f"{figure} does not depend on them."
    value = "cannot be said" if math.isnan(one.value) else f"is {one.value:.1f}"
    return f"{figure} {value}: {one.worst:.1f} if all of them were wrong, {one.best:.1f} if all were right."


def _of(one: Evaluation) -> str:
    return f"{one.n:,} of {'?' if one.expected is None else f'{one.expected:,}'}"


SIZES = {
    "condchain_natural": 796,
    "condchain_chart": 400,
    "condchain_gui": 754,
    "condchain_gui_chrono": 754,
    "ccrv": 4_000,
    "vrex_planning": 702,
    "vrex_following": 702,
    "vrex_direct": 702,
}
"""Samples of the benchmarks that the published figures are of (their papers' sections on statistics)."""

_MAX_SHOWN = 300
_COMPARED = {
    "prompts": "prompts",
    "data": "data",
    "judge": "judge",
    "judge_prompts": "judge's prompts",
    "version": "version of this package",
    "harness": "version of lmms-eval",
}


def apart(benchmark: str, evaluations: Iterable[Evaluation]) -> Iterator[tuple[bool, list[Evaluation]]]:
    """A benchmark's evaluations, those of itself apart from those of its embedded twin.

    Yields:
        Whether they are of the twin, and the evaluations; neither without any.
    """
    listed = [one for one in evaluations if one.benchmark == benchmark]
    for mini in (False, True):
        if chosen := [one for one in listed if one.mini == mini]:
            yield mini, chosen


def flags(evaluations: Iterable[Evaluation]) -> dict[str, tuple[str, ...]]:
    """What makes figures of one table incomparable.

    Args:
        evaluations: Those that have figures in it. Settings are compared within each task.

    Returns:
        By label, one sentence for each way in which an evaluation differs from most others, or from all others where
        there is no majority, and one if it is partial. Every label is there.
    """
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)  # a set that keeps its order
    by_task: defaultdict[str, list[Evaluation]] = defaultdict(list)
    for one in evaluations:
        by_task[one.task].append(one)
    for listed in by_task.values():
        told = [_described(one.settings) for one in listed if one.settings.is_known]
        usual = {name: _majority(one.get(name, "") for one in told) for name in {name for one in told for name in one}}
        for one in listed:
            found[one.label].update(dict.fromkeys(_flags(one, usual)))
    return {label: tuple(sentences) for label, sentences in found.items()}


def _flags(one: Evaluation, usual: dict[str, str | None]) -> Iterator[str]:
    if one.is_partial:
        yield f"{one.task} is partial: {_of(one)} samples."
    if one.health.grave:
        yield f"{one.task} has {', '.join(one.health.grave)} among {one.n:,} samples."
    if not one.settings.is_known:
        yield f"The settings of {one.task} are unknown: the run's results are missing."
        return
    if one.task in SIZES and one.expected not in (None, SIZES[one.task]):
        yield f"{one.task} is on other data: {one.expected:,} samples, where the benchmark has {SIZES[one.task]:,}."
    own = _described(one.settings)
    for name in sorted(usual):
        if (value := own.get(name, "")) != usual[name]:
            most = usual[name]
            others = "others differ" if most is None else f"most have {most[:_MAX_SHOWN] or 'none'}"
            yield f"Its {name[:_MAX_SHOWN]}: {value[:_MAX_SHOWN] or 'none'}; {others}."


def _described(settings: Settings) -> dict[str, str]:
    compared = {text: getattr(settings, name) for name, text in _COMPARED.items()}
    generation = {f"generation setting {name}": value for name, value in plain(settings.generation).items()}
    return {name: value for name, value in (compared | generation).items() if value}


def _majority(values: Iterable[str]) -> str | None:
    """The most frequent value; None if two are as frequent."""
    (value, count), *others = Counter(values).most_common(2)
    return None if others and others[0][1] == count else value
