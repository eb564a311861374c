"""Scores replies that were logged before, by the rules of today: of `--predict_only` runs, and of older versions' runs.

A log holds what was replied to which document. The documents are taken from the data, which must be the run's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from condchain_tasks import __version__
from condchain_tasks.data.benchmarks import benchmark_of
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import shown
from condchain_tasks.data.harness import provenance
from condchain_tasks.judging.verdicts import Answer, Missing
from condchain_tasks.progress import Progress, progress
from condchain_tasks.report.labels import Named, make_labels, short_names
from condchain_tasks.report.logs import Log, find
from condchain_tasks.report.runs import SCORED
from condchain_tasks.report.selection import groups
from condchain_tasks.rescore import Line, Scored, TaskLog, Written, by_run, read_log, task_config, write_beside
from condchain_tasks.scorers.replies import FAILURES, Failure, Reply, failed, read_stripped
from condchain_tasks.tasks.ccrv import verdicts
from condchain_tasks.tasks.ccrv.rejudge import check_record, verdicts_in
from condchain_tasks.tasks.ccrv.samples import make_record, record_of, scores_of

_VARIABLES = {"condchain": "CONDCHAIN_DATA", "ccrv": "CCRV_DATA", "vrex": "VREX_DATA"}
_RECORDS = ("path_f1", "dcr", "dcr_base", "final_acc", "step_acc")  # under which a task logs what it found
_MAX_LISTED = 20


@dataclass(frozen=True)
class Done:
    """What was scored.

    Attributes:
        written: One entry for each run.
        passed_over: Logs that were not scored, and why.
        remarks: What is wrong with what was named.
    """

    written: tuple[Written, ...]
    passed_over: tuple[tuple[Path, str], ...]
    remarks: tuple[str, ...]


def score(paths: Sequence[Path], run: str | None = None) -> Done:
    """Scores runs anew, and writes new files beside the old ones, which stay as they are.

    Of several runs of a model on a task with the same settings, the newest whole one is scored. A request that failed
    stays failed. Verdicts of a judge are those that the log holds or that are kept on disk; nobody is asked.

    Args:
        paths: Folders, at any depth; files of samples; files of results.
        run: The date of a run, or a label as reports print it; None for all.

    Raises:
        DataError: There is no such run, its log is damaged, or its data is not there.
        OSError: The new files cannot be written.
    """
    found = find(paths)
    logs, passed_over = _choose(groups(log for log in found.logs if not log.file.is_left), run)
    remarks = tuple(f"{one.where}: {one.text}" for one in found.problems if one.severity == "error")
    if not logs:
        raise DataError(remarks[0] if remarks else f"{paths[0]} holds no samples of this package's tasks.")
    with progress("Scoring", sum(len(log.lines) for log in logs)) as moving:
        scored = {log.file.path: _score(log, moving) for log in logs}
    written = tuple(write_beside([scored[log.file.path] for log in of_run], SCORED) for of_run in by_run(logs))
    return Done(written, tuple(passed_over), remarks)


def _choose(found: Sequence[Sequence[Log]], run: str | None) -> tuple[list[TaskLog], list[tuple[Path, str]]]:
    """The newest whole log of each group that is meant, and what is passed over."""
    heads = [group[0] for group in found]
    short = short_names(log.model for log in heads)
    labels = make_labels(
        [
            Named(log.model, log.scope, log.file.task, log.file.date, log.settings, log.prompts, log.data, log.requests)
            for log in heads
        ]
    )
    called = {
        log.file.path: {log.file.date, log.file.run[1], log.model, short[log.model], label.name, label.family}
        for group, label in zip(found, labels, strict=True)
        for log in group
    }
    if run is not None and not any(run in names for names in called.values()):
        listed = "; ".join(sorted({log.file.run[1] for log in heads} | {label.name for label in labels})[:_MAX_LISTED])
        raise DataError(f"No run is called {run!r}. There are: {listed or 'none'}.")
    chosen: list[TaskLog] = []
    passed_over: list[tuple[Path, str]] = []
    for group in found:
        meant = [log for log in group if run is None or run in called[log.file.path]]
        passed_over += [(log.file.path, "--run asks for another") for log in group if log not in meant]
        faults: list[DataError] = []
        for place, log in enumerate(meant):
            try:
                chosen.append(read_log(log.file))
            except DataError as fault:
                faults.append(fault)
                passed_over.append((log.file.path, str(fault)))
                continue
            passed_over += [(older.file.path, f"{log.file.path.name} counts") for older in meant[place + 1 :]]
            break
        else:
            if faults:
                raise faults[0]
    return chosen, passed_over


def _score(log: TaskLog, moving: Progress) -> Scored:
    places = [f"{log.file.path}, sample {number}" for number in range(1, len(log.lines) + 1)]
    replies = [_replies(line, place) for line, place in zip(log.lines, places, strict=True)]
    docs = _documents(log, places)
    task = log.file.task
    metadata = {
        **log.metadata,
        "condchain_tasks": __version__,
        "replies_of": log.metadata.get("condchain_tasks"),
        "data": provenance(task),
    }
    scores: list[Mapping[str, Any]] = []
    if benchmark_of(task)[0] == "ccrv":
        given, metadata["judge"] = _verdicts(log, places, docs, replies)
        for doc, (reply, *_), answers in zip(docs, replies, given, strict=True):
            scores.append(scores_of(task, make_record(doc, reply, answers)))
            moving.advance()
    else:
        process = task_config(task)["process_results"]
        for doc, several in zip(docs, replies, strict=True):
            scores.append(process(doc, several))
            moving.advance()
    return Scored(log, scores, metadata)


def _replies(line: Line, place: str) -> list[Reply]:
    """What was replied to a document; the last is a failure if the log says that there was one.

    Raises:
        DataError: There is no reply.
    """
    logged = line.get("filtered_resps")
    found = logged if isinstance(logged, list) else [logged]
    texts = [one.strip() for one in found if isinstance(one, str)]
    if not texts or len(texts) < len(found):
        raise DataError(f"{place}, field filtered_resps: expected a text or a list of texts, found {shown(logged)}.")
    replies = [read_stripped(text) for text in texts]
    records = (line[name] for name in _RECORDS if isinstance(line.get(name), dict))
    record: Line = next((one for one in records if "failed" in one), {})
    # A failure's text is not always told from a reply: what the record says holds.
    if record.get("failed") is True and not any(one.failure for one in replies):
        reason: Failure = next((one for one in FAILURES if one == record.get("failure")), "error")
        replies[-1] = failed(reason, texts[-1])
    return replies


# --- the documents


def _documents(log: TaskLog, places: Sequence[str]) -> list[dict[str, Any]]:
    """The documents of a log's lines.

    Raises:
        DataError: The data is not there, or is not the run's.
    """
    task = log.file.task
    source, data = benchmark_of(task)[1].load(task)
    rows = pq.read_table(data.rows).to_pylist()
    numbers = [line.get("doc_id") for line in log.lines]
    for number, place in zip(numbers, places, strict=True):
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(rows):
            raise DataError(
                f"{place}, field doc_id: expected a number from 0 to {len(rows) - 1}, found {shown(number)}. "
                f"Is {source.root} the run's data?"
            )
    if len(set(numbers)) < len(numbers):
        raise DataError(f"{log.file.path}: expected each doc_id once. Do the lines of two runs stand in it?")
    docs = [rows[number] for number in numbers]
    said = log.metadata.get("data")
    said = said if isinstance(said, dict) else {}
    # Versions differ in what they hash: where every line shows the text that would be sent today, it is the same data.
    if said.get("sha256") != data.sha256 and not all(map(_is_of, log.lines, docs, [task] * len(docs))):
        raise DataError(
            f"{log.file.results}: the run's data ({said.get('root')}, sha256 {said.get('sha256')}) is not what "
            f"{source.root} holds now ({data.sha256}). {_how_to_get(task, said)}"
        )
    return docs


def _is_of(line: Line, doc: dict[str, Any], task: str) -> bool:
    """Whether a line is about a document, by what was sent and what is right."""
    config = task_config(task)
    target = config["doc_to_target"]
    right = target(doc) if callable(target) else doc[target]
    return line.get("target") == str(right) and config["doc_to_text"](doc) in str(line.get("input"))


def _how_to_get(task: str, said: Mapping[str, Any]) -> str:
    if task.endswith("_mini"):
        return "Embedded data is drawn anew by each version: install the run's, or run again."
    if said.get("source") == "hub":
        return f"Set CONDCHAIN_REVISION to {said.get('revision')}, or run again."
    return f"Set {_VARIABLES[benchmark_of(task)[0]]} to the run's data, or run again."


# --- verdicts


def _verdicts(
    log: TaskLog, places: Sequence[str], docs: Sequence[dict[str, Any]], replies: Sequence[Sequence[Reply]]
) -> tuple[list[dict[str, Answer]], dict[str, Any]]:
    """For each reply, the verdicts that the log holds or that are kept on disk, and whose they are.

    A run never has the verdicts of two judges: those on disk count if the log has none, or the same judge's.
    """
    logged = [_logged(line, place) for line, place in zip(log.lines, places, strict=True)]
    before, now = log.metadata.get("judge"), verdicts.describe_judge()
    is_kept = not any(logged) or verdicts.is_same_judge(before, now)
    if is_kept:
        verdicts.check_data(log.file.task)
    given = []
    for doc, (reply, *_), own in zip(docs, replies, logged, strict=True):
        answers = verdicts.kept(doc, reply)
        if not is_kept:
            answers = dict.fromkeys(answers, verdicts.NOT_KEPT)
        given.append({kind: own.get(kind, answer) for kind, answer in answers.items()})
    if any(logged) and isinstance(before, dict):
        return given, before
    is_judged = any(not isinstance(one.verdict, Missing) for answers in given for one in answers.values())
    return given, now if is_judged else verdicts.nobody()


def _logged(line: Line, place: str) -> dict[str, Answer]:
    record = record_of(line)
    if record is None:
        return {}
    check_record(record, place)
    return {} if record["failed"] else verdicts_in(record)
