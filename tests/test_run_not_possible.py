"""Whatever goes wrong while data is prepared: one sentence, exit code 1, and no request."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

from harness import evaluate

from condchain_tasks.data import harness as rows
from condchain_tasks.data.benchmarks import BENCHMARKS
from condchain_tasks.data.harness import RunNotPossible

_FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
from condchain_tasks.data import harness
harness.{task}
"""


def test_a_picture_folder_that_is_a_loop_of_links(dataset: Path) -> None:
    pictures = dataset / "images" / "natural"
    pictures.rename(dataset / "elsewhere")
    pictures.symlink_to(pictures)
    with pytest.raises(RunNotPossible, match=r"^condchain_natural: .*images/natural"):
        evaluate("condchain_natural")


@pytest.mark.parametrize("task", ["condchain_gui_mini", "ccrv_mini", "vrex_planning_mini"])
def test_a_disk_that_is_full_while_the_embedded_benchmark_is_drawn(tmp_path: Path, task: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FULL_DISK.format(task=task)],
        env=os.environ | {"CONDCHAIN_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    sentence = done.stderr.strip().splitlines()[-1]
    assert sentence.startswith(f"{task}: ")
    assert os.strerror(errno.EFBIG) in sentence
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "error",
    [KeyError("steps"), MemoryError("out of memory"), RuntimeError("a process\nin the pool died"), RecursionError()],
)
def test_no_exception_is_taken_for_a_missing_task(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def load(task: str) -> Any:
        raise error

    monkeypatch.setitem(BENCHMARKS, "ccrv", replace(BENCHMARKS["ccrv"], load=load))
    with pytest.raises(RunNotPossible, match=rf"^ccrv_mini: its data cannot be prepared \({type(error).__name__}"):
        getattr(rows, "ccrv_mini")  # noqa: B009
    with pytest.raises(AttributeError, match="no task 'ccrv_x9_mini'"):
        getattr(rows, "ccrv_x9_mini")  # noqa: B009


@pytest.mark.parametrize("task", ["condchain_natural_mini", "vrex_planning_mini"])
def test_rows_that_the_harness_cannot_load(monkeypatch: pytest.MonkeyPatch, task: str) -> None:
    def load(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    immediately: Callable[[float], None] = lambda _: None  # noqa: E731
    monkeypatch.setattr("datasets.load_dataset", load)
    monkeypatch.setattr("tenacity.nap.time.sleep", immediately)
    with pytest.raises(RunNotPossible, match=rf"^{task}: .*No space left on device"):
        evaluate(task)
