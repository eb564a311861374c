"""V-REX's tasks: which rows each has, and where they come from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from condchain_tasks.data import prepared
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.prepared import Content, Files, Prepared, Reading
from condchain_tasks.data.request_size import Largest, largest
from condchain_tasks.data.sources import Source, describe_embedded, embedded, folder_in, named_by
from condchain_tasks.data.vrex import (
    FOLLOWING,
    HARD,
    HOW_TO_GET,
    PICTURES,
    PLANNING,
    SCENARIOS,
    SCHEMA,
    Mode,
    OptionSet,
    Row,
    Step,
    read,
)
from condchain_tasks.wording import counted

DATA = "VREX_DATA"

MINI_CHAINS = 40
"""Chains of the embedded benchmark."""

_MINI_SEED = 20_260_404


@dataclass(frozen=True)
class Variant:
    """What a task asks, and how.

    Attributes:
        mode: Which question to ask next ("planning"), the answer to each question ("following"), or the final question
            alone ("direct").
        set: "standard", or "hard": eight options to pick the next question from.
        blind: No picture is shown.
        teacher_forced: Each step is a row of its own, with the right history.
        mini: Of the embedded benchmark.
    """

    mode: Mode
    set: OptionSet = "standard"
    blind: bool = False
    teacher_forced: bool = False
    mini: bool = False

    @classmethod
    def of(cls, task: str) -> Variant:
        """The variant that a task's name stands for.

        Raises:
            KeyError: There is no such task.
        """
        name = task.removesuffix("_mini")
        return replace(_VARIANTS[name], mini=name != task)

    @property
    def file(self) -> str:
        """Where its records stand, relative to the dataset's root; a "direct" one can do with `PLANNING` too."""
        if self.mode != "planning":
            return FOLLOWING
        return HARD if self.set == "hard" else PLANNING

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """This variant's rows, made from those of a reading and in their order."""
        for row in self._chains(tuple(rows)):
            shown = replace(row, blind=True, images=[]) if self.blind else row
            if self.teacher_forced:
                yield from (replace(shown, step=step) for step in range(1, row.length + 1))
            else:
                yield shown

    def _chains(self, rows: tuple[Row, ...]) -> list[Row]:
        if self.mode != "direct":
            return [row for row in rows if (row.mode, row.set) == (self.mode, self.set)]
        followed = {row.id for row in rows if row.mode == "following"}
        return [
            replace(row, mode="direct", steps=row.steps[-1:])
            for row in rows
            if row.mode == "following" or (row.set == "standard" and row.id not in followed)
        ]


_VARIANTS = {
    "vrex_planning": Variant("planning"),
    "vrex_planning_hard": Variant("planning", set="hard"),
    "vrex_planning_blind": Variant("planning", blind=True),
    "vrex_planning_tf": Variant("planning", teacher_forced=True),
    "vrex_following": Variant("following"),
    "vrex_following_blind": Variant("following", blind=True),
    "vrex_following_tf": Variant("following", teacher_forced=True),
    "vrex_direct": Variant("direct"),
    "vrex_direct_blind": Variant("direct", blind=True),
}


def load(task: str) -> tuple[Source, Prepared]:
    """A task's data, prepared.

    Args:
        task: Such as "vrex_planning" or "vrex_following_tf_mini".

    Returns:
        Where it comes from, and its rows, those of one picture together.

    Raises:
        DataError: The data cannot be had or used.
        KeyError: There is no such task.
    """
    variant = Variant.of(task)
    source = _mini() if variant.mini else _official()
    root = source.root

    def read_variant() -> Reading:
        reading = read(source)
        rows = tuple(variant.rows(reading.rows))
        if not rows and not reading.faults:
            raise DataError(f"{root / variant.file} is not there, or has no samples for {task}. {HOW_TO_GET}")
        return replace(reading, rows=rows)

    return source, prepared.prepare(
        f"vrex/{task.removesuffix('_mini')}",
        source,
        Files(tuple(root / name for name in (PLANNING, FOLLOWING, HARD)), root / PICTURES),
        Content("vrex", SCHEMA, read_variant, _characters),
        check=f"condchain data check vrex {root}",
    )


def describe(task: str) -> tuple[str, str]:
    """Says where a task's data comes from, and whether it is there, without making anything."""
    if task.endswith("_mini"):
        return describe_embedded("vrex")
    folder = folder_in(DATA)
    if folder is None:
        return f"folder, {DATA}", f"missing: set {DATA}"
    there = any((folder / name).is_file() for name in (PLANNING, FOLLOWING))
    return f"{DATA}={os.environ[DATA]}", "there" if there else f"neither {PLANNING} nor {FOLLOWING} is there"


def parts(folder: Path | None) -> Iterator[tuple[str, Callable[[], Reading]]]:
    """The data's one part, for a check."""
    yield "vrex", lambda: read(_official() if folder is None else Source(folder.absolute(), "folder"))


def count(reading: Reading) -> str:
    """How much a reading holds: a line each for categories, scenarios, steps and options, then the sum."""
    samples = {row.id: row for row in reading.rows}
    kinds = Counter(_kind(row) for row in reading.rows)
    categories = Counter(row.category for row in samples.values())
    scenarios = Counter(row.scenario for row in samples.values())
    known = dict.fromkeys(name for names in SCENARIOS.values() for name in names)
    lengths = Counter(row.length for row in samples.values())
    options = Counter((_kind(row), _offers(step), len(step.options)) for row in reading.rows for step in row.steps)
    lines = [
        f"categories: {_named(categories, SCENARIOS)}",
        f"scenarios: {_named(scenarios, [*known, *sorted(scenarios.keys() - known.keys())])}",
        f"steps a sample: {_sized(lengths)}",
    ]
    for kind, offered in dict.fromkeys(key[:2] for key in options):
        sizes = Counter({size: n for (*key, size), n in options.items() if key == [kind, offered]})
        lines.append(f"{offered} to choose from in a step of {kind}: {_sized(sizes)}")
    return "\n  ".join([*lines, f"{counted(len(samples), 'sample')}: {_named(kinds, kinds)}"])


def size(reading: Reading) -> Largest:
    """The largest request."""
    return largest(reading.rows, _characters)


def _characters(row: Row) -> int:
    """At most, in the last turn: the history, and the options of every step as if they were repeated."""
    return len(row.final_question) + sum(len(text) for step in row.steps for text in step.texts())


def _kind(row: Row) -> str:
    return f"{row.set} {row.mode}" if row.mode == "planning" else row.mode


def _offers(step: Step) -> str:
    return "questions" if step.options[0].answer else "answers"


def _named(counts: Counter[str], order: Iterable[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])


def _sized(counts: Counter[int]) -> str:
    return ", ".join(f"{counts[size]} with {size}" for size in sorted(counts))


def _official() -> Source:
    source = named_by(DATA)
    if source is None:
        raise DataError(f"{DATA} is not set. {HOW_TO_GET} Or run the embedded vrex_mini, which needs no data.")
    return source


def _mini() -> Source:
    from condchain_tasks.synth.vrex import write_dataset

    return embedded("vrex", lambda path: write_dataset(path, n=MINI_CHAINS, seed=_MINI_SEED))
