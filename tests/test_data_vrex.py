"""V-REX's files, good and bad: one row a record, or one fault that names the place."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import datasets
import official_vrex as official
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from damage import damage, damaged_bytes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condchain_tasks.data.errors import DataError
from condchain_tasks.data.prepared import Reading
from condchain_tasks.data.sources import Source
from condchain_tasks.data.vrex import HOW_TO_GET, SCHEMA, Option, Row, Step, read
from condchain_tasks.data.vrex_tasks import MINI_CHAINS, Variant, count, describe, load, parts

Json = Any
Change = Callable[[list[Json]], object]

UNUSUAL = "planning steps of the standard set without 4 options"
UNUSUAL_HARD = "planning steps of the hard set without 8 options"
STRANGE = "scenarios that are none of their category's published ones"
DIFFERENT = "records whose scenario or gold chain differs from the sample's first record"
ABSENT = "files that are not there, which some tasks need"
UNUSED = "pictures that no record uses"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return official.write_dataset(tmp_path / "data")


@pytest.fixture
def named(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VREX_DATA", str(root))
    return root


def reading(root: Path) -> Reading:
    return read(Source(root, "folder"))


def change(root: Path, name: str, edit: Change) -> None:
    records = [json.loads(line) for line in (root / name).read_text(encoding="utf-8").splitlines()]
    edit(records)
    official.write_records(root, name, records)


def change_all(root: Path, edit: Change) -> None:
    for name in official.FILES:
        change(root, name, edit)


def put(*path: str | int, to: Json) -> Change:
    def edit(records: list[Json]) -> None:
        value: Json = records
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = to

    return edit


def drop(*path: str | int) -> Change:
    def edit(records: list[Json]) -> None:
        value: Json = records
        for step in path[:-1]:
            value = value[step]
        del value[path[-1]]

    return edit


def both(*edits: Change) -> Change:
    return lambda records: [edit(records) for edit in edits]


def counts(found: Reading) -> dict[str, int]:
    return {kind: len(places) for kind, places in found.remarks.items()}


FINAL = Step(
    question="Where does path 1 end?",
    answer="at the mill",
    gold=1,
    options=[Option("at the barn", ""), Option("at the mill", ""), Option("at the pond", "")],
)
ROW = {
    "id": "s1",
    "category": "guessing",
    "scenario": "time",
    "final_question": "Where does path 1 end?",
    "blind": False,
    "image": ["images/s1.png"],
    "step": 0,
    "length": 3,
}


def test_rows_of_one_sample(root: Path) -> None:
    planning, following, hard = (row for row in reading(root).rows if row.id == "s1")
    images = [str(root / "images" / "s1.png")]
    assert planning == Row(
        **ROW,
        images=images,
        mode="planning",
        set="standard",
        steps=[
            Step(
                question="Which way does turn 1 go?",
                answer="right",
                gold=2,
                options=[
                    Option("What is beside turn 1.0?", "tree 0"),
                    Option("What is beside turn 1.1?", "tree 1"),
                    Option("Which way does turn 1 go?", "right"),
                    Option("What is beside turn 1.3?", "tree 3"),
                ],
            ),
            Step(
                question="Which way does turn 2 go?",
                answer="left",
                gold=3,
                options=[
                    Option("What is beside turn 2.0?", "tree 0"),
                    Option("What is beside turn 2.1?", "tree 1"),
                    Option("What is beside turn 2.2?", "tree 2"),
                    Option("Which way does turn 2 go?", "left"),
                ],
            ),
            FINAL,
        ],
    )
    answers = [Option("left", ""), Option("right", ""), Option("straight on", ""), Option("back", "")]
    assert following == Row(
        **ROW,
        images=images,
        mode="following",
        set="standard",
        steps=[
            Step("Which way does turn 1 go?", "right", 1, answers),
            Step("Which way does turn 2 go?", "left", 0, answers),
            FINAL,
        ],
    )
    assert (hard.mode, hard.set, hard.length) == ("planning", "hard", 3)
    assert [len(step.options) for step in hard.steps] == [8, 8, 3]
    assert hard.steps[1].options[3] == Option("Which way does turn 2 go?", "left")
    assert hard.steps[2] == FINAL


def test_order_and_what_is_usual(root: Path) -> None:
    change_all(root, put(2, "image", to="images/s0.png"))
    (root / "images" / "s2.png").unlink()
    found = reading(root)
    assert found.faults == ()
    assert found.remarks == {}
    assert [(row.id, row.mode, row.set) for row in found.rows] == [
        (sample, mode, options)
        for samples in (("s0", "s2"), ("s1",), ("s3",))
        for mode, options in (("planning", "standard"), ("following", "standard"), ("planning", "hard"))
        for sample in samples
    ]


def test_several_pictures_and_other_ways_to_write_a_path(root: Path) -> None:
    change_all(root, put(0, "image", to=["./images//s0.png", "images/s1.png"]))
    found = reading(root)
    assert found.faults == ()
    (row,) = [row for row in found.rows if (row.id, row.mode) == ("s0", "following")]
    assert row.image == ["images/s0.png", "images/s1.png"]
    assert row.images == [str(root / "images" / name) for name in ("s0.png", "s1.png")]


@pytest.mark.parametrize("kept", [official.PLANNING, official.FOLLOWING])
def test_one_of_the_two_files_is_enough(root: Path, kept: str) -> None:
    for name in official.FILES:
        if name != kept:
            (root / name).unlink()
    found = reading(root)
    assert found.faults == ()
    other = ({official.PLANNING, official.FOLLOWING} - {kept}).pop()
    assert found.remarks == {ABSENT: (str(root / other),)}
    assert [row.id for row in found.rows] == ["s0", "s1", "s2", "s3"]


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: (path.unlink(), path.symlink_to("gone"))])
def test_neither_of_the_two_files(root: Path, spoil: Callable[[Path], object]) -> None:
    for name in (official.PLANNING, official.FOLLOWING):
        spoil(root / name)
    with pytest.raises(DataError, match=r"neither data/planning\.jsonl nor data/following\.jsonl\. Get V-REX"):
        reading(root)


def test_the_marker_says_which_set_a_record_is_of(root: Path) -> None:
    (root / official.HARD).unlink()
    change(root, official.PLANNING, lambda records: records.extend(official.hard(number) for number in range(4)))
    change(root, official.FOLLOWING, put(0, "set", to="standard"))
    found = reading(root)
    assert (found.faults, found.remarks) == ((), {})
    assert [len(row.steps[0].options) for row in found.rows if row.set == "hard"] == [8] * 4


def test_ids_may_be_whole_numbers(root: Path) -> None:
    change(root, official.PLANNING, put(0, "id", to=17))
    for name in (official.FOLLOWING, official.HARD):
        change(root, name, put(0, "id", to="17"))
    found = reading(root)
    assert (found.faults, found.remarks) == ((), {})
    assert found.rows[0].id == "17"


def test_an_array_and_a_byte_order_mark(root: Path) -> None:
    before = reading(root)
    for name in official.FILES:
        records = [json.loads(line) for line in (root / name).read_text().splitlines()]
        (root / name).write_bytes(b"\xef\xbb\xbf" + json.dumps(records).encode())
    assert reading(root) == before


STEP = (1, "steps", 0)  # a planning step with gold 2, a following step with gold 1
LAST = (1, "steps", -1)  # gold 1

RECORD_FAULTS = [
    (drop(1, "id"), "id None, field id: Field required."),
    (put(1, "id", to=True), "id True, field id: Input should be a valid string, found True."),
    (put(1, "id", to=""), "id '', field id: Expected text, found none, found ''."),
    (put(1, "id", to="a\nb"), "field id: Expected characters that can be printed"),
    (put(1, "id", to="a" * 201), "field id: String should have at most 200 characters"),
    (drop(1, "category"), "id 's1', field category: Field required."),
    (put(1, "category", to="Deduction"), "id 's1', field category: Input should be 'deduction', 'guessing', "),
    (put(1, "category", to=["deduction"]), "id 's1', field category: Input should be 'deduction', "),
    (put(1, "scenario", to=None), "id 's1', field scenario: Input should be a valid string, found None."),
    (put(1, "set", to="easy"), "id 's1', field set: Input should be "),
    (put(1, "set", to=None), "id 's1', field set: Input should be "),
    (put(1, "final_question", to=" "), "id 's1', field final_question: Expected text, found none"),
    (put(1, "final_question", to="a" * 10_001), "id 's1', field final_question: String should have at most 10000"),
    (put(1, "final_question", to="\ud800"), "id 's1', field final_question: "),
    (drop(1, "steps"), "id 's1', field steps: Field required."),
    (put(1, "steps", to=[]), "id 's1', field steps: Expected 2 to 6 steps, found 0."),
    (put(1, "steps", to=[official.last(1)]), "id 's1', field steps: Expected 2 to 6 steps, found 1."),
    (put(1, "steps", to=[official.last(1)] * 7), "id 's1', field steps: Expected 2 to 6 steps, found 7."),
    (put(1, "steps", to={"1": {}}), "id 's1', field steps: Input should be a valid list"),
    (drop(1, "image"), "id 's1', field image: Field required."),
    (put(1, "image", to=None), "id 's1', field image: Expected a path, or a list of paths, found None."),
    (put(1, "image", to=[]), "id 's1', field image: Expected a path, or a list of 1 to 20 paths, found 0."),
    (put(1, "image", to=["images/s1.png"] * 21), "field image: Expected a path, or a list of 1 to 20 paths, found 21."),
    (put(1, "image", to=["images/s1.png", 3]), "id 's1', field image: Expected a path, or a list of paths"),
    (put(1, "image", to="images/\ud800.png"), "id 's1', field image: Expected characters that can be printed"),
    (put(1, "image", to="a" * 1_001), "id 's1', field image: Expected a path, or a list of paths"),
    (put(1, "image", to="/etc/hostname"), "id 's1', field image: Expected a path inside the data folder, without"),
    (put(1, "image", to="images/../../s1.png"), "id 's1', field image: Expected a path inside the data folder"),
    (put(1, to=["steps"]), "line 2: expected a JSON object, found list."),
]


@pytest.mark.parametrize("name", [official.PLANNING, official.FOLLOWING])
@pytest.mark.parametrize(("edit", "expected"), RECORD_FAULTS)
def test_a_bad_record_is_one_fault(root: Path, name: str, edit: Change, expected: str) -> None:
    change(root, name, edit)
    found = reading(root)
    (fault,) = found.faults
    assert fault.startswith(f"{root / name}, line 2")
    assert expected in fault
    assert fault.isprintable()
    assert len(fault) < 600
    assert len(found.rows) == 11


def step_faults() -> list[tuple[str, Change, str]]:
    """File, change, and what is said after the id."""
    planning = official.PLANNING
    following = official.FOLLOWING
    one = [{"question": "Which way does turn 1 go?", "answer": "right"}]
    seven = [*official.pick(1, 1)["options"], *({"question": f"Why {n}?", "answer": "so"} for n in range(3))]
    nine = [*official.pick(1, 1, 8)["options"], {"question": "Why?", "answer": "so"}]
    either: list[tuple[Change, str]] = [
        (put(*STEP, to=None), "step 1: Expected a JSON object, found None."),
        (drop(*STEP, "question"), "step 1, field question: Field required."),
        (put(*STEP, "question", to="\t"), "step 1, field question: Expected text, found none"),
        (drop(*STEP, "answer"), "step 1, field answer: Field required."),
        (put(*STEP, "answer", to=3), "step 1, field answer: Input should be a valid string, found 3."),
        (put(*STEP, "answer", to="a" * 10_001), "step 1, field answer: String should have at most 10000 characters"),
        (drop(*STEP, "gold"), "step 1, field gold: Field required."),
        (put(*STEP, "gold", to=4), "step 1, field gold: Expected 0 to 3, the index of an option, found 4."),
        (put(*STEP, "gold", to=10**30), "step 1, field gold: "),
        (put(*STEP, "gold", to=-1), "step 1, field gold: Input should be greater than or equal to 0, found -1."),
        (put(*STEP, "gold", to="1"), "step 1, field gold: Input should be a valid integer, found '1'."),
        (put(*STEP, "gold", to=True), "step 1, field gold: Input should be a valid integer, found True."),
        (put(*STEP, "gold", to=1.0), "step 1, field gold: Input should be a valid integer, found 1.0."),
        (drop(*STEP, "options"), "step 1, field options: Field required."),
        (put(*STEP, "options", to="left"), "step 1, field options: Input should be a valid list, found 'left'."),
        (put(*STEP, "options", to=[]), "step 1, field options: Expected 2 to 6 options"),
        (put(*STEP, "answer", to="up"), "says: 'right', found 'up'."),
        (put(*STEP, "answer", to="Right"), "says: 'right', found 'Right'."),
        (put(*LAST, "gold", to=3), "step 3, field gold: Expected 0 to 2, the index of an option, found 3."),
        (put(*LAST, "gold", to=0), "step 3, field answer: Expected what options.0, the gold one, says: 'at the barn'"),
        (put(*LAST, "options", 0, to=" AT the\n mill"), "step 3, field options.1: Expected an option unlike options.0"),
        (put(*LAST, "options", 2, to=""), "step 3, field options.2: Expected text, found none"),
        (put(*LAST, "options", 2, to={"question": "a", "answer": "b"}), "step 3, field options.2: Input should be a "),
        (put(*LAST, "options", to=["at the mill"]), "step 3, field options: Expected 2 to 6 options, found 1."),
        (put(*LAST, "options", to=list("abcdefg")), "step 3, field options: Expected 2 to 6 options, found 7."),
        (
            put(*LAST, "question", to="Where does path 2 end?"),
            "step 3, field question: Expected the final question, 'Where does path 1 end?', "
            "found 'Where does path 2 end?'.",
        ),
    ]
    picking: list[tuple[Change, str]] = [
        (drop(*STEP, "options", 1, "answer"), "step 1, field options.1.answer: Field required."),
        (put(*STEP, "options", 1, "answer", to=" "), "step 1, field options.1.answer: Expected text, found none"),
        (put(*STEP, "options", 1, "question", to=None), "step 1, field options.1.question: Input should be a valid "),
        (put(*STEP, "options", 1, to="Why?"), "step 1, field options.1: Expected a JSON object, found 'Why?'."),
        (
            put(*STEP, "options", 3, "question", to="which way  does turn 1 go?"),
            "step 1, field options.3: Expected an option unlike options.2, found 'which way  does turn 1 go?'.",
        ),
        (
            put(*STEP, "question", to="Which way?"),
            "step 1, field question: Expected what options.2, the gold one, says: 'Which way does turn 1 go?', "
            "found 'Which way?'.",
        ),
        (
            put(*STEP, "options", to=one),
            'step 1, field options: Expected 2 to 6 options (up to 8 in a record with "set": "hard"), found 1.',
        ),
        (put(*STEP, "options", to=seven), '(up to 8 in a record with "set": "hard"), found 7.'),
        (put(*STEP, "options", to=official.pick(1, 1, 8)["options"]), '"set": "hard"), found 8.'),
    ]
    answering: list[tuple[Change, str]] = [
        (put(*STEP, "options", 3, to="RIGHT "), "step 1, field options.3: Expected an option unlike options.1, found "),
        (put(*STEP, "options", to=["right"]), "step 1, field options: Expected 2 to 6 options, found 1."),
        (put(*STEP, "options", to=list("abcdefg")), "step 1, field options: Expected 2 to 6 options, found 7."),
        (put(*STEP, "options", 0, to=7), "step 1, field options.0: Input should be a valid string, found 7."),
    ]
    hard: list[tuple[Change, str]] = [
        (put(*STEP, "options", to=nine), "step 1, field options: Expected 2 to 8 options, found 9."),
        (put(*LAST, "options", to=list("abcdefg")), "step 3, field options: Expected 2 to 6 options, found 7."),
    ]
    return [
        *((name, edit, expected) for name in (planning, following) for edit, expected in either),
        *((planning, edit, expected) for edit, expected in picking),
        *((following, edit, expected) for edit, expected in answering),
        *((official.HARD, edit, expected) for edit, expected in hard),
    ]


@pytest.mark.parametrize(("name", "edit", "expected"), step_faults())
def test_a_bad_step_is_one_fault(root: Path, name: str, edit: Change, expected: str) -> None:
    change(root, name, edit)
    found = reading(root)
    (fault,) = found.faults
    assert fault.startswith(f"{root / name}, line 2, id 's1', step ")
    assert expected in fault
    assert fault.isprintable()
    assert len(fault) < 600
    assert len(found.rows) == 11


@pytest.mark.parametrize(("name", "set"), [(official.HARD, "standard"), (official.FOLLOWING, "hard")])
def test_a_marker_in_the_wrong_file(root: Path, name: str, set: str) -> None:
    change(root, name, put(1, "set", to=set))
    (fault,) = reading(root).faults
    assert f"line 2, id 's1', field set: Input should be '{'hard' if set == 'standard' else 'standard'}'" in fault


def test_the_hard_set_needs_its_marker(root: Path) -> None:
    change(root, official.HARD, drop(1, "set"))
    (fault,) = reading(root).faults
    assert fault == f"{root / official.HARD}, line 2, id 's1', field set: Field required."


def test_every_fault_of_a_step_is_told(root: Path) -> None:
    change(root, official.PLANNING, put(*STEP, "question", to="Which way?"))
    change(root, official.PLANNING, put(*STEP, "answer", to="up"))
    change(root, official.PLANNING, put(*STEP, "options", 1, "question", to="What is beside turn 1.0?"))
    change(root, official.PLANNING, put(1, "steps", 1, "gold", to=5))
    assert [fault.partition("step ")[2].partition(":")[0] for fault in reading(root).faults] == [
        "1, field options.1",
        "1, field question",
        "1, field answer",
        "2, field gold",
    ]


@pytest.mark.parametrize("name", official.FILES)
def test_an_id_twice_in_a_file(root: Path, name: str) -> None:
    change(root, name, lambda records: records.append(records[1]))
    (fault,) = reading(root).faults
    assert fault == (
        f"{root / name}, line 5, id 's1': this record occurs twice, first at {root / name}, line 2, id 's1'. "
        "Remove one of the two."
    )


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (put(1, "image", to="images/s0.png"), "image: Expected ['images/s1.png'], as at {}, found ['images/s0.png']."),
        (put(1, "category", to="retrieval"), "category: Expected 'guessing', as at {}, found 'retrieval'."),
        (
            both(put(1, "final_question", to="Where?"), put(*LAST, "question", to="Where?")),
            "final_question: Expected 'Where does path 1 end?', as at {}, found 'Where?'.",
        ),
    ],
)
def test_one_id_for_different_samples(root: Path, edit: Change, expected: str) -> None:
    change(root, official.FOLLOWING, edit)
    (fault,) = reading(root).faults
    first = f"{root / official.PLANNING}, line 2, id 's1'"
    assert fault == f"{root / official.FOLLOWING}, line 2, id 's1', field " + expected.format(first)


def test_a_missing_picture_is_one_fault(root: Path) -> None:
    (root / "images" / "s1.png").unlink()
    found = reading(root)
    (fault,) = found.faults
    assert fault.startswith(f"{root / official.PLANNING}, line 2, id 's1', field image: the picture {root}")
    assert fault.endswith(HOW_TO_GET)
    assert {row.id for row in found.rows} == {"s0", "s2", "s3"}


@pytest.mark.parametrize("image", ["images", ".", "a" * 999, f"images/{'a' * 300}.png", official.PLANNING])
def test_no_picture(root: Path, image: str) -> None:
    change(root, official.HARD, put(1, "image", to=["images/s1.png", image]))
    change(root, official.PLANNING, put(1, "image", to=["images/s1.png", image]))
    change(root, official.FOLLOWING, put(1, "image", to=["images/s1.png", image]))
    found = reading(root)
    (fault,) = found.faults
    assert ", line 2, id 's1', field image: " in fault
    assert len(found.rows) == 9


def test_a_truncated_picture(root: Path) -> None:
    path = root / "images" / "s3.png"
    path.write_bytes(path.read_bytes()[:-30])
    (fault,) = reading(root).faults
    assert "line 4, id 's3', field image: " in fault
    assert "s3.png is truncated" in fault


def test_links_out_of_the_folder(root: Path, tmp_path: Path) -> None:
    path = root / "images" / "s0.png"
    path.rename(tmp_path / "outside.png")
    path.symlink_to(tmp_path / "outside.png")
    (fault,) = reading(root).faults
    assert "id 's0', field image: " in fault
    assert "s0.png leads out of the data folder" in fault
    path = root / official.FOLLOWING
    path.rename(tmp_path / "outside.jsonl")
    path.symlink_to(tmp_path / "outside.jsonl")
    with pytest.raises(DataError, match=r"following\.jsonl leads out of the data folder"):
        reading(root)


@pytest.mark.parametrize("name", official.FILES)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"[]"),
        lambda path: path.write_bytes(b"[1, 2]"),
        lambda path: path.write_bytes(b"[" + path.read_bytes()),
        lambda path: path.write_bytes(b"<html>\n<p>Not found</p>"),
        lambda path: path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
        lambda path: path.write_bytes(b"[" * 100_000),
        lambda path: path.write_bytes(b'{"id": 1}\n' * 10_001),
        lambda path: path.write_bytes(b"\xff\xfe{}"),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["empty", "no records", "numbers", "cut", "HTML", "LFS", "deep", "many", "UTF-16", "folder"],
)
def test_a_file_that_cannot_be_read(root: Path, name: str, spoil: Callable[[Path], object]) -> None:
    spoil(root / name)
    with pytest.raises(DataError) as caught:
        reading(root)
    assert str(root / name) in str(caught.value)
    assert str(caught.value).endswith(HOW_TO_GET)


def test_a_line_that_is_cut_off(root: Path) -> None:
    path = root / official.PLANNING
    path.write_bytes(path.read_bytes()[:-50])
    found = reading(root)
    (fault,) = found.faults
    assert fault.startswith(f"{path}, line 4: is no JSON: ")
    assert len(found.rows) == 11


THREE = official.pick(1, 1, 3)
REMARKS = [
    (official.PLANNING, put(1, "scenario", to="dance"), {STRANGE: 1, DIFFERENT: 2}, "field scenario: 'dance' in gu"),
    (official.HARD, put(1, "scenario", to="map"), {STRANGE: 1, DIFFERENT: 1}, "field scenario: 'map' in guessing"),
    (official.HARD, put(1, "scenario", to="topic"), {DIFFERENT: 1}, "line 2, id 's1'"),
    (official.FOLLOWING, drop(*STEP), {DIFFERENT: 1}, "line 2, id 's1'"),
    (
        official.FOLLOWING,
        both(put(*STEP, "answer", to="left"), put(*STEP, "gold", to=0)),
        {DIFFERENT: 1},
        "line 2, id 's1'",
    ),
    (
        official.PLANNING,
        both(put(*STEP, "options", to=THREE["options"]), put(*STEP, "gold", to=THREE["gold"])),
        {UNUSUAL: 1},
        "line 2, id 's1', step 1: 3",
    ),
    (official.HARD, drop(*STEP, "options", 7), {UNUSUAL_HARD: 1}, "line 2, id 's1', step 1: 7"),
    (official.PLANNING, drop(1), {"samples that are in following and not in planning": 1}, "line 2, id 's1'"),
    (official.FOLLOWING, drop(1), {"samples that are in planning and not in following": 1}, "line 2, id 's1'"),
    (official.HARD, drop(1), {}, ""),
]


@pytest.mark.parametrize(("name", "edit", "remarks", "place"), REMARKS)
def test_what_can_be_scored_all_the_same(
    root: Path, name: str, edit: Change, remarks: dict[str, int], place: str
) -> None:
    change(root, name, edit)
    found = reading(root)
    assert found.faults == ()
    assert counts(found) == remarks
    assert not remarks or any(place in where for places in found.remarks.values() for where in places)


def test_a_category_without_a_sample_and_a_picture_that_nobody_uses(root: Path) -> None:
    change_all(root, drop(2))
    found = reading(root)
    assert found.faults == ()
    assert found.remarks == {
        "published categories without a sample": ("navigation",),
        UNUSED: (str(root / "images" / "s2.png"),),
    }


def test_the_hash_is_that_of_the_content_wherever_it_lies(root: Path, tmp_path: Path) -> None:
    first = reading(root).sha256
    assert len(first) == 16 and int(first, 16) >= 0
    shutil.copytree(root, tmp_path / "copy")
    change(tmp_path / "copy", official.PLANNING, put(0, "source", to="found"))  # nobody reads it
    assert reading(tmp_path / "copy").sha256 == first
    change(root, official.PLANNING, put(*STEP, "options", 0, "answer", to="shrub"))
    second = reading(root).sha256
    official.picture(root / "images" / "s3.png", "another", official.SIZE)
    assert len({first, second, reading(root).sha256}) == 3


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.integers(-1, 5),
    st.floats(),
    st.text(st.characters(), max_size=8),  # half characters too
    st.sampled_from(["hard", "standard", "deduction", "..", "/", "\0", "s1", "\ud800", "left", "images/s1.png"]),
    st.lists(st.one_of(st.text(max_size=3), st.integers(-5, 99)), max_size=9),
    st.dictionaries(st.sampled_from(["question", "answer", "gold"]), st.text(max_size=3), max_size=2),
    st.builds(lambda: [[[[]]], [[[]]], [[[]]]]),  # anew each time: it may be changed afterwards
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(sorted(official.FILES)))
def test_damaged_values_are_told_and_never_end_in_another_error(root: Path, data: st.DataObject, name: str) -> None:
    for file, record in official.FILES.items():
        official.write_records(root, file, [record(0), record(2)])
    records = [official.FILES[name](0), official.FILES[name](2)]
    damage(data, records, JUNK)
    official.write_records(root, name, records)
    try:
        found = reading(root)
    except DataError as error:
        assert str(error).isprintable()
        return
    said = [*found.faults, *(place for places in found.remarks.values() for place in places)]
    assert all(text.isprintable() and len(text) < 1_500 for text in said)
    pa.Table.from_pylist([asdict(row) for row in found.rows], SCHEMA)
    assert len({(row.id, row.mode, row.set) for row in found.rows}) == len(found.rows)
    for row in found.rows:
        assert row.length == len(row.steps) >= 2
        assert row.steps[-1].question == row.final_question
        for number, step in enumerate(row.steps, start=1):
            gold = step.options[step.gold]
            picks = row.mode == "planning" and number < row.length
            assert gold == (Option(step.question, step.answer) if picks else Option(step.answer, ""))
            assert len(step.options) <= (8 if picks and row.set == "hard" else 6)
    assert isinstance(count(found), str)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(sorted(official.FILES)))
def test_damaged_bytes(root: Path, data: st.DataObject, name: str) -> None:
    content = damaged_bytes(data, "".join(json.dumps(official.FILES[name](n)) + "\n" for n in range(2)).encode())
    (root / name).write_bytes(content)
    try:
        found = reading(root)
    except DataError:
        return
    pa.Table.from_pylist([asdict(row) for row in found.rows], SCHEMA)


TASKS = {
    "vrex_planning": Variant("planning"),
    "vrex_planning_hard": Variant("planning", set="hard"),
    "vrex_planning_blind": Variant("planning", blind=True),
    "vrex_planning_tf": Variant("planning", teacher_forced=True),
    "vrex_following": Variant("following"),
    "vrex_following_blind": Variant("following", blind=True),
    "vrex_following_tf": Variant("following", teacher_forced=True),
    "vrex_direct": Variant("direct"),
    "vrex_direct_blind": Variant("direct", blind=True),
}


@pytest.mark.parametrize("task", TASKS)
def test_the_variant_of_a_task(task: str) -> None:
    assert Variant.of(task) == TASKS[task]
    assert Variant.of(f"{task}_mini").mini


@pytest.mark.parametrize("task", ["vrex", "vrex_mini", "planning", "vrex_direct_tf", "vrex_planning_hard_blind", ""])
def test_no_such_task(task: str) -> None:
    with pytest.raises(KeyError):
        load(task)


def prepared(task: str) -> list[Row]:
    table = pq.read_table(load(task)[1].rows)
    assert table.schema.names == SCHEMA.names == [field.name for field in fields(Row)]
    return [from_dict(row) for row in table.to_pylist()]


def from_dict(row: Json) -> Row:
    steps = [Step(**{**step, "options": [Option(**option) for option in step["options"]]}) for step in row["steps"]]
    return Row(**{**row, "steps": steps})


@pytest.mark.parametrize("task", TASKS)
def test_rows_of_a_task(named: Path, task: str) -> None:
    variant = TASKS[task]
    rows = prepared(task)
    assert {(row.mode, row.set, row.blind) for row in rows} == {(variant.mode, variant.set, variant.blind)}
    lengths = {"s0": 2, "s1": 3, "s2": 4, "s3": 2}
    asked = [(row.id, row.step) for row in rows]
    if variant.teacher_forced:
        assert asked == [(sample, step) for sample, n in lengths.items() for step in range(1, n + 1)]
    else:
        assert asked == [(sample, 0) for sample in lengths]
    for row in rows:
        assert row.length == lengths[row.id]
        assert row.image == [f"images/{row.id}.png"]
        assert row.images == ([] if variant.blind else [str(named / "images" / f"{row.id}.png")])
        assert len(row.steps) == (1 if variant.mode == "direct" else row.length)
        assert row.steps[-1].question == row.final_question


def test_a_direct_row(named: Path) -> None:
    assert prepared("vrex_direct")[1] == Row(
        **ROW, images=[str(named / "images" / "s1.png")], mode="direct", set="standard", steps=[FINAL]
    )


def test_direct_comes_from_following_or_else_from_planning(named: Path) -> None:
    change_all(named, put(3, "image", to="images/s0.png"))
    change(named, official.PLANNING, drop(1))
    change(named, official.FOLLOWING, drop(2))
    change(
        named,
        official.FOLLOWING,
        both(put(0, "steps", 1, "gold", to=1), put(0, "steps", 1, "answer", to="at the mill")),
    )
    rows = prepared("vrex_direct")
    assert [row.id for row in rows] == ["s0", "s3", "s2", "s1"]
    assert [row.steps[0].gold for row in rows] == [1, 0, 2, 1]  # s0's is 0 in planning


def test_rows_as_the_harness_reads_them(named: Path, tmp_path: Path) -> None:
    rows = load("vrex_planning")[1].rows
    found = datasets.load_dataset("parquet", data_files={"test": str(rows)}, cache_dir=str(tmp_path / "hf"))["test"]
    expected = [row for row in reading(named).rows if (row.mode, row.set) == ("planning", "standard")]
    assert list(found) == [asdict(row) for row in expected]
    option = {"text": "Which way does turn 1 go?", "answer": "right", "source": ""}
    assert found[1]["steps"][0]["options"][2] == option


def test_an_option_may_say_where_it_comes_from(named: Path) -> None:
    change(named, official.PLANNING, put(0, "steps", 0, "options", 2, "source", to="distracting"))
    assert [option.source for option in prepared("vrex_planning")[0].steps[0].options] == ["", "", "distracting", ""]
    change(named, official.PLANNING, put(0, "steps", 0, "options", 2, "source", to="elsewhere"))
    assert any("options.2.source" in fault and "'elsewhere'" in fault for fault in reading(named).faults)


def test_prepared_rows_change_with_the_files(named: Path) -> None:
    source, first = load("vrex_planning_hard")
    assert (source.root, source.kind) == (named, "folder")
    assert load("vrex_planning_hard")[1] == first
    change(named, official.HARD, put(*STEP, "options", 0, "answer", to="shrub"))
    second = load("vrex_planning_hard")[1]
    assert second.rows != first.rows and second.sha256 != first.sha256
    stat = (named / "images" / "s0.png").stat()
    os.utime(named / "images" / "s0.png", ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000))
    assert load("vrex_planning_hard")[1].rows != second.rows


def test_faults_end_a_load_in_one_sentence(named: Path) -> None:
    change(named, official.FOLLOWING, put(*STEP, "gold", to=9))
    change(named, official.HARD, put(*STEP, "gold", to=9))
    with pytest.raises(DataError, match=rf"found 9\. \(and 1 more: `condchain data check vrex {named}` lists them\)$"):
        load("vrex_planning")


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("vrex_planning_tf", official.PLANNING),
        ("vrex_following_blind", official.FOLLOWING),
        ("vrex_planning_hard", official.HARD),
    ],
)
def test_a_task_without_its_file(named: Path, task: str, name: str) -> None:
    (named / name).unlink()
    with pytest.raises(DataError, match=rf"{name} is not there, or has no samples for {task}\. Get V-REX from"):
        load(task)


def test_no_data_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VREX_DATA", raising=False)
    with pytest.raises(DataError) as caught:
        load("vrex_direct")
    assert str(caught.value) == (
        "VREX_DATA is not set. Get V-REX from its authors (arXiv 2512.11995, project page tianyi-lab/VREX), lay it out "
        "as data/planning.jsonl, data/following.jsonl and images/ (README, section Data), and set VREX_DATA to that "
        "folder. Or run the embedded vrex_mini, which needs no data."
    )
    assert describe("vrex_direct") == ("folder, VREX_DATA", "missing: set VREX_DATA")
    ((_, run),) = parts(None)
    with pytest.raises(DataError, match="VREX_DATA is not set"):
        run()


def test_what_is_said_of_the_data(named: Path) -> None:
    assert describe("vrex_planning_tf") == (f"VREX_DATA={named}", "there")
    (named / official.PLANNING).unlink()
    assert describe("vrex_direct") == (f"VREX_DATA={named}", "there")
    (named / official.FOLLOWING).unlink()
    state = "neither data/planning.jsonl nor data/following.jsonl is there"
    assert describe("vrex_direct") == (f"VREX_DATA={named}", state)
    assert describe("vrex_direct_mini")[0] == "embedded"


def test_counts(root: Path) -> None:
    change(root, official.PLANNING, put(0, "scenario", to="dance"))
    change(root, official.FOLLOWING, put(0, "scenario", to="dance"))
    change(root, official.HARD, both(put(0, "scenario", to="dance"), drop(3)))
    ((name, run),) = parts(root)
    assert name == "vrex"
    assert count(run()).splitlines() == [
        "categories: 1 deduction, 1 guessing, 1 navigation, 1 retrieval",
        "  scenarios: 1 time, 1 map, 1 word puzzle, 1 dance",
        "  steps a sample: 2 with 2, 1 with 3, 1 with 4",
        "  questions to choose from in a step of standard planning: 7 with 4",
        "  answers to choose from in a step of standard planning: 4 with 3",
        "  answers to choose from in a step of following: 4 with 3, 7 with 4",
        "  questions to choose from in a step of hard planning: 6 with 8",
        "  answers to choose from in a step of hard planning: 3 with 3",
        "  4 samples: 4 standard planning, 4 following, 3 hard planning",
    ]


def test_the_embedded_benchmark_has_neither_faults_nor_oddities() -> None:
    source, data = load("vrex_planning_tf_mini")
    assert source.kind == "mini"
    assert data.remarks == {}
    rows = [from_dict(row) for row in pq.read_table(data.rows).to_pylist()]
    assert len({row.id for row in rows}) == MINI_CHAINS
    assert len(rows) == sum({row.id: row.length for row in rows}.values())
    assert {len(step.options) for row in rows for step in row.steps[:-1]} == {4}
