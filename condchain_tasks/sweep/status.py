"""What became of a sweep's cells, from the files that they left."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from condchain_tasks.data.errors import DataError
from condchain_tasks.report.runs import read_results
from condchain_tasks.sweep.plan import Plan
from condchain_tasks.sweep.write import BUDGET_REACHED, CELLS, EXIT_CODE, LOG, NO_RESULTS

State = Literal["done", "running", "failed", "missing"]

FRESH_MINUTES = 15.0
"""A cell whose log was written to within this time, and that has no exit code, is taken to be running."""

_TAIL_BYTES = 200_000
_MAX_DETAIL = 300
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
_ERROR = re.compile(r"\b(?:\w*Error|\w*Exception|ERROR|CRITICAL|FATAL|Killed|error:|srun:|slurmstepd:)")
_SAID = {
    NO_RESULTS: "lmms-eval ended without results",
    BUDGET_REACHED: "max_tokens were spent before it was through; another start goes on with as much again",
    137: "killed, as for want of memory",
}


@dataclass(frozen=True)
class CellStatus:
    """One cell.

    Attributes:
        name: Of the cell, and of its folder.
        model: Its model's name in the plan.
        task: Its task.
        setting: Its setting's name in the plan.
        state: "done": its results are there. "running": no exit code, and a fresh log. "failed": it has an exit code
            other than 0, or stopped without one. "missing": it was never started.
        detail: One line: of a failed cell why, by its exit code and the last error in its log; of one that is done
            what is wrong with its results, if anything; else "".
        results: The file of results of a cell that is done.
        log: Its log, there or not.
    """

    name: str
    model: str
    task: str
    setting: str
    state: State
    detail: str
    results: Path | None
    log: Path


def status(plan: Plan, out: Path, fresh_minutes: float = FRESH_MINUTES) -> list[CellStatus]:
    """Looks at each cell of a plan.

    Args:
        plan: The plan.
        out: The folder that the sweep was written to.
        fresh_minutes: See `FRESH_MINUTES`.

    Returns:
        One entry for each cell, in the plan's order.

    Raises:
        DataError: There is no sweep in the folder.
    """
    if not (out / CELLS).is_dir():
        raise DataError(f"{out} holds no sweep. Write it first: condchain sweep PLAN --out {out}")
    rows = []
    for cell in plan.cells:
        folder = out / CELLS / cell.name
        state, detail, results = _look(folder, fresh_minutes)
        rows.append(
            CellStatus(cell.name, cell.model.name, cell.task, cell.setting.name, state, detail, results, folder / LOG)
        )
    return rows


def _look(folder: Path, fresh_minutes: float) -> tuple[State, str, Path | None]:
    code = _exit_code(folder / EXIT_CODE)
    results = max(folder.rglob("*_results.json"), key=lambda path: path.stat().st_mtime, default=None)
    if code == 0 and results:
        return _done(results)
    if code == BUDGET_REACHED:
        return "failed", f"exit code {code}, {_SAID[code]}", None
    if code is not None:
        return "failed", _because(folder, f"exit code {code}" + (f", {_SAID[code]}" if code in _SAID else "")), None
    written = _age(folder / LOG)
    if written is None:
        # Run by hand with lmms-eval's --config, it leaves nothing but its results.
        return _done(results) if results else ("missing", "", None)
    if written <= 60 * fresh_minutes:
        return "running", "", None
    return "failed", _because(folder, f"stopped {written / 3600:.1f} h ago without an exit code"), None


def _done(path: Path) -> tuple[State, str, Path | None]:
    try:
        results = read_results(path)
    except DataError as error:
        return "failed", str(error), None
    date = path.name.removesuffix("_results.json")
    absent = [
        task
        for task in _mapping(results.get("configs"))
        if not path.with_name(f"{date}_samples_{task}.jsonl").is_file()
    ]
    if absent:
        return "failed", f"there are no samples of {', '.join(absent)} beside {path}", None
    return "done", "; ".join(_remarks(results))[:_MAX_DETAIL], path


def _remarks(results: Mapping[str, Any]) -> Iterator[str]:
    """What keeps results from being what they look like."""
    for task, figures in _mapping(results.get("results")).items():
        for metric, what in (("failed,none", "requests failed"), ("missing,none", "verdicts are missing")):
            share = _mapping(figures).get(metric)
            if task in _mapping(results.get("configs")) and isinstance(share, int | float) and share > 0:
                yield f"{share:.1f} % of {task}: {what}"


def _because(folder: Path, reason: str) -> str:
    line = _last_error(folder / LOG)
    return f"{reason}: {line}" if line else reason


def _last_error(log: Path) -> str:
    """The last line that tells of an error, else the last line; without anything that would steer a terminal."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            text = file.read(_TAIL_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""
    lines = [line.strip() for line in re.split(r"[\r\n]+", _ESCAPE.sub("", text)) if line.strip()]
    found = next((line for line in reversed(lines) if _ERROR.search(line)), lines[-1] if lines else "")
    return "".join(c if c.isprintable() else " " for c in found)[:_MAX_DETAIL]


def _exit_code(path: Path) -> int | None:
    try:
        with path.open("rb") as file:
            return int(file.read(20))
    except (OSError, ValueError):
        return None


def _age(path: Path) -> float | None:
    """Seconds since a file was written to."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except OSError:
        return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
