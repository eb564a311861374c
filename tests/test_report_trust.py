"""What a report says of its own figures: flags, health, and pairs that are none."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from report_runs import DATE, FAILED, LATER, ccrv_line, condchain_line, condchain_lines, prompt, vrex_line, write_run
from report_sections import row, table, value

from condchain_tasks.report import build as building
from condchain_tasks.report.build import build
from condchain_tasks.report.evaluations import flags, read_runs
from condchain_tasks.report.model import Report, Section, Value
from condchain_tasks.report.plain import to_markdown
from condchain_tasks.report.selection import select

TASK = "condchain_natural"


def report(root: Path) -> Report:
    return build(read_runs([root]), with_items=False)


def section(made: Report, identity: str) -> Section:
    (found,) = [one for one in made.sections if one.id == identity]
    return found


def drawn(sha256: str, **more: Any) -> dict[str, Any]:
    """Metadata of a task on data that `condchain synth` drew."""
    return {"data": {"sha256": sha256, "synthetic": True, "official": False}, **more}


def texts(made: Report, where: str = "") -> list[str]:
    return [one.text for one in made.problems if where in one.where]


# --- synthetic data


def test_synthetic_data_has_a_section_of_its_own_without_published_rows(tmp_path: Path) -> None:
    write_run(tmp_path, "m", "ccrv", [ccrv_line(0), ccrv_line(0, y="Y1")], metadata=drawn("a" * 16))
    write_run(tmp_path, "m", TASK, condchain_lines("11"), metadata=drawn("b" * 16))
    write_run(tmp_path, "m", "vrex_direct", [vrex_line(0, "11", "direct")], metadata=drawn("c" * 16))
    made = report(tmp_path)
    assert [(one.id, one.title) for one in made.sections] == [
        ("condchain-mini", "MM-CondChain, synthetic data"),
        ("ccrv-mini", "CCRV-Bench, synthetic data"),
        ("vrex-mini", "V-REX, synthetic data"),
    ]
    for one in made.sections:
        assert "The data is synthetic" in one.notes[0]
        assert not any(table.published for table in one.tables)


def test_a_twin_and_drawn_data_of_one_model_are_two_rows(tmp_path: Path) -> None:
    write_run(tmp_path, "m", f"{TASK}_mini", condchain_lines("1111"))
    write_run(tmp_path, "m", TASK, condchain_lines("0000"), metadata=drawn("b" * 16))  # in the same run
    leaderboard = table(section(report(tmp_path), "condchain-mini"), "leaderboard")
    assert [row[0] for row in leaderboard.rows] == ["m (data=bbbbbbbb)", "m (data=" + leaderboard.rows[1][0][8:]]  # type: ignore[index]
    assert sorted(value(row["natural F1"]) for row in _rows(leaderboard)) == [0, 100]


def _rows(one: Any) -> list[dict[str, Any]]:
    return [dict(zip(one.columns, cells, strict=True)) for cells in one.rows]


def test_the_number_of_samples_is_no_identity_of_data(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("11"))
    assert flags(read_runs([tmp_path]).evaluations) == {"m": ()}


def test_unverified_data_is_said_once(tmp_path: Path) -> None:
    said = {"data": {"sha256": "a" * 16, "synthetic": False, "official": False}}
    for model in ("m1", "m2"):
        write_run(tmp_path, model, TASK, condchain_lines("11"), metadata=said)
        write_run(tmp_path, model, "ccrv", [ccrv_line(0)], metadata=said)
    made = report(tmp_path)
    (problem,) = made.problems
    assert (problem.severity, problem.where) == ("note", f"ccrv, {TASK}")
    assert problem.text == "Data not verified: its hash is not known to be that of the released files."
    kind = made.provenance[0].columns.index("kind of data")
    assert {row[kind] for row in made.provenance[0].rows} == {"not verified"}
    write_run(tmp_path, "m3", TASK, condchain_lines("11"), metadata=drawn("b" * 16))
    write_run(tmp_path, "m3", "vrex_direct", [vrex_line(0, "11", "direct")])
    assert {row[kind] for row in report(tmp_path).provenance[0].rows} == {"not verified", "synthetic", "unknown"}


# --- pairs


def test_other_data_is_never_paired_though_its_ids_are_the_same(tmp_path: Path) -> None:
    """Two models on data of seeds 7 and 8, in all three benchmarks: no difference, no p value, and a sentence."""
    items = [ccrv_line(n, (1, 1, n % 2), y) for n in range(24) for y in ("base", "Y1")]
    chains = [vrex_line(n, "11" if n % 3 else "01") for n in range(12)]
    for model, data in (("m7", "7" * 16), ("m8", "8" * 16)):
        write_run(tmp_path, model, TASK, condchain_lines("10" * 12), metadata=drawn(data))
        write_run(tmp_path, model, "ccrv", items, metadata=drawn(data))
        write_run(tmp_path, model, "vrex_following", chains, metadata=drawn(data))
    made = report(tmp_path)
    for one in made.sections:
        assert not [table for table in one.tables if table.id.endswith("-differences")]
        assert [note for note in one.notes if "Not compared" in note] == [
            "Not compared, since no figure of theirs is over items in common: m7 and m8. An item is its id and its "
            "data: the same id in other data is another item."
        ]
    assert [text for text in texts(made, "m7, ") if "data" in text] == ["Its data: 7777777777777777; others differ."]


def test_items_in_common_are_counted_and_said(tmp_path: Path) -> None:
    write_run(tmp_path, "a", TASK, condchain_lines("11111111"))
    write_run(tmp_path, "b", TASK, condchain_lines("0000"), expected=8, config={"limit": 4})
    found = table(section(report(tmp_path), "condchain"), "differences")
    assert row(found, "a - b", "natural F1")["items in common"] == 4


def test_a_model_s_runs_on_other_data_have_no_spread(tmp_path: Path) -> None:
    for date, data in ((DATE, "7" * 16), (LATER, "8" * 16)):
        for seed in (1, 2):
            write_run(
                tmp_path / f"{seed}", "m", TASK, condchain_lines("1" * seed * 2), date=date, metadata=drawn(data),
                arguments=f"seed={seed}",
            )  # fmt: skip
    spread = table(section(report(tmp_path), "condchain-mini"), "spread")
    assert [(row[0], row[2], row[3]) for row in spread.rows if "natural" in str(row[1])] == [
        ("m (data=77777777)", "seed", 2),
        ("m (data=88888888)", "seed", 2),
    ]


def test_a_constrained_item_is_held_against_the_baseline_of_its_own_data(tmp_path: Path) -> None:
    write_run(tmp_path, "m", "ccrv_x1_base", [ccrv_line(0)], metadata=drawn("7" * 16))
    write_run(tmp_path, "m", "ccrv_x1_y1", [ccrv_line(0, (0, 0, 0), "Y1")], date=LATER, metadata=drawn("8" * 16))
    overview = table(section(report(tmp_path), "ccrv-mini"), "overview")
    assert len(overview.rows) == 2
    assert all(cells["CDI"].n in (0, None) for cells in _rows(overview) if isinstance(cells["CDI"], Value))


def test_a_control_is_held_against_items_of_its_own_data(tmp_path: Path) -> None:
    control = ccrv_line(0)
    control["dcr_base"]["setting"] = "textonly"
    control["dcr"] = control.pop("dcr_base")
    write_run(tmp_path, "m", "ccrv", [ccrv_line(0)], metadata=drawn("7" * 16))
    write_run(tmp_path, "m", "ccrv_textonly", [control], date=LATER, metadata=drawn("8" * 16))
    controls = table(section(report(tmp_path), "ccrv-mini"), "controls")
    (only,) = _rows(controls)
    assert only["control - that"] is None and value(only["DCR"]) == 100


# --- health


@pytest.fixture
def troubled(tmp_path: Path) -> Path:
    """Runs with everything that is flagged: partial, failed, cut off, unjudged, simulated, unknown, other settings."""
    lines = condchain_lines("10-?1")
    write_run(tmp_path, "a", TASK, [*lines, condchain_line(5, "\\boxed{B2}", tokens=16383)], expected=8)
    write_run(tmp_path, "b", TASK, condchain_lines("11"), metadata={"simulated": True, "server": "http://b"})
    write_run(tmp_path, "c", TASK, condchain_lines("11"), metadata={"prompt": prompt("condchain", "mine")})
    write_run(tmp_path, "d", TASK, condchain_lines("11")).with_name(f"{DATE}_results.json").unlink()
    judge = {"model": "rules", "simulated": True, "prompts": []}
    write_run(tmp_path, "a", "ccrv", [ccrv_line(0, None), ccrv_line(1)], metadata={"judge": judge})
    write_run(tmp_path, "b", "ccrv", [ccrv_line(0)])
    apart = [vrex_line(n, "01", replies=["the answer is C", "(C)"]) for n in range(4)]
    for line in apart:
        line["final_acc"] |= {"ability": 0.0, "ability_lenient": 100.0}
    write_run(tmp_path, "a", "vrex_following", apart)
    return tmp_path


def test_health_is_the_sum_of_all_flags(troubled: Path) -> None:
    made, runs = report(troubled), read_runs([troubled])
    said = " ".join(f"{one.where}: {one.text}" for one in made.problems)
    found = {flag for of_label in flags(runs.evaluations).values() for flag in of_label}
    kinds = {
        "is partial": "Partial: 6 of 8 samples",
        "among": "among",
        "are unknown": "_results.json is missing",
    }
    assert len(found) >= 12
    for flag in found:
        kind = next((kind for kind in kinds if kind in flag), "")
        assert kinds.get(kind, flag) in said, flag
    for one in made.sections:
        shown = {
            flag
            for table in one.tables
            for row in table.rows
            for cell in row
            if isinstance(cell, Value)
            for flag in cell.flags
        }
        assert shown <= found


def test_readings_that_lie_apart_are_flagged_and_in_health(troubled: Path) -> None:
    sentence = (
        "vrex_following: ability is 0.0 by the official reading and 100.0 by the lenient one, 100.0 points apart: look "
        "at replies."
    )
    made = report(troubled)
    assert texts(made, "a, vrex_following") == [sentence]
    found = row(table(section(made, "vrex"), "leaderboard"), "a")["following ability"]
    assert isinstance(found, Value) and sentence in found.flags


def test_what_is_simulated_is_flagged_beside_every_figure(troubled: Path) -> None:
    made = report(troubled)
    model, judge = (
        "The model qwen2_5_vl is simulated: its figures are no results.",
        "The judge rules is simulated: its verdicts are no results.",
    )
    assert texts(made, f"b, {TASK}").count(model) == texts(made, "a, ccrv").count(judge) == 1
    for identity, label, sentence in (("condchain", "b", model), ("ccrv", "a", judge)):
        cells = [
            cell
            for table in section(made, identity).tables
            for row in table.rows
            if row[0] == label
            for cell in row
            if isinstance(cell, Value)
        ]
        assert cells and all(sentence in cell.flags for cell in cells)


def test_the_model_that_looks_answers_up_is_simulated_in_old_results_too(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("11"), model_name="", config={"model": "condchain_sim"})
    assert flags(read_runs([tmp_path]).evaluations) == {
        "condchain_sim": ("The model condchain_sim is simulated: its figures are no results.",)
    }


def test_a_run_on_another_server_is_flagged(tmp_path: Path) -> None:
    for model, server in (("a", "http://a"), ("b", "http://a"), ("c", "http://c")):
        write_run(tmp_path, model, TASK, condchain_lines("11"), metadata={"server": server, "requests_sha256": server})
    assert flags(read_runs([tmp_path]).evaluations) == {
        "a": (),
        "b": (),
        "c": (
            "Its requests as they are sent: http://c; most have http://a.",
            "Its server: http://c; most have http://a.",
        ),
    }


# --- counts


def test_failures_are_counted_by_their_reason(tmp_path: Path) -> None:
    lines = condchain_lines("1------1")
    kinds = ["error", "error", "budget", "refusal", "content_filter", "empty"]
    for line, kind in zip(lines[1:7], kinds, strict=True):
        line["path_f1"] |= {"failure": kind, "refused": kind in ("refusal", "content_filter"), "truncated": False}
    lines[0]["path_f1"] |= {"failure": None, "refused": False, "truncated": True}
    lines[7]["path_f1"] |= {"failure": None, "refused": True, "truncated": False}
    write_run(tmp_path, "m", TASK, lines)
    made = report(tmp_path)
    assert texts(made)[0].startswith(
        "6 failed requests (1 budget, 1 content filter, 1 empty, 2 error, 1 refusal), 3 refusals, 1 truncated reply "
        "among 8 samples. "
    )
    provenance = _rows(made.provenance[0])[0]
    assert [provenance[name] for name in ("failed", "failed: error", "failed: budget", "failed: not text")] == [
        6,
        2,
        1,
        0,
    ]
    assert (provenance["refused"], provenance["truncated replies"]) == (3, 1)


def test_logs_of_older_versions_tell_no_reasons(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("1-"))
    made = report(tmp_path)
    assert texts(made)[0].startswith("1 failed request among 2 samples.")
    provenance = _rows(made.provenance[0])[0]
    assert (provenance["failed"], provenance["failed: error"], provenance["refused"]) == (1, 0, 0)
    assert provenance["truncated replies"] == "unknown"


@pytest.mark.parametrize(("tokens", "truncated"), [(16382, 0), (16383, 1), (16384, 1), (None, 0)])
def test_a_reply_one_token_short_of_the_limit_was_cut_off(tmp_path: Path, tokens: int | None, truncated: int) -> None:
    write_run(tmp_path, "m", TASK, [condchain_line(0, tokens=tokens)])
    (one,) = read_runs([tmp_path]).evaluations
    assert one.health.truncated == truncated


# --- sections stand by themselves

_CCRV = {
    "judged": [ccrv_line(0), ccrv_line(1, (0, 0, 0))],
    "unjudged": [ccrv_line(2, None), ccrv_line(3, None)],
    "constrained": [ccrv_line(0, (1, 0, 0), "Y1")],
    "constrained, unjudged": [ccrv_line(1, None, "Y3")],
    "failed": [ccrv_line(4, reply=FAILED), ccrv_line(4, y="Y4", reply=FAILED)],
}
_CONDCHAIN = {
    "true": [condchain_line(0)],
    "false": [condchain_line(3)],
    "failed": [condchain_line(4, FAILED), condchain_line(5, FAILED)],
}
_VREX = {
    "following": [vrex_line(0, "101")],
    "failed": [vrex_line(1, "11", replies=[FAILED])],
    "one step": [vrex_line(2, "1")],
}


def some(kinds: dict[str, list[dict[str, Any]]]) -> list[tuple[str, ...]]:
    return [chosen for n in range(1, len(kinds) + 1) for chosen in combinations(kinds, n)]


@pytest.mark.parametrize(
    ("task", "kinds", "chosen"),
    [
        (task, kinds, chosen)
        for task, kinds in (("ccrv", _CCRV), (TASK, _CONDCHAIN), ("vrex_following", _VREX))
        for chosen in some(kinds)
    ],
)
@pytest.mark.parametrize("models", [1, 2])
def test_metrics_that_are_empty_end_no_section(
    tmp_path: Path, task: str, kinds: dict[str, list[dict[str, Any]]], chosen: tuple[str, ...], models: int
) -> None:
    for number in range(models):
        write_run(tmp_path, f"m{number}", task, [line for kind in chosen for line in kinds[kind]])
    made = report(tmp_path)
    assert len(made.sections) == 1 and "Could not be made" not in " ".join(texts(made))
    assert to_markdown(made)


@pytest.mark.parametrize(("x", "y"), list(product(("X1", "X2"), ("base", "Y1", "Y3", "Y4"))))
def test_a_cell_without_any_verdict_ends_no_report(tmp_path: Path, x: str, y: str) -> None:
    cell = f"ccrv_{x.lower()}_{y.lower()}"
    write_run(tmp_path, "m", f"{cell}_mini", [ccrv_line(n, None, y, x=x) for n in range(8)])
    write_run(tmp_path, "m", TASK, condchain_lines("11"))
    made = report(tmp_path)
    assert [one.id for one in made.sections] == ["condchain", "ccrv-mini"]
    assert "Could not be made" not in " ".join(texts(made))


@pytest.mark.parametrize("other", ["vrex_direct", "vrex_planning", "vrex_planning_hard"])
def test_tasks_of_a_model_without_samples_in_common_end_no_section(tmp_path: Path, other: str) -> None:
    mode = other.split("_")[1]
    lines = [vrex_line(1, "11", mode)]
    for line in lines:
        line["final_acc"]["set"] = "hard" if other.endswith("hard") else "standard"
    write_run(tmp_path, "m", "vrex_following", [vrex_line(0, "11")])
    write_run(tmp_path, "m", "vrex_planning", [vrex_line(0, "11", "planning")])
    write_run(tmp_path, "m", other, lines, date=LATER)
    made = report(tmp_path)
    assert len(made.sections) == 1 and "Could not be made" not in " ".join(texts(made))


def test_a_section_that_fails_is_named_and_ends_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> list[Section]:
        raise ZeroDivisionError("a figure over nothing")

    monkeypatch.setitem(building._PARTS, "ccrv", fails)
    monkeypatch.setattr(building, "read_items", fails)
    write_run(tmp_path, "m", "ccrv_mini", [ccrv_line(0)])
    write_run(tmp_path, "m", TASK, condchain_lines("11"))
    made = build(read_runs([tmp_path]))
    assert [one.id for one in made.sections] == ["condchain"]
    assert [(one.severity, one.where) for one in made.problems[:2]] == [
        ("error", "The browser of single items"),
        ("error", "The section of ccrv, synthetic data"),
    ]
    assert made.problems[1].text.startswith(
        "Could not be made: ZeroDivisionError: a figure over nothing (test_report_trust.py, line "
    )
    assert (made.items, made.left_out_items) == ((), 3)


def test_what_was_passed_over_is_in_the_report(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("11"))
    write_run(tmp_path, "m", TASK, condchain_lines("11"), date=LATER)
    made = report(tmp_path)
    assert made.provenance[1].title == "Runs that were passed over"
    assert [row[:4] for row in made.provenance[1].rows] == [("m", TASK, DATE, "a newer run has the same settings")]
    chosen = build(read_runs([tmp_path], run=DATE), with_items=False)
    assert [row[:4] for row in chosen.provenance[1].rows] == [("m", TASK, LATER, "--run asks for another")]
    assert len(select([tmp_path]).chosen) == 1
