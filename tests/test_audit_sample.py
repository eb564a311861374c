"""Drawing replies for annotators: who is drawn, and what the sheet shows and hides."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_runs import GENERATION, ccrv_line, write_run
from typer.testing import CliRunner

from condchain_tasks.cli import app
from condchain_tasks.data.errors import DataError
from condchain_tasks.report import audit_sample
from condchain_tasks.report.audit import Judged, read_key
from condchain_tasks.report.audit_sample import MAX_CELL, Audit, AuditItem, write
from condchain_tasks.report.selection import select

XS = ("X1", "X2", "X3", "X4")
YS = ("base", "Y1", "Y2", "Y3", "Y4")
CELLS = tuple(product(XS, YS))
MODEL = "secret/model-7b"
DATE = "20250101_120000"


def record(x: str, y: str, number: int = 0, **more: Any) -> dict[str, Any]:
    base = y == "base"
    return {
        "key": f"{number}/{x}/0",
        "x": x,
        "y": y,
        "setting": "standard",
        "image": f"VG_images_test/{number}.jpg",
        "question": f"Question {number}",
        "reference": "The rope holds the lamp.",
        "adapted": "" if base else "Node_A holds Node_B.",
        "rationale": "It is taut.",
        "spec": "" if base else '{"forbidden_terms": ["rope"]}',
        "rubric_l1": "Names the rope.",
        "rubric_l2": "Says that it holds.",
        "rubric_l3": "Says that the lamp stays up.",
        "r1": 1,
        "r2": 0,
        "r3": 1,
        "csr": None if base else 1,
        "csr_raw_pixel": None,
        "l1": 1,
        "l2": 0,
        "l3": 0,
        "missing": [],
        "failed": False,
        "no_answer": False,
    } | more


def draw(run: Path, n: int, seed: int) -> Audit:
    return audit_sample.draw(select([run], benchmark="ccrv"), n, seed)


def log(folder: Path, records: Iterable[dict[str, Any]], reply: Any = "A reply.", **at: str) -> Path:
    """A sample log as lmms-eval writes it."""
    path = (
        folder
        / at.get("model", MODEL).replace("/", "__")
        / f"{at.get('date', DATE)}_samples_{at.get('task', 'ccrv')}.jsonl"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = (
        {"filtered_resps": reply, "dcr": {"image": one["image"]}, "dcr_base": one}
        if one["y"] == "base"
        else {"filtered_resps": reply, "dcr": one, "dcr_base": {"image": one["image"]}}
        for one in records
    )
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    return path


def all_cells(numbers: int) -> Iterator[dict[str, Any]]:
    return (record(x, y, number) for (x, y), number in product(CELLS, range(numbers)))


def one_item(**shown: str) -> Audit:
    judged = Judged(MODEL, "run/samples.jsonl", "1/X1/0", "X1", "Y1", 1, 1, 0, None)
    return Audit((AuditItem("a001", shown, judged),), missing=0, failed=0, controls=0)


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "sheet.csv").open(encoding="utf-8-sig", newline="") as sheet:
        return list(csv.DictReader(sheet))


# --- Who is drawn


def test_every_cell_gives_as_many(tmp_path: Path) -> None:
    log(tmp_path, all_cells(3))
    items = draw(tmp_path, 40, seed=0).items
    assert Counter((one.judged.x, one.judged.y) for one in items) == dict.fromkeys(CELLS, 2)
    assert len({(one.judged.key, one.judged.y) for one in items}) == 40
    assert [one.id for one in items] == [f"a{number:03d}" for number in range(1, 41)]
    order = [(one.judged.x, one.judged.y) for one in items]
    assert order != sorted(order)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_strata_are_as_even_as_they_can_be(data: st.DataObject) -> None:
    strata = list(product(("m1", "m2"), ("X1", "X3"), ("base", "Y2", "Y4")))
    sizes = data.draw(st.lists(st.integers(0, 4), min_size=len(strata), max_size=len(strata)).filter(any))
    n = data.draw(st.integers(1, sum(sizes)))
    with tempfile.TemporaryDirectory() as folder:
        for model in ("m1", "m2"):
            of_model = [(x, y, size) for (m, x, y), size in zip(strata, sizes, strict=True) if m == model]
            log(Path(folder), (record(x, y, i) for x, y, size in of_model for i in range(size)), model=model)
        drawn = draw(Path(folder), n, data.draw(st.integers(0, 9))).items
    counts = Counter((one.judged.model, one.judged.x, one.judged.y) for one in drawn)
    assert len(drawn) == n
    most = max(counts.values())
    for stratum, size in zip(strata, sizes, strict=True):
        assert counts[stratum] <= size
        assert counts[stratum] >= min(size, most - 1)


def test_a_sample_smaller_than_the_strata_spreads_over_cells_and_models(tmp_path: Path) -> None:
    for model in ("m1", "m2", "m3"):
        log(tmp_path, all_cells(1), model=model)
    drawn = draw(tmp_path, 20, seed=3).items
    assert Counter((one.judged.x, one.judged.y) for one in drawn) == dict.fromkeys(CELLS, 1)
    assert sorted(Counter(one.judged.model for one in drawn).values()) == [6, 7, 7]


def test_the_seed_decides_and_the_layout_of_the_files_does_not(tmp_path: Path) -> None:
    records = list(all_cells(4))
    log(tmp_path / "together", records)
    for x, y in CELLS:
        of_cell = [one for one in reversed(records) if (one["x"], one["y"]) == (x, y)]
        log(tmp_path / "apart", of_cell, task=f"ccrv_{x}_{y}".lower())

    def names(run: str, seed: int) -> list[tuple[str, str]]:
        return [(one.judged.key, one.judged.y) for one in draw(tmp_path / run, 30, seed).items]

    assert names("together", 1) == names("together", 1) == names("apart", 1)
    assert names("together", 1) != names("together", 2)


def test_what_has_no_verdict_is_left_out_and_counted(tmp_path: Path) -> None:
    log(
        tmp_path,
        [
            record("X1", "Y1", 0),
            record("X1", "Y1", 1, r1=None, r2=None, r3=None),
            record("X1", "Y1", 2, r1=0, r3=0, failed=True),
            record("X1", "Y3", 4, csr=None),
        ],
    )
    log(tmp_path, [record("X1", "Y1", 3, setting="textonly")], task="ccrv_textonly_y1")
    audit = draw(tmp_path, 2, seed=0)
    assert {one.judged.key for one in audit.items} == {"0/X1/0", "4/X1/0"}
    assert (audit.missing, audit.failed, audit.controls) == (1, 1, 1)
    with pytest.raises(DataError, match=r"expected n between 1 and 2, .* found 3\. Besides, 1 lack it .* 1 requests"):
        draw(tmp_path, 3, seed=0)
    with pytest.raises(DataError, match="expected n between 1 and 2"):
        draw(tmp_path, 0, seed=0)


def test_without_any_verdict_no_range_is_asked_for(tmp_path: Path) -> None:
    log(tmp_path, [record("X1", "Y1", 0, r1=None, r2=None, r3=None)])
    with pytest.raises(DataError, match=r": no reply has a verdict on all three layers, .* Besides, 1 lack it"):
        draw(tmp_path, 1, seed=0)


def test_of_two_runs_of_a_model_the_newer_counts(tmp_path: Path) -> None:
    log(tmp_path / "a", [record("X1", "Y1", 0, r1=1), record("X1", "Y1", 1)], date="20250202_000000")
    log(tmp_path / "b", [record("X1", "Y1", 0, r1=0), record("X1", "Y1", 1)], date="20250101_000000")
    audit = draw(tmp_path, 2, seed=0)
    assert {one.judged.key: one.judged.r1 for one in audit.items} == {"0/X1/0": 1, "1/X1/0": 1}
    assert all("20250202" in one.judged.run for one in audit.items)


def test_other_tasks_are_not_read(tmp_path: Path) -> None:
    log(tmp_path, [record("X1", "base")])
    other = tmp_path / MODEL.replace("/", "__") / f"{DATE}_samples_condchain_gui.jsonl"
    other.write_text("no JSON\n")
    assert len(draw(tmp_path, 1, seed=0).items) == 1
    assert select([other]).problems
    with pytest.raises(DataError, match="Found no samples of CCRV-Bench"):
        draw(other, 1, seed=0)


@pytest.mark.parametrize(
    ("change", "reply", "message"),
    [
        ({"r2": 2}, "A reply.", r"sample 1, key '0/X1/0', field r2: .* found '2'"),
        ({"question": None}, "A reply.", r"field question: .* found 'None'"),
        ({}, ["one", "two"], r"field filtered_resps: expected one text, found \"\['one', 'two'\]\""),
        ({}, None, r"field filtered_resps: expected one text, found 'None'"),
    ],
)
def test_a_sample_that_cannot_be_read(tmp_path: Path, change: dict[str, Any], reply: Any, message: str) -> None:
    path = log(tmp_path, [record("X1", "Y1") | change], reply)
    with pytest.raises(DataError, match=message) as error:
        draw(tmp_path, 1, seed=0)
    assert str(path) in str(error.value)


def test_why_nothing_can_be_read_is_said(tmp_path: Path) -> None:
    path = log(tmp_path, [record("X9", "Y1")])
    with pytest.raises(DataError, match=r"no samples of CCRV-Bench that can be read in .*: Holds no sound sample") as e:
        draw(tmp_path, 1, seed=0)
    assert str(path) in str(e.value)
    assert "field dcr.x" in select([tmp_path]).problems[-1].text


def test_two_settings_of_one_model_are_two_in_the_draw(tmp_path: Path) -> None:
    """In one folder, as lmms-eval lays them out; of each the newest whole run."""
    for date, temperature in ((DATE, 0.0), ("20250102_120000", 0.0), ("20250103_120000", 0.7)):
        lines = [ccrv_line(number) for number in range(3)]
        write_run(tmp_path, "m", "ccrv", lines, date=date, generation={**GENERATION, "temperature": temperature})
    items = draw(tmp_path, 6, seed=0).items
    assert Counter((one.judged.model, Path(one.judged.run).name[:15]) for one in items) == {
        ("m (temperature=0)", "20250102_120000"): 3,
        ("m (temperature=0.7)", "20250103_120000"): 3,
    }
    chosen = audit_sample.draw(select([tmp_path], benchmark="ccrv", run=DATE), 3, seed=0)
    assert {Path(one.judged.run).name[:15] for one in chosen.items} == {DATE}


def test_a_simulated_judge_is_said(tmp_path: Path) -> None:
    judge = {"model": "rules", "simulated": True, "prompts": []}
    run, out = tmp_path / "runs", tmp_path / "audit"
    write_run(run, "m", "ccrv", [ccrv_line(0), ccrv_line(1)], metadata={"judge": judge})
    done = CliRunner().invoke(app, ["audit", "sample", str(run), "--n", "2", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert done.output.count("NOTE  The judge rules is simulated: its verdicts are no results.") == 1


def test_a_record_without_a_field(tmp_path: Path) -> None:
    whole = record("X1", "Y1")
    del whole["rubric_l3"]
    log(tmp_path, [whole])
    with pytest.raises(DataError, match=r"field rubric_l3: Field required\. Was the sample logged by a ccrv task"):
        draw(tmp_path, 1, seed=0)


# --- What is written


def test_the_sheet_shows_the_item_and_hides_the_rest(tmp_path: Path) -> None:
    run = log(tmp_path / "run", [record("X2", "Y1", 5)], reply=["It holds."])
    audit = draw(tmp_path / "run", 1, seed=0)
    write(audit, tmp_path / "audit")
    assert (tmp_path / "audit" / "sheet.csv").read_bytes().startswith(b"\xef\xbb\xbfid,image,")
    assert rows_of(tmp_path / "audit") == [
        {
            "id": "a001",
            "image": "VG_images_test/5.jpg",
            "dimension": "X2",
            "constraint": "Y1",
            "constraint spec": '{"forbidden_terms": ["rope"]}',
            "question": "Question 5",
            "reference": "The rope holds the lamp.",
            "adapted reference": "Node_A holds Node_B.",
            "rationale": "It is taut.",
            "rubric L1": "Names the rope.",
            "rubric L2": "Says that it holds.",
            "rubric L3": "Says that the lamp stays up.",
            "reply": "It holds.",
            **dict.fromkeys(("L1", "L2", "L3", "CSR", "note"), ""),
        }
    ]
    assert json.loads((tmp_path / "audit" / "key.json").read_text()) == {
        "a001": {
            "model": MODEL,
            "run": str(run),
            "key": "5/X2/0",
            "x": "X2",
            "y": "Y1",
            "r1": 1,
            "r2": 0,
            "r3": 1,
            "csr": 1,
        }
    }
    assert read_key(tmp_path / "audit" / "key.json") == {"a001": audit.items[0].judged}


def test_the_sheet_does_not_tell_model_run_or_judge(tmp_path: Path) -> None:
    log(tmp_path / "unspoken", [one | {"dcr_reasoning": "JUDGED"} for one in all_cells(2)])
    write(draw(tmp_path, 40, seed=0), tmp_path / "audit")
    sheet = (tmp_path / "audit" / "sheet.csv").read_text(encoding="utf-8-sig")
    for hidden in (MODEL, "unspoken", DATE, "JUDGED", "/X1/"):
        assert hidden not in sheet


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("＝1", "'＝1"),
        ("\tindented", "'\tindented"),
        ("\r=1", "'\n=1"),
        ("  =1", "'  =1"),
        ("\x00=1", "'=1"),
        ("1 = 1", "1 = 1"),
        ("a\x00\x1b[31m\x85b", "a[31mb"),
        ("two\r\nlines\rmore\tand, \"quoted\"; 'as well'", "two\nlines\nmore\tand, \"quoted\"; 'as well'"),
        ("\ud800", "?"),
        ("دفع 👍 é", "دفع 👍 é"),
        ("", ""),
    ],
)
def test_a_cell_is_text_and_stays_text(tmp_path: Path, text: str, cell: str) -> None:
    write(one_item(image=text, reply=text), tmp_path)
    row = rows_of(tmp_path)[0]
    assert row["image"] == row["reply"] == cell


def test_a_long_reply_is_cut_in_the_middle(tmp_path: Path) -> None:
    write(one_item(reply="=" + "a" * (MAX_CELL + 1_233) + "b"), tmp_path)
    cell = rows_of(tmp_path)[0]["reply"]
    assert cell.startswith("'=aaa") and cell.endswith("ab")
    assert "[1,235 characters are left out here]" in cell
    assert len(cell) < MAX_CELL + 100


@pytest.mark.parametrize("name", ["sheet.csv", "key.json"])
def test_nothing_is_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("work")
    with pytest.raises(DataError, match=f"{name} exists"):
        write(one_item(reply="A reply."), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "work"
