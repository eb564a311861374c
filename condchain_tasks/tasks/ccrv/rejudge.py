"""Verdicts for a run that has samples and lacks some or all verdicts: judged later, without inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError
from typing_extensions import NotRequired, TypedDict

from condchain_tasks.data.ccrv import Row
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import faults_of
from condchain_tasks.judging.ccrv import asks
from condchain_tasks.judging.verdicts import Answer, CsrVerdict, DcrVerdict, Kind
from condchain_tasks.report.runs import JUDGED, reply_of
from condchain_tasks.report.selection import Selection, select
from condchain_tasks.rescore import Scored, TaskLog, Written, by_run, read_log, write_beside
from condchain_tasks.scorers.replies import read_stripped
from condchain_tasks.tasks.ccrv import verdicts
from condchain_tasks.tasks.ccrv.samples import record_of, scores_of, with_verdicts


@dataclass(frozen=True)
class Judged:
    """A run that was judged again.

    Attributes:
        written: The new files.
        asked: Samples that lacked a verdict.
        missing: Samples that still lack one.
    """

    written: Written
    asked: int
    missing: int


@dataclass(frozen=True)
class Done:
    """What was judged.

    Attributes:
        judged: One entry for each run that lacked verdicts, and all its tasks that were named in it.
        selection: What counts among the runs that were named.
    """

    judged: tuple[Judged, ...]
    selection: Selection


@dataclass(frozen=True)
class Sample:
    """One line of a sample log.

    Attributes:
        record: What it says of the item and its scores.
        reply: The model's; not looked at if the record says that the request failed.
        kept: Verdicts that are good still.
        lacks: Whether it needs others.
    """

    record: dict[str, Any]
    reply: str
    kept: dict[str, Answer]
    lacks: bool


@dataclass(frozen=True)
class _Log:
    """A log and what its lines say."""

    log: TaskLog
    samples: tuple[Sample, ...]

    @property
    def lacking(self) -> list[Sample]:
        """Samples without a verdict that they need."""
        return [sample for sample in self.samples if sample.lacks]


def rejudge(paths: Sequence[Path], again: bool = False, run: str | None = None) -> Done:
    """Judges what runs lack, and writes new files beside the old ones, which stay as they are.

    Of several runs of a model on a task with the same settings, the newest whole one is judged. A sample whose record
    says that the request failed stays failed, whatever its logged reply looks like.

    Args:
        paths: Folders, at any depth; files of samples; files of results.
        again: Also judge anew what another judge has judged. A run never has the verdicts of two judges.
        run: The date of a run, or a label as reports print it; None for all.

    Raises:
        DataError: There is no such run, judging is off, a log is not whole, or a run was judged by another judge.
    """
    judge = verdicts.describe_judge()
    if not verdicts.judging():
        raise DataError("CCRV_JUDGE=none turns judging off. Unset it, or set it to the judge's name.")
    selection = select(paths, benchmark="ccrv", run=run)
    if not selection.chosen:
        errors = [f"{one.where}: {one.text}" for one in selection.problems if one.severity == "error"]
        why = errors[0] if errors else f"{paths[0]} holds no samples of ccrv tasks, about which a judge is asked."
        raise DataError(f"{why} Of a run with --predict_only `condchain score` scores the replies first.")
    files = [one.log.file for one in selection.chosen if not one.log.file.is_left]
    logs = [_read_log(read_log(file), judge, again) for file in files]
    for task in {one.log.file.task for one in logs}:
        verdicts.check_data(task)
    verdicts.check_judge(None)
    of_run = [[one for one in logs if one.log in run] for run in by_run(one.log for one in logs)]
    judged = tuple(_rejudge_run(some, judge) for some in of_run if any(one.lacking for one in some))
    return Done(judged, selection)


def read_sample(line: Mapping[str, Any], place: str, keep: bool) -> Sample:
    """Reads a line of a log that was scored.

    Args:
        line: As it stands there.
        place: Where, for messages.
        keep: Whether its verdicts are the judge's that is asked for the others.

    Raises:
        DataError: It holds no record, or a damaged one.
    """
    record = record_of(line)
    if record is None:
        raise DataError(
            f"{place}: expected a record under dcr or dcr_base. Of a run with --predict_only `condchain score` makes "
            "one."
        )
    check_record(record, place)
    if record["failed"]:
        return Sample(record, "", {}, lacks=False)
    reply = read_stripped(reply_of(dict(line), place))
    if reply.failure is not None:
        raise DataError(
            f"{place}: the reply stands for a request that failed, and the record says that it is none. "
            "`condchain score` scores the run by today's rules; then judge it."
        )
    if record.get("truncated"):  # by whatever tags the run had
        return Sample(record, "", {}, lacks=False)
    needed = {ask.kind for ask in asks(record, reply.answer)}
    kept = verdicts_in(record) if keep else {}
    return Sample(record, reply.text, kept, lacks=not needed <= kept.keys())


def check_record(record: Mapping[str, Any], place: str) -> None:
    """Makes sure that a record is one of a ccrv task.

    Raises:
        DataError: It is not, or is damaged.
    """
    try:
        _RECORD.validate_python(record, strict=True)
        _ROW.validate_python({**record, "images": []})
    except ValidationError as error:
        raise DataError(f"{next(faults_of(error, place))} Was the log changed?") from error


def verdicts_in(record: Mapping[str, Any]) -> dict[str, Answer]:
    """The verdicts that a sound record of a reply holds."""
    found: dict[str, Answer] = {}
    layers = {name: record[name] for name in ("r1", "r2", "r3")}
    if "dcr" not in record["missing"] and None not in layers.values():
        found["dcr"] = Answer(DcrVerdict(reasoning=record["dcr_reasoning"], **layers), calls=0)
    if record["y"] == "Y3" and "csr" not in record["missing"] and record["csr"] is not None:
        found["csr"] = Answer(CsrVerdict(reasoning=record["csr_reason"], csr=record["csr"]), calls=0)
    return found


_Binary = Literal[0, 1]


class _Record(TypedDict):
    """What was found out about an item's reply; the item itself is checked as a row."""

    y: Literal["base", "Y1", "Y2", "Y3", "Y4"]
    r1: _Binary | None
    r2: _Binary | None
    r3: _Binary | None
    dcr_reasoning: str
    csr: _Binary | None
    csr_reason: str
    csr_raw_pixel: _Binary | None
    failed: bool
    failure: NotRequired[str | None]
    refused: NotRequired[bool]
    truncated: NotRequired[bool]
    no_answer: bool
    missing: list[Kind]


_RECORD = TypeAdapter(_Record)
_ROW = TypeAdapter(Row)


def _read_log(log: TaskLog, judge: Mapping[str, Any], again: bool) -> _Log:
    before = log.metadata.get("judge")
    has_verdicts = not isinstance(before, dict) or before.get("model") != "none"
    same = verdicts.is_same_judge(before, judge)
    if has_verdicts and not same and not again:
        name = before.get("model") if isinstance(before, dict) else "another version of this package"
        raise DataError(
            f"{log.file.path} was judged by {name}, or at another address or with other prompts, and CCRV_JUDGE is "
            f"{judge['model']}. Set it to that judge, or judge everything anew with --again."
        )
    samples = (
        read_sample(line, f"{log.file.path}, sample {number}, doc_id {str(line.get('doc_id'))[:80]}", keep=same)
        for number, line in enumerate(log.lines, start=1)
    )
    return _Log(log, tuple(samples))


def _rejudge_run(logs: Sequence[_Log], judge: Mapping[str, Any]) -> Judged:
    missing = 0
    scored = []
    for one in logs:
        verdicts.ask_all([(sample.record, sample.reply) for sample in one.lacking])
        records = [_judged(sample) for sample in one.samples]
        missing += sum(bool(record["missing"]) for record in records)
        scores = [scores_of(one.log.file.task, record) for record in records]
        # What an older version did not write down of its judge stays unknown where its verdicts stay.
        known = one.log.metadata["judge"] if any(sample.kept for sample in one.samples) else judge
        scored.append(Scored(one.log, scores, {**one.log.metadata, "judge": dict(known)}))
    return Judged(write_beside(scored, JUDGED), sum(len(one.lacking) for one in logs), missing)


def _judged(sample: Sample) -> dict[str, Any]:
    given = verdicts.on(sample.record, sample.reply) if sample.lacks else sample.kept
    return with_verdicts(sample.record, given)
