"""What a person sees at the end of a V-REX run, and what stands in the results of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from condchain_tasks.scorers.vrex_metrics import (
    Estimate,
    Sample,
    accuracy_by_length,
    accuracy_by_step,
    accuracy_by_wrong_steps,
    macro_average,
)

_TITLES = {
    "category": "accuracy on the final question, by category",
    "wrong_steps": "accuracy on the final question, by number of wrong steps before it",
    "length": "accuracy on the final question, by length of the chain",
    "step": "accuracy by step",
}
_STEP_TITLES = {
    "category": "accuracy by category",
    "length": "accuracy by length of the chain",
    "step": "accuracy by step",
}
_ROWS = {"wrong_steps": accuracy_by_wrong_steps, "length": accuracy_by_length, "step": accuracy_by_step}

Line = dict[str, Any]


def tabulate(records: Iterable[Mapping[str, Any]], kinds: Sequence[str]) -> dict[str, list[Line]]:
    """Makes tables.

    Args:
        records: See `samples.make_record`.
        kinds: Which tables: some of "category", "wrong_steps", "length", "step".

    Returns:
        By kind, one line a value of it: the value under the kind's name, `n`, `value` (per cent) and `stderr`.
    """
    samples = [Sample.from_record(record) for record in records]
    found: dict[str, list[Line]] = {}
    for kind in kinds:
        if kind == "category":
            by_category = macro_average([s.score for s in samples], [s.category for s in samples]).categories
            found[kind] = [{kind: name, **_figures(estimate)} for name, estimate in by_category.items()]
        else:
            found[kind] = [{kind: row.number, **_figures(row.estimate)} for row in _ROWS[kind](samples)]
    return found


def print_tables(tables: Mapping[str, Sequence[Line]], records: Sequence[Mapping[str, Any]]) -> None:
    """Prints them under titles that tell the tasks of one run apart.

    Args:
        tables: See `tabulate`.
        records: What they were made of.
    """
    console = Console()
    for kind, lines in tables.items():
        # A table's own title would be broken to the table's width.
        console.print(_title(kind, records), style="italic", soft_wrap=True, highlight=False)
        table = Table()
        for name in ("", *(str(line[kind]) for line in lines)):
            table.add_column(name, justify="right")
        table.add_row("%", *(f"{line['value']:.1f}" for line in lines))
        table.add_row("n", *(str(line["n"]) for line in lines))
        console.print(table)


def _title(kind: str, records: Sequence[Mapping[str, Any]]) -> str:
    if not records:
        return f"V-REX: {_TITLES[kind]}"
    first = records[0]
    parts = [f"V-REX {first['mode']}"]
    parts += ["hard set"] if first["set"] == "hard" else []
    parts += ["without pictures"] if first["blind"] else []
    parts += ["single steps"] if first["step"] else []
    parts += [f"{len({record['id'] for record in records}):,} samples"]
    titles = _STEP_TITLES if first["step"] else _TITLES
    return f"{', '.join(parts)}: {titles[kind]}"


def _figures(estimate: Estimate) -> Line:
    stderr = None if math.isnan(estimate.error) else estimate.error
    return {"n": estimate.n, "value": estimate.value, "stderr": stderr}
