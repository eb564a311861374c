"""Verdicts for a run that has samples and lacks some or all verdicts: judged later, without inference."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.files import write_aside
from condchain_tasks.judging.ccrv import asks
from condchain_tasks.judging.verdicts import Answer, CsrVerdict, DcrVerdict
from condchain_tasks.report.runs import (
    JUDGED,
    SampleFile,
    expected_samples,
    read_results,
    read_samples,
    reply_of,
    sample_files,
)
from condchain_tasks.tasks.ccrv import verdicts
from condchain_tasks.tasks.ccrv.samples import make_record, metrics, paired_metrics, record_of

_HERE = Path(__file__).parent
_FILTER = "none"  # the harness's name for no filter


@dataclass(frozen=True)
class Judged:
    """A run that was judged again.

    Attributes:
        results: The new file of results, in lmms-eval's form.
        value: What is in it.
        asked: Samples that lacked a verdict.
        missing: Samples that still lack one.
    """

    results: Path
    value: dict[str, Any]
    asked: int
    missing: int


@dataclass(frozen=True)
class _Sample:
    """One line of a sample log.

    Attributes:
        line: As it was.
        record: What it says of the item and its scores.
        reply: The model's.
        kept: Verdicts that are good still.
        lacks: Whether it needs others.
    """

    line: dict[str, Any]
    record: dict[str, Any]
    reply: str
    kept: dict[str, Answer]
    lacks: bool


@dataclass(frozen=True)
class _Log:
    """The samples of one task in one run, and the run's results."""

    file: SampleFile
    results: dict[str, Any]
    samples: tuple[_Sample, ...]

    @property
    def lacking(self) -> list[_Sample]:
        """Samples without a verdict that they need."""
        return [sample for sample in self.samples if sample.lacks]


def rejudge(run: Path, again: bool = False) -> list[Judged]:
    """Judges what runs lack, and writes new files beside the old ones, which stay as they are.

    Args:
        run: A folder, such as that of `--output_path`, or one file of samples.
        again: Also judge anew what another judge has judged. A run never has the verdicts of two judges.

    Returns:
        One entry for each run that lacked verdicts, and all their tasks in it.

    Raises:
        DataError: There is no such run, judging is off, a log is not whole, or a run was judged by another judge.
    """
    judge = verdicts.describe_judge()
    if not verdicts.judging():
        raise DataError("CCRV_JUDGE=none turns judging off. Unset it, or set it to the judge's name.")
    files = [file for file in sample_files(run) if file.task.startswith("ccrv")]
    if not files:
        raise DataError(f"{run} holds samples of other benchmarks only: a judge is asked about ccrv tasks.")
    # Of each run and task the newest file: the run's own, or what an earlier judging came to its end with.
    newest = {(*file.run, file.task): file for file in files if JUDGED not in file.date or file.results.is_file()}
    logs = [_read_log(file, judge, again) for file in newest.values()]
    verdicts.check_judge(None)
    done = []
    for identity in dict.fromkeys(log.file.run for log in logs):
        of_run = [log for log in logs if log.file.run == identity]
        if any(log.lacking for log in of_run):
            done.append(_rejudge_run(of_run, judge))
    return done


def _rejudge_run(logs: Sequence[_Log], judge: dict[str, Any]) -> Judged:
    folder, date = logs[0].file.run
    # It sorts after the run that it belongs to, and before that model's next run.
    new = f"{date}{JUDGED}{datetime.now():%Y%m%d_%H%M%S_%f}"
    missing = 0
    merged: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for log in logs:
        verdicts.ask_all([(sample.record, sample.reply) for sample in log.lacking])
        records = [_judged(sample) for sample in log.samples]
        missing += sum(bool(record["missing"]) for record in records)
        score = paired_metrics if _has_all_items(log.file.task) else metrics
        lines = [{**sample.line, **score(record)} for sample, record in zip(log.samples, records, strict=True)]
        texts[log.file.task] = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        merged = {**log.results, **merged}
        for part in ("results", "configs"):
            merged[part] = {**log.results.get(part, {}), **merged.get(part, {})}
        merged["results"][log.file.task] = {
            **merged["results"].get(log.file.task, {}),
            **_aggregate(log.file.task, lines),
        }
        config = merged["configs"].get(log.file.task, {})
        merged["configs"][log.file.task] = {**config, "metadata": {**config.get("metadata", {}), "judge": judge}}
    merged["judged"] = {"run": date, "tasks": sorted(texts)}
    for task, text in texts.items():
        write_aside(folder / f"{new}_samples_{task}.jsonl", text)
    results = folder / f"{new}_results.json"
    write_aside(results, json.dumps(merged, indent=2, ensure_ascii=False))
    return Judged(results, merged, sum(len(log.lacking) for log in logs), missing)


def _read_log(file: SampleFile, judge: dict[str, Any], again: bool) -> _Log:
    results = read_results(file.results)
    before = results.get("configs", {}).get(file.task, {}).get("metadata", {}).get("judge")
    lines = list(read_samples(file))
    if (expected := expected_samples(results, file.task)) not in (None, len(lines)):
        raise DataError(
            f"{file.path} has {len(lines)} of {expected} samples: the log was cut short, and figures from it would not "
            "be those of the run. Run it again; with --use_cache that costs nothing."
        )
    has_verdicts = not isinstance(before, dict) or before.get("model") != "none"
    if has_verdicts and before != judge and not again:
        name = before.get("model") if isinstance(before, dict) else "another version of this package"
        raise DataError(
            f"{file.path} was judged by {name}, or with other prompts, and CCRV_JUDGE is {judge['model']}. Set it to "
            "that judge, or judge everything anew with --again."
        )
    return _Log(file, results, tuple(_read(file, line, keep=before == judge) for line in lines))


def _read(file: SampleFile, line: dict[str, Any], keep: bool) -> _Sample:
    place = f"{file.path}, doc_id {line.get('doc_id')!r}"
    record, reply = record_of(line), reply_of(line, place)
    if record is None:
        raise DataError(f"{place}: expected a record under dcr. Was it written by another version of this package?")
    kept: dict[str, Answer] = {}
    if keep and "dcr" not in record["missing"] and not record["failed"]:
        reasoning, layers = record["dcr_reasoning"], {name: record[name] for name in ("r1", "r2", "r3")}
        kept["dcr"] = Answer(DcrVerdict(reasoning=reasoning, **layers), calls=0)
    if keep and record["y"] == "Y3" and "csr" not in record["missing"] and not record["failed"]:
        kept["csr"] = Answer(CsrVerdict(reasoning=record["csr_reason"], csr=record["csr"]), calls=0)
    needed = {ask.kind for ask in asks(record, reply)}
    return _Sample(line, record, reply, kept, lacks=kept.keys() != needed)


def _has_all_items(task: str) -> bool:
    """Whether a task is the one with all items, whose template and metrics are others than a cell's."""
    return task.removesuffix("_mini") == "ccrv"


def _judged(sample: _Sample) -> dict[str, Any]:
    given = verdicts.on(sample.record, sample.reply) if sample.lacks else sample.kept
    return make_record(sample.record, sample.reply, given)


def _aggregate(task: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """A task's results from its samples, by the harness's own code and the task's own YAML."""
    from lmms_eval.evaluator_utils import TaskOutput
    from lmms_eval.utils import load_yaml_config

    template = "_all" if _has_all_items(task) else "_ccrv"
    config = load_yaml_config(str(_HERE / template), mode="full")
    aggregations = {metric["metric"]: metric["aggregation"] for metric in config["metric_list"]}
    output = TaskOutput(
        task=SimpleNamespace(aggregation=lambda: aggregations, args=None),
        task_name=task,
        task_config={"cluster_key": config["cluster_key"]},
    )
    for line in lines:
        for metric in aggregations.keys() & line.keys():
            output.sample_metrics[metric, _FILTER].append(line[metric])
    output.calculate_aggregate_metric()
    output.calculate_clt_aggregate_metric()
    return dict(output.agg_metrics)
