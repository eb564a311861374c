"""Every command on terminals that lack letters: in the C locale, and with encodings other than UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import official
import pytest
import typer
from report_runs import ccrv_line, condchain_lines, vrex_line, write_run
from test_audit_score import HEADER, sheet

from condchain_tasks.cli import app
from condchain_tasks.synth import causal, dataset, vrex

PLAN = """
name: plan
models: [{name: m, model: condchain_sim, args: {policy: oracle}}]
tasks: [condchain_mini]
"""

ENVIRONMENTS = {
    "C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
}

YS = ("base", "Y1", "Y2", "Y3", "Y4")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs, data and sheets in folders whose names are not ASCII."""
    root = tmp_path_factory.mktemp("übung") / "Läufe ≥ 1"
    for domain in ("natural", "chart", "gui"):
        write_run(root / "condchain", "größe/modèle", f"condchain_{domain}", condchain_lines("1101", domain))
    lines = [ccrv_line(number, y=y, x=x) for number in range(4) for x in ("X1", "X2", "X3", "X4") for y in YS]
    write_run(root / "ccrv", "größe/modèle", "ccrv", sorted(lines, key=lambda line: line["doc_id"]))
    for model in ("größe/modèle", "größe/模型"):
        for mode in ("planning", "following", "direct"):
            chains = [vrex_line(number, "110", mode) for number in range(4)]
            write_run(root / "vrex", model, f"vrex_{mode}", chains)
    official.write_dataset(root / "data")
    dataset.write_dataset(root / "drawn", ["natural"], n=1, seed=1)
    causal.write_dataset(root / "causal", n=1)
    vrex.write_dataset(root / "chains", n=1)
    (root / "plan.yaml").write_text(PLAN, encoding="utf-8")
    for name in ("a", "b"):
        verdicts = ([f"a{n:03d}", "", "", "1", "1", "1", "1", "≥ größe"] for n in range(1, 5))
        sheet(root / f"{name}.csv", [HEADER, *verdicts])
    return root


def commands(root: Path, out: Path) -> Iterator[list[str]]:
    """The main path of every command."""
    yield ["tasks"]
    yield ["tasks", "ccrv_x1*", "--json", f"{out}/tasks.json"]
    for name, folder in (("condchain", "data"), ("ccrv", "causal"), ("vrex", "chains"), ("vrex", "no such ≥ folder")):
        yield ["data", "check", name, f"{root}/{folder}"]
    for name in ("condchain", "ccrv", "vrex"):
        yield ["synth", name, "--n", "1", "--out", f"{out}/ö-{name}", *(["--domain", "chart"] * (name == "condchain"))]
        yield ["submit", name, f"{root}/{name}/größe__modèle", "--out", f"{out}/{name}.json"]
    yield ["submit", "vrex", f"{root}/vrex/größe__modèle", "--out", f"{out}/vrex2.json", "--incomplete", "--json", "-"]
    for folder in ("drawn", "causal", "chains"):
        yield ["verify", f"{root}/{folder}"]
    yield ["judge", f"{root}/ccrv"]  # refused: of another judge
    yield ["score", f"{root}/ccrv"]  # refused: its data is not there
    for ending in ("html", "md", "tex"):
        yield ["report", str(root), "--out", f"{out}/bericht-ü.{ending}"]
    yield ["report", str(root), "--out", f"{out}/tabellen-ü", "--format", "csv"]
    yield ["vrex", "compare", f"{root}/vrex"]
    yield ["vrex", "compare", f"{root}/vrex", "--json", "-"]
    yield ["audit", "sample", f"{root}/ccrv", "--n", "4", "--out", f"{out}/prüfung"]
    yield ["audit", "score", f"{root}/a.csv", f"{root}/b.csv", "--key", f"{out}/prüfung/key.json"]
    yield ["sweep", f"{root}/plan.yaml", "--out", f"{out.parent}/sweep"]
    yield ["sweep", "status", f"{root}/plan.yaml", "--out", f"{out.parent}/sweep"]
    for names in groups():
        yield [*names, "--help"]


def groups() -> Iterator[list[str]]:
    """The names of every command and of every group of them."""

    def below(command: object, names: list[str]) -> Iterator[list[str]]:
        yield names
        for name, one in getattr(command, "commands", {}).items():
            yield from below(one, [*names, name])

    return below(typer.main.get_command(app), [])


@pytest.mark.parametrize("environment", list(ENVIRONMENTS))
def test_no_command_needs_more_than_the_terminal_can_show(root: Path, tmp_path: Path, environment: str) -> None:
    out = tmp_path / "größe ≥ 2"
    out.mkdir()
    listed = list(commands(root, out))
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_commands.py")), json.dumps(listed)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **ENVIRONMENTS[environment]},
        capture_output=True,
        timeout=300,
    )
    printed = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert "CRASHED" not in printed
    assert "Traceback" not in printed
    ended = [line.strip("[]").split(" ended with ") for line in printed.splitlines() if " ended with " in line]
    assert len(ended) == len(listed)
    if environment != "C locale":  # there, names of folders are no text, and some commands say that they need text
        assert [name for name, status in ended if status != "0"] == ["data", "judge", "score"], printed
    assert {file.name for file in out.iterdir()} >= {"bericht-ü.html", "bericht-ü.md", "bericht-ü.tex", "tabellen-ü"}


def test_every_help_has_an_example() -> None:
    command = typer.main.get_command(app)
    for names in groups():
        one = command
        for name in names:
            one = one.commands[name]  # type: ignore[attr-defined]
        assert "condchain " in (one.epilog or ""), names
