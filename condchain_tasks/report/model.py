"""What a report consists of, before it is HTML, Markdown, CSV or LaTeX."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Value:
    """One figure.

    Attributes:
        value: Per cent or points; None where there is nothing to average.
        low: Lower end of the 95 % interval; None if there is none.
        high: Upper end.
        n: What it is an average over; None for a published figure.
        flags: Why it must not be set beside the others without thought, one sentence each.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    flags: tuple[str, ...] = ()


Cell = str | int | Value | None


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        id: Unique in the report; letters, digits and hyphens.
        title: What it shows.
        columns: Headings; the first column names the row.
        rows: One cell a column.
        published: Numbers of the rows that stand in a paper, from 0.
        notes: Caveats, one sentence each; shown right at the table.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    published: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Series:
    """Points, bars or cells of one name.

    Attributes:
        name: In the legend.
        x: Categories or numbers.
        y: Numbers, None for a gap; for a heat map categories.
        z: Heat map: rows of numbers, one for each of `y`, one value for each of `x`.
        low: Lower ends of intervals, as many as `y`; empty if there are none.
        high: Upper ends.
        text: What is shown when a point is pointed at, as many as `y`; empty for the values alone.
        published: Whether it stands in a paper.
    """

    name: str
    x: tuple[str | float, ...]
    y: tuple[str | float | None, ...]
    z: tuple[tuple[float | None, ...], ...] = ()
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    text: tuple[str, ...] = ()
    published: bool = False


@dataclass(frozen=True)
class Chart:
    """A chart. Every chart stands beside a table with the same values (`table`).

    Attributes:
        id: Unique in the report.
        title: What it shows.
        kind: Its form.
        series: What is in it.
        x_title: With the unit.
        y_title: With the unit.
        table: Id of the table that says the same.
        lines: Reference lines: (x0, y0, x1, y1, label), such as the diagonal of balance.
        regions: Labels in the plane: (x, y, text), such as "goes on too readily".
    """

    id: str
    title: str
    kind: Literal["scatter", "bar", "line", "heatmap"]
    series: tuple[Series, ...]
    x_title: str
    y_title: str
    table: str
    lines: tuple[tuple[float, float, float, float, str], ...] = ()
    regions: tuple[tuple[float, float, str], ...] = ()


@dataclass(frozen=True)
class Section:
    """A part of the report.

    Attributes:
        id: Unique in the report.
        title: Such as "MM-CondChain" or "MM-CondChain (embedded twin)".
        notes: What a reader must know, one sentence each.
        tables: In order.
        charts: In order; each is shown before its table.
    """

    id: str
    title: str
    notes: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True)
class Item:
    """One sample, for the browser of single items. Everything in it may come from a model or a file: it is escaped.

    Attributes:
        model: Who answered.
        task: The task's name.
        key: Of the sample within the task.
        right: Whether it counts as right; None if it cannot be said.
        tags: What it can be filtered by: name -> value, such as path -> "false", cell -> "X1 Y3".
        image: Absolute path of the picture, or of the first of several; "" if there is none.
        instruction: What was asked.
        reply: What the model said.
        details: Name and text of what was read from it, the gold, the verdict and its reason, the layer of divergence.
    """

    model: str
    task: str
    key: str
    right: bool | None
    tags: dict[str, str]
    image: str
    instruction: str
    reply: str
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Problem:
    """Something that a reader must know of the runs before the figures.

    Attributes:
        severity: "error": left out of the report. "warning": in it, and to be taken with care. "note".
        where: A file, a run, or a model and task.
        text: What is wrong, and what was done about it.
    """

    severity: Literal["error", "warning", "note"]
    where: str
    text: str


@dataclass(frozen=True)
class Report:
    """A whole report.

    Attributes:
        title: Of the page.
        problems: Health first.
        sections: In order.
        items: For the browser.
        left_out_items: How many items the browser does not hold.
        provenance: Tables of where the figures are from: runs, data, prompts, settings, versions; shown last.
    """

    title: str
    problems: tuple[Problem, ...] = ()
    sections: tuple[Section, ...] = ()
    items: tuple[Item, ...] = field(default=())
    left_out_items: int = 0
    provenance: tuple[Table, ...] = ()
