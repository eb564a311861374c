"""From runs to a report."""

from __future__ import annotations

from collections.abc import Sequence

from condchain_tasks.report import ccrv, condchain, vrex
from condchain_tasks.report.evaluations import Evaluation, Runs
from condchain_tasks.report.items import MAX_ITEMS, read_items
from condchain_tasks.report.model import Cell, Report, Table


def build(runs: Runs, with_items: bool = True) -> Report:
    """Makes a report.

    Args:
        runs: What was read; see `evaluations.read_runs`.
        with_items: Whether to read the logs again for the browser of single items, at most `MAX_ITEMS` of them.

    Returns:
        Health first; then, for each benchmark that ran, a section for the benchmark and one for its embedded twin.
    """
    evaluations = runs.evaluations
    items, left_out = read_items(evaluations, MAX_ITEMS if with_items else 0)
    sections = [section for part in (condchain, ccrv, vrex) for section in part.sections(evaluations)]
    models = sorted({one.model for one in evaluations})
    return Report(
        title=f"{models[0]}: results" if len(models) == 1 else f"Results of {len(models)} models",
        problems=runs.problems,
        sections=tuple(sections),
        items=items,
        left_out_items=left_out,
        provenance=tuple(table for table in (_provenance(evaluations), _older(runs)) if table.rows),
    )


def _provenance(evaluations: Sequence[Evaluation]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            one.label,
            one.task,
            one.date,
            one.n,
            one.expected,
            "--limit or --offset" if one.limited else "partial" if one.is_partial else "whole",
            one.settings.data,
            one.settings.prompts,
            one.settings.judge,
            one.settings.generation,
            one.settings.version,
            one.settings.harness,
            one.path,
        )
        for one in evaluations
    ]
    return Table(
        id="provenance",
        title="Where the figures are from",
        columns=(
            "model",
            "task",
            "run",
            "samples",
            "of",
            "extent",
            "data (SHA-256)",
            "prompts (SHA-256)",
            "judge",
            "generation",
            "condchain-tasks",
            "lmms-eval",
            "file",
        ),
        rows=tuple(rows),
    )


def _older(runs: Runs) -> Table:
    return Table(
        id="older-runs",
        title="Runs that another one stands for",
        columns=("model", "task", "run", "why", "file"),
        rows=tuple((one.model, one.task, one.date, one.reason, one.path) for one in runs.older),
    )
