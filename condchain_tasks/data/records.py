"""Reading a file of JSON records that nobody vouches for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from condchain_tasks.data.errors import DataError

MAX_FILE_BYTES = 1_000_000_000
MAX_LINE_BYTES = 10_000_000

_MAX_NAME = 80

REPEATED = "fields that stand more than once in their object, of which the last counts"
"""What is said of `Entry.repeated`."""


@dataclass(frozen=True)
class Entry:
    """One record as it was found.

    Attributes:
        place: File and line (or item of a JSON array), for messages.
        number: The line or item, from 1.
        value: The parsed JSON object, or None if there is none.
        fault: What is wrong, if `value` is None.
        repeated: Names that stand more than once in their object, with where, such as "true_path.image".
    """

    place: str
    number: int
    value: dict[str, Any] | None
    fault: str = ""
    repeated: tuple[str, ...] = ()


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
            line = line.removeprefix(b"\xef\xbb\xbf")  # also where files with one were put behind each other
            if line.strip():
                yield _entry(f"{path}, line {number}", number, line)


def _array(path: Path) -> Iterator[Entry]:
    try:
        items = _loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is no JSON array and no JSON lines: {error}.") from error
    for number, item in enumerate(items, start=1):
        place = f"{path}, item {number}"
        if isinstance(item, dict):
            yield Entry(place, number, item, repeated=tuple(_repeated(item)))
        else:
            yield Entry(place, number, None, f"expected a JSON object, found {type(item).__name__}")


def _entry(place: str, number: int, line: bytes) -> Entry:
    if len(line) > MAX_LINE_BYTES:
        return Entry(place, number, None, f"has more than {MAX_LINE_BYTES:,} bytes")
    try:
        value = _loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return Entry(place, number, None, f"is no JSON: {error}")
    if not isinstance(value, dict):
        return Entry(place, number, None, f"expected a JSON object, found {type(value).__name__}")
    return Entry(place, number, value, repeated=tuple(_repeated(value)))


class _Repeating(dict[str, Any]):
    """A JSON object in which a name stands more than once; the last value counts."""

    repeated: tuple[str, ...]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    repeating = _Repeating(value)
    repeating.repeated = tuple(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
    return repeating


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object)


def _repeated(record: dict[str, Any]) -> Iterator[str]:
    rest: list[tuple[str, Any]] = [("", record)]
    while rest:
        place, value = rest.pop()
        if isinstance(value, _Repeating):
            yield from (_joined(place, name) for name in value.repeated)
        if isinstance(value, dict):
            rest += [(_joined(place, name), one) for name, one in reversed(value.items())]
        elif isinstance(value, list):
            rest += [(_joined(place, str(number)), one) for number, one in reversed(list(enumerate(value)))]


def _joined(place: str, name: str) -> str:
    name = (name if name.isprintable() else ascii(name))[:_MAX_NAME]
    return f"{place}.{name}" if place else name
