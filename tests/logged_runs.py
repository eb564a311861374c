"""Runs of the real harness in its own files, made once and copied for each test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness import evaluate

Line = dict[str, Any]


def write_run(folder: Path, tasks: Sequence[str], date: str = "20260101_000000", **arguments: Any) -> None:
    """Evaluates, and writes results and samples as `lmms-eval --log_samples --output_path` does.

    Args:
        folder: That of `--output_path`.
        tasks: What to run.
        date: In the files' names.
        **arguments: Further arguments of `harness.evaluate`.
    """
    from lmms_eval.loggers import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(folder))
    results = evaluate(list(tasks), evaluation_tracker=tracker, **arguments)
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples, datetime_str=date)
    for task in samples:
        tracker.save_results_samples(task_name=task, samples=samples[task])


def the_log(folder: Path, task: str, newest: bool = True) -> Path:
    """The newest, or the oldest, log of a task below a folder."""
    return (max if newest else min)(folder.rglob(f"*_samples_{task}.jsonl"), key=lambda path: path.stat().st_mtime_ns)


def lines_of(log: Path) -> list[Line]:
    """The lines of a log."""
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def edit(log: Path, change: Callable[[int, Line], None]) -> None:
    """Changes each line of a log in place, by its number, from 0."""
    lines = lines_of(log)
    for number, line in enumerate(lines):
        change(number, line)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def figures_of(folder: Path, task: str) -> dict[str, Any]:
    """A task's figures by the newest results below a folder."""
    newest = max(folder.rglob("*_results.json"), key=lambda path: path.stat().st_mtime_ns)
    results = json.loads(newest.read_text(encoding="utf-8"))["results"][task]
    return {name.partition(",")[0]: value for name, value in results.items() if "," in name}
