"""Runs are read as they are: what is sound is used, what is not is said, and nothing is mixed in silence."""

from __future__ import annotations

import json
import math
import os
import random
import re
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_runs import (
    DATE,
    FAILED,
    GENERATION,
    LATER,
    ccrv_line,
    condchain_line,
    condchain_lines,
    prompt,
    vrex_line,
    write_many,
    write_run,
)

from condchain_tasks.data.errors import DataError
from condchain_tasks.report import columns, logs, selection
from condchain_tasks.report import runs as files
from condchain_tasks.report.build import build
from condchain_tasks.report.columns import COLUMNS
from condchain_tasks.report.evaluations import Evaluation, Runs, flags, read_runs
from condchain_tasks.report.health import examine
from condchain_tasks.report.plain import to_markdown
from condchain_tasks.report.processes import in_processes

TASK = "condchain_natural"
LATEST = "20260103_080000"
NUMBERS = count()


def only(runs: Runs) -> Evaluation:
    (one,) = runs.evaluations
    return one


def said(runs: Runs, severity: str | None = None) -> str:
    return "\n".join(f"{one.where}: {one.text}" for one in runs.problems if severity in (None, one.severity))


def labels(runs: Runs) -> list[str]:
    return [one.label for one in runs.evaluations]


# --- columns


def test_condchain_columns(tmp_path: Path) -> None:
    write_run(tmp_path, "lab/model", TASK, condchain_lines("10-?"))
    runs = read_runs([tmp_path])
    one = only(runs)
    assert (one.model, one.label, one.task, one.benchmark, one.synthetic) == (
        "lab/model",
        "lab/model",
        TASK,
        "condchain",
        False,
    )
    assert (one.n, one.expected, one.limited, one.is_partial, one.date) == (4, 4, False, False, DATE)
    assert list(one.strings("key")) == [f"natural-000{pair}/{path}" for pair in (0, 1) for path in ("true", "false")]
    assert list(one.strings("pair")) == ["natural-0000"] * 2 + ["natural-0001"] * 2
    assert list(one.columns["correct"]) == [100, 0, 0, 0]
    assert list(one.columns["failed"]) == [False, False, True, False]
    assert list(one.columns["no_answer"]) == [False, False, False, True]
    assert list(one.strings("pred_source")) == ["boxed", "boxed", "none", "none"]
    assert list(one.strings("gold")) == ["F1", "A1"] * 2
    assert (list(one.columns["depth"]), list(one.columns["diverge_layer"])) == ([2, 2, 3, 3], [1, 1, 2, 2])
    assert one.settings.prompts.startswith("condchain@")
    assert json.loads(one.settings.generation) == dict(GENERATION)


def test_ccrv_columns(tmp_path: Path) -> None:
    lines = [
        ccrv_line(0, (1, 1, 0)),
        ccrv_line(0, (1, 0, 0), "Y1"),
        ccrv_line(0, None, "Y4"),
        ccrv_line(0, (1, 1, 1), "Y3", reply=FAILED),
    ]
    write_run(tmp_path, "m", "ccrv", lines)
    one = only(read_runs([tmp_path]))
    assert list(one.strings("key")) == ["1000/X1/0/base", "1000/X1/0/Y1", "1000/X1/0/Y4", "1000/X1/0/Y3"]
    assert list(one.strings("item")) == ["1000/X1/0"] * 4
    assert one.columns["dcr"] == pytest.approx([200 / 3, 100 / 3, math.nan, 0], nan_ok=True)
    assert one.columns["l2"] == pytest.approx([100, 0, math.nan, 0], nan_ok=True)
    assert one.columns["csr"] == pytest.approx([math.nan, 0, 100, 0], nan_ok=True)  # Y1 forbids "ball"
    assert list(one.columns["missing"]) == [False, False, True, False]
    assert one.settings.judge == "gpt-5.1"


def test_vrex_columns(tmp_path: Path) -> None:
    write_run(tmp_path, "m", "vrex_following", [vrex_line(0, "101"), vrex_line(1, "01", replies=[FAILED])])
    write_run(tmp_path, "m", "vrex_direct", [vrex_line(0, "101", "direct")])
    write_run(tmp_path, "m", "vrex_planning_tf", [vrex_line(0, "101", "planning", step=2)])
    direct, following, forced = read_runs([tmp_path]).evaluations
    assert list(following.columns["step_right"]) == [True, False, True, False, False]
    assert list(following.columns["step_start"]) == [0, 3, 5]
    assert list(following.columns["ability"]) == [50, 0]
    assert list(following.columns["wrong_steps"]) == [1, 1]
    assert list(following.strings("category")) == ["deduction", "guessing"]
    assert list(direct.columns["step_right"]) == [True]
    assert (direct.columns["wrong_steps"][0], direct.columns["score"][0]) == (-1, 100)
    assert np.isnan(direct.columns["ability"]).all()
    assert (list(forced.strings("key")), list(forced.columns["step_right"])) == (["v0/2"], [False])


def test_every_column_is_there_and_as_long_as_the_samples(tmp_path: Path) -> None:
    write_many(tmp_path, models=2, samples=2_400)
    runs = read_runs([tmp_path])
    assert not runs.problems
    assert len(runs.evaluations) == 10
    for one in runs.evaluations:
        assert one.columns.keys() - {"step_start"} == COLUMNS[one.benchmark].keys()
        assert {len(values) for name, values in one.columns.items() if not name.startswith("step_")} == {one.n}
        assert len(set(one.strings("key"))) == one.n
        assert all(max(one.columns[name]) < len(names) for name, names in one.names.items())


def test_long_files_give_what_short_ones_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path, "m", "vrex_following", [vrex_line(number, "1011"[number % 3 :]) for number in range(50)])
    one = only(read_runs([tmp_path]))
    monkeypatch.setattr(columns, "_CHUNK", 7)
    other = only(read_runs([tmp_path]))
    assert one.names == other.names
    for name, values in one.columns.items():
        assert np.array_equal(values, other.columns[name], equal_nan=values.dtype.kind == "f")


# --- bad input


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("hello")
    runs = read_runs([tmp_path / "empty", tmp_path / "notes.txt", tmp_path / "gone"])
    assert (runs.evaluations, runs.passed_over) == ((), ())
    assert [one.severity for one in runs.problems] == ["error"] * 3
    assert "gone: Does not exist." in said(runs)
    assert said(runs).count("Is no run of lmms-eval") == 2


def test_a_killed_run_is_used_as_far_as_it_goes(tmp_path: Path) -> None:
    log = write_run(tmp_path, "m", TASK, condchain_lines("1" * 20))
    log.write_bytes(log.read_bytes()[:-700])
    runs = read_runs([tmp_path])
    one = only(runs)
    assert (one.n, one.expected, one.is_partial) == (19, 20, True)
    assert f"{log}: Line 20 is left out: no JSON, or cut off." in said(runs, "warning")
    assert "Partial: 19 of 20 samples; the run is not whole." in said(runs, "warning")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"results": 3}', '{"results": {}}', "\xff", "[" * 10_000])
def test_results_that_cannot_be_read_leave_samples_without_settings(tmp_path: Path, content: str) -> None:
    log = write_run(tmp_path, "lab/model", TASK, condchain_lines("1" * 4))
    log.with_name(f"{DATE}_results.json").write_text(content, encoding="latin-1")
    runs = read_runs([tmp_path])
    one = only(runs)
    assert (one.model, one.n, one.expected, one.settings.is_known) == ("lab/model", 4, None, False)
    assert "settings are unknown" in said(runs, "warning")
    assert flags(runs.evaluations)[one.label] == (
        f"The settings of {TASK} are unknown: the run's results are missing.",
    )


def test_a_log_without_results_is_partial_if_a_line_is_cut(tmp_path: Path) -> None:
    log = write_run(tmp_path, "m", TASK, condchain_lines("1" * 4))
    log.with_name(f"{DATE}_results.json").unlink()
    assert not only(read_runs([tmp_path])).is_partial
    log.write_bytes(log.read_bytes()[:-10])
    runs = read_runs([tmp_path])
    assert (only(runs).n, only(runs).expected, only(runs).is_partial) == (3, 4, True)
    assert "_results.json is missing" in said(runs, "warning")


def spoil(record: dict[str, Any], **changes: Any) -> dict[str, Any]:
    line = condchain_line(0)
    line["path_f1"] |= changes
    return line | record


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (spoil({}, score=150.0), "field path_f1.score"),
        (spoil({}, score="100"), "field path_f1.score"),
        (spoil({}, score=math.nan), "field path_f1.score"),
        (spoil({}, path="both"), "field path_f1.path"),
        (spoil({}, depth=-1), "field path_f1.depth"),
        (spoil({}, depth=2**40), "field path_f1.depth"),
        (spoil({}, pair="p" * 3_000), "field path_f1.pair"),
        (spoil({"path_f1": 3}), "field path_f1"),
        (spoil({"path_f1_lenient": {}}), "field path_f1_lenient.score: Field required"),
        (spoil({"doc_id": [1]}), "field doc_id"),
        ({"doc_id": 0}, "field path_f1: Field required"),
        ([1, 2], "should be an object"),
    ],
)
def test_a_record_that_is_not_what_the_task_logs_is_left_out(tmp_path: Path, line: Any, fault: str) -> None:
    write_run(tmp_path, "m", TASK, [line, *condchain_lines("0111")[1:]])
    runs = read_runs([tmp_path])
    assert (only(runs).n, only(runs).is_partial) == (3, True)
    assert "Line 1 is left out: " in said(runs, "warning")
    assert fault in said(runs, "warning")


@pytest.mark.parametrize("field", ["key", "failed", "no_answer", "image", "x", "y", "setting", "l1", "csr", "missing"])
def test_a_record_of_ccrv_that_lacks_a_field_is_left_out(tmp_path: Path, field: str) -> None:
    broken = ccrv_line(1)
    del broken["dcr_base"][field]
    write_run(tmp_path, "m", "ccrv", [ccrv_line(0), broken])
    runs = read_runs([tmp_path])
    assert only(runs).n == 1
    assert f"Line 2 is left out: expected a field '{field}' under dcr or dcr_base." in said(runs, "warning")


def test_a_record_of_vrex_that_is_not_what_the_task_logs_is_left_out(tmp_path: Path) -> None:
    longer = vrex_line(1, "11")
    longer["final_acc"]["length"] = 1
    write_run(tmp_path, "m", "vrex_following", [vrex_line(0, "11"), longer, {"doc_id": 9}])
    runs = read_runs([tmp_path])
    assert only(runs).n == 1
    assert "Line 2 is left out: expected no more steps than were asked." in said(runs)
    assert "Line 3 is left out: expected a record under final_acc or step_acc." in said(runs)


def test_a_document_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    same_key = condchain_line(1) | {"doc_id": 77}
    write_run(tmp_path, "m", TASK, [*condchain_lines("10"), condchain_line(0, "\\boxed{B2}"), same_key], expected=2)
    runs = read_runs([tmp_path])
    assert list(only(runs).columns["correct"]) == [100, 0]
    assert not only(runs).is_partial
    assert "2 lines are left out, the first is line 3: the document is there twice, and the first counts." in said(runs)


def test_lines_that_are_too_long_are_skipped_and_large_files_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 5_000)
    monkeypatch.setattr(logs, "LARGE_BYTES", 10_000)
    lines = condchain_lines("1111")
    lines[1]["input"] = "x" * 23_000
    log = write_run(tmp_path, "m", TASK, lines)
    runs = read_runs([tmp_path])
    assert list(only(runs).strings("path")) == ["true", "true", "false"]
    assert "Line 2 is left out: longer than 5,000 bytes." in said(runs, "warning")
    assert f"{log}: Has 0.0 GB; it was read line by line." in said(runs, "note")


def test_blank_lines_a_byte_order_mark_and_crlf_are_accepted(tmp_path: Path) -> None:
    log = write_run(tmp_path, "m", TASK, condchain_lines("11"))
    first, second = log.read_bytes().splitlines()
    log.write_bytes(b"\xef\xbb\xbf" + first + b"\r\n\r\n  \n" + second)
    runs = read_runs([tmp_path])
    assert (only(runs).n, runs.problems) == (2, ())


def test_nothing_sound_is_no_evaluation(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, [{"doc_id": 1}])
    write_run(tmp_path, "m", "condchain_gui", [])
    runs = read_runs([tmp_path])
    assert runs.evaluations == ()
    assert said(runs, "error").count("Holds no sound sample") == 2


def test_results_without_samples_and_tasks_of_others_are_said(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "m", TASK, condchain_lines("11"), log_samples=False)
    write_run(tmp_path / "b", "m", TASK, condchain_lines("11"))
    write_run(tmp_path / "b", "m", "condchain_gui", condchain_lines("11", "gui"), log_samples=False)
    write_run(tmp_path / "b", "m", "mmmu_val", [{"doc_id": 0}])
    runs = read_runs([tmp_path])
    assert only(runs).task == TASK
    assert "a/m/20260101_080000_results.json: Has results and no samples" in said(runs, "note")
    assert "Has no samples of condchain_gui" in said(runs, "warning")
    assert "Samples of tasks of others are left out: mmmu_val." in said(runs, "note")


def test_one_bad_file_does_not_harm_another(tmp_path: Path) -> None:
    write_run(tmp_path, "good", TASK, condchain_lines("11"))
    bad = write_run(tmp_path, "bad", TASK, condchain_lines("11"))
    bad.write_bytes(b"\x00" * 1_000)
    runs = read_runs([tmp_path])
    assert labels(runs) == ["good"]
    assert "Holds no sound sample" in said(runs, "error")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_of_any_kind_is_no_exception(tmp_path: Path, data: st.DataObject) -> None:
    rng, root = random.Random(data.draw(st.integers(0, 2**32))), tmp_path / str(next(NUMBERS))
    log = write_run(root, "m", TASK, condchain_lines("10-?"))
    path = log if data.draw(st.booleans()) else log.with_name(f"{DATE}_results.json")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    runs = read_runs([root])
    assert sum(one.n for one in runs.evaluations) <= 4
    assert runs.evaluations or any(one.severity == "error" for one in runs.problems)


# --- which run counts


def test_the_newest_run_counts_and_the_others_are_listed(tmp_path: Path) -> None:
    old = write_run(tmp_path / "night1", "lab/model", TASK, condchain_lines("1100"))
    write_run(tmp_path / "night2" / "deep" / "er", "lab/model", TASK, condchain_lines("1111"), date=LATER)
    runs = read_runs([tmp_path, tmp_path / "night1", old])
    assert (only(runs).label, only(runs).date, list(only(runs).columns["correct"])) == ("lab/model", LATER, [100] * 4)
    (older,) = runs.passed_over
    assert (older.model, older.date, older.path) == ("lab/model", DATE, str(old))
    assert older.reason == "a newer run has the same settings"


def test_a_file_of_results_or_samples_stands_for_its_run(tmp_path: Path) -> None:
    old = write_run(tmp_path, "m", TASK, condchain_lines("1100"))
    write_run(tmp_path, "m", TASK, condchain_lines("1111"), date=LATER)
    assert only(read_runs([old])).date == DATE
    assert only(read_runs([old.with_name(f"{DATE}_results.json")])).date == DATE


@pytest.mark.parametrize("how", ["limit", "offset", "cut"])
def test_a_newer_partial_run_does_not_replace_a_whole_one(tmp_path: Path, how: str) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("1" * 8))
    more = {} if how == "cut" else {"config": {how: 4}}
    log = write_run(tmp_path, "m", TASK, condchain_lines("0000"), date=LATER, expected=8, **more)
    runs = read_runs([tmp_path])
    assert (only(runs).date, only(runs).n, only(runs).is_partial) == (DATE, 8, False)
    assert f"{log}: It is newer than {DATE}_samples_{TASK}.jsonl and not whole" in said(runs, "warning")
    assert [one.reason for one in runs.passed_over] == ["it is not whole, and an older run is"]


def test_of_partial_runs_the_one_with_the_most_samples_counts_and_is_marked(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("1" * 6), expected=8, config={"limit": 6})
    write_run(tmp_path, "m", TASK, condchain_lines("0000"), date=LATER, expected=8, config={"limit": 4})
    runs = read_runs([tmp_path])
    assert (only(runs).n, only(runs).limited, only(runs).is_partial) == (6, True, True)
    assert "Partial: 6 of 8 samples; --limit or --offset was given." in said(runs, "warning")
    assert flags(runs.evaluations) == {"m": (f"{TASK} is partial: 6 of 8 samples.",)}


def test_the_embedded_twin_is_never_mixed_with_the_benchmark(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("1100"))
    write_run(tmp_path, "m", f"{TASK}_mini", condchain_lines("1111"), date=LATER)
    runs = read_runs([tmp_path])
    assert [(one.task, one.synthetic, one.label) for one in runs.evaluations] == [
        (TASK, False, "m"),
        (f"{TASK}_mini", True, "m"),
    ]
    assert runs.passed_over == ()


def judged(root: Path, layers: tuple[int, int, int] | None, date: str, judge: str) -> Path:
    metadata = {"judge": {"model": judge, "prompts": []}}
    more = {"judged": {"run": DATE, "tasks": ["ccrv"]}} if "-judged-" in date else {}
    return write_run(root, "m", "ccrv", [ccrv_line(0, layers)], date=date, metadata=metadata, **more)


def test_verdicts_that_came_later_stand_for_the_run(tmp_path: Path) -> None:
    judged(tmp_path, None, DATE, "none")
    write_run(tmp_path, "m", TASK, condchain_lines("11"))
    judged(tmp_path, (1, 1, 1), f"{DATE}-judged-20260105_000000_000000", "gpt-5.1")
    runs = read_runs([tmp_path])
    assert [(one.task, one.label) for one in runs.evaluations] == [("ccrv", "m"), (TASK, "m")]
    assert runs.evaluations[0].columns["dcr"][0] == 100
    assert [one.reason for one in runs.passed_over] == ["verdicts were added later"]
    assert not said(runs)


def test_a_later_run_stands_for_one_that_was_judged_after_it(tmp_path: Path) -> None:
    judged(tmp_path, (0, 0, 0), DATE, "gpt-5.1")
    judged(tmp_path, (1, 0, 0), f"{DATE}-judged-20260105_000000_000000", "gpt-5.1")
    judged(tmp_path, (1, 1, 1), LATER, "gpt-5.1")
    assert only(read_runs([tmp_path])).date == LATER


def test_judging_that_was_broken_off_leaves_the_run_as_it_was(tmp_path: Path) -> None:
    judged(tmp_path, (1, 1, 1), DATE, "gpt-5.1")
    date = f"{DATE}-judged-20260105_000000_000000"
    judged(tmp_path, (0, 0, 0), date, "gpt-5.1").with_name(f"{date}_results.json").unlink()
    assert only(read_runs([tmp_path])).date == DATE


def test_runs_that_contradict_each_other_are_told_at_temperature_0_alone(tmp_path: Path) -> None:
    for model, temperature in (("greedy", 0), ("sampled", 0.7)):
        generation = {**GENERATION, "temperature": temperature}
        for date, pattern, f1 in ((DATE, "1100", 50.0), (LATER, "1111", 100.0), (LATEST, "1111", 100.0)):
            results = {TASK: {"path_f1,none": f1}}
            lines = condchain_lines(pattern)
            write_run(tmp_path, model, TASK, lines, date=date, generation=generation, results=results)
    runs = read_runs([tmp_path])
    (problem,) = [one for one in runs.problems if one.severity == "note"]
    assert f"path_f1 is 100.00 here and 50.00 in the run {DATE}" in problem.text
    assert "greedy" in problem.where


# --- families


def test_runs_with_other_settings_stand_side_by_side(tmp_path: Path) -> None:
    for number, temperature in enumerate((0, 0.7)):
        for seed in (1, 2):
            date = f"2026010{number}_08000{seed}"
            generation = {**GENERATION, "temperature": temperature}
            write_run(
                tmp_path,
                "lab/m",
                TASK,
                condchain_lines("11"),
                date=date,
                generation=generation,
                arguments=f"seed={seed}",
            )
    runs = read_runs([tmp_path])
    assert labels(runs) == [f"lab/m (temperature={t}, seed={seed})" for t in ("0", "0.7") for seed in (1, 2)]
    assert {one.model for one in runs.evaluations} == {"lab/m"}
    assert not runs.passed_over


def test_what_only_one_run_has_is_said_of_that_one(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("11"))
    write_run(tmp_path, "m", TASK, condchain_lines("11"), date=LATER, arguments="max_pixels=1000,num_concurrent=8")
    assert labels(read_runs([tmp_path])) == ["m", "m (max_pixels=1000)"]


def test_how_a_run_was_carried_out_makes_no_family(tmp_path: Path) -> None:
    write_run(
        tmp_path, "m", TASK, condchain_lines("11"), arguments="num_concurrent=8,api_key=[REDACTED],device_map=auto"
    )
    write_run(tmp_path, "m", TASK, condchain_lines("11"), date=LATER, arguments="tensor_parallel_size=2")
    assert labels(read_runs([tmp_path])) == ["m"]


def test_no_label_and_no_setting_holds_a_secret(tmp_path: Path) -> None:
    for date, more in ((DATE, "1"), (LATER, "2")):
        write_run(
            tmp_path,
            "m",
            TASK,
            condchain_lines("11"),
            date=date,
            generation={**GENERATION, "extra_headers": {"X": "s3cret"}},
            arguments=f"api_base=http://u:s3cret@h{more}/v1?k=s3cret,api_key=s3cret,proxy=u:s3cret@p:1",
        )
    runs = read_runs([tmp_path])
    assert labels(runs) == ["m (api_base=http://h1/v1)", "m (api_base=http://h2/v1)"]
    assert "s3cret" not in repr([one.settings for one in runs.evaluations])


def test_a_secret_in_whatever_field_of_results_is_in_no_report(tmp_path: Path) -> None:
    secret = "http://u:s3cretS3cret@h/v1?key=s3cretS3cret"
    metadata = {
        "condchain_tasks": secret,
        "lmms_eval": f"api_key={secret}",
        "prompt": {"name": secret, "sha256": json.dumps({"password": secret})},
        "data": {"source": secret, "root": secret, "revision": secret, "sha256": secret},
        "judge": {"model": secret, "server": secret, "prompts": [{"name": secret, "sha256": secret}]},
        "requests_sha256": secret,
        "server": secret,
        "simulated": True,
    }
    for date in (DATE, LATER):
        write_run(
            tmp_path / "runs",
            "m",
            TASK,
            condchain_lines("11"),
            date=date,
            metadata={**metadata, "requests_sha256": secret + date},
            config={"model": secret},
            model_name=secret,
            lmms_eval_version=secret,
            system_instruction_sha=secret,
        )
    report = build(read_runs([tmp_path / "runs"]))
    assert len(report.sections[0].tables[0].rows) >= 1
    assert "s3cret" not in to_markdown(report) + repr(report)


def test_one_label_is_one_wording_in_all_tasks(tmp_path: Path) -> None:
    """The domains have different prompts by design; a run with another prompt for one of them is another one in all."""
    for date, wording in ((DATE, ""), (LATER, "other")):
        write_run(
            tmp_path,
            "m",
            "condchain_gui",
            condchain_lines("11", "gui"),
            date=date,
            metadata={"prompt": prompt("condchain_gui", wording)},
        )
        write_run(tmp_path, "m", TASK, condchain_lines("11"), date=date)
    runs = read_runs([tmp_path])
    usual, other = (prompt("condchain_gui", wording)["sha256"][:8] for wording in ("", "other"))
    assert {(one.task, one.label) for one in runs.evaluations} == {
        ("condchain_gui", f"m (prompts={usual})"),
        ("condchain_gui", f"m (prompts={other})"),
        (TASK, f"m (prompts={other})"),
    }
    (older,) = runs.passed_over  # with the same prompt and settings, natural was run twice
    assert (older.task, older.date) == (TASK, DATE)


def test_tasks_in_several_runs_are_one_model(tmp_path: Path) -> None:
    for number, domain in enumerate(("natural", "chart", "gui")):
        write_run(tmp_path, "m", f"condchain_{domain}", condchain_lines("11", domain), date=f"2026010{number}_080000")
    assert labels(read_runs([tmp_path])) == ["m"] * 3


def test_tasks_with_different_settings_never_have_one_label(tmp_path: Path) -> None:
    write_run(
        tmp_path, "m", "condchain_gui", condchain_lines("11", "gui"), generation={**GENERATION, "max_new_tokens": 64}
    )
    write_run(tmp_path, "m", TASK, condchain_lines("11"), date=LATER)
    assert labels(read_runs([tmp_path])) == ["m (max_new_tokens=64)", "m (max_new_tokens=16384)"]


def test_models_with_the_same_last_names_keep_their_whole_names(tmp_path: Path) -> None:
    for place in ("x", "y"):
        write_run(tmp_path / place, f"/{place}/sft/checkpoint-100", TASK, condchain_lines("11"))
    write_run(tmp_path, "/z/dpo/checkpoint-100", TASK, condchain_lines("11"))
    assert labels(read_runs([tmp_path])) == ["/x/sft/checkpoint-100", "/y/sft/checkpoint-100", "dpo/checkpoint-100"]


def test_a_model_without_a_name_is_called_by_its_backend(tmp_path: Path) -> None:
    for policy in ("random", "oracle"):
        config = {"model": "condchain_sim", "model_args": f"policy={policy}"}
        write_run(tmp_path / policy, "m", TASK, condchain_lines("11"), model_name="", config=config)
    assert labels(read_runs([tmp_path])) == ["condchain_sim (policy=oracle)", "condchain_sim (policy=random)"]


def test_arguments_tell_runs_apart_in_all_benchmarks(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("11"), arguments="seed=1")
    write_run(tmp_path, "m", TASK, condchain_lines("11"), date=LATER, arguments="seed=2")
    write_run(tmp_path, "m", "ccrv", [ccrv_line(0)], date=LATER)
    assert labels(read_runs([tmp_path])) == ["m (seed=2)", "m (seed=1)", "m (seed=2)"]


def test_a_limit_that_leaves_nothing_out_is_none(tmp_path: Path) -> None:
    write_run(tmp_path, "a", TASK, condchain_lines("1111"), config={"limit": 4})
    write_run(tmp_path, "b", TASK, condchain_lines("11"), expected=4, config={"limit": 0.5})
    assert [one.limited for one in read_runs([tmp_path]).evaluations] == [False, True]


def test_a_run_without_results_is_told_from_the_same_model_with_known_settings(tmp_path: Path) -> None:
    write_run(tmp_path, "/data/lab/m", TASK, condchain_lines("11"))
    write_run(tmp_path, "/data/lab/m", TASK, condchain_lines("00"), date=LATER).with_name(
        f"{LATER}_results.json"
    ).unlink()
    runs = read_runs([tmp_path])
    assert labels(runs) == ["lab/m", "lab/m (settings unknown)"]


def test_no_task_has_a_label_twice(tmp_path: Path) -> None:
    """Nor has another run it in another task: cut values, and a model that is called like one with settings."""
    long = "p" * 80
    for folder, last, domain in (("a", "a", "natural"), ("b", "b", "natural"), ("c", "b", "chart")):
        lines = condchain_lines("11", domain)
        write_run(tmp_path / folder, "m", f"condchain_{domain}", lines, arguments=f"processor={long}{last}")
    found = {(one.path.split("/")[-3], one.label) for one in read_runs([tmp_path]).evaluations}
    (of_a,) = {label for folder, label in found if folder == "a"}
    (of_b,) = {label for folder, label in found if folder in "bc"}
    assert of_a != of_b
    assert all(re.fullmatch(rf"m \(processor={long[:60]}\) #[0-9a-f]{{6}}", label) for label in (of_a, of_b))

    other = tmp_path / "other"
    write_run(other, "m (seed=1)", TASK, condchain_lines("11"))
    for seed, domain, date in ((1, "chart", DATE), (2, "gui", LATER)):
        lines = condchain_lines("11", domain)
        write_run(other, "m", f"condchain_{domain}", lines, date=date, arguments=f"seed={seed}")
    assert len(set(labels(read_runs([other])))) == 3


# --- flags


def test_flags_say_what_differs_from_most(tmp_path: Path) -> None:
    for model in "abc":
        write_run(tmp_path, model, TASK, condchain_lines("11"))
    own = prompt("condchain", "mine")
    generation = {**GENERATION, "temperature": 0.7, "top_p": 0.9}
    data = {"sha256": "feedfeedfeedfeed"}
    write_run(
        tmp_path,
        "d",
        TASK,
        condchain_lines("11"),
        generation=generation,
        metadata={"prompt": own, "data": data, "condchain_tasks": "0.2.0"},
        lmms_eval_version="main@0123abcd",
    )
    found = flags(read_runs([tmp_path]).evaluations)
    assert found["a"] == found["b"] == found["c"] == ()
    text = "\n".join(found["d"])
    assert len(found["d"]) == 6
    assert f"Its prompts: condchain@{own['sha256']}; most have condchain@{prompt('condchain')['sha256']}." in text
    assert "Its generation setting temperature: 0.7; most have 0." in text
    assert "Its generation setting top_p: 0.9; most have none." in text
    assert "Its data: feedfeedfeedfeed; most have " in text
    assert "Its version of lmms-eval: main@0123abcd; most have none." in text
    assert "Its version of this package: 0.2.0; most have 0.1.0." in text


def test_failed_requests_and_missing_verdicts_are_flagged_and_unread_answers_are_not(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("1-??"))
    write_run(tmp_path, "m", "ccrv", [ccrv_line(0, None), ccrv_line(1)])
    write_run(tmp_path, "unread", TASK, condchain_lines("1?"))
    assert flags(read_runs([tmp_path]).evaluations) == {
        "m": ("ccrv has 1 missing verdict among 2 samples.", f"{TASK} has 1 failed request among 4 samples."),
        "unread": (),
    }


def test_without_a_majority_all_are_flagged_and_tasks_are_not_compared(tmp_path: Path) -> None:
    judge = {"judge": {"model": "other", "prompts": [prompt("ccrv_judge_baseline")]}}
    write_run(tmp_path, "a", "ccrv", [ccrv_line(0)])
    write_run(tmp_path, "b", "ccrv", [ccrv_line(0)], metadata=judge)
    write_run(tmp_path, "a", "condchain_gui", condchain_lines("11"))
    assert flags(read_runs([tmp_path]).evaluations) == {
        "a": ("Its judge: gpt-5.1; others differ.",),
        "b": ("Its judge: other; others differ.",),
    }


# --- health


def test_bounds_of_path_f1_by_hand(tmp_path: Path) -> None:
    # True paths: 1, 0, failed, 1. False paths: 1, 1, no answer, 0 at the limit of tokens.
    lines = condchain_lines("1101-?1")
    lines.append(condchain_line(7, "\\boxed{B2}", tokens=16384))
    write_run(tmp_path, "m", TASK, lines)
    runs = read_runs([tmp_path])
    # Now 2 of 4 and 2 of 4; at worst the same; at best 3 of 4 and 4 of 4.
    assert "m, condchain_natural: 1 failed request, 1 unread answer, 1 truncated reply among 8 samples." in said(runs)
    assert "Path F1 is 50.0: 50.0 if all of them were wrong, 85.7 if all were right." in said(runs, "warning")
    assert list(only(runs).columns["truncated"]) == [False] * 7 + [True]


def test_unread_answers_alone_are_a_note(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("1?"))
    assert [one.severity for one in read_runs([tmp_path]).problems] == ["note"]


def test_bounds_of_dcr_by_hand(tmp_path: Path) -> None:
    lines = [
        ccrv_line(0, (1, 1, 1)),
        ccrv_line(0, (1, 1, 1), "Y1"),
        ccrv_line(0, None, "Y3"),
        ccrv_line(0, (0, 0, 0), "Y4"),
    ]
    write_run(tmp_path, "m", "ccrv", lines)
    text = said(read_runs([tmp_path]), "warning")
    assert "1 missing verdict among 4 samples. DCR is 50.0: 33.3 if all of them were wrong, 66.7" in text
    assert "EDCR" not in text and " eDCR is 0.0: 0.0 if all of them were wrong, 33.3 if all were right." in text
    assert "`condchain judge`" in text


def test_without_a_judge_dcr_cannot_be_said(tmp_path: Path) -> None:
    write_run(tmp_path, "m", "ccrv", [ccrv_line(0, None, "Y1"), ccrv_line(1, None, "Y1")])
    assert "DCR cannot be said: 0.0 if all of them were wrong, 100.0" in said(read_runs([tmp_path]))


def test_bounds_of_ability_are_means_over_categories(tmp_path: Path) -> None:
    lines = [vrex_line(0, "11"), vrex_line(4, "11"), vrex_line(1, "10", replies=[FAILED])]
    write_run(tmp_path, "m", "vrex_following", lines)
    write_run(
        tmp_path, "m", "vrex_direct", [vrex_line(0, "11", "direct"), vrex_line(1, "11", "direct", replies=["Hm."])]
    )
    text = said(read_runs([tmp_path]))
    assert "m, vrex_following: 1 failed request (1 error) among 3 samples. Ability is 50.0: 50.0 if all" in text
    assert "Accuracy is 50.0: 50.0 if all of them were wrong, 100.0 if all were right." in text
    assert "m, vrex_direct: 1 unread answer among 2 samples. Accuracy is 50.0: 50.0 if all" in text


@given(pattern=st.text("10-?", min_size=2, max_size=12), tokens=st.lists(st.booleans(), min_size=12, max_size=12))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_figure_lies_between_its_bounds(tmp_path: Path, pattern: str, tokens: list[bool]) -> None:
    path = tmp_path / "log.jsonl"
    lines = condchain_lines(pattern)
    for line, cut in zip(lines, tokens, strict=False):
        line["token_counts"] = [{"output_tokens": 9 if cut else 3}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    health = examine("condchain", columns.read_columns(path, "condchain", max_tokens=9))
    (bound,) = health.bounds
    assert bound.worst <= bound.value <= bound.best
    assert health.truncated == sum(tokens[: len(pattern)])
    assert (health.failed, health.unread) == (pattern.count("-"), pattern.count("?"))
    if not health.told:
        assert bound.worst == bound.value == bound.best


# --- what does not belong together


def test_samples_of_another_task_are_left_out(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("11", "chart"))
    write_run(tmp_path, "m", "ccrv_x1_y1", [ccrv_line(0, y="Y4")])
    write_run(tmp_path, "m", "vrex_following", [vrex_line(0, "11", "planning")])
    write_run(tmp_path, "m", "condchain_natural_mini_v2", condchain_lines("11"))
    runs = read_runs([tmp_path])
    assert not runs.evaluations
    assert "Holds samples of another task; it is left out: domain 'chart', expected natural." in said(runs, "error")
    assert "y 'Y4', expected Y1." in said(runs, "error")
    assert "mode 'planning', expected following." in said(runs, "error")
    assert "condchain_natural_mini_v2" in said(runs, "note")


def test_figures_that_the_samples_do_not_give_are_told(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("1111"), results={TASK: {"path_f1,none": 40.0}})
    write_run(tmp_path, "same", TASK, condchain_lines("1111"), results={TASK: {"path_f1,none": 100.0}})
    (problem,) = read_runs([tmp_path]).problems
    assert "path_f1 is 100.00 by the samples and 40.00 by" in problem.text and "/m/" in problem.where


def test_more_samples_than_the_task_has_are_not_the_whole(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("1111" + "0" * 8), expected=4)
    runs = read_runs([tmp_path])
    assert only(runs).is_partial
    assert "Has 12 samples, and the task 4: two runs in one file?" in said(runs, "warning")


def test_whether_a_run_is_whole_is_not_guessed(tmp_path: Path) -> None:
    log = write_run(tmp_path, "m", TASK, condchain_lines("1111"))
    path = log.with_name(f"{DATE}_results.json")
    results = json.loads(path.read_text(encoding="utf-8"))
    del results["n-samples"]
    path.write_text(json.dumps(results), encoding="utf-8")
    assert "Whether 4 samples are all is not known" in said(read_runs([tmp_path]), "warning")


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("condchain_natural", {"diverge_layer": 100_000}),
        ("condchain_natural", {"depth": 27}),
        ("condchain_natural", {"complexity": "c1"}),
        ("vrex_following", {"category": "Deduction"}),
    ],
)
def test_values_that_no_task_logs_are_faults(tmp_path: Path, name: str, record: dict[str, Any]) -> None:
    lines = condchain_lines("1111") if name == TASK else [vrex_line(place, "11") for place in range(4)]
    (entry,) = {"path_f1", "final_acc"} & lines[1].keys()
    lines[1][entry] |= record
    write_run(tmp_path, "m", name, lines)
    runs = read_runs([tmp_path])
    assert only(runs).n == 3
    assert f"field {entry}.{next(iter(record))}" in said(runs, "warning")


def test_unreadable_folders_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("11"))
    (tmp_path / "shut").mkdir()
    scandir = os.scandir

    def listed(path: Any) -> Any:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", listed)
    runs = read_runs([tmp_path])
    assert labels(runs) == ["m"]
    (problem,) = runs.problems
    assert (problem.severity, problem.where) == ("error", str(tmp_path / "shut"))
    assert problem.text == "Cannot be read: Permission denied."


@pytest.mark.parametrize("size", [10**400, -1])
def test_numbers_beyond_reason_are_one_run_s_problem(tmp_path: Path, size: int) -> None:
    write_run(tmp_path, "good", TASK, condchain_lines("11"))
    for model, change in (("size", {"n-samples": {TASK: {"original": size}}}), ("figure", {"results": {TASK: {}}})):
        log = write_run(tmp_path, model, TASK, condchain_lines("11"))
        path = log.with_name(f"{DATE}_results.json")
        results = json.loads(path.read_text(encoding="utf-8")) | change
        results["results"][TASK]["path_f1,none"] = size
        path.write_text(json.dumps(results), encoding="utf-8")
    assert len(read_runs([tmp_path]).evaluations) == 3


def test_deeply_nested_settings_are_one_run_s_problem(tmp_path: Path) -> None:
    nested: Any = 1
    for _ in range(900):
        nested = [nested]
    write_run(tmp_path, "m", TASK, condchain_lines("11"), generation={**GENERATION, "odd": nested})
    assert "settings are nested more than 20 deep" in said(read_runs([tmp_path]), "warning")


# --- in processes


def test_reading_in_processes_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_many(tmp_path, models=2, samples=400)
    here = read_runs([tmp_path])
    monkeypatch.setattr(selection, "_MUCH_BYTES", 0)
    monkeypatch.setattr(selection, "in_processes", spread := Mock(wraps=in_processes))
    there = read_runs([tmp_path])
    assert spread.called
    assert there.problems == here.problems
    assert labels(there) == labels(here)
    for one, other in zip(here.evaluations, there.evaluations, strict=True):
        assert one.names == other.names
        assert all(np.array_equal(values, other.columns[name], equal_nan=True) for name, values in one.columns.items())


def test_a_process_that_is_killed_is_one_sentence() -> None:
    with pytest.raises(DataError, match="too little memory"):
        list(in_processes(os._exit, [1, 1, 1]))
    assert list(in_processes(abs, [-1, 2])) == [1, 2]
