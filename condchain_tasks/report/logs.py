"""Which runs there are, and what is in their logs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from condchain_tasks.data.ccrv_tasks import Subset
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.vrex_tasks import Variant
from condchain_tasks.report.columns import Columns, read_columns
from condchain_tasks.report.health import examine
from condchain_tasks.report.labels import short_names
from condchain_tasks.report.model import Problem
from condchain_tasks.report.runs import SampleFile, below, results_among, samples_among
from condchain_tasks.report.settings import TWIN, UNKNOWN, Results, Scope, Settings, benchmark_of

LARGE_BYTES = 2_000_000_000


@dataclass(frozen=True)
class Log:
    """The samples of one task in one run, before they are read.

    Attributes:
        file: Where they are.
        scope: The benchmark ("condchain", "ccrv" or "vrex"), and whether the data is synthetic.
        model: The model's whole name.
        results: What the run says of itself; None if that cannot be read.
        settings: The task's; unknown without results.
        prompts: Hashes by name, of the prompts of all the run's tasks of the benchmark.
        data: Hashes by name of the data, of all these tasks.
        requests: Hashes of what is sent, by task, of all these tasks.
        is_official: Whether the task's data is known to be the released one; None if the results do not say.
        simulated: What stood in for the model or its judge, a sentence each; none if both were real.
    """

    file: SampleFile
    scope: Scope
    model: str
    results: Results | None
    settings: Settings
    prompts: Mapping[str, str]
    data: Mapping[str, str]
    requests: Mapping[str, str]
    is_official: bool | None
    simulated: tuple[str, ...]

    @property
    def benchmark(self) -> str:
        """The benchmark: "condchain", "ccrv" or "vrex"."""
        return self.scope[0]

    @property
    def run(self) -> tuple[Path, str, str]:
        """What it has in common with what was judged later: folder, date of the run and task."""
        return (*self.file.run, self.file.task)

    @property
    def is_unscored(self) -> bool:
        """Whether a run with `--predict_only` wrote it: replies, and no record of what they are worth."""
        return self.results is not None and self.results.figure(self.file.task, "bypass") is not None

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
            there = _files(path, problems)
        except (OSError, DataError) as error:
            text = str(error) if isinstance(error, DataError) else f"Cannot be read: {error.strerror}."
            problems.append(Problem("error", str(path), text))
            continue
        samples = samples_among(there)
        files |= {file.path.resolve(): file for file in samples}
        reports = {*results_among(there), *(file.results for file in samples if file.results.is_file())}
        for report in reports - results.keys():
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


def _files(path: Path, problems: list[Problem]) -> list[Path]:
    """The files that a path stands for: those below it, or itself and, if it holds results, the run's samples."""
    if path.is_dir():
        found = below(path)
        problems += [Problem("error", str(place), f"Cannot be read: {why}.") for place, why in found.unreadable]
        for place, where in found.outside:
            text = f"Is a link that leads out of {path}, to {where}, and is not followed. Name it too if it is meant."
            problems.append(Problem("warning", str(place), text))
        if not found.unreadable and not samples_among(found.files) and not results_among(found.files):
            problems.append(Problem("error", str(path), _NO_RUN))
        return list(found.files)
    if not path.exists():
        problems.append(Problem("error", str(path), "Does not exist."))
        return []
    if results_among([path]):
        return [path, *(file.path for file in samples_among(path.parent.iterdir()) if file.results == path)]
    if not samples_among([path]):
        problems.append(Problem("error", str(path), _NO_RUN))
    return [path]


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
        if results:
            try:
                yield _log(file, results)
            except DataError as error:
                problems.append(Problem("warning", str(file.path), f"Its settings are unknown: {error}"))
            else:
                continue
        elif not file.results.is_file():
            text = f"Its settings are unknown: {file.results.name} is missing."
            problems.append(Problem("warning", str(file.path), text))
        scope = benchmark_of(file.task), file.task.endswith(TWIN)
        model = of_folder.get(file.model, file.model.replace("__", "/"))
        yield Log(file, scope, model, None, UNKNOWN, {}, {}, {}, None, ())


def _log(file: SampleFile, results: Results) -> Log:
    data = results.data(file.task)
    return Log(
        file=file,
        scope=results.scope(file.task),
        model=results.model,
        results=results,
        settings=results.settings(file.task),
        prompts=results.prompts_beside(file.task),
        data=results.data_beside(file.task),
        requests=results.requests_beside(file.task),
        is_official=data.official if data else None,
        simulated=results.simulated(file.task),
    )


# --- what is in them


def read(log: Log, problems: list[Problem]) -> Columns | None:
    """Reads a log.

    Args:
        log: Which.
        problems: What is wrong is added here.

    Returns:
        Its sound samples; None if there are none, or if they are not the task's.
    """
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
