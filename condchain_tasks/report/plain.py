"""A report as Markdown and CSV, and how figures are written in all formats, the page and LaTeX included.

Texts are escaped for each format: a model's name or a file's path is never markup, a command or a formula.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.files import write_aside
from condchain_tasks.report.model import Cell, Problem, Report, Table, Value

NOTHING = "–"
"""Stands where there is no figure."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
_PROBLEMS = "problems"
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
_PUBLISHED = "published"
_MAX_HEADER = 100_000

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$<>&])")
_AUTOLINK = re.compile(r"(?=://)|(?<=www)(?=\.)", re.IGNORECASE)
"""Where a backslash keeps GitHub from making a link."""


def number(value: float | None) -> str:
    """A figure with one decimal and a true minus sign; "–" if there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{value:.1f}".replace("-", "−")
    return "0.0" if text == "−0.0" else text


def interval(low: float | None, high: float | None) -> str:
    """Such as "[54.1, 60.2]"; "" unless there are both ends."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"[{number(low)}, {number(high)}]"


def figure(value: Value) -> str:
    """Such as "57.3 [54.1, 60.2] n=487"."""
    if number(value.value) == NOTHING:
        return NOTHING
    n = "" if value.n is None else f"n={value.n:,}"
    return " ".join(part for part in (number(value.value), interval(value.low, value.high), n) if part)


def flag_marks(table: Table) -> dict[str, str]:
    """Letters that stand for the flags of a table's figures, in the order in which they appear: a, b, ... z, aa, ..."""
    cells = chain.from_iterable(table.rows)
    flags = dict.fromkeys(flag for cell in cells if isinstance(cell, Value) for flag in cell.flags)
    return {flag: _letters(place) for place, flag in enumerate(flags)}


def is_numeric(table: Table, column: int) -> bool:
    """Whether a column holds figures, or would if there were any."""
    return not any(isinstance(row[column], str) for row in table.rows)


def to_markdown(report: Report) -> str:
    """Writes a report as GitHub's Markdown: all but the charts and the single items.

    Args:
        report: What to write.

    Returns:
        The text. Letters behind figures, such as "(a)", are explained below the table.
    """
    parts = [f"# {_markdown(report.title)}", "## Health", *_markdown_health(report.problems)]
    for section in report.sections:
        parts += [f"## {_markdown(section.title)}", *map(_markdown, section.notes)]
        parts += chain.from_iterable(map(_markdown_table, section.tables))
    if report.provenance:
        parts += ["## Provenance", *chain.from_iterable(map(_markdown_table, report.provenance))]
    return "\n\n".join(parts) + "\n"


def to_csv(report: Report, folder: Path) -> list[Path]:
    """Writes each table to a file of its own, and the problems to `problems.csv`.

    UTF-8 with a byte order mark, by which spreadsheets know it. A column of figures becomes several: "F1", "F1 low",
    "F1 high", "F1 n", "F1 flags", those that it needs. Figures are not rounded to one decimal but to six. A text that
    a spreadsheet would take for a formula begins with an apostrophe.

    Args:
        report: What to write.
        folder: Made if it does not exist; files of the same names are replaced, and tables of an earlier report that
            this one does not have are removed.

    Returns:
        The files.

    Raises:
        DataError: The id of a table cannot be a file's name, two tables have the same, or a link stands where a file
            is to be.
        OSError: The folder cannot be written to.
    """
    tables = [table for section in report.sections for table in section.tables] + list(report.provenance)
    taken = {_PROBLEMS}
    for table in tables:
        if not _ID.fullmatch(table.id) or table.id.lower() in taken:
            raise DataError(
                f"Table {table.id[:80]!r}: expected an id of letters, digits and hyphens that no other table has, "
                f"and not {_PROBLEMS!r}."
            )
        taken.add(table.id.lower())
    folder.mkdir(parents=True, exist_ok=True)
    files = {_PROBLEMS: _csv_problems(report.problems)} | {table.id: _csv_rows(table) for table in tables}
    written = [_write_csv(folder / f"{name}.csv", rows) for name, rows in files.items()]
    for other in set(folder.glob("*.csv")) - set(written):
        if _is_table(other):
            other.unlink()
    return written


def _letters(place: int) -> str:
    return (_letters(place // 26 - 1) if place >= 26 else "") + chr(ord("a") + place % 26)


def one_line(text: str) -> str:
    """Text without line breaks, control characters, and marks that turn the direction of writing."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _marks(value: Value, marks: dict[str, str]) -> str:
    return ", ".join(marks[flag] for flag in value.flags)


def _text(cell: Cell, marks: dict[str, str]) -> str:
    if cell is None:
        return NOTHING
    if isinstance(cell, Value):
        return f"{figure(cell)} ({_marks(cell, marks)})" if cell.flags else figure(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def _texts(table: Table) -> Iterator[list[str]]:
    """All cells of all rows as text; a row that stands in a paper says so."""
    marks = flag_marks(table)
    for place, row in enumerate(table.rows):
        first, *others = (_text(cell, marks) for cell in row)
        yield [f"{first} ({_PUBLISHED})" if place in table.published else first, *others]


def _notes(table: Table) -> list[str]:
    return [*table.notes, *(f"({mark}) {flag}" for flag, mark in flag_marks(table).items())]


def _markdown(text: str) -> str:
    return _AUTOLINK.sub(r"\\", _MARKDOWN.sub(r"\\\1", one_line(text)))


def _markdown_health(problems: Sequence[Problem]) -> list[str]:
    if not problems:
        return ["No problems were found."]
    return ["\n".join(f"- **{one.severity}** {_markdown(one.where)}: {_markdown(one.text)}" for one in problems)]


def _markdown_table(table: Table) -> list[str]:
    rules = ["---:" if is_numeric(table, place) else ":---" for place in range(len(table.columns))]
    rows = [[_markdown(name) for name in table.columns], rules]
    rows += [[_markdown(text) for text in row] for row in _texts(table)]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    notes = "\n".join(f"- {_markdown(note)}" for note in _notes(table))
    return [part for part in (f"### {_markdown(table.title)}", lines, notes) if part]


def _csv_problems(problems: Sequence[Problem]) -> Iterator[list[str]]:
    yield ["severity", "where", "what"]
    yield from ([one.severity, _csv_cell(one.where), _csv_cell(one.text)] for one in problems)


def _csv_rows(table: Table) -> Iterator[list[str]]:
    columns = [_csv_column(name, [row[place] for row in table.rows]) for place, name in enumerate(table.columns)]
    yield [*chain.from_iterable(names for names, _ in columns), _PUBLISHED]
    for place, row in enumerate(table.rows):
        cells = chain.from_iterable(write(cell) for (_, write), cell in zip(columns, row, strict=True))
        yield [*cells, "yes" if place in table.published else "no"]


def _csv_column(name: str, cells: list[Cell]) -> tuple[list[str], Callable[[Cell], list[str]]]:
    """The names of the columns that a column becomes, and what makes their cells."""
    values = [cell for cell in cells if isinstance(cell, Value)]
    parts = [
        part for part in ("low", "high", "n", "flags") if any(getattr(one, part) not in (None, ()) for one in values)
    ]

    def write(cell: Cell) -> list[str]:
        if isinstance(cell, Value):
            return [_csv_cell(cell.value), *(_csv_cell(getattr(cell, part)) for part in parts)]
        return [_csv_cell(cell), *[""] * len(parts)]

    return [_csv_cell(name), *(_csv_cell(f"{name} {part}") for part in parts)], write


def _csv_cell(cell: str | float | tuple[str, ...] | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, (int, float)):
        return f"{round(cell, 6)}" if math.isfinite(cell) else ""
    text = one_line(" ".join(cell) if isinstance(cell, tuple) else cell)
    return f"'{text}" if _FORMULA.match(text) else text


def _write_csv(path: Path, rows: Iterator[Sequence[str]]) -> Path:
    if path.is_symlink():  # it would be written through, to wherever it leads
        raise DataError(f"{path} is a link: name another folder, or remove it.")
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)  # whatever separator a spreadsheet expects
    write_aside(path, text.getvalue(), encoding="utf-8-sig", errors="replace", newline="")
    return path


def _is_table(path: Path) -> bool:
    """Whether a file is one that a report wrote for a table."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return file.readline(_MAX_HEADER).rstrip("\n").endswith(f'"{_PUBLISHED}"')
