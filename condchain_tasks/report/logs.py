"""Which runs there are, and which of several counts."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from condchain_tasks.data.ccrv_tasks import Subset
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.vrex_tasks import Variant
from condchain_tasks.report.columns import Columns, read_columns
from condchain_tasks.report.health import examine
from condchain_tasks.report.labels import short_names
from condchain_tasks.report.model import Problem
from condchain_tasks.report.runs import SampleFile, below, results_files, sample_files
from condchain_tasks.report.settings import UNKNOWN, Results, Settings, benchmark_of, scope_of

LARGE_BYTES = 2_000_000_000


@dataclass(frozen=True)
class Older:
    """A run that is not in the report.

    Attributes:
        model: The model's name.
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
class Log:
    """The samples of one task in one run, before they are read.

    Attributes:
        file: Where they are.
        benchmark: "condchain", "ccrv" or "vrex".
        model: The model's whole name.
        results: What the run says of itself; None if that cannot be read.
        settings: The task's; unknown without results.
        prompts: Hashes by name, of all the run's prompts of the benchmark.
        data: Hashes by task, of all the run's data of the benchmark.
    """

    file: SampleFile
    benchmark: str
    model: str
    results: Results | None
    settings: Settings
    prompts: Mapping[str, str]
    data: Mapping[str, str]

    @property
    def scope(self) -> tuple[str, bool]:
        """The benchmark, and whether it is the embedded twin."""
        return scope_of(self.file.task)

    @property
    def run(self) -> tuple[Path, str, str]:
        """What it has in common with what was judged later: folder, date of the run and task."""
        return (*self.file.run, self.file.task)

    @property
    def size(self) -> int:
        """Of its file, in bytes; 0 if it cannot be seen."""
        try:
            return self.file.path.stat().st_size
        except OSError:
            return 0

    @property
    def is_limited(self) -> bool:
        """Whether the run was told to leave samples out."""
        return self.results is not None and self.results.is_limited(self.file.task)

    @property
    def expected(self) -> int | None:
        """How many samples the task has, if that is known."""
        return self.results.expected(self.file.task) if self.results else None

    @cached_property
    def max_tokens(self) -> int | None:
        """The most tokens that a reply could have, if that is known."""
        limit = json.loads(self.settings.generation or "{}").get("max_new_tokens")
        return limit if isinstance(limit, int) else None

    def is_whole(self, columns: Columns) -> bool:
        """Whether its samples are known to be all that the task has."""
        if self.results is None or self.is_limited:
            return False
        return not columns.unsound if self.expected is None else columns.n == self.expected


@dataclass(frozen=True)
class Found:
    """What there is.

    Attributes:
        logs: Of this package's tasks.
        problems: Of what is no run.
    """

    logs: tuple[Log, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Chosen:
    """The log that counts for a model, a task and settings.

    Attributes:
        log: Which.
        columns: Its samples, at least one.
    """

    log: Log
    columns: Columns


@dataclass(frozen=True)
class Choice:
    """What was chosen among logs of one model, task and settings.

    Attributes:
        chosen: None if nothing in any of them is sound.
        older: The others.
        problems: What is wrong with those that were read.
    """

    chosen: Chosen | None
    older: tuple[Older, ...]
    problems: tuple[Problem, ...]


# --- what there is


def find(paths: Sequence[Path]) -> Found:
    """Finds runs, at any depth.

    Args:
        paths: Folders, files of samples, or files of results, whose samples are meant.
    """
    problems: list[Problem] = []
    files: dict[Path, SampleFile] = {}
    results: dict[Path, Results | None] = {}
    for path in paths:
        try:
            samples, reports = _files(path)
        except OSError as error:
            problems.append(Problem("error", str(path), f"Cannot be read: {error.strerror}."))
            continue
        files |= {file.path.resolve(): file for file in samples}
        unreadable = below(path).unreadable if path.is_dir() else ()
        problems += [Problem("error", str(place), f"Cannot be read: {why}.") for place, why in unreadable]
        if not samples and not reports and not unreadable:
            problems.append(Problem("error", str(path), _NO_RUN if path.exists() else "Does not exist."))
        for report in {*reports, *(file.results for file in samples if file.results.is_file())} - results.keys():
            results[report] = _results(report, problems)
    problems += _without_samples(results, files.values())
    if others := sorted({file.task for file in files.values() if not benchmark_of(file.task)}):
        where, named = (", ".join(map(str, listed))[:500] for listed in (paths, others))
        problems.append(Problem("note", where, f"Samples of tasks of others are left out: {named}."))
    known = [(file, results.get(file.results)) for file in files.values() if benchmark_of(file.task)]
    return Found(tuple(_logs(known, problems)), tuple(problems))


_NO_RUN = (
    "Is no run of lmms-eval: expected a folder with files such as DATE_results.json and DATE_samples_TASK.jsonl. Run "
    "lmms-eval with --log_samples --output_path."
)


def _files(path: Path) -> tuple[list[SampleFile], list[Path]]:
    reports = results_files(path)
    folder = path.parent if path.is_file() and reports else path
    try:
        samples = sample_files(folder)
    except DataError:
        samples = []
    if folder != path:
        samples = [file for file in samples if file.results == path]
    return samples, reports


def _results(path: Path, problems: list[Problem]) -> Results | None:
    try:
        return Results(path)
    except DataError as error:
        problems.append(Problem("warning", str(path), f"{error} Its samples are used, their settings are unknown."))
        return None


def _without_samples(results: dict[Path, Results | None], files: Iterable[SampleFile]) -> Iterator[Problem]:
    logged = {(file.results.resolve(), file.task) for file in files}
    for path, one in results.items():
        tasks = [task for task in (one.tasks if one else ()) if benchmark_of(task)]
        lacking = [task for task in tasks if (path.resolve(), task) not in logged]
        if lacking and len(lacking) == len(tasks):
            text = "Has results and no samples, of which the report is made. Run lmms-eval with --log_samples."
            yield Problem("note", str(path), text)
        elif lacking:
            text = (
                f"Has no samples of {', '.join(lacking)}, and of other tasks it has. Was the run killed while it wrote?"
            )
            yield Problem("warning", str(path), text)


def _logs(files: Sequence[tuple[SampleFile, Results | None]], problems: list[Problem]) -> Iterator[Log]:
    short = short_names(one.model for _, one in files if one)
    of_folder = {name.replace("/", "__"): model for model, name in short.items()}
    for file, results in files:
        (benchmark, _) = scope = scope_of(file.task)
        if results:
            try:
                said = results.settings(file.task), results.prompts(scope), results.data(scope)
            except DataError as error:
                problems.append(Problem("warning", str(file.path), f"Its settings are unknown: {error}"))
            else:
                yield Log(file, benchmark, results.model, results, *said)
                continue
        elif not file.results.is_file():
            text = f"Its settings are unknown: {file.results.name} is missing."
            problems.append(Problem("warning", str(file.path), text))
        yield Log(file, benchmark, of_folder.get(file.model, file.model.replace("__", "/")), None, UNKNOWN, {}, {})


# --- which of them counts


def groups(logs: Iterable[Log]) -> list[list[Log]]:
    """Puts together what is of one model, task and settings, so that one of them counts; the newest first.

    A run that was judged later belongs to the run that it was made from, whoever judged it. Versions of this package
    and of lmms-eval do not tell runs apart.

    Returns:
        The groups, in the order of benchmark, task and model.
    """
    newest_first = sorted(logs, key=lambda log: (log.file.date, str(log.file.path)), reverse=True)
    settings: dict[tuple[Path, str, str], Settings] = {}
    for log in newest_first:
        if log.settings.is_known:
            settings.setdefault(log.run, replace(log.settings, version="", harness=""))
    found: defaultdict[tuple[str, str, Settings], list[Log]] = defaultdict(list)
    for log in newest_first:
        found[log.model, log.file.task, settings.get(log.run, UNKNOWN)].append(log)
    return sorted(found.values(), key=lambda group: (group[0].scope, group[0].file.task, group[0].model))


def choose(group: Sequence[Log]) -> Choice:
    """Reads logs until one is whole; if none is, the one with the most samples counts.

    Args:
        group: Of one model, task and settings, the newest first.
    """
    problems: list[Problem] = []
    partial: list[Chosen] = []
    chosen: Chosen | None = None
    for log in group:
        columns = _read(log, problems)
        if columns and log.is_whole(columns):
            chosen = Chosen(log, columns)
            break
        if columns:
            partial.append(Chosen(log, columns))
    chosen = chosen or max(partial, key=lambda one: one.columns.n, default=None)
    if chosen is None:
        return Choice(None, (), tuple(problems))
    newer = list(takewhile(lambda log: log is not chosen.log, group))
    for log in newer:
        text = f"It is newer than {chosen.log.file.path.name} and not whole, so the older run counts."
        problems.append(Problem("warning", str(log.file.path), text))
    problems += _contradictions(chosen.log, group)
    older = tuple(_older(log, chosen.log, log in newer) for log in group if log is not chosen.log)
    return Choice(chosen, older, tuple(problems))


def _read(log: Log, problems: list[Problem]) -> Columns | None:
    path = log.file.path
    try:
        columns = read_columns(path, log.benchmark, log.max_tokens)
    except OSError as error:
        problems.append(Problem("error", str(path), f"Cannot be read: {error.strerror}."))
        return None
    if log.size > LARGE_BYTES:
        problems.append(Problem("note", str(path), f"Has {log.size / 1e9:.1f} GB; it was read line by line."))
    for fault in columns.faults:
        lines = f"Line {fault.line} is" if fault.count == 1 else f"{fault.count:,} lines are"
        first = "" if fault.count == 1 else f", the first is line {fault.line:,}"
        problems.append(Problem("warning", str(path), f"{lines} left out{first}: {fault.text}."))
    if not columns.n:
        problems.append(Problem("error", str(path), "Holds no sound sample; it is left out."))
        return None
    if foreign := _foreign(log.file.task, columns):
        problems.append(Problem("error", str(path), f"Holds samples of another task; it is left out: {foreign}."))
        return None
    if log.expected is not None and columns.n > log.expected:
        text = f"Has {columns.n:,} samples, and the task {log.expected:,}: two runs in one file?"
        problems.append(Problem("warning", str(path), text))
    problems += _against_results(log, columns)
    return columns


def _foreign(task: str, columns: Columns) -> str:
    """What samples say of themselves that is not so in their task; "" if they are its own."""
    for name, allowed in _ALLOWED[benchmark_of(task)](task).items():
        for found in columns.names[name]:
            if found not in allowed:
                return f"{name} {found[:100]!r}, expected {' or '.join(allowed)}"
    return ""


def _allowed_in_condchain(task: str) -> dict[str, Sequence[str]]:
    return {"domain": (task.removesuffix("_mini").removesuffix("_chrono").removeprefix("condchain_"),)}


def _allowed_in_ccrv(task: str) -> dict[str, Sequence[str]]:
    subset = Subset.of(task)
    return {"x": subset.xs, "y": subset.ys, "setting": (subset.setting,)}


def _allowed_in_vrex(task: str) -> dict[str, Sequence[str]]:
    variant = Variant.of(task)
    return {"mode": (variant.mode,), "set": (variant.set,)}


_ALLOWED = {"condchain": _allowed_in_condchain, "ccrv": _allowed_in_ccrv, "vrex": _allowed_in_vrex}


def _against_results(log: Log, columns: Columns) -> Iterator[Problem]:
    """Figures that the run says it has and its samples do not give."""
    if log.results is None or columns.unsound:
        return
    for bound in examine(log.benchmark, columns).bounds:
        for metric in _METRICS[bound.figure]:
            said = log.results.figure(log.file.task, metric)
            if said is not None and not math.isnan(bound.value) and abs(said - bound.value) > _ROUNDING:
                text = (
                    f"{metric} is {bound.value:.2f} by the samples and {said:.2f} by {log.file.results.name}: one of "
                    "them was changed, or is of another run. The samples count."
                )
                yield Problem("warning", str(log.file.path), text)


_METRICS = {
    "path F1": ("path_f1",),
    "DCR": ("dcr",),
    "eDCR": ("edcr",),
    "ability": ("ability",),
    "accuracy": ("final_acc",),
}
_ROUNDING = 0.01


def _older(log: Log, chosen: Log, is_newer: bool) -> Older:
    if is_newer:
        reason = "it is not whole, and an older run is"
    elif log.run == chosen.run:
        reason = "verdicts were added later"
    else:
        reason = "a newer run has the same settings"
    return Older(log.model, log.file.task, log.file.date, str(log.file.path), reason)


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


_SAME = 1e-6
