"""CCRV-Bench's tasks: which items each has, and where they come from."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from condchain_tasks.data import prepared
from condchain_tasks.data.ccrv import (
    BASELINE_FILE,
    CONSTRAINED_FILE,
    DIMENSIONS,
    HOW_TO_GET,
    PICTURES,
    SCHEMA,
    SETTINGS,
    Row,
    read,
)
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.prepared import Content, Files, Prepared, Reading
from condchain_tasks.data.request_size import Largest, largest
from condchain_tasks.data.sources import Source, describe_embedded, embedded, folder_in, named_by
from condchain_tasks.wording import counted

DATA = "CCRV_DATA"

MINI_SCENES = 10
"""Pictures of the embedded benchmark."""

_MINI_SEED = 20_260_401
_XS = tuple(DIMENSIONS.values())
_CELL = re.compile(r"x([1-4])_(base|y[1-4])")


@dataclass(frozen=True)
class Subset:
    """The items of a task.

    Attributes:
        name: Of the task, without benchmark and `_mini`; "all" for all items.
        xs: Causal dimensions.
        ys: "base" and constraints.
        setting: "standard" or a control: "textonly", "oracle", "oracle_textonly", "cot_a", "cot_b".
    """

    name: str
    xs: tuple[str, ...]
    ys: tuple[str, ...]
    setting: str = "standard"

    @classmethod
    def of(cls, task: str) -> Subset:
        """The subset that a task's name stands for.

        Raises:
            KeyError: There is no such task.
        """
        name = task.removesuffix("_mini").removeprefix("ccrv").removeprefix("_")
        if not name:
            return cls("all", _XS, SETTINGS)
        if cell := _CELL.fullmatch(name):
            return cls(name, (f"X{cell[1]}",), (cell[2].replace("y", "Y"),))
        y, setting = _CONTROLS[name]
        return cls(name, _XS, (y,), setting)

    def row(self, row: Row) -> Row:
        """A row in this setting; text-only settings show no picture."""
        return replace(row, setting=self.setting, images=[] if "textonly" in self.setting else row.images)


_CONTROLS = {  # paper, appendix B
    "textonly": ("base", "textonly"),
    "textonly_y1": ("Y1", "textonly"),
    "oracle_textonly_y1": ("Y1", "oracle_textonly"),
    "oracle_y1": ("Y1", "oracle"),
    "oracle_y2": ("Y2", "oracle"),
    "oracle_y4": ("Y4", "oracle"),
    "cot_a": ("base", "cot_a"),
    "cot_b": ("base", "cot_b"),
}


def load(task: str) -> tuple[Source, Prepared]:
    """A task's data, prepared.

    Args:
        task: Such as "ccrv" or "ccrv_x1_y2_mini".

    Returns:
        Where it comes from, and its rows, those of one picture together.

    Raises:
        DataError: The data cannot be had or used.
        KeyError: There is no such task.
    """
    subset = Subset.of(task)
    source = _mini() if task.endswith("_mini") else _official()
    root = source.root

    def read_subset() -> Reading:
        reading = read(source)
        rows = tuple(subset.row(row) for row in reading.rows if row.x in subset.xs and row.y in subset.ys)
        if not rows and not reading.faults:
            raise DataError(f"{root} has no items for {task}.")
        return replace(reading, rows=rows)

    return source, prepared.prepare(
        f"ccrv/{subset.name}",
        source,
        Files((root / BASELINE_FILE, root / CONSTRAINED_FILE), root / PICTURES),
        Content("ccrv", SCHEMA, read_subset, _characters),
        check=f"condchain data check ccrv {root}",
    )


def describe(task: str) -> tuple[str, str]:
    """Says where a task's data comes from, and whether it is there, without making anything."""
    if task.endswith("_mini"):
        return describe_embedded("ccrv")
    folder = folder_in(DATA)
    if folder is None:
        return f"folder, {DATA}", f"missing: set {DATA}"
    there = all((folder / name).is_file() for name in (BASELINE_FILE, CONSTRAINED_FILE))
    return f"{DATA}={os.environ[DATA]}", "there" if there else "its two JSON files are not there"


def parts(folder: Path | None) -> Iterator[tuple[str, Callable[[], Reading]]]:
    """The data's one part, for a check."""
    yield "ccrv", lambda: read(_official() if folder is None else Source(folder.absolute(), "folder"))


def count(reading: Reading) -> str:
    """How much a reading holds."""
    baseline = sum(row.y == "base" for row in reading.rows)
    pictures = len({row.image for row in reading.rows})
    lines = [f"{number} {kind}" for kind, number in sorted(reading.counts.items())]
    constrained = counted(len(reading.rows) - baseline, "constrained item")
    lines.append(f"{counted(pictures, 'picture')}, {counted(baseline, 'baseline item')} and {constrained}")
    return "\n  ".join(lines)


def size(reading: Reading) -> Largest:
    """The largest request."""
    return largest(reading.rows, _characters)


def _characters(row: Row) -> int:
    known = len(row.reference) + len(row.rationale) + len(row.adapted) if "oracle" in row.setting else 0
    return len(row.question) + known


def _official() -> Source:
    source = named_by(DATA)
    if source is None:
        raise DataError(
            f"CCRV-Bench is not on the Hub. {HOW_TO_GET} Or run the embedded ccrv_mini, which needs no data."
        )
    return source


def _mini() -> Source:
    from condchain_tasks.synth.causal import write_dataset

    return embedded("ccrv", lambda path: write_dataset(path, n=MINI_SCENES, seed=_MINI_SEED))
