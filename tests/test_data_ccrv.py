"""CCRV-Bench's files, good and bad: one row an item, or one fault that names the place."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import official_ccrv as official
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from damage import damage, damaged_bytes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condchain_tasks.data.ccrv import HOW_TO_GET, SCHEMA, Row, read
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.prepared import Reading
from condchain_tasks.data.sources import Source

Json = Any
Change = Callable[[list[Json]], None]

XYXY = "Y1 questions that state the nodes' boxes as xyxy"
XYWH = "Y1 questions that state the nodes' boxes as xywh"
BOTH = "Y1 questions that state the nodes' boxes both as xyxy and as xywh"
NO_MAP = "Y1 items without a symbol map, by which a judge would know what the symbols stand for"
NEITHER = "Y1 questions in which the nodes' boxes are recognisable neither as xyxy nor as xywh"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return official.write_dataset(tmp_path / "data")


def reading(root: Path) -> Reading:
    return read(Source(root, "folder"))


def change(root: Path, name: str, edit: Change) -> None:
    entries = json.loads((root / name).read_text(encoding="utf-8"))
    edit(entries)
    official.write_entries(root, name, entries)


def at(*path: str | int) -> Callable[[Json], tuple[Json, str | int]]:
    """Finds the container of a value."""

    def find(value: Json) -> tuple[Json, str | int]:
        for step in path[:-1]:
            value = value[step]
        return value, path[-1]

    return find


def put(*path: str | int, to: Json) -> Change:
    def edit(entries: list[Json]) -> None:
        container, last = at(*path)(entries)
        container[last] = to

    return edit


def drop(*path: str | int) -> Change:
    def edit(entries: list[Json]) -> None:
        container, last = at(*path)(entries)
        del container[last]

    return edit


BASE = (0, "questions", "X2_prediction", 1)  # "40/X2/1", whose Y1 states boxes as xywh
FORMS = (*BASE, "main_set_versions")


def spec(y: int) -> tuple[str | int, ...]:
    return (*FORMS, y - 1, "constraint_spec")


def usual(**changed: int) -> dict[str, int]:
    """Remarks on the dataset as it is written, with changes."""
    return {kind: n for kind, n in ({XYXY: 8, XYWH: 8} | changed).items() if n}


def counts(found: Reading) -> dict[str, int]:
    return {kind: len(places) for kind, places in found.remarks.items()} | found.counts


def test_rows_of_one_question(root: Path) -> None:
    rows = [row for row in reading(root).rows if row.key == "40/X4/1"]
    base = Row(
        key="40/X4/1",
        image_id="40",
        cluster="supporting",
        x="X4",
        y="base",
        setting="standard",
        image="VG_images_test/40.jpg",
        images=[str(root / "VG_images_test" / "40.jpg")],
        width=64,
        height=48,
        question="What keeps cup 1 of picture 40 up? (X4_intervention)",
        base_question="What keeps cup 1 of picture 40 up? (X4_intervention)",
        reference="The shelf carries cup 1, so it stays up.",
        adapted="",
        rationale="The shelf pushes up against the cup's weight.",
        rubric_l1="Does the answer name the cup and the shelf? (Yes/No)",
        rubric_l2="Does the answer say that the shelf carries the cup? (Yes/No)",
        rubric_l3="Does the answer say that the cup therefore stays up? (Yes/No)",
        spec="",
        forbidden_terms=[],
        bbox_xyxy=[],
        margin=0.0,
        max_words=0,
        forbid_punctuation=False,
        single_line=False,
    )
    assert rows[0] == base

    def differs(row: Row) -> dict[str, Any]:
        return {name: value for name, value in asdict(row).items() if value != getattr(base, name)}

    def rubric(y: str) -> dict[str, str]:
        return {
            "rubric_l1": f"Does the {y} answer name the cup and the shelf? (Yes/No)",
            "rubric_l2": f"Does the {y} answer say that the shelf carries the cup? (Yes/No)",
            "rubric_l3": f"Does the {y} answer say that the cup therefore stays up? (Yes/No)",
        }

    y1, y2, y3, y4 = (differs(row) for row in rows[1:])
    assert json.loads(y1.pop("spec"))["symbol_map"]["Node_B"]["bbox_xywh"] == [2, 20, 58, 6]
    assert y1 == rubric("Y1") | {
        "y": "Y1",
        "question": "- Node_A at [10, 4, 20, 16]\n- Node_B at [2, 20, 58, 6]\nWhat keeps Node_A up?",
        "adapted": "Node_B carries Node_A.",
        "forbidden_terms": ["cup", "cups", "shelf", "shelfs"],
    }
    assert json.loads(y2.pop("spec"))["target_true_name"] == "shelf"
    assert y2 == rubric("Y2") | {
        "y": "Y2",
        "question": "Mark what keeps the cup up.\nCoordinate: [x, y]\nExplanation: <reason>",
        "adapted": "Coordinate: [31, 23]\nExplanation: Here the shelf carries the cup's weight.",
        "bbox_xyxy": [2.0, 20.0, 60.0, 26.0],
        "margin": 0.075,
    }
    assert y3.pop("spec") == (
        '{"csr_rule": "contradiction_refusal", "original_ground_truth": "The shelf carries cup 1, so it stays up.", '
        '"expected_behavior": "first_refute_then_reason", "false_premise": "The cup “hangs” from a string."}'
    )
    assert y3 == rubric("Y3") | {
        "y": "Y3",
        "question": "Check this claim: the cup hangs from a string. What keeps the cup up?",
        "adapted": "The claim is false, there is no string; the shelf carries the cup.",
    }
    assert json.loads(y4.pop("spec"))["allowed_max_words"] == 4
    assert y4 == rubric("Y4") | {
        "y": "Y4",
        "question": "Name only what keeps the cup up\n\nConstraint: 4 words or fewer, no punctuation.",
        "adapted": "shelf carries cup",
        "max_words": 4,
        "forbid_punctuation": True,
        "single_line": True,
    }


def test_order_and_what_is_usual(root: Path) -> None:
    change(root, official.CONSTRAINED, lambda entries: entries.reverse())
    found = reading(root)
    assert [(row.key, row.y) for row in found.rows] == [
        (f"{image_id}/X{x}/{index}", y)
        for image_id in (40, 39)  # as in the baseline file
        for x in (1, 2, 3, 4)
        for index in (0, 1)
        for y in ("base", "Y1", "Y2", "Y3", "Y4")
    ]
    assert found.faults == ()
    assert counts(found) == usual()


def test_an_index_of_two_digits_comes_after_the_others(root: Path) -> None:
    def edit(entries: list[Json]) -> None:
        questions = entries[0]["questions"]["X1_discovery"]
        questions.extend(copy.deepcopy(questions[0]) for _ in range(9))

    change(root, official.BASELINE, edit)
    keys = [row.key for row in reading(root).rows if row.x == "X1" and row.image_id == "40" and row.y == "base"]
    assert keys == [f"40/X1/{index}" for index in range(11)]


def test_rows_fit_the_schema_and_come_back(root: Path, tmp_path: Path) -> None:
    rows = reading(root).rows
    assert SCHEMA.names == [field.name for field in fields(Row)]
    pq.write_table(pa.Table.from_pylist([asdict(row) for row in rows], SCHEMA), tmp_path / "rows.parquet")
    assert tuple(Row(**row) for row in pq.read_table(tmp_path / "rows.parquet").to_pylist()) == rows


def test_what_the_official_files_leave_out(root: Path) -> None:
    """The last image of the official files has neither a path nor a cluster."""
    for name in (official.BASELINE, official.CONSTRAINED):
        change(root, name, drop(0, "image_path_relative"))
        change(root, name, drop(0, "primary_cluster"))
    found = reading(root)
    assert found.faults == ()
    assert (found.rows[0].image, found.rows[0].cluster) == ("VG_images_test/40.jpg", "")


def test_a_named_path_comes_before_the_usual_one(root: Path) -> None:
    (root / "ICCR" / "VG_images_test").mkdir(parents=True)
    shutil.copy(root / "VG_images_test" / "40.jpg", root / "ICCR" / "VG_images_test" / "40.jpg")
    found = reading(root)
    assert found.rows[0].image == "ICCR/VG_images_test/40.jpg"
    assert found.remarks["pictures that no item uses"] == (str(root / "VG_images_test" / "40.jpg"),)


def test_ids_may_be_text_and_are_the_same_as_numbers(root: Path) -> None:
    change(root, official.BASELINE, put(0, "image_id", to="40"))
    found = reading(root)
    assert found.faults == ()
    assert len(found.rows) == 80


def test_a_suffix_of_the_constraint_is_folded(root: Path) -> None:
    before = reading(root)
    change(root, official.CONSTRAINED, put(*FORMS, 0, "constraint_id", to="Y1.1"))
    assert reading(root) == before


def test_bom(root: Path) -> None:
    before = reading(root)
    path = root / official.BASELINE
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert reading(root) == before


def test_without_a_rubric_of_its_own_the_baseline_s_counts(root: Path) -> None:
    change(root, official.CONSTRAINED, drop(*FORMS, 1, "evaluation_rubric_main_set"))
    change(root, official.CONSTRAINED, put(*BASE, "evaluation_rubric", "L1_perception_check", to="Is the cup named?"))
    found = reading(root)
    (row,) = [row for row in found.rows if (row.key, row.y) == ("40/X2/1", "Y2")]
    assert row.rubric_l1 == "Is the cup named?"
    assert counts(found) == usual(**{"constrained items without a rubric of their own": 1})

    change(root, official.CONSTRAINED, drop(*BASE, "evaluation_rubric"))
    (row,) = [row for row in reading(root).rows if (row.key, row.y) == ("40/X2/1", "Y2")]
    assert row.rubric_l1 == "Does the answer name the cup and the shelf? (Yes/No)"


RUBRIC = (*BASE, "evaluation_rubric")
OWN_RUBRIC = (*FORMS, 2, "evaluation_rubric_main_set")
BOX = (*spec(2), "target_bbox_xyxy")
NODE_BOX = (*spec(1), "symbol_map", "Node_B", "bbox_xyxy")
MARGIN = (*spec(2), "csr_bbox_margin_fraction")
LIMIT = (*spec(4), "allowed_max_words")
NO_BOXES = [
    [1, 2, 3],
    [1, 2, 3, 4, 5],
    [1, 2, 3, float("nan")],
    [1, 2, float("inf"), 4],
    [1, 2, 3, "4"],
    [1, 2, 3, True],
    [1, 2, 3, None],
    [[1, 2], [3, 4]],
    "1, 2, 3, 4",
    {"x": 1},
    None,
    [1, 2, 3, 10**400],
]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (drop(*RUBRIC), "field evaluation_rubric: Field required"),
        (put(*RUBRIC, to=None), "field evaluation_rubric: Expected a JSON object, found None"),
        (put(*RUBRIC, to=["L1"]), "field evaluation_rubric: Expected a JSON object, found ['L1']"),
        (drop(*RUBRIC, "L2_interaction_check"), "field evaluation_rubric.L2_interaction_check: Field required"),
        (put(*RUBRIC, "L3_causal_check", to=3), "field evaluation_rubric.L3_causal_check: "),
        (put(*RUBRIC, "L3_causal_check", to=" \n"), "field evaluation_rubric.L3_causal_check: Expected text"),
        (put(*RUBRIC, "L3_causal_check", to="\ud800"), "field evaluation_rubric.L3_causal_check: "),
        (put(*RUBRIC, "L3_causal_check", to="a" * 100_001), "field evaluation_rubric.L3_causal_check: "),
        (drop(*BASE, "question_text"), "field question_text: Field required"),
        (drop(*BASE, "ground_truth_answer"), "field ground_truth_answer: Field required"),
        (put(*BASE, "rationale", to=7), "field rationale: "),
        (put(*BASE, to="a question"), "Expected a JSON object, found 'a question'"),
    ],
)
def test_a_bad_baseline_question_is_one_fault(root: Path, edit: Change, expected: str) -> None:
    change_raw(root, official.BASELINE, edit)
    found = reading(root)
    (fault,) = found.faults
    assert fault.startswith(f"{root / official.BASELINE}, item 1, image 40, X2, index 1")
    assert expected in fault
    assert fault.isprintable()
    assert len(fault) < 600
    assert len(found.rows) == 79


def change_raw(root: Path, name: str, edit: Change) -> None:
    """Like `change`, with half characters kept as JSON can write them."""
    entries = json.loads((root / name).read_text(encoding="utf-8"))
    edit(entries)
    (root / name).write_text(json.dumps(entries))


@pytest.mark.parametrize(
    ("edit", "y", "expected"),
    [
        (drop(*OWN_RUBRIC, "L1_perception_check"), "Y3", "evaluation_rubric_main_set.L1_perception_check: "),
        (put(*OWN_RUBRIC, to="Is it right?"), "Y3", "evaluation_rubric_main_set: Expected a JSON object"),
        (drop(*FORMS, 1, "constrained_question"), "Y2", "constrained_question: Field required"),
        (put(*FORMS, 1, "adapted_ground_truth", to=[]), "Y2", "adapted_ground_truth: "),
        (drop(*spec(1)), "Y1", "constraint_spec: Field required"),
        (put(*spec(2), to="a box"), "Y2", "constraint_spec: "),
        (put(*spec(3), to=None), "Y3", "constraint_spec: "),
        (put(*spec(3), "note", to=float("nan")), "Y3", "constraint_spec: cannot be written as JSON text"),
        (put(*spec(3), "note", to="\udfff"), "Y3", "constraint_spec: cannot be written as JSON text"),
        (put(*spec(3), "note", to="a" * 200_000), "Y3", "constraint_spec: has 200,"),
        (put(*spec(3), "false_premise", to=3), "Y3", "constraint_spec.false_premise: "),
        (drop(*spec(1), "forbidden_terms"), "Y1", "constraint_spec.forbidden_terms: Field required"),
        (put(*spec(1), "forbidden_terms", to="cup"), "Y1", "constraint_spec.forbidden_terms: "),
        (put(*spec(1), "forbidden_terms", 1, to=5), "Y1", "constraint_spec.forbidden_terms.1: "),
        (put(*spec(1), "forbidden_terms", to=["a"] * 1_001), "Y1", "constraint_spec.forbidden_terms: "),
        (put(*spec(1), "symbol_map", to=[]), "Y1", "constraint_spec.symbol_map: "),
        (
            put(*spec(1), "symbol_map", "Node_A", to=None),
            "Y1",
            "constraint_spec.symbol_map.Node_A: Expected a JSON obj",
        ),
        (put(*spec(1), "symbol_map", "\x1b[2J", to={"bbox_xyxy": [1, 2, 3, 4]}), "Y1", "constraint_spec.symbol_map."),
        (drop(*NODE_BOX), "Y1", "constraint_spec.symbol_map.Node_B.bbox_xyxy: Field required"),
        (put(*NODE_BOX, to=[1, 2, "3", 4]), "Y1", "constraint_spec.symbol_map.Node_B.bbox_xyxy: Expected four finite"),
        (drop(*BOX), "Y2", "constraint_spec.target_bbox_xyxy: Field required"),
        *((put(*BOX, to=box), "Y2", "constraint_spec.target_bbox_xyxy: Expected four finite") for box in NO_BOXES),
        (put(*spec(2), "target_bbox_xywh", to=[1, 2, 3, "4"]), "Y2", "constraint_spec.target_bbox_xywh: Expected four"),
        *((put(*MARGIN, to=m), "Y2", "constraint_spec.csr_bbox_margin_fraction: ") for m in ("0.1", True, None)),
        (put(*MARGIN, to=float("inf")), "Y2", "constraint_spec.csr_bbox_margin_fraction: "),
        *((put(*LIMIT, to=n), "Y4", "constraint_spec.allowed_max_words: ") for n in (0, -3, 4.0, "4", True, 10**30)),
        (drop(*LIMIT), "Y4", "constraint_spec.allowed_max_words: Field required"),
        (put(*spec(4), "forbid_punctuation", to="yes"), "Y4", "constraint_spec.forbid_punctuation: "),
        (drop(*spec(4), "forbid_extra_text"), "Y4", "constraint_spec.forbid_extra_text: Field required"),
    ],
)
def test_a_bad_form_is_one_fault(root: Path, edit: Change, y: str, expected: str) -> None:
    change_raw(root, official.CONSTRAINED, edit)
    found = reading(root)
    (fault,) = found.faults
    assert fault.startswith(f"{root / official.CONSTRAINED}, item 1, image 40, X2, index 1, {y}, field {expected}")
    assert fault.isprintable()
    assert len(fault) < 600
    assert len(found.rows) == 79
    assert counts(found) in (usual(), usual(**{XYWH: 7}))


@pytest.mark.parametrize("name", ["Y5", "Y12", "y1", "Y1b", "", 1, None, ["Y1"]])
def test_an_unknown_constraint(root: Path, name: Json) -> None:
    change(root, official.CONSTRAINED, put(*FORMS, 3, "constraint_id", to=name))
    (fault,) = reading(root).faults
    assert f"{official.CONSTRAINED}, item 1, image 40, X2, index 1, field main_set_versions.3.constraint_id: " in fault
    assert f"found {name!r}" in fault


def test_a_form_that_is_no_object(root: Path) -> None:
    change(root, official.CONSTRAINED, put(*FORMS, 3, to="Y4"))
    (fault,) = reading(root).faults
    assert "index 1, field main_set_versions.3: Expected a JSON object, found 'Y4'" in fault


def test_no_rubric_anywhere(root: Path) -> None:
    change(root, official.BASELINE, drop(*BASE))
    change(root, official.CONSTRAINED, drop(*RUBRIC))
    change(root, official.CONSTRAINED, drop(*OWN_RUBRIC))
    (fault,) = reading(root).faults
    assert "image 40, X2, index 1, Y3, field evaluation_rubric_main_set: " in fault


@pytest.mark.parametrize("second", ["Y1", "Y1.2"])
def test_two_forms_with_one_key(root: Path, second: str) -> None:
    change(root, official.CONSTRAINED, put(*FORMS, 2, "constraint_id", to=second))
    (fault,) = reading(root).faults
    assert "item 1, image 40, X2, index 1, Y1: this item occurs twice, first at " in fault


def test_two_images_with_one_id(root: Path) -> None:
    change(root, official.BASELINE, put(1, "image_id", to="40"))
    found = reading(root)
    assert len(found.faults) == 8
    assert "item 2, image '40', X1, index 0: this item occurs twice, first at " in found.faults[0]
    assert f"{official.BASELINE}, item 1, image 40, X1, index 0" in found.faults[0]


def test_all_faults_are_collected(root: Path) -> None:
    change(root, official.BASELINE, drop(1, "questions", "X1_discovery", 0, "question_text"))
    change(root, official.CONSTRAINED, drop(*OWN_RUBRIC, "L1_perception_check"))
    change(root, official.CONSTRAINED, drop(*OWN_RUBRIC, "L3_causal_check"))
    change(root, official.CONSTRAINED, put(*spec(3), "false_premise", to=3))
    change(root, official.CONSTRAINED, put(*BOX, to=[]))
    (root / "VG_images_test" / "39.jpg").unlink()
    found = reading(root)
    assert [fault.partition("field ")[2].partition(":")[0] for fault in found.faults] == [
        "image_path_relative",
        "question_text",
        "constraint_spec.target_bbox_xyxy",
        "evaluation_rubric_main_set.L1_perception_check",
        "evaluation_rubric_main_set.L3_causal_check",
        "constraint_spec.false_premise",
    ]
    assert {row.image_id for row in found.rows} == {"40"}


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (put(0, "image_id", to=True), "image True, field image_id: "),
        (drop(0, "image_id"), "field image_id: Field required"),
        (put(0, "image_id", to=4.0), "image 4.0, field image_id: "),
        (put(0, "image_id", to="../40"), "image '../40', field image_id: "),
        (put(0, "image_id", to="4\n0"), "field image_id: "),
        (put(0, "image_id", to=""), "field image_id: "),
        (put(0, "image_path_relative", to="../data/VG_images_test/40.jpg"), "image 40, field image_path_relative: "),
        (put(0, "image_path_relative", to="/etc/passwd"), "image 40, field image_path_relative: "),
        (put(0, "image_path_relative", to="a\0b"), "image 40, field image_path_relative: "),
        (put(0, "image_path_relative", to="a" * 999), "image 40, field image_path_relative: "),
        (put(0, "image_path_relative", to=40), "image 40, field image_path_relative: "),
        (put(0, "image_path_relative", to=official.BASELINE), "image 40, field image_path_relative: "),
        (put(0, "primary_cluster", to=1), "image 40, field primary_cluster: "),
        (drop(0, "questions"), "image 40, field questions: Field required"),
        (put(0, "questions", to=[]), "image 40, field questions: "),
        (put(0, "questions", "X1_discovery", to={}), "image 40, field questions.X1_discovery: "),
        (put(0, "questions", "X1_discovery", to=[1] * 101), "image 40, field questions.X1_discovery: "),
        (put(0, to=[1, 2]), "item 1: expected a JSON object, found list"),
    ],
)
def test_a_bad_image_is_one_fault(root: Path, edit: Change, expected: str) -> None:
    change(root, official.BASELINE, edit)
    (fault,) = reading(root).faults
    assert fault.startswith(f"{root / official.BASELINE}, item 1")
    assert expected in fault
    assert fault.isprintable()


def test_a_missing_picture_is_one_fault(root: Path) -> None:
    (root / "VG_images_test" / "40.jpg").unlink()
    (fault,) = reading(root).faults
    assert f"{official.BASELINE}, item 1, image 40, field image_path_relative: the picture " in fault
    assert fault.endswith(HOW_TO_GET)


def test_a_truncated_picture(root: Path) -> None:
    path = root / "VG_images_test" / "39.jpg"
    path.write_bytes(path.read_bytes()[:-30])
    (fault,) = reading(root).faults
    assert "item 2, image 39, field image_path_relative: " in fault
    assert "39.jpg is truncated" in fault


def test_links_out_of_the_folder(root: Path, tmp_path: Path) -> None:
    path = root / "VG_images_test" / "40.jpg"
    path.rename(tmp_path / "outside.jpg")
    path.symlink_to(tmp_path / "outside.jpg")
    (fault,) = reading(root).faults
    assert "40.jpg leads out of the data folder" in fault
    path = root / official.CONSTRAINED
    path.rename(tmp_path / "outside.json")
    path.symlink_to(tmp_path / "outside.json")
    with pytest.raises(DataError, match=f"{official.CONSTRAINED} leads out of the data folder"):
        reading(root)


@pytest.mark.parametrize("name", [official.BASELINE, official.CONSTRAINED])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"[]"),
        lambda path: path.write_bytes(b"[1, 2]"),
        lambda path: path.write_bytes(path.read_bytes()[:-100]),
        lambda path: path.write_bytes(b"<html>\n<p>Not found</p>"),
        lambda path: path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
        lambda path: path.write_text(json.dumps({"images": json.loads(path.read_text())}, indent=2)),
        lambda path: path.write_text(json.dumps({"images": json.loads(path.read_text())})),
        lambda path: path.write_bytes(b"[" * 100_000),
        lambda path: path.write_bytes(b"[\n" + b"{},\n" * 10_001 + b"{}]"),
        lambda path: path.write_bytes(b"\xff\xfe[]"),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=[
        "none",
        "empty",
        "no images",
        "numbers",
        "cut",
        "HTML",
        "LFS",
        "object",
        "object on one line",
        "deep",
        "many",
        "UTF-16",
        "folder",
    ],
)
def test_a_file_that_cannot_be_read(root: Path, name: str, spoil: Callable[[Path], object]) -> None:
    spoil(root / name)
    with pytest.raises(DataError) as caught:
        reading(root)
    assert str(root / name) in str(caught.value)
    assert str(caught.value).endswith(HOW_TO_GET)


def test_images_without_questions(root: Path) -> None:
    for name in (official.BASELINE, official.CONSTRAINED):
        for number in (0, 1):
            change(root, name, put(number, "questions", to={}))
    (fault,) = reading(root).faults
    assert f"{root} has no questions" in fault


@pytest.mark.parametrize(
    ("edit", "remarks", "place"),
    [
        (
            put(*spec(2), "target_bbox_xyxy", to=[2, 20, 64.5, 26]),
            {"boxes that reach beyond their image": 1, "boxes that xyxy and xywh give differently": 1},
            "Y2, field constraint_spec.target_bbox_xyxy: [2.0, 20.0, 64.5, 26.0] in 64 x 48 pixels",
        ),
        (
            put(*spec(1), "symbol_map", "Node_A", to={"bbox_xyxy": [-1, 4, 30, 48]}),
            {"boxes that reach beyond their image": 1},
            "Y1, field constraint_spec.symbol_map.Node_A.bbox_xyxy: [-1.0, 4.0, 30.0, 48.0] in 64 x 48 pixels",
        ),
        (
            put(*spec(2), to={"target_bbox_xyxy": [60, 20, 2, 26]}),
            {
                "boxes whose second corner is not right of and below the first": 1,
                "Y2 items without a margin, for which 0.075 is taken": 1,
            },
            "Y2, field constraint_spec.target_bbox_xyxy: [60.0, 20.0, 2.0, 26.0]",
        ),
        (put(*MARGIN, to=0.3), {"margins outside 0 to 0.25, clamped to it": 1}, "Y2: 0.3"),
        (put(*MARGIN, to=-1), {"margins outside 0 to 0.25, clamped to it": 1}, "Y2: -1.0"),
        (
            put(*spec(1), "forbidden_terms", to=["", "cup", " ", "\t"]),
            {"forbidden terms that are empty and left out": 3},
            "Y1",
        ),
        (
            put(*spec(1), "forbidden_terms", to=[]),
            {"Y1 items without a forbidden term, which any reply satisfies": 1},
            "Y1",
        ),
        (
            drop(*spec(3), "false_premise"),
            {"Y3 items whose specification does not name the false premise": 1},
            "Y3",
        ),
        (put(*spec(1), "symbol_map", to={}), {XYWH: 7, NEITHER: 1, NO_MAP: 1}, "Y1"),
        (drop(*spec(1), "symbol_map"), {XYWH: 7, NEITHER: 1, NO_MAP: 1}, "Y1"),
        (drop(*FORMS, 3), {"questions without all four constrained forms": 1}, "X2, index 1: no Y4"),
        (put(*FORMS, to=None), {XYWH: 7, "questions without all four constrained forms": 1}, "no Y1, Y2, Y3, Y4"),
        (put(*BASE, "question_text", to="Why?"), {"questions that differ between the two files": 1}, "X2, index 1"),
        (put(*BASE, "ground_truth_answer", to="No."), {"questions that differ between the two files": 1}, "index 1"),
        (put(0, "questions", "X5", to=[]), {"dimensions that are none of X1 to X4, left out": 1}, "image 40, 'X5'"),
    ],
)
def test_what_can_be_scored_all_the_same(root: Path, edit: Change, remarks: dict[str, int], place: str) -> None:
    change(root, official.CONSTRAINED, edit)
    found = reading(root)
    assert found.faults == ()
    assert counts(found) == usual(**remarks)
    changed = [places for kind, places in found.remarks.items() if kind in remarks and kind != XYWH]
    assert any(where.endswith(place) for places in changed for where in places)


def test_a_dimension_with_one_question(root: Path) -> None:
    for name in (official.BASELINE, official.CONSTRAINED):
        change(root, name, drop(*BASE))
        change(root, name, drop(1, "questions", "X3_diagnosis"))
    found = reading(root)
    assert found.faults == ()
    assert len(found.rows) == 80 - 15
    assert counts(found) == usual(**{XYXY: 7, XYWH: 6, "dimensions that do not have two questions": 2})


def test_constrained_items_without_their_baseline(root: Path) -> None:
    change(root, official.BASELINE, drop(1))
    found = reading(root)
    assert found.faults == ()
    assert counts(found) == usual(**{"constrained items without their baseline question": 32})
    assert [row.image_id for row in found.rows] == ["40"] * 40 + ["39"] * 32


def test_questions_without_a_rationale(root: Path) -> None:
    change(root, official.BASELINE, drop(*BASE, "rationale"))
    change(root, official.BASELINE, put(1, "questions", "X4_intervention", 0, "causal_rationale", to=""))
    found = reading(root)
    assert counts(found) == usual(**{"questions without a rationale": 2})
    assert [row.rationale for row in found.rows if (row.key, row.y) == ("40/X2/1", "base")] == [""]


def test_what_is_dropped_and_clamped_in_the_rows(root: Path) -> None:
    change(root, official.CONSTRAINED, put(*spec(1), "forbidden_terms", to=["", "Cup ", " "]))
    change(root, official.CONSTRAINED, put(*MARGIN, to=0.4))
    change(root, official.CONSTRAINED, put(*BOX, to=[60, 20, 2, 26]))
    rows = {row.y: row for row in reading(root).rows if row.key == "40/X2/1"}
    assert rows["Y1"].forbidden_terms == ["Cup "]
    assert (rows["Y2"].margin, rows["Y2"].bbox_xyxy) == (0.25, [60.0, 20.0, 2.0, 26.0])


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Node_A [10, 4, 30, 20] and Node_B: nothing", XYXY),
        ("Node_A (10,4)-(30,20)", XYXY),
        ("Node_A x=10, y=4, w=20, h=16", XYWH),
        ("Node_A with bbox_xywh [10.0, 4, 20, 16] and bbox_xyxy [10, 4, 30.00, 20]", BOTH),
        ("Node_1 at [2, 20, 58, 6]", XYWH),
        ("Node_A [10, 4, 31, 20]", NEITHER),
        ("Node_A [10, 4, -30, 20]", NEITHER),
        ("Node_C [0, 0, 9, 9]", NEITHER),  # at the origin, where both ways read the same
        ("Node_A and Node_B", NEITHER),
    ],
)
def test_how_a_question_states_boxes(root: Path, question: str, kind: str) -> None:
    origin = {"bbox_xyxy": [0, 0, 9, 9], "bbox_xywh": [0, 0, 9, 9]}
    change(root, official.CONSTRAINED, put(*spec(1), "symbol_map", "Node_C", to=origin))
    change(root, official.CONSTRAINED, put(*FORMS, 0, "constrained_question", to=question))
    expected = usual(**{XYWH: 7})
    expected[kind] = expected.get(kind, 0) + 1
    assert counts(reading(root)) == expected


def test_the_hash_is_that_of_the_content_wherever_it_lies(root: Path, tmp_path: Path) -> None:
    first = reading(root).sha256
    assert len(first) == 16 and int(first, 16) >= 0
    shutil.copytree(root, tmp_path / "copy")
    change(tmp_path / "copy", official.BASELINE, put(0, "node_count", to=99))  # nobody reads it
    assert reading(tmp_path / "copy").sha256 == first
    change(root, official.CONSTRAINED, put(*spec(2), "target_true_name", to="board"))
    second = reading(root).sha256
    official.picture(root / "VG_images_test" / "39.jpg", "another", official.SIZE)
    assert len({first, second, reading(root).sha256}) == 3


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(st.characters(), max_size=8),  # half characters too
    st.sampled_from(["Y1", "Y2.1", "..", "/", "\0", "40", "\ud800"]),
    st.lists(st.one_of(st.floats(), st.integers(-5, 99)), max_size=5),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.builds(lambda: [[[[]]], [[[]]], [[[]]]]),  # anew each time: it may be changed afterwards
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from([official.BASELINE, official.CONSTRAINED]))
def test_damaged_values_are_told_and_never_end_in_another_error(root: Path, data: st.DataObject, name: str) -> None:
    official.write_entries(root, official.BASELINE, [official.baseline(40)])
    official.write_entries(root, official.CONSTRAINED, [official.constrained(40)])
    entries = [official.baseline(40) if name == official.BASELINE else official.constrained(40)]
    damage(data, entries, JUNK)
    (root / name).write_text(json.dumps(entries))
    try:
        found = reading(root)
    except DataError as error:
        assert str(error).isprintable()
        return
    said = [*found.faults, *(place for places in found.remarks.values() for place in places)]
    assert all(text.isprintable() and len(text) < 1_500 for text in said)
    pa.Table.from_pylist([asdict(row) for row in found.rows], SCHEMA)
    json.dumps([asdict(row) for row in found.rows], allow_nan=False)
    assert len({(row.key, row.y) for row in found.rows}) == len(found.rows)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from([official.BASELINE, official.CONSTRAINED]))
def test_damaged_bytes(root: Path, data: st.DataObject, name: str) -> None:
    content = damaged_bytes(data, json.dumps([official.constrained(40)]).encode())
    (root / name).write_bytes(content)
    try:
        found = reading(root)
    except DataError:
        return
    pa.Table.from_pylist([asdict(row) for row in found.rows], SCHEMA)
