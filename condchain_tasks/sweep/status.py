"""What became of a sweep's cells, from the files that they left."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import shown
from condchain_tasks.redaction import redacted_text
from condchain_tasks.report.runs import read_results, results_files
from condchain_tasks.sweep.plan import Plan
from condchain_tasks.sweep.write import (
    BUDGET_REACHED,
    CELLS,
    EXIT_CODE,
    LOCK,
    LOG,
    NO_RESULTS,
    RESULTS_FILE,
    STARTED,
)

State = Literal["done", "running", "failed", "missing"]

FRESH_MINUTES = 15.0
"""A cell without an exit code, whose log was written to within this time, is taken to be running on another machine.

Not every shared file system shows here what is locked there. A cell that was started on this machine runs as long as
its lock is held, and no longer."""

_TAIL_BYTES = 200_000
_MAX_DETAIL = 300
_MAX_PATH = 4_096
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
        state: "done": its results are there. "running": no exit code, and its lock is held or, if it was started on
            another machine, its log is fresh.
            "failed": it has an exit code other than 0, stopped without one, or left results that are damaged.
            "missing": it was never started.
        detail: One line that can be printed: of a failed cell why, by its exit code and the last error in its log, or
            by what is wrong with its results; of one that is done what keeps its figures from being what they look
            like, if anything; else "".
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
        try:
            state, detail, results = _look(folder, fresh_minutes)
        except OSError as error:
            state, detail, results = "failed", _clean(f"its files cannot be read: {error}"), None
        rows.append(
            CellStatus(cell.name, cell.model.name, cell.task, cell.setting.name, state, detail, results, folder / LOG)
        )
    return rows


def _look(folder: Path, fresh_minutes: float) -> tuple[State, str, Path | None]:
    code = _exit_code(folder / EXIT_CODE)
    results = _results(folder)
    if code == 0:
        state, detail, path = (
            _ended(results) if results else ("failed", "its results are gone, or cannot be read", None)
        )
        # cell.sh goes by the exit code alone.
        hint = f"; to have it run again, remove {folder / EXIT_CODE}" if state == "failed" else ""
        return state, detail + hint, path
    if code == BUDGET_REACHED:
        return "failed", f"exit code {code}, {_SAID[code]}", None
    if code is not None:
        return "failed", _because(folder, f"exit code {code}" + (f", {_SAID[code]}" if code in _SAID else "")), None
    if _is_held(folder / LOCK):
        return "running", "", None
    signs = [at for at in map(_modified, (folder / LOG, folder / STARTED)) if at is not None]
    if not signs:
        # Run by hand with lmms-eval's --config, it leaves nothing but its results.
        return _ended(results) if results else ("missing", "", None)
    age = max(0.0, time.time() - max(signs))
    if age <= 60 * fresh_minutes and not _was_locked_here(folder / STARTED):
        return "running", "", None
    return "failed", _because(folder, f"stopped {age / 3600:.1f} h ago without an exit code"), None


def _results(folder: Path) -> Path | None:
    """The results that the cell's last start left by its own word, else the newest ones."""
    files = results_files(folder)
    try:
        with (folder / RESULTS_FILE).open("rb") as file:
            named = folder / os.fsdecode(file.read(_MAX_PATH)).rstrip("\n")
    except OSError:
        named = folder
    return named if named in files else max(files, key=lambda path: _modified(path) or 0.0, default=None)


def _ended(path: Path) -> tuple[State, str, Path | None]:
    """A cell that left results."""
    try:
        results = read_results(path)
        if _mapping(results.get("usage")).get("budget_exceeded"):
            return "failed", _SAID[BUDGET_REACHED], None
        _check(results, path)
        return "done", _clean("; ".join(_remarks(results))), path
    except DataError as error:
        return "failed", f"damaged results: {error}", None


def _check(results: Mapping[str, Any], path: Path) -> None:
    """Refuses results of no task, and such as have no samples beside them."""
    for key in ("configs", "results"):
        if not _mapping(results.get(key)):
            raise DataError(f"{path}, field {key}: expected tasks, found {shown(results.get(key))}.")
    date = path.name.removesuffix("_results.json")
    # Names from a file are looked for, and no path is made of them.
    beside = {file.name for file in path.parent.iterdir() if file.is_file()}
    absent = [task for task in results["configs"] if f"{date}_samples_{task}.jsonl" not in beside]
    if absent:
        raise DataError(f"there are no samples of {_clean(', '.join(absent))} beside {path}.")


def _remarks(results: Mapping[str, Any]) -> Iterator[str]:
    """What keeps results from being what they look like."""
    for task, figures in results["results"].items():
        for metric, what in (("failed,none", "requests failed"), ("missing,none", "verdicts are missing")):
            share = _mapping(figures).get(metric)
            if task not in results["configs"] or not isinstance(share, int | float):
                continue
            if not 0 <= share <= 100:
                raise DataError(f"{_clean(task)}, {metric}: expected a share from 0 to 100, found {shown(share)}.")
            if share > 0:
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
    return _clean(next((line for line in reversed(lines) if _ERROR.search(line)), lines[-1] if lines else ""))


def _clean(text: str) -> str:
    """The start of a text, without secrets and anything that would steer a terminal."""
    printable = "".join(c if c.isprintable() else " " for c in _ESCAPE.sub("", text))
    return redacted_text(printable)[:_MAX_DETAIL]


def _exit_code(path: Path) -> int | None:
    try:
        with path.open("rb") as file:
            return int(file.read(20))
    except (OSError, ValueError):
        return None


def _is_held(lock: Path) -> bool:
    """Whether a cell's lock is held; False too where that cannot be told, as on some shared file systems."""
    try:
        with lock.open("rb") as file:
            # Shared, so that two who ask do not take each other for the cell.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _was_locked_here(started: Path) -> bool:
    """Whether a cell took its lock on this machine: it runs as long as that is held."""
    try:
        with started.open("rb") as file:
            return file.read(_MAX_PATH).split() == [os.fsencode(os.uname().nodename), b"locked"]
    except OSError:
        return False


def _modified(path: Path) -> float | None:
    """When a file was written to, if it is there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
