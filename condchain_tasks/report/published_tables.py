"""The papers' tables, which ship with the package."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def published_table(name: str) -> tuple[Mapping[str, str], ...]:
    """A published table, as it was printed.

    Args:
        name: Such as "condchain_main".

    Returns:
        Its rows, in order: text by column.
    """
    with (files("condchain_tasks.report") / "published" / f"{name}.csv").open(encoding="utf-8") as file:
        return tuple(csv.DictReader(file))
