"""Single items for the report's browser, and the whole report."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import FAILED, ccrv_line, condchain_line, condchain_lines, vrex_line, write_run

from condchain_tasks.report import items
from condchain_tasks.report.build import build
from condchain_tasks.report.evaluations import Runs, read_runs
from condchain_tasks.report.items import MAX_TEXT, choose, read_items
from condchain_tasks.report.model import Item

PNG = b"\x89PNG\r\n\x1a\n"


def read(root: Path, most: int = 100) -> list[Item]:
    return list(read_items(read_runs([root]).evaluations, most)[0])


def data(root: Path) -> dict[str, Any]:
    return {"data": {"source": "folder", "root": str(root), "revision": "", "sha256": "0", "remarks": {}}}


# --- which


@given(st.lists(st.integers(1, 50), max_size=8), st.integers(0, 120))
def test_shares_are_as_equal_as_sizes_allow(sizes: list[int], most: int) -> None:
    shares = items._shares(sizes, most)
    assert sum(shares) == min(most, sum(sizes))
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    # A stratum that could give more gives at most one less than any other.
    assert all(share == size or share >= max(shares) - 1 for share, size in zip(shares, sizes, strict=True))


def test_wrong_ones_come_first_then_those_without_a_verdict(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("11111111110000"))
    verdicts = [(1, 1, 1), None, (0, 1, 1), None, (1, 1, 1), (1, 0, 0)]
    write_run(tmp_path, "lab/one", "ccrv", [ccrv_line(number, of) for number, of in enumerate(verdicts)])
    assert Counter(one.right for one in read(tmp_path, 6)) == {False: 6}
    assert Counter(one.right for one in read(tmp_path, 8)) == {False: 6, None: 2}
    assert Counter(one.right for one in read(tmp_path, 10)) == {False: 6, None: 2, True: 2}
    assert read_items(read_runs([tmp_path]).evaluations, 10)[1] == 10


def test_strata_give_the_same_number_and_are_evenly_drawn(tmp_path: Path) -> None:
    # All wrong: 20 true paths and 20 false paths.
    write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("0" * 40))
    (places,) = choose(read_runs([tmp_path]).evaluations, 10)
    assert places.tolist() == [0, 1, 8, 9, 16, 17, 24, 25, 32, 33]


def test_an_empty_choice() -> None:
    assert read_items((), 10) == ((), 0)


def test_lines_that_were_left_out_do_not_shift_the_others(tmp_path: Path) -> None:
    lines = condchain_lines("10111001")
    log = write_run(tmp_path, "lab/one", "condchain_natural", lines[:4])
    with log.open("a", encoding="utf-8") as file:
        file.write("{broken\n\n")
        file.writelines(json.dumps(line) + "\n" for line in [lines[1], *lines[4:]])  # one is there twice
        file.write('{"doc_id": 99, "path_f1"')
    found = read(tmp_path)
    assert [(one.key, one.right) for one in found] == [
        (f"natural-{number // 2:04}/{'false' if number % 2 else 'true'}", right == "1")
        for number, right in enumerate("10111001")
    ]


def test_a_log_that_changed_since_it_was_read_gives_no_wrong_item(tmp_path: Path) -> None:
    log = write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("1011"))
    runs = read_runs([tmp_path]).evaluations
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join([lines[0], " " * (len(lines[1]) - 1) + "\n", lines[3], lines[2]]), encoding="utf-8")
    found, left_out = read_items(runs, 10)
    assert ([one.key for one in found], left_out) == (["natural-0000/true"], 3)


# --- what they say


def test_an_item_of_condchain(tmp_path: Path) -> None:
    line = condchain_line(3, "<script>alert(1)</script> \\boxed{F1}")
    write_run(tmp_path, "lab/one", "condchain_natural", [line])
    (one,) = read(tmp_path)
    assert (one.model, one.task, one.key, one.right) == ("lab/one", "condchain_natural", "natural-0001/false", False)
    assert one.instruction == line["input"]
    assert one.reply == "<script>alert(1)</script> \\boxed{F1}"
    assert one.tags == {"domain": "natural", "path": "false", "diverges at": "layer 2", "read from": "boxed"}
    assert dict(one.details)["right answer"] == "A1"
    assert dict(one.details)["answer"] == "F1 (read from: boxed)"


def test_an_item_of_ccrv(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", [ccrv_line(0, (1, 0, 1), "Y1", reply="The ball rolls.")])
    (one,) = read(tmp_path)
    assert one.right is False
    assert (one.tags["cell"], one.tags["constraint kept"]) == ("X1 Y1", "no")
    details = dict(one.details)
    assert details["judge's verdict"] == "r1: 1, r2: 0, r3: 1"
    assert details["judge's reason"] == "So it is."
    assert details["DCR, %"] == "33.3"
    assert "ball" in details["why"]


def test_an_item_of_vrex(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "vrex_following", [vrex_line(0, "101")])
    (one,) = read(tmp_path)
    assert one.right is True
    assert one.tags == {"category": "deduction", "scenario": "maps", "mode": "following", "wrong steps": "1"}
    assert one.instruction == "Where does it end?"  # the log's input has the right history, which it did not see
    assert one.reply == "[1] (C)\n\n[2] (A)\n\n[3] (C)"
    details = dict(one.details)
    assert "(A) Option A  ← chosen\n" in details["step 2"]
    assert "(C) Option C  ← right\n" in details["step 2"]
    assert "(C) Option C  ← chosen  ← right\n" in details["step 3"]


def test_teacher_forced_steps_are_told_apart(tmp_path: Path) -> None:
    lines = [vrex_line(0, "10", step=step) | {"doc_id": step} for step in (1, 2)]
    write_run(tmp_path, "lab/one", "vrex_following_tf", lines)
    assert [(one.key, one.right) for one in read(tmp_path)] == [("v0/1", True), ("v0/2", False)]


def test_long_texts_are_cut_in_the_middle(tmp_path: Path) -> None:
    reply = "x" * 5_000 + "END \\boxed{F1}"
    write_run(tmp_path, "lab/one", "condchain_natural", [condchain_line(0, reply)])
    (one,) = read(tmp_path)
    assert len(one.reply) < MAX_TEXT + 100
    assert one.reply.endswith("END \\boxed{F1}")
    assert "1,014 characters are left out here" in one.reply


def test_a_log_with_fewer_fields_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    line = condchain_line(0)
    del line["path_f1"]["pred_lenient"]
    write_run(tmp_path, "lab/one", "condchain_natural", [line])
    (one,) = read(tmp_path)
    assert (one.key, one.right, one.details) == ("natural-0000/true", True, ())


# --- pictures


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    for name in ("images/natural/natural-0000.png", "images/gui/gui-0000/b.png", "images/gui/gui-0000/a.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(PNG)
    return root


def picture(root: Path, tmp_path: Path, image: str) -> str:
    line = condchain_line(0, image=image)
    write_run(tmp_path / "runs", "lab/one", "condchain_natural", [line], metadata=data(root))
    (one,) = read(tmp_path / "runs")
    return one.image


def test_a_picture_is_named_by_the_data_s_folder(pictures: Path, tmp_path: Path) -> None:
    image = "images/natural/natural-0000.png"
    assert picture(pictures, tmp_path, image) == str(pictures / image)


def test_of_a_folder_the_first_picture(pictures: Path, tmp_path: Path) -> None:
    assert picture(pictures, tmp_path, "images/gui/gui-0000") == str(pictures / "images/gui/gui-0000/a.png")


@pytest.mark.parametrize(
    "image",
    ["../secret.png", "images/../../secret.png", "/etc/hostname", "images/none.png", "", ".", "a\0b", "link.png"],
)
def test_no_picture_outside_the_folder(pictures: Path, tmp_path: Path, image: str) -> None:
    (pictures / "link.png").symlink_to(tmp_path / "secret.png")
    assert picture(pictures, tmp_path, image) == ""


def test_absolute_paths_are_no_pictures(pictures: Path, tmp_path: Path) -> None:
    assert picture(pictures, tmp_path, str(tmp_path / "secret.png")) == ""


@pytest.mark.parametrize("root", ["relative", "/no/such/folder", 7])
def test_data_that_are_not_here(tmp_path: Path, root: Any) -> None:
    line = condchain_line(0)
    write_run(tmp_path, "lab/one", "condchain_natural", [line], metadata={"data": {"root": root, "sha256": "0"}})
    (one,) = read(tmp_path)
    assert one.image == ""


def test_pictures_of_a_hub_snapshot_are_links_to_blobs(tmp_path: Path) -> None:
    blob = tmp_path / "hub" / "blobs" / "0123"
    root = tmp_path / "hub" / "snapshots" / "main"
    image = root / "images/natural/natural-0000.png"
    for path in (blob, image):
        path.parent.mkdir(parents=True)
    blob.write_bytes(PNG)
    image.symlink_to(blob)
    assert picture(root, tmp_path, "images/natural/natural-0000.png") == str(image)


# --- the whole report


def test_the_whole_report(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("111-0?11"))
    write_run(tmp_path, "lab/one", "condchain_natural_mini", condchain_lines("11"))
    write_run(tmp_path, "lab/one", "ccrv", [ccrv_line(0), ccrv_line(1, reply=FAILED)])
    write_run(tmp_path, "lab/one", "vrex_planning", [vrex_line(0, "11", "planning")])
    runs = read_runs([tmp_path])
    report = build(runs)
    assert [one.id for one in report.sections] == ["condchain", "condchain-mini", "ccrv", "vrex"]
    assert report.problems == runs.problems
    assert (len(report.items), report.left_out_items) == (13, 0)
    assert "lab/one" in report.title
    (provenance,) = report.provenance
    assert {(row[0], row[1], row[3]) for row in provenance.rows} == {
        ("lab/one", "condchain_natural", 8),
        ("lab/one", "condchain_natural_mini", 2),
        ("lab/one", "ccrv", 2),
        ("lab/one", "vrex_planning", 1),
    }
    ids = [one.id for section in report.sections for one in (*section.tables, *section.charts)]
    assert len(ids) == len(set(ids))
    tables = {one.id: one for section in report.sections for one in section.tables}
    for section in report.sections:
        for table in section.tables:
            assert all(len(row) == len(table.columns) for row in table.rows), table.id
        for chart in section.charts:
            assert chart.table in tables
            for series in chart.series:
                assert all(len(of) in (0, len(series.y)) for of in (series.z, series.low, series.high, series.text))
                if chart.kind != "heatmap":
                    assert len(series.x) == len(series.y)


def test_a_report_without_items_counts_them(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("1110"))
    report = build(read_runs([tmp_path]), with_items=False)
    assert (report.items, report.left_out_items) == ((), 4)


def test_older_runs_are_listed(tmp_path: Path) -> None:
    for date in ("20260101_080000", "20260102_080000"):
        write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("1110"), date=date)
    older = [one for one in build(read_runs([tmp_path])).provenance if one.id == "older-runs"]
    assert [row[2] for row in older[0].rows] == ["20260101_080000"]


def test_nothing_makes_an_empty_report() -> None:
    report = build(Runs((), (), ()))
    assert (report.sections, report.items, report.provenance) == ((), (), ())
