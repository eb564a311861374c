"""The benchmarks by name: what loads, describes and checks the data of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from condchain_tasks.data import ccrv_tasks, condchain, condchain_source, vrex_tasks
from condchain_tasks.data.prepared import Prepared, Reading
from condchain_tasks.data.request_size import Largest
from condchain_tasks.data.sources import Source


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark's data module offers.

    Attributes:
        load: From a task's name to its source and its prepared rows. Raises DataError, or KeyError for no such task.
        describe: From a task's name to its source and state, a few words each, without fetching or making anything.
        parts: From a folder, or None for what a run would use, to what can be checked: a name and what reads it.
        count: How much a reading holds, in words.
        size: A reading's largest request.
    """

    load: Callable[[str], tuple[Source, Prepared]]
    describe: Callable[[str], tuple[str, str]]
    parts: Callable[[Path | None], Iterator[tuple[str, Callable[[], Reading]]]]
    count: Callable[[Reading], str]
    size: Callable[[Reading], Largest]


BENCHMARKS = {
    "condchain": Benchmark(condchain.load, condchain_source.describe, condchain.parts, condchain.count, condchain.size),
    "ccrv": Benchmark(ccrv_tasks.load, ccrv_tasks.describe, ccrv_tasks.parts, ccrv_tasks.count, ccrv_tasks.size),
    "vrex": Benchmark(vrex_tasks.load, vrex_tasks.describe, vrex_tasks.parts, vrex_tasks.count, vrex_tasks.size),
}


def benchmark_of(task: str) -> tuple[str, Benchmark]:
    """The benchmark that a task belongs to, by its name's first word.

    Raises:
        KeyError: It belongs to none.
    """
    name = task.partition("_")[0]
    return name, BENCHMARKS[name]
