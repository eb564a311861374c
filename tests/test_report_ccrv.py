"""CCRV-Bench's section of the report, on runs that were worked out by hand, and against the benchmark's own tables."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
from report_runs import FAILED, LATER, ccrv_line, write_run
from report_sections import chart, row, table, value

from condchain_tasks.report import ccrv
from condchain_tasks.report.evaluations import read_runs
from condchain_tasks.report.model import Cell, Section, Table, Value
from condchain_tasks.scorers.ccrv_tables import Item, Row, tabulate
from condchain_tasks.tasks.ccrv.samples import record_of

RIGHT, ENTITIES, NOTHING = (1, 1, 1), (1, 0, 1), (0, 1, 1)
"""Verdicts with a DCR of 100, 100/3 and 0."""


def section(root: Path, number: int = 0) -> Section:
    return ccrv.sections(read_runs([root]).evaluations)[number]


SMALL = [
    ccrv_line(0, RIGHT),
    ccrv_line(1, ENTITIES),
    ccrv_line(0, RIGHT, "Y1"),  # names the ball, which Y1 forbids
    ccrv_line(1, ENTITIES, "Y1", reply="Node A rolls."),
    ccrv_line(0, NOTHING, "Y4"),
    ccrv_line(1, RIGHT, "Y4", reply="Because it was pushed."),  # four words of three
    ccrv_line(4, RIGHT, "Y4"),  # of another image, without a baseline item
]


def test_overview_by_hand(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", SMALL)
    one = section(tmp_path)
    found = row(table(one, "overview"), "lab/one")
    assert value(found["baseline l1'"]) == 100 and value(found["baseline l3'"]) == 50
    assert value(found["baseline DCR, all"]) == pytest.approx((100 + 100 / 3) / 2)
    assert value(found["l1'"]) == 80 and value(found["l3'"]) == 60
    assert value(found["DCR"]) == pytest.approx((100 + 100 / 3 + 0 + 100 + 100) / 5)
    # Y1: broken, kept; Y4: kept, broken, kept.
    assert value(found["CSR"]) == 60
    assert value(found["eDCR"]) == pytest.approx((0 + 100 / 3 + 0 + 0 + 100) / 5)
    assert value(found["DCR if kept"]) == pytest.approx((100 / 3 + 0 + 100) / 3)
    assert value(found["baseline DCR"]) == pytest.approx((100 + 100 / 3) / 2)
    # Four constrained items have a baseline item: 100-100, 33-33, 100-0, 33-100.
    assert value(found["CDI"]) == pytest.approx((0 + 0 + 100 - 200 / 3) / 4)
    assert value(found["eCDI"]) == pytest.approx((100 + 0 + 100 + 100 / 3) / 4)
    assert [found[name].n for name in ("DCR", "DCR if kept", "CDI")] == [5, 3, 4]  # type: ignore[union-attr]
    (series,) = chart(one, "overview-cdi").series
    assert (series.x[0], series.y[0]) == (value(found["baseline DCR"]), value(found["CDI"]))


def many(seed: int = 0) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    replies = ("The ball rolls.", "Node A rolls down the slope.", FAILED)
    return [
        ccrv_line(
            number,
            None if rng.random() < 0.1 else tuple(rng.randrange(2) for _ in range(3)),
            y,
            x=x,
            reply=rng.choices(replies, (10, 10, 1))[0],
        )
        for number in range(12)
        for x in ("X1", "X2", "X3", "X4")
        for y in ("base", "Y1", "Y3", "Y4")
        if rng.random() < 0.9
    ]


COLUMNS = {
    "DCR": "dcr",
    "CSR": "csr",
    "eDCR": "edcr",
    "DCR if kept": "dcr_compliant",
    "baseline DCR": "base_dcr",
    "CDI": "cdi",
    "eCDI": "ecdi",
    "l1'": "l1",
    "l2'": "l2",
    "l3'": "l3",
}


def same(cell: Cell, expected: float | None) -> bool:
    found = cell.value if isinstance(cell, Value) else None
    return found is expected is None or found == pytest.approx(expected)


def test_every_table_equals_the_benchmark_s_own(tmp_path: Path) -> None:
    lines = many()
    write_run(tmp_path, "lab/one", "ccrv", lines)
    rows = tabulate(Item.from_record(record_of(line)) for line in lines)  # type: ignore[arg-type]
    own = {(line.x, line.y): line for line in rows}
    one = section(tmp_path)

    def check(found: dict[str, Cell], expected: Row) -> None:
        shown = COLUMNS.keys() & found.keys()
        assert shown
        for name in shown:
            assert same(found[name], getattr(expected, COLUMNS[name])), (expected.x, expected.y, name)

    check(row(table(one, "overview"), "lab/one"), own["", ""])
    for x in ("X1", "X2", "X3", "X4"):
        check(row(table(one, "by-x"), "lab/one", x), own[x, ""])
    for y in ("Y1", "Y3", "Y4"):
        check(row(table(one, "by-y"), "lab/one", y), own["", y])
    for name in ("dcr", "csr", "edcr", "ecdi"):
        found = table(one, name)
        for x in ("X1", "X2", "X3", "X4"):
            cells = row(found, "lab/one", x)
            for y in ("Y1", "Y3", "Y4"):
                assert same(cells[y], getattr(own[x, y], name))
            assert same(cells["all constraints"], getattr(own[x, ""], name))
        assert same(row(found, "lab/one", "all")["all constraints"], getattr(own["", ""], name))
    base = row(table(one, "dcr"), "lab/one", "X2")["base"]
    assert same(base, own["X2", "base"].dcr)


def numbers(one: Table) -> list[float]:
    """Values, ends of intervals and sizes; not a number where there is none."""
    cells = [cell for row in one.rows for cell in row if isinstance(cell, Value)]
    return [math.nan if of is None else of for cell in cells for of in (cell.value, cell.low, cell.high, cell.n)]


def test_cells_of_their_own_tasks_are_put_together(tmp_path: Path) -> None:
    lines = many()
    write_run(tmp_path / "a", "lab/one", "ccrv", lines)
    for x in ("X1", "X2", "X3", "X4"):
        for y in ("base", "Y1", "Y3", "Y4"):
            cell = [line for line in lines if (r := record_of(line)) and (r["x"], r["y"]) == (x, y)]
            write_run(tmp_path / "b", "lab/one", f"ccrv_{x.lower()}_{y.lower()}", cell)
    whole, cells = section(tmp_path / "a"), section(tmp_path / "b")
    for name in ("overview", "by-x", "by-y", "dcr", "csr", "edcr", "ecdi"):
        assert numbers(table(whole, name)) == pytest.approx(numbers(table(cells, name)), nan_ok=True)


def test_an_item_of_two_tasks_counts_once(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", SMALL)
    write_run(tmp_path, "lab/one", "ccrv_x1_base", [ccrv_line(0, NOTHING), ccrv_line(8, RIGHT)])
    found = row(table(section(tmp_path), "overview"), "lab/one")["baseline DCR, all"]
    assert isinstance(found, Value) and found.n == 3
    assert found.value == pytest.approx((100 + 100 / 3 + 100) / 3)


def test_heat_maps_show_what_the_tables_say(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", many())
    one = section(tmp_path)
    for name in ("dcr", "csr", "edcr", "ecdi"):
        drawn = chart(one, f"{name}-map")
        assert drawn.kind == "heatmap" and drawn.table == f"ccrv-{name}"
        (series,) = drawn.series
        for x, values in zip(series.y, series.z, strict=True):
            cells = row(table(one, name), "lab/one", str(x))
            assert list(values) == [getattr(cells[str(y)], "value", None) for y in series.x]


def test_the_caveats_stand_right_at_the_tables(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", many())
    one = section(tmp_path)
    for name in ("overview", "by-x", "by-y", "csr"):
        notes = " ".join(table(one, name).notes)
        assert "not comparable with each other" in notes and "overlap by design" in notes
    for name in ("dcr", "edcr", "ecdi"):
        assert "overlap by design" in " ".join(table(one, name).notes)


def sizes(found: dict[str, Cell], *names: str) -> list[int | None]:
    return [cell.n if isinstance(cell := found[name], Value) else None for name in names]


def test_missing_verdicts_are_told_where_columns_do_not_subtract(tmp_path: Path) -> None:
    lines = [
        ccrv_line(0, RIGHT),
        ccrv_line(1, None),
        ccrv_line(0, NOTHING, "Y1", reply="Node A rolls."),
        ccrv_line(1, RIGHT, "Y1", reply="Node A rolls."),
        ccrv_line(0, None, "Y4"),
    ]
    write_run(tmp_path, "lab/one", "ccrv", lines)
    one = section(tmp_path)
    overview = table(one, "overview")
    found = row(overview, "lab/one")
    # Both forms of the first question have a baseline DCR; two items have a DCR; only one pair has both.
    assert [value(found[name]) for name in ("baseline DCR", "DCR", "CDI")] == [100, 50, 100]
    assert sizes(found, "baseline DCR", "DCR", "CDI") == [2, 2, 1]
    for name in ("overview", "by-x", "by-y"):
        assert "CDI and eCDI over those that have both" in " ".join(table(one, name).notes)


def test_missing_verdicts_of_the_constraint_are_told_too(tmp_path: Path) -> None:
    lines = [ccrv_line(0, RIGHT), ccrv_line(0, RIGHT, "Y3"), ccrv_line(0, RIGHT, "Y4")]
    lines[1]["dcr"] |= {"csr": None, "missing": ["csr"]}
    write_run(tmp_path, "lab/one", "ccrv", lines)
    overview = table(section(tmp_path), "overview")
    assert sizes(row(overview, "lab/one"), "baseline DCR", "CDI", "eDCR", "eCDI") == [2, 2, 1, 1]
    assert "do not subtract" in " ".join(overview.notes)


def test_no_such_note_where_nothing_is_missing(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", SMALL[:-1])  # without the item that has no baseline item
    one = section(tmp_path)
    for name in ("overview", "by-x", "by-y"):
        assert "do not subtract" not in " ".join(table(one, name).notes)


def test_an_item_without_dcr_has_no_edcr_though_its_constraint_fails(tmp_path: Path) -> None:
    broken = ccrv_line(1, None, "Y1")  # names the ball
    write_run(tmp_path, "lab/one", "ccrv", [ccrv_line(0, RIGHT, "Y1", reply="Node A rolls."), broken])
    one = section(tmp_path)
    found = row(table(one, "overview"), "lab/one")
    assert value(found["CSR"]) == 50
    assert value(found["eDCR"]) == 100 and sizes(found, "CSR", "eDCR") == [2, 1]
    assert "has no eDCR either, even if its constraint fails" in " ".join(one.notes)


def test_a_baseline_item_counts_once_for_each_constrained_form(tmp_path: Path) -> None:
    lines = [ccrv_line(0, RIGHT), ccrv_line(1, NOTHING)]
    lines += [ccrv_line(0, RIGHT, y) for y in ("Y1", "Y3", "Y4")] + [ccrv_line(1, RIGHT, "Y1")]
    write_run(tmp_path, "lab/one", "ccrv", lines)
    one = section(tmp_path)
    found = row(table(one, "overview"), "lab/one")
    assert value(found["baseline DCR, all"]) == 50 and value(found["baseline DCR"]) == 75
    assert sizes(found, "baseline DCR, all", "baseline DCR") == [2, 4]
    for name in ("overview", "by-x", "by-y"):
        assert "each baseline item counts once for each of its constrained forms" in " ".join(table(one, name).notes)


def test_partial_runs_come_last(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/good", "ccrv", [ccrv_line(0, RIGHT), ccrv_line(0, RIGHT, "Y3")])
    write_run(tmp_path, "lab/bad", "ccrv", [ccrv_line(0, RIGHT), ccrv_line(0, NOTHING, "Y3")])
    for name, layers in (("begun", ENTITIES), ("started", RIGHT)):
        lines = [ccrv_line(0, RIGHT), ccrv_line(0, layers, "Y3")]
        write_run(tmp_path, f"lab/{name}", "ccrv", lines, expected=4_000)
    one = section(tmp_path)
    for name in ("overview", "by-x", "by-y", "dcr", "csr", "edcr", "ecdi"):
        found = table(one, name)
        labels = [cells[0] for number, cells in enumerate(found.rows) if number not in found.published]
        assert list(dict.fromkeys(labels)) == ["lab/good", "lab/bad", "lab/started", "lab/begun"]
    assert "Partial runs come last." in one.notes


def test_a_partial_control_leaves_the_benchmark_s_rank(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/bad", "ccrv", [ccrv_line(0, NOTHING, "Y1")])
    write_run(tmp_path, "lab/good", "ccrv", [ccrv_line(0, RIGHT, "Y1", reply="Node A rolls.")])
    write_run(tmp_path, "lab/good", "ccrv_textonly", [control(ccrv_line(0, RIGHT), "textonly")], expected=80)
    one = section(tmp_path)
    assert [cells[0] for cells in table(one, "overview").rows[:2]] == ["lab/good", "lab/bad"]
    assert "Partial runs come last." not in one.notes


def test_the_paper_s_figures_stand_beside_those_of_the_benchmark_only(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", many())
    write_run(tmp_path, "lab/one", "ccrv_mini", many())
    official, twin = ccrv.sections(read_runs([tmp_path]).evaluations)
    printed = row(table(official, "overview"), "mean of the paper's models")
    names = ("baseline l1'", "baseline l3'", "l1'", "l3'")
    assert [value(printed[name]) for name in names] == [85.7, 68.3, 71.3, 50.4]
    by_x = [
        value(row(table(official, "by-x"), "mean of the paper's models", x)["CDI"]) for x in ("X1", "X2", "X3", "X4")
    ]
    assert by_x == [12.7, 18.4, 14.9, 22.3]
    assert value(row(table(official, "by-y"), "mean of the paper's models", "Y2")["DCR"]) == 41.9
    y3 = row(table(official, "by-y"), "mean of the paper's models", "Y3")
    assert (value(y3["DCR"]), value(y3["eCDI"])) == (90.2, -12.4)
    assert [len(table(official, name).published) for name in ("overview", "by-x", "by-y")] == [1, 4, 2]
    assert not any(found.published for found in twin.tables)


def test_the_judge_s_health(tmp_path: Path) -> None:
    lines = [
        ccrv_line(0, RIGHT),
        ccrv_line(1, None),
        ccrv_line(2, RIGHT, reply=FAILED),
        ccrv_line(0, RIGHT, "Y3"),
        ccrv_line(1, None, "Y1"),
    ]
    write_run(tmp_path, "lab/one", "ccrv", lines)
    found = row(table(section(tmp_path), "judge"), "lab/one")
    assert found["judge"] == "gpt-5.1"
    # One each of four replies that were not failed, and one more in Y3.
    assert (found["verdicts needed"], found["had"], found["missing"]) == (5, 3, 2)
    assert (found["from the cache"], found["calls"]) == (1, 4)
    assert value(found["missing, %"]) == 40


def test_a_log_that_does_not_tell_of_calls(tmp_path: Path) -> None:
    line = ccrv_line(0, RIGHT, "Y3")
    for name in ("cached", "judge_calls"):
        del line["dcr"][name]
    write_run(tmp_path, "lab/one", "ccrv", [ccrv_line(0, RIGHT), line])
    found = row(table(section(tmp_path), "judge"), "lab/one")
    assert (found["had"], found["from the cache"], found["calls"]) == (3, None, None)


def test_without_verdicts_only_rules_and_health_are_shown(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", [ccrv_line(n, None, y) for n in range(3) for y in ("base", "Y1", "Y4")])
    one = section(tmp_path)
    assert {found.id for found in one.tables} == {f"ccrv-{n}" for n in ("overview", "by-x", "by-y", "csr", "judge")}
    assert value(row(table(one, "overview"), "lab/one")["CSR"]) == 50
    assert not any(found.id.endswith(("cdi", "-dcr", "-edcr")) for found in one.charts)


def control(line: dict[str, Any], setting: str) -> dict[str, Any]:
    name = "dcr_base" if "key" in line.get("dcr_base", ()) else "dcr"
    record = line[name] | {"setting": setting}
    return {**line, "dcr": record}


def test_controls_are_set_against_the_same_items(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", SMALL)
    blind = [control(ccrv_line(0, NOTHING), "textonly"), control(ccrv_line(9, RIGHT), "textonly")]
    write_run(tmp_path, "lab/one", "ccrv_textonly", blind)
    one = section(tmp_path)
    found = row(table(one, "controls"), "lab/one", "textonly")
    assert value(found["DCR"]) == 50  # of both; one of them is in the benchmark proper, where it has 100
    assert value(found["DCR it is set against"]) == 100
    assert value(found["control - that"]) == -100
    printed = row(table(one, "controls"), "mean of the paper's models", "textonly")
    assert (value(printed["DCR"]), value(printed["DCR it is set against"])) == (22.67, 81.58)
    gains = [row(table(one, "controls"), "mean of the paper's models", f"oracle_y{n}") for n in (1, 2, 4)]
    assert [value(gain["control - that"]) for gain in gains] == [18.76, 11.03, 20.07]
    # The control's items are not in the tables of the benchmark proper.
    assert row(table(one, "overview"), "lab/one")["baseline DCR, all"].n == 2  # type: ignore[union-attr]


def test_each_control_has_a_row_of_its_own(tmp_path: Path) -> None:
    proper = [ccrv_line(0, RIGHT), ccrv_line(0, ENTITIES, "Y1"), ccrv_line(0, RIGHT, "Y4"), ccrv_line(1, RIGHT, "Y4")]
    write_run(tmp_path, "lab/one", "ccrv", proper)
    tasks = {
        "oracle_y1": [ccrv_line(0, RIGHT, "Y1", reply="Node A rolls.")],
        "oracle_y4": [ccrv_line(0, NOTHING, "Y4"), ccrv_line(1, RIGHT, "Y4", reply="Because it was pushed.")],
        "textonly": [ccrv_line(0, NOTHING)],
        "textonly_y1": [ccrv_line(0, NOTHING, "Y1")],
        "oracle_textonly_y1": [ccrv_line(0, ENTITIES, "Y1")],
    }
    for name, lines in tasks.items():
        setting = name.rpartition("_y")[0] or name
        write_run(tmp_path, "lab/one", f"ccrv_{name}", [control(line, setting) for line in lines])
    controls = table(section(tmp_path), "controls")
    third = 100 / 3
    expected = {  # DCR, that of the same items without the control, CSR
        "oracle_y1": (100, third, 100),
        "oracle_y4": (50, 100, 50),
        "textonly": (0, 100, None),
        "textonly_y1": (0, third, 0),
        "oracle_textonly_y1": (third, third, 0),
    }
    own = [cells for number, cells in enumerate(controls.rows) if number not in controls.published]
    assert {cells[1] for cells in own} == expected.keys() and len(own) == len(expected)
    for name, (dcr, beside, csr) in expected.items():
        found = row(controls, "lab/one", name)
        assert value(found["DCR"]) == pytest.approx(dcr)
        assert value(found["DCR it is set against"]) == pytest.approx(beside)
        assert value(found["control - that"]) == pytest.approx(dcr - beside)
        assert same(found["CSR"], csr)
        assert sizes(found, "DCR", "CSR") == [len(tasks[name]), 0 if csr is None else len(tasks[name])]
    printed = {controls.rows[number][1] for number in controls.published}
    assert printed - expected.keys() == {"oracle_y2"}
    judged = [cells[:2] for cells in table(section(tmp_path), "judge").rows]
    assert sorted(judged) == sorted(("lab/one", name) for name in ("standard", *expected))


def test_the_mini_controls_are_named_alike(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv_oracle_y1_mini", [control(ccrv_line(0, RIGHT, "Y1"), "oracle")])
    assert value(row(table(section(tmp_path), "controls"), "lab/one", "oracle_y1")["DCR"]) == 100


def test_the_judge_has_one_row_for_all_standard_tasks(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", SMALL)
    write_run(tmp_path, "lab/one", "ccrv_x1_y1", SMALL[2:4])
    (found,) = table(section(tmp_path), "judge").rows
    assert found[:2] == ("lab/one", "standard") and found[3] == len(SMALL)


def test_missing_verdicts_of_a_control_are_told_at_its_table(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", [ccrv_line(0, RIGHT), ccrv_line(1, None)])
    blind = [ccrv_line(0, NOTHING), ccrv_line(1, RIGHT)]
    write_run(tmp_path, "lab/one", "ccrv_textonly", [control(line, "textonly") for line in blind])
    controls = table(section(tmp_path), "controls")
    found = row(controls, "lab/one", "textonly")
    shown = [value(found[name]) for name in ("DCR", "DCR it is set against", "control - that")]
    assert shown == [50, 100, -100]
    assert "the columns do not subtract" in " ".join(controls.notes)


def test_whole_controls_need_no_such_note(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", [ccrv_line(0, RIGHT)])
    write_run(tmp_path, "lab/one", "ccrv_textonly", [control(ccrv_line(0, NOTHING), "textonly")])
    assert "do not subtract" not in " ".join(table(section(tmp_path), "controls").notes)


def test_a_control_alone_is_shown_without_what_it_is_set_against(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv_textonly_mini", [control(ccrv_line(0, RIGHT), "textonly")])
    found = row(table(section(tmp_path), "controls"), "lab/one", "textonly")
    assert value(found["DCR"]) == 100 and found["control - that"] is None


def test_differences_and_families(tmp_path: Path) -> None:
    for seed in (1, 2):
        folder = tmp_path / f"seed{seed}"
        write_run(folder, "lab/one", "ccrv", SMALL if seed == 1 else SMALL[:-2], arguments=f"seed={seed}")
    one = section(tmp_path)
    differences = table(one, "differences")
    dcr = row(differences, differences.rows[0][0], "DCR")  # type: ignore[arg-type]
    assert value(dcr["difference"]) == 0 and dcr["difference"].n == 3  # type: ignore[union-attr]
    spread = row(table(one, "spread"), "lab/one", "DCR")
    assert spread["runs"] == 2
    means = [(100 + 100 / 3 + 0 + 100 + 100) / 5, (100 + 100 / 3 + 0) / 3]
    assert value(spread["min"]) == pytest.approx(min(means)) and value(spread["max"]) == pytest.approx(max(means))


def test_profiles_have_a_line_for_each_model(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", many(1))
    write_run(tmp_path, "lab/two", "ccrv", many(2))
    drawn = chart(section(tmp_path), "by-y-dcr")
    assert drawn.kind == "line"
    assert {series.name for series in drawn.series} == {"lab/one", "lab/two"}
    assert drawn.series[0].x == ("base", "Y1", "Y2", "Y3", "Y4")
    assert drawn.series[0].y[2] is None  # there are no items of Y2 here


def test_of_an_item_in_two_runs_the_newest_counts(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "ccrv", [ccrv_line(number, RIGHT, "Y1") for number in range(4)])
    again = [ccrv_line(number, NOTHING, "Y1") for number in range(4)]
    write_run(tmp_path, "lab/one", "ccrv_x1_y1", again, date=LATER)
    assert value(row(table(section(tmp_path), "overview"), "lab/one")["DCR"]) == 0
