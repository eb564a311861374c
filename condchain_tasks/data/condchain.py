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
from pathlib import Path
from typing import Literal

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
_PICTURES = (".png", ".jpg", ".jpeg", ".webp")
_LABEL = re.compile(r"\b[A-Z]\d{1,3}\b")
_IF = re.compile(r"(?:if|elif)\b")
_NODE = re.compile(r"qa_(\d{1,3})")
_LAST_NUMBER = re.compile(r"(\d+)\D*$")


class _Path(BaseModel):
    full_instruction: str = Field(min_length=1, max_length=1_000_000)
    pseudocode: str = Field(max_length=1_000_000)
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
        pair: Unique for each chain: its id, with the line number if the id is repeated.
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


@dataclass(frozen=True)
class Reading:
    """A domain's file, read.

    Attributes:
        rows: Two a chain.
        faults: What keeps the data from being used, each with file, line, id and field.
        remarks: What can be scored all the same: kind of remark -> where.
    """

    rows: tuple[Row, ...]
    faults: tuple[str, ...]
    remarks: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Prepared:
    """Rows in the cache.

    Attributes:
        rows: The JSON-lines file that the harness reads, one `Row` a line.
        sha256: Of everything that the rows were made from (16 hexadecimal digits).
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
    digest = _source_digest(source.root, domain, order)
    folder = cache_root() / "condchain" / f"{domain}-{order}-{digest}"

    def make(path: Path) -> None:
        reading = read(source, domain, order)
        if reading.faults:
            more = len(reading.faults) - 1
            rest = f" (and {more} more: `condchain data check condchain {source.root}` lists them)" if more else ""
            raise DataError(reading.faults[0] + rest)
        path.mkdir()
        with (path / "rows.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in reading.rows)
        counts = {kind: len(places) for kind, places in reading.remarks.items()}
        (path / "remarks.json").write_text(json.dumps(counts), encoding="utf-8")

    made_once(folder, make)
    remarks = json.loads((folder / "remarks.json").read_text(encoding="utf-8"))
    return Prepared(folder / "rows.jsonl", digest, remarks)


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
    rows: list[Row] = []
    faults: list[str] = []
    remarks: dict[str, list[str]] = {}
    seen: set[str] = set()
    used: set[Path] = set()
    for entry in read_entries(source.root / "data" / f"{domain}.jsonl"):
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
        pair = f"{record.id}@{entry.number}" if record.id in seen else record.id
        seen.add(record.id)
        rows.extend(_rows(record, pair, frames, order))
    if not rows and not faults:
        faults.append(f"{source.root / 'data' / f'{domain}.jsonl'} has no records.")
    folder = source.root / "images" / domain
    unused = sorted(str(path) for path in _pictures(folder) if path not in used)
    if unused:
        remarks["pictures that no record uses"] = unused
    return Reading(tuple(rows), tuple(faults), {kind: tuple(places) for kind, places in remarks.items()})


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
    if Path(record.image).is_absolute() or ".." in Path(record.image).parts or "\0" in record.image:
        raise DataError(f"{record.image!r} must be a path inside the data folder, without `..`.")
    if record.domain == "gui":
        if not path.is_dir():
            raise DataError(f"the trajectory folder {path} does not exist.")
        frames = sorted((p for p in path.iterdir() if p.suffix.lower() in _PICTURES), key=lambda p: p.name)
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
            raise DataError(f"the picture {frame} does not exist.")
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
    if _conditions(record.true_path.pseudocode) is None or _conditions(record.false_path.pseudocode) is None:
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
        conditions = _conditions(path.pseudocode) or []
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


def _conditions(pseudocode: str) -> list[tuple[int, str]] | None:
    """Logical operators and complexity of each `if` line; None if there is none or one cannot be read."""
    lines = (line.strip() for line in pseudocode.splitlines())
    try:
        analyses = [_analyse(line[match.end() :]) for line in lines if (match := _IF.match(line))]
    except PredicateError:
        return None
    return [(a.operators, a.complexity) for a in analyses] or None


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


def _pictures(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.lower().endswith(_PICTURES):
                yield Path(parent, name)


def _source_digest(root: Path, domain: str, order: FrameOrder) -> str:
    digest = hashlib.sha256(f"{_FORMAT} {root} {domain} {order}".encode())
    records = root / "data" / f"{domain}.jsonl"
    if records.is_file():
        with records.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    for path in sorted(_pictures(root / "images" / domain)):
        try:
            stat = path.stat()
        except OSError:
            continue  # a dangling link is reported with the record that uses it
        digest.update(f"{path.relative_to(root)}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]
