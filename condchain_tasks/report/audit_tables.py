"""What a person sees of an audit."""

from __future__ import annotations

from rich.table import Table

from condchain_tasks.report.audit import CSR
from condchain_tasks.report.audit_score import CHAIN, PATTERN, Agreement, Levels
from condchain_tasks.wording import counted

PUBLISHED_KAPPA = {"L1": 0.7143, "L2": 0.7848, "L3": 0.8365, CHAIN: 0.7415}
"""Fleiss' kappa of the paper's three annotators."""

PUBLISHED_AGREEMENT = {"L1": 81.07, "L2": 83.93, "L3": 87.14, CHAIN: 77.50}
"""Agreement of their majority with the paper's judge, per cent."""

_NAMES = {CHAIN: "full chain (all three right)", PATTERN: "all three layers alike", CSR: "CSR (constrained items)"}
_NONE = "–"
_UNDEFINED = "undefined"


def render(agreement: Agreement) -> list[Table]:
    """An audit's tables, for the command line.

    Args:
        agreement: What `audit_score.score` found.

    Returns:
        Agreement among annotators; agreement of their majority with the judge; causal quality by both; its direction.
    """
    return [_among_annotators(agreement), _with_judge(agreement), _quality(agreement), _directions(agreement)]


def _among_annotators(agreement: Agreement) -> Table:
    asked, items = counted(agreement.annotators, "annotator"), counted(agreement.items, "item")
    table = _table(
        f"Annotators among each other ({asked}, {items})", "annotated by all", "unanimous %", "Fleiss' κ", "paper's κ"
    )
    for one in agreement.measures:
        compared = one.unanimous is not None
        kappa = _number(one.fleiss_kappa, 4, _UNDEFINED if compared else _NONE)
        published = _number(PUBLISHED_KAPPA.get(one.name), 4)
        table.add_row(_name(one.name), str(one.annotated), _number(one.unanimous), kappa, published)
    return table


def _with_judge(agreement: Agreement) -> Table:
    table = _table("Majority against the judge", "ties left out", "n", "agreement %", "paper's %", "Cohen's κ")
    for one in agreement.measures:
        kappa = _number(one.cohens_kappa, 4, _UNDEFINED if one.n else _NONE)
        published = _number(PUBLISHED_AGREEMENT.get(one.name))
        table.add_row(_name(one.name), str(one.ties), str(one.n), _number(one.agreement), published, kappa)
    return table


def _quality(agreement: Agreement) -> Table:
    levels = ("l1'", "l2'", "l3'", "DCR")
    table = _table("Causal quality, %", "n", *(f"{by} {level}" for by in ("people", "judge") for level in levels))
    for one in agreement.cascades:
        table.add_row(one.y, str(one.n), *_levels(one.human), *_levels(one.judge))
    return table


def _directions(agreement: Agreement) -> Table:
    table = _table("Drop of DCR from the baseline's items, points", "majority", "judge", "same direction")
    for one in agreement.directions:
        table.add_row(one.y, f"{one.human:+.1f}", f"{one.judge:+.1f}", "yes" if one.alike else "no")
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _name(measure: str) -> str:
    return _NAMES.get(measure, measure)


def _levels(levels: Levels) -> list[str]:
    return [_number(value, 1) for value in (levels.l1, levels.l2, levels.l3, levels.dcr)]


def _number(value: float | None, digits: int = 2, otherwise: str = _NONE) -> str:
    return otherwise if value is None else f"{value:.{digits}f}"
