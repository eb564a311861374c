"""CCRV-Bench: from the official files to one row for each item.

A baseline question and its constrained forms share a key and stand next to each other, and so do all items of a
picture: a server with a prefix cache sees each picture once.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

import pyarrow as pa
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.fields import faults_of, inside, not_blank, printable, shown
from condchain_tasks.data.identity import content_hash, is_drawn, is_marked
from condchain_tasks.data.images import Picture, look_at, pictures_under
from condchain_tasks.data.prepared import Reading, check_inside
from condchain_tasks.data.records import REPEATED, read_entries
from condchain_tasks.data.sources import Source
from condchain_tasks.data.special_tokens import SENT_BROKEN, broken_up, special_tokens

BASELINE_FILE = "benchmark_with_rubrics_top100.json"
CONSTRAINED_FILE = "benchmark_main_set_with_rubrics_top100.json"
PICTURES = "VG_images_test"

DIMENSIONS = {
    "X1_discovery": "X1",
    "X2_prediction": "X2",
    "X3_diagnosis": "X3",
    "X4_intervention": "X4",
}
"""Causal dimensions: their names in the files, and in a row."""

SETTINGS = ("base", "Y1", "Y2", "Y3", "Y4")
"""The baseline and the four constraints."""

MAX_IMAGES = 10_000
"""Images that a file may have; the official ones have 100."""

HOW_TO_GET = "Clone https://github.com/0815linyuan/CCRVBench and set CCRV_DATA to that folder."
"""What to do if a file is missing or damaged."""

_MARGIN = 0.075  # of an item that names none, as in the released scorer
_MAX_MARGIN = 0.25
_MAX_QUESTIONS = 100  # of one image in one dimension, and forms of one question
_MAX_TEXT = 100_000  # characters
_MAX_SPEC = 200_000  # characters of JSON
_MAX_TERMS = 1_000
_MAX_NODES = 100
_CONSTRAINT = re.compile(r"(Y[1-4])(?:\..{0,20})?")
_NUMBER = re.compile(r"(?:(?<!\d)-)?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Row:
    """One item, as the harness reads it: a baseline question, or one of its four constrained forms.

    Attributes:
        key: Image id, dimension and index, such as "2317269/X1/0"; a baseline question's forms have its key.
        image_id: The image's id.
        cluster: The image's primary cluster, "" if it names none.
        x: "X1" to "X4".
        y: "base", or "Y1" to "Y4".
        setting: "standard", or the control that the row was made for.
        image: The picture, relative to the dataset's root.
        images: Its absolute path, alone.
        width: Of the picture, pixels.
        height: Of the picture, pixels.
        question: What is asked.
        base_question: What the baseline asks.
        reference: The right answer to the baseline question.
        adapted: The right answer under the constraint, "" for the baseline.
        rationale: Why the reference is right, "" if not said.
        rubric_l1: What the judge looks for: the entities.
        rubric_l2: The interaction.
        rubric_l3: The causal outcome.
        spec: The constraint's specification as given, JSON; "" for the baseline.
        forbidden_terms: Y1's; else empty.
        bbox_xyxy: Y2's target: two opposite corners, pixels; else empty.
        margin: By how much Y2's box grows on each side, as a fraction of its width and height, 0 to 0.25; else 0.
        max_words: Y4's limit, at least 1; else 0.
        forbid_punctuation: Y4's.
        single_line: Y4's: nothing but the phrase.
    """

    key: str
    image_id: str
    cluster: str
    x: str
    y: str
    setting: str
    image: str
    images: list[str]
    width: int
    height: int
    question: str
    base_question: str
    reference: str
    adapted: str
    rationale: str
    rubric_l1: str
    rubric_l2: str
    rubric_l3: str
    spec: str
    forbidden_terms: list[str]
    bbox_xyxy: list[float]
    margin: float
    max_words: int
    forbid_punctuation: bool
    single_line: bool


SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("key", "image_id", "cluster", "x", "y", "setting", "image")]
    + [("images", pa.list_(pa.string())), ("width", pa.int64()), ("height", pa.int64())]
    + [(name, pa.string()) for name in ("question", "base_question", "reference", "adapted", "rationale")]
    + [(name, pa.string()) for name in ("rubric_l1", "rubric_l2", "rubric_l3", "spec")]
    + [("forbidden_terms", pa.list_(pa.string())), ("bbox_xyxy", pa.list_(pa.float64())), ("margin", pa.float64())]
    + [("max_words", pa.int64()), ("forbid_punctuation", pa.bool_()), ("single_line", pa.bool_())]
)
"""Of the rows in Parquet."""


def _id(value: object) -> str:
    text = str(value) if type(value) is int else value
    if not isinstance(text, str) or not 0 < len(text) <= 100 or not text.isprintable() or set("/\\") & set(text):
        raise PydanticCustomError("id", "Expected a whole number, or a name of at most 100 characters without slash")
    return text


def _known_constraint(name: str) -> str:
    match = _CONSTRAINT.fullmatch(name)
    if match is None:
        raise PydanticCustomError("constraint", "Expected one of Y1 to Y4")
    return match[1]


def _four_numbers(value: object) -> object:
    try:
        return _NUMBERS.validate_python(value, strict=True)
    except ValidationError:
        raise PydanticCustomError("box", "Expected four finite numbers") from None


_Number = Annotated[float, Field(allow_inf_nan=False)]
_NUMBERS = TypeAdapter(Annotated[list[_Number], Field(min_length=4, max_length=4)])
_Text = Annotated[str, Field(max_length=_MAX_TEXT)]
_Prose = Annotated[_Text, AfterValidator(not_blank)]
_Box = Annotated[list[float], BeforeValidator(_four_numbers)]
_Name = Annotated[str, Field(max_length=80), AfterValidator(printable)]
_Questions = Annotated[list[Any], Field(max_length=_MAX_QUESTIONS)]


class _Image(BaseModel):
    image_id: Annotated[str, BeforeValidator(_id)]
    image_path_relative: Annotated[str, Field(max_length=1_000), AfterValidator(inside)] | None = None
    primary_cluster: _Text | None = None
    questions: dict[str, _Questions]


class _Rubric(BaseModel):
    L1_perception_check: _Prose
    L2_interaction_check: _Prose
    L3_causal_check: _Prose


class _Question(BaseModel):
    question_text: _Prose
    ground_truth_answer: _Prose
    rationale: _Text | None = None
    causal_rationale: _Text | None = None


class _BaselineQuestion(_Question):
    evaluation_rubric: _Rubric


class _ConstrainedQuestion(_Question):
    evaluation_rubric: _Rubric | None = None
    main_set_versions: _Questions | None = None


class _Constraint(BaseModel):
    constraint_id: Annotated[str, AfterValidator(_known_constraint)]


class _Form(BaseModel):
    constrained_question: _Prose
    adapted_ground_truth: _Prose
    evaluation_rubric_main_set: _Rubric | None = None
    constraint_spec: dict[str, Any]


class _Spec(BaseModel):
    """What a constraint demands. An oddity is a kind of remark, and what is added to the item's place."""

    def fields(self) -> dict[str, Any]:
        """What it sets in the item's row."""
        return {}

    def oddities(self, question: str, size: tuple[int, int]) -> Iterator[tuple[str, str]]:
        """What is unusual about it, in a picture of this width and height."""
        yield from ()


class _Node(BaseModel):
    bbox_xyxy: _Box
    bbox_xywh: _Box | None = None


class _Symbolization(_Spec):
    forbidden_terms: Annotated[list[_Text], Field(max_length=_MAX_TERMS)]
    symbol_map: Annotated[dict[_Name, _Node], Field(max_length=_MAX_NODES)] = {}

    def fields(self) -> dict[str, Any]:
        return {"forbidden_terms": [term for term in self.forbidden_terms if term.strip()]}

    def oddities(self, question: str, size: tuple[int, int]) -> Iterator[tuple[str, str]]:
        empty = sum(not term.strip() for term in self.forbidden_terms)
        yield from [("forbidden terms that are empty and left out", "")] * empty
        if empty == len(self.forbidden_terms):
            yield "Y1 items without a forbidden term, which any reply satisfies", ""
        for name, node in self.symbol_map.items():
            yield from _box_oddities(f"symbol_map.{name}.bbox", node.bbox_xyxy, node.bbox_xywh, size)
        if not self.symbol_map:
            yield "Y1 items without a symbol map, by which a judge would know what the symbols stand for", ""

    def wording(self, question: str) -> str:
        """How the question states the nodes' boxes, which bears on how well a model can find them."""
        return _stated(question, list(self.symbol_map.values()))


class _Grounding(_Spec):
    target_bbox_xyxy: _Box
    target_bbox_xywh: _Box | None = None
    csr_bbox_margin_fraction: _Number = _MARGIN

    def fields(self) -> dict[str, Any]:
        margin = min(max(self.csr_bbox_margin_fraction, 0.0), _MAX_MARGIN)
        return {"bbox_xyxy": self.target_bbox_xyxy, "margin": margin}

    def oddities(self, question: str, size: tuple[int, int]) -> Iterator[tuple[str, str]]:
        yield from _box_oddities("target_bbox", self.target_bbox_xyxy, self.target_bbox_xywh, size)
        if "csr_bbox_margin_fraction" not in self.model_fields_set:
            yield f"Y2 items without a margin, for which {_MARGIN} is taken", ""
        elif not 0 <= self.csr_bbox_margin_fraction <= _MAX_MARGIN:
            yield f"margins outside 0 to {_MAX_MARGIN}, clamped to it", f": {self.csr_bbox_margin_fraction}"


class _FalsePremise(_Spec):
    false_premise: _Text | None = None

    def oddities(self, question: str, size: tuple[int, int]) -> Iterator[tuple[str, str]]:
        if not (self.false_premise or "").strip():
            yield "Y3 items whose specification does not name the false premise", ""


class _Minimalist(_Spec):
    allowed_max_words: Annotated[int, Field(ge=1, le=1_000_000)]
    forbid_punctuation: bool
    forbid_extra_text: bool

    def fields(self) -> dict[str, Any]:
        return {
            "max_words": self.allowed_max_words,
            "forbid_punctuation": self.forbid_punctuation,
            "single_line": self.forbid_extra_text,
        }


_SPECS: dict[str, type[_Spec]] = {"Y1": _Symbolization, "Y2": _Grounding, "Y3": _FalsePremise, "Y4": _Minimalist}


@dataclass(frozen=True)
class _Found:
    """A question of a file, as it was found."""

    place: str
    image_id: str
    cluster: str
    x: str
    index: int
    value: Any

    @property
    def key(self) -> str:
        return f"{self.image_id}/{self.x}/{self.index}"


def read(source: Source) -> Reading:
    """Reads and checks both files and the pictures, without decoding any picture.

    Args:
        source: The dataset.

    Returns:
        The rows of all sound items, all faults, all remarks. Rows are ordered by image (as in the baseline file),
        dimension, index and setting, the baseline first.

    Raises:
        DataError: A file is not there, or cannot be read at all.
    """
    return _Reader(source).read()


_Model = TypeVar("_Model", bound=BaseModel)


class _Reader:
    """One reading of a dataset: what is known so far, and what was found wrong or odd."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._faults: list[str] = []
        self._remarks: defaultdict[str, list[str]] = defaultdict(list)
        self._counts: Counter[str] = Counter()
        self._drawn = is_drawn(source.root)
        self._pictures: dict[str, tuple[Path, Picture] | None] = {}  # None: a fault
        self._named: dict[str, str | None] = {}  # of each image, the path that its first entry gives
        self._bases: dict[str, _BaselineQuestion | None] = {}
        self._places: dict[str, str] = {}  # of each key, where it was first seen
        self._items: dict[tuple[str, str], str] = {}  # of each key and setting

    def read(self) -> Reading:
        baseline = list(self._questions(BASELINE_FILE))
        constrained = list(self._questions(CONSTRAINED_FILE))
        rows = [*self._baseline_rows(baseline), *self._constrained_rows(constrained)]
        order = {image_id: number for number, image_id in enumerate(self._pictures)}
        rows.sort(key=lambda row: (order[row.image_id], row.x, int(row.key.rpartition("/")[2]), SETTINGS.index(row.y)))
        self._remark_what_lacks()
        if not rows and not self._faults:
            self._fault(f"{self._source.root} has no questions. {HOW_TO_GET}")
        remarks = {kind: tuple(places) for kind, places in self._remarks.items()}
        return Reading(tuple(rows), self._digest(rows), tuple(self._faults), remarks, dict(self._counts), self._drawn)

    def _fault(self, message: str) -> None:
        self._faults.append(str(DataError(message)))

    def _validated(self, model: type[_Model], value: object, place: str, prefix: str = "") -> _Model | None:
        """The value as a model; if it is none, a fault for each error in it, and None."""
        try:
            return model.model_validate(value, strict=True)
        except ValidationError as error:
            for fault in faults_of(error, place, prefix):
                self._fault(fault)
            return None

    def _is_first(self, key: str, y: str, place: str) -> bool:
        """Whether the item is the first of its key and setting; it is a fault if not."""
        if (key, y) in self._items:
            self._fault(f"{place}: this item occurs twice, first at {self._items[key, y]}. Remove one of the two.")
            return False
        self._items[key, y] = place
        return True

    def _questions(self, name: str) -> Iterator[_Found]:
        for place, image in self._images(name):
            self._look_at_picture(place, image)
            for unknown in (dimension for dimension in image.questions if dimension not in DIMENSIONS):
                self._remarks["dimensions that are none of X1 to X4, left out"].append(f"{place}, {unknown[:80]!r}")
            for dimension, x in DIMENSIONS.items():
                values = image.questions.get(dimension, [])
                if name == BASELINE_FILE and len(values) != 2:
                    self._remarks["dimensions that do not have two questions"].append(f"{place}, {x}: {len(values)}")
                for index, value in enumerate(values):
                    at = f"{place}, {x}, index {index}"
                    yield _Found(at, image.image_id, image.primary_cluster or "", x, index, value)

    def _images(self, name: str) -> Iterator[tuple[str, _Image]]:
        path = self._source.root / name
        try:
            if path.exists():
                check_inside(path, self._source.boundary)
            entries = list(islice(read_entries(path), MAX_IMAGES + 1))
        except (DataError, OSError) as error:
            raise DataError(f"{error} {HOW_TO_GET}") from error
        if len(entries) > MAX_IMAGES or not any("questions" in (entry.value or {}) for entry in entries):
            found = f"more than {MAX_IMAGES:,} entries" if len(entries) > MAX_IMAGES else "no image with questions"
            raise DataError(f"{path}: expected a JSON array with an object for each image, found {found}. {HOW_TO_GET}")
        for entry in entries:
            for field in entry.repeated:
                self._remarks[REPEATED].append(f"{entry.place}, field {field}")
            if entry.value is None:
                self._fault(f"{entry.place}: {entry.fault}.")
                continue
            place = f"{entry.place}, image {shown(entry.value.get('image_id'))}"
            self._drawn = self._drawn or is_marked(entry.value)
            if image := self._validated(_Image, entry.value, place):
                yield place, image

    def _look_at_picture(self, place: str, image: _Image) -> None:
        if self._named.setdefault(image.image_id, image.image_path_relative) != image.image_path_relative:
            more = f"{place}: {shown(image.image_path_relative)}"
            self._remarks["images whose picture's path differs from that of their first entry, which counts"].append(
                more
            )
        if image.image_id in self._pictures:
            return
        try:
            path, picture = self._picture(image)
            self._pictures[image.image_id] = path, picture
            self._drawn = self._drawn or picture.drawn
            for kind in picture.oddities:
                self._remarks[kind].append(f"{place}: {path}")
        except (DataError, OSError) as error:
            self._pictures[image.image_id] = None
            self._fault(f"{place}, field image_path_relative: {error}")

    def _picture(self, image: _Image) -> tuple[Path, Picture]:
        root = self._source.root
        usual = root / PICTURES / f"{image.image_id}.jpg"
        named = root / (image.image_path_relative or usual)
        path = named if named.is_file() else usual
        if not path.is_file():
            also = f", and neither does {named}" if named != usual else ""
            raise DataError(f"the picture {path} does not exist as a file{also}. {HOW_TO_GET}")
        if not str(path).isprintable():
            raise DataError(f"the picture {path} has a name that cannot be printed. Rename it.")
        check_inside(path, self._source.boundary)
        return path, look_at(path)

    def _row(self, found: _Found, at: tuple[Path, Picture], question: _Question, rubric: _Rubric) -> Row:
        """A baseline item, as the two files tell it."""
        path, picture = at
        return Row(
            key=found.key,
            image_id=found.image_id,
            cluster=found.cluster,
            x=found.x,
            y="base",
            setting="standard",
            image=path.relative_to(self._source.root).as_posix(),
            images=[str(path)],
            width=picture.width,
            height=picture.height,
            question=broken_up(question.question_text),
            base_question=broken_up(question.question_text),
            reference=broken_up(question.ground_truth_answer),
            adapted="",
            rationale=broken_up(question.rationale or question.causal_rationale or ""),
            rubric_l1=rubric.L1_perception_check,
            rubric_l2=rubric.L2_interaction_check,
            rubric_l3=rubric.L3_causal_check,
            spec="",
            forbidden_terms=[],
            bbox_xyxy=[],
            margin=0.0,
            max_words=0,
            forbid_punctuation=False,
            single_line=False,
        )

    def _baseline_rows(self, questions: list[_Found]) -> Iterator[Row]:
        for found in questions:
            self._places.setdefault(found.key, found.place)
            if not self._is_first(found.key, "base", found.place):
                continue
            question = self._validated(_BaselineQuestion, found.value, found.place)
            self._bases[found.key] = question
            if question is None:
                continue
            if not (question.rationale or question.causal_rationale):
                self._remarks["questions without a rationale"].append(found.place)
            self._look_for_tokens(found.place, question)
            self._look_for_rationales(found.place, question)
            if picture := self._pictures[found.image_id]:
                yield self._row(found, picture, question, question.evaluation_rubric)

    def _constrained_rows(self, questions: list[_Found]) -> Iterator[Row]:
        for found in questions:
            self._places.setdefault(found.key, found.place)
            question = self._validated(_ConstrainedQuestion, found.value, found.place)
            if question is None:
                continue
            base = self._bases.get(found.key)
            if base and _asked(base) != _asked(question):
                self._remarks["questions that differ between the two files"].append(found.place)
            rubric = question.evaluation_rubric or (base.evaluation_rubric if base else None)
            for number, value in enumerate(question.main_set_versions or []):
                row = self._constrained_row(found, question, rubric, number, value)
                if row:
                    yield row

    def _constrained_row(
        self, found: _Found, question: _Question, rubric: _Rubric | None, number: int, value: Any
    ) -> Row | None:
        constraint = self._validated(_Constraint, value, found.place, f"main_set_versions.{number}")
        if constraint is None:
            return None
        y = constraint.constraint_id
        place = f"{found.place}, {y}"
        if not self._is_first(found.key, y, place):
            return None
        form = self._validated(_Form, value, place)
        given = value.get("constraint_spec")
        spec = self._validated(_SPECS[y], given, place, "constraint_spec") if isinstance(given, dict) else None
        picture = self._pictures[found.image_id]
        if form is None or spec is None or picture is None:
            return None
        try:
            text = _json(given)
        except DataError as error:
            self._fault(f"{place}, field constraint_spec: {error}")
            return None
        if form.evaluation_rubric_main_set is None:
            self._remarks["constrained items without a rubric of their own"].append(place)
        rubric = form.evaluation_rubric_main_set or rubric
        if rubric is None:
            self._fault(f"{place}, field evaluation_rubric_main_set: missing, and so is the baseline's rubric.")
            return None
        if found.key not in self._bases:
            self._remarks["constrained items without their baseline question"].append(place)
        if isinstance(spec, _Symbolization):
            self._counts[spec.wording(form.constrained_question)] += 1
        self._look_for_tokens(place, form)
        size = picture[1].width, picture[1].height
        for kind, more in spec.oddities(form.constrained_question, size):
            self._remarks[kind].append(place + more)
        return replace(
            self._row(found, picture, question, rubric),
            y=y,
            question=broken_up(form.constrained_question),
            adapted=broken_up(form.adapted_ground_truth),
            spec=text,
            **spec.fields(),
        )

    def _look_for_tokens(self, place: str, texts: BaseModel) -> None:
        for field, text in texts:
            for token in special_tokens(text) if isinstance(text, str) else ():
                self._remarks[SENT_BROKEN].append(f"{place}, field {field}: {token!r}")

    def _look_for_rationales(self, place: str, question: _Question) -> None:
        both = {question.rationale, question.causal_rationale} - {None, ""}
        if len(both) > 1:
            self._remarks["questions with two rationales, of which the field rationale counts"].append(place)

    def _remark_what_lacks(self) -> None:
        for key, place in self._places.items():
            lacking = [y for y in SETTINGS[1:] if (key, y) not in self._items]
            if lacking:
                self._remarks["questions without all four constrained forms"].append(
                    f"{place}: no {', '.join(lacking)}"
                )
        used = {at[0] for at in self._pictures.values() if at}
        folder = self._source.root / PICTURES
        unused = sorted(str(path) for path in pictures_under(folder, self._source.boundary) if path not in used)
        if unused and not self._faults:  # a faulty entry may be the one that uses them
            self._remarks["pictures that no item uses"] = unused

    def _digest(self, rows: list[Row]) -> str:
        records = (json.dumps([value for name, value in vars(row).items() if name != "images"]) for row in rows)
        return content_hash(records, ((name, at[1].sha256) for name, at in self._pictures.items() if at))


def _asked(question: _Question) -> tuple[str, str]:
    return question.question_text, question.ground_truth_answer


def _json(value: object) -> str:
    """JSON text, readable as it stands.

    Raises:
        DataError: It is too long, or it cannot be written so.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError) as error:  # NaN, half a character, too deep
        raise DataError(f"cannot be written as JSON text: {error}.") from error
    if len(text) > _MAX_SPEC:
        raise DataError(f"has {len(text):,} characters as JSON; at most {_MAX_SPEC:,} are read.")
    return text


def _box_oddities(
    name: str, xyxy: list[float], xywh: list[float] | None, size: tuple[int, int]
) -> Iterator[tuple[str, str]]:
    x1, y1, x2, y2 = xyxy
    where = f", field constraint_spec.{name}_xyxy: {xyxy}"
    if x2 <= x1 or y2 <= y1:
        yield "boxes whose second corner is not right of and below the first", where
    if min(x1, x2) < 0 or min(y1, y2) < 0 or max(x1, x2) > size[0] or max(y1, y2) > size[1]:
        yield "boxes that reach beyond their image", f"{where} in {size[0]} x {size[1]} pixels"
    if xywh and any(abs(a - b) > 1 for a, b in zip(_xywh(xyxy), xywh, strict=True)):
        yield "boxes that xyxy and xywh give differently", f"{where}, xywh {xywh}"


def _xywh(xyxy: list[float]) -> list[float]:
    x1, y1, x2, y2 = xyxy
    return [x1, y1, x2 - x1, y2 - y1]


def _stated(question: str, nodes: list[_Node]) -> str:
    """How a question states its nodes' boxes, in words.

    Any four numbers of the text that follow each other may be a box. A box that reads the same both ways, as one at
    the origin does, tells nothing.
    """
    numbers = [float(number) for number in _NUMBER.findall(question)]
    stated = set(zip(numbers, numbers[1:], numbers[2:], numbers[3:], strict=False))
    boxes = [(tuple(node.bbox_xyxy), tuple(node.bbox_xywh or _xywh(node.bbox_xyxy))) for node in nodes]
    telling = [(xyxy, xywh) for xyxy, xywh in boxes if xyxy != xywh]
    as_xyxy = any(xyxy in stated for xyxy, _ in telling)
    as_xywh = any(xywh in stated for _, xywh in telling)
    if as_xyxy and as_xywh:
        return "Y1 questions that state the nodes' boxes both as xyxy and as xywh"
    if as_xyxy:
        return "Y1 questions that state the nodes' boxes as xyxy"
    if as_xywh:
        return "Y1 questions that state the nodes' boxes as xywh"
    return "Y1 questions in which the nodes' boxes are recognisable neither as xyxy nor as xywh"
