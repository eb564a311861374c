"""What a person sees at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from condchain_tasks.scorers.ccrv_tables import DIMENSIONS, SETTINGS, Row

_MATRICES = {
    "dcr": "DCR, causal quality",
    "csr": "CSR, constraint satisfaction (not comparable between the Y settings)",
    "edcr": "eDCR, DCR where the constraint is satisfied, else 0",
}
_CAVEAT = (
    "Per cent. Y3 counts the marking of the false premise in both DCR and CSR. A cell without any verdict is empty."
)
_MOST_MISSING = 0.01
_MISSING = "Verdicts are missing"


def print_matrices(rows: Sequence[Row], items: int) -> None:
    """Prints DCR, CSR and eDCR in each cell, X down and Y across, with the margins.

    Args:
        rows: All cells and margins.
        items: How many there are; tells the tables of a run's tasks apart.
    """
    console = Console()
    for column, title in _MATRICES.items():
        settings = [y for y in (*SETTINGS, "") if any(_value(rows, x, y, column) for x in DIMENSIONS)]
        if not settings:  # nobody judged
            continue
        # A table's own title would be broken to the table's width.
        console.print(f"CCRV-Bench, {items:,} items: {title}", style="italic", soft_wrap=True, highlight=False)
        table = Table()
        for name in ("", *settings):
            table.add_column(name or ("all Y" if table.columns else ""), justify="right")
        for x in (*DIMENSIONS, ""):
            table.add_row(x or "all X", *(_value(rows, x, y, column) for y in settings))
        console.print(table)
    console.print(_CAVEAT)


def warn_of_missing(missing: int, items: int) -> None:
    """Says that verdicts are missing; loudly, if they are too many for the figures to be trusted.

    Args:
        missing: Items without a verdict that they need.
        items: All items.
    """
    text = f"{missing} of {items} items have no verdict and are left out of the means. "
    text += "Run again with --use_cache, or `condchain judge`: only what is missing is asked for."
    is_much = missing > _MOST_MISSING * items
    text = f"THESE FIGURES ARE NOT COMPARABLE WITH ANY OTHER. {text}" if is_much else text
    _print_panel(text, _MISSING, "bold red" if is_much else "yellow")


def say_that_judging_is_off() -> None:
    """Says what a run without a judge gives, and how it gets the rest."""
    text = "Judging is off (CCRV_JUDGE=none): only the rule-based CSR of Y1, Y2 and Y4 is known. `condchain judge` "
    _print_panel(text + "adds the verdicts from the sample log, without inference.", _MISSING, "yellow")


def warn_of_simulation() -> None:
    """Says that no model judged."""
    text = "No model judged (CCRV_JUDGE=rules): verdicts are computed from the facts of drawn scenes. They prove a "
    _print_panel(
        text + "set-up; they are no judge's, and their figures are no results.", "Simulated verdicts", "yellow"
    )


def _print_panel(text: str, title: str, style: str) -> None:
    Console(stderr=True).print(Panel(text, title=title, border_style=style, style=style))


def _value(rows: Sequence[Row], x: str, y: str, column: str) -> str:
    """A cell's figure; "" if there is none."""
    for row in rows:
        if (row.x, row.y) == (x, y):
            value = getattr(row, column)
            return "" if value is None else f"{value:.1f}"
    return ""
