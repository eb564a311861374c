"""Finding what a test looks for in a section of the report."""

from __future__ import annotations

from condchain_tasks.report.model import Cell, Chart, Section, Table, Value


def table(one: Section, name: str) -> Table:
    """The section's table of that name."""
    (found,) = [table for table in one.tables if table.id == f"{one.id}-{name}"]
    return found


def chart(one: Section, name: str) -> Chart:
    """The section's chart of that name."""
    (found,) = [chart for chart in one.charts if chart.id == f"{one.id}-{name}"]
    return found


def row(one: Table, *names: str) -> dict[str, Cell]:
    """The one row that begins with these cells, by column."""
    (found,) = [row for row in one.rows if row[: len(names)] == names]
    return dict(zip(one.columns, found, strict=True))


def value(cell: Cell) -> float:
    """The figure in a cell that has one."""
    assert isinstance(cell, Value) and cell.value is not None
    return cell.value
