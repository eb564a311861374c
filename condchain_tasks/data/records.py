"""Reading a file of JSON records that nobody vouches for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from condchain_tasks.data.errors import DataError

MAX_FILE_BYTES = 1_000_000_000
MAX_LINE_BYTES = 10_000_000


@dataclass(frozen=True)
class Entry:
    """One record as it was found.

    Attributes:
        place: File and line (or item of a JSON array), for messages.
        number: The line or item, from 1.
        value: The parsed JSON object, or None if there is none.
        fault: What is wrong, if `value` is None.
    """

    place: str
    number: int
    value: dict[str, Any] | None
    fault: str = ""


def read_entries(path: Path) -> Iterator[Entry]:
    """Reads JSON lines, or one JSON array; a byte order mark, blank lines and CRLF are accepted.

    Args:
        path: The file.

    Yields:
        The entries in order; a malformed one says so and does not end the reading.

    Raises:
        DataError: There is no such file, it is too large, or it is an array that cannot be parsed.
    """
    if not path.is_file():
        what = "is no regular file" if path.exists() else "does not exist"
        raise DataError(f"{path} {what}. The official layout has such a file; see the README, section Data.")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise DataError(f"{path} has more than {MAX_FILE_BYTES:,} bytes; that is no benchmark file.")
    with path.open("rb") as file:
        start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    return _array(path) if start.startswith(b"[") else _lines(path)


def _lines(path: Path) -> Iterator[Entry]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.strip():
                yield _entry(f"{path}, line {number}", number, line)


def _array(path: Path) -> Iterator[Entry]:
    try:
        items = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is no JSON array and no JSON lines: {error}.") from error
    for number, item in enumerate(items, start=1):
        place = f"{path}, item {number}"
        if isinstance(item, dict):
            yield Entry(place, number, item)
        else:
            yield Entry(place, number, None, f"expected a JSON object, found {type(item).__name__}")


def _entry(place: str, number: int, line: bytes) -> Entry:
    if len(line) > MAX_LINE_BYTES:
        return Entry(place, number, None, f"has more than {MAX_LINE_BYTES:,} bytes")
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return Entry(place, number, None, f"is no JSON: {error}")
    if not isinstance(value, dict):
        return Entry(place, number, None, f"expected a JSON object, found {type(value).__name__}")
    return Entry(place, number, value)
