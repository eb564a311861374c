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
from condchain_tasks.data.identity import is_drawn, is_released
from condchain_tasks.data.images import pictures_under
from condchain_tasks.data.request_size import Largest, largest
from condchain_tasks.data.sources import Source

_FORMAT = 3  # goes into the cache's name: raise it when a row changes
_ABOUT = b"condchain_tasks"


@dataclass(frozen=True)
class Reading:
    """A benchmark's files, read.

    Attributes:
        rows: A frozen dataclass each, in the order in which the harness sees them.
        sha256: Of the records, and of the names and bytes of the pictures they use (16 hexadecimal digits). It does
            not depend on where the data lies.
        faults: What keeps the data from being used, each with file, record and field.
        remarks: What can be scored all the same: kind of remark -> where.
        counts: What is as it is meant, and worth knowing: kind -> how often.
        drawn: A record, a picture or the folder says that `condchain synth` made it.
    """

    rows: tuple[Any, ...]
    sha256: str
    faults: tuple[str, ...]
    remarks: dict[str, tuple[str, ...]]
    counts: dict[str, int] = field(default_factory=dict)
    drawn: bool = False


@dataclass(frozen=True)
class Prepared:
    """Rows in the cache.

    Attributes:
        rows: The Parquet file that the harness reads. (From JSON, an id that looks like a date would become one.)
        sha256: See `Reading`.
        remarks: Kind of remark -> count.
        synthetic: Drawn by this package, embedded or by `condchain synth`, wherever it lies now.
        official: Known to be the released files. False says that nobody knows, not that it is something else.
        largest: The largest request.
    """

    rows: Path
    sha256: str
    remarks: dict[str, int]
    synthetic: bool
    official: bool
    largest: Largest


@dataclass(frozen=True)
class Files:
    """What a reading depends on.

    Attributes:
        records: The files of records.
        pictures: The folder of pictures; pictures in other places are looked at one by one.
    """

    records: tuple[Path, ...]
    pictures: Path


@dataclass(frozen=True)
class Content:
    """What rows are made of.

    Attributes:
        part: Of the benchmark, a key of `identity.RELEASED`.
        schema: Of the rows; the column `images` holds absolute paths.
        read: Reads the files.
        characters: Of the text of a row's request.
    """

    part: str
    schema: pa.Schema
    read: Callable[[], Reading]
    characters: Callable[[Any], int]


def prepare(name: str, source: Source, files: Files, content: Content, check: str) -> Prepared:
    """Reads data into the cache, or finds it there.

    Args:
        name: Of the file in the cache, below the cache folder and without what is added to it.
        source: Where the files are.
        files: When any of them changes, or its name, size or time does, the rows are made anew.
        content: What is in them.
        check: The command that lists every fault.

    Returns:
        The prepared rows.

    Raises:
        DataError: The data cannot be used; the message has the first fault and the number of all. The cache is then
            as it was.
    """
    file = cache_root() / f"{name}-{_state(name, source, files)}.parquet"

    def make(path: Path) -> None:
        try:
            reading = content.read()
        except OSError as error:
            raise DataError(f"{error.filename or source.root} cannot be read: {error.strerror or error}.") from error
        if reading.faults:
            more = len(reading.faults) - 1
            raise DataError(reading.faults[0] + (f" (and {more} more: `{check}` lists them)" if more else ""))
        counts = {kind: len(places) for kind, places in reading.remarks.items()}
        usual = f"{files.pictures}{os.sep}"
        elsewhere = {path for row in reading.rows for path in row.images if not path.startswith(usual)}
        about = json.dumps(
            {
                "sha256": reading.sha256,
                "remarks": counts,
                "drawn": reading.drawn,
                "largest": asdict(largest(reading.rows, content.characters)),
                "elsewhere": {path: _stamp(path) for path in elsewhere},
            }
        )
        schema = content.schema.with_metadata({_ABOUT: about})
        table = pa.Table.from_pylist([asdict(row) for row in reading.rows], schema)
        pq.write_table(table, path)

    about = _about(made_once(file, make))
    if any(_stamp(path) != stamp for path, stamp in about["elsewhere"].items()):
        file.unlink(missing_ok=True)
        about = _about(made_once(file, make))
    return Prepared(
        file,
        about["sha256"],
        about["remarks"],
        synthetic=about["drawn"] or source.kind == "mini" or is_drawn(source.root),
        official=is_released(content.part, about["sha256"]),
        largest=Largest(**about["largest"]),
    )


def check_inside(path: Path, boundary: Path) -> None:
    """Makes sure that a path stays in a folder, wherever links lead.

    Raises:
        DataError: It does not.
    """
    place = Path(os.path.realpath(path))
    if not place.is_relative_to(boundary):
        raise DataError(f"{path} leads out of the data folder, to {place}.")


def _about(file: Path) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(pq.read_schema(file).metadata[_ABOUT])
    return about


def _stamp(path: str) -> list[int]:
    """A file's size and times of change, of its content and of anything; empty if it is not there."""
    try:
        stat = Path(path).stat()
    except OSError:
        return []
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


def _state(name: str, source: Source, files: Files) -> str:
    digest = hashlib.sha256(f"{_FORMAT} {name} {files.pictures}".encode())
    for records in files.records:
        if records.is_file():
            with records.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        digest.update(f" {records} ".encode())
    for path in sorted(pictures_under(files.pictures, source.boundary)):
        digest.update(os.fsencode(path) + f" {_stamp(str(path))}".encode())
    return digest.hexdigest()[:16]
