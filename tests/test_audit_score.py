"""Comparing annotators with each other and with the judge: figures worked out by hand, and sheets of every sort."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from condchain_tasks.data.errors import DataError
from condchain_tasks.report.audit import KEY_FILE, Judged, read_key
from condchain_tasks.report.audit_sample import Audit, AuditItem, write
from condchain_tasks.report.audit_score import Agreement, Consensus, Levels, Measure, score
from condchain_tasks.report.audit_sheets import read_sheet
from condchain_tasks.report.audit_tables import render

HEADER = ["id", "image", "reply", "L1", "L2", "L3", "CSR", "note"]


def audit(folder: Path, ys: Sequence[str], judge: Sequence[str], annotators: Sequence[Sequence[str]]) -> Agreement:
    """Scores an audit. Verdicts are four characters an item, L1 L2 L3 CSR, each 0, 1 or a dot for none."""
    names = [f"a{number:03d}" for number in range(1, len(ys) + 1)]
    hidden = {}
    for name, y, verdicts in zip(names, ys, judge, strict=True):
        r1, r2, r3, csr = (None if verdict == "." else int(verdict) for verdict in verdicts)
        hidden[name] = Judged("m", "run", f"{name}/X1/0", "X1", y, r1, r2, r3, csr)  # type: ignore[arg-type]
    key = folder / "key.json"
    key.write_bytes(KEY_FILE.dump_json(hidden))
    sheets = []
    for number, given_by in enumerate(annotators):
        rows = [[name, "", "", *verdicts.replace(".", " "), ""] for name, verdicts in zip(names, given_by, strict=True)]
        sheets.append(sheet(folder / f"sheet{number}.csv", [HEADER, *rows]))
    return score(sheets, key)


def sheet(path: Path, rows: Sequence[Sequence[str]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


def measure(agreement: Agreement, name: str) -> Measure:
    return next(one for one in agreement.measures if one.name == name)


# --- Figures


def test_figures_by_hand(tmp_path: Path) -> None:
    found = audit(
        tmp_path,
        ["Y1", "Y1", "Y1", "Y1"],
        judge=["1110", "0110", "0001", "0011"],
        annotators=[
            ["1111", "1111", "0000", "0110"],
            ["1111", "1111", "0000", "0110"],
            ["1111", "0111", "0000", "1110"],
        ],
    )
    # L1: the annotators' rows are 111, 110, 000, 001. Pairs of them agree in 1, 1/3, 1, 1/3 of the cases, 2/3 in all;
    # half of the verdicts are 1, so chance is 1/2, and kappa (2/3 - 1/2) / (1/2) = 1/3.
    # The majority is 1, 1, 0, 0 and the judge 1, 0, 0, 0: 3 of 4 agree; chance is 1/2 · 1/4 + 1/2 · 3/4 = 1/2.
    assert asdict(measure(found, "L1")) == pytest.approx(
        {
            "name": "L1",
            "annotated": 4,
            "unanimous": 50.0,
            "fleiss_kappa": 1 / 3,
            "ties": 0,
            "n": 4,
            "agreement": 75.0,
            "cohens_kappa": 0.5,
        }
    )
    # L2 and L3: 111, 111, 000, 111. The judge's L2 is 1, 1, 0, 0: chance is 3/4 · 1/2 + 1/4 · 1/2. L3 is 1, 1, 0, 1.
    assert measure(found, "L2") == Measure("L2", 4, 100.0, 1.0, 0, 4, 75.0, 0.5)
    assert measure(found, "L3") == Measure("L3", 4, 100.0, 1.0, 0, 4, 100.0, 1.0)
    # Chain: 111, 110, 000, 001, as L1; the majority's is 1, 1, 0, 0, the judge's 1, 0, 0, 0.
    chain = measure(found, "chain")
    assert (chain.unanimous, chain.agreement) == (50.0, 75.0)
    assert (chain.fleiss_kappa, chain.cohens_kappa) == (pytest.approx(1 / 3), pytest.approx(0.5))
    # Patterns: of all twelve 6 are 111, 3 are 011 and 3 are 000, so chance is 1/4 + 1/16 + 1/16 = 3/8, and kappa
    # (2/3 - 3/8) / (5/8) = 7/15. The majority's are 111, 111, 000, 011, the judge's 111, 011, 000, 001: half agree.
    # Chance is 1/2 · 1/4 for 111, 1/4 · 1/4 for 011 and for 000: 1/4 in all, and kappa (1/2 - 1/4) / (3/4) = 1/3.
    pattern = measure(found, "pattern")
    assert (pattern.unanimous, pattern.agreement) == (50.0, 50.0)
    assert (pattern.fleiss_kappa, pattern.cohens_kappa) == (pytest.approx(7 / 15), pytest.approx(1 / 3))
    # CSR: 1, 1, 0, 0 by all three, and 0, 0, 1, 1 by the judge: nothing agrees, where chance is 1/2.
    assert measure(found, "CSR") == Measure("CSR", 4, 100.0, 1.0, 0, 4, 0.0, -1.0)
    assert (found.annotators, found.items) == (3, 4)


def test_three_annotators_with_unequal_margins(tmp_path: Path) -> None:
    # Rows 111, 111, 110, 100, 000: pairs agree in 1, 1, 1/3, 1/3, 1, 11/15 in all. 9 of 15 verdicts are 1, so chance is
    # 0.36 + 0.16 = 0.52, and kappa (11/15 - 13/25) / (12/25) = (16/75) / (36/75) = 4/9.
    annotators = [["1...", "1...", "1...", "1...", "0..."]]
    annotators += [["1...", "1...", "1...", "0...", "0..."], ["1...", "1...", "0...", "0...", "0..."]]
    found = audit(tmp_path, ["base"] * 5, ["111."] * 5, annotators)
    assert measure(found, "L1").fleiss_kappa == pytest.approx(4 / 9)
    assert measure(found, "L1").unanimous == 60.0
    assert measure(found, "L1").cohens_kappa == 0.0  # a judge who always says 1 agrees by chance alone
    assert measure(found, "L2") == Measure("L2", 0, None, None, 0, 0, None, None)
    assert found.cascades == found.directions == ()


def test_cascade_of_the_majority(tmp_path: Path) -> None:
    found = audit(
        tmp_path,
        ["base", "base", "Y4", "Y4"],
        judge=["111.", "111.", "1011", "0111"],
        annotators=[
            ["111.", "101.", "1101", "0111"],
            ["111.", "100.", "1100", "0011"],
            ["011.", "001.", "0111", "1111"],
        ],
    )
    # The majority's layers are 111, 101, 110, 011; in cascade 111, 100, 110, 000.
    assert [one.majority for one in found.consensus] == [
        {"L1": 1, "L2": 1, "L3": 1, "CSR": None},
        {"L1": 1, "L2": 0, "L3": 1, "CSR": None},
        {"L1": 1, "L2": 1, "L3": 0, "CSR": 1},
        {"L1": 0, "L2": 1, "L3": 1, "CSR": 1},
    ]
    by_y = {one.y: one for one in found.cascades}
    assert list(by_y) == ["all", "base", "Y4"]
    assert [one.n for one in found.cascades] == [4, 2, 2]
    assert asdict(by_y["base"].human) == pytest.approx({"l1": 100, "l2": 50, "l3": 50, "dcr": 200 / 3})
    assert asdict(by_y["Y4"].human) == pytest.approx({"l1": 50, "l2": 50, "l3": 0, "dcr": 100 / 3})
    assert asdict(by_y["all"].human) == pytest.approx({"l1": 75, "l2": 50, "l3": 25, "dcr": 50})
    # The judge's 101 and 011 are 100 and 000 in cascade.
    assert by_y["base"].judge == Levels(100.0, 100.0, 100.0, 100.0)
    assert asdict(by_y["Y4"].judge) == pytest.approx({"l1": 50, "l2": 0, "l3": 0, "dcr": 50 / 3})


def test_direction(tmp_path: Path) -> None:
    judge = ["110.", "1001", "1111", "1101", "1100"]
    people = ["110.", "1111", "1111", "1101", "1001"]
    found = audit(tmp_path, ["base", "Y1", "Y2", "Y3", "Y4"], judge, [people, people])
    drops = {one.y: (one.human, one.judge, one.alike) for one in found.directions}
    assert drops == {
        "Y1": (pytest.approx(-100 / 3), pytest.approx(100 / 3), False),
        "Y2": (pytest.approx(-100 / 3), pytest.approx(-100 / 3), True),
        "Y3": (0, 0, True),
        "Y4": (pytest.approx(100 / 3), 0, False),
    }


def test_equal_means_have_no_direction(tmp_path: Path) -> None:
    # 1/3 in each of three items, and 1, 0, 0: equal, though the sums of the layers differ.
    verdicts = ["100.", "100.", "100.", "1111", "0001", "0001"]
    found = audit(tmp_path, ["base"] * 3 + ["Y2"] * 3, verdicts, [verdicts])
    assert [(one.human, one.judge, one.alike) for one in found.directions] == [(0, 0, True)]


def test_without_baseline_items_there_is_no_direction(tmp_path: Path) -> None:
    assert audit(tmp_path, ["Y1"], ["1111"], [["1111"], ["1111"]]).directions == ()


def test_ties_have_no_majority_and_are_counted(tmp_path: Path) -> None:
    found = audit(
        tmp_path,
        ["base", "base", "base"],
        judge=["111.", "111.", "111."],
        annotators=[["111.", "110.", "000."], ["110.", "010.", "0.0."]],
    )
    l1, l3, chain = (measure(found, name) for name in ("L1", "L3", "chain"))
    assert (l1.ties, l1.n, l1.annotated, l1.agreement) == (1, 2, 3, 50.0)
    assert (l3.ties, l3.n, l3.agreement) == (1, 2, 0.0)
    assert (measure(found, "L2").ties, measure(found, "L2").annotated, measure(found, "L2").n) == (0, 2, 3)
    assert (chain.ties, chain.n, chain.annotated) == (2, 1, 2)  # tied items' chains are not known
    assert found.consensus[0].majority == {"L1": 1, "L2": 1, "L3": None, "CSR": None}
    assert [one.n for one in found.cascades] == [1, 1]


def test_kappa_is_undefined_if_there_is_one_verdict_throughout(tmp_path: Path) -> None:
    found = audit(tmp_path, ["base", "base"], ["111.", "111."], [["11..", "10.."], ["11..", "11.."]])
    assert measure(found, "L1") == Measure("L1", 2, 100.0, None, 0, 2, 100.0, None)
    assert measure(found, "L2").fleiss_kappa == pytest.approx(-1 / 3)  # 1/2 of pairs, where chance is 10/16
    assert "undefined" in shown(found)


def test_one_annotator_is_compared_with_the_judge_alone(tmp_path: Path) -> None:
    found = audit(tmp_path, ["base", "Y3"], ["111.", "0001"], [["111.", "1001"]])
    assert measure(found, "L1") == Measure("L1", 2, None, None, 0, 2, 50.0, 0.0)
    assert "undefined" not in shown(found).split("Majority against the judge")[0]


def test_the_baseline_has_no_constraint_and_a_missing_verdict_is_none(tmp_path: Path) -> None:
    found = audit(tmp_path, ["base", "Y3", "Y3"], ["111.", "111.", "1111"], [["1111", "1111", "1110"]] * 2)
    csr = measure(found, "CSR")
    assert (csr.annotated, csr.n, csr.agreement) == (2, 1, 0.0)


VERDICT = st.tuples(*[st.sampled_from("01")] * 3).map(lambda layers: "".join(layers) + ".")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(VERDICT, VERDICT, VERDICT, VERDICT), min_size=1, max_size=12))
def test_bounds_and_the_order_of_annotators(
    tmp_path_factory: pytest.TempPathFactory, items: list[tuple[str, str, str, str]]
) -> None:
    judge, *annotators = ([item[place] for item in items] for place in range(4))
    folder = tmp_path_factory.mktemp("audit")
    found = audit(folder, ["base"] * len(items), judge, annotators)
    again = audit(folder, ["base"] * len(items), judge, annotators[::-1])
    for one, other in zip(found.measures, again.measures, strict=True):
        assert asdict(one) == pytest.approx(asdict(other))
        assert one.ties == 0 and one.annotated in (0, len(items))
        assert one.fleiss_kappa is None or -0.5 - 1e-9 <= one.fleiss_kappa <= 1 + 1e-9
    layers = [measure(found, name) for name in ("L1", "L2", "L3")]
    pattern = measure(found, "pattern")
    assert pattern.unanimous is not None and pattern.agreement is not None
    assert pattern.unanimous <= min(one.unanimous or 0.0 for one in layers)
    assert pattern.agreement <= min(one.agreement or 0.0 for one in layers)
    human = found.cascades[0].human
    assert human.l3 <= human.l2 <= human.l1
    assert human.dcr == pytest.approx((human.l1 + human.l2 + human.l3) / 3)


# --- Sheets


IDS = ("a001", "a002")
FILLED = {
    "a001": {"L1": 1, "L2": 0, "L3": None, "CSR": None},
    "a002": {"L1": 0, "L2": 1, "L3": 1, "CSR": 1},
}


@pytest.mark.parametrize(
    "content",
    [
        "id,L1,L2,L3,CSR\na001,1,0,,\na002,0,1,1,1\n",
        "\ufeffid,L1,L2,L3,CSR\r\na001,1,0,,\r\na002,0,1,1,1\r\n",
        "id;L1;L2;L3;CSR\na001;1,0;0,0;;\na002;0;1;1;1\n",
        "id\tL1\tL2\tL3\tCSR\na001\t1\t0\t\t\na002\t0\t1\t1\t1\n",
        '"id","L1","L2","L3","CSR"\n"a001","1","0","",""\n"a002","0","1","1","1"\n',
        "CSR,mine,L3,L2,L1,id,,\n1,x,1,1,0,a002,,\n,=1,,0,1,a001,,\n",
        "id,L1,L2,L3,CSR\n,,,,\na001, Yes ,NO,,\n\na002,0.0,1.0,TRUE,yes\n,,,,\n",
        'id,reply,L1,L2,L3,CSR\na001,"two\nlines; and ""more""",1,0,,\na002,,0,1,1,1',
    ],
)
def test_what_spreadsheets_make_of_a_sheet(tmp_path: Path, content: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(content, encoding="utf-8", newline="")
    assert read_sheet(path, IDS) == FILLED


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "mac-roman"])
def test_encodings_of_spreadsheets(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("id\treply\tL1\tL2\tL3\tCSR\na001\té“\t1\t0\t\t\na002\té\t0\t1\t1\t1\n", encoding=encoding)
    assert read_sheet(path, IDS) == FILLED


def test_csr_may_be_left_out(tmp_path: Path) -> None:
    path = sheet(tmp_path / "sheet.csv", [["id", "L1", "L2", "L3"], ["a001", "1", "1", "1"]])
    assert read_sheet(path, ["a001"]) == {"a001": {"L1": 1, "L2": 1, "L3": 1, "CSR": None}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,L1,L2,L3\na001,1,2,1\na002,,,\n", "row 2, column L2: expected 0 or 1, or nothing .* found '2'"),
        ("id,L1,L2,L3\na001,1,1,1\n\na002,,,maybe\n", "row 4, column L3: expected 0 or 1, .* found 'maybe'"),
        ("id,L1,L2,L3\na001,1,1,1\na002,,x,y\n", "row 3, column L2: .* found 'x'; row 3, column L3: .* found 'y'"),
        ("id,L1,L2,L3\na001,1,1,1\na003,1,1,1\n", "row 3, column id: expected an id that the key has, found 'a003'"),
        ("id,L1,L2,L3\na001,1,1,1\n,1,1,1\n", "row 3, column id: expected an id that the key has, found ''"),
        ("id,L1,L2,L3\na001,1,1,1\na001,1,1,1\n", "row 3, column id: expected an id only once, found 'a001'"),
        ("id,L1,L2,L3\na001,1,1,1\n", "column id: expected all ids of the key, found none of a002"),
        ("id,L1,L2,L3\na001,,,\na002,,,\n", "has no verdicts: .* Is it filled"),
        ("id,L1,L2\na001,1,1\n", "row 1: expected the columns id, L1, L2, L3 once each, .* found 'id,L1,L2'"),
        ("id,L1,L2,L3,L3\n", "row 1: expected the columns id, L1, L2, L3 once each"),
        ("", "row 1: expected the columns id, L1, L2, L3 once each, .* found ''"),
    ],
)
def test_a_sheet_that_cannot_be_read(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message) as error:
        read_sheet(path, IDS)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("a001,what,1,1,0,1,", 7),  # the reply is lost: L1 would be read as L2's verdict, and so on
        ("a001,what,it rolls,1,1", 5),  # cut after L2: L3 would count as not annotated
        ("a001", 1),
        ("a001,what,it,rolls,1,1,0,1,", 9),  # a comma that lost its quotes
        ("a001,what,it rolls,1,1,0,1", 7),
        ("a001,what,it rolls,1,1,0,1,,", 9),
    ],
)
def test_a_row_with_another_number_of_cells_is_no_row(tmp_path: Path, row: str, found: int) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(f"id,question,reply,L1,L2,L3,CSR,note\na002,what,it falls,1,1,1,1,\n{row}\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_sheet(path, IDS)
    assert str(error.value) == f"{path}, row 3, id 'a001': expected 8 cells, as many as the header has, found {found}."


def test_a_row_that_lost_the_cell_before_its_id_is_told_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("L1,L2,L3,id\n1,1,1,a001\n1,1,a002\n")
    with pytest.raises(
        DataError, match="row 3, id '': expected 4 cells, as many as the header has, found 3; column id"
    ):
        read_sheet(path, IDS)


def test_a_header_that_lost_a_cell_fits_no_row(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("id,L1,L2,L3\na001,it rolls,1,1,1\na002,it falls,1,1,1\n")
    with pytest.raises(DataError, match=r"row 2, id 'a001': expected 4 cells, .* found 5; row 3, id 'a002': "):
        read_sheet(path, IDS)


@pytest.mark.parametrize(
    ("header", "cell"), [("id,L1,L2,L3,csr", "5: expected CSR"), ("id,L1,L2,L3,Id", "5: expected id")]
)
def test_a_header_that_is_written_otherwise(tmp_path: Path, header: str, cell: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(f"{header}\na001,1,1,1,1\na002,1,1,1,1\n")
    with pytest.raises(DataError, match=f"row 1, cell {cell}, found"):
        read_sheet(path, IDS)


def test_a_cell_beyond_the_limit_of_the_reader(tmp_path: Path) -> None:
    path = sheet(tmp_path / "sheet.csv", [["id", "L1", "L2", "L3", "note"], ["a001", "1", "1", "1", "x" * 2_000]])
    before = csv.field_size_limit(1_000)
    try:
        with pytest.raises(DataError, match=r"line 2: field larger than field limit \(1000\)\. Save the sheet"):
            read_sheet(path, ["a001"])
    finally:
        csv.field_size_limit(before)


def test_many_faults_are_cut_short(tmp_path: Path) -> None:
    ids = [f"a{number:03d}" for number in range(30)]
    path = sheet(tmp_path / "sheet.csv", [["id", "L1", "L2", "L3"], *([name, "?", "1", "1"] for name in ids)])
    with pytest.raises(DataError, match=r"row 11, .*; and 20 more\.$"):
        read_sheet(path, ids)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_sheet(tmp_path / "sheet.csv", IDS)
    with pytest.raises(DataError, match=r"cannot be read: .*condchain audit sample"):
        read_key(tmp_path / "key.json")


def test_a_sheet_counts_once(tmp_path: Path) -> None:
    path = sheet(tmp_path / "sheet.csv", [["id", "L1", "L2", "L3"], ["a001", "1", "1", "1"]])
    for sheets in ([], [path, tmp_path / "." / "sheet.csv"]):
        with pytest.raises(DataError, match="each once and one an annotator"):
            score(sheets, tmp_path / "key.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "Input should be an object. Is it the key.json"),
        ("{", "Invalid JSON"),
        ("{}", "has no items"),
        ('{"a001": {"model": "m"}}', "field a001.run: Field required"),
        (json.dumps({"a001": asdict(Judged("m", "r", "k", "X1", "Y1", 1, 1, 1, 1)) | {"r2": 3}}), "field a001.r2: "),
    ],
)
def test_a_key_that_cannot_be_read(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "key.json"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_key(path)


# --- From a drawn sample to tables


def test_round_trip_through_a_spreadsheet_with_semicolons(tmp_path: Path) -> None:
    replies = ['=1; "two"\nlines', "é; 漢字", "a,b;c"]
    items = tuple(
        AuditItem(f"a{number:03d}", {"reply": reply}, Judged("m", "run", "1/X1/0", "X1", "Y1", 1, 0, 1, 1))
        for number, reply in enumerate(replies, start=1)
    )
    write(Audit(items, missing=0, failed=0, controls=0), tmp_path)
    with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {"L1": "1", "L2": "0", "L3": "1,0"}
    for name in ("ann.csv", "bob.csv"):
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
            writer.writeheader()
            writer.writerows(reversed(rows))
    found = score([tmp_path / "ann.csv", tmp_path / "bob.csv"], tmp_path / "key.json")
    assert [(one.n, one.agreement) for one in found.measures] == [(3, 100.0)] * 5 + [(0, None)]
    assert found.consensus[0] == Consensus(
        "a001", "Y1", {"L1": 1, "L2": 0, "L3": 1, "CSR": None}, {"L1": 1, "L2": 0, "L3": 1, "CSR": 1}
    )
    json.dumps(asdict(found), allow_nan=False)


def shown(agreement: Agreement) -> str:
    console = Console(file=io.StringIO(), width=200)
    for table in render(agreement):
        console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_tables_put_the_paper_beside(tmp_path: Path) -> None:
    text = shown(
        audit(tmp_path, ["base", "Y1"], ["111.", "1001"], [["111.", "1000"], ["101.", "1001"], ["111.", "1101"]])
    )
    assert "3 annotators, 2 items" in text
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if "│" in line]
    assert ["L3", "2", "100.00", "1.0000", "0.8365"] in lines
    assert ["full chain (all three right)", "0", "2", "100.00", "77.50", "1.0000"] in lines
    assert ["Y1", "+66.7", "+66.7", "yes"] in lines
    assert ["base", "1", *["100.0"] * 8] in lines
