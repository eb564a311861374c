"""MM-CondChain's section of the report, on runs that were worked out by hand."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from report_runs import FAILED, condchain_line, condchain_lines, write_run
from report_sections import chart, row, table, value

from condchain_tasks.data.errors import DataError
from condchain_tasks.report import condchain, condchain_published, families
from condchain_tasks.report.build import build
from condchain_tasks.report.evaluations import Runs, read_runs
from condchain_tasks.report.model import Section, Value
from condchain_tasks.report.published_tables import published_table
from condchain_tasks.scorers.condchain import path_f1

DOMAINS = ("natural", "chart", "gui")
PATTERNS = {"natural": "11100100", "chart": "11111110", "gui": "10100010"}
"""1 right, 0 wrong; the true and the false path of each pair in turn."""


def write(root: Path, model: str = "lab/one", mini: bool = False, **more: str) -> None:
    for domain, pattern in PATTERNS.items():
        lines = condchain_lines(more.get(domain, pattern), domain)
        write_run(root, model, f"condchain_{domain}{'_mini' * mini}", lines)


def section(root: Path, number: int = 0) -> Section:
    return condchain.sections(read_runs([root]).evaluations)[number]


def test_leaderboard_has_accuracies_path_f1_and_their_average(tmp_path: Path) -> None:
    write(tmp_path)
    found = row(table(section(tmp_path), "leaderboard"), "lab/one")
    # natural 11 10 01 00: true 2 of 4, false 2 of 4. chart 11 11 11 10: 4 and 3. gui 10 10 00 10: 3 and 0.
    assert [value(found[f"natural {name}"]) for name in ("true", "false", "F1")] == [50, 50, 50]
    assert [value(found[f"chart {name}"]) for name in ("true", "false")] == [100, 75]
    assert value(found["chart F1"]) == pytest.approx(2 * 100 * 75 / 175)
    assert [value(found[f"gui {name}"]) for name in ("true", "false", "F1")] == [75, 0, 0]
    assert value(found["average"]) == pytest.approx((50 + 2 * 100 * 75 / 175 + 0) / 3)
    cell = found["natural F1"]
    assert isinstance(cell, Value) and (cell.n, cell.low) == (8, None)  # four pairs are too few for an interval


def test_five_pairs_have_an_interval(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("1110010010"))
    cell = row(table(section(tmp_path), "leaderboard"), "lab/one")["natural F1"]
    assert isinstance(cell, Value) and cell.value is not None
    assert cell.low is not None and cell.high is not None and cell.low < cell.value < cell.high
    # Those of depth 2 are three of them.
    of_depth = row(table(section(tmp_path), "depth"), "lab/one", "natural")["2"]
    assert isinstance(of_depth, Value) and (of_depth.n, of_depth.low) == (2, None)


def test_published_models_stand_beside_with_their_very_figures(tmp_path: Path) -> None:
    write(tmp_path)
    board = table(section(tmp_path), "leaderboard")
    rows = {str(row[0]): row for number, row in enumerate(board.rows) if number in board.published}
    with (Path(condchain.__file__).parent / "published" / "condchain_main.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(rows) == len(lines) == 27
    for line in lines:
        *figures, average = [float(text) for name, text in line.items() if name not in ("model", "access")]
        assert [value(cell) for cell in rows[line["model"]][1:]] == [average, *figures]
        assert all(isinstance(cell, Value) and cell.n is None for cell in rows[line["model"]][1:])


def test_published_path_f1_and_averages_obey_the_metric() -> None:
    off = []
    for model in condchain_published.main_results():
        computed = [path_f1(model.figures[f"{domain} true"], model.figures[f"{domain} false"]) for domain in DOMAINS]
        printed = [model.figures[f"{domain} F1"] for domain in DOMAINS]
        off += [abs(a - b) for a, b in zip(computed, printed, strict=True)]
        assert sum(printed) / 3 == pytest.approx(model.figures[condchain_published.AVERAGE], abs=0.0101)
    assert sorted(off)[-2] < 0.01 < max(off) < 0.0125  # all are rounded, one of 81 differs by more


def test_rows_are_sorted_by_the_average_and_ours_are_not_marked_as_published(tmp_path: Path) -> None:
    write(tmp_path)
    board = table(section(tmp_path), "leaderboard")
    averages = [value(row[1]) for row in board.rows]
    assert averages == sorted(averages, reverse=True)
    (own,) = set(range(len(board.rows))) - board.published
    assert board.rows[own][0] == "lab/one"


def test_without_a_domain_there_is_no_average(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "condchain_chart", condchain_lines("1110", "chart"))
    found = row(table(section(tmp_path), "leaderboard"), "lab/one")
    assert found["average"] is None and found["natural F1"] is None
    assert value(found["chart F1"]) == pytest.approx(2 * 100 * 50 / 150)


def test_scatter_has_the_diagonal_the_corner_and_the_published_models(tmp_path: Path) -> None:
    write(tmp_path)
    one = section(tmp_path)
    found = chart(one, "leaderboard-gui")
    assert found.lines == ((0, 0, 100, 100, "balance"),)
    assert any(text == "goes on too readily" and x > 50 > y for x, y, text in found.regions)
    own, printed = found.series
    assert (own.name, own.x, own.y, own.published) == ("lab/one", (75.0,), (0.0,), False)
    assert printed.published and len(printed.x) == 27
    assert found.table == "condchain-leaderboard"


def test_by_depth_layer_and_complexity(tmp_path: Path) -> None:
    # Pairs 0..4 have depths 2..6, layers 1 2 3 1 2, and are simple, complex, mixed, simple, complex.
    write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("1110011100"))
    one = section(tmp_path)
    depth = row(table(one, "depth"), "lab/one", "natural")
    assert [value(depth[name]) for name in "23456"] == [100, 0, 0, 100, 0]
    layer = row(table(one, "layer"), "lab/one", "natural")
    assert [value(layer[name]) for name in "123"] == [100, 0, 100]
    complexity = row(table(one, "complexity"), "lab/one", "natural")
    # simple: pairs 0 and 3, all right; complex: pairs 1 (10) and 4 (00): true 1 of 2, false 0 of 2.
    assert [value(complexity[name]) for name in ("simple", "mixed", "complex")] == [100, 0, 0]
    assert [found.n for found in complexity.values() if isinstance(found, Value)] == [4, 2, 4]


def test_published_depth_and_complexity_equal_their_tables(tmp_path: Path) -> None:
    write(tmp_path)
    one = section(tmp_path)
    for name, columns in (
        ("depth", {c: f"depth_{c}" for c in "246"}),
        ("complexity", {c: c for c in ("simple", "complex")}),
    ):
        found = table(one, name)
        for line in published_table(f"condchain_{name}"):
            printed = row(found, line["model"], "natural")
            assert {c: value(printed[c]) for c in columns} == {c: float(line[of]) for c, of in columns.items()}
        assert len(found.published) == 3


def test_unknown_depth_and_layer_are_groups_of_their_own(tmp_path: Path) -> None:
    lines = [condchain_line(n, depth=0, diverge_layer=0, complexity="unknown") for n in range(2)]
    write_run(tmp_path, "lab/one", "condchain_natural_mini", [*lines, condchain_line(2), condchain_line(3)])
    one = section(tmp_path)
    assert table(one, "depth").columns == ("model", "domain", "3", "unknown")
    assert table(one, "complexity").columns == ("model", "domain", "complex", "unknown")
    assert table(one, "confusion").rows[0][1] == "layer 2"  # the pair without a layer is in no row
    assert len(table(one, "confusion").rows) == 1


def test_pair_outcomes(tmp_path: Path) -> None:
    write(tmp_path)
    found = row(table(section(tmp_path), "outcomes"), "lab/one", "natural")
    shares = [value(found[name]) for name in ("both right", "only true path", "only false path", "neither")]
    assert shares == [25, 25, 25, 25] and found["pairs"] == 4
    every = row(table(section(tmp_path), "outcomes"), "lab/one", "all")
    # natural 1 1 1 1, chart 3 1 0 0, gui 0 3 0 1 of 12 pairs.
    shares = [value(every[name]) for name in ("both right", "only true path", "only false path", "neither")]
    assert shares == pytest.approx([100 * n / 12 for n in (4, 5, 1, 2)])


def test_a_pair_with_one_answered_path_is_no_outcome(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("11100"), expected=8)
    found = row(table(section(tmp_path), "outcomes"), "lab/one", "natural")
    assert found["pairs"] == 2
    assert value(found["both right"]) == 50


REPLIES = {
    # path, reply -> where it leaves the chain; the final question is F, false paths should be left at A (layer 1).
    0: ("F1", "there, right option"),
    2: ("F2", "there, wrong option"),
    4: ("B1", "too early"),
    6: ("G1", "too late"),
    1: ("A1", "there, right option"),
    3: ("A2", "there, wrong option"),
    5: ("C1", "too late"),
    7: ("F1", "final question"),
    9: ("none of them", "no label"),
}


def test_where_replies_leave_the_chain(tmp_path: Path) -> None:
    lines = [condchain_line(number, reply) for number, (reply, _) in sorted(REPLIES.items())]
    write_run(tmp_path, "lab/one", "condchain_natural", lines)
    one = section(tmp_path)
    for path, odd in (("true", 0), ("false", 1)):
        found = row(table(one, "exits"), "lab/one", "natural", path)
        counts = [exit for number, (_, exit) in REPLIES.items() if number % 2 == odd]
        for name in table(one, "exits").columns[3:]:
            if (path, name) == ("true", "final question"):
                assert found[name] is None
            else:
                assert value(found[name]) == pytest.approx(100 * counts.count(name) / len(counts)), (path, name)
    (series,) = chart(one, "exits-chart").series
    assert dict(zip(series.x, series.y, strict=True))["final question"] == pytest.approx(20)


def test_exit_confusion(tmp_path: Path) -> None:
    # Pairs 0 and 3 diverge at layer 1, pair 1 at layer 2; the final question is F, so layers are A to E.
    replies = {1: "A2", 3: "F1", 7: "I cannot tell."}
    write_run(tmp_path, "lab/one", "condchain_natural", [condchain_line(*one) for one in replies.items()])
    one = section(tmp_path)
    found = table(one, "confusion")
    assert found.columns[2:] == (*(f"layer {number}" for number in range(1, 6)), "final question", "no layer")
    assert [value(cell) for cell in row(found, "lab/one", "layer 1").values() if isinstance(cell, Value)] == [
        50, 0, 0, 0, 0, 0, 50,
    ]  # fmt: skip
    assert value(row(found, "lab/one", "layer 2")["final question"]) == 100
    (series,) = chart(one, "confusion-chart").series
    assert (series.x, series.y) == (found.columns[2:], ("layer 1", "layer 2"))
    assert series.z == ((50, 0, 0, 0, 0, 0, 50), (0, 0, 0, 0, 0, 100, 0))


def test_readings_and_sources(tmp_path: Path) -> None:
    replies = ["\\boxed{F1}", "\\boxed{a1}", "So F1.", "I cannot tell.", FAILED, "\\boxed{A1}", "\\boxed{F2}", "A1"]
    lines = [condchain_line(number, reply) for number, reply in enumerate(replies)]
    write_run(tmp_path, "lab/one", "condchain_natural", lines)
    one = section(tmp_path)
    found = row(table(one, "readings"), "lab/one", "natural")
    # Right on true paths: 2 of 4. On false paths: strict 2 of 4, lenient 3 of 4.
    assert value(found["strict"]) == 50
    assert value(found["lenient"]) == pytest.approx(2 * 50 * 75 / 125)
    assert value(found["lenient - strict"]) == pytest.approx(10)
    assert value(found["replies right by the lenient only"]) == 12.5
    sources = row(table(one, "sources"), "lab/one", "natural")
    assert [value(sources[name]) for name in ("box", "label in the text", "no answer", "request failed")] == [
        50, 25, 12.5, 12.5,
    ]  # fmt: skip


def test_the_twin_has_a_section_of_its_own_without_published_figures(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, mini=True, natural="00000000")
    official, twin = condchain.sections(read_runs([tmp_path]).evaluations)
    assert (official.id, twin.id) == ("condchain", "condchain-mini")
    assert value(row(table(official, "leaderboard"), "lab/one")["natural F1"]) == 50
    assert value(row(table(twin, "leaderboard"), "lab/one")["natural F1"]) == 0
    assert not any(found.published for found in twin.tables)
    assert not any(series.published for one in twin.charts for series in one.series)
    assert {found.id for found in official.tables}.isdisjoint(found.id for found in twin.tables)


def test_partial_runs_are_flagged(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "condchain_natural", condchain_lines("1111"), expected=8)
    write_run(tmp_path, "lab/two", "condchain_natural", condchain_lines("11111111"))
    board = table(section(tmp_path), "leaderboard")
    for model, is_flagged in (("lab/one", True), ("lab/two", False)):
        cell = row(board, model)["natural F1"]
        assert isinstance(cell, Value)
        assert any("partial" in flag for flag in cell.flags) == is_flagged


def test_the_other_order_of_frames_has_a_table_and_no_place_in_the_leaderboard(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/one", "condchain_gui", condchain_lines("11111100", "gui"))
    write_run(tmp_path, "lab/one", "condchain_gui_chrono", condchain_lines("11110000", "gui"))
    one = section(tmp_path)
    found = row(table(one, "frames"), "lab/one")
    assert value(found["by file name: F1"]) == 75 and value(found["by time: F1"]) == 50
    assert value(found["by time - by file name"]) == -25
    assert value(row(table(one, "leaderboard"), "lab/one")["gui F1"]) == 75
    assert row(table(one, "outcomes"), "lab/one", "gui")["pairs"] == 4


def test_differences_are_on_common_pairs_and_corrected(tmp_path: Path) -> None:
    write(tmp_path, "lab/one")
    write(tmp_path, "lab/two", natural="1111110011", chart="11111110", gui="11111111")
    found = table(section(tmp_path), "differences")
    assert {row[0] for row in found.rows} == {"lab/two - lab/one"}
    natural = row(found, "lab/two - lab/one", "natural F1")
    # On the four pairs that both have: 75 (3 of 4 on both paths) less 50.
    assert value(natural["difference"]) == 25 and natural["difference"].n == 8  # type: ignore[union-attr]
    assert value(row(found, "lab/two - lab/one", "chart F1")["difference"]) == 0
    average = row(found, "lab/two - lab/one", "average F1")
    assert value(average["difference"]) == pytest.approx((25 + 0 + 100) / 3)
    for one in found.rows:
        p, corrected = (0.00005 if "<" in str(text) else float(str(text)) for text in one[4:])
        assert 0 < p <= corrected <= 1


def test_many_models_are_compared_within_families_only(tmp_path: Path) -> None:
    for number in range(6):
        write_run(tmp_path, f"lab/m{number}", "condchain_natural", condchain_lines("1110"))
    for seed in (1, 2):
        folder = tmp_path / f"seed{seed}"
        write_run(folder, "lab/seeded", "condchain_natural", condchain_lines("1110"), arguments=f"seed={seed}")
    found = table(section(tmp_path), "differences")
    assert [row[0] for row in found.rows] == ["lab/seeded (seed=1) - lab/seeded (seed=2)"]


def test_seeds_of_one_model_are_a_family(tmp_path: Path) -> None:
    for seed, pattern in ((0, "11110000"), (1, "11111100"), (2, "11000000")):
        folder = tmp_path / f"seed{seed}"
        write_run(folder, "lab/one", "condchain_natural", condchain_lines(pattern), arguments=f"seed={seed}")
    write_run(tmp_path, "lab/alone", "condchain_natural", condchain_lines("1100"))
    one = section(tmp_path)
    (found,) = table(one, "spread").rows
    assert found[:4] == ("lab/one", "natural F1", "seed", 3)
    assert [value(cell) for cell in found[4:]] == [50, 25, 25, 75]
    mean, deviation = (cell for cell in found[4:6] if isinstance(cell, Value))
    # Of Student's t with two degrees of freedom 4.3027, of chi-squared 7.3778 and 0.050636.
    assert (mean.low, mean.high) == (
        pytest.approx(50 - 4.3027 * 25 / 3**0.5, rel=1e-4),
        pytest.approx(112.10, abs=0.01),
    )
    assert deviation.low == pytest.approx(25 * (2 / 7.3778) ** 0.5, rel=1e-4)
    assert deviation.high == pytest.approx(25 * (2 / 0.050636) ** 0.5, rel=1e-4)
    assert len(table(one, "differences").rows) == 6  # four runs, each with each


def test_other_settings_are_another_family_and_partial_runs_are_in_none(tmp_path: Path) -> None:
    for seed, heat, pattern in ((0, 0.5, "11110000"), (1, 0.5, "11111111"), (0, 1.0, "11000000")):
        folder, arguments = tmp_path / f"{seed}-{heat}", f"seed={seed},heat={heat}"
        write_run(folder, "lab/one", "condchain_natural", condchain_lines(pattern), arguments=arguments)
    partial = tmp_path / "partial"
    write_run(partial, "lab/one", "condchain_natural", condchain_lines("1111"), arguments="seed=2,heat=0.5", expected=8)
    one = section(tmp_path)
    seeds, settings = table(one, "spread").rows
    assert seeds[:4] == ("lab/one (heat=0.5)", "natural F1", "seed", 2)
    assert [value(cell) for cell in seeds[4:]] == [75, pytest.approx(50 / 2**0.5), 50, 100]
    assert settings[:4] == ("lab/one", "natural F1", "settings", 3)
    assert [value(cell) for cell in settings[4:]] == [pytest.approx(175 / 3), pytest.approx(38.188, abs=0.001), 25, 100]
    assert all(isinstance(cell, Value) and cell.low is None for cell in settings[4:])
    # Its figure is among the best, but it has half of the samples.
    assert [row[0] for row in table(one, "leaderboard").rows if "lab/one" in str(row[0])][-1] == (
        "lab/one (heat=0.5, seed=2)"
    )


def test_chosen_runs_are_compared_however_many_there_are(tmp_path: Path) -> None:
    for number in range(8):
        write_run(tmp_path, f"lab/m{number}", "condchain_natural", condchain_lines("1110"))
    runs = read_runs([tmp_path])
    (one,) = build(runs, compared=["lab/m3", "lab/m5"]).sections
    assert [row[0] for row in table(one, "differences").rows] == ["lab/m3 - lab/m5"]
    with pytest.raises(DataError, match=r"No run is called 'm3'; there are: lab/m0; lab/m1;"):
        build(runs, compared=["m3", "lab/m5"])


def test_pairs_that_are_left_out_are_counted() -> None:
    members = {f"m (seed={n})": families.Member("m", "m", False, False, {}) for n in range(16)}
    assert len(families.pairs(members)) == 100
    assert "20 pairs of runs are left out" in " ".join(families.differences("d", "D", (), members).notes)


def test_no_runs_no_section() -> None:
    assert condchain.sections(Runs((), (), ()).evaluations) == []
