"""Verdicts for a run that has samples and lacks some or all verdicts: judged later, without inference."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from condchain_tasks.data.errors import DataError
from condchain_tasks.judging.ccrv import asks
from condchain_tasks.judging.verdicts import CsrVerdict, DcrVerdict, Missing, Verdict
from condchain_tasks.report.runs import SampleFile, read_results, read_samples, sample_files
from condchain_tasks.tasks.ccrv import verdicts
from condchain_tasks.tasks.ccrv.samples import make_record, metrics, paired_metrics, record_of

_HERE = Path(__file__).parent
_JUDGED = "-judged-"
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
    """

    line: dict[str, Any]
    record: dict[str, Any]
    reply: str
    kept: dict[str, Verdict]


def rejudge(run: Path) -> list[Judged]:
    """Judges what a run's samples lack, and writes new files beside the old ones, which stay as they are.

    Verdicts that the same judge gave are kept; those of another judge are given anew.

    Args:
        run: A folder, such as that of `--output_path`, or one file of samples. Of each model the newest run is taken.

    Returns:
        One entry for each run that lacked verdicts.

    Raises:
        DataError: There is no such run, judging is off, or a file cannot be used.
    """
    judge = verdicts.describe_judge()
    if not verdicts.judging():
        raise DataError("CCRV_JUDGE=none turns judging off. Unset it, or set it to the judge's name.")
    files = [file for file in sample_files(run) if file.task.startswith("ccrv")]
    if not files:
        raise DataError(f"{run} holds samples of other benchmarks only: a judge is asked about ccrv tasks.")
    newest: dict[Path, str] = {file.path.parent: file.date for file in files}
    verdicts.check_judge(None)
    done = [
        _rejudge_run([file for file in files if (file.path.parent, file.date) == (folder, date)], judge)
        for folder, date in newest.items()
    ]
    return [judged for judged in done if judged is not None]


def _rejudge_run(files: Sequence[SampleFile], judge: dict[str, Any]) -> Judged | None:
    results = read_results(files[0].results)
    # It sorts after the run that it belongs to, and before that model's next run.
    date = f"{files[0].date.partition(_JUDGED)[0]}{_JUDGED}{datetime.now(timezone.utc):%Y%m%d_%H%M%S_%f}"
    asked = missing = 0
    tasks: dict[str, list[dict[str, Any]]] = {}
    for file in files:
        same_judge = _judge_of(results, file.task) == judge
        samples = [_read(file, line, same_judge) for line in read_samples(file)]
        lacking = [sample for sample in samples if sample.kept.keys() != _needed(sample)]
        verdicts.ask_all([(sample.record, sample.reply) for sample in lacking])
        records = [_judged(sample) for sample in samples]
        asked += len(lacking)
        missing += sum(bool(record["missing"]) for record in records)
        score = paired_metrics if file.task.removesuffix("_mini") == "ccrv" else metrics
        tasks[file.task] = [{**sample.line, **score(record)} for sample, record in zip(samples, records, strict=True)]
    if not asked:
        return None
    for task, lines in tasks.items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        _write(files[0].path.with_name(f"{date}_samples_{task}.jsonl"), text)
        results.setdefault("results", {}).setdefault(task, {}).update(_aggregate(task, lines))
        results.setdefault("configs", {}).setdefault(task, {}).setdefault("metadata", {})["judge"] = judge
    results["judged"] = {"run": files[0].date, "tasks": sorted(tasks)}
    path = files[0].path.with_name(f"{date}_results.json")
    _write(path, json.dumps(results, indent=2, ensure_ascii=False))
    return Judged(path, results, asked, missing)


def _read(file: SampleFile, line: dict[str, Any], same_judge: bool) -> _Sample:
    record = record_of(line)
    reply = line.get("filtered_resps")
    reply = reply[0] if isinstance(reply, list) and len(reply) == 1 else reply
    if record is None or not isinstance(reply, str):
        raise DataError(
            f"{file.path}, doc_id {line.get('doc_id')!r}: expected one reply and a record under dcr. Was it written by "
            "another version of this package?"
        )
    kept: dict[str, Verdict] = {}
    if same_judge and "dcr" not in record["missing"] and not record["failed"]:
        reasoning, layers = record["dcr_reasoning"], {name: record[name] for name in ("r1", "r2", "r3")}
        kept["dcr"] = DcrVerdict(reasoning=reasoning, **layers)
    if same_judge and record["y"] == "Y3" and "csr" not in record["missing"] and not record["failed"]:
        kept["csr"] = CsrVerdict(reasoning=record["csr_reason"], csr=record["csr"])
    return _Sample(line, record, reply, kept)


def _needed(sample: _Sample) -> set[str]:
    return {ask.kind for ask in asks(sample.record, sample.reply)}


def _judged(sample: _Sample) -> dict[str, Any]:
    given: dict[str, Verdict | Missing] = dict(sample.kept)
    if given.keys() != _needed(sample):
        given = verdicts.on(sample.record, sample.reply)
    return make_record(sample.record, sample.reply, given)


def _judge_of(results: dict[str, Any], task: str) -> object:
    return results.get("configs", {}).get(task, {}).get("metadata", {}).get("judge")


def _aggregate(task: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """A task's results from its samples, by the harness's own code and the task's own YAML."""
    from lmms_eval.evaluator_utils import TaskOutput
    from lmms_eval.utils import load_yaml_config

    template = "_all" if task.removesuffix("_mini") == "ccrv" else "_ccrv"
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


def _write(path: Path, text: str) -> None:
    aside = path.with_name(f".{path.name}")
    aside.write_text(text, encoding="utf-8")
    aside.rename(path)
