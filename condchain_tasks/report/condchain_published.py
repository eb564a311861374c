"""MM-CondChain's published figures (arXiv 2603.12266), to be set beside one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from condchain_tasks.report.published_tables import published_table

AVERAGE = "average"
"""The mean of the three domains' path F1."""


@dataclass(frozen=True)
class PublishedModel:
    """A model's published figures.

    Attributes:
        model: Its name in the paper.
        access: "open" or "proprietary"; "" where the table does not say.
        figures: Per cent, by what they are of.
    """

    model: str
    access: str
    figures: Mapping[str, float]


def main_results() -> tuple[PublishedModel, ...]:
    """The main table: "natural true", "natural false", "natural F1" and so on for each domain, and `AVERAGE`."""
    return _read("condchain_main", {column: _name(column) for column in published_table("condchain_main")[0]})


def by_depth() -> tuple[PublishedModel, ...]:
    """Path F1 by the number of conditions: "2", "4" and "6"."""
    return _read("condchain_depth", {f"depth_{depth}": depth for depth in ("2", "4", "6")})


def by_complexity() -> tuple[PublishedModel, ...]:
    """Path F1 by the complexity of the predicates: "simple" and "complex"."""
    return _read("condchain_complexity", {kind: kind for kind in ("simple", "complex")})


def _read(table: str, columns: Mapping[str, str]) -> tuple[PublishedModel, ...]:
    return tuple(
        PublishedModel(
            model=row["model"],
            access=row.get("access", ""),
            figures={name: float(row[column]) for column, name in columns.items() if name},
        )
        for row in published_table(table)
    )


def _name(column: str) -> str:
    if column == "avg_path_f1":
        return AVERAGE
    domain, _, measure = column.partition("_")
    measure = {"true_acc": "true", "false_acc": "false", "path_f1": "F1"}.get(measure, "")
    return measure and f"{domain} {measure}"
