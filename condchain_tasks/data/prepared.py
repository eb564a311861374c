"""From a benchmark's files to rows in the cache: read once, made anew when anything that was read has changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from condchain_tasks.data.cache import cache_root, made_once
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.images import pictures_under

_FORMAT = 2  # goes into the cache's name: raise it when a row changes
_ABOUT = b"condchain_tasks"


@dataclass(frozen=True)
class Reading:
    """A benchmark's files, read.

    Attributes:
        rows: A frozen dataclass each, in the order in which the harness sees them.
        sha256: Of the records, and of the names and sizes of the pictures they use (16 hexadecimal digits). It does
            not depend on where the data lies.
        faults: What keeps the data from being used, each with file, record and field.
        remarks: What can be scored all the same: kind of remark -> where.
        counts: What is as it is meant, and worth knowing: kind -> how often.
    """

    rows: tuple[Any, ...]
    sha256: str
    faults: tuple[str, ...]
    remarks: dict[str, tuple[str, ...]]
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Prepared:
    """Rows in the cache.

    Attributes:
        rows: The Parquet file that the harness reads. (From JSON, an id that looks like a date would become one.)
        sha256: See `Reading`.
        remarks: Kind of remark -> count.
    """

    rows: Path
    sha256: str
    remarks: dict[str, int]


@dataclass(frozen=True)
class Files:
    """What a reading depends on.

    Attributes:
        records: The files of records.
        pictures: The folder of pictures; pictures in other places are looked at one by one.
    """

    records: tuple[Path, ...]
    pictures: Path


def prepare(name: str, files: Files, schema: pa.Schema, read: Callable[[], Reading], check: str) -> Prepared:
    """Reads data into the cache, or finds it there.

    Args:
        name: Of the file in the cache, below the cache folder and without what is added to it.
        files: When any of them changes, or its name, size or time does, the rows are made anew.
        schema: Of the rows; the column `images` holds absolute paths.
        read: Reads the files.
        check: The command that lists every fault.

    Returns:
        The prepared rows.

    Raises:
        DataError: The data cannot be used; the message has the first fault and the number of all. The cache is then
            as it was.
    """
    file = cache_root() / f"{name}-{_state(name, files)}.parquet"

    def make(path: Path) -> None:
        reading = read()
        if reading.faults:
            more = len(reading.faults) - 1
            raise DataError(reading.faults[0] + (f" (and {more} more: `{check}` lists them)" if more else ""))
        counts = {kind: len(places) for kind, places in reading.remarks.items()}
        usual = f"{files.pictures}{os.sep}"
        elsewhere = {path for row in reading.rows for path in row.images if not path.startswith(usual)}
        about = json.dumps(
            {
                "prepared": {"sha256": reading.sha256, "remarks": counts},
                "elsewhere": {path: _stamp(path) for path in elsewhere},
            }
        )
        table = pa.Table.from_pylist([asdict(row) for row in reading.rows], schema.with_metadata({_ABOUT: about}))
        pq.write_table(table, path)

    about = _about(made_once(file, make))
    if any(_stamp(path) != stamp for path, stamp in about["elsewhere"].items()):
        file.unlink(missing_ok=True)
        about = _about(made_once(file, make))
    return Prepared(file, **about["prepared"])


def check_inside(path: Path, boundary: Path) -> None:
    """Makes sure that a path stays in a folder, wherever links lead.

    Raises:
        DataError: It does not.
    """
    if not path.resolve().is_relative_to(boundary):
        raise DataError(f"{path} leads out of the data folder, to {path.resolve()}.")


def _about(file: Path) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(pq.read_schema(file).metadata[_ABOUT])
    return about


def _stamp(path: str) -> list[int]:
    """A file's size and time of change; empty if it is not there."""
    try:
        stat = Path(path).stat()
    except OSError:
        return []
    return [stat.st_size, stat.st_mtime_ns]


def _state(name: str, files: Files) -> str:
    digest = hashlib.sha256(f"{_FORMAT} {name} {files.pictures}".encode())
    for records in files.records:
        if records.is_file():
            with records.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        digest.update(f" {records} ".encode())
    for path in sorted(pictures_under(files.pictures)):
        digest.update(os.fsencode(path) + f" {_stamp(str(path))}".encode())
    return digest.hexdigest()[:16]
