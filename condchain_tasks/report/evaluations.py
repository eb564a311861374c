"""One model on one task: what its run says of itself, and its samples as columns."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condchain_tasks.report.health import Bound, Health, examine
from condchain_tasks.report.labels import plain
from condchain_tasks.report.model import Problem
from condchain_tasks.report.selection import SEVERITIES, Chosen, PassedOver, select
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
        synthetic: Whether its data was drawn by this package: the embedded twin's, and any other, wherever it lies.
        date: Of the run, as in its files' names.
        path: Of its samples.
        settings: See `Settings`.
        data: What identifies its data; see `Chosen.data`.
        n: Samples in the log.
        expected: Samples that the task has; None if unknown.
        limited: Whether `--limit` or `--offset` was given.
        official: Whether its data is known to be the released one; None if the results do not say.
        simulated: What stood in for the model or its judge, a sentence each; none if both were real.
        health: What went wrong with its samples.
        columns: By name, one entry a sample; see `columns.COLUMNS`. Strings are categorical: codes.
        names: By name of a string column: what its codes mean.
    """

    model: str
    label: str
    family: str
    task: str
    benchmark: str
    synthetic: bool
    date: str
    path: str
    settings: Settings
    data: str
    n: int
    expected: int | None
    limited: bool
    official: bool | None
    simulated: tuple[str, ...]
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
        evaluations: By benchmark, the benchmark itself before synthetic data, then by task and label.
        problems: What a reader must know first; the worst first.
        passed_over: Runs that do not count.
    """

    evaluations: tuple[Evaluation, ...]
    problems: tuple[Problem, ...]
    passed_over: tuple[PassedOver, ...]


def read_runs(paths: Sequence[Path], run: str | None = None) -> Runs:
    """Reads runs for a report; see `selection.select`.

    Args:
        paths: Folders at any depth, files of samples, or files of results, whose samples are meant.
        run: The date or the label of the run that is wanted; None for all.

    Returns:
        All that is sound. What is not is among the problems, and never an exception; there may be no evaluation.

    Raises:
        DataError: There is no such run.
    """
    selection = select(paths, run=run)
    evaluations = sorted(map(_evaluation, selection.chosen), key=lambda o: (o.benchmark, o.synthetic, o.task, o.label))
    problems = [*selection.problems, *(problem for one in evaluations for problem in _health(one))]
    problems += [*_said_of_tasks(evaluations), *_unverified(evaluations)]
    return Runs(
        evaluations=tuple(evaluations),
        problems=tuple(sorted(problems, key=lambda problem: SEVERITIES.index(problem.severity))),
        passed_over=selection.passed_over,
    )


def _evaluation(chosen: Chosen) -> Evaluation:
    log, columns = chosen.log, chosen.columns
    expected = log.expected
    if expected is None and columns.unsound:
        expected = columns.n + columns.unsound  # at least; so that it is known to be partial
    return Evaluation(
        model=chosen.model,
        label=chosen.label,
        family=chosen.family,
        task=log.file.task,
        benchmark=log.benchmark,
        synthetic=log.scope[1],
        date=log.file.date,
        path=str(log.file.path),
        settings=log.settings,
        data=chosen.data,
        n=columns.n,
        expected=expected,
        limited=log.is_limited,
        official=log.is_official,
        simulated=log.simulated,
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


def _said_of_tasks(evaluations: Sequence[Evaluation]) -> Iterator[Problem]:
    """What flags say besides `_health`: each sentence once for all tasks of a run that it is true of."""
    tasks: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for listed in _comparable(evaluations):
        differing = _differences(listed)
        for one in listed:
            for sentence in (*one.simulated, *_readings_apart(one), *differing[one.label]):
                tasks[one.label, sentence].append(one.task)
    for (label, sentence), of in tasks.items():
        more = f" and {len(of) - _MAX_TASKS} more tasks" if len(of) > _MAX_TASKS else ""
        yield Problem("warning", f"{label}, {', '.join(of[:_MAX_TASKS])}{more}", sentence)


def _unverified(evaluations: Iterable[Evaluation]) -> Iterator[Problem]:
    tasks = sorted({one.task for one in evaluations if one.official is False and not one.synthetic})
    if tasks:
        where = ", ".join(tasks[:_MAX_TASKS]) + (
            f" and {len(tasks) - _MAX_TASKS} more" if len(tasks) > _MAX_TASKS else ""
        )
        yield Problem("note", where, "Data not verified: its hash is not known to be that of the released files.")


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


APART = 10.0
"""Points between two readings of the same replies from which on the replies must be looked at."""

_MAX_TASKS = 4
_MAX_SHOWN = 300
_COMPARED = {
    "prompts": "prompts",
    "requests": "requests as they are sent",
    "server": "server",
    "data": "data",
    "judge": "judge",
    "judge_prompts": "judge's prompts",
    "version": "version of this package",
    "harness": "version of lmms-eval",
}


def apart(benchmark: str, evaluations: Iterable[Evaluation]) -> Iterator[tuple[bool, list[Evaluation]]]:
    """A benchmark's evaluations, those on its own data apart from those on synthetic data.

    Yields:
        Whether the data is synthetic, and the evaluations; neither without any.
    """
    listed = [one for one in evaluations if one.benchmark == benchmark]
    for synthetic in (False, True):
        if chosen := [one for one in listed if one.synthetic == synthetic]:
            yield synthetic, chosen


def flags(evaluations: Iterable[Evaluation]) -> dict[str, tuple[str, ...]]:
    """What makes figures of one table incomparable.

    Args:
        evaluations: Those that have figures in it. Settings are compared within each task.

    Returns:
        By label, one sentence for each way in which an evaluation differs from most others, or from all others where
        there is no majority, and one if it is partial. Every label is there.
    """
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)  # a set that keeps its order
    for listed in _comparable(evaluations):
        differing = _differences(listed)
        for one in listed:
            found[one.label].update(dict.fromkeys((*_own_flags(one), *differing[one.label])))
    return {label: tuple(sentences) for label, sentences in found.items()}


def _comparable(evaluations: Iterable[Evaluation]) -> Iterable[list[Evaluation]]:
    """Evaluations whose settings should be the same: of one task, on data of one kind."""
    found: defaultdict[tuple[str, bool], list[Evaluation]] = defaultdict(list)
    for one in evaluations:
        found[one.task, one.synthetic].append(one)
    return found.values()


def _own_flags(one: Evaluation) -> Iterator[str]:
    yield from one.simulated
    if one.is_partial:
        yield f"{one.task} is partial: {_of(one)} samples."
    if one.health.grave:
        yield f"{one.task} has {', '.join(one.health.grave)} among {one.n:,} samples."
    yield from _readings_apart(one)
    if not one.settings.is_known:
        yield f"The settings of {one.task} are unknown: the run's results are missing."


def _readings_apart(one: Evaluation) -> Iterator[str]:
    for reading in one.health.readings:
        if abs(apart := reading.other_value - reading.value) >= APART:
            yield (
                f"{one.task}: {reading.figure} is {reading.value:.1f} by the official reading and "
                f"{reading.other_value:.1f} by the {reading.other} one, {abs(apart):.1f} points apart: look at replies."
            )


def _differences(listed: Sequence[Evaluation]) -> dict[str, list[str]]:
    """By label, how the settings of one differ from those of most others, or of all where there is no majority."""
    told = {one.label: _described(one.settings) for one in listed if one.settings.is_known}
    names = sorted({name for one in told.values() for name in one})
    usual = {name: _majority(one.get(name, "") for one in told.values()) for name in names}
    found: dict[str, list[str]] = {one.label: [] for one in listed}
    for label, own in told.items():
        for name, most in usual.items():
            if (value := own.get(name, "")) != most:
                others = "others differ" if most is None else f"most have {most[:_MAX_SHOWN] or 'none'}"
                found[label].append(f"Its {name[:_MAX_SHOWN]}: {value[:_MAX_SHOWN] or 'none'}; {others}.")
    return found


def _described(settings: Settings) -> dict[str, str]:
    compared = {text: getattr(settings, name) for name, text in _COMPARED.items()}
    compared |= {f"judge's {name}": value for name, value in plain(settings.judge_settings).items()}
    generation = {f"generation setting {name}": value for name, value in plain(settings.generation).items()}
    return {name: value for name, value in (compared | generation).items() if value}


def _majority(values: Iterable[str]) -> str | None:
    """The most frequent value; None if two are as frequent."""
    (value, count), *others = Counter(values).most_common(2)
    return None if others and others[0][1] == count else value
