"""The command `condchain`, as it is typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from condchain_tasks.cli import app
from condchain_tasks.tasks import task_names


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_tasks_lists_every_task_with_its_data(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "cache"))  # other tests may have made the embedded benchmarks
    lines = run("tasks").stdout.splitlines()
    listed = {line.split()[0]: line for line in lines}
    assert listed.keys() >= set(task_names())
    assert f"CONDCHAIN_DATA={dataset}" in listed["condchain_gui"]
    assert " there " in listed["condchain_gui"]
    assert "made at first use" in listed["condchain_gui_mini"]


def test_data_check_of_sound_data(dataset: Path) -> None:
    done = run("data", "check", "condchain", dataset)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line for line in lines if "faults" in line] == [
        f"{domain}: 3 chains, 0 faults; no oddities" for domain in ("natural", "chart", "gui")
    ]
    # The longest instruction has 4 conditions; gui has 3 screens, each 2 x 2 patches of 28 pixels.
    assert [line for line in lines if "largest" in line] == [
        "natural: largest request: 1 picture with sides up to 56 pixels, 293 characters, about 78 tokens",
        "chart: largest request: 1 picture with sides up to 56 pixels, 293 characters, about 78 tokens",
        "gui: largest request: 3 pictures with sides up to 56 pixels, 293 characters, about 86 tokens",
    ]
    assert [line for line in lines if "content" in line and "not verified" in line] == lines[1::3]


def test_data_check_without_a_folder_takes_what_a_run_would_use(dataset: Path) -> None:
    assert run("data", "check", "condchain").stdout == run("data", "check", "condchain", dataset).stdout


def test_data_check_lists_each_fault_and_each_oddity(dataset: Path) -> None:
    records = dataset / "data" / "chart.jsonl"
    lines = records.read_text().splitlines()
    first, second = json.loads(lines[0]), json.loads(lines[1])
    first["true_path"]["correct_answer"] = "Z9"
    del second["true_path"]
    records.write_text("\n".join([json.dumps(first), json.dumps(second), "{"]))
    done = run("data", "check", "condchain", dataset)
    assert done.exit_code == 1
    assert f"FAULT  {records}, line 2, id 'chart-1', field true_path: Field required." in done.output
    assert f"FAULT  {records}, line 3: is no JSON" in done.output
    assert f"ODDITY paths with a right label that no option shows: {records}, line 1, id 'chart-0'" in done.output
    # The pictures of faulty records are not called unused.
    assert "chart: 1 chain, 2 faults; paths with a right label that no option shows: 1\n" in done.output


def test_data_check_of_a_folder_without_data(tmp_path: Path) -> None:
    done = run("data", "check", "condchain", tmp_path)
    assert done.exit_code == 2
    assert "holds none of data/natural.jsonl, data/chart.jsonl, data/gui.jsonl" in done.output


def test_synth_then_verify(tmp_path: Path) -> None:
    out = tmp_path / "made"
    arguments = ["--domain", "natural", "--n", "3", "--depth", "2:3", "--complexity", "complex", "--seed", "4"]
    done = run("synth", "condchain", *arguments, "--contact-sheet", "--out", out)
    assert done.exit_code == 0, done.output
    assert len((out / "data" / "natural.jsonl").read_text().splitlines()) == 3
    assert not (out / "data" / "gui.jsonl").exists()
    assert list((out / "contact_sheet").glob("natural_*.png"))
    verified = run("verify", out)
    assert (verified.exit_code, verified.stdout) == (0, "3 chains checked, 0 faults\n")

    again = run("synth", "condchain", *arguments, "--out", out)
    assert again.exit_code == 2
    assert "is not an empty folder" in again.output

    records = out / "data" / "natural.jsonl"
    records.write_text(records.read_text().replace("else:", "otherwise:", 1))
    tampered = run("verify", out)
    assert tampered.exit_code == 1
    assert "FAULT" in tampered.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--depth", "many"], "--depth many: expected MIN:MAX or one number"),
        (["--depth", "1:9"], "depth"),
        (["--depth", "5:3"], "depth"),
    ],
)
def test_synth_with_wrong_arguments(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    done = run("synth", "condchain", *arguments, "--n", "1", "--out", tmp_path / "made")
    assert done.exit_code == 2
    assert sentence in done.output
    assert "Traceback" not in done.output
    assert not (tmp_path / "made").exists()


def test_verify_of_what_is_no_dataset(tmp_path: Path) -> None:
    done = run("verify", tmp_path / "nowhere")
    assert done.exit_code == 1
    assert "Traceback" not in done.output


def test_the_package_and_its_scorers_are_light() -> None:
    """What only scores replies needs neither the harness nor torch nor anything that is not Python's own."""
    code = (
        "import sys, pkgutil, importlib, condchain_tasks, condchain_tasks.scorers as scorers;"
        "prefix = scorers.__name__ + '.';"
        "[importlib.import_module(module.name) for module in pkgutil.iter_modules(scorers.__path__, prefix)];"
        "print(sorted({name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60)
    loaded = set(read_list(done.stdout)) - {"__main__", "__mp_main__"}
    assert not loaded & {"torch", "lmms_eval", "numpy", "PIL", "transformers", "datasets", "pydantic"}
    assert "condchain_tasks" in loaded


def read_list(text: str) -> list[str]:
    """Reads Python's print of a list of names."""
    found: list[str] = json.loads(text.replace("'", '"'))
    return found


# --- tasks


def test_tasks_by_a_text_a_pattern_a_tag_and_a_benchmark() -> None:
    def names(*arguments: str) -> list[str]:
        return [task["name"] for task in json.loads(run("tasks", *arguments, "--json", "-").stdout)]

    assert names("oracle_y") == [f"ccrv_oracle_y{y}{mini}" for y in "124" for mini in ("", "_mini")]
    assert names("ccrv_x?_y3") == [f"ccrv_x{x}_y3" for x in "1234"]
    assert names("--tag", "ccrv_y3") == [f"ccrv_x{x}_y3" for x in "1234"]
    assert names("--tag", "ccrv_x2", "*base") == ["ccrv_x2_base"]
    assert {name.partition("_")[0] for name in names("--benchmark", "vrex")} == {"vrex"}
    assert names() == sorted(task_names())


def test_the_sizes_of_the_published_and_of_the_embedded_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CONDCHAIN_DATA", "CCRV_DATA", "VREX_DATA"):
        monkeypatch.delenv(variable, raising=False)
    sizes = {
        task["name"]: (task["samples"], task["requests"]) for task in json.loads(run("tasks", "--json", "-").stdout)
    }
    assert sizes["condchain_natural"] == (796, 796)
    assert sizes["condchain"] == (1950, 1950)
    assert sizes["condchain_mini"] == (144, 144)
    assert sizes["ccrv"] == (4000, 4000)
    assert sizes["ccrv_x3_y2"] == (200, 200)
    assert sizes["ccrv_textonly"] == (800, 800)
    assert sizes["ccrv_mini"] == (400, 400)
    assert sizes["vrex_direct"] == (702, 702)
    assert sizes["vrex_planning"] == (702, None)  # a request for each step
    assert sizes["vrex_following_tf"] == (None, None)  # a sample for each step
    assert sizes["vrex"] == (2106, None)


def test_the_sizes_of_the_embedded_benchmarks_are_those_of_their_data() -> None:
    from condchain_tasks.data import ccrv_tasks, condchain, vrex_tasks
    from condchain_tasks.tasks.listing import listed

    loads = {"condchain": condchain.load, "ccrv": ccrv_tasks.load, "vrex": vrex_tasks.load}
    for name in ("condchain_chart_mini", "ccrv_x2_y4_mini", "ccrv_cot_a_mini", "vrex_planning_mini"):
        one = next(task for task in listed(f"{name}*") if task.name == name)
        assert pq.read_metadata(loads[one.benchmark](name)[1].rows).num_rows == one.samples


def test_nothing_is_said_of_the_size_of_drawn_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "facts").mkdir()
    monkeypatch.setenv("CCRV_DATA", str(tmp_path))
    (task,) = json.loads(run("tasks", "ccrv_x1_y1", "--tag", "ccrv_y1", "--json", "-").stdout)
    assert (task["samples"], task["requests"]) == (None, None)


def test_no_task_like_that() -> None:
    done = run("tasks", "ccrv_x9")
    assert done.exit_code == 2
    assert "no task is like that" in done.output


# --- what all commands have


def test_the_version() -> None:
    from importlib.metadata import version

    assert run("--version").stdout == f"condchain-tasks {version('condchain-tasks')}\n"


def test_completion_of_commands_and_options() -> None:
    def completed(typed: str) -> str:
        variables = {"_CONDCHAIN_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        code = "from condchain_tasks.cli import app; app(prog_name='condchain')"
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=60).stdout

    assert completed("condchain ver").split() == ["verify"]
    assert completed("condchain synth ").split() == ["condchain", "ccrv", "vrex"]
    assert "--install-completion" in run("--help").output


def test_commands_are_listed_in_groups() -> None:
    shown = run("-h").output
    places = [shown.index(text) for text in ("Before a run", "doctor", "After a run", "report", "Benchmarks", "synth")]
    assert places == sorted(places)


def test_json_on_stdout_is_all_that_is_on_stdout(dataset: Path) -> None:
    done = run("data", "check", "condchain", dataset, "--json", "-")
    found = json.loads(done.stdout)
    assert found["parts"].keys() == {"natural", "chart", "gui"}
    assert found["parts"]["gui"]["holds"] == "3 chains"
    assert found["faults"] == []
    assert "gui: 3 chains, 0 faults; no oddities" in done.stderr
    assert run("data", "check", "condchain", dataset).stdout.startswith("natural: 3 chains")


def test_json_in_a_file_leaves_what_is_printed_as_it_was(dataset: Path, tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    done = run("data", "check", "condchain", dataset, "--json", file)
    assert done.stdout == run("data", "check", "condchain", dataset).stdout
    assert json.loads(file.read_text())["parts"]["chart"]["oddities"] == {}


@pytest.mark.parametrize("name", ["20260101_080000_samples_ccrv.jsonl", "20260101_080000_results.json", "a.txt"])
def test_json_does_not_overwrite_a_run(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("mine")
    done = run("tasks", "--json", file)
    assert done.exit_code == 2
    assert file.read_text() == "mine"


def test_every_command_that_prints_tables_can_write_json() -> None:
    import typer

    def without(command: Any, name: str) -> list[str]:
        below = getattr(command, "commands", None)
        if below is not None:
            return [found for one in below for found in without(below[one], f"{name} {one}")]
        options = {option for parameter in command.params for option in parameter.opts}
        return [] if "--json" in options else [name]

    assert set(without(typer.main.get_command(app), "condchain")) == {
        "condchain report",  # writes its tables as csv
        "condchain synth condchain",
        "condchain synth ccrv",
        "condchain synth vrex",
        "condchain sweep write",
        "condchain audit sample",
    }


def test_one_is_not_several(tmp_path: Path) -> None:
    done = run("synth", "condchain", "--domain", "chart", "--n", "1", "--out", tmp_path / "made")
    assert f"Wrote 1 chain a domain to {tmp_path / 'made'}" in done.output
    assert run("verify", tmp_path / "made").stdout == "1 chain checked, 0 faults\n"


def test_counts_and_figures() -> None:
    from condchain_tasks.cli import _number

    assert [_number(value) for value in (24, 1950, 24.5, None, "?")] == ["24", "1,950", "24.5000", "N/A", "N/A"]


def test_report_says_why_a_file_of_others_gives_no_report(tmp_path: Path) -> None:
    log = tmp_path / "20260101_000000_samples_other.jsonl"
    log.write_text("{}\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["report", str(log), "--out", str(tmp_path / "r.html")])
    assert done.exit_code == 1
    assert "Samples of tasks of others are left out: other." in " ".join(done.output.split())
