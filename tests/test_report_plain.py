"""Markdown and CSV of a report."""

import csv
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import hostile, small

from condchain_tasks.data.errors import DataError
from condchain_tasks.report.model import Problem, Report, Section, Table, Value
from condchain_tasks.report.plain import figure, flag_marks, interval, is_numeric, number, to_csv, to_markdown

LIMITED = "Of 120 samples, as --limit was given."
TABLE = Table(
    "f1",
    "Path F1",
    ("Model", "F1", "Rank"),
    (
        ("large_vl", Value(57.349, 54.06, 60.2, 975, (LIMITED,)), 1),
        ("A|B", Value(38.0), None),
        ("tiny", Value(None, n=0), 1200),
    ),
    frozenset({1}),
    ("Macro averages.",),
)
PROBLEM = Problem("warning", "runs/a_b", "4 verdicts are missing.")
REPORT = Report("Two models", (PROBLEM,), (Section("s", "MM-CondChain", ("A note.",), (TABLE,)),))


def with_cell(text):
    return Report("R", sections=(Section("s", "S", tables=(Table("t", "T", ("A", "B"), ((text, "x"),)),)),))


def read(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(
    ("value", "text"),
    [(57.349, "57.3"), (0.0, "0.0"), (-0.04, "0.0"), (-3.26, "−3.3"), (100, "100.0"), (None, "–"), (float("nan"), "–")],
)
def test_numbers_have_one_decimal(value, text):
    assert number(value) == text


def test_an_interval_has_both_ends():
    assert interval(54.06, 60.2) == "[54.1, 60.2]"
    assert interval(-1.0, 2.0) == "[−1.0, 2.0]"
    assert interval(54.0, None) == interval(None, None) == interval(float("nan"), 2.0) == ""


def test_figures():
    assert figure(Value(57.349, 54.06, 60.2, 1975)) == "57.3 [54.1, 60.2] n=1,975"
    assert figure(Value(57.349)) == "57.3"
    assert figure(Value(None, 1.0, 2.0, 0)) == "–"


def test_flags_have_letters_in_the_order_in_which_they_appear():
    flags = [f"flag {place}" for place in range(28)]
    table = Table("t", "T", ("M", "A"), (("m", Value(1, flags=tuple(flags[:2]))), ("n", Value(1, flags=tuple(flags)))))
    assert list(flag_marks(table).items())[:2] == [("flag 0", "a"), ("flag 1", "b")]
    assert [flag_marks(table)[flag] for flag in flags[25:]] == ["z", "aa", "ab"]


def test_columns_of_figures_are_known():
    table = Table("t", "T", ("M", "A", "B", "C"), (("m", None, Value(1), "x"), ("n", None, 3, 1)))
    assert [is_numeric(table, column) for column in range(4)] == [False, True, True, False]


def test_markdown():
    assert to_markdown(REPORT) == (
        "# Two models\n\n"
        "## Health\n\n"
        "- **warning** runs/a\\_b: 4 verdicts are missing.\n\n"
        "## MM-CondChain\n\n"
        "A note.\n\n"
        "### Path F1\n\n"
        "| Model | F1 | Rank |\n"
        "| :--- | ---: | ---: |\n"
        "| large\\_vl | 57.3 \\[54.1, 60.2\\] n=975 \\(a\\) | 1 |\n"
        "| A\\|B \\(published\\) | 38.0 | – |\n"
        "| tiny | – | 1,200 |\n\n"
        "- Macro averages.\n"
        "- \\(a\\) Of 120 samples, as --limit was given.\n"
    )


def test_markdown_without_problems_says_so():
    assert to_markdown(Report("R")) == "# R\n\n## Health\n\nNo problems were found.\n"


@given(st.text(max_size=40))
def test_any_text_stays_in_its_markdown_cell(text):
    row = to_markdown(with_cell(text)).rstrip("\n").split("\n")[-1]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    assert not re.search(r"(?<!\\)(?:\\\\)*[<>`*_\[\]&$]", row)


def test_hostile_markdown_has_no_markup():
    for line in to_markdown(hostile()).splitlines():
        assert not re.search(r"(?<!\\)(?:\\\\)*[<>`\[\]&$]", line)


def test_csv(tmp_path):
    paths = to_csv(REPORT, tmp_path / "new" / "tables")
    assert [path.name for path in paths] == ["problems.csv", "f1.csv"]
    assert read(paths[0]) == [["severity", "where", "what"], ["warning", "runs/a_b", "4 verdicts are missing."]]
    assert read(paths[1]) == [
        ["Model", "F1", "F1 low", "F1 high", "F1 n", "F1 flags", "Rank", "published"],
        ["large_vl", "57.349", "54.06", "60.2", "975", LIMITED, "1", "no"],
        ["A|B", "38.0", "", "", "", "", "", "yes"],
        ["tiny", "", "", "", "0", "", "1200", "no"],
    ]


def test_every_table_becomes_a_file(tmp_path):
    report = small(tmp_path)
    tables = [table for section in report.sections for table in section.tables] + list(report.provenance)
    paths = to_csv(report, tmp_path / "csv")
    assert [path.stem for path in paths] == ["problems", *(table.id for table in tables)]
    assert [len(read(path)) - 1 for path in paths[1:]] == [len(table.rows) for table in tables]


@pytest.mark.parametrize("name", ["../a", "a/b", "", "a.b", "Problems", "problems", ".hidden", "ä", "a\n"])
def test_csv_refuses_ids_that_are_no_names_of_files(tmp_path, name):
    table = Table(name, "T", ("A",), (("x",),))
    with pytest.raises(DataError, match="expected an id of letters, digits and hyphens"):
        to_csv(Report("R", sections=(Section("s", "S", tables=(table,)),)), tmp_path / "csv")
    assert not (tmp_path / "csv").exists()


def test_csv_refuses_two_tables_of_one_name(tmp_path):
    tables = (Table("a", "T", ("A",), ()), Table("A", "T", ("A",), ()))
    with pytest.raises(DataError, match="that no other table has"):
        to_csv(Report("R", sections=(Section("s", "S", tables=tables),)), tmp_path)


@given(st.text(max_size=20) | st.sampled_from(["=1+1", " =1", "\t@a", "+1", "-1", "＝1", "\n=1", "\u202e=1", "\x00=1"]))
def test_no_text_is_a_formula(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("csv", numbered=True)
    report = Report(
        "R", (Problem("error", text, text),), (Section("s", "S", tables=(Table("t", text, (text,), ((text,),)),)),)
    )
    for path in to_csv(report, folder):
        for row in read(path):
            assert not any(cell.strip()[:1] in set("=+-@＝＋－＠") for cell in row if cell)


def test_negative_figures_are_no_texts(tmp_path):
    table = Table("t", "T", ("M", "Gain"), (("m", Value(-3.25, -4.0, float("nan"))),))
    paths = to_csv(Report("R", sections=(Section("s", "S", tables=(table,)),)), tmp_path)
    assert read(paths[1])[1] == ["m", "-3.25", "-4.0", "", "no"]
