"""CCRV-Bench's verdicts, one entry an item, under the official repository's names as far as they are published."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from condchain_tasks.data.ccrv_tasks import Subset
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import faults_of, shown
from condchain_tasks.report.runs import reply_of
from condchain_tasks.report.submit import (
    Metrics,
    Replies,
    ReplyRecord,
    Submission,
    TaskLog,
    listed,
    read_items,
    read_run,
    unusual_size,
    write_submission,
)
from condchain_tasks.scorers.ccrv import dcr
from condchain_tasks.scorers.ccrv_tables import BASELINE, DIMENSIONS, SETTINGS, Item, Row, tabulate
from condchain_tasks.tasks.ccrv.samples import record_of

OFFICIAL_ITEMS = 4_000
"""Items of the official data: 800 of the baseline and 3,200 constrained ones."""

ALL = "ccrv"
"""The task that has all items."""

FIELDS = {
    "image_id": "The image's id, a number where it is one",
    "dimension": "X1_discovery, X2_prediction, X3_diagnosis or X4_intervention",
    "question_index": "The question's place among those of image and dimension, from 0",
    "constraint_id": "Y1 to Y4; null for the baseline",
    "answer": "The model's reply; null if the request failed",
    "reasoning": "The judge's reasons for r1, r2 and r3",
    "r1, r2, r3": "The judge's independent binaries for L1, L2 and L3; null if missing",
    "l1, l2, l3": "The same cascaded: r1, r1 and r2, r1 and r2 and r3",
    "dcr": "(l1 + l2 + l3) / 3, 0 to 1; null if missing",
    "csr": "0 or 1; null for the baseline and if missing. Y2 in any reading of the coordinates",
    "csr_raw_pixel": "Y2 read as pixels only, as the released script does; else null",
    "csr_reason": "Why the constraint is kept or not",
    "failed": "The request failed: all values are 0 and nothing was judged",
    "failure": "Why: error, budget, empty, not_text, refusal or content_filter; null if not, or if the log is too old",
}
"""What each field of an entry means; it stands in the manifest."""

_NAMES = {"X1": "X1_discovery", "X2": "X2_prediction", "X3": "X3_diagnosis", "X4": "X4_intervention"}
_CODES = {name: code for code, name in _NAMES.items()}
_CELLS = {(x, y): f"{ALL}_{x}_{y}".lower() for x in DIMENSIONS for y in SETTINGS}
_TASKS = re.compile(r"ccrv(_x[1-4]_(base|y[1-4]))?(_mini)?")
_COLUMNS = ("n", "missing", "failed", "l1", "l2", "l3", "dcr", "csr", "csr_raw_pixel", "edcr", "cdi", "ecdi")

Binary = Literal[0, 1]


@dataclass(frozen=True, kw_only=True)
class _Record(ReplyRecord):
    """What is needed of a sample's record."""

    key: str
    image_id: str
    x: Literal["X1", "X2", "X3", "X4"]
    y: Literal["base", "Y1", "Y2", "Y3", "Y4"]
    setting: str
    r1: Binary | None
    r2: Binary | None
    r3: Binary | None
    l1: Binary | None
    l2: Binary | None
    l3: Binary | None
    dcr_reasoning: str
    csr: Binary | None
    csr_reason: str
    csr_raw_pixel: Binary | None
    missing: list[str]

    @property
    def index(self) -> int:
        """Of the question, from 0."""
        return int(self.key.rpartition("/")[2])


_RECORD = TypeAdapter(_Record)


def submit_ccrv(
    path: Path, out: Path, *, run: str | None = None, incomplete: bool = False, synthetic: bool = False
) -> Submission:
    """Writes the verdicts on a run of CCRV-Bench, with a manifest beside the file.

    The benchmark's repository publishes no format of results. An entry has the names of its data (`image_id`,
    `dimension`, `constraint_id`) and of its judge (`r1` to `r3`, `csr`); `FIELDS` tells them all.

    Args:
        path: Where runs of one model, of `ccrv` or of its 20 cells, are: see `submit.read_run`. Cells are used if
            there is no run of `ccrv`.
        out: The file.
        run: The date or the label of the run that is wanted; None for the newest that is whole.
        incomplete: Whether to write it if items, replies or verdicts are missing.
        synthetic: Whether to write it although the data was drawn, or the model or its judge is simulated.

    Returns:
        What was written; its metrics have a row over all constrained items, named `ccrv`, and one for each X, each Y,
        the baseline and each cell.

    Raises:
        DataError: The run is incomplete or synthetic, or cannot be read.
        OSError: The file cannot be written.
    """
    found = read_run(path, "ccrv", _TASKS, run)
    whole = tuple(log for log in found.logs if log.task == ALL)
    found = replace(found, logs=whole or found.logs)
    logs = found.logs
    gaps = []
    if not whole and (absent := sorted(set(_CELLS.values()) - {log.task for log in logs})):
        gaps.append(f"There is no run of ccrv, and {listed(absent, len(absent), 'its 20 cells')} missing.")
    items: dict[tuple[str, str, int, str], dict[str, Any]] = {}
    replies: dict[str, Replies] = {}
    for log in logs:
        records = {doc_id: _read(log, doc_id, sample) for doc_id, sample in sorted(log.samples.items())}
        replies[log.file.task] = Replies.of(records.values())
        gaps += [*log.gaps, *replies[log.file.task].gaps(log.file.task)]
        if unjudged := sum(bool(record.missing) for record in records.values()):
            gaps.append(f"{unjudged:,} items of {log.file.task} lack a verdict: `condchain judge` adds it.")
        for doc_id, record in records.items():
            identity = (record.image_id, record.x, record.index, record.y)
            if identity in items:
                raise DataError(f"{log.place(doc_id)}: the item {shown(record.key)} {record.y} occurs twice.")
            items[identity] = _item(record, None if record.failed else reply_of(log.samples[doc_id], log.place(doc_id)))
    return write_submission(
        out,
        "CCRV-Bench",
        found,
        list(items.values()),
        gaps=gaps,
        remarks=[] if gaps or found.identity == "synthetic" else [*unusual_size("items", len(items), OFFICIAL_ITEMS)],
        counts={f"items_{y}": sum(identity[-1] == y for identity in items) for y in SETTINGS},
        replies=replies,
        score=ccrv_metrics,
        incomplete=incomplete,
        synthetic=synthetic,
        fields=FIELDS,
    )


def ccrv_metrics(file: Path) -> Metrics:
    """The benchmark's figures for a file of verdicts.

    Args:
        file: As `submit_ccrv` writes it.

    Returns:
        The rows `ccrv` (all constrained items), X1 to X4 (constrained), base, Y1 to Y4, and the cells under their
        tasks' names (`ccrv_x1_base`), as far as there are items; with the columns of `scorers.ccrv_tables.Row` (per
        cent; drops in points).

    Raises:
        DataError: The file is no such file.
    """
    try:
        rows = tabulate([_to_item(entry) for entry in read_items(file)])
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{file} is no file of verdicts: {type(error).__name__} {error}.") from error
    return {_name(row): {column: getattr(row, column) for column in _COLUMNS} for row in rows}


def _name(row: Row) -> str:
    return _CELLS[row.x, row.y] if row.group == "cell" else row.y or row.x or ALL


def _read(log: TaskLog, doc_id: int, sample: Mapping[str, Any]) -> _Record:
    try:
        record = _RECORD.validate_python(record_of(sample) or {})
    except ValidationError as error:
        raise DataError(f"{next(faults_of(error, log.place(doc_id)))} Is it the log of a ccrv task?") from error
    subset = Subset.of(log.task)
    for field, found, expected in (
        ("x", record.x, subset.xs),
        ("y", record.y, subset.ys),
        ("setting", record.setting, (subset.setting,)),
    ):
        if found not in expected:
            raise DataError(
                f"{log.place(doc_id)}, field {field}: expected {' or '.join(expected)} in {log.task}, found "
                f"{shown(found)}."
            )
    if not re.fullmatch(r"\d{1,3}", record.key.rpartition("/")[2], re.ASCII):
        raise DataError(f"{log.place(doc_id)}, field key: expected image/dimension/index, found {record.key!r}.")
    return record


def _item(record: _Record, reply: str | None) -> dict[str, Any]:
    number = re.fullmatch(r"0|[1-9]\d{0,17}", record.image_id, re.ASCII)
    known = record.l1 is not None and record.l2 is not None and record.l3 is not None
    return {
        "image_id": int(record.image_id) if number else record.image_id,
        "dimension": _NAMES[record.x],
        "question_index": record.index,
        "constraint_id": None if record.y == BASELINE else record.y,
        "answer": reply,
        "reasoning": record.dcr_reasoning,
        "r1": record.r1,
        "r2": record.r2,
        "r3": record.r3,
        "l1": record.l1,
        "l2": record.l2,
        "l3": record.l3,
        "dcr": dcr(record.l1 or 0, record.l2 or 0, record.l3 or 0) if known else None,
        "csr": record.csr,
        "csr_raw_pixel": record.csr_raw_pixel,
        "csr_reason": record.csr_reason,
        "failed": record.failed,
        "failure": record.failure,
    }


def _to_item(entry: Mapping[str, Any]) -> Item:
    x = _CODES[entry["dimension"]]
    score = entry["dcr"]
    return Item.from_record(
        {name: entry[name] for name in ("l1", "l2", "l3", "csr", "csr_raw_pixel", "failed")}
        | {
            "key": f"{entry['image_id']}/{x}/{entry['question_index']}",
            "image_id": str(entry["image_id"]),
            "x": x,
            "y": entry["constraint_id"] or BASELINE,
            "score": None if score is None else 100.0 * score,
        }
    )
