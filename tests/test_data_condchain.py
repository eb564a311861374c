"""MM-CondChain's files, good, old and bad: one row a path, or one error that names the place."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import official
import pyarrow.parquet as pq
import pytest
from PIL import Image

from condchain_tasks.data import cache, condchain
from condchain_tasks.data.condchain import prepare, read
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.sources import Source

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset, and an empty cache."""
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "cache"))
    return official.write_dataset(tmp_path / "data")


def source(root: Path) -> Source:
    return Source(root, "folder")


def rows_of(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def change_record(root: Path, domain: str, change: Change, number: int = 1) -> None:
    path = root / "data" / f"{domain}.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    change(records[number])
    official.write_records(root, domain, records)


def test_one_row_a_path_true_and_false_adjacent(root: Path) -> None:
    rows = rows_of(prepare(source(root), "chart").rows)
    assert [(row["pair"], row["path"]) for row in rows] == [
        (f"chart-{number}", path) for number in range(3) for path in ("true", "false")
    ]
    row = rows[3]  # the false path of the second chain, which has three layers and stops at the first
    assert row["images"] == [str(root / "images/chart/chart1.png")]
    assert row["image"] == "images/chart/chart1.png"
    assert (row["gold"], row["gold_true"], row["gold_false"]) == ("A1", "C2", "A1")
    assert (row["diverge_layer"], row["depth"], row["operators"], row["complexity"]) == (1, 3, 1.0, "simple")
    assert row["labels"] == ["A1", "A2", "B1", "B2", "C1", "C2"]
    assert "blue" in row["instruction"]
    assert "blue" not in rows[2]["instruction"]


def test_gui_frames_in_lexicographic_order_and_the_chronological_variant(root: Path) -> None:
    folder = root / "images/gui/gui0"
    shutil.rmtree(folder)
    for number in range(12):
        official.picture(folder / f"gui0_{number}.png", f"gui0_{number}")

    def order(variant: condchain.FrameOrder) -> list[str]:
        row = rows_of(prepare(source(root), "gui", variant).rows)[0]
        return [Path(path).stem.partition("_")[2] for path in row["images"]]

    assert order("lexicographic") == ["0", "1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9"]
    assert order("chronological") == [str(number) for number in range(12)]
    remarks = prepare(source(root), "gui").remarks
    assert remarks == {"trajectories whose lexicographic order of frames is not the chronological one": 1}


def test_old_records_are_read(root: Path) -> None:
    def age(record: dict[str, Any]) -> None:
        record["image_path"] = record.pop("image")
        del record["id"]

    change_record(root, "chart", age)
    rows = rows_of(prepare(source(root), "chart").rows)
    assert [row["id"] for row in rows[2:4]] == ["2", "2"]
    assert rows[2]["image"] == "images/chart/chart1.png"


@pytest.mark.parametrize(
    "encode",
    [
        lambda records: json.dumps(records, indent=1).encode(),
        lambda records: b"\xef\xbb\xbf" + json.dumps(records).encode(),
        lambda records: b"\xef\xbb\xbf" + "\n".join(map(json.dumps, records)).encode(),
        lambda records: "\r\n\r\n".join(map(json.dumps, records)).encode() + b"\r\n  \r\n",
        lambda records: b"\n\n" + "\n".join(map(json.dumps, records)).encode(),
    ],
    ids=["array", "array with BOM", "lines with BOM", "CRLF and blank lines", "blank lines first"],
)
def test_files_in_other_shapes(root: Path, encode: Callable[[list[dict[str, Any]]], bytes]) -> None:
    path = root / "data" / "chart.jsonl"
    before = rows_of(prepare(source(root), "chart").rows)
    path.write_bytes(encode([json.loads(line) for line in path.read_text().splitlines()]))
    assert rows_of(prepare(source(root), "chart").rows) == before


def set_field(*names: str, to: Any) -> Change:
    def change(record: dict[str, Any]) -> None:
        for name in names[:-1]:
            record = record[name]
        record[names[-1]] = to

    return change


def drop(*names: str) -> Change:
    def change(record: dict[str, Any]) -> None:
        for name in names[:-1]:
            record = record[name]
        del record[names[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (drop("true_path"), "true_path"),
        (drop("domain"), "domain"),
        (set_field("image", to="images/chart/\x1b]0;x\x07\n.png"), "image"),
        (drop("image"), "image"),
        (drop("false_path", "full_instruction"), "false_path.full_instruction"),
        (drop("false_path", "diverge_node"), "false_path.diverge_node"),
        (drop("true_path", "correct_answer"), "true_path.correct_answer"),
        (set_field("true_path", to="text"), "true_path"),
        (set_field("true_path", "full_instruction", to=7), "true_path.full_instruction"),
        (set_field("true_path", "full_instruction", to=""), "true_path.full_instruction"),
        (set_field("true_path", "correct_answer", to=["A1"]), "true_path.correct_answer"),
        (set_field("domain", to="video"), "domain"),
        (set_field("domain", to="gui"), "domain"),
        (set_field("id", to={"a": 1}), "id"),
        (set_field("image", to=None), "image"),
        (set_field("image", to="images/chart/none.png"), "image"),
        (set_field("image", to="../data/images/chart/chart0.png"), "image"),
        (set_field("image", to="images/chart/../chart/chart0.png"), "image"),
        (set_field("image", to="/etc/passwd"), "image"),
        (set_field("image", to="images/chart/a\0b.png"), "image"),
        (set_field("image", to="images/" + "a" * 900), "image"),
        (set_field("image", to="data/chart.jsonl"), "image"),
    ],
)
def test_a_bad_record_is_one_error_that_names_the_place(root: Path, change: Change, field: str) -> None:
    change_record(root, "chart", change)
    with pytest.raises(DataError) as caught:
        prepare(source(root), "chart")
    message = str(caught.value)
    assert f"{root / 'data' / 'chart.jsonl'}, line 2" in message
    assert f"field {field}" in message
    assert message.isprintable()
    assert not list((cache.cache_root() / "condchain").glob("*.parquet"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{not json", "line 2: is no JSON"),
        (b"[1, 2]", "line 2: expected a JSON object, found list"),
        (b'"text"', "line 2: expected a JSON object, found str"),
        (b'{"id": "\xff\xfe"}', "line 2: is no JSON"),
        (b"[" * 100_000, "line 2: is no JSON"),
    ],
)
def test_a_malformed_line(root: Path, line: bytes, reason: str) -> None:
    path = root / "data" / "chart.jsonl"
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([lines[0], line, lines[2]]))
    with pytest.raises(DataError, match=reason):
        prepare(source(root), "chart")


@pytest.mark.parametrize("content", [b"", b"\n\n", b"[]", b"[{]"])
def test_a_file_without_records(root: Path, content: bytes) -> None:
    (root / "data" / "chart.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=r"chart\.jsonl (has no records|is no JSON)"):
        prepare(source(root), "chart")


def test_a_missing_file(root: Path) -> None:
    (root / "data" / "chart.jsonl").unlink()
    with pytest.raises(DataError, match=r"chart\.jsonl does not exist"):
        prepare(source(root), "chart")


def test_all_faults_are_counted_and_the_first_is_told(root: Path) -> None:
    for number in (0, 2):
        change_record(root, "chart", drop("true_path"), number)
    with pytest.raises(DataError, match=r"line 1.*\(and 1 more: `condchain data check condchain .*` lists them\)"):
        prepare(source(root), "chart")
    assert len(read(source(root), "chart").faults) == 2
    assert len(read(source(root), "chart").rows) == 2


def test_gui_folders(root: Path) -> None:
    folder = root / "images/gui/gui1"
    shutil.rmtree(folder)
    with pytest.raises(DataError, match=r"line 2, id 'gui-1', field image: the trajectory folder .* does not exist"):
        prepare(source(root), "gui")
    folder.mkdir()
    with pytest.raises(DataError, match=r"line 2, id 'gui-1', field image: .* holds no screenshot"):
        prepare(source(root), "gui")
    (folder / "notes.txt").write_text("no picture")
    official.picture(folder / "gui1_0.png", "0")
    prepare(source(root), "gui")


def test_a_truncated_picture(root: Path) -> None:
    path = root / "images/gui/gui1/gui1_1.png"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"line 2, id 'gui-1', field image: .*gui1_1\.png is truncated"):
        prepare(source(root), "gui")


def test_links_out_of_the_folder(root: Path, tmp_path: Path) -> None:
    outside = official.picture(tmp_path / "outside" / "a.png", "outside")
    path = root / "images/chart/chart1.png"
    path.unlink()
    path.symlink_to(outside)
    with pytest.raises(DataError, match=r"line 2, id 'chart-1', field image: .* leads out of the data folder"):
        prepare(source(root), "chart")
    path.unlink()
    path.symlink_to(root / "images/chart/chart0.png")  # a link inside is fine
    prepare(source(root), "chart")


def test_a_linked_trajectory_folder(root: Path, tmp_path: Path) -> None:
    official.picture(tmp_path / "outside" / "gui1_0.png", "outside")
    shutil.rmtree(root / "images/gui/gui1")
    (root / "images/gui/gui1").symlink_to(tmp_path / "outside")
    with pytest.raises(DataError, match=r"id 'gui-1', field image: .* leads out of the data folder"):
        prepare(source(root), "gui")


def test_oddities_are_counted_and_scored_all_the_same(root: Path) -> None:
    change_record(root, "chart", set_field("true_path", "correct_answer", to="Z9"), 0)
    change_record(root, "chart", set_field("id", to="chart-0"), 1)
    change_record(root, "chart", set_field("false_path", "pseudocode", to="whenever (:"), 2)
    change_record(root, "chart", set_field("false_path", "diverge_node", to="the first"), 2)
    official.picture(root / "images/chart/unused.png", "unused")
    prepared = prepare(source(root), "chart")
    assert prepared.remarks == {
        "paths with a right label that no option shows": 1,
        "ids that occur more than once": 1,
        "chains with pseudocode that cannot be read": 1,
        "chains with a diverge_node that cannot be read": 1,
        "pictures that no record uses": 1,
    }
    rows = rows_of(prepared.rows)
    assert [row["pair"] for row in rows] == ["chart-0"] * 2 + ["chart-0@2"] * 2 + ["chart-2"] * 2
    assert (rows[5]["depth"], rows[5]["operators"], rows[5]["complexity"]) == (0, -1.0, "unknown")
    assert rows[5]["diverge_layer"] == 0


def test_null_is_the_label_none(root: Path) -> None:
    change_record(root, "chart", set_field("true_path", "correct_answer", to=None))
    assert rows_of(prepare(source(root), "chart").rows)[2]["gold"] == "None"


def test_prepared_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = prepare(source(root), "chart")
    monkeypatch.setattr(condchain, "read", lambda *_: pytest.fail("read again"))
    assert prepare(source(root), "chart") == first


def test_the_hash_is_that_of_the_content_wherever_it_lies(root: Path, tmp_path: Path) -> None:
    first = prepare(source(root), "gui")
    shutil.copytree(root, tmp_path / "copy")
    (root / "images/gui/gui0/gui0_0.png").touch()
    assert prepare(source(tmp_path / "copy"), "gui").sha256 == first.sha256
    assert prepare(source(root), "gui").sha256 == first.sha256
    change_record(root, "gui", set_field("true_path", "correct_answer", to="A2"))
    assert prepare(source(root), "gui").sha256 != first.sha256


@pytest.mark.parametrize("what", ["linked folder", "elsewhere"])
def test_pictures_in_unusual_places_are_watched_too(root: Path, what: str) -> None:
    place = root / "pictures"
    if what == "linked folder":
        (root / "images/gui/gui1").rename(place)
        (root / "images/gui/gui1").symlink_to(place)
    else:
        (root / "images/gui/gui1").rename(place)
        change_record(root, "gui", set_field("image", to="pictures"))
    prepare(source(root), "gui")
    (place / "gui1_2.png").unlink()
    rows = rows_of(prepare(source(root), "gui").rows)
    assert len(rows[2]["images"]) == 2
    for path in place.iterdir():
        path.unlink()
    with pytest.raises(DataError, match="holds no screenshot"):
        prepare(source(root), "gui")


def test_what_systems_leave_in_folders_is_no_picture(root: Path) -> None:
    folder = root / "images/gui/gui1"
    (folder / "._gui1_0.png").write_bytes(b"resource fork")
    (folder / "Thumbs.db").write_bytes(b"thumbnails")
    (folder / "old.png").mkdir()
    prepared = prepare(source(root), "gui")
    assert len(rows_of(prepared.rows)[2]["images"]) == 3
    assert prepared.remarks == {}


def test_an_id_that_looks_like_a_date_stays_as_it_is(root: Path) -> None:
    change_record(root, "chart", set_field("id", to="2024-01-01"))
    assert rows_of(prepare(source(root), "chart").rows)[2]["id"] == "2024-01-01"


def test_pairs_stay_apart_whatever_the_ids_are(root: Path) -> None:
    for number, name in enumerate(["a@3", "a", "a"]):
        change_record(root, "chart", set_field("id", to=name), number)
    assert len({row["pair"] for row in rows_of(prepare(source(root), "chart").rows)}) == 3


def test_pseudocode_is_read_within_bounds(root: Path) -> None:
    lines = "\n".join(f"if (a{number}):" for number in range(80_000))
    change_record(root, "chart", set_field("true_path", "pseudocode", to=lines))
    assert rows_of(prepare(source(root), "chart").rows)[2]["complexity"] == "unknown"


def test_a_folder_in_place_of_a_file(root: Path) -> None:
    (root / "data" / "chart.jsonl").unlink()
    (root / "data" / "chart.jsonl").mkdir()
    with pytest.raises(DataError, match=r"chart\.jsonl is no regular file"):
        prepare(source(root), "chart")


def test_records_that_lead_out_of_the_folder(root: Path, tmp_path: Path) -> None:
    path = root / "data" / "chart.jsonl"
    path.rename(tmp_path / "outside.jsonl")
    path.symlink_to(tmp_path / "outside.jsonl")
    with pytest.raises(DataError, match="leads out of the data folder"):
        prepare(source(root), "chart")


@pytest.mark.parametrize("name", ["a[b]", "a*", "c::d"])
def test_a_cache_folder_that_reads_as_a_pattern(root: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("CONDCHAIN_CACHE", str(root.parent / name))
    with pytest.raises(DataError, match="Set CONDCHAIN_CACHE to one without"):
        prepare(source(root), "chart")


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".thing-abc").mkdir()
    cache.made_once(tmp_path / "thing", lambda path: path.write_text("whole"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thing", "thing.lock"]


@pytest.mark.parametrize("what", ["record", "picture", "new picture"])
def test_rebuilt_when_the_source_changes(root: Path, what: str) -> None:
    first = prepare(source(root), "chart")
    if what == "record":
        change_record(root, "chart", set_field("true_path", "correct_answer", to="A2"))
    elif what == "picture":
        Image.new("RGB", (80, 80)).save(root / "images/chart/chart1.png")
    else:
        official.picture(root / "images/chart/more.png", "more")
    second = prepare(source(root), "chart")
    assert second.rows != first.rows
    assert (second.sha256 != first.sha256) == (what != "new picture")  # no record uses the new one
    assert first.rows.is_file()


def _prepare_in_process(root: str, cache_folder: str, start: Any, results: Any) -> None:
    os.environ["CONDCHAIN_CACHE"] = cache_folder
    start.wait()
    results.put(str(prepare(Source(Path(root), "folder"), "gui").rows))


def test_many_processes_start_together(root: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(4), context.Queue()
    arguments = (str(root), str(tmp_path / "shared"), start, results)
    processes = [context.Process(target=_prepare_in_process, args=arguments) for _ in range(4)]
    for process in processes:
        process.start()
    paths = {results.get(timeout=60) for _ in processes}
    for process in processes:
        process.join()
    assert len(paths) == 1
    assert len(rows_of(Path(paths.pop()))) == 6
    (left,) = [path for path in (tmp_path / "shared" / "condchain").iterdir() if path.suffix != ".lock"]
    assert left.suffix == ".parquet"


def test_what_was_half_made_is_not_seen(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        cache.made_once(tmp_path / "thing", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["thing.lock"]
