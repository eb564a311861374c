"""V-REX: from chains of questions to one row for each.

No official layout could be checked, so this is the project's own (README, section Data), read strictly. The records
of a picture stand next to each other: a server with a prefix cache sees each picture once.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import pyarrow as pa
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import complete, faults_of, inside, not_blank, printable, shown
from condchain_tasks.data.identity import content_hash, is_drawn, is_marked
from condchain_tasks.data.images import Picture, look_at, pictures_under
from condchain_tasks.data.prepared import Reading, check_inside
from condchain_tasks.data.records import REPEATED, read_entries
from condchain_tasks.data.sources import Source
from condchain_tasks.data.special_tokens import SENT_BROKEN, broken_up, special_tokens

Mode = Literal["planning", "following", "direct"]
"""Which question to ask next; the answer to each question; the final question alone."""

OptionSet = Literal["standard", "hard"]
"""Four or eight options to pick the next question from."""

PLANNING = "data/planning.jsonl"
FOLLOWING = "data/following.jsonl"
HARD = "data/planning_hard.jsonl"
PICTURES = "images"

SCENARIOS = {
    "deduction": ("flowchart", "pattern", "property", "relationship"),
    "guessing": ("responsibility", "intention", "location", "time", "topic"),
    "navigation": ("map", "gui", "traffic", "trend"),
    "retrieval": ("counting", "word puzzle"),
}
"""The published categories and their scenarios."""

USUAL_CANDIDATES = {"standard": 4, "hard": 8}
"""Options of a planning step, as published."""

MAX_RECORDS = 10_000
"""Records that a file may have; the published benchmark has 702 samples."""

MAX_IMAGES = 20
"""Pictures that a sample may have."""

HOW_TO_GET = (
    "Get V-REX from its authors (arXiv 2512.11995, project page tianyi-lab/VREX), lay it out as "
    f"{PLANNING}, {FOLLOWING} and {PICTURES}/ (README, section Data), and set VREX_DATA to that folder."
)
"""What to do if a file is missing or damaged."""

_MIN_STEPS, _MAX_STEPS = 2, 6
_MIN_OPTIONS, _MAX_OPTIONS, _MAX_HARD = 2, 6, 8
_MAX_TEXT = 10_000  # characters
_MAX_PATH = 1_000
_MAX_NAME = 200


@dataclass(frozen=True)
class Option:
    """One option of a step.

    Attributes:
        text: The question that may be asked next, or the answer that may be given.
        answer: The question's own true answer; "" if the option is an answer.
        source: Where a question comes from, if the file says so: the "gold" chain, a "distracting" chain, or a
            "distractor" of this step alone; else "".
    """

    text: str
    answer: str
    source: str = ""


@dataclass(frozen=True)
class Step:
    """One step of a chain.

    Attributes:
        question: The right question.
        answer: Its true answer.
        gold: Index of the right option, from 0.
        options: What to choose from, in the order of the file.
    """

    question: str
    answer: str
    gold: int
    options: list[Option]

    def texts(self) -> Iterator[str]:
        """All its texts."""
        yield from (self.question, self.answer)
        for option in self.options:
            yield from (option.text, option.answer)

    def sent(self) -> Step:
        """The step as a model gets it, without special tokens (see `special_tokens`)."""
        options = [Option(broken_up(one.text), broken_up(one.answer), one.source) for one in self.options]
        return Step(broken_up(self.question), broken_up(self.answer), self.gold, options)


@dataclass(frozen=True)
class Row:
    """One chain, or one of its steps, as the harness reads it.

    Attributes:
        id: The sample's id; the same in every mode and set.
        category: One of `SCENARIOS`.
        scenario: Its scenario.
        final_question: What the chain leads to.
        mode: What is asked.
        set: "standard", or "hard": with more options to pick the next question from.
        blind: No picture is shown.
        image: The pictures, relative to the dataset's root.
        images: Their absolute paths; empty if `blind`.
        step: The one step that is asked, from 1; 0 if it is the whole chain.
        length: Number of steps of the chain, 2 to 6; the last one asks the final question.
        steps: All steps, in order; of a "direct" row only the last.
    """

    id: str
    category: str
    scenario: str
    final_question: str
    mode: Mode
    set: OptionSet
    blind: bool
    image: list[str]
    images: list[str]
    step: int
    length: int
    steps: list[Step]


_TEXT = pa.string()
_OPTION = pa.struct([("text", _TEXT), ("answer", _TEXT), ("source", _TEXT)])
_STEP = pa.struct([("question", _TEXT), ("answer", _TEXT), ("gold", pa.int64()), ("options", pa.list_(_OPTION))])

SCHEMA = pa.schema(
    [(name, _TEXT) for name in ("id", "category", "scenario", "final_question", "mode", "set")]
    + [("blind", pa.bool_()), ("image", pa.list_(_TEXT)), ("images", pa.list_(_TEXT))]
    + [("step", pa.int64()), ("length", pa.int64()), ("steps", pa.list_(_STEP))]
)
"""Of the rows in Parquet."""


def _counted(least: int, most: int, what: str, more: str = "") -> BeforeValidator:
    def check(value: object) -> object:
        if isinstance(value, list) and not least <= len(value) <= most:
            raise complete(f"Expected {least} to {most} {what}{more}, found {len(value)}")
        return value

    return BeforeValidator(check)


def _id(value: object) -> object:
    return str(value) if type(value) is int else value


def _paths(value: object) -> list[str]:
    paths = value if isinstance(value, list) else [value]
    if not 1 <= len(paths) <= MAX_IMAGES:
        raise complete(f"Expected a path, or a list of 1 to {MAX_IMAGES} paths, found {len(paths)}")
    return [_path(path) for path in paths]


def _path(path: object) -> str:
    if not isinstance(path, str) or not path or len(path) > _MAX_PATH:
        raise PydanticCustomError("path", "Expected a path, or a list of paths")
    return str(PurePosixPath(inside(path)))


_Prose = Annotated[str, Field(max_length=_MAX_TEXT), AfterValidator(not_blank)]
_Name = Annotated[str, Field(max_length=_MAX_NAME), AfterValidator(not_blank), AfterValidator(printable)]


class _Record(BaseModel):
    """A record without what is in its steps."""

    id: Annotated[_Name, BeforeValidator(_id)]
    image: Annotated[list[str], BeforeValidator(_paths)]
    category: Literal["deduction", "guessing", "navigation", "retrieval"]
    scenario: _Name
    final_question: _Prose
    steps: Annotated[list[Any], _counted(_MIN_STEPS, _MAX_STEPS, "steps")]

    mode: ClassVar[Mode]
    set: OptionSet

    def step_model(self, number: int) -> type[_Step]:
        """What the step of this number, from 1, must be."""
        return _AnswerStep


class _Following(_Record):
    mode = "following"
    set: Literal["standard"] = "standard"


class _Planning(_Record):
    mode = "planning"
    set: OptionSet = "standard"

    def step_model(self, number: int) -> type[_Step]:
        if number == len(self.steps):
            return _AnswerStep
        return _HardPlanningStep if self.set == "hard" else _PlanningStep


class _HardPlanning(_Planning):
    set: Literal["hard"]


_FILES: dict[str, type[_Record]] = {PLANNING: _Planning, FOLLOWING: _Following, HARD: _HardPlanning}


class _Step(BaseModel):
    question: _Prose
    answer: _Prose
    gold: Annotated[int, Field(ge=0)]
    options: list[Any]

    def choices(self) -> list[Option]:
        """The options, as they stand in a row."""
        raise NotImplementedError

    def by_gold(self) -> dict[str, str]:
        """What the gold option says that fields of the step are."""
        raise NotImplementedError

    def contradictions(self) -> Iterator[tuple[str, str, object]]:
        """Field, what was expected, and what was found."""
        first: dict[str, int] = {}
        for number, option in enumerate(self.choices()):
            same = first.setdefault(_plain(option.text), number)
            if same != number:
                yield f"options.{number}", f"Expected an option unlike options.{same}", option.text
        if self.gold >= len(self.options):
            yield "gold", f"Expected 0 to {len(self.options) - 1}, the index of an option", self.gold
            return
        for field, expected in self.by_gold().items():
            found = getattr(self, field)
            if found != expected:
                yield field, f"Expected what options.{self.gold}, the gold one, says: {shown(expected)}", found


class _AnswerStep(_Step):
    options: Annotated[list[_Prose], _counted(_MIN_OPTIONS, _MAX_OPTIONS, "options")]

    def choices(self) -> list[Option]:
        return [Option(text, "") for text in self.options]

    def by_gold(self) -> dict[str, str]:
        return {"answer": self.options[self.gold]}


class _Candidate(BaseModel):
    question: _Prose
    answer: _Prose
    source: Literal["gold", "distracting", "distractor", ""] = ""


class _PlanningStep(_Step):
    options: Annotated[
        list[_Candidate],
        _counted(_MIN_OPTIONS, _MAX_OPTIONS, "options", f' (up to {_MAX_HARD} in a record with "set": "hard")'),
    ]

    def choices(self) -> list[Option]:
        return [Option(option.question, option.answer, option.source) for option in self.options]

    def by_gold(self) -> dict[str, str]:
        gold = self.options[self.gold]
        return {"question": gold.question, "answer": gold.answer}


class _HardPlanningStep(_PlanningStep):
    options: Annotated[list[_Candidate], _counted(_MIN_OPTIONS, _MAX_HARD, "options")]


def read(source: Source) -> Reading:
    """Reads and checks the files of records and the pictures, without decoding any picture.

    Args:
        source: The dataset: `PLANNING` or `FOLLOWING` or both, perhaps `HARD`, and pictures.

    Returns:
        A row for each sound record, with all its steps; all faults; all remarks. Rows are ordered by first picture, as
        it first occurs, then by file and line.

    Raises:
        DataError: There is neither of the two files, or one cannot be read at all.
    """
    return _Reader(source).read()


_Model = TypeVar("_Model", bound=BaseModel)


class _Reader:
    """One reading of a dataset: what is known so far, and what was found wrong or odd."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._faults: list[str] = []
        self._remarks: defaultdict[str, list[str]] = defaultdict(list)
        self._drawn = is_drawn(source.root)
        self._pictures: dict[str, Picture | None] = {}  # None: a fault
        self._records: dict[tuple[str, str, str], str] = {}  # mode, set and id: its place
        self._samples: dict[str, tuple[str, _Record]] = {}  # id: where it first occurs
        self._chains: dict[str, object] = {}  # id: what is asked, where that first occurs

    def read(self) -> Reading:
        present = [name for name in _FILES if (self._source.root / name).exists()]
        if PLANNING not in present and FOLLOWING not in present:
            raise DataError(f"{self._source.root} holds neither {PLANNING} nor {FOLLOWING}. {HOW_TO_GET}")
        rows = [row for name in present for row in self._rows(name)]
        order = {path: number for number, path in enumerate(self._pictures)}
        rows.sort(key=lambda row: order[row.image[0]])
        self._remark_what_lacks(present)
        remarks = {kind: tuple(places) for kind, places in self._remarks.items()}
        return Reading(tuple(rows), self._digest(rows), tuple(self._faults), remarks, drawn=self._drawn)

    def _fault(self, message: str) -> None:
        self._faults.append(str(DataError(message)))

    def _validated(self, model: type[_Model], value: object, place: str) -> _Model | None:
        """The value as a model; if it is none, a fault for each error in it, and None."""
        try:
            return model.model_validate(value, strict=True)
        except ValidationError as error:
            for fault in faults_of(error, place):
                self._fault(fault)
            return None

    def _rows(self, name: str) -> Iterator[Row]:
        path = self._source.root / name
        try:
            check_inside(path, self._source.boundary)
            entries = list(islice(read_entries(path), MAX_RECORDS + 1))
        except (DataError, OSError) as error:
            raise DataError(f"{error} {HOW_TO_GET}") from error
        if len(entries) > MAX_RECORDS or not any(entry.value for entry in entries):
            found = f"more than {MAX_RECORDS:,}" if len(entries) > MAX_RECORDS else "none"
            raise DataError(f"{path}: expected a line of JSON, an object, for each sample, found {found}. {HOW_TO_GET}")
        for entry in entries:
            for field in entry.repeated:
                self._remarks[REPEATED].append(f"{entry.place}, field {field}")
            if entry.value is None:
                self._fault(f"{entry.place}: {entry.fault}.")
                continue
            place = f"{entry.place}, id {shown(entry.value.get('id'))}"
            self._drawn = self._drawn or is_marked(entry.value)
            record = self._validated(_FILES[name], entry.value, place)
            if record and (row := self._row(record, place)):
                yield row

    def _row(self, record: _Record, place: str) -> Row | None:
        key = (record.mode, record.set, record.id)
        if key in self._records:
            self._fault(f"{place}: this record occurs twice, first at {self._records[key]}. Remove one of the two.")
            return None
        self._records[key] = place
        self._compare_with_first(record, place)
        pictures = [self._has_picture(path, place) for path in record.image]
        steps = [self._step(record, number, place) for number in range(1, len(record.steps) + 1)]
        sound = [step for step in steps if step]
        if len(sound) < len(steps) or not all(pictures):
            return None
        if record.scenario not in SCENARIOS[record.category]:
            at = f"{place}, field scenario: {shown(record.scenario)} in {record.category}"
            self._remarks["scenarios that are none of their category's published ones"].append(at)
        chain = (record.scenario, [(step.question, step.answer) for step in sound])
        if self._chains.setdefault(record.id, chain) != chain:
            self._remarks["records whose scenario or gold chain differs from the sample's first record"].append(place)
        return Row(
            id=record.id,
            category=record.category,
            scenario=record.scenario,
            final_question=broken_up(record.final_question),
            mode=record.mode,
            set=record.set,
            blind=False,
            image=record.image,
            images=[str(self._source.root / path) for path in record.image],
            step=0,
            length=len(sound),
            steps=sound,
        )

    def _compare_with_first(self, record: _Record, place: str) -> None:
        first_place, first = self._samples.setdefault(record.id, (place, record))
        for field in ("image", "category", "final_question"):
            expected, found = getattr(first, field), getattr(record, field)
            if found != expected:
                self._fault(
                    f"{place}, field {field}: Expected {shown(expected)}, as at {first_place}, found {shown(found)}."
                )

    def _has_picture(self, path: str, place: str) -> bool:
        """Whether there is a sound picture; it is a fault, once, if not."""
        if path not in self._pictures:
            try:
                self._pictures[path] = picture = self._check_picture(self._source.root / path)
            except (DataError, OSError) as error:
                self._pictures[path] = None
                self._fault(f"{place}, field image: {error}")
            else:
                self._drawn = self._drawn or picture.drawn
                for kind in picture.oddities:
                    self._remarks[kind].append(f"{place}, field image: {path}")
        return self._pictures[path] is not None

    def _check_picture(self, path: Path) -> Picture:
        if not path.is_file():
            raise DataError(f"the picture {path} does not exist as a file. {HOW_TO_GET}")
        check_inside(path, self._source.boundary)
        return look_at(path)

    def _step(self, record: _Record, number: int, place: str) -> Step | None:
        place = f"{place}, step {number}"
        step = self._validated(record.step_model(number), record.steps[number - 1], place)
        if step is None:
            return None
        faults = list(step.contradictions())
        if number == len(record.steps) and step.question != record.final_question:
            expected = f"Expected the final question, {shown(record.final_question)}"
            faults.append(("question", expected, step.question))
        for field, expected, found in faults:
            self._fault(f"{place}, field {field}: {expected}, found {shown(found)}.")
        if faults:
            return None
        if isinstance(step, _PlanningStep) and len(step.options) != USUAL_CANDIDATES[record.set]:
            kind = f"planning steps of the {record.set} set without {USUAL_CANDIDATES[record.set]} options"
            self._remarks[kind].append(f"{place}: {len(step.options)}")
        found = Step(step.question, step.answer, step.gold, step.choices())
        for token in special_tokens("\n".join(found.texts())):
            self._remarks[SENT_BROKEN].append(f"{place}: {token!r}")
        return found.sent()

    def _remark_what_lacks(self, present: list[str]) -> None:
        for name in (PLANNING, FOLLOWING):
            if name not in present:
                kind = "files that are not there, which some tasks need"
                self._remarks[kind].append(str(self._source.root / name))
        if PLANNING in present and FOLLOWING in present:
            found = {key: place for key, place in self._records.items() if key[1] == "standard"}
            for (mode, _, sample), place in found.items():
                other = "following" if mode == "planning" else "planning"
                if (other, "standard", sample) not in found:
                    self._remarks[f"samples that are in {mode} and not in {other}"].append(place)
        categories = {record.category for _, record in self._samples.values()}
        if lacking := [category for category in SCENARIOS if category not in categories]:
            self._remarks["published categories without a sample"] = lacking
        used = {self._source.root / path for path in self._pictures}
        folder = self._source.root / PICTURES
        unused = sorted(str(path) for path in pictures_under(folder, self._source.boundary) if path not in used)
        if unused and not self._faults:  # a faulty record may be the one that uses them
            self._remarks["pictures that no record uses"] = unused

    def _digest(self, rows: list[Row]) -> str:
        records = (
            json.dumps([value for name, value in vars(row).items() if name != "images"], default=vars) for row in rows
        )
        return content_hash(records, ((name, one.sha256) for name, one in self._pictures.items() if one))


def _plain(text: str) -> str:
    """A text that is the same for texts which differ in case and white space alone."""
    return " ".join(text.split()).casefold()
