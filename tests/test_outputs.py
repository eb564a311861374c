"""No command writes over what it reads, or over a log of lmms-eval, and none writes a format under another's name."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from report_runs import ccrv_line, condchain_lines, write_run
from typer.testing import CliRunner, Result

from condchain_tasks.cli import app
from condchain_tasks.data.errors import DataError
from condchain_tasks.report.outputs import check_output

TASKS = ("condchain_natural", "condchain_chart", "condchain_gui")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def content(folder: Path) -> dict[str, str]:
    """What is below a folder: a hash of each file's content, and where a link leads."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A run of MM-CondChain and of CCRV-Bench's baseline, with links to its files beside it."""
    root = tmp_path / "results"
    for task in TASKS:
        log = write_run(root, "m", task, condchain_lines("1101", task.removeprefix("condchain_")))
    write_run(root, "m", "ccrv_x1_base", [ccrv_line(number) for number in range(4)])
    (tmp_path / "log.html").symlink_to(log)
    (tmp_path / "log.json").symlink_to(log)
    (tmp_path / "results.html").symlink_to(next(root.rglob("*_results.json")))
    (tmp_path / "stored.jsonl").write_bytes(log.read_bytes())
    log.unlink()
    log.symlink_to(tmp_path / "stored.jsonl")  # a log that is a link: its content has a name of its own
    os.link(tmp_path / "stored.jsonl", tmp_path / "hard.html")
    return root


def log_of(results: Path) -> Path:
    return next(results.rglob("*_samples_condchain_natural.jsonl"))


OUTPUTS: dict[str, Callable[[Path], Path]] = {
    "a log": log_of,
    "results": lambda results: next(results.rglob("*_results.json")),
    "a link to a log": lambda results: results.parent / "log.html",
    "a link to results": lambda results: results.parent / "results.html",
    "a log of another run": lambda results: results.parent / "20250101_samples_ccrv.jsonl",
    "results that are not there yet": lambda results: results.parent / "x_results.json",
    "the content of a log": lambda results: results.parent / "stored.jsonl",
    "the content of a log by another name": lambda results: results.parent / "hard.html",
}


@pytest.mark.parametrize("case", OUTPUTS)
@pytest.mark.parametrize("form", [[], ["--format", "html"], ["--format", "md"], ["--format", "latex"]])
def test_a_report_is_never_written_over_what_it_is_made_of(case: str, form: list[str], results: Path) -> None:
    before = content(results.parent)
    done = run("report", results, *form, "--out", OUTPUTS[case](results))
    assert done.exit_code == 2, done.output
    assert content(results.parent) == before


@pytest.mark.parametrize("case", OUTPUTS)
def test_a_submission_is_never_written_over_what_it_is_made_of(case: str, results: Path) -> None:
    before = content(results.parent)
    done = run("submit", "condchain", results, "--out", OUTPUTS[case](results))
    assert done.exit_code == 2, done.output
    assert content(results.parent) == before


@pytest.mark.parametrize("name", ["t.pdf", "t.csv", "t.txt", "t", "t.html.gz", "t.json"])
def test_an_ending_that_is_no_format_s_is_refused(name: str, results: Path, tmp_path: Path) -> None:
    done = run("report", results, "--out", tmp_path / name)
    assert done.exit_code == 2
    assert "expected a name that ends in .html, .md or .tex, or a folder and --format csv" in done.output
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("form", "name", "sentence"),
    [
        ("html", "t.pdf", "expected a name that ends in .html"),
        ("html", "t.md", "expected a name that ends in .html"),
        ("md", "t", "expected a name that ends in .md"),
        ("latex", "t.html", "expected a name that ends in .tex"),
        ("csv", "t.csv", "csv needs a folder"),
        ("csv", "t.html", "csv needs a folder"),
    ],
)
def test_no_format_is_written_under_another_s_name(
    form: str, name: str, sentence: str, results: Path, tmp_path: Path
) -> None:
    done = run("report", results, "--format", form, "--out", tmp_path / name)
    assert (done.exit_code, sentence in done.output) == (2, True), done.output
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["t.html", "T.HTML", "t.md", "t.tex"])
def test_a_report_into_the_folder_of_its_runs_is_written_and_written_again(name: str, results: Path) -> None:
    logs = content(results)
    for _ in range(2):
        done = run("report", results, "--out", results / name)
        assert done.exit_code == 0, done.output
    assert {path: digest for path, digest in content(results).items() if path != name} == logs


def test_tables_are_not_written_through_links(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "problems.csv").symlink_to(tmp_path / "stored.jsonl")
    before = content(tmp_path)
    done = run("report", results, "--format", "csv", "--out", folder)
    assert (done.exit_code, "problems.csv is a link" in done.output) == (2, True), done.output
    assert content(tmp_path) == before


@pytest.mark.parametrize("name", ["s.txt", "s", "s.html", "s.jsonl"])
def test_a_submission_is_json_by_name(name: str, results: Path, tmp_path: Path) -> None:
    done = run("submit", "condchain", results, "--out", tmp_path / name)
    assert (done.exit_code, "expected a name that ends in .json" in done.output) == (2, True), done.output
    assert not (tmp_path / name).exists()


def test_figures_of_an_audit_are_not_written_over_its_sheets(results: Path, tmp_path: Path) -> None:
    drawn = run("audit", "sample", results, "--n", "4", "--out", tmp_path / "audit")
    assert drawn.exit_code == 0, drawn.output
    sheet, key = tmp_path / "audit" / "ann.csv", tmp_path / "audit" / "key.json"
    text = (tmp_path / "audit" / "sheet.csv").read_text(encoding="utf-8-sig")
    sheet.write_text(text.replace(",,,,,\n", ",1,1,1,,\n"), encoding="utf-8")
    (tmp_path / "link.json").symlink_to(sheet)
    shutil.copy(log_of(results), tmp_path / "20260101_080000_samples_ccrv_x1_base.jsonl")
    before = content(tmp_path)
    for target in (
        sheet,
        key,
        tmp_path / "link.json",
        tmp_path / "20260101_080000_samples_ccrv_x1_base.jsonl",
        tmp_path / "x_results.json",
        tmp_path / "figures.csv",
    ):
        done = run("audit", "score", sheet, "--key", key, "--json", target)
        assert (done.exit_code, "Nothing was written" in done.output) == (2, True), done.output
        assert content(tmp_path) == before
    done = run("audit", "score", sheet, "--key", key, "--json", tmp_path / "figures.json")
    assert (done.exit_code, (tmp_path / "figures.json").is_file()) == (0, True), done.output


def test_json_is_not_written_over_data_or_over_a_submission(results: Path, dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "data.json").symlink_to(dataset / "data" / "chart.jsonl")
    (dataset / "mine.json").write_text("{}")
    before = content(tmp_path)
    commands = (
        ["data", "check", "condchain", dataset, "--json", tmp_path / "data.json"],
        ["data", "check", "condchain", "--json", dataset / "mine.json"],
        ["verify", dataset, "--json", dataset / "mine.json"],
        ["tasks", "--json", tmp_path / "log.json"],
    )
    for command in commands:
        done = run(*command)
        assert (done.exit_code, "Nothing was written" in done.output) == (2, True), done.output
        assert content(tmp_path) == before
    for name in ("s.json", "s.json.manifest.json"):
        done = run("submit", "condchain", results, "--out", tmp_path / "s.json", "--json", tmp_path / name)
        assert (done.exit_code, "is the submission or its manifest" in done.output) == (2, True), done.output
        assert content(tmp_path) == before


def test_a_plan_is_not_written_over_by_its_sweep(tmp_path: Path) -> None:
    plan = tmp_path / "sweep" / "run.sh"
    (tmp_path / "sweep" / "cells").mkdir(parents=True)
    plan.write_text("name: a\nmodels: [{name: a, model: condchain_sim}]\ntasks: [ccrv_mini]\n")
    for place in (plan, Path(shutil.copy(plan, tmp_path / "sweep" / "cells" / "plan.yaml"))):
        before = content(tmp_path)
        done = run("sweep", "write", place, "--out", tmp_path / "sweep")
        assert (done.exit_code, "lies where the sweep's own files are" in done.output) == (2, True), done.output
        assert content(tmp_path) == before
    kept = Path(shutil.copy(plan, tmp_path / "sweep" / "plan.yaml"))
    plan.unlink()
    assert run("sweep", "write", kept, "--out", tmp_path / "sweep").exit_code == 0


def test_no_picture_of_the_machine_gets_into_a_page_because_a_log_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log says where the data was, so the log of a stranger would choose what of this machine is embedded."""
    private, mine = tmp_path / "private", tmp_path / "mine"
    for folder in (private, mine):
        (folder / "images" / "natural").mkdir(parents=True)
        for pair in range(2):
            Image.new("RGB", (9, 9), "navy").save(folder / "images" / "natural" / f"natural-000{pair}.png")
    for model, root in (("a", private), ("b", mine)):
        metadata = {"data": {"source": "folder", "root": str(root), "sha256": "1"}}
        write_run(tmp_path / "runs", model, "condchain_natural", condchain_lines("1100"), metadata=metadata)

    def embedded(*arguments: str | Path) -> int:
        done = run("report", tmp_path / "runs", "--out", tmp_path / "r.html", *arguments)
        assert done.exit_code == 0, done.output
        linked = 4 - (tmp_path / "r.html").read_text().count('id="item-picture-')
        assert (f"NOTE  {linked} pictures are linked only" in done.output) is (bool(arguments) and linked > 0)
        return 4 - linked

    assert embedded() == 0
    assert embedded("--with-images") == 0
    assert embedded("--with-images", mine) == 2
    assert embedded("--with-images", mine, "--with-images", private) == 4
    monkeypatch.setenv("CONDCHAIN_DATA", str(mine))
    assert embedded() == 0
    assert embedded("--with-images") == 2
    done = run("report", tmp_path / "runs", "--out", tmp_path / "r.html", "--with-images", tmp_path / "nowhere")
    assert (done.exit_code, "there is no such folder" in done.output) == (2, True)


@pytest.mark.parametrize("command", ["report", "submit"])
def test_a_pipe_in_a_results_folder_is_not_waited_for(command: str, results: Path, tmp_path: Path) -> None:
    (file,) = results.rglob("*_results.json")
    file.unlink()
    os.mkfifo(file)
    os.mkfifo(file.with_name("20260101_080000_samples_condchain_gui_chrono.jsonl"))
    arguments = ["report", results, "--out", tmp_path / "r.html"]
    if command == "submit":
        arguments = ["submit", "condchain", results, "--out", tmp_path / "s.json"]
    # In a process of its own: one that waits for the pipe cannot be told to stop in any other way.
    done = subprocess.run(
        [sys.executable, "-c", "from condchain_tasks.cli import app; app()", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == (2 if command == "submit" else 0), done.stderr
    assert command == "report" or "holds no results: it is no file" in done.stderr


def test_streams_have_what_name_they_like(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    check_output(tmp_path / "pipe", [], ".md")
    check_output(Path("/dev/null"), [], ".md")


def test_links_in_a_circle_are_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "a.html").symlink_to(tmp_path / "b.html")
    (tmp_path / "b.html").symlink_to(tmp_path / "a.html")
    check_output(tmp_path / "a.html", [tmp_path / "x"], ".html")
    with pytest.raises(DataError, match=r"ends in \.md"):
        check_output(tmp_path / "a.html", [], ".md")
