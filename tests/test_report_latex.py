"""A report's tables as LaTeX: what a paper can use, and no text that is a command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import ccrv_line, condchain_lines, vrex_line, write_run
from report_samples import HOSTILE, hostile
from typer.testing import CliRunner

from condchain_tasks.cli import app
from condchain_tasks.report.latex import MAX_ROWS, to_latex
from condchain_tasks.report.model import Report, Section, Table, Value

LIMITED = "Of 120 samples, as --limit was given."


def one(table: Table, intervals: bool = False) -> str:
    return to_latex(Report("R", sections=(Section("s", "MM-CondChain", tables=(table,)),)), intervals)


def body(text: str) -> list[str]:
    """The lines of the one table between its rules."""
    (tabular,) = re.findall(r"\\begin\{tabular\}.*?\\end\{tabular\}", text, re.DOTALL)
    return tabular.splitlines()[1:-1]


LEADERBOARD = Table(
    "condchain-depth",
    "Path F1 by depth, %",
    ("model", "domain", "2", "CDI"),
    (
        ("large_vl", "gui", Value(57.349, 54.06, 60.2, 975), Value(3.0)),
        ("tiny", "gui", Value(57.301, 50.0, 61.0, 80), Value(-1.0)),
        ("cut", "gui", Value(99.0, n=80, flags=(LIMITED,)), Value(None)),
        ("paper's", "gui", Value(40.0), None),
        ("large_vl", "chart", Value(12.0, 10.0, 14.0, 975), Value(2.0)),
    ),
    frozenset({3}),
    ("Macro averages.",),
)


def test_a_table_is_narrow_with_rules_for_print_and_the_best_in_bold() -> None:
    text = one(LEADERBOARD)
    assert text.startswith("% R\n\n% \\usepackage{booktabs}\n\n% MM-CondChain\n\n\\begin{table}\n\\centering\n")
    assert body(text) == [
        r"\toprule",
        r"model & domain & 2 & CDI \\",
        r"\midrule",
        r"large\_vl & gui & \textbf{57.3} & 3.0 \\",
        r"tiny & gui & \textbf{57.3} & \textbf{$-$1.0} \\",  # printed alike; of a drop the lowest is best
        r"cut & gui & 99.0\textsuperscript{a} & \textendash{} \\",  # the highest, and not to be set beside the others
        r"\midrule",
        r"paper's\textsuperscript{\dag} & gui & 40.0 & \textendash{} \\",
        r"\midrule",
        r"large\_vl & chart & 12.0 & 2.0 \\",  # alone in its domain
        r"\bottomrule",
    ]
    assert r"\caption{MM{-}CondChain: Path F1 by depth, \%}" in text
    assert r"\label{tab:condchain-depth}" in text
    notes = re.findall(r"\\par\\footnotesize (.*)", text)
    assert notes == [
        "Macro averages.",
        "(a) Of 120 samples, as {-}{-}limit was given.",
        r"\dag{} As published.",
        "n = 80 to 975, by row and column.",
    ]


def test_intervals_are_an_option() -> None:
    text = one(LEADERBOARD, intervals=True)
    assert r"large\_vl & gui & \textbf{57.3} {\scriptsize {[}54.1, 60.2]} & 3.0 \\" in body(text)
    assert r"\par\footnotesize In brackets: 95\,\% intervals." in text
    assert "[" not in "".join(body(one(LEADERBOARD)))


def test_what_does_not_rank_models_has_no_best() -> None:
    table = Table("condchain-outcomes", "T", ("model", "neither"), (("a", Value(1.0)), ("b", Value(2.0))))
    assert r"\textbf" not in one(table)


def test_a_number_that_is_the_same_in_all_cells_is_said_once() -> None:
    table = Table("condchain-depth", "T", ("model", "2"), (("a", Value(1.0, n=1200)), ("b", Value(2.0, n=1200))))
    assert r"\par\footnotesize n = 1,200." in one(table)


def test_a_long_table_becomes_one_a_domain() -> None:
    rows = [(f"m{n}", domain, Value(float(n))) for n in range(MAX_ROWS) for domain in ("gui", "chart")]
    text = one(Table("condchain-depth", "Path F1", ("model", "domain", "2"), tuple(rows)))
    assert re.findall(r"\\caption\{(.*)\}", text) == [f"MM{{-}}CondChain: Path F1 ({d})" for d in ("gui", "chart")]
    assert re.findall(r"\\label\{(.*)\}", text) == ["tab:condchain-depth-1", "tab:condchain-depth-2"]
    assert text.count(r"\begin{tabular}{lr}") == 2 and text.count(r"m39 & \textbf{39.0} \\") == 2


def names(text: str) -> list[list[str]]:
    """Headings of all tables."""
    return [line.removesuffix(r" \\").split(" & ") for line in re.findall(r"\\toprule\n(.*)", text)]


def test_a_real_report_has_one_narrow_table_a_claim(tmp_path: Path) -> None:
    for model in ("lab/a", "lab/b"):
        for domain in ("natural", "chart", "gui"):
            write_run(tmp_path / "runs", model, f"condchain_{domain}", condchain_lines("11011010", domain))
        cells = [(x, y) for x in ("X1", "X2") for y in ("base", "Y1", "Y3", "Y4")]
        lines = [ccrv_line(number, y=y, x=x) for x, y in cells for number in range(4)]
        lines = [{**line, "doc_id": number} for number, line in enumerate(lines)]
        write_run(tmp_path / "runs", model, "ccrv", lines)
        for mode in ("planning", "following", "direct"):
            write_run(tmp_path / "runs", model, f"vrex_{mode}", [vrex_line(n, "110", mode) for n in range(8)])
    done = CliRunner().invoke(app, ["report", str(tmp_path / "runs"), "--out", str(tmp_path / "t.tex")])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "t.tex").read_text(encoding="utf-8")
    found = names(text)
    assert ["model", "average", "natural F1", "chart F1", "gui F1"] in found
    assert ["model", "l1'", "l2'", "l3'", "DCR"] in found
    assert ["model", "baseline DCR", "CDI", "eCDI"] in found
    assert ["model", "planning ability", "following ability", "following / planning"] in found
    assert ["model", "direct accuracy", "planning accuracy", "following accuracy"] in found
    labels = re.findall(r"\\label\{(.*)\}", text)
    assert len(labels) == len(set(labels)) == len(found)
    rows = re.findall(r" \\\\$", text, re.MULTILINE)
    assert len(rows) > 300 and "n=" not in text
    for tabular in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        form, inside = tabular
        lines = [line for line in inside.strip().splitlines() if not line.startswith("\\")]
        assert len(lines) - 1 <= MAX_ROWS
        assert {len(re.split(r"(?<!\\)&", line)) for line in lines} == {len(form)}
        assert [inside.count(rf"\{rule}") for rule in ("toprule", "bottomrule", "hline")] == [1, 1, 0]
    done = CliRunner().invoke(app, ["report", str(tmp_path / "runs"), "--intervals", "--out", str(tmp_path / "t.md")])
    assert (done.exit_code, "--intervals is for --format latex" in done.output) == (2, True)


@given(st.text(max_size=40) | st.sampled_from(HOSTILE))
def test_no_text_is_a_command(text: str) -> None:
    row = one(Table("t", "T", ("A", "B"), ((text, "x"),))).split(r"A & B \\")[1].split("\n")[2]
    assert row.endswith(r" & x \\") and not row.startswith(("[", "*"))
    cell = row.removesuffix(r" & x \\")
    known = r"\\(?:text\w+\{\}|ldots\{\}|[{}$&#%_])|\$(?:-|\\times|\\Delta|\\ge|\\le)\$|\{[-\[*]\}"
    assert not set(re.sub(known, "", cell)) & set('\\{}$&#%_^~<>|"`')


@pytest.mark.parametrize("intervals", [False, True])
def test_hostile_texts_leave_the_braces_balanced(intervals: bool) -> None:
    text = re.sub(r"\\[\\{}$&#%_,]", "", to_latex(hostile(), intervals))
    depth = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


def test_a_title_stays_a_comment() -> None:
    assert to_latex(Report("a\n\\input{b}")) == "% a \\input{b}\n\n% \\usepackage{booktabs}\n"
