"""Scenes as tables of facts, and the queries that questions about them stand for.

A scene is drawn from its tables alone, and every question of a chain has a query: the answer to the question is
the result of the query. Queries know nothing of the kinds of scenes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from condchain_tasks.synth.vrex_rules import Rule

Cell = Annotated[str, Field(max_length=200)] | Annotated[int, Field(strict=True, ge=-10_000, le=10_000)]
"""Bounded, since a scene may come from a file that somebody changed."""

Row = Mapping[str, Cell]
Where = Mapping[str, Cell]
"""Columns and the values that a row must have in them."""

Value = str | int | tuple[str, ...]


class QueryError(ValueError):
    """A query that has no result in a scene."""


@dataclass(frozen=True)
class Scene:
    """Everything known about a picture.

    Attributes:
        kind: Which of the kinds of scenes in `vrex_kinds` it is.
        tables: Rows of facts, by the name of the table.
    """

    kind: str
    tables: Mapping[str, tuple[Row, ...]]

    def rows(self, table: str, where: Where | None = None) -> tuple[Row, ...]:
        """The rows of a table that have certain values.

        Raises:
            QueryError: There is no such table, or a row lacks a column.
        """
        try:
            wanted = (where or {}).items()
            return tuple(row for row in self.tables[table] if all(row[column] == cell for column, cell in wanted))
        except KeyError as error:
            raise QueryError(f"the scene has no table or column {error}") from None

    def cell(self, table: str, where: Where, column: str) -> Cell:
        """What stands in a column of the only row that has certain values.

        Raises:
            QueryError: There is no such row, or more than one.
        """
        rows = self.rows(table, where)
        if len(rows) != 1 or column not in rows[0]:
            raise QueryError(f"{len(rows)} rows of {table} have {dict(where)}, expected one, with a {column}")
        return rows[0][column]


@dataclass(frozen=True)
class Lookup:
    """What the only row `where` has in a column."""

    table: str
    where: Where
    column: str
    op: Literal["lookup"] = "lookup"

    def result(self, scene: Scene) -> Value:
        return scene.cell(self.table, self.where, self.column)


@dataclass(frozen=True)
class Count:
    """The number of rows `where`."""

    table: str
    where: Where
    op: Literal["count"] = "count"

    def result(self, scene: Scene) -> Value:
        return len(scene.rows(self.table, self.where))


@dataclass(frozen=True)
class Total:
    """The sum of a column over the rows `where`."""

    table: str
    where: Where
    column: str
    op: Literal["total"] = "total"

    def result(self, scene: Scene) -> Value:
        return sum(_whole(row, self.column) for row in scene.rows(self.table, self.where))


@dataclass(frozen=True)
class Listed:
    """What the rows `where` have in a column, each value once, in the table's order."""

    table: str
    where: Where
    column: str
    op: Literal["listed"] = "listed"

    def result(self, scene: Scene) -> Value:
        return _names(scene.rows(self.table, self.where), self.column)


@dataclass(frozen=True)
class Best:
    """What the row `where` with the greatest, or the least, number in the column `by` has in another; no ties."""

    table: str
    where: Where
    by: str
    most: bool
    column: str
    op: Literal["best"] = "best"

    def result(self, scene: Scene) -> Value:
        rows = scene.rows(self.table, self.where)
        numbers = [_whole(row, self.by) for row in rows]
        best = (max if self.most else min)(numbers, default=None)
        found = _names([row for row, number in zip(rows, numbers, strict=True) if number == best], self.column)
        if len(found) != 1:
            raise QueryError(f"{len(found)} values of {self.column} go with the extreme {self.by}, expected one")
        return found[0]


@dataclass(frozen=True)
class Alike:
    """What those rows have in a column that equal the only row of the table `model` in certain other columns."""

    table: str
    model: str
    alike: tuple[str, ...]
    column: str
    op: Literal["alike"] = "alike"

    def result(self, scene: Scene) -> Value:
        wanted = {column: scene.cell(self.model, {}, column) for column in self.alike}
        return _names(scene.rows(self.table, wanted), self.column)


@dataclass(frozen=True)
class Route:
    """Where one ends who begins at `start` and, in the table of arrows (from, label, to), takes the arrows `labels`."""

    table: str
    start: str
    labels: tuple[str, ...]
    op: Literal["route"] = "route"

    def result(self, scene: Scene) -> Value:
        place: Cell = self.start
        for label in self.labels:
            place = scene.cell(self.table, {"from": place, "label": label}, "to")
        return place


@dataclass(frozen=True)
class Guided:
    """Like `Route`, but a card (table `guide`: rows of who, at, label) tells at each place which arrow to take.

    Attributes:
        who: Whose card.
        hops: Number of arrows to take; 0: until no arrow leads on.
    """

    table: str
    guide: str
    who: str
    start: str
    hops: Annotated[int, Field(ge=0, le=100)]
    op: Literal["guided"] = "guided"

    def result(self, scene: Scene) -> Value:
        place: Cell = self.start
        most = len(scene.rows(self.table)) if self.hops == 0 else self.hops
        for _ in range(most):
            if self.hops == 0 and not scene.rows(self.table, {"from": place}):
                break
            label = scene.cell(self.guide, {"who": self.who, "at": place}, "label")
            place = scene.cell(self.table, {"from": place, "label": label}, "to")
        return place


@dataclass(frozen=True)
class Next:
    """How a sequence goes on: the rows `where`, in the table's order, repeat in a column, or grow by equal steps.

    It repeats with the shortest period that is seen at least twice.
    """

    table: str
    where: Where
    column: str
    op: Literal["next"] = "next"

    def result(self, scene: Scene) -> Value:
        rows = scene.rows(self.table, self.where)
        if any(self.column not in row for row in rows):
            raise QueryError(f"a row of {self.table} has no {self.column}")
        cells = [row[self.column] for row in rows]
        for period in range(1, len(cells) // 2 + 1):
            if cells[period:] == cells[:-period]:
                return cells[-period]
        numbers = [_whole(row, self.column) for row in rows]
        steps = {later - earlier for earlier, later in pairwise(numbers)}
        if len(steps) != 1:
            raise QueryError(f"the {self.column} of {self.table} neither repeats nor grows evenly")
        return numbers[-1] + steps.pop()


@dataclass(frozen=True)
class Derived:
    """What a rule makes of the results of other queries."""

    rule: Rule
    parts: tuple[Query, ...]
    op: Literal["derived"] = "derived"

    def result(self, scene: Scene) -> Value:
        found = self.rule.apply([text_of(part.result(scene)) for part in self.parts])
        if found is None:
            raise QueryError(f"the rule {self.rule.rule!r} has no result")
        return found


Query = Annotated[
    Lookup | Count | Total | Listed | Best | Alike | Route | Guided | Next | Derived, Field(discriminator="op")
]


def text_of(value: Value) -> str:
    """An answer in words; names are listed as "A, B and C"."""
    if not isinstance(value, tuple):
        return str(value)
    return " and ".join(filter(None, (", ".join(value[:-1]), *value[-1:]))) or "none"


def _whole(row: Row, column: str) -> int:
    cell = row.get(column)
    if not isinstance(cell, int):
        raise QueryError(f"the column {column} has {cell!r}, expected a whole number")
    return cell


def _names(rows: Sequence[Row], column: str) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(str(row[column]) for row in rows))
    except KeyError as error:
        raise QueryError(f"the scene has no column {error}") from None
