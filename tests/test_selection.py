"""One rule says which run counts, whoever asks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from report_runs import DATE, GENERATION, LATER, ccrv_line, condchain_lines, prompt, vrex_line, write_run

from condchain_tasks.data.errors import DataError
from condchain_tasks.report import runs as files
from condchain_tasks.report.model import Problem
from condchain_tasks.report.selection import Selection, one_run, select

TASK = "condchain_natural"
CHART = "condchain_chart"
LATEST = "20260103_080000"
WARM = {**GENERATION, "temperature": 0.7}


def chosen(selection: Selection) -> list[tuple[str, str, str]]:
    return [(one.label, one.log.file.task, one.log.file.date) for one in selection.chosen]


def passed_over(selection: Selection) -> list[tuple[str, str, str]]:
    return [(one.task, one.date, one.reason) for one in selection.passed_over]


def two_settings(root: Path) -> None:
    """A greedy run, run twice, and a newer warm one, of two tasks each, as lmms-eval lays them out: in one folder."""
    for date, generation, pattern in ((DATE, GENERATION, "1100"), (LATER, GENERATION, "1111"), (LATEST, WARM, "0011")):
        write_run(root, "lab/m", TASK, condchain_lines(pattern), date=date, generation=generation)
        write_run(root, "lab/m", CHART, condchain_lines(pattern, "chart"), date=date, generation=generation)


# --- what counts


def test_each_setting_of_a_model_has_its_newest_run(tmp_path: Path) -> None:
    two_settings(tmp_path)
    found = select([tmp_path])
    cold, warm = "lab/m (temperature=0)", "lab/m (temperature=0.7)"
    assert chosen(found) == [(warm, CHART, LATEST), (cold, CHART, LATER), (warm, TASK, LATEST), (cold, TASK, LATER)]
    reason = "a newer run has the same settings"
    assert sorted(passed_over(found)) == [(CHART, DATE, reason), (TASK, DATE, reason)]


def test_one_run_is_that_of_the_newest_whole_setting(tmp_path: Path) -> None:
    two_settings(tmp_path)
    found = one_run(select([tmp_path]))
    assert {(label, date) for label, _, date in chosen(found)} == {("lab/m (temperature=0.7)", LATEST)}
    other = "lab/m (temperature=0.7) counts; --run chooses another"
    assert (TASK, LATER, other) in passed_over(found) and (CHART, LATER, other) in passed_over(found)

    write_run(
        tmp_path,
        "lab/m",
        TASK,
        condchain_lines("11"),
        date="20260104_080000",
        generation={**WARM, "top_p": 0.5},
        expected=4,
    )  # newer still, and not whole
    assert {date for *_, date in chosen(one_run(select([tmp_path])))} == {LATEST}


@pytest.mark.parametrize("run", [LATER, DATE])
def test_a_date_chooses_and_the_others_are_said(tmp_path: Path, run: str) -> None:
    two_settings(tmp_path)
    found = select([tmp_path], run=run)
    assert chosen(found) == [("lab/m (temperature=0)", CHART, run), ("lab/m (temperature=0)", TASK, run)]
    assert {reason for *_, reason in passed_over(found)} == {"--run asks for another"}
    assert len(found.passed_over) == 4


@pytest.mark.parametrize(("name", "date"), [("lab/m (temperature=0)", LATER), ("lab/m (temperature=0.7)", LATEST)])
def test_a_label_chooses_as_the_report_prints_it(tmp_path: Path, name: str, date: str) -> None:
    two_settings(tmp_path)
    found = select([tmp_path], run=name)
    assert chosen(found) == [(name, CHART, date), (name, TASK, date)]
    assert chosen(one_run(found)) == chosen(found)


def test_the_model_s_name_chooses_all_its_settings(tmp_path: Path) -> None:
    two_settings(tmp_path)
    write_run(tmp_path, "lab/other", TASK, condchain_lines("11"))
    with pytest.raises(DataError, match=r"runs of 2 models: .* --run: lab/m \(temperature=0\); .*; lab/other\."):
        one_run(select([tmp_path]))
    assert {label for label, *_ in chosen(select([tmp_path], run="lab/m"))} == {
        "lab/m (temperature=0)",
        "lab/m (temperature=0.7)",
    }


def test_a_name_that_no_run_has_is_an_error_that_lists_them(tmp_path: Path) -> None:
    two_settings(tmp_path)
    with pytest.raises(DataError, match=rf"No run is called 'm2'\. There are: lab/m \(temperature=0\); .*{LATEST}\."):
        select([tmp_path], run="m2")


def test_labels_do_not_depend_on_the_benchmark_that_is_asked_for(tmp_path: Path) -> None:
    write_run(tmp_path, "m", TASK, condchain_lines("11"), arguments="seed=1")
    write_run(tmp_path, "m", TASK, condchain_lines("11"), arguments="seed=2", date=LATER)
    write_run(tmp_path, "m", "vrex_direct", [vrex_line(0, "11", "direct")], date=LATER)
    whole = {one for one in chosen(select([tmp_path])) if one[1] == "vrex_direct"}
    assert set(chosen(select([tmp_path], benchmark="vrex"))) == whole == {("m (seed=2)", "vrex_direct", LATER)}


def test_runs_against_different_servers_are_different_settings(tmp_path: Path) -> None:
    for date, server in ((DATE, "http://a:8000/v1"), (LATER, "http://b:8000/v1")):
        write_run(tmp_path, "m", TASK, condchain_lines("11"), date=date, metadata={"server": server})
    assert chosen(select([tmp_path])) == [
        ("m (server=http://b:8000/v1)", TASK, LATER),
        ("m (server=http://a:8000/v1)", TASK, DATE),
    ]


def test_judges_on_different_servers_are_different_settings(tmp_path: Path) -> None:
    for date, server in ((DATE, "http://a"), (LATER, "http://b")):
        judge = {"model": "gpt-5.1", "server": server, "prompts": [prompt("ccrv_judge_baseline")]}
        write_run(tmp_path, "m", "ccrv", [ccrv_line(0)], date=date, metadata={"judge": judge})
    assert [label for label, *_ in chosen(select([tmp_path]))] == [
        "m (judge server=http://b)",
        "m (judge server=http://a)",
    ]


def test_what_is_sent_tells_runs_apart_that_name_the_same_prompts(tmp_path: Path) -> None:
    for date, sent in ((DATE, "1" * 16), (LATER, "2" * 16)):
        write_run(tmp_path, "m", TASK, condchain_lines("11"), date=date, metadata={"requests_sha256": sent})
    assert [label for label, *_ in chosen(select([tmp_path]))] == ["m (requests=22222222)", "m (requests=11111111)"]


def test_synthetic_data_is_synthetic_whatever_its_task_is_called(tmp_path: Path) -> None:
    drawn = {"data": {"sha256": "d" * 16, "synthetic": True, "official": False}}
    write_run(tmp_path, "m", TASK, condchain_lines("11"), metadata=drawn, date=LATER)
    write_run(tmp_path, "m", TASK, condchain_lines("1111"))
    write_run(tmp_path, "m", f"{TASK}_mini", condchain_lines("11"), date=LATEST)
    found = select([tmp_path])
    assert [(one.log.scope, one.label, one.log.file.date) for one in found.chosen] == [
        (("condchain", False), "m", DATE),
        (("condchain", True), "m (data=dddddddd)", LATER),
        (("condchain", True), found.chosen[2].label, LATEST),
    ]
    assert chosen(one_run(found)) == [("m", TASK, DATE)]


# --- files and folders


def test_a_file_of_samples_or_results_is_accepted_wherever_a_folder_is(tmp_path: Path) -> None:
    log = write_run(tmp_path, "m", TASK, condchain_lines("1100"))
    write_run(tmp_path, "m", CHART, condchain_lines("11", "chart"))
    write_run(tmp_path, "m", TASK, condchain_lines("1111"), date=LATER)
    assert chosen(select([log])) == [("m", TASK, DATE)]
    assert chosen(select([log.with_name(f"{DATE}_results.json")])) == [("m", CHART, DATE), ("m", TASK, DATE)]
    assert chosen(select([tmp_path])) == [("m", CHART, DATE), ("m", TASK, LATER)]


def test_a_link_out_of_the_folder_is_not_followed_unless_it_is_named(tmp_path: Path) -> None:
    write_run(tmp_path / "elsewhere", "m", TASK, condchain_lines("11"))
    root = tmp_path / "root"
    write_run(root, "own", TASK, condchain_lines("11"))
    (root / "link").symlink_to(tmp_path / "elsewhere")
    (root / "slash").symlink_to("/")
    (root / "loop").symlink_to(root)
    (root / "own" / "beside").symlink_to(root / "own")
    found = select([root])
    assert chosen(found) == [("own", TASK, DATE)]
    assert [(Path(one.where).name, one.severity) for one in found.problems] == [
        ("link", "warning"),
        ("slash", "warning"),
    ]
    assert found.problems[1].text == (
        f"Is a link that leads out of {root}, to /, and is not followed. Name it too if it is meant."
    )
    assert chosen(select([root, root / "link"])) == [("m", TASK, DATE), ("own", TASK, DATE)]


def test_a_folder_with_too_many_files_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path / "many", "m", TASK, condchain_lines("11"))
    write_run(tmp_path / "few", "m", CHART, condchain_lines("11", "chart"))
    (tmp_path / "many" / "m" / "third").touch()
    monkeypatch.setattr(files, "MAX_FILES", 2)
    found = select([tmp_path / "many", tmp_path / "few"])
    assert chosen(found) == [("m", CHART, DATE)]
    text = f"{tmp_path / 'many'} holds more than 2 files: name the folder of the runs."
    assert found.problems == (Problem("error", str(tmp_path / "many"), text),)


# --- lines


def test_samples_are_the_sound_lines_as_they_were_logged(tmp_path: Path) -> None:
    lines = condchain_lines("1100")
    log = write_run(tmp_path, "m", TASK, [*lines[:2], {"doc_id": 7}, *lines[2:]])
    log.write_bytes(b"\xef\xbb\xbf" + log.read_bytes().replace(b"\n", b"\r\n\r\n") + b'{"doc_id": 9, "path')
    (one,) = select([log]).chosen
    assert list(one.samples()) == lines
    assert not one.is_whole


def test_a_log_that_changes_meanwhile_is_told(tmp_path: Path) -> None:
    log = write_run(tmp_path, "m", TASK, condchain_lines("11"))
    (one,) = select([tmp_path]).chosen
    log.write_text("x" * 5_000)
    with pytest.raises(DataError, match=f"{re.escape(str(log))}, byte 0: is no JSON"):
        list(one.samples())


def test_a_reply_of_five_megabytes_is_read_by_every_reader(tmp_path: Path) -> None:
    line: dict[str, Any] = condchain_lines("1")[0]
    line |= dict.fromkeys(("filtered_resps", "resps"), "Word. " * 900000 + "\\boxed{F1}")
    write_run(tmp_path, "m", TASK, [line])
    (one,) = select([tmp_path]).chosen
    assert [sample["filtered_resps"] for sample in one.samples()] == [line["filtered_resps"]]
    assert [sample["doc_id"] for sample in files.read_samples(one.log.file)] == [0]


_PEAK = """
import sys
from pathlib import Path
from condchain_tasks.report.selection import select

(one,) = select([Path(sys.argv[1])]).chosen
assert one.columns.n == 2 and [sample["doc_id"] for sample in one.samples()] == [0, 1]
(fault,) = one.columns.faults
assert "longer than 50,000,000 bytes" in fault.text and fault.line == 2
# Of this process alone: the most of a process that it was forked from does not count.
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM:")).split()[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's account of memory")
def test_a_line_of_900_megabytes_takes_bounded_memory(tmp_path: Path) -> None:
    log = write_run(tmp_path, "m", TASK, condchain_lines("1"), expected=3)
    second = write_run(tmp_path / "other", "m", TASK, condchain_lines("11")[1:]).read_bytes()
    with log.open("r+b") as file:  # a hole, which takes no room on the disk
        file.seek(900_000_000, 2)
        file.write(b"\n" + second)
    done = subprocess.run([sys.executable, "-c", _PEAK, str(log)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 500_000  # kB; the imports take some 200,000
