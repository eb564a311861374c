"""MM-CondChain: from the official files to one row for each path.

A record is a chain with a true and a false path; its two rows stand next to each other, so that a server with a
prefix cache sees each picture once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import AfterValidator, AliasChoices, BaseModel, Field, ValidationError, field_validator

from condchain_tasks.data import prepared
from condchain_tasks.data.condchain_source import DOMAINS, mini, official
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import whole
from condchain_tasks.data.identity import content_hash, is_drawn, is_marked
from condchain_tasks.data.images import Picture, is_picture, look_at, pictures_under
from condchain_tasks.data.prepared import Content, Files, Prepared, Reading, check_inside
from condchain_tasks.data.records import REPEATED, Entry, read_entries
from condchain_tasks.data.request_size import Largest, largest
from condchain_tasks.data.sources import Source
from condchain_tasks.data.special_tokens import SENT_BROKEN, broken_up, special_tokens
from condchain_tasks.vpir import Analysis, PredicateError, analyse
from condchain_tasks.wording import counted

FrameOrder = Literal["lexicographic", "chronological"]
"""Of a GUI trajectory's screenshots: by file name, as the published figures were made, or by the number in it."""

MAX_FRAMES = 200
"""Screenshots a trajectory may have; the official ones have 9 on average."""

_MAX_GAPS = 5  # told of one trajectory
_MAX_LAYERS = 64  # conditions in one pseudocode, and characters in it: reading it takes time, and it may be anyone's
_MAX_PSEUDOCODE = 100_000
_LABEL = re.compile(r"\b[A-Z]\d{1,3}\b")
_IF = re.compile(r"(?:if|elif)\b")
_NODE = re.compile(r"qa_(\d{1,3})")
_LAST_NUMBER = re.compile(r"(\d+)\D*$")


class _Path(BaseModel):
    full_instruction: str = Field(min_length=1, max_length=1_000_000)
    pseudocode: Annotated[str, AfterValidator(whole)]
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


def load(task: str) -> tuple[Source, Prepared]:
    """A task's data, prepared.

    Args:
        task: Such as "condchain_gui" or "condchain_gui_chrono_mini".

    Returns:
        Where it comes from, and its rows.

    Raises:
        DataError: The data cannot be had or used.
        KeyError: There is no such task.
    """
    name = task.removesuffix("_mini")
    domain = name.removeprefix("condchain_").removesuffix("_chrono")
    if domain not in DOMAINS:
        raise KeyError(task)
    source = mini() if task.endswith("_mini") else official(domain)
    return source, prepare(source, domain, "chronological" if name.endswith("_chrono") else "lexicographic")


def prepare(source: Source, domain: str, order: FrameOrder = "lexicographic") -> Prepared:
    """Reads a domain's data into the cache, or finds it there; see `prepared.prepare`.

    Args:
        source: The dataset.
        domain: One of `DOMAINS`.
        order: Of the screenshots in a GUI trajectory.
    """
    root = source.root
    return prepared.prepare(
        f"condchain/{domain}-{order}",
        source,
        Files((root / "data" / f"{domain}.jsonl",), root / "images" / domain),
        Content(f"condchain/{domain}", _SCHEMA, lambda: read(source, domain, order), _characters),
        check=f"condchain data check condchain {root}",
    )


def parts(folder: Path | None) -> Iterator[tuple[str, Callable[[], Reading]]]:
    """The data's parts, for a check: each domain's name and what reads it.

    Args:
        folder: The data; None: what a run would use.

    Raises:
        DataError: The folder holds no part.
    """
    absent = [d for d in DOMAINS if folder and not (folder / "data" / f"{d}.jsonl").is_file()]
    if len(absent) == len(DOMAINS):
        raise DataError(f"{folder} holds none of {', '.join(f'data/{d}.jsonl' for d in DOMAINS)}.")
    for domain in DOMAINS:
        yield domain, partial(_read_part, folder, domain, domain not in absent)


def _read_part(folder: Path | None, domain: str, present: bool) -> Reading:
    if folder is None:
        return read(official(domain), domain)
    if not present:
        kind = "files that are not there, which some tasks need"
        return Reading((), "", (), {kind: (str(folder / "data" / f"{domain}.jsonl"),)})
    return read(Source(folder.absolute(), "folder"), domain)


def count(reading: Reading) -> str:
    """How much a reading holds."""
    return counted(len(reading.rows) // 2, "chain")


def size(reading: Reading) -> Largest:
    """The largest request."""
    return largest(reading.rows, _characters)


def _characters(row: Row) -> int:
    return len(row.instruction)


def read(source: Source, domain: str, order: FrameOrder = "lexicographic") -> Reading:
    """Reads and checks a domain's records and pictures, without decoding any picture.

    Args:
        source: The dataset.
        domain: One of `DOMAINS`.
        order: Of the screenshots in a GUI trajectory.

    Returns:
        All rows of sound records, all faults, all remarks.

    Raises:
        DataError: There is no file of records, or it cannot be read at all.
    """
    boundary = source.boundary
    records = source.root / "data" / f"{domain}.jsonl"
    if records.exists():
        check_inside(records, boundary)
    rows: list[Row] = []
    faults: list[str] = []
    remarks: defaultdict[str, list[str]] = defaultdict(list)
    content: list[str] = []
    pairs: set[str] = set()
    seen: set[str] = set()
    used: dict[Path, Picture] = {}
    drawn = is_drawn(source.root)
    for entry in read_entries(records):
        for field in entry.repeated:
            remarks[REPEATED].append(f"{entry.place}, field {field}")
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
        for frame, picture in frames.items():
            for kind in picture.oddities if frame not in used else ():
                remarks[kind].append(f"{where}, field image: {frame}")
        used |= frames
        for kind, more in _oddities(record, entry.value or {}, list(frames), seen):
            remarks[kind].append(where + more)
        pair = record.id
        while pair in pairs:
            pair += f"@{entry.number}"
        pairs.add(pair)
        seen.add(record.id)
        rows.extend(_rows(record, pair, list(frames), order))
        content.append(record.model_dump_json())
        drawn = drawn or is_marked(entry.value or {})
    if not rows and not faults:
        faults.append(f"{records} has no records.")
    unused = sorted(str(p) for p in pictures_under(source.root / "images" / domain, boundary) if p not in used)
    if unused and not faults:  # a faulty record may be the one that uses them
        remarks["pictures that no record uses"] = unused
    names = ((frame.relative_to(source.root).as_posix(), picture.sha256) for frame, picture in used.items())
    return Reading(
        tuple(rows),
        content_hash(content, names),
        tuple(faults),
        {kind: tuple(found) for kind, found in remarks.items()},
        drawn=drawn or any(picture.drawn for picture in used.values()),
    )


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


def _frames(root: Path, boundary: Path, record: _Record) -> dict[Path, Picture]:
    """The record's pictures, checked, in the order of their names."""
    path = root / record.image
    place = PurePosixPath(record.image)
    if place.is_absolute() or ".." in place.parts:
        raise DataError(f"{record.image!r} must be a path inside the data folder, without `..`.")
    if not record.image.isprintable():
        raise DataError(f"{record.image!r} has characters that cannot be printed.")
    if record.domain == "gui":
        if not path.is_dir():
            raise DataError(f"the trajectory folder {path} does not exist.")
        frames = sorted((p for p in path.iterdir() if is_picture(p.name) and not p.is_dir()), key=lambda p: p.name)
        if not frames:
            raise DataError(f"the trajectory folder {path} holds no screenshot.")
        if len(frames) > MAX_FRAMES:
            raise DataError(
                f"the trajectory folder {path} holds {len(frames)} pictures; at most {MAX_FRAMES} are read."
            )
    else:
        frames = [path]
    check_inside(frames[0].parent, boundary)
    for frame in frames:
        if not frame.is_file():
            raise DataError(f"the picture {frame} {'is no regular file' if frame.exists() else 'does not exist'}.")
        if not str(frame).isprintable():
            raise DataError(f"the picture {frame} has a name that cannot be printed. Rename it.")
        if frame.is_symlink():
            check_inside(frame, boundary)
    return {frame: look_at(frame) for frame in frames}


def _oddities(
    record: _Record, given: Mapping[str, Any], frames: Sequence[Path], seen: set[str]
) -> Iterator[tuple[str, str]]:
    """Kinds of oddities, each with what is added to the record's place."""
    if record.id in seen:
        yield "ids that occur more than once", ""
    if {"image", "image_path"} <= given.keys():
        yield "records with both image and image_path, of which image counts", ""
    if not (_conditions(record.true_path.pseudocode) and _conditions(record.false_path.pseudocode)):
        yield "chains with pseudocode that cannot be read", ""
    if not _NODE.fullmatch(record.false_path.diverge_node):
        yield "chains with a diverge_node that cannot be read", ""
    for name, path in (("true_path", record.true_path), ("false_path", record.false_path)):
        if path.correct_answer not in (*_labels(path.full_instruction), "None"):
            yield "paths with a right label that no option shows", ""
        for token in special_tokens(path.full_instruction):
            yield SENT_BROKEN, f", field {name}.full_instruction: {token!r}"
    if sorted(frames, key=_frame_number) != list(frames):
        yield "trajectories whose lexicographic order of frames is not the chronological one", ""
    if record.domain == "gui":
        yield from _gaps(frames)


def _gaps(frames: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """What is odd about the numbers of a trajectory's frames, if all have one."""
    numbers = [int(match[1][-18:]) for frame in frames if (match := _LAST_NUMBER.search(frame.stem))]
    if len(numbers) < len(frames):
        return
    present = sorted(set(numbers))
    if len(present) < len(numbers):
        twice = next(number for number in present if numbers.count(number) > 1)
        yield "trajectories with several frames of one number", f": {twice}"
    starts = [min(present[0], 1) - 1, *present]  # the first number is 0 or 1
    missing = [(a + 1, b - 1) for a, b in zip(starts, present, strict=False) if b > a + 1]
    if missing:
        ranges = [str(a) if a == b else f"{a} to {b}" for a, b in missing]
        more = f" and {len(ranges) - _MAX_GAPS} more" if len(ranges) > _MAX_GAPS else ""
        yield "trajectories with a gap in their frames' numbers", f": no {', '.join(ranges[:_MAX_GAPS])}{more}"


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
            instruction=broken_up(path.full_instruction),
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
