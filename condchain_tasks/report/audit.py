"""The audit of a judge: what the sheet for annotators and its key look like.

An audit has two steps: `audit_sample` draws replies and writes a sheet and a key; `audit_score` compares the filled
sheets with each other and, by the key, with the judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from condchain_tasks.data.errors import DataError

SHEET = "sheet.csv"
KEY = "key.json"

ID = "id"
LAYERS = ("L1", "L2", "L3")
CSR = "CSR"
VERDICTS = (*LAYERS, CSR)
"""The columns that annotators fill."""

BASELINE = "base"
CONSTRAINTS = ("Y1", "Y2", "Y3", "Y4")

Dimension = Literal["X1", "X2", "X3", "X4"]
Setting = Literal["base", "Y1", "Y2", "Y3", "Y4"]
Binary = Literal[0, 1]

_MAX_KEY_BYTES = 100_000_000


@dataclass(frozen=True)
class Judged:
    """What an annotator must not know of an item: where the reply is from, and what the judge said.

    Attributes:
        model: The run's label: the model's name, with what tells it from other runs of the model.
        run: The file of samples.
        key: Image, dimension and index of the question.
        x: The causal dimension.
        y: The constraint, or "base".
        r1: The judge's verdict on the entities.
        r2: On the interaction, whatever r1 is.
        r3: On the causal outcome, whatever r1 and r2 are.
        csr: The verdict on the constraint, by rule or judge; None for the baseline, or if it could not be had.
    """

    model: str
    run: str
    key: str
    x: Dimension
    y: Setting
    r1: Binary
    r2: Binary
    r3: Binary
    csr: Binary | None


KEY_FILE = TypeAdapter(dict[str, Judged])
"""An audit's key: what was hidden, by the id on the sheet."""


def read_key(path: Path) -> dict[str, Judged]:
    """Reads an audit's key.

    Raises:
        DataError: There is no such file, or it is no key.
    """
    try:
        if path.stat().st_size > _MAX_KEY_BYTES:
            raise DataError(f"{path} has more than {_MAX_KEY_BYTES:,} bytes; that is no key of an audit.")
        key = KEY_FILE.validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}. `condchain audit sample` writes a key.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = ".".join(str(part)[:80] for part in first["loc"])
        raise DataError(
            f"{path}{at and f', field {at}'}: {first['msg']}. Is it the {KEY} that `condchain audit sample` wrote?"
        ) from error
    if not key:
        raise DataError(f"{path} has no items. Is it the {KEY} that `condchain audit sample` wrote?")
    return key
