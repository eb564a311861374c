"""The command `condchain`, as it is typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from condchain_tasks.cli import app
from condchain_tasks.tasks import task_names


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_tasks_lists_every_task_with_its_data(dataset: Path) -> None:
    lines = run("tasks").stdout.splitlines()
    listed = {line.split()[0]: line for line in lines}
    assert listed.keys() >= set(task_names())
    assert f"CONDCHAIN_DATA={dataset}" in listed["condchain_gui"]
    assert " there " in listed["condchain_gui"]
    assert "made at first use" in listed["condchain_gui_mini"]


def test_data_check_of_sound_data(dataset: Path) -> None:
    done = run("data", "check", "condchain", dataset)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"{domain}: 3 chains, 0 faults; no oddities" for domain in ("natural", "chart", "gui")
    ]


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
    assert "chart: 1 chains, 2 faults; 1 paths with a right label that no option shows, 2 pictures" in done.output


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
