"""From runs to a report."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from condchain_tasks.data.errors import DataError
from condchain_tasks.report import ccrv, condchain, vrex
from condchain_tasks.report.evaluations import Evaluation, Runs
from condchain_tasks.report.items import MAX_ITEMS, read_items
from condchain_tasks.report.model import Cell, Report, Table


def build(runs: Runs, with_items: bool = True, compared: Collection[str] = ()) -> Report:
    """Makes a report.

    Args:
        runs: What was read; see `evaluations.read_runs`.
        with_items: Whether to read the logs again for the browser of single items, at most `MAX_ITEMS` of them.
        compared: Labels or models whose differences are shown; if there are none, see `families.pairs`.

    Returns:
        Health first; then, for each benchmark that ran, a section for the benchmark and one for its embedded twin.

    Raises:
        DataError: No run has a name that is in `compared`.
    """
    evaluations = runs.evaluations
    names = {name for one in evaluations for name in (one.label, one.family, one.model)}
    if unknown := [name for name in compared if name not in names]:
        raise DataError(f"No run is called {unknown[0]!r}; there are: {'; '.join(sorted(names))}.")
    items, left_out = read_items(evaluations, MAX_ITEMS if with_items else 0)
    sections = [section for part in (condchain, ccrv, vrex) for section in part.sections(evaluations, compared)]
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
            "--limit or --offset"
            if one.limited
            else "partial"
            if one.is_partial
            else "unknown"
            if one.expected is None
            else "whole",
            "unknown" if one.health.unmeasured else one.health.truncated,
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
            "truncated replies",
            "data (SHA-256)",
            "prompts (SHA-256)",
            "judge",
            "generation",
            "condchain-tasks",
            "lmms-eval",
            "file",
        ),
        rows=tuple(rows),
        notes=(
            "Whether replies were truncated is unknown where a log has no numbers of tokens, and in conversations, "
            "whose tokens are logged as one sum.",
        ),
    )


def _older(runs: Runs) -> Table:
    return Table(
        id="older-runs",
        title="Runs that another one stands for",
        columns=("model", "task", "run", "why", "file"),
        rows=tuple((one.model, one.task, one.date, one.reason, one.path) for one in runs.passed_over),
    )
