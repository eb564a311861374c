"""Which run counts: one rule for every command that reads runs."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from condchain_tasks.data.errors import DataError
from condchain_tasks.progress import track
from condchain_tasks.report import runs
from condchain_tasks.report.columns import Columns
from condchain_tasks.report.labels import Label, Named, make_labels, short_names
from condchain_tasks.report.logs import Log, find, read
from condchain_tasks.report.model import Problem
from condchain_tasks.report.processes import in_processes
from condchain_tasks.report.settings import UNKNOWN, Scope, Settings

_MUCH_BYTES = 200_000_000  # takes longer to read than processes to start
_SAME = 1e-6
_MAX_LISTED = 20
_MAX_REASONS = 1_000


@dataclass(frozen=True)
class Chosen:
    """The log that counts for a model, a task and settings.

    Attributes:
        log: Which.
        columns: Its sound samples, at least one.
        label: The run's name in this selection: the model's short name, with what tells it from others of the model.
        family: The label without seeds: runs that share it differ by their seeds alone.
        model: The model's short name.
    """

    log: Log
    columns: Columns
    label: str = ""
    family: str = ""
    model: str = ""

    @property
    def names(self) -> frozenset[str]:
        """What `--run` and `--compare` may call it, besides its date."""
        return frozenset({self.label, self.family, self.model, self.log.model})

    @property
    def data(self) -> str:
        """What identifies its data: its hash, or the run itself where the results do not say.

        Samples of two logs are of the same item only if this is the same, too: an id alone is any data's.
        """
        return self.log.settings.data or str(self.log.file.run)

    @property
    def is_whole(self) -> bool:
        """Whether its samples are known to be all that the task has."""
        return self.log.is_whole(self.columns)

    def samples(self) -> Iterator[dict[str, Any]]:
        """The lines of its sound samples, in order, as they were logged.

        Raises:
            DataError: The log was changed since it was chosen.
            OSError: It cannot be read.
        """
        path = self.log.file.path
        with path.open("rb") as file:
            for offset in self.columns.arrays["offset"]:
                file.seek(offset)
                line = file.readline(runs.MAX_LINE_BYTES + 1).removeprefix(runs.BYTE_ORDER_MARK)
                yield runs.parse_sample(line, f"{path}, byte {offset}")


@dataclass(frozen=True)
class PassedOver:
    """A log that does not count.

    Attributes:
        model: The model's short name.
        task: The task.
        date: Of the run.
        path: Of its samples.
        reason: Why another counts instead, such as "a newer run has the same settings".
    """

    model: str
    task: str
    date: str
    path: str
    reason: str


@dataclass(frozen=True)
class Selection:
    """What counts among runs.

    Attributes:
        chosen: One for each model, task and settings, in the order of benchmark, task and model.
        passed_over: The other logs.
        problems: Of what is no run, and of what is wrong with the logs that were read; the worst first.
        paths: Where runs were looked for.
    """

    chosen: tuple[Chosen, ...]
    passed_over: tuple[PassedOver, ...]
    problems: tuple[Problem, ...]
    paths: tuple[Path, ...]

    def of(self, tasks: re.Pattern[str]) -> Selection:
        """What there is of some tasks, whose whole names match; the problems stay."""
        return replace(
            self,
            chosen=tuple(one for one in self.chosen if tasks.fullmatch(one.log.file.task)),
            passed_over=tuple(one for one in self.passed_over if tasks.fullmatch(one.task)),
        )

    def nothing_of(self, what: str, tasks: str) -> DataError:
        """What to say where something must be chosen and nothing is.

        Args:
            what: The samples that are wanted, such as "CCRV-Bench".
            tasks: What to run, such as "ccrv".
        """
        why = " ".join(f"{one.where}: {one.text}" for one in self.problems if one.severity == "error")[:_MAX_REASONS]
        where = ", ".join(map(str, self.paths)) or "no folder"
        return DataError(
            f"Found no samples of {what} that can be read in {where}. {f'{why} ' if why else ''}Run lmms-eval with "
            f"--tasks {tasks} --log_samples --output_path DIR, and name DIR."
        )


def select(paths: Sequence[Path], *, benchmark: str | None = None, run: str | None = None) -> Selection:
    """Chooses what counts among runs of any number of models, as lmms-eval 0.7.1 to 0.7.3 wrote them.

    Of several runs of a model on a task with the same settings, the newest that is whole counts, or that with the most
    samples if none is. Runs with other settings, which another server and other data are too, stand beside it, and
    their labels tell them apart. Verdicts that were added later belong to the run that they were added to.

    Args:
        paths: Folders, at any depth; files of samples; files of results, whose samples are meant.
        benchmark: "condchain", "ccrv" or "vrex": only its logs are read. Labels are the same as without it.
        run: What is wanted of them: the date of a run, as in its files' names, or a label as reports print it, which
            may be the model's name alone; None for all.

    Returns:
        What counts. What is wrong with single files is among the problems, and never an exception.

    Raises:
        DataError: There is no such run, or a process was killed.
    """
    found = find(paths)
    every = groups(found.logs)
    known = [log for log in found.logs if benchmark in (None, log.benchmark)]
    of_date = [log for log in known if run in (log.file.date, log.file.run[1])]
    wanted = [[log for log in group if log in of_date] if of_date else group for group in every]
    wanted = [group if group and benchmark in (None, group[0].benchmark) else [] for group in wanted]
    read = [group for group in wanted if group]
    spread = in_processes if sum(log.size for group in read for log in group) > _MUCH_BYTES else map
    choices = list(track(spread(choose, read), "Reading runs", len(read)))
    unread = [group[0] for group, meant in zip(every, wanted, strict=True) if not meant]
    short = short_names(log.model for log in found.logs)
    chosen = _named([choice.chosen for choice in choices if choice.chosen], unread, short)
    passed_over = [one for choice in choices for one in choice.passed_over]
    passed_over += [_passed_over(log, _NOT_MEANT) for log in known if of_date and log not in of_date]
    if run is not None and not of_date:
        not_meant = [one for one in chosen if run not in one.names]
        if len(not_meant) == len(chosen):
            raise DataError(_no_run(run, chosen, known))
        chosen = [one for one in chosen if run in one.names]
        passed_over += [_passed_over(one.log, _NOT_MEANT) for one in not_meant]
    problems = [*found.problems, *(problem for choice in choices for problem in choice.problems)]
    return Selection(
        chosen=tuple(chosen),
        passed_over=tuple(replace(one, model=short[one.model]) for one in passed_over),
        problems=tuple(sorted(problems, key=lambda problem: SEVERITIES.index(problem.severity))),
        paths=tuple(paths),
    )


_NOT_MEANT = "--run asks for another"

SEVERITIES = ("error", "warning", "note")
"""Of problems, the worst first."""


def one_run(selection: Selection) -> Selection:
    """Leaves the runs of one model with one setting: what a leaderboard takes.

    Real data goes before synthetic data. Of several settings of the model, that of the newest run counts whose tasks
    are whole, or the newest if none is.

    Args:
        selection: Of the tasks that are wanted, such as `select(...).of(pattern)`.

    Returns:
        The same without the others, which are among what was passed over. Nothing is chosen if nothing was.

    Raises:
        DataError: There are runs of several models.
    """
    labels: defaultdict[tuple[bool, str], list[Chosen]] = defaultdict(list)
    for one in selection.chosen:
        labels[one.log.scope[1], one.label].append(one)
    if not labels:
        return selection
    if len(models := {one.log.model for one in selection.chosen}) > 1:
        named = "; ".join(sorted({one.label for one in selection.chosen})[:_MAX_LISTED])
        raise DataError(
            f"There are runs of {len(models)} models: name the folder of one, or choose with --run: {named}."
        )

    def worth(name: tuple[bool, str]) -> tuple[bool, bool, tuple[str, str], str]:
        of_label = labels[name]
        dates = (one.log.file.order for one in of_label)
        return not name[0], all(one.is_whole for one in of_label), max(dates), name[1]

    best = max(labels, key=worth)
    passed_over = [
        replace(_passed_over(one.log, f"{best[1]} counts; --run chooses another"), model=one.model)
        for name, of_label in labels.items()
        if name != best
        for one in of_label
    ]
    return replace(selection, chosen=tuple(labels[best]), passed_over=(*selection.passed_over, *passed_over))


def _no_run(run: str, chosen: Iterable[Chosen], logs: Iterable[Log]) -> str:
    labels = sorted({one.label for one in chosen})[:_MAX_LISTED]
    dates = sorted({log.file.run[1] for log in logs})[-_MAX_LISTED:]
    return f"No run is called {run!r}. There are: {'; '.join(labels + dates) or 'none'}."


def _named(chosen: Sequence[Chosen], unread: Sequence[Log], short: dict[str, str]) -> list[Chosen]:
    """Gives names; what was not read has a say in them, since it does where it is read."""
    every = [*(one.log for one in chosen), *unread]
    labels: list[Label] = make_labels(
        [
            Named(log.model, log.scope, log.file.task, log.file.date, log.settings, log.prompts, log.data, log.requests)
            for log in every
        ]
    )
    return [
        replace(one, label=label.name, family=label.family, model=short[one.log.model])
        for one, label in zip(chosen, labels, strict=False)
    ]


# --- which of several


@dataclass(frozen=True)
class Choice:
    """What was chosen among logs of one model, task and settings.

    Attributes:
        chosen: None if nothing in any of them is sound; without names.
        passed_over: The others.
        problems: What is wrong with those that were read.
    """

    chosen: Chosen | None
    passed_over: tuple[PassedOver, ...]
    problems: tuple[Problem, ...]


def groups(logs: Iterable[Log]) -> list[list[Log]]:
    """Puts together what is of one model, task and settings, so that one of them counts; the newest first.

    A run that was judged later belongs to the run that it was made from, whoever judged it. Versions of this package
    and of lmms-eval do not tell runs apart.

    Returns:
        The groups, in the order of benchmark, task and model.
    """
    newest_first = sorted(logs, key=lambda log: (log.file.order, str(log.file.path)), reverse=True)
    settings: dict[tuple[Path, str, str], Settings] = {}
    for log in newest_first:
        if log.settings.is_known:
            settings.setdefault(log.run, replace(log.settings, version="", harness=""))
    found: defaultdict[tuple[str, Scope, str, Settings], list[Log]] = defaultdict(list)
    for log in newest_first:
        found[log.model, log.scope, log.file.task, settings.get(log.run, UNKNOWN)].append(log)
    return sorted(found.values(), key=lambda group: (group[0].scope, group[0].file.task, group[0].model))


def choose(group: Sequence[Log]) -> Choice:
    """Reads logs until one is whole; if none is, the one with the most samples counts.

    Args:
        group: Of one model, task and settings, the newest first.
    """
    problems: list[Problem] = []
    partial: list[Chosen] = []
    chosen: Chosen | None = None
    scored = [log for log in group if not log.is_unscored]
    for log in scored:
        columns = read(log, problems)
        if columns and log.is_whole(columns):
            chosen = Chosen(log, columns)
            break
        if columns:
            partial.append(Chosen(log, columns))
    chosen = chosen or max(partial, key=lambda one: one.columns.n, default=None)
    # Once its scores count, there is nothing to say of the log with the replies alone.
    problems += [
        Problem("error", str(log.file.path), _UNSCORED)
        for log in group
        if log.is_unscored and not (chosen and chosen.log.run == log.run)
    ]
    if chosen is None:
        return Choice(None, (), tuple(problems))
    newer = list(takewhile(lambda log: log is not chosen.log, scored))
    for log in newer:
        text = f"It is newer than {chosen.log.file.path.name} and not whole, so the older run counts."
        problems.append(Problem("warning", str(log.file.path), text))
    problems += _contradictions(chosen.log, group)
    is_whole = chosen.is_whole
    others = tuple(_passed_over(log, _reason(log, chosen.log, is_whole)) for log in group if log is not chosen.log)
    return Choice(chosen, others, tuple(problems))


def _passed_over(log: Log, reason: str) -> PassedOver:
    return PassedOver(log.model, log.file.task, log.file.date, str(log.file.path), reason)


_UNSCORED = "Holds replies without scores, of a run with --predict_only: `condchain score` scores them."


def _reason(log: Log, chosen: Log, is_whole: bool) -> str:
    if log.is_unscored and log.run != chosen.run:
        return "its replies are not scored"
    if log.file.order > chosen.file.order:
        return "it is not whole, and an older run is" if is_whole else "another run has more samples, and none is whole"
    if log.run == chosen.run:
        return "it was scored anew later" if runs.SCORED in chosen.file.date else "verdicts were added later"
    return "a newer run has the same settings"


_FIGURES = {"condchain": ("path_f1",), "ccrv": ("dcr", "dcr_base", "csr"), "vrex": ("ability", "final_acc", "step_acc")}


def _contradictions(chosen: Log, group: Iterable[Log]) -> Iterator[Problem]:
    """Figures of other runs that should be the same: whole, greedy, with the same settings."""
    if json.loads(chosen.settings.generation or "{}").get("temperature") != 0 or chosen.is_limited:
        return
    for log in group:
        if log.run == chosen.run or log.is_limited or not log.results or not chosen.results:
            continue
        for metric in _FIGURES[chosen.benchmark]:
            own, other = (one.results.figure(one.file.task, metric) for one in (chosen, log) if one.results)
            if own is not None and other is not None and abs(own - other) > _SAME:
                text = (
                    f"{metric} is {own:.2f} here and {other:.2f} in the run {log.file.date}, with the same settings, "
                    "prompts and data at temperature 0: the model's answers are not reproducible."
                )
                yield Problem("note", str(chosen.file.path), text)
