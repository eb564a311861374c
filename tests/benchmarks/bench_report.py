"""A report's cost: 1,000,000 logged samples of 30 models, and the bootstrap of one table.

Wanted: a report in under 60 s and 2 GB; path F1 of 30 models, 975 pairs and 10,000 resamples in under 5 s.

    python tests/benchmarks/bench_report.py [--samples 1000000]
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import psutil
from benchmarks.running import sizes
from joblib.externals.loky import get_reusable_executor
from report_runs import write_many
from rich.console import Console
from rich.table import Table

from condchain_tasks.report.build import build
from condchain_tasks.report.evaluations import Runs, read_runs
from condchain_tasks.report.intervals import RESAMPLES, bootstrap_path_f1, compare_path_f1
from condchain_tasks.report.model import Report
from condchain_tasks.report.page import write_page


class _Memory(threading.Thread):
    """The most that this process and those that it started have held together, looked at ten times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._ended = threading.Event()

    def __enter__(self) -> _Memory:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        own = psutil.Process()
        while not self._ended.wait(0.1):
            held = 0
            for process in (own, *own.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess):
                    held += process.memory_info().rss
            self.peak = max(self.peak, held)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    size = sizes(__doc__, arguments, samples=(1_000_000, 600), models=(30, 2), pairs=(975, 20))
    try:
        with _Memory() as memory:
            measure(size.samples, size.models, size.pairs, memory)
    finally:
        get_reusable_executor().shutdown()  # the report's processes, which it keeps for further calls


def measure(samples: int, models: int, pairs_of_a_model: int, memory: _Memory) -> None:
    table = Table("", "seconds", "of CPU, here", "peak memory so far, MB", title=f"{models} models")

    def timed(name: str, work: Callable[[], object]) -> None:
        start, start_cpu = time.perf_counter(), time.process_time()
        work()
        seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
        table.add_row(name, f"{seconds:.1f}", f"{cpu:.1f}", f"{memory.peak / 1e6:.0f}")

    with tempfile.TemporaryDirectory() as folder:
        written = write_many(Path(folder), models, samples)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.jsonl"))
        found: list[Runs] = []
        made: list[Report] = []
        each = f"{written:,} samples, {size / written:,.0f} bytes each"
        timed(f"read {each}", lambda: found.append(read_runs([Path(folder)])))
        timed("sections and items", lambda: made.append(build(found[0])))
        timed("page", lambda: write_page(made[0], Path(folder) / "report.html"))

    rng = np.random.default_rng(0)
    correct = 100.0 * (rng.random((models, 2 * pairs_of_a_model)) < rng.uniform(0.3, 0.9, size=(models, 1)))
    is_true, pairs = np.tile([True, False], pairs_of_a_model), np.repeat(np.arange(pairs_of_a_model), 2)
    shape = f"{models} x {pairs_of_a_model} pairs x {RESAMPLES:,}"
    timed(f"intervals of path F1, {shape}", lambda: [bootstrap_path_f1(one, is_true, pairs) for one in correct])
    timed(
        f"comparisons with the first of them, {shape}",
        lambda: [compare_path_f1(correct[0], one, is_true, pairs) for one in correct[1:]],
    )
    Console().print(table)


if __name__ == "__main__":
    main()
