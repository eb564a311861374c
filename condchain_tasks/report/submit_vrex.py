"""V-REX's choices, one entry a sample and mode."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import faults_of, shown
from condchain_tasks.data.vrex_tasks import Variant
from condchain_tasks.report.submit import (
    Metrics,
    Replies,
    ReplyRecord,
    Submission,
    TaskLog,
    read_items,
    read_run,
    unusual_size,
    write_submission,
)
from condchain_tasks.scorers.vrex import ability
from condchain_tasks.scorers.vrex_metrics import macro_average

OFFICIAL_SAMPLES = {"vrex_planning": 351}
"""Samples of the official data, by task, where every published figure fits the number."""

FIELDS = {
    "id": "The sample's",
    "category": "deduction, guessing, navigation or retrieval",
    "scenario": "The kind of picture",
    "mode": "planning, following or direct (the final question alone)",
    "set": "standard, or hard: eight questions to pick from",
    "choices": "The option picked at each step before the last, A, B, ...; null if the reply names none; [] for direct",
    "gold": "The right options of the same steps",
    "final_choice": "The option picked for the final question; null if the reply names none",
    "final_gold": "The right one",
    "failed": "A request failed, and the conversation ended there",
    "failure": "Why: error, budget, empty, not_text, refusal or content_filter; null if not, or if the log is too old",
}
"""What each field of an entry means; it stands in the manifest."""

_REQUIRED = ("vrex_planning", "vrex_following", "vrex_direct")
_TASKS = re.compile(r"vrex_(planning|following|direct|planning_hard)(_mini)?")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class _Step:
    """What is needed of a step."""

    gold: int
    choice: int | None


@dataclass(frozen=True, kw_only=True)
class _Record(ReplyRecord):
    """What is needed of a sample's record."""

    id: str
    category: Literal["deduction", "guessing", "navigation", "retrieval"]
    scenario: str
    mode: Literal["planning", "following", "direct"]
    set: Literal["standard", "hard"]
    blind: bool
    steps: list[_Step]


_RECORD = TypeAdapter(_Record)


def submit_vrex(
    path: Path, out: Path, *, run: str | None = None, incomplete: bool = False, synthetic: bool = False
) -> Submission:
    """Writes the choices of a run of V-REX, with a manifest beside the file.

    The benchmark publishes no format of results; `FIELDS` tells what this one holds. Choices are read by the official
    rules.

    Args:
        path: Where runs of one model, of `vrex` or of its tasks, are: see `submit.read_run`. `vrex_planning_hard` goes
            in if it is there.
        out: The file.
        run: The date or the label of the run that is wanted; None for the newest that is whole.
        incomplete: Whether to write it if modes, samples or replies are missing.
        synthetic: Whether to write it although the data was drawn or the model is simulated.

    Returns:
        What was written; its metrics have a row for each task.

    Raises:
        DataError: The run is incomplete or synthetic, or cannot be read.
        OSError: The file cannot be written.
    """
    found = read_run(path, "vrex", _TASKS, run)
    logs = found.logs
    gaps = [f"There is no run of {task}." for task in _REQUIRED if task not in {log.task for log in logs}]
    items: list[dict[str, Any]] = []
    remarks: list[str] = []
    replies: dict[str, Replies] = {}
    for log in logs:
        records = _records(log)
        replies[log.file.task] = Replies.of(records)
        gaps += [*log.gaps, *replies[log.file.task].gaps(log.file.task)]
        if official := OFFICIAL_SAMPLES.get(log.task):
            remarks += unusual_size(f"samples of {log.task}", len(records), official)
        items += [_item(record) for record in records]
    return write_submission(
        out,
        "V-REX",
        found,
        items,
        gaps=gaps,
        remarks=[] if gaps or found.identity == "synthetic" else remarks,
        counts={log.task: len(log.samples) for log in logs},
        replies=replies,
        score=vrex_metrics,
        incomplete=incomplete,
        synthetic=synthetic,
        fields=FIELDS,
    )


def vrex_metrics(file: Path) -> Metrics:
    """The benchmark's figures for a file of choices.

    Args:
        file: As `submit_vrex` writes it.

    Returns:
        By task, `samples`, `ability` (None for direct), that of each category, and `final_acc`; per cent, averages
        over the categories.

    Raises:
        DataError: The file is no such file.
    """
    by_task: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    try:
        for item in read_items(file):
            by_task[f"vrex_{item['mode']}" + ("_hard" if item["set"] == "hard" else "")].append(item)
        return {task: _figures(items) for task, items in by_task.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{file} is no file of choices: {type(error).__name__} {error}.") from error


def _figures(items: Sequence[Mapping[str, Any]]) -> dict[str, float | int | None]:
    chained = [item for item in items if item["gold"]]
    abilities = macro_average(
        [100.0 * ability(item["choices"], item["gold"]) for item in chained], [item["category"] for item in chained]
    )
    finals = macro_average(
        [100.0 * (item["final_choice"] == item["final_gold"]) for item in items], [item["category"] for item in items]
    )
    return {
        "samples": len(items),
        "ability": None if math.isnan(abilities.value) else abilities.value,
        **{f"ability_{name}": one.value for name, one in abilities.categories.items()},
        "final_acc": finals.value,
    }


def _records(log: TaskLog) -> list[_Record]:
    """A log's records, in order; those of another task, or of one sample twice, are refused."""
    variant = Variant.of(log.task)
    records: dict[str, _Record] = {}
    for doc_id, sample in sorted(log.samples.items()):
        record = _read(log, doc_id, sample)
        for field in ("mode", "set", "blind"):
            found, expected = getattr(record, field), getattr(variant, field)
            if found != expected:
                raise DataError(
                    f"{log.place(doc_id)}, field final_acc.{field}: expected {expected} in {log.task}, found {found}."
                )
        if record.id in records:
            raise DataError(f"{log.place(doc_id)}: the sample {shown(record.id)} occurs twice.")
        records[record.id] = record
    return list(records.values())


def _read(log: TaskLog, doc_id: int, sample: Mapping[str, Any]) -> _Record:
    place, value = log.place(doc_id), sample.get("final_acc")
    try:
        record = _RECORD.validate_python(value if isinstance(value, dict) else {})
    except ValidationError as error:
        fault = next(faults_of(error, place, "final_acc"))
        raise DataError(f"{fault} Is it the log of a vrex task?") from error
    if not record.steps or not all(_is_option(step.gold) and _is_option(step.choice) for step in record.steps):
        raise DataError(f"{place}, field final_acc.steps: expected steps with options from 0 to {len(_LETTERS) - 1}.")
    return record


def _is_option(index: int | None) -> bool:
    return index is None or 0 <= index < len(_LETTERS)


def _item(record: _Record) -> dict[str, Any]:
    *between, last = record.steps
    return {
        "id": record.id,
        "category": record.category,
        "scenario": record.scenario,
        "mode": record.mode,
        "set": record.set,
        "choices": [_letter(step.choice) for step in between],
        "gold": [_letter(step.gold) for step in between],
        "final_choice": _letter(last.choice),
        "final_gold": _letter(last.gold),
        "failed": record.failed,
        "failure": record.failure,
    }


def _letter(index: int | None) -> str | None:
    return None if index is None else _LETTERS[index]
