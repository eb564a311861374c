"""MM-CondChain: from the official files to one row for each path.

A record is a chain with a true and a false path; its two rows stand next to each other, so that a server with a
prefix cache sees each picture once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import AliasChoices, BaseModel, Field, ValidationError, field_validator

from condchain_tasks.data.cache import cache_root, made_once
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.images import check_image
from condchain_tasks.data.records import Entry, read_entries
from condchain_tasks.data.sources import Source
from condchain_tasks.vpir import Analysis, PredicateError, analyse

FrameOrder = Literal["lexicographic", "chronological"]
"""Of a GUI trajectory's screenshots: by file name, as the published figures were made, or by the number in it."""

MAX_FRAMES = 200
"""Screenshots a trajectory may have; the official ones have 9 on average."""

_FORMAT = 1  # goes into the cache's name: raise it when a row changes
_ABOUT = b"condchain_tasks"
_MAX_LAYERS = 64  # conditions in one pseudocode, and characters in it: reading it takes time, and it may be anyone's
_MAX_PSEUDOCODE = 100_000
_PICTURES = (".png", ".jpg", ".jpeg", ".webp")
_LABEL = re.compile(r"\b[A-Z]\d{1,3}\b")
_IF = re.compile(r"(?:if|elif)\b")
_NODE = re.compile(r"qa_(\d{1,3})")
_LAST_NUMBER = re.compile(r"(\d+)\D*$")


class _Path(BaseModel):
    full_instruction: str = Field(min_length=1, max_length=1_000_000)
    pseudocode: str
    correct_answer: str = Field(min_length=1, max_length=100)

    @field_validator("correct_answer", mode="before")
    @classmethod
    def _null_is_a_label(cls, value: object) -> object:
        return "None" if value is None else value


class _FalsePath(_Path):
    diverge_node: str = Field(max_length=100)


class _Record(BaseModel):
    id: str = Field(min_length=1, max_length=200)
    domain: Literal["natural", "chart", "gui"]
    image: str = Field(min_length=1, max_length=1_000, validation_alias=AliasChoices("image", "image_path"))
    true_path: _Path
    false_path: _FalsePath

    @field_validator("id", mode="before")
    @classmethod
    def _number_is_an_id(cls, value: object) -> object:
        return str(value) if type(value) is int else value


@dataclass(frozen=True)
class Row:
    """One path of one chain, as the harness reads it.

    Attributes:
        pair: Unique for each chain: its id, with the line number added if the id is repeated.
        id: The record's id.
        domain: natural, chart or gui.
        path: "true" or "false".
        image: The record's picture or folder, relative to the dataset's root.
        images: Absolute paths of the pictures, in the order in which the model sees them.
        instruction: The chain in words.
        gold: The right label on this path.
        gold_true: The right label on the true path: an option of the final question.
        gold_false: The right label on the false path: an option of the question where it stops.
        labels: All labels that the instruction shows, in order of appearance.
        diverge_layer: The layer at which the false path stops, from 1; 0 if unknown.
        depth: The number of conditions; 0 if the pseudocode cannot be read.
        operators: Logical operators in the pseudocode's conditions, a mean over the layers; -1 if unknown.
        complexity: "simple" or "complex" if every condition is so (see `vpir.analyse`), "mixed", or "unknown".
    """

    pair: str
    id: str
    domain: str
    path: Literal["true", "false"]
    image: str
    images: tuple[str, ...]
    instruction: str
    gold: str
    gold_true: str
    gold_false: str
    labels: tuple[str, ...]
    diverge_layer: int
    depth: int
    operators: float
    complexity: str


_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("pair", "id", "domain", "path", "image")]
    + [("images", pa.list_(pa.string()))]
    + [(name, pa.string()) for name in ("instruction", "gold", "gold_true", "gold_false")]
    + [("labels", pa.list_(pa.string())), ("diverge_layer", pa.int64()), ("depth", pa.int64())]
    + [("operators", pa.float64()), ("complexity", pa.string())]
)


@dataclass(frozen=True)
class Reading:
    """A domain's file, read.

    Attributes:
        rows: Two a chain.
        sha256: Of the records, and of the names and sizes of the pictures they use (16 hexadecimal digits). It does
            not depend on where the data lies.
        faults: What keeps the data from being used, each with file, line, id and field.
        remarks: What can be scored all the same: kind of remark -> where.
    """

    rows: tuple[Row, ...]
    sha256: str
    faults: tuple[str, ...]
    remarks: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Prepared:
    """Rows in the cache.

    Attributes:
        rows: The Parquet file that the harness reads, one `Row` a row. (From JSON, an id that looks like a date would
            become one.)
        sha256: See `Reading`.
        remarks: Kind of remark -> count.
    """

    rows: Path
    sha256: str
    remarks: dict[str, int]


def prepare(source: Source, domain: str, order: FrameOrder = "lexicographic") -> Prepared:
    """Reads a domain's data into the cache, or finds it there.

    Args:
        source: The dataset.
        domain: One of `sources.DOMAINS`.
        order: Of the screenshots in a GUI trajectory.

    Returns:
        The prepared rows. They are made anew when the file of records or any picture's name, size or time changed.

    Raises:
        DataError: The data cannot be used; the message has the first fault and the number of all. The cache is then
            as it was.
    """
    usual = source.root / "images" / domain  # pictures in other places are looked at one by one
    state = _state(source.root, domain)
    file = cache_root() / "condchain" / f"{domain}-{order}-{state}.parquet"

    def make(path: Path) -> None:
        reading = read(source, domain, order)
        if reading.faults:
            more = len(reading.faults) - 1
            rest = f" (and {more} more: `condchain data check condchain {source.root}` lists them)" if more else ""
            raise DataError(reading.faults[0] + rest)
        counts = {kind: len(places) for kind, places in reading.remarks.items()}
        elsewhere = {path for row in reading.rows for path in row.images if not path.startswith(f"{usual}{os.sep}")}
        about = json.dumps(
            {
                "prepared": {"sha256": reading.sha256, "remarks": counts},
                "elsewhere": {path: _stamp(path) for path in elsewhere},
            }
        )
        table = pa.Table.from_pylist([asdict(row) for row in reading.rows], _SCHEMA.with_metadata({_ABOUT: about}))
        pq.write_table(table, path)

    about = _about(made_once(file, make))
    if any(_stamp(path) != stamp for path, stamp in about["elsewhere"].items()):
        file.unlink(missing_ok=True)
        about = _about(made_once(file, make))
    return Prepared(file, **about["prepared"])


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


def read(source: Source, domain: str, order: FrameOrder = "lexicographic") -> Reading:
    """Reads and checks a domain's records and pictures, without decoding any picture.

    Args:
        source: The dataset.
        domain: One of `sources.DOMAINS`.
        order: Of the screenshots in a GUI trajectory.

    Returns:
        All rows of sound records, all faults, all remarks.

    Raises:
        DataError: There is no file of records, or it cannot be read at all.
    """
    boundary = source.boundary
    records = source.root / "data" / f"{domain}.jsonl"
    if records.exists():
        _check_inside(records, boundary)
    digest = hashlib.sha256()
    rows: list[Row] = []
    faults: list[str] = []
    remarks: dict[str, list[str]] = {}
    seen: set[str] = set()
    pairs: set[str] = set()
    used: set[Path] = set()
    for entry in read_entries(records):
        try:
            record = _parse(entry, domain)
            where = f"{entry.place}, id {record.id!r}"
            try:
                frames = _frames(source.root, boundary, record)
            except (DataError, OSError) as error:
                raise DataError(f"{where}, field image: {error}") from error
        except DataError as error:
            faults.append(str(error))
            continue
        used.update(frames)
        for kind in _oddities(record, frames, seen):
            remarks.setdefault(kind, []).append(where)
        pair = record.id
        while pair in pairs:
            pair += f"@{entry.number}"
        pairs.add(pair)
        seen.add(record.id)
        rows.extend(_rows(record, pair, frames, order))
        digest.update(record.model_dump_json().encode())
        for frame in frames:
            digest.update(f"{frame.relative_to(source.root)} {frame.stat().st_size}".encode())
    if not rows and not faults:
        faults.append(f"{records} has no records.")
    unused = sorted(str(path) for path in _pictures(source.root / "images" / domain) if path not in used)
    if unused:
        remarks["pictures that no record uses"] = unused
    places = {kind: tuple(found) for kind, found in remarks.items()}
    return Reading(tuple(rows), digest.hexdigest()[:16], tuple(faults), places)


def _parse(entry: Entry, domain: str) -> _Record:
    if entry.value is None:
        raise DataError(f"{entry.place}: {entry.fault}.")
    value = {"id": entry.number, **entry.value}
    try:
        record = _Record.model_validate(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        found = "" if first["type"] == "missing" else f", found {str(first['input'])[:80]!r}"
        raise DataError(
            f"{entry.place}, id {str(value['id'])[:200]!r}, field {field}: {first['msg']}{found}."
        ) from error
    if record.domain != domain:
        raise DataError(f"{entry.place}, id {record.id!r}, field domain: expected {domain!r}, found {record.domain!r}.")
    return record


def _frames(root: Path, boundary: Path, record: _Record) -> list[Path]:
    """The record's pictures, checked, by file name."""
    path = root / record.image
    place = PurePosixPath(record.image)
    if place.is_absolute() or ".." in place.parts:
        raise DataError(f"{record.image!r} must be a path inside the data folder, without `..`.")
    if not record.image.isprintable():
        raise DataError(f"{record.image!r} has characters that cannot be printed.")
    if record.domain == "gui":
        if not path.is_dir():
            raise DataError(f"the trajectory folder {path} does not exist.")
        frames = sorted((p for p in path.iterdir() if _is_picture(p.name) and not p.is_dir()), key=lambda p: p.name)
        if not frames:
            raise DataError(f"the trajectory folder {path} holds no screenshot.")
        if len(frames) > MAX_FRAMES:
            raise DataError(
                f"the trajectory folder {path} holds {len(frames)} pictures; at most {MAX_FRAMES} are read."
            )
    else:
        frames = [path]
    _check_inside(frames[0].parent, boundary)
    for frame in frames:
        if not frame.is_file():
            raise DataError(f"the picture {frame} {'is no regular file' if frame.exists() else 'does not exist'}.")
        if not str(frame).isprintable():
            raise DataError(f"the picture {frame} has a name that cannot be printed. Rename it.")
        if frame.is_symlink():
            _check_inside(frame, boundary)
        check_image(frame)
    return frames


def _check_inside(path: Path, boundary: Path) -> None:
    if not path.resolve().is_relative_to(boundary):
        raise DataError(f"{path} leads out of the data folder, to {path.resolve()}.")


def _oddities(record: _Record, frames: Sequence[Path], seen: set[str]) -> Iterator[str]:
    if record.id in seen:
        yield "ids that occur more than once"
    if not (_conditions(record.true_path.pseudocode) and _conditions(record.false_path.pseudocode)):
        yield "chains with pseudocode that cannot be read"
    if not _NODE.fullmatch(record.false_path.diverge_node):
        yield "chains with a diverge_node that cannot be read"
    for path in (record.true_path, record.false_path):
        if path.correct_answer not in (*_labels(path.full_instruction), "None"):
            yield "paths with a right label that no option shows"
    if sorted(frames, key=_frame_number) != list(frames):
        yield "trajectories whose lexicographic order of frames is not the chronological one"


def _rows(record: _Record, pair: str, frames: list[Path], order: FrameOrder) -> Iterator[Row]:
    if order == "chronological":
        frames = sorted(frames, key=_frame_number)
    node = _NODE.fullmatch(record.false_path.diverge_node)
    kinds: tuple[tuple[Literal["true", "false"], _Path], ...] = (
        ("true", record.true_path),
        ("false", record.false_path),
    )
    for name, path in kinds:
        conditions = _conditions(path.pseudocode)
        yield Row(
            pair=pair,
            id=record.id,
            domain=record.domain,
            path=name,
            image=record.image,
            images=tuple(str(frame) for frame in frames),
            instruction=path.full_instruction,
            gold=path.correct_answer,
            gold_true=record.true_path.correct_answer,
            gold_false=record.false_path.correct_answer,
            labels=_labels(path.full_instruction),
            diverge_layer=int(node[1]) if node else 0,
            depth=len(conditions),
            operators=sum(operators for operators, _ in conditions) / len(conditions) if conditions else -1.0,
            complexity=_complexity([kind for _, kind in conditions]),
        )


def _labels(instruction: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_LABEL.findall(instruction)))


@lru_cache(maxsize=4)  # of a record's two paths, each is asked for twice
def _conditions(pseudocode: str) -> tuple[tuple[int, str], ...]:
    """Logical operators and complexity of each `if` line; empty if there is none or one cannot be read."""
    if len(pseudocode) > _MAX_PSEUDOCODE:
        return ()
    lines = (line.strip() for line in pseudocode.splitlines())
    conditions = [line[match.end() :] for line in lines if (match := _IF.match(line))]
    if len(conditions) > _MAX_LAYERS:
        return ()
    try:
        return tuple((a.operators, a.complexity) for a in map(_analyse, conditions))
    except PredicateError:
        return ()


def _analyse(condition: str) -> Analysis:
    try:
        return analyse(condition.strip().removesuffix(":"))
    except PredicateError:
        return analyse(condition.rpartition(":")[0])  # the line may go on after its colon


def _complexity(kinds: list[str]) -> str:
    if not kinds:
        return "unknown"
    return kinds[0] if set(kinds) in ({"simple"}, {"complex"}) else "mixed"


def _frame_number(path: Path) -> tuple[int, str]:
    number = _LAST_NUMBER.search(path.stem)
    return (int(number[1][-18:]) if number else 0, path.name)


def _is_picture(name: str) -> bool:
    # Names that start with a dot are what file systems leave behind ("._screen.png").
    return name.lower().endswith(_PICTURES) and not name.startswith(".")


def _pictures(folder: Path) -> Iterator[Path]:
    """All pictures below a folder, also through links to folders."""
    visited = set()
    for parent, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(parent)
        if real in visited:
            folders.clear()
            continue
        visited.add(real)
        yield from (Path(parent, name) for name in names if _is_picture(name))


def _state(root: Path, domain: str) -> str:
    """A hash that changes whenever the domain's records, or any picture in its usual place, change."""
    digest = hashlib.sha256(f"{_FORMAT} {root} {domain}".encode())
    records = root / "data" / f"{domain}.jsonl"
    if records.is_file():
        with records.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    for path in sorted(_pictures(root / "images" / domain)):
        digest.update(os.fsencode(path) + f" {_stamp(str(path))}".encode())
    return digest.hexdigest()[:16]
