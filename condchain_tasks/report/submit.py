"""Files for leaderboards: what goes into one, what it lacks, and the manifest that stands beside it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock

from condchain_tasks import __version__
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import shown
from condchain_tasks.data.files import beside
from condchain_tasks.redaction import LEFT_OUT, is_secret, redacted
from condchain_tasks.report.model import Problem
from condchain_tasks.report.outputs import check_output
from condchain_tasks.report.runs import SampleFile, read_results, read_samples, samples_among
from condchain_tasks.report.selection import Chosen, PassedOver, one_run, select
from condchain_tasks.wording import counted

Metrics = dict[str, dict[str, float | int | None]]
"""A table: by row, such as "gui", the values by column, such as "path_f1" (per cent; None: nothing to average)."""

MANIFEST_SUFFIX = ".manifest.json"
"""Behind the submission's file name, for its manifest."""

FAILURES_TO_SEND_AGAIN = frozenset({"error", "budget", "empty", "not_text", "unknown"})
"""Kinds of failures that another run may heal; a provider that refuses a request does so again."""

Identity = Literal["official", "synthetic", "not verified"]

_MINI = "_mini"
_SAME = ("model", "model_args", "gen_kwargs", "random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
_SAME_RESULTS = (
    "model_name",
    "lmms_eval_version",
    "system_instruction",
    "system_instruction_sha",
    "chat_template",
    "chat_template_sha",
)
_SETTINGS = ("model_backend", "gen_kwargs", "batch_size", "limit", "offset", "random_seed", "numpy_seed", "torch_seed")
_TRACKED = ("system_instruction_sha", "chat_template_sha")
_ROUNDING = 1e-7  # of sums in another order; per cent
_MAX_LISTED = 5
_MAX_PASSED_OVER = 20
_MAX_SAMPLES = 1_000_000_000


@dataclass(frozen=True)
class Submission:
    """What was written.

    Attributes:
        file: The submission.
        manifest: The manifest beside it.
        items: Entries in the file.
        metrics: What the benchmark's rules give for the file, read back.
        gaps: What it lacks of its own data, a sentence each; empty for a complete one.
        remarks: What else one must know before handing it in, a sentence each: whether the data is known to be the
            benchmark's, what is simulated, refused or cut off, which runs do not count.
    """

    file: Path
    manifest: Path
    items: int
    metrics: Metrics
    gaps: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class TaskLog:
    """One task of a run.

    Attributes:
        file: Its samples.
        results: The run's results.
        samples: By `doc_id`, the row of the data, from 0.
        identity: What is known of its data: "official", "synthetic" or "not verified".
        simulated: What stood in for the model or its judge, a sentence each.
    """

    file: SampleFile
    results: Mapping[str, Any]
    samples: Mapping[int, dict[str, Any]]
    identity: Identity
    simulated: tuple[str, ...]

    @property
    def task(self) -> str:
        """The task's name, without `_mini`."""
        return self.file.task.removesuffix(_MINI)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the task says of its prompts, its data, its judge and its version."""
        return _mapping(self._task.get("metadata"))

    @property
    def generation(self) -> Mapping[str, Any]:
        """The task's generation settings."""
        return _mapping(self._task.get("generation_kwargs"))

    @property
    def _task(self) -> Mapping[str, Any]:
        return _mapping(_mapping(self.results.get("configs")).get(self.file.task))

    @property
    def config(self) -> Mapping[str, Any]:
        """What the run was called with."""
        return _mapping(self.results.get("config"))

    @property
    def size(self) -> int | None:
        """How many samples the whole task has; None if the results do not say."""
        size = _mapping(_mapping(self.results.get("n-samples")).get(self.file.task)).get("original")
        return size if type(size) is int and 0 <= size <= _MAX_SAMPLES else None

    @property
    def gaps(self) -> list[str]:
        """What the log lacks of the whole task, a sentence each."""
        found = []
        if self.config.get("limit") not in (None, -1) or self.config.get("offset"):
            found.append(
                f"{self.file.task} ran with --limit {shown(self.config.get('limit'))} "
                f"--offset {shown(self.config.get('offset'))}."
            )
        if self.size is None:
            found.append(f"{self.file.results} does not say how many samples {self.file.task} has.")
        elif absent := self.size - len(self.samples):
            some = (doc_id for doc_id in range(self.size) if doc_id not in self.samples)
            found.append(f"{self.file.task} has {self.size:,} samples; {listed(some, absent, 'doc_id')} missing.")
        if not self.samples:
            found.append(f"{self.file.path} has no samples.")
        return found

    def place(self, doc_id: int) -> str:
        """Where a sample stands, for messages."""
        return f"{self.file.path}, doc_id {doc_id}"


@dataclass(frozen=True, kw_only=True)
class ReplyRecord:
    """What a sample's record says of its reply. Logs of older versions say no more than whether it failed."""

    failed: bool
    failure: str | None = None
    refused: bool = False
    truncated: bool = False


@dataclass(frozen=True)
class Replies:
    """How replies are, beside what they answer.

    Attributes:
        failed: Numbers of requests without a reply, by the reason; "unknown" where the log does not say.
        refused: Requests that the model or its provider refused, in words or by a flag.
        truncated: Replies whose reasoning was never closed.
    """

    failed: Mapping[str, int]
    refused: int
    truncated: int

    @classmethod
    def of(cls, records: Iterable[ReplyRecord]) -> Replies:
        """Counts them."""
        every = list(records)
        return cls(
            failed=Counter(record.failure or "unknown" for record in every if record.failed),
            refused=sum(record.refused for record in every),
            truncated=sum(record.truncated for record in every),
        )

    def __add__(self, other: Replies) -> Replies:
        return Replies(
            Counter(self.failed) + Counter(other.failed),
            self.refused + other.refused,
            self.truncated + other.truncated,
        )

    def gaps(self, task: str) -> Iterator[str]:
        """What another run may mend, in a sentence."""
        if failed := sum(n for kind, n in self.failed.items() if kind in FAILURES_TO_SEND_AGAIN):
            yield (
                f"{failed:,} {'request' if failed == 1 else 'requests'} of {task} failed or came back empty: run it "
                "again with --use_cache, which sends only those."
            )

    def remarks(self) -> Iterator[str]:
        """What one must know of the others, a sentence each."""
        if blocked := sum(n for kind, n in self.failed.items() if kind not in FAILURES_TO_SEND_AGAIN):
            yield f"{counted(blocked, 'request')} got no reply, since the provider refused: wrong, whatever is right."
        if self.refused:
            yield f"{counted(self.refused, 'request')} refused, by the model or its provider."
        if self.truncated:
            yield f"{counted(self.truncated, 'reply', 'replies')} cut off within the reasoning."

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {"failed": dict(sorted(self.failed.items())), "refused": self.refused, "truncated": self.truncated}


NO_REPLIES = Replies({}, 0, 0)


def listed(values: Iterable[object], n: int, what: str) -> str:
    """The first few of many, and how many there are: "12 of the chains (a, b, c, ...) are".

    Args:
        values: All of them; the first few are taken.
        n: How many there are.
        what: What they are.
    """
    few = ", ".join(shown(value).strip("'") for value in islice(values, _MAX_LISTED))
    more = ", ..." if n > _MAX_LISTED else ""
    return f"{n:,} of {what} ({few}{more}) are"


@dataclass(frozen=True)
class Run:
    """What goes into a submission.

    Attributes:
        logs: One for each task, in the order of their names.
        passed_over: Logs of the same tasks that do not count.
        gaps: Why there is nothing of a task, a sentence for each log of it.
        problems: What else is wrong there, a sentence each.
    """

    logs: tuple[TaskLog, ...]
    passed_over: tuple[PassedOver, ...]
    gaps: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def identity(self) -> Identity:
        """Of the data: of several tasks' the least."""
        found = {log.identity for log in self.logs}
        return "synthetic" if "synthetic" in found else "not verified" if "not verified" in found else "official"

    @property
    def simulated(self) -> tuple[str, ...]:
        """What stood in for the model or its judge, a sentence each."""
        return tuple(dict.fromkeys(sentence for log in self.logs for sentence in log.simulated))


def read_run(path: Path, benchmark: str, tasks: re.Pattern[str], run: str | None = None) -> Run:
    """The one run that counts, of one model with one setting: see `selection.select` and `selection.one_run`.

    Args:
        path: A folder with one run or several, a file of samples, or one of results.
        benchmark: "condchain", "ccrv" or "vrex".
        tasks: Matches the names of the wanted tasks, with and without `_mini`.
        run: The date or the label of the run that is wanted; None for the newest that is whole.

    Raises:
        DataError: There are none, a log or its results cannot be read or contradict each other, or they are of
            different models, versions or settings.
    """
    selection = one_run(select([path], benchmark=benchmark, run=run).of(tasks))
    if not selection.chosen:
        raise DataError(
            " ".join(map(_sentence, selection.problems[:_MAX_LISTED]))
            or f"{path} holds samples of other tasks only: expected such as match {tasks.pattern}."
        )
    there = {one.log.file.task for one in selection.chosen}
    unread = {
        str(file.path)
        for file in samples_among(Path(one.where) for one in selection.problems if one.severity == "error")
        if tasks.fullmatch(file.task) and file.task not in there
    }
    wrong = [one for one in selection.problems if one.severity != "note"]
    results = {one.log.file.results: read_results(one.log.file.results) for one in selection.chosen}
    logs = [
        TaskLog(
            one.log.file, results[one.log.file.results], _by_doc_id(one.log.file), _identity(one), one.log.simulated
        )
        for one in sorted(selection.chosen, key=lambda one: one.log.file.task)
    ]
    for log in logs:
        _check_size(log)
    _check_same_settings(logs)
    gaps = [_sentence(one) for one in wrong if one.where in unread]
    problems = [_sentence(one) for one in wrong if one.where not in unread]
    return Run(tuple(logs), selection.passed_over, tuple(gaps), tuple(problems[:_MAX_PASSED_OVER]))


def _sentence(problem: Problem) -> str:
    return f"{problem.where}: {problem.text}"


def _identity(one: Chosen) -> Identity:
    if one.log.scope[1]:
        return "synthetic"
    return "official" if one.log.is_official else "not verified"


def write_submission(
    out: Path,
    benchmark: str,
    run: Run,
    items: Sequence[Mapping[str, Any]],
    *,
    gaps: Sequence[str],
    remarks: Sequence[str],
    counts: Mapping[str, int],
    replies: Mapping[str, Replies],
    score: Callable[[Path], Metrics],
    incomplete: bool,
    synthetic: bool,
    fields: Mapping[str, str] | None = None,
) -> Submission:
    """Writes a submission and its manifest, both aside and then renamed.

    However many processes write one file at the same time, it and its manifest are by one of them. They wait for each
    other at a lock file beside it, which stays there.

    Args:
        out: The file; one that is there is replaced. The manifest's name is this one and `MANIFEST_SUFFIX`.
        benchmark: Its name.
        run: What the items are from.
        items: The file's entries.
        gaps: What is missing, a sentence each.
        remarks: For the result and the manifest.
        counts: How many of what, for the manifest.
        replies: How replies are, by task.
        score: Computes the metrics of a file.
        incomplete: Whether to write it in spite of gaps.
        synthetic: Whether to write it although the data was drawn, or the model or its judge is simulated.
        fields: What an entry's fields mean, for the manifest, where the format is this package's own.

    Returns:
        What was written.

    Raises:
        DataError: There are gaps and `incomplete` is not set, what it is of is synthetic and `synthetic` is not set,
            there is nothing to write, the file's metrics are not those of the run, or `out` is no regular file, does
            not end in ".json", or is a log.
        OSError: The file cannot be written.
    """
    logs, gaps = run.logs, [*gaps, *run.gaps]
    unreal = list(_unreal(run))
    if unreal and not synthetic:
        raise DataError(f"{' '.join(unreal)} A leaderboard takes none of it; --synthetic writes the file all the same.")
    if not items:
        raise DataError(f"There is nothing to submit. {' '.join(gaps)}".strip())
    if gaps and not incomplete:
        # What would fill a gap may be there, and not count.
        others = [*run.problems, *_passed_over(run)]
        raise DataError(" ".join(["The run is incomplete:", *gaps, "A leaderboard takes whole runs.", *others]))
    if out.is_symlink() or (out.exists() and not out.is_file()):
        raise DataError(f"{out} is no regular file: a manifest can be put beside one alone.")
    beside_it = out.with_name(out.name + MANIFEST_SUFFIX)
    read = [path for log in logs for path in (log.file.path, log.file.results)]
    check_output(out, read, ".json")
    check_output(beside_it, read)
    total = sum(replies.values(), NO_REPLIES)
    said = [*unreal, *_unverified(run), *remarks, *total.remarks(), *run.problems, *_passed_over(run)]
    with beside(out) as file, beside(beside_it) as manifest:
        _write(file, items)
        metrics = score(file)
        if not gaps:
            _check_metrics(logs, metrics)
        about = {
            "benchmark": benchmark,
            "file": out.name,
            "sha256": _sha256(file),
            "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "complete": not gaps,
            "gaps": list(gaps),
            "data": run.identity,
            "simulated": redacted(list(run.simulated)),
            "remarks": redacted(said),
            "counts": {"items": len(items), **counts, **total.as_json()},
            "metrics": metrics,
            **({"fields": dict(fields)} if fields else {}),
        }
        try:
            _write(manifest, about | _origin(logs, replies))
        except RecursionError as error:
            raise DataError(f"{logs[0].file.results}: its settings are nested too deeply.") from error
        with FileLock(out.with_name(f".{out.name}.lock")):
            file.replace(out)
            manifest.replace(beside_it)
    return Submission(out, beside_it, len(items), metrics, tuple(gaps), tuple(said))


def _unreal(run: Run) -> Iterator[str]:
    """What is no result of a model on the benchmark, a sentence each."""
    if run.identity == "synthetic":
        tasks = sorted(log.file.task for log in run.logs if log.identity == "synthetic")
        yield (
            f"The data of {', '.join(tasks[:_MAX_LISTED])}{', ...' if len(tasks) > _MAX_LISTED else ''} is synthetic, "
            "drawn by this package: its figures are not the benchmark's."
        )
    yield from run.simulated


def _unverified(run: Run) -> Iterator[str]:
    if run.identity == "not verified":
        hashes = sorted(
            {shown(_mapping(log.metadata.get("data")).get("sha256")).strip("'") for log in run.logs} - {"None"}
        )
        found = f" (SHA-256 {', '.join(hashes[:_MAX_LISTED])})" if hashes else ""
        yield f"The data is not verified: that it{found} is the released one is not known."


def _passed_over(run: Run) -> Iterator[str]:
    for one in run.passed_over[:_MAX_PASSED_OVER]:
        yield f"{one.task} of {one.date} is passed over: {one.reason}."
    if (more := len(run.passed_over) - _MAX_PASSED_OVER) > 0:
        yield f"{counted(more, 'other log')} passed over."


def read_items(file: Path) -> list[dict[str, Any]]:
    """The entries of a submission.

    Raises:
        DataError: It is no JSON list of objects.
    """
    try:
        items = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file} is no submission: {error}.") from error
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise DataError(f"{file} is no submission: expected a JSON list of objects.")
    return items


def unusual_size(what: str, found: int, official: int) -> Iterable[str]:
    """The sentence on data that has another size than the official one."""
    if found != official:
        yield f"The data has {found:,} {what}; the official one has {official:,}."


def _by_doc_id(file: SampleFile) -> dict[int, dict[str, Any]]:
    samples: dict[int, dict[str, Any]] = {}
    for number, sample in enumerate(read_samples(file), start=1):
        doc_id = sample.get("doc_id")
        if type(doc_id) is not int or doc_id < 0:
            raise DataError(
                f"{file.path}, sample {number}, field doc_id: expected a whole number, found {shown(doc_id)}."
            )
        if doc_id in samples:
            raise DataError(f"{file.path}: doc_id {doc_id} occurs twice. Was the log put together from two runs?")
        samples[doc_id] = sample
    return samples


def _check_size(log: TaskLog) -> None:
    last = max(log.samples, default=-1)
    if log.size is not None and last >= log.size:
        raise DataError(
            f"{log.place(last)}: {log.file.results} says that {log.file.task} has {log.size:,} samples. Do the two "
            "belong together?"
        )


def _check_same_settings(logs: Sequence[TaskLog]) -> None:
    first: dict[str, tuple[object, TaskLog]] = {}
    for log in logs:
        for name, value in _settings(log).items():
            before, other = first.setdefault(name, (value, log))
            if not _is_same(before, value):
                if is_secret(name):
                    before = value = LEFT_OUT
                raise DataError(
                    f"{other.file.path} and {log.file.path} differ in their {shown(name)[1:-1]}: "
                    f"{shown(before)} and {shown(value)}. One submission has one of each: name a folder that holds "
                    "one run."
                )


def _settings(log: TaskLog) -> dict[str, object]:
    """By name, what is the same for all tasks of one run; prompts that only some tasks have stand in those alone."""
    data, judge = _mapping(log.metadata.get("data")), _mapping(log.metadata.get("judge"))
    prompts = [log.metadata.get("prompt"), *_list(log.metadata.get("prompts"))]
    return {
        **{name: log.config.get(name) for name in _SAME},
        **{name: log.results.get(name) for name in _SAME_RESULTS},
        "condchain_tasks version": log.metadata.get("condchain_tasks"),
        "lmms_eval version": log.metadata.get("lmms_eval"),
        "data's source": data.get("source"),
        "data's revision": data.get("revision"),
        "generation settings": sorted(log.generation),
        **{f"generation setting {name}": value for name, value in log.generation.items()},
        **{f"prompt {p.get('name')}": p.get("sha256") for p in prompts if isinstance(p, dict)},
        "judge": judge.get("model"),
        "judge's settings": {name: value for name, value in judge.items() if name not in ("model", "prompts")},
        **{
            f"judge's prompt {p.get('name')}": p.get("sha256")
            for p in _list(judge.get("prompts"))
            if isinstance(p, dict)
        },
    }


def _is_same(one: object, other: object) -> bool:
    try:
        return one == other
    except RecursionError:  # nobody's settings are nested that deeply
        return False


def _check_metrics(logs: Iterable[TaskLog], metrics: Metrics) -> None:
    """Makes sure that the file says what the run's own results say, as far as they say it under the same names."""
    for log in logs:
        own = {
            key.partition(",")[0]: value
            for key, value in _mapping(_mapping(log.results.get("results")).get(log.file.task)).items()
        }
        if log.task not in metrics:
            raise DataError(f"{log.file.path} has samples, and none of {log.task} would be in the file.")
        for name, value in metrics[log.task].items():
            other = own.get(name)
            if isinstance(value, float) and isinstance(other, int | float) and not _is_near(value, other):
                raise DataError(
                    f"{log.file.path} gives a {name} of {value:.6f}, and {log.file.results} says {shown(other)}. Do "
                    "the two belong together?"
                )


def _is_near(value: float, other: float) -> bool:
    # Compared, not subtracted: a JSON number may be larger than any float, or no number.
    return value - _ROUNDING <= other <= value + _ROUNDING


def _origin(logs: Sequence[TaskLog], replies: Mapping[str, Replies]) -> dict[str, Any]:
    """Where a submission is from: the model, its settings, versions, data, prompts and judge; some by task."""
    results, config = logs[0].results, logs[0].config
    about = {
        "model": {"backend": config.get("model"), "args": config.get("model_args"), "name": results.get("model_name")},
        "settings": {name: config.get(name) for name in _SETTINGS} | {name: results.get(name) for name in _TRACKED},
        "versions": {
            "lmms_eval": logs[0].metadata.get("lmms_eval"),
            "lmms_eval_commit": results.get("lmms_eval_version"),
            "condchain_tasks": logs[0].metadata.get("condchain_tasks"),
            "condchain_tasks_of_submission": __version__,
        },
        "judge": logs[0].metadata.get("judge"),
        "tasks": {
            log.file.task: {
                "date": log.file.date,
                "samples": len(log.samples),
                "data_is": log.identity,
                "replies": replies[log.file.task].as_json(),
                "samples_sha256": _sha256(log.file.path),
                "prompts": [log.metadata["prompt"]] if "prompt" in log.metadata else log.metadata.get("prompts"),
                # A folder's place on someone's machine identifies nothing, and tells more than it should.
                "data": {name: value for name, value in _mapping(log.metadata.get("data")).items() if name != "root"},
            }
            for log in logs
        },
    }
    return {name: redacted(value) for name, value in about.items()}


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _write(path: Path, value: object) -> None:
    # Half a character, which JSON can say and UTF-8 cannot, is written as JSON says it.
    with path.open("x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
