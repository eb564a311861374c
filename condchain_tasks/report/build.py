"""From runs to a report."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from condchain_tasks.data.errors import DataError
from condchain_tasks.progress import track
from condchain_tasks.report import ccrv, condchain, vrex
from condchain_tasks.report.evaluations import Evaluation, Runs, apart
from condchain_tasks.report.items import MAX_ITEMS, read_items
from condchain_tasks.report.model import Cell, Item, Problem, Report, Section, Table
from condchain_tasks.scorers.replies import FAILURES


def build(runs: Runs, with_items: bool = True, compared: Collection[str] = ()) -> Report:
    """Makes a report.

    Args:
        runs: What was read; see `evaluations.read_runs`.
        with_items: Whether to read the logs again for the browser of single items, at most `MAX_ITEMS` of them.
        compared: Labels or models whose differences are shown; if there are none, see `families.pairs`.

    Returns:
        Health first; then, for each benchmark that ran, a section for its own data and one for synthetic data. A
        section that cannot be made is among the problems, and ends no other.

    Raises:
        DataError: No run has a name that is in `compared`.
    """
    evaluations = runs.evaluations
    names = {name for one in evaluations for name in (one.label, one.family, one.model)}
    if unknown := [name for name in compared if name not in names]:
        raise DataError(f"No run is called {unknown[0]!r}; there are: {'; '.join(sorted(names))}.")
    problems: list[Problem] = []
    items: tuple[Item, ...] = ()
    left_out = sum(one.n for one in evaluations)
    with _told("The browser of single items", problems):
        items, left_out = read_items(evaluations, MAX_ITEMS if with_items else 0)
    sections: list[Section] = []
    kinds = [(name, part, *kind) for name, part in _PARTS.items() for kind in apart(name, evaluations)]
    for name, part, synthetic, of_kind in track(kinds, "Making sections"):
        with _told(f"The section of {name}{', synthetic data' if synthetic else ''}", problems):
            sections += part(of_kind, compared)
    models = sorted({one.model for one in evaluations})
    return Report(
        title=f"{models[0]}: results" if len(models) == 1 else f"Results of {len(models)} models",
        problems=tuple(problems) + runs.problems,
        sections=tuple(sections),
        items=items,
        left_out_items=left_out,
        provenance=tuple(table for table in (_provenance(evaluations), _older(runs)) if table.rows),
    )


_PARTS = {"condchain": condchain.sections, "ccrv": ccrv.sections, "vrex": vrex.sections}


@contextmanager
def _told(what: str, problems: list[Problem]) -> Iterator[None]:
    """Makes a part of the report: if it fails, that is a problem, and the other parts stand."""
    try:
        yield
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}, line {frame.lineno}"
        text = f"Could not be made: {type(error).__name__}: {error} ({place}). The other parts are not affected."
        problems.append(Problem("error", what, text))


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
            one.health.failed,
            *(one.health.failures.get(kind, 0) for kind in FAILURES),
            one.health.refused,
            "unknown" if one.health.unmeasured and not one.health.truncated else one.health.truncated,
            _kind_of_data(one),
            one.settings.data,
            one.settings.prompts,
            one.settings.requests,
            one.settings.server or "this machine",
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
            "failed",
            *(f"failed: {kind.replace('_', ' ')}" for kind in FAILURES),
            "refused",
            "truncated replies",
            "kind of data",
            "data (SHA-256)",
            "prompts (SHA-256)",
            "requests (SHA-256)",
            "server",
            "judge",
            "generation",
            "condchain-tasks",
            "lmms-eval",
            "file",
        ),
        rows=tuple(rows),
        notes=(
            "Truncated replies are those that open their reasoning and never close it, and those that are as long as "
            "replies were allowed to be, or one token shorter. Their length is unknown where a log has no numbers of "
            "tokens, and in conversations, whose tokens are logged as one sum.",
            "Refusals are replies in which the model declines, which are scored as what they are, and failed requests "
            "that the provider refused. Logs of older versions do not tell why requests failed, nor of refusals.",
        ),
    )


def _kind_of_data(one: Evaluation) -> str:
    if one.synthetic:
        return "synthetic"
    return {True: "verified as released", False: "not verified", None: "unknown"}[one.official]


def _older(runs: Runs) -> Table:
    return Table(
        id="older-runs",
        title="Runs that were passed over",
        columns=("model", "task", "run", "why", "file"),
        rows=tuple((one.model, one.task, one.date, one.reason, one.path) for one in runs.passed_over),
    )
