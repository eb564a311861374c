"""Reads the sheets that annotators have filled, as spreadsheets have left them."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Collection, Mapping
from pathlib import Path

from condchain_tasks.data.errors import DataError
from condchain_tasks.report.audit import CSR, ID, LAYERS, VERDICTS

Verdicts = Mapping[str, int | None]
"""By column, L1, L2, L3 and CSR: 0, 1, or None if there is no verdict."""

_VALUES: dict[str, int | None] = {
    "": None,
    **dict.fromkeys(("0", "0.0", "0,0", "no", "false"), 0),
    **dict.fromkeys(("1", "1.0", "1,0", "yes", "true"), 1),
}
_DELIMITERS = (",", ";", "\t")
_MAX_BYTES = 100_000_000
_MAX_QUOTED = 80
_MAX_FAULTS = 10


def read_sheet(path: Path, ids: Collection[str]) -> dict[str, Verdicts]:
    """Reads one annotator's sheet.

    Args:
        path: Comma-, semicolon- or tab-separated values; rows and columns in any order, more columns do not matter,
            and CSR may be left out. Each row has as many cells as the header: in one that has lost a cell or got one
            more, nobody can tell which verdict belongs to which column.
        ids: Those that the sheet must have, and no others.

    Returns:
        The verdicts, by id.

    Raises:
        DataError: The file cannot be read, a row has more or fewer cells than the header, its ids are others, a value
            is no verdict, or there is no verdict at all. Rows are counted as a spreadsheet counts them, the header
            being row 1.
    """
    header, *rows = _rows(path)
    places = {column: place for place, column in enumerate(header) if column in (ID, *VERDICTS)}
    found: dict[str, Verdicts] = {}
    faults: list[str] = []
    misshapen: set[str] = set()
    for number, row in enumerate(rows, start=2):
        if not any(row):
            continue
        if len(row) != len(header):
            named = row[places[ID]] if places[ID] < len(row) else ""
            expected = f"{len(header)} cells, as many as the header has"
            faults.append(f"row {number}, {ID} {named[:_MAX_QUOTED]!r}: expected {expected}, found {len(row)}")
            misshapen.add(named)
            continue
        cells = {column: row[place] for column, place in places.items()}
        name = cells.pop(ID)
        if name not in ids or name in found:
            expected = "an id only once" if name in found else "an id that the key has"
            faults.append(f"row {number}, column {ID}: expected {expected}, found {name[:_MAX_QUOTED]!r}")
        for column, cell in cells.items():
            if cell.lower() not in _VALUES:
                expected = "0 or 1, or nothing if not annotated"
                faults.append(f"row {number}, column {column}: expected {expected}, found {cell[:_MAX_QUOTED]!r}")
        found[name] = {column: _VALUES.get(cells.get(column, "").lower()) for column in VERDICTS}
    if lacking := [name for name in ids if name not in found and name not in misshapen]:
        faults.append(f"column {ID}: expected all ids of the key, found none of {_some(lacking, ', ')}")
    if faults:
        raise DataError(f"{path}, {_some(faults, '; ')}.")
    if all(value is None for verdicts in found.values() for value in verdicts.values()):
        raise DataError(f"{path} has no verdicts: all its columns {', '.join(VERDICTS)} are blank. Is it filled?")
    return found


def _some(texts: list[str], separator: str) -> str:
    more = len(texts) - _MAX_FAULTS
    return separator.join(texts[:_MAX_FAULTS]) + (f"{separator}and {more:,} more" if more > 0 else "")


def _rows(path: Path) -> list[list[str]]:
    """All rows, of stripped cells, the header first; of a delimiter that gives it the columns that are needed."""
    text = _text(path)
    for delimiter in _DELIMITERS:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            header = [cell.strip() for cell in next(reader, [])]
            if all(header.count(column) == 1 for column in (ID, *LAYERS)) and header.count(CSR) < 2:
                _check_spelling(path, header)
                return [header, *([cell.strip() for cell in row] for row in reader)]
        except csv.Error as error:
            raise DataError(f"{path}, line {reader.line_num}: {error}. Save the sheet as CSV again.") from error
    start = text.split("\n", 1)[0].strip()[:_MAX_QUOTED]
    raise DataError(
        f"{path}, row 1: expected the columns {', '.join((ID, *LAYERS))} once each, separated by commas, semicolons "
        f"or tabs, found {start!r}. Save the sheet as CSV, with its first row."
    )


def _check_spelling(path: Path, header: list[str]) -> None:
    # A column "csr" would be one of those that do not matter, and its verdicts would be lost in silence.
    for place, cell in enumerate(header, start=1):
        for column in (ID, *VERDICTS):
            if cell != column and cell.lower() == column.lower():
                raise DataError(f"{path}, row 1, cell {place}: expected {column}, found {cell!r}. Correct the header.")


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise DataError(f"{path} has more than {_MAX_BYTES:,} bytes; that is no sheet of an audit.")
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    # What counts, ids and verdicts, is ASCII. A letter that an old code page put into a reply need not be known.
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return data.decode(encoding, "replace")
