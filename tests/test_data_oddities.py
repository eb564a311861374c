"""What can be scored and is odd all the same, in all three benchmarks; and faults that name their place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import official
import official_ccrv
import official_vrex
import pytest
from PIL import Image

from condchain_tasks.data import ccrv, condchain, vrex
from condchain_tasks.data.prepared import Reading
from condchain_tasks.data.records import read_entries
from condchain_tasks.data.sources import Source
from condchain_tasks.data.special_tokens import broken_up, special_tokens

TWICE = "fields that stand more than once in their object, of which the last counts"
TOKENS = "texts with a special token of some model, which is sent with a blank in it"


@dataclass(frozen=True)
class Kind:
    """A benchmark: its data, its reader, the file of records, a picture, and how its texts are made and seen."""

    name: str
    write: Callable[[Path], Path]
    read: Callable[[Path], Reading]
    records: str
    picture: str
    text: str
    sent: Callable[[Any], str]


def folder(root: Path) -> Source:
    return Source(root, "folder")


CONDCHAIN = Kind(
    "condchain",
    official.write_dataset,
    lambda root: condchain.read(folder(root), "chart"),
    "data/chart.jsonl",
    "images/chart/chart0.png",
    "Chain 0.",
    lambda row: row.instruction,
)
CCRV = Kind(
    "ccrv",
    official_ccrv.write_dataset,
    lambda root: ccrv.read(folder(root)),
    official_ccrv.BASELINE,
    "VG_images_test/40.jpg",
    "What keeps cup 0 of picture 40 up? (X1_discovery)",
    lambda row: row.question,
)
VREX = Kind(
    "vrex",
    official_vrex.write_dataset,
    lambda root: vrex.read(folder(root)),
    official_vrex.FOLLOWING,
    "images/s0.png",
    "straight on",
    lambda row: row.steps[0].options[2].text,
)


@pytest.fixture(params=[CONDCHAIN, CCRV, VREX], ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each benchmark."""
    found: Kind = request.param
    return found


def change(root: Path, name: str, old: str, new: str) -> None:
    """Replaces the first occurrence of a text in a file, which has to be there."""
    text = (root / name).read_text(encoding="utf-8")
    assert old in text
    (root / name).write_text(text.replace(old, new, 1), encoding="utf-8")


def places(reading: Reading, kind: str) -> tuple[str, ...]:
    return reading.remarks[kind]


@pytest.mark.parametrize(
    ("kind", "old", "new", "place"),
    [
        (CONDCHAIN, '"id": "chart-0",', '"id": "chart-0", "id": "chart-0",', "line 1, field id"),
        (
            CONDCHAIN,
            '"correct_answer": "B2"',
            '"correct_answer": "B1", "correct_answer": "B2"',
            "true_path.correct_answer",
        ),
        (CCRV, '"image_id": 40,', '"image_id": 39, "image_id": 40,', "item 1, field image_id"),
        (
            CCRV,
            '"target_object_id": 7,',
            '"target_object_id": 7, "target_object_id": 7,',
            "X1_discovery.0.target_object_id",
        ),
        (VREX, '"id": "s0",', '"id": "s9", "id": "s0",', "line 1, field id"),
        (VREX, '"gold": 1', '"gold": 0, "gold": 1', "line 1, field steps.0.gold"),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else None,
)
def test_a_key_that_stands_twice_is_an_oddity_and_the_last_counts(
    tmp_path: Path, kind: Kind, old: str, new: str, place: str
) -> None:
    root = kind.write(tmp_path / "data")
    sound = kind.read(root)
    change(root, kind.records, old, new)
    found = kind.read(root)
    assert (found.faults, found.rows, found.sha256) == ((), sound.rows, sound.sha256)
    (where,) = places(found, TWICE)
    assert where.startswith(f"{root / kind.records}, ")
    assert where.endswith(place)


def test_both_names_of_the_picture_are_an_oddity(tmp_path: Path) -> None:
    root = official.write_dataset(tmp_path / "data")
    change(root, "data/chart.jsonl", '"image": "', '"image_path": "images/chart/chart2.png", "image": "')
    found = CONDCHAIN.read(root)
    assert found.rows[0].image == "images/chart/chart0.png"
    (where,) = places(found, "records with both image and image_path, of which image counts")
    assert where == f"{root / 'data/chart.jsonl'}, line 1, id 'chart-0'"


def test_both_rationales_are_an_oddity(tmp_path: Path) -> None:
    root = CCRV.write(tmp_path / "data")
    change(root, CCRV.records, '"rationale": ', '"causal_rationale": "Another reason.", "rationale": ')
    (where,) = places(CCRV.read(root), "questions with two rationales, of which the field rationale counts")
    assert where.endswith("item 1, image 40, X1, index 0")


def test_pictures_that_differ_between_the_files_are_an_oddity(tmp_path: Path) -> None:
    root = CCRV.write(tmp_path / "data")
    change(root, official_ccrv.CONSTRAINED, "VG_images_test/40.jpg", "VG_images_test/39.jpg")
    found = CCRV.read(root)
    assert found.rows[0].image == "VG_images_test/40.jpg"
    (where,) = places(found, "images whose picture's path differs from that of their first entry, which counts")
    assert where.startswith(f"{root / official_ccrv.CONSTRAINED}, item 1, image 40")


# --- text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["<|image_pad|>", "<image>", "<|im_end|>", "[IMG]", "<｜begin▁of▁sentence｜>"])
def test_a_special_token_is_an_oddity_and_sent_broken_up(tmp_path: Path, kind: Kind, token: str) -> None:
    root = kind.write(tmp_path / "data")
    change(root, kind.records, kind.text, f"{kind.text} {token} more")
    found = kind.read(root)
    assert not found.faults
    assert any(where.endswith(f"{token!r}") for where in places(found, TOKENS))
    rows = [row for row in found.rows if " more" in kind.sent(row)]
    assert rows
    assert all(f"{kind.text} {token[0]} {token[1:]} more" in kind.sent(row) for row in rows)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("<|vision_start|><|image_pad|><|vision_end|>", ["<|vision_start|>", "<|image_pad|>", "<|vision_end|>"]),
        ("<|eot_id|> <|begin_of_text|> <|image_1|>", ["<|eot_id|>", "<|begin_of_text|>", "<|image_1|>"]),
        ("<s>[INST] <<SYS>> [/INST]</s>", ["<s>", "[INST]", "<<SYS>>", "[/INST]", "</s>"]),
        (
            "<img><IMG_CONTEXT></img> <start_of_turn> <bos>",
            ["<img>", "<IMG_CONTEXT>", "</img>", "<start_of_turn>", "<bos>"],
        ),
        ("if a <|b and c|> d, x[1], [img], <button>, <b>bold</b>, a < b | c > d, |>", []),
    ],
)
def test_what_is_a_special_token(text: str, tokens: list[str]) -> None:
    assert special_tokens(text) == tokens
    assert special_tokens(broken_up(text)) == []
    assert broken_up(text).replace(" ", "") == text.replace(" ", "")


def set_text(path: str, text: str) -> Callable[[dict[str, Any]], None]:
    def put(record: dict[str, Any]) -> None:
        *names, last = path.split(".")
        value: Any = record
        for name in names:
            value = value[int(name) if name.isdigit() else name]
        value[int(last) if last.isdigit() else last] = text

    return put


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        *((CONDCHAIN, field) for field in ("id", "image", "domain")),
        *((CONDCHAIN, f"true_path.{f}") for f in ("full_instruction", "pseudocode", "correct_answer")),
        *((CONDCHAIN, f"false_path.{f}") for f in ("full_instruction", "pseudocode", "correct_answer")),
        (CONDCHAIN, "false_path.diverge_node"),
        *((CCRV, field) for field in ("image_id", "image_path_relative", "primary_cluster")),
        *((CCRV, f"questions.X1_discovery.0.{f}") for f in ("question_text", "ground_truth_answer", "rationale")),
        (CCRV, "questions.X1_discovery.0.evaluation_rubric.L2_interaction_check"),
        *((VREX, field) for field in ("id", "image", "category", "scenario", "final_question")),
        *((VREX, f"steps.0.{f}") for f in ("question", "answer", "options.1")),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else value,
)  # fmt: skip
def test_half_a_surrogate_is_a_fault_that_names_file_record_and_field(tmp_path: Path, kind: Kind, field: str) -> None:
    root = kind.write(tmp_path / "data")
    path = root / kind.records
    lines = kind is not CCRV
    records = [json.loads(line) for line in path.read_text().splitlines()] if lines else json.loads(path.read_text())
    set_text(field, "half \ud800")(records[0])
    path.write_text("\n".join(map(json.dumps, records)) if lines else json.dumps(records))
    found = kind.read(root)
    fault = found.faults[0]
    assert fault.startswith(f"{path}, {'line' if lines else 'item'} 1")
    assert re.search(rf", field ([\w.]+\.)?{field.rpartition('.')[2]}: ", fault)
    assert fault.isprintable()


def test_a_byte_order_mark_before_any_record_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "joined.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\xef\xbb\xbf{"a": 2}\n')
    assert [entry.value for entry in read_entries(path)] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400])
@pytest.mark.parametrize(
    ("name", "old"),
    [
        (official_ccrv.CONSTRAINED, '"csr_bbox_margin_fraction": 0.075'),
        (official_ccrv.CONSTRAINED, '"allowed_max_words": 4'),
        (official_ccrv.CONSTRAINED, '"target_bbox_xyxy": [\n                2,'),
        (official_ccrv.BASELINE, '"image_id": 40'),
    ],
)
def test_numbers_beyond_bounds_are_faults_in_ccrv(tmp_path: Path, name: str, old: str, number: str) -> None:
    root = CCRV.write(tmp_path / "data")
    text = (root / name).read_text(encoding="utf-8")
    if old not in text:
        old = '"target_bbox_xyxy": ['
        head, _, rest = text.partition(old)
        first, comma, rest = rest.partition(",")
        (root / name).write_text(head + old + first.replace("2", number) + comma + rest, encoding="utf-8")
    else:
        change(root, name, old, f"{old.rpartition(' ')[0]} {number}")
    found = CCRV.read(root)
    assert found.faults
    assert all(str(root / name) in fault and len(fault) < 700 for fault in found.faults[:1])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "1" + "0" * 400, "1" + "0" * 5_000, "true", "1.0"])
def test_numbers_beyond_bounds_are_faults_in_vrex(tmp_path: Path, number: str) -> None:
    root = VREX.write(tmp_path / "data")
    change(root, VREX.records, '"gold": 1', f'"gold": {number}')
    (fault, *_) = VREX.read(root).faults
    assert fault.startswith(f"{root / VREX.records}, line 1")
    assert len(fault) < 700


# --- pictures -----------------------------------------------------------------------------------------------


def frames(root: Path, *names: str) -> Reading:
    """A reading of one trajectory with these frames."""
    for name in names:
        official.picture(root / "images/gui/gui0" / name, name)
    official.write_records(root, "gui", [official.record("gui", 0, "images/gui/gui0")])
    return condchain.read(folder(root), "gui")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["gui0_0.png", "gui0_2.png"], ": no 1"),
        (["gui0_1.png", "gui0_2.png", "gui0_9.png"], ": no 3 to 8"),
        (["gui0_3.png", "gui0_4.png"], ": no 1 to 2"),
        (
            ["a_0.png", "a_2.png", "a_4.png", "a_6.png", "a_8.png", "a_10.png", "a_12.png"],
            ": no 1, 3, 5, 7, 9 and 1 more",
        ),
        (["gui0_0.png", "gui0_1.png"], ""),
        (["gui0_1.png", "gui0_2.png"], ""),
        (["first.png", "gui0_5.png"], ""),
    ],
)
def test_a_gap_in_a_trajectory_is_an_oddity(tmp_path: Path, names: list[str], said: str) -> None:
    found = frames(tmp_path, *names)
    gaps = found.remarks.get("trajectories with a gap in their frames' numbers", ())
    assert gaps == ((f"{tmp_path / 'data/gui.jsonl'}, line 1, id 'gui-0'{said}",) if said else ())


def test_two_frames_of_one_number_are_an_oddity(tmp_path: Path) -> None:
    found = frames(tmp_path, "gui0_0.png", "gui0_1.png", "gui0_01.png")
    (where,) = places(found, "trajectories with several frames of one number")
    assert where.endswith("id 'gui-0': 1")


def test_a_part_that_is_not_there_is_named(tmp_path: Path) -> None:
    root = official.write_dataset(tmp_path / "data")
    (root / "data/gui.jsonl").unlink()
    found = {name: read() for name, read in condchain.parts(root)}
    assert list(found) == ["natural", "chart", "gui"]
    assert found["natural"].remarks == {}
    assert found["gui"].remarks == {"files that are not there, which some tasks need": (f"{root}/data/gui.jsonl",)}
    assert found["gui"].faults == ()


def test_pictures_of_a_faulty_record_are_not_called_unused(tmp_path: Path, kind: Kind) -> None:
    root = kind.write(tmp_path / "data")
    unused = [name for name in kind.read(root).remarks if "that no" in name]
    assert unused == []
    official.picture((root / kind.picture).with_name("999.png"), "unused")
    (said,) = [name for name in kind.read(root).remarks if "that no" in name]
    assert places(kind.read(root), said) == (str((root / kind.picture).with_name("999.png")),)
    (root / kind.picture).write_bytes(b"")
    found = kind.read(root)
    assert found.faults
    assert said not in found.remarks
    assert f"{root / kind.picture} is empty" in found.faults[0]


def test_odd_pictures_are_named_with_the_record(tmp_path: Path, kind: Kind) -> None:
    root = kind.write(tmp_path / "data")
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 20)).save(root / kind.picture, exif=exif)
    found = kind.read(root)
    assert found.faults == ()
    (where,) = places(found, "pictures with an EXIF orientation, which are shown upright")
    assert ", line 1, id " in where or ", item 1, image 40: " in where
    assert where.endswith(kind.picture)


def test_a_turned_picture_has_its_shown_size_in_ccrv(tmp_path: Path) -> None:
    root = CCRV.write(tmp_path / "data")
    exif = Image.Exif()
    exif[0x0112] = 8
    Image.new("RGB", (48, 64)).save(root / CCRV.picture, exif=exif)
    assert {(row.width, row.height) for row in CCRV.read(root).rows if row.image_id == "40"} == {(64, 48)}


# --- links --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["/", ".", "..", "../../..", "loop"])
def test_links_in_a_folder_of_pictures_are_followed_within_the_data_and_once(
    tmp_path: Path, kind: Kind, target: str
) -> None:
    root = kind.write(tmp_path / "data")
    sound = kind.read(root)
    official.picture(tmp_path / "outside.png", "outside")
    (root / kind.picture).with_name("loop").symlink_to(target)
    found = kind.read(root)
    assert (found.rows, found.faults) == (sound.rows, sound.faults)
    said = [where for kinds in found.remarks.values() for where in kinds]
    assert all(str(root) in where and "outside" not in where for where in said)


def test_a_picture_folder_that_is_a_loop_of_links_is_one_fault_a_record(tmp_path: Path, kind: Kind) -> None:
    root = kind.write(tmp_path / "data")
    place = (root / kind.picture).parent
    place.rename(tmp_path / "away")
    place.symlink_to("b")
    (place.parent / "b").symlink_to(place.name)
    found = kind.read(root)
    assert found.faults
    assert all("does not exist" in fault and str(place) in fault for fault in found.faults)
