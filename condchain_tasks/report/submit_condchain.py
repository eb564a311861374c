"""MM-CondChain's result format, and the official scorer's figures for a file in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import faults_of
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
from condchain_tasks.scorers.condchain import path_f1
from condchain_tasks.scorers.statistics import mean

OFFICIAL_CHAINS = {"natural": 398, "chart": 200, "gui": 377}
"""Chains of each domain in the official data."""

OVERALL = "overall"
"""The row over all instances together, which the official script prints too."""

AVERAGE = "average"
"""The row of the paper's avg_path_f1: the mean of the domains' values."""

NO_REPLY = ""
"""The prediction of a failed request: equal to no label, so that it counts as wrong even where "None" is right."""

_TASKS = re.compile(r"condchain_(natural|chart|gui)(_mini)?")


@dataclass(frozen=True, kw_only=True)
class _Record(ReplyRecord):
    """What is needed of a sample's record."""

    id: str
    pair: str
    domain: Literal["natural", "chart", "gui"]
    path: Literal["true", "false"]
    gold: str
    pred: str


_RECORD = TypeAdapter(_Record)


def submit_condchain(
    path: Path, out: Path, *, run: str | None = None, incomplete: bool = False, synthetic: bool = False
) -> Submission:
    """Writes a run of MM-CondChain in the official result format, with a manifest beside it.

    The format is a JSON list with one entry a chain: `id`, `domain`, `true_path_pred`, `true_path_gt`,
    `false_path_pred`, `false_path_gt`. Predictions are the strict readings; that of a failed request is `NO_REPLY`.

    Args:
        path: Where runs of one model, or of its tasks, are: see `submit.read_run`.
        out: The file.
        run: The date or the label of the run that is wanted; None for the newest that is whole.
        incomplete: Whether to write it if domains, chains or replies are missing. A chain without one of its paths
            is left out then.
        synthetic: Whether to write it although the data was drawn or the model is simulated.

    Returns:
        What was written; its metrics have a row for each domain, `AVERAGE` if all three are there, and `OVERALL`.

    Raises:
        DataError: The run is incomplete or synthetic, or cannot be read.
        OSError: The file cannot be written.
    """
    found = read_run(path, "condchain", _TASKS, run)
    logs = found.logs
    gaps = [f"There is no run of condchain_{domain}." for domain in OFFICIAL_CHAINS if domain not in _domains(logs)]
    items: list[dict[str, str]] = []
    counts: dict[str, int] = {}
    replies: dict[str, Replies] = {}
    for log in sorted(logs, key=lambda log: list(OFFICIAL_CHAINS).index(_domain(log))):
        chains, broken, replies[log.file.task] = _chains(log)
        gaps += [*log.gaps, *replies[log.file.task].gaps(log.file.task)]
        if broken:
            gaps.append(f"{listed(broken, len(broken), f'the chains of {log.file.task}')} without one of their paths.")
        items += chains
        counts[f"{_domain(log)}_chains"] = len(chains)
    sizes = ((f"{domain} chains", counts.get(f"{domain}_chains", 0), n) for domain, n in OFFICIAL_CHAINS.items())
    # A wrong number tells that the data is another; the right one tells nothing.
    remarks = (
        []
        if gaps or found.identity == "synthetic"
        else [sentence for size in sizes for sentence in unusual_size(*size)]
    )
    return write_submission(
        out,
        "MM-CondChain",
        found,
        items,
        gaps=gaps,
        remarks=remarks,
        counts=counts,
        replies=replies,
        score=official_metrics,
        incomplete=incomplete,
        synthetic=synthetic,
    )


def official_metrics(file: Path) -> Metrics:
    """What the official scorer computes from a file of results: predictions and labels are compared as they stand.

    Args:
        file: In the official result format.

    Returns:
        A row "condchain_DOMAIN" for each domain that the file has, `AVERAGE` if it has all three, and `OVERALL`; each
        with `chains`, `true_acc`, `false_acc` and `path_f1` (per cent).

    Raises:
        DataError: The file is no such file.
    """
    by_domain: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for number, item in enumerate(read_items(file), start=1):
        try:
            true, false = (item[f"{path}_path_pred"] == item[f"{path}_path_gt"] for path in ("true", "false"))
            by_domain[str(item["domain"])].append((true, false))
        except KeyError as error:
            raise DataError(f"{file}, item {number}: the field {error} is missing.") from error
    metrics = {f"condchain_{domain}": _scores(rights) for domain, rights in by_domain.items()}
    overall = _scores([right for rights in by_domain.values() for right in rights])
    if by_domain.keys() == OFFICIAL_CHAINS.keys():
        rows = list(metrics.values())
        columns = ("true_acc", "false_acc", "path_f1")
        metrics[AVERAGE] = {"chains": overall["chains"]} | {
            column: mean(float(row[column] or 0) for row in rows) for column in columns
        }
    return metrics | {OVERALL: overall}


def _scores(rights: Sequence[tuple[bool, bool]]) -> dict[str, float | int | None]:
    true_acc = mean(100.0 * true for true, _ in rights)
    false_acc = mean(100.0 * false for _, false in rights)
    return {
        "chains": len(rights),
        "true_acc": true_acc,
        "false_acc": false_acc,
        "path_f1": path_f1(true_acc, false_acc),
    }


def _chains(log: TaskLog) -> tuple[list[dict[str, str]], list[str], Replies]:
    """A log's chains as entries, the ids of those that lack a path, and how the replies are."""
    paths: dict[str, dict[str, _Record]] = {}
    for doc_id, sample in sorted(log.samples.items()):
        record = _read(log, doc_id, sample.get("path_f1"))
        chain = paths.setdefault(record.pair, {})
        if record.path in chain:
            raise DataError(f"{log.place(doc_id)}: the {record.path} path of chain {record.pair!r} occurs twice.")
        chain[record.path] = record
    whole = [(chain["true"], chain["false"]) for chain in paths.values() if len(chain) == 2]
    broken = [pair for pair, chain in paths.items() if len(chain) < 2]
    replies = Replies.of(record for chain in paths.values() for record in chain.values())
    return [_item(true, false) for true, false in whole], broken, replies


def _read(log: TaskLog, doc_id: int, value: Any) -> _Record:
    place = log.place(doc_id)
    try:
        record = _RECORD.validate_python(value if isinstance(value, dict) else {})
    except ValidationError as error:
        fault = next(faults_of(error, place, "path_f1"))
        raise DataError(f"{fault} Is it the log of a condchain task?") from error
    if record.domain != _domain(log):
        raise DataError(f"{place}, field path_f1.domain: expected {_domain(log)}, found {record.domain}.")
    return record


def _item(true: _Record, false: _Record) -> dict[str, str]:
    return {
        "id": true.id,
        "domain": true.domain,
        "true_path_pred": NO_REPLY if true.failed else true.pred,
        "true_path_gt": true.gold,
        "false_path_pred": NO_REPLY if false.failed else false.pred,
        "false_path_gt": false.gold,
    }


def _domain(log: TaskLog) -> str:
    return log.task.removeprefix("condchain_")


def _domains(logs: Iterable[TaskLog]) -> set[str]:
    return {_domain(log) for log in logs}
