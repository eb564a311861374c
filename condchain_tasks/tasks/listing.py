"""What can be said of every task without fetching, drawing or loading anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from condchain_tasks.data import ccrv_tasks, condchain_source, vrex_tasks
from condchain_tasks.data.benchmarks import BENCHMARKS, benchmark_of
from condchain_tasks.data.identity import is_drawn
from condchain_tasks.data.sources import folder_in

_HERE = Path(__file__).parent
_NAME = re.compile(r"^(task|group): (\w+)$", re.MULTILINE)
_LIST = re.compile(r"^(task|tag): \[([\w, ]*)\]$", re.MULTILINE)

_CHAINS = {"natural": 398, "chart": 200, "gui": 377}  # of MM-CondChain, by its paper
_PICTURES = 100  # of CCRV-Bench
_QUESTIONS = 2  # of CCRV-Bench: on each picture, in each dimension
_SAMPLES = 702  # of V-REX
_DATA = {"condchain": condchain_source.DATA, "ccrv": ccrv_tasks.DATA, "vrex": vrex_tasks.DATA}


@dataclass(frozen=True)
class Listed:
    """A task or a group.

    Attributes:
        name: What `--tasks` takes.
        benchmark: "condchain", "ccrv" or "vrex".
        tags: What `--tasks` takes too, for all tasks that have it.
        members: Of a group: its tasks.
        samples: What the harness counts, and `--limit` cuts; None where only the data can tell.
        requests: That a run of it sends; None where only the data can tell.
        source: Where its data comes from, in a few words.
        state: Whether that data is there, in a few words.
    """

    name: str
    benchmark: str
    tags: tuple[str, ...]
    members: tuple[str, ...]
    samples: int | None
    requests: int | None
    source: str
    state: str


def listed(pattern: str = "*", tag: str | None = None, benchmark: str | None = None) -> list[Listed]:
    """Tasks and groups, by name.

    Args:
        pattern: What their names are like, with `*` and `?`; a text without them is looked for within the names.
        tag: Only those that have it.
        benchmark: Only this benchmark's.
    """
    wanted = pattern if set("*?[") & set(pattern) else f"*{pattern}*"
    return sorted(
        (
            one
            for one in _all()
            if fnmatchcase(one.name, wanted) and tag in (None, *one.tags) and benchmark in (None, one.benchmark)
        ),
        key=lambda one: one.name,
    )


def _all() -> Iterator[Listed]:
    for file in _HERE.glob("*/*.yaml"):
        text = file.read_text(encoding="utf-8")
        lists = {kind: tuple(re.findall(r"\w+", names)) for kind, names in _LIST.findall(text)}
        for _, name in _NAME.findall(text):
            benchmark = benchmark_of(name)[0]
            members = lists.get("task", ())
            sizes = [_size(member) for member in members or (name,)]
            source, state = BENCHMARKS[benchmark].describe(name)
            yield Listed(
                name=name,
                benchmark=benchmark,
                tags=lists.get("tag", ()),
                members=members,
                samples=_sum(samples for samples, _ in sizes),
                requests=_sum(requests for _, requests in sizes),
                source=source,
                state=state,
            )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count or 0 for count in known)


def _size(task: str) -> tuple[int | None, int | None]:
    """A task's samples and requests; of data in a folder that `condchain synth` wrote, nothing is known."""
    benchmark, mini = task.partition("_")[0], task.endswith("_mini")
    folder = folder_in(_DATA[benchmark])
    if not mini and folder and is_drawn(folder):
        return None, None
    if benchmark == "condchain":
        domain = task.split("_")[1]
        paths = 2 * (condchain_source.MINI_CHAINS if mini else _CHAINS[domain])
        return paths, paths
    if benchmark == "ccrv":
        subset = ccrv_tasks.Subset.of(task)
        pictures = ccrv_tasks.MINI_SCENES if mini else _PICTURES
        items = _QUESTIONS * pictures * len(subset.xs) * len(subset.ys)
        return items, items
    variant = vrex_tasks.Variant.of(task)
    chains = vrex_tasks.MINI_CHAINS if mini else _SAMPLES
    if variant.mode == "direct":
        return chains, chains
    if variant.teacher_forced:
        return None, None
    return chains if mini or variant.set == "standard" else None, None  # as many requests as the chains have steps
