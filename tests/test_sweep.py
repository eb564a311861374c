"""Sweeps: from a plan to scripts, through runs that succeed, fail, and are killed, to what is said of each cell."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
from typer.testing import CliRunner

from condchain_tasks.cli import app
from condchain_tasks.data.errors import DataError
from condchain_tasks.sweep.names import check_names
from condchain_tasks.sweep.plan import Model, Plan, Setting, joined, read_back, read_plan
from condchain_tasks.sweep.status import CellStatus, status
from condchain_tasks.sweep.write import BUDGET_REACHED, NO_RESULTS, configuration, write_sweep

EXAMPLES = Path(__file__).parents[1] / "examples" / "sweeps"
NASTY = "$(touch HACKED) `touch HACKED`; touch HACKED # ' \" && \\ * é"

PLAN: dict[str, Any] = {
    "name": "trial",
    "models": [{"name": "sim", "model": "condchain_sim", "args": {"policy": "oracle"}}],
    "tasks": ["condchain_chart_mini"],
}

PYTHON = """#!/usr/bin/env bash
# Stands for the python that runs lmms-eval: it does what the file "told" beside it says.
set -eu
here=$(dirname "$0")
results=$(sed -n 's/^output_path: //p' "${@: -1}")
tasks=$(sed -n 's/^tasks: //p' "${@: -1}")
echo x >>"$here/starts"
write() {
  mkdir -p "$results"
  cat "$here/results.json" >"$results/$1_results.json"
  echo '{}' >"$results/$1_samples_$tasks.jsonl"
}
source "$here/told"
"""

RESULTS = '{{"results": {{"condchain_chart_mini": {{"failed,none": {failed}}}}}, "configs": {{"condchain_chart_mini": {{}}}}, "usage": {{{usage}}}}}'  # noqa: E501


def written(path: Path, **more: Any) -> Plan:
    path.write_text(yaml.safe_dump({**PLAN, **more}), encoding="utf-8")
    return read_plan(path)


def told(folder: Path, what: str, failed: float = 0, usage: str = "") -> str:
    """A python that does what it is told, for a plan's `python`."""
    folder.mkdir(exist_ok=True)
    script = folder / "python"
    script.write_text(PYTHON, encoding="utf-8")
    script.chmod(0o755)
    (folder / "told").write_text(what, encoding="utf-8")
    (folder / "results.json").write_text(RESULTS.format(failed=failed, usage=usage), encoding="utf-8")
    return str(script)


def sh(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def run(out: Path) -> subprocess.CompletedProcess[str]:
    return sh("bash", out / "run.sh")


def only(plan: Plan, out: Path, **more: Any) -> CellStatus:
    (row,) = status(plan, out, **more)
    return row


# --- plans


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_give_scripts_that_a_shell_can_read(path: Path, tmp_path: Path) -> None:
    plan = read_plan(path)
    done = write_sweep(plan, tmp_path / "sweep")
    scripts = sorted((tmp_path / "sweep").rglob("*.sh"))
    assert len(scripts) == 2 + len(done.slurm) + len(plan.cells)
    for script in scripts:
        checked = sh("bash", "-n", script)
        assert (checked.returncode, checked.stderr) == (0, "")
    if shutil.which("shellcheck"):
        assert sh("shellcheck", *scripts).stdout == ""


def test_there_is_an_example_of_each_kind() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.yaml")} == {
        "one_gpu",
        "eight_gpus",
        "several_nodes",
        "vllm_server",
        "api_budget",
        "trial",
    }


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_name_what_is_there_and_no_place_of_one_machine(path: Path) -> None:
    plan = read_plan(path)
    check_names(plan, path)
    texts = [plan.python, *(value for cell in plan.cells for value in (*cell.env.values(), *cell.model.args.values()))]
    assert not [text for text in texts if isinstance(text, str) and text.startswith(("/", "~"))]


MISTYPED: dict[str, tuple[dict[str, Any], str]] = {
    "a model": (
        {"models": [{"name": "m", "model": "opnai"}]},
        "field models.0.model: Expected a model that lmms-eval knows here, found 'opnai'. Is openai meant?",
    ),
    "the simulated model": (
        {"models": [{"name": "m", "model": "condchain_simm"}]},
        "field models.0.model: Expected a model that lmms-eval knows here, found 'condchain_simm'. Is condchain_sim ",
    ),
    "a policy": (
        {"models": [{"name": "m", "model": "condchain_sim", "args": {"policy": "oracel"}}]},
        "field models.0.args.policy: Expected one of oracle, always_continue, always_stop, random, which condchain_sim "
        "has for condchain, found 'oracel'. Is oracle meant?",
    ),
    "a policy of another benchmark": (
        {
            "models": [{"name": "m", "model": "condchain_sim", "args": {"policy": "always_stop"}}],
            "tasks": ["condchain_mini", "vrex_mini"],
        },
        "field models.0.args.policy: Expected one of oracle, random, distracted, which condchain_sim has for vrex, ",
    ),
    "an argument": (
        {"models": [{"name": "m", "model": "condchain_sim", "args": {"polcy": "oracle"}}]},
        "field models.0.args: Expected arguments of condchain_sim, policy, accuracy, seed, device, found 'polcy'.",
    ),
    "an accuracy": (
        {"models": [{"name": "m", "model": "condchain_sim", "args": {"accuracy": 70}}]},
        "field models.0.args.accuracy: Expected a number from 0 to 1, found 70.",
    ),
    "a seed": (
        {"models": [{"name": "m", "model": "condchain_sim", "args": {"seed": True}}]},
        "field models.0.args.seed: Expected a whole number, found True.",
    ),
    "a task of lmms-eval": (
        {"tasks": ["mmee"]},
        "field tasks.0: Expected a task that lmms-eval knows here, found 'mmee'. Is mme meant?",
    ),
}


@pytest.mark.parametrize("case", MISTYPED)
def test_a_mistyped_name_is_refused_when_the_sweep_is_written(case: str, tmp_path: Path) -> None:
    changes, sentence = MISTYPED[case]
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump({**PLAN, **changes}), encoding="utf-8")
    result = CliRunner().invoke(app, ["sweep", "write", str(path), "--out", str(tmp_path / "sweep")])
    assert (result.exit_code, (tmp_path / "sweep").exists()) == (2, False)
    assert sentence in " ".join(result.output.split())


def test_names_that_lmms_eval_knows_are_taken(tmp_path: Path) -> None:
    plan = written(
        tmp_path / "plan.yaml",
        models=[
            {"name": name, "model": name} for name in ("openai", "openai_compatible", "qwen2_5_vl", "condchain_sim")
        ],
        tasks=["condchain_mini", "ccrv_x1_y1", "ccrv_y1", "vrex", "mme", "mmmu_val"],
    )
    check_names(plan, tmp_path / "plan.yaml")


def test_relative_paths_go_out_from_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = tmp_path / "plans"
    plans.mkdir()
    (tmp_path / "data").mkdir()
    told(tmp_path / "bin", 'env >"$here/env"; write 1')
    model = {"name": "m", "model": "openai", "args": {"pretrained": "./models/x", "model_version": "a/b"}}
    env = {"VREX_DATA": "../data", "CCRV_DATA": "ccrv", "HF_HOME": "~/hf", "OTHER": "a/b", "MINE": "./x", "ROOT": "/r"}
    plan = written(plans / "plan.yaml", models=[model], env=env, python="../bin/python")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(plans)
    out = tmp_path / "sweep"
    done = write_sweep(plan, out, Path("plan.yaml"))
    assert done.absent == (("CCRV_DATA", plans / "ccrv"),)
    monkeypatch.chdir(tmp_path)
    assert run(out).returncode == 0
    expected = {
        "VREX_DATA": f"{tmp_path}/data",
        "CCRV_DATA": f"{plans}/ccrv",
        "HF_HOME": f"{tmp_path}/home/hf",
        "OTHER": "a/b",
        "MINE": f"{plans}/x",
        "ROOT": "/r",
    }
    assert {f"{name}={value}" for name, value in expected.items()} <= set(
        (tmp_path / "bin" / "env").read_text(encoding="utf-8").splitlines()
    )
    config = yaml.safe_load((out / "cells" / plan.cells[0].name / "config.yaml").read_text(encoding="utf-8"))
    assert set(config["model_args"].split(",")) == {f"pretrained={plans}/models/x", "model_version=a/b"}
    assert config["env"] == expected
    assert only(plan, out).state == "done"  # the name is that of what the plan says


def test_a_folder_whose_name_would_not_fit_into_arguments(tmp_path: Path) -> None:
    plans = tmp_path / "a,b"
    plans.mkdir()
    plan = written(plans / "plan.yaml", models=[{"name": "m", "model": "openai", "args": {"pretrained": "./x"}}])
    with pytest.raises(DataError, match="expected a path with letters, digits"):
        write_sweep(plan, tmp_path / "sweep", plans / "plan.yaml")
    assert not (tmp_path / "sweep").exists()


BAD = {
    "a list": ([1], "field name: Field required"),
    "no models": ({**PLAN, "models": []}, "field models: Value should have at least 1 item"),
    "models of the same name": (
        {**PLAN, "models": [{"name": "sim", "model": m} for m in "ab"]},
        "Expected names that differ, found 'sim' twice",
    ),
    "the same task twice": (
        {**PLAN, "tasks": ["ccrv", "ccrv"]},
        "field tasks: Expected tasks that differ, found 'ccrv'",
    ),
    "tasks as text": ({**PLAN, "tasks": "ccrv"}, "field tasks: Expected a list, found 'ccrv'"),
    "no such task": ({**PLAN, "tasks": ["condchain_charts"]}, "field tasks.0: Expected a task of this package"),
    "a task with a command": (
        {**PLAN, "tasks": ["mme; rm x"]},
        "field tasks.0: Expected a task's name, found 'mme; rm x'",
    ),
    "unknown key": ({**PLAN, "task": 1}, "field task: Extra inputs are not permitted, found 1"),
    "name with a path": ({**PLAN, "name": "../x"}, "field name: Expected up to 60 letters"),
    "name that is a number": ({**PLAN, "name": 7}, "field name: Expected text, found 7; put it in quotes"),
    "name with a line break": ({**PLAN, "name": "a\n"}, "field name: Expected up to 60 letters"),
    "a key": ({**PLAN, "env": {"OPENAI_API_KEY": "x"}}, "Expected no keys in a plan, found OPENAI_API_KEY"),
    "variable's name": ({**PLAN, "env": {"A=B": "x"}}, "Expected an environment variable's name, found 'A=B'"),
    "variable that is expanded": ({**PLAN, "env": {"A": "$HOME"}}, "field env.A: Expected the value as it is to be"),
    "variable that YAML takes for a truth": (
        {**PLAN, "env": {"A": True}},
        "field env.A: Expected text or a whole number",
    ),
    "variable of the sweep's own": ({**PLAN, "env": {"LMMS_CACHE_RUN_ID": "x"}}, "that the sweep does not set itself"),
    "variable that is fixed in a shell": (
        {**PLAN, "env": {"UID": "5"}},
        "that the shell does not set itself, found UID",
    ),
    "variable that SLURM sets": ({**PLAN, "env": {"SLURM_NODEID": "0"}}, "that the sweep does not set itself"),
    "limit": ({**PLAN, "settings": [{"limit": 0}]}, "field settings.0.limit: Expected a number of samples from 1"),
    "seed": ({**PLAN, "settings": [{"seed": -1}]}, "field settings.0.seed: Input should be greater than or equal to 0"),
    "budget": (
        {**PLAN, "settings": [{"max_tokens": 0.5}]},
        "field settings.0.max_tokens: Input should be a valid integer",
    ),
    "argument with a comma": (
        {**PLAN, "settings": [{"gen_kwargs": {"a": "1,temperature=2"}}]},
        "field settings.0.gen_kwargs.a: Expected text without any of",
    ),
    "list as a generation setting": (
        {**PLAN, "settings": [{"gen_kwargs": {"until": ["x"]}}]},
        "field settings.0.gen_kwargs.until: Expected text, a number, true or false, found ['x']",
    ),
    "batch size": (
        {**PLAN, "models": [{"name": "a", "model": "b", "batch_size": 0}]},
        "models.0.batch_size: Expected a number",
    ),
    "machines": (
        {**PLAN, "models": [{"name": "a", "model": "b", "launch": {"machines": 0}}]},
        "models.0.launch.machines",
    ),
    "time that YAML takes for seconds": (
        {**PLAN, "slurm": {"time": 43_200}},
        "field slurm.time: Expected text, found 43200",
    ),
    "option of SLURM": (
        {**PLAN, "slurm": {"partition": "a --wrap=x"}},
        "field slurm.partition: Expected letters, digits",
    ),
    "python": ({**PLAN, "python": "a\nb"}, "field python: Expected at most 2,000 characters that can be printed"),
    "too many cells": (
        {**PLAN, "tasks": [f"t{n}" for n in range(101)], "settings": [{"name": f"s{n}"} for n in range(100)]},
        "Expected at most 10,000 cells, found 10,100",
    ),
    "cells of the same name": (
        {
            **PLAN,
            "models": [{"name": "x__t__y", "model": "m"}, {"name": "x", "model": "m"}],
            "tasks": ["t"],
            "settings": [{"name": "z"}, {"name": "y__t__z"}],
        },
        "Expected names that make cells' names differ",
    ),
    "cells that are one folder where case does not count": (
        {**PLAN, "models": [{"name": name, "model": "m"} for name in ("Sim", "sim")]},
        "Expected names that make cells' names differ by more than upper and lower case, found sim__condchain",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_plans_are_told_by_file_key_and_value(case: str, tmp_path: Path) -> None:
    value, sentence = BAD[case]
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(sentence)) as caught:
        read_plan(path)
    assert str(caught.value).startswith(str(path))


SECRET = "s3cretS3cret"
HIDING = {
    "models as a mapping": ({"models": {"name": "a", "model": "b", "args": {"api_key": SECRET}}}, "field models: "),
    "models as mappings by name": ({"models": {"a": {"base_url": f"http://u:{SECRET}@h/v1"}}}, "field models: "),
    "a model as text": ({"models": [f"openai,api_key={SECRET}"]}, "field models.0: "),
    "arguments as text": ({"models": [{"name": "a", "model": "b", "args": f"api_key={SECRET}"}]}, "models.0.args: "),
    "an argument that is a key": (
        {"models": [{"name": "a", "model": "b", "args": {"api_key": SECRET}}]},
        "Expected no keys in a plan, found api_key",
    ),
    "a key that is no argument": (
        {"models": [{"name": "a", "model": "b", "args": {"api_key": f"{SECRET}'"}}]},
        "field models.0.args.api_key: This value cannot be taken, and is not shown.",
    ),
    "a key in another place": (
        {"api_key": SECRET},
        "field api_key: This value cannot be taken, and is not shown.",
    ),
    "a password in an address": (
        {"models": [{"name": "a", "model": "openai", "args": {"base_url": f"http://u:{SECRET}@h/v1"}}]},
        "field models.0.args.base_url: Expected no keys and passwords in a plan, found 'http://h/v1'; export it, or",
    ),
    "a key in an address": (
        {"models": [{"name": "a", "model": "openai", "args": {"base_url": f"https://h/v1?key={SECRET}"}}]},
        "field models.0.args.base_url: Expected no keys and passwords in a plan, found 'https://h/v1'",
    ),
    "a key in an argument of arguments": (
        {"models": [{"name": "a", "model": "openai", "args": {"extra": {"headers": {"X": SECRET}}}}]},
        "field models.0.args.extra: Expected no keys and passwords in a plan, found",
    ),
    "a password in a variable": (
        {"env": {"OPENAI_API_BASE": f"http://u:{SECRET}@h/v1"}},
        "field env.OPENAI_API_BASE: Expected no keys and passwords in a plan",
    ),
}


@pytest.mark.parametrize("case", HIDING)
def test_no_message_on_a_plan_holds_its_secrets(case: str, tmp_path: Path) -> None:
    part, sentence = HIDING[case]
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump({**PLAN, **part}), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(sentence)) as caught:
        read_plan(path)
    assert SECRET not in str(caught.value)


def test_an_address_without_a_secret_is_taken(tmp_path: Path) -> None:
    args = {"base_url": "https://host.example:8443/v1", "azure_endpoint": "https://host/?api-version=2024-02-01"}
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump({**PLAN, "models": [{"name": "a", "model": "openai", "args": args}]}))
    assert read_plan(path).models[0].args == args


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: a\nname: b\n", ", line 2: expected YAML, found a fault: name stands twice."),
        ("models: &m [1]\ntasks: *m\n", ", line 1: expected YAML, found a fault: a plan has no aliases."),
        ("a: [", ", line 1: expected YAML, found a fault"),
        ("a: \0", "expected YAML, found a fault"),
        ("[" * 2_000, "expected YAML, found a fault"),
        ("x" * 1_000_001, "has more than 1,000,000 bytes"),
        ("", "field name: Field required"),
        ("name: a\n? [a, b]\n: 1\n", ", line 2: expected YAML, found a fault: a key that is not text."),
        ("name: a\n? {a: 1}\n: 2\n", ", line 2: expected YAML, found a fault: a key that is not text."),
        ("name: a\nenv: {NO: x}\n", ", line 2: expected YAML, found a fault: a key that is not text."),
        ("env: {A: x, <<: {A: y}}\n", ", line 1: expected YAML, found a fault: a key that is not text."),
        ("name: a\npython: !!int ''\n", ", line 2: expected YAML, found a fault: '' is no int."),
        ("name: a\npython: !!float ''\n", ", line 2: expected YAML, found a fault: '' is no float."),
        ("slurm:\n  cpus_per_task: !!int '-'\n", ", line 2: expected YAML, found a fault: '-' is no int."),
        ("name: a\npython: !!bool foo\n", ", line 2: expected YAML, found a fault: 'foo' is no bool."),
        ("name: a\npython: !!timestamp x\n", ", line 2: expected YAML, found a fault: 'x' is no timestamp."),
        (
            "name: a\nslurm: {time: 2026-99-99}\n",
            ", line 2: expected YAML, found a fault: '2026-99-99' is no timestamp",
        ),
        ("name: a\npython: 0x_\n", ", line 2: expected YAML, found a fault: '0x_' is no int."),
        (
            "env: {X: 1:30}\n",
            ", line 1, field env.X: Expected text, or a number, true or false as everything reads it, ",
        ),
        ("env: {X: 1:30}\n", "found '1:30', which YAML takes for '90'; put it in quotes."),
        (f"name: 0x{'f' * 5_000}\n", ", line 1: expected YAML, found a fault: a number of more than 100 characters."),
        (f"name: 1{':59' * 200}.5\n", ", line 1: expected YAML, found a fault: a number of more than 100 characters."),
    ],
)
def test_what_is_no_plan(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(sentence)):
        read_plan(path)


PLACES = {
    "env.X": "env: {{X: {}}}\n",
    "models.0.env.X": "models:\n- {{name: m, model: condchain_sim, env: {{X: {}}}}}\n",
    "models.0.args.a": "models:\n- {{name: m, model: condchain_sim, args: {{a: {}}}}}\n",
    "models.0.args.a.0.b": "models:\n- {{name: m, model: condchain_sim, args: {{a: [b: {}]}}}}\n",
    "settings.0.gen_kwargs.a": "settings:\n- {{gen_kwargs: {{a: {}}}}}\n",
    "settings.0.limit": "settings:\n- {{limit: {}}}\n",
    "settings.0.seed": "settings:\n- {{seed: {}}}\n",
    "slurm.time": "slurm: {{time: {}}}\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("1:30", "90"),
        ("12:00:00", "43200"),
        ("1:30.5", "90.5"),
        ("0777", "511"),
        ("0x1F", "31"),
        ("0b11", "3"),
        ("1_000", "1000"),
        ("1_0.5", "10.5"),
        ("+5", "5"),
        ("-0", "0"),
        ("yes", "True"),
        ("No", "False"),
        ("on", "True"),
        ("OFF", "False"),
        ("2026-01-02", "2026-01-02"),
        ("2026-01-02 10:00:00", "2026-01-02 10:00:00"),
        ("!!int '0777'", "511"),
    ],
)
def test_what_yaml_takes_for_something_else_has_to_be_in_quotes(
    text: str, taken: str, place: str, tmp_path: Path
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLACES[place].format(text), encoding="utf-8")
    line = 2 if "\n-" in PLACES[place] else 1
    with pytest.raises(DataError) as caught:
        read_plan(path)
    assert str(caught.value).startswith(f"{path}, line {line}, field {place}: Expected text, or a number, ")
    assert f", which YAML takes for {taken!r}; put it in quotes." in str(caught.value)


def test_what_is_exported_is_what_stands_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    values = [
        '"1:30"',
        '"0777"',
        "5",
        "-7",
        "0",
        "08",
        "1e3",
        "1.2.3",
        "'yes'",
        "'1_000'",
        "'2026-01-02'",
        "y",
        "=x",
        "1-2",
    ]
    variables = "".join(f"  X{number}: {value}\n" for number, value in enumerate(values))
    path.write_text(f"{yaml.safe_dump(PLAN)}env:\n{variables}", encoding="utf-8")
    plan = read_plan(path)
    assert list(plan.env.values()) == [value.strip("\"'") for value in values]
    write_sweep(plan, tmp_path / "sweep")
    launch = (tmp_path / "sweep" / "cells" / plan.cells[0].name / "launch.sh").read_text(encoding="utf-8")
    exports = "".join(line + "\n" for line in launch.splitlines() if line.startswith("export "))
    ran = sh("bash", "-c", f"{exports} exec {shutil.which('env')}")
    assert {f"X{n}={value.strip(chr(34) + chr(39))}" for n, value in enumerate(values)} <= set(ran.stdout.splitlines())


def test_numbers_and_truths_as_everything_reads_them_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(
        f"{yaml.safe_dump(PLAN)}settings:\n- gen_kwargs: {{a: 0.70, b: 1.0e-07, c: true, d: False, e: -3, f: .5}}\n",
        encoding="utf-8",
    )
    assert read_plan(path).settings[0].gen_kwargs == {"a": 0.7, "b": 1e-7, "c": True, "d": False, "e": -3, "f": 0.5}


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_plan(tmp_path / "plan.yaml")


def test_names_stay_as_long_as_nothing_that_bears_on_replies_changes(tmp_path: Path) -> None:
    def name(**changes: Any) -> str:
        model = {**PLAN["models"][0], **changes.pop("model", {})}
        return written(tmp_path / "plan.yaml", models=[model], **changes).cells[0].name

    first = name()
    assert re.fullmatch(r"sim__condchain_chart_mini__default-[0-9a-f]{10}", first)
    for same in (
        {},
        {"model": {"batch_size": 8}},
        {"model": {"launch": {"processes": 8}}},
        {"settings": [{"max_tokens": 5}]},
        {"slurm": {"mem": "1G"}, "python": "python"},
        {"name": "other", "tasks": ["condchain_chart_mini", "ccrv_mini"]},
    ):
        assert name(**same) == first
    others = [
        name(**changed)
        for changed in (
            {"model": {"args": {"policy": "random"}}},
            {"model": {"env": {"CONDCHAIN_DATA": "/x"}}},
            {"env": {"CONDCHAIN_DATA": "/y"}},
            {"settings": [{"limit": 5}]},
            {"settings": [{"seed": 5}]},
            {"settings": [{"system_instruction": "Think."}]},
            {"settings": [{"gen_kwargs": {"temperature": 0.5}}]},
        )
    ]
    assert len({first, *others}) == 1 + len(others)


def test_a_setting_s_variables_go_before_the_model_s_and_those_before_the_plan_s(tmp_path: Path) -> None:
    plan = written(
        tmp_path / "plan.yaml",
        models=[{"name": "m", "model": "x", "env": {"B": "model", "C": "model"}}],
        settings=[{"env": {"C": "setting"}}],
        env={"A": 1, "B": "plan", "C": "plan"},
    )
    assert plan.cells[0].env == {"A": "1", "B": "model", "C": "setting"}


def test_arguments_come_back_from_lmms_eval_as_they_were() -> None:
    from lmms_eval.utils import simple_parse_args_string

    arguments = {"pretrained": "a/b-7B", "base_url": "http://h:1/v1?x=y", "n": 3, "t": 0.5, "flag": True, "off": False}
    assert simple_parse_args_string(joined(arguments)) == arguments
    nested = {"limits": {"image": 10, "video": [1, 2]}, "after": 1}
    assert simple_parse_args_string(joined(nested)) == {"limits": '{"image": 10, "video": [1, 2]}', "after": 1}


TEXTS = (
    st.text() | st.text(alphabet="ab,=1{}[]'\\\" $", max_size=8) | st.text(alphabet="-+_.0123456789einfat²", max_size=6)
)


@given(TEXTS | st.integers() | st.floats() | st.booleans())
@example("12e5678")
@example("0012345")
@example("1_000")
@example("nan")
@example("TRUE")
@example("²")
@example(-1)
@example(-(10**400))
def test_whatever_a_plan_takes_comes_back_as_the_one_argument_that_it_is(value: bool | float | str) -> None:
    from lmms_eval.utils import simple_parse_args_string

    try:
        setting = Setting.model_validate({"gen_kwargs": {"a": value, "b": 1}})
    except ValidationError:
        return
    assert simple_parse_args_string(joined(setting.gen_kwargs)) == {"a": value, "b": 1}


@given(st.recursive(TEXTS | st.integers() | st.floats(), lambda part: st.lists(part) | st.dictionaries(TEXTS, part)))
def test_so_does_what_is_handed_on_as_json(value: object) -> None:
    from lmms_eval.utils import simple_parse_args_string

    try:
        model = Model.model_validate({"name": "m", "model": "x", "args": {"a": [value], "b": 1}})
    except ValidationError:
        return
    back = simple_parse_args_string(joined(model.args))
    assert (json.loads(back["a"]), back["b"]) == ([value], 1)


@given(TEXTS)
def test_arguments_are_read_as_lmms_eval_reads_them(text: str) -> None:
    from lmms_eval.utils import handle_arg_string

    def outcome(read: Callable[[str], object]) -> str:
        try:
            return repr(read(text))
        except ValueError:
            return "fails"

    assert outcome(read_back) == outcome(handle_arg_string)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("12e5678", "reads as it is, found '12e5678', which it reads as inf"),
        ("0012345", "reads as it is, found '0012345', which it reads as 12345"),
        ("1_000", "reads as it is, found '1_000', which it reads as 1000.0"),
        ("true", "reads as it is, found 'true', which it reads as True"),
        (-(10**30), "which it reads as -1e+30"),
        ("²", "can read, found '²', which it takes for a number and fails"),
    ],
)
def test_arguments_that_lmms_eval_would_change_are_refused(value: object, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape(sentence)) as caught:
        written(tmp_path / "plan.yaml", models=[{"name": "m", "model": "x", "args": {"revision": value}}])
    assert ", field models.0.args.revision: Expected a value that lmms-eval " in str(caught.value)


def test_numbers_that_come_back_equal_are_taken(tmp_path: Path) -> None:
    arguments = {"top_k": -1, "top_p": 1.0, "temperature": 1e-7, "do_sample": False}
    assert written(tmp_path / "plan.yaml", settings=[{"gen_kwargs": arguments}]).settings[0].gen_kwargs == arguments


def test_every_variable_that_a_plan_takes_can_be_set_in_a_shell() -> None:
    names = sh("env", "-i", "bash", "-c", "compgen -v").stdout.split()
    taken, refused = list[str](), set[str]()
    for name in names:
        try:
            taken += Setting.model_validate({"env": {name: "/x y"}}).env
        except ValidationError:
            refused.add(name)
    assert {"PATH", "IFS", "TERM", "HOSTNAME"} <= set(taken) < set(names)
    assert {"UID", "EUID", "PPID", "BASHOPTS", "BASH_VERSINFO", "SHELLOPTS"} <= refused
    exports = "; ".join(f"export {name}='/x y'" for name in taken)
    ran = sh("bash", "-c", f"set -eu; {exports}; exec {shutil.which('env')}")
    assert {f"{name}=/x y" for name in taken} <= set(ran.stdout.splitlines())


# --- what is written


def test_configurations_are_what_lmms_eval_s_config_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lmms_eval.__main__ import parse_eval_args

    monkeypatch.setattr(sys, "argv", ["lmms_eval"])
    _, defaults = parse_eval_args()
    plan = written(
        tmp_path / "plan.yaml",
        settings=[
            {"limit": 4, "seed": 7, "max_tokens": 9, "system_instruction": NASTY, "gen_kwargs": {"temperature": 0}},
        ],
    )
    config = configuration(plan.cells[0], tmp_path)
    assert config.keys() <= vars(defaults).keys()
    on_command_line = ["--limit", "4", "--seed", "7", "--max_tokens", "9", "--gen_kwargs", "temperature=0"]
    monkeypatch.setattr(sys, "argv", ["lmms_eval", *on_command_line, "--system_instruction", NASTY])
    parsed = vars(parse_eval_args()[1])
    assert {name: config[name] for name in ("limit", "seed", "max_tokens", "gen_kwargs", "system_instruction")} == {
        name: parsed[name] for name in ("limit", "seed", "max_tokens", "gen_kwargs", "system_instruction")
    }


def test_nothing_in_a_plan_runs(tmp_path: Path) -> None:
    """Texts that a shell would act upon arrive as they are, and nothing else happens."""
    value = NASTY.replace("$", "%")  # refused in variables, since lmms-eval would expand it
    python = told(tmp_path / "bin $(touch HACKED) 'x'", 'env >"$here/env"; write 1')
    with pytest.raises(DataError, match="nothing is expanded"):
        written(tmp_path / "plan.yaml", python=python)
    python = told(tmp_path / "bin `touch HACKED`; 'x' \"", 'env >"$here/env"; write 1')
    plan = written(
        tmp_path / "plan.yaml", python=python, env={"VALUE": value}, settings=[{"system_instruction": NASTY + "\n$X"}]
    )
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    done = subprocess.run(["bash", out / "run.sh"], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"VALUE={value}" in (Path(python).parent / "env").read_text(encoding="utf-8").splitlines()
    assert not list(tmp_path.rglob("HACKED"))
    config = yaml.safe_load((out / "cells" / plan.cells[0].name / "config.yaml").read_text(encoding="utf-8"))
    assert config["system_instruction"] == NASTY + "\n$X"
    assert config["env"] == {"VALUE": value}


def test_several_processes_and_machines(tmp_path: Path) -> None:
    models = [
        {"name": "one", "model": "m"},
        {"name": "eight", "model": "m", "launch": {"processes": 8}},
        {"name": "nodes", "model": "m", "launch": {"machines": 2, "processes": 4}},
        {"name": "api", "model": "m", "launch": {"gpus": 0}},
    ]
    slurm = {"time": "12:00:00", "mem": "10G", "max_parallel": 3, "cpus_per_task": 8, "qos": "high"}
    plan = written(tmp_path / "plan.yaml", models=models, tasks=["ccrv", "vrex"], slurm=slurm)
    done = write_sweep(plan, tmp_path / "sweep")
    launches = {
        cell.model.name: (tmp_path / "sweep" / "cells" / cell.name / "launch.sh").read_text().splitlines()[-1]
        for cell in plan.cells
        if cell.task == "ccrv"
    }
    assert launches["one"].startswith("exec python3 -m lmms_eval --config /")
    assert "-m accelerate.commands.launch --num_machines 1 --num_processes 8 " in launches["eight"]
    assert "--num_machines 2 --num_processes 8 " in launches["nodes"]
    assert '--machine_rank "$SLURM_NODEID" --main_process_ip "$MASTER_ADDR"' in launches["nodes"]
    assert [path.name for path in done.slurm] == [
        "slurm_1x1_gpus1.sh",
        "slurm_1x8_gpus8.sh",
        "slurm_2x4_gpus4.sh",
        "slurm_1x1_gpus0.sh",
    ]
    asked = [line for line in done.slurm[2].read_text().splitlines() if line.startswith("#SBATCH")]
    assert asked == [
        "#SBATCH --job-name=trial",
        "#SBATCH --array=0-1%3",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=1",
        "#SBATCH --gpus-per-node=4",
        "#SBATCH --time=12:00:00",
        "#SBATCH --qos=high",
        "#SBATCH --mem=10G",
        "#SBATCH --cpus-per-task=8",
        f"#SBATCH --output={tmp_path}/sweep/slurm/%A_%a.out",
    ]
    assert "--gpus-per-node" not in done.slurm[3].read_text()


def test_each_cell_is_in_one_array_script(tmp_path: Path) -> None:
    """As many GPUs as processes are the same machines, whether a plan says so or leaves it out."""
    models = [
        {"name": "a", "model": "x", "launch": {"processes": 2}},
        {"name": "b", "model": "x", "launch": {"processes": 2, "gpus": 2}},
        {"name": "c", "model": "x", "launch": {"processes": 2, "gpus": 4}},
    ]
    plan = written(tmp_path / "plan.yaml", models=models, tasks=["ccrv", "vrex"])
    scripts = write_sweep(plan, tmp_path / "sweep").slurm
    assert [script.name for script in scripts] == ["slurm_1x2_gpus2.sh", "slurm_1x2_gpus4.sh"]
    listed = [line.strip() for script in scripts for line in script.read_text().splitlines() if "__" in line]
    assert listed == [cell.name for cell in plan.cells]
    assert [re.findall(r"--array=\S+", script.read_text()) for script in scripts] == [["--array=0-3"], ["--array=0-1"]]


def test_array_scripts_go_with_the_machines_that_a_plan_no_longer_asks_for(tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    eight = {**PLAN["models"][0], "launch": {"processes": 8}}
    (old,) = write_sweep(written(tmp_path / "plan.yaml", models=[eight]), out).slurm
    mine = {out / "slurm_mine.sh": old.read_text(), out / "slurm_1x4_gpus4.sh": "#!/bin/sh\n", out / "notes.sh": "x"}
    for path, text in mine.items():
        path.write_text(text)
    (out / "slurm_2x2_gpus2.sh").symlink_to(out / "notes.sh")
    (out / "slurm_folder.sh").mkdir()
    (new,) = write_sweep(written(tmp_path / "plan.yaml"), out).slurm
    assert {path.name for path in out.glob("*.sh")} == {
        *("cell.sh", "run.sh", "slurm_2x2_gpus2.sh", "slurm_folder.sh"),
        *(path.name for path in (new, *mine)),
    }
    assert {path: path.read_text() for path in mine} == mine


def test_a_slurm_array_runs_the_cell_of_its_task_and_several_machines_by_srun(tmp_path: Path) -> None:
    python = told(tmp_path / "bin", 'echo "$MASTER_ADDR $LMMS_CACHE_RUN_ID $*" >>"$here/ranks"; write 1')
    model = {"name": "m", "model": "x", "launch": {"machines": 2, "processes": 4}}
    plan = written(tmp_path / "plan.yaml", python=python, models=[model], tasks=["ccrv", "condchain_chart_mini"])
    done = write_sweep(plan, tmp_path / "sweep")
    # Stand for SLURM: the command runs once a machine.
    for name, text in {
        "scontrol": "echo node7; echo node8",
        "srun": '[ "$1 $2" = "--nodes=2 --ntasks=2" ] || exit 3; shift 4; for n in 0 1; do SLURM_NODEID=$n "$@"; done',
    }.items():
        (tmp_path / "bin" / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    slurm = {"SLURM_JOB_NODELIST": "node[7-8]", "SLURM_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "1"}
    ran = sh("bash", done.slurm[0], PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}", **slurm)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    ranks = (tmp_path / "bin" / "ranks").read_text().splitlines()
    assert [re.search(r"--machine_rank (\d) --main_process_ip (\w+)", line)[0] for line in ranks] == [  # type: ignore[index]
        f"--machine_rank {n} --main_process_ip node7" for n in (0, 1)
    ]
    assert len({line.split()[1] for line in ranks}) == 1
    assert [row.state for row in status(plan, tmp_path / "sweep")] == ["missing", "done"]
    without = run(tmp_path / "sweep")
    assert without.returncode == 1
    assert "takes 2 machines, so SLURM has to start it" in without.stderr


@pytest.mark.parametrize("name", ["with space", "a,b", "a%j", "a'b"])
def test_folders_that_would_not_fit(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a folder with letters, digits"):
        write_sweep(written(tmp_path / "plan.yaml"), tmp_path / name)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x")
    plan = written(tmp_path / "plan.yaml")
    for path in (tmp_path / "mine", tmp_path / "plan.yaml"):
        with pytest.raises(DataError, match="is no folder of a sweep"):
            write_sweep(plan, path)
    with pytest.raises(DataError, match="holds no sweep"):
        status(plan, tmp_path / "mine")


# --- what becomes of it


def test_a_cell_that_is_done_is_not_run_again(tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", "write 20260101_000000"))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    assert only(plan, out).state == "missing"
    assert run(out).returncode == 0
    row = only(plan, out)
    assert (row.state, row.detail) == ("done", "")
    assert row.results == out / "cells" / row.name / "results" / "20260101_000000_results.json"
    again = run(out)
    assert (again.returncode, again.stdout.splitlines()[0]) == (0, f"done already: {row.name}")
    write_sweep(plan, out)  # written anew, it is still done
    assert run(out).returncode == 0
    assert (tmp_path / "bin" / "starts").read_text() == "x\n"


def test_after_a_failure_the_others_run_and_another_start_runs_it_alone(tmp_path: Path) -> None:
    fails = 'echo start; echo "ValueError: no such file" >&2; echo bye; case $tasks in ccrv) exit 3 ;; esac; write 1'
    plan = written(tmp_path / "plan.yaml", tasks=["ccrv", "condchain_chart_mini"], python=told(tmp_path / "bin", fails))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    first = run(out)
    assert first.returncode == 1
    assert first.stdout.splitlines()[-1] == "1 of 2 cells are not done"
    failed, done = status(plan, out)
    assert (failed.state, failed.detail) == ("failed", "exit code 3: ValueError: no such file")
    assert (failed.results, done.state) == (None, "done")
    told(tmp_path / "bin", "write 2")
    (tmp_path / "bin" / "results.json").write_text('{"results": {"ccrv": {}}, "configs": {"ccrv": {}}}')
    assert run(out).returncode == 0
    assert [row.state for row in status(plan, out)] == ["done", "done"]
    assert (tmp_path / "bin" / "starts").read_text() == "x\n" * 3
    assert "ValueError" in (out / "cells" / failed.name / "log.previous.txt").read_text()


@pytest.mark.parametrize(
    ("what", "detail"),
    [
        # lmms-eval prints what went wrong, and exits with 0.
        (
            r"printf '\e[31mERROR\e[0m: no task\r\n\e]0;title\a100%%\n'",
            "lmms-eval ended without results: ERROR: no task",
        ),
        ("true", "lmms-eval ended without results"),
        ("echo 'all is well'", "lmms-eval ended without results: all is well"),
    ],
)
def test_without_results_exit_code_0_is_a_failure(what: str, detail: str, tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", what))
    write_sweep(plan, tmp_path / "sweep")
    assert run(tmp_path / "sweep").returncode == 1
    row = only(plan, tmp_path / "sweep")
    assert (row.state, row.detail) == ("failed", f"exit code {NO_RESULTS}, {detail}")


def test_results_of_an_earlier_start_do_not_count(tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", "write 1; exit 1"))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    run(out)
    told(tmp_path / "bin", "true")
    run(out)
    assert only(plan, out).detail.startswith(f"exit code {NO_RESULTS}")


def test_a_budget_that_is_spent_leaves_a_cell_to_be_gone_on_with(tmp_path: Path) -> None:
    spent = '"budget_exceeded": true'
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", "write 1", usage=spent))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    assert run(out).returncode == 1
    assert only(plan, out).detail.startswith(f"exit code {BUDGET_REACHED}, max_tokens were spent")
    told(tmp_path / "bin", "write 2")
    assert run(out).returncode == 0
    assert only(plan, out).state == "done"


def test_what_is_wrong_with_results_is_said(tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", "write 1", failed=2.5))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    run(out)
    row = only(plan, out)
    assert (row.state, row.detail) == ("done", "2.5 % of condchain_chart_mini: requests failed")
    (samples,) = out.rglob("*_samples_*.jsonl")
    samples.unlink()
    row = only(plan, out)
    assert row.state == "failed"
    assert row.detail.startswith("damaged results: there are no samples of condchain_chart_mini beside ")
    # cell.sh goes by the exit code, so it is said how to have the cell run again.
    assert run(out).stdout.startswith("done already")
    (unwanted,) = re.findall(r"; to have it run again, remove (\S+)$", row.detail)
    Path(unwanted).unlink()
    assert run(out).returncode == 0
    assert only(plan, out).state == "done"


HUGE = "1" + "0" * 400


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{}", "field configs: expected tasks, found None."),
        ('{"configs": {}, "results": {}}', "field configs: expected tasks, found {}."),
        ('{"configs": {"t": {}}, "results": []}', "field results: expected tasks, found []."),
        ('{"configs": {"a/b": {}}, "results": {"a/b": {}}}', "there are no samples of a/b beside "),
        ('{"configs": {"": {}}, "results": {"a": {}}}', "there are no samples of  beside "),
        (f'{{"configs": {{"{"x" * 5_000}": {{}}}}, "results": {{"a": {{}}}}}}', "there are no samples of xxx"),
        (r'{"configs": {"\ud800\u0000": {}}, "results": {"a": {}}}', "there are no samples of    beside "),
        (
            r'{"configs": {"x\u001b[31mred\nnew\u009b0m": {}}, "results": {"a": {}}}',
            "there are no samples of xred new 0m beside ",
        ),
        (RESULTS.format(failed=HUGE, usage=""), "condchain_chart_mini, failed,none: expected a share from 0 to 100"),
        (RESULTS.format(failed="NaN", usage=""), "expected a share from 0 to 100, found nan."),
        (RESULTS.format(failed="-1e999", usage=""), "expected a share from 0 to 100, found -inf."),
        ("[1]", "expected a JSON object."),
        ("9" * 5_000, "holds no results"),
        ("[" * 100_000, "holds no results"),
        ("\udcff", "holds no results"),
    ],
)
def test_damaged_results_are_their_own_cell_s_affair(text: str, sentence: str, tmp_path: Path) -> None:
    python = told(tmp_path / "bin", "write 1")
    plan = written(tmp_path / "plan.yaml", python=python, settings=[{"name": "a"}, {"name": "b", "limit": 1}])
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    run(out)
    path = status(plan, out)[0].results
    assert path is not None
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    damaged, other = status(plan, out)
    assert (damaged.state, damaged.results, other.state) == ("failed", None, "done")
    assert damaged.detail.startswith("damaged results: ")
    assert sentence in damaged.detail
    assert damaged.detail.isprintable()
    assert len(damaged.detail) < 1_000


def test_what_cannot_be_printed_stays_out_of_remarks_too(tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", "write 1"))
    name = r"x\u001b[31mred"
    results = f'{{"results": {{"{name}": {{"failed,none": 2}}}}, "configs": {{"{name}": {{}}}}}}'
    (tmp_path / "bin" / "results.json").write_text(results)
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    run(out)
    (samples,) = out.rglob("*_samples_*.jsonl")
    samples.rename(samples.with_name("1_samples_x\x1b[31mred.jsonl"))
    row = only(plan, out)
    assert (row.state, row.detail) == ("done", "2.0 % of xred: requests failed")


def test_results_that_are_gone(tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", "write 1"))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    run(out)
    path = only(plan, out).results
    assert path is not None
    link = path.with_name("2_results.json")
    link.symlink_to("nowhere")
    assert only(plan, out).results == path
    path.unlink()
    row = only(plan, out)
    assert row.state == "failed"
    assert row.detail.startswith("its results are gone, or cannot be read; to have it run again, remove ")
    link.unlink()
    link.symlink_to(link.name)
    assert only(plan, out).state == "failed"


def test_files_that_cannot_be_read_are_their_own_cell_s_affair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = told(tmp_path / "bin", "write 1")
    plan = written(tmp_path / "plan.yaml", python=python, settings=[{"name": "a"}, {"name": "b", "limit": 1}])
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    run(out)
    iterdir = Path.iterdir

    def failing(path: Path) -> Iterator[Path]:
        if path.parent.name == plan.cells[0].name:
            raise PermissionError(13, "Permission denied", str(path / "x\x1b[31m"))
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", failing)
    denied, other = status(plan, out)
    assert (denied.state, other.state) == ("failed", "done")
    assert denied.detail.startswith("its files cannot be read: [Errno 13] Permission denied")
    assert denied.detail.isprintable()


def test_results_of_lmms_eval_by_hand_count(tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml")
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    python = told(tmp_path / "bin", "write 1")
    assert sh(python, "-m", "lmms_eval", "--config", out / "cells" / plan.cells[0].name / "config.yaml").returncode == 0
    assert only(plan, out).state == "done"
    told(tmp_path / "bin", "write 2", usage='"budget_exceeded": true')
    assert sh(python, "-m", "lmms_eval", "--config", out / "cells" / plan.cells[0].name / "config.yaml").returncode == 0
    row = only(plan, out)
    assert (row.state, row.results) == ("failed", None)
    assert row.detail.startswith("max_tokens were spent")


@pytest.mark.parametrize("earlier", ["write 1; exit 1", "write 1"])
def test_a_clock_that_is_set_back_hides_no_results(earlier: str, tmp_path: Path) -> None:
    """Results are told from earlier ones by what is in them, not by their times."""
    spent = '"budget_exceeded": true'
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", earlier, usage=spent))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    assert run(out).returncode == 1
    told(tmp_path / "bin", 'write 0; touch -d "2 hours ago" "$results"/0_*')
    assert run(out).returncode == 0
    row = only(plan, out)
    assert (row.state, row.results) == ("done", out / "cells" / row.name / "results" / "0_results.json")


@pytest.mark.parametrize(
    "named", ["../../x_results.json", "/etc/passwd", "", "\x00\n", "x" * 10_000, "results/2_results.json"]
)
def test_a_name_of_results_that_are_not_there_counts_for_nothing(named: str, tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", "write 1"))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    assert run(out).returncode == 0
    folder = out / "cells" / plan.cells[0].name
    (folder / "results_file").write_text(named)
    row = only(plan, out)
    assert (row.state, row.results) == ("done", folder / "results" / "1_results.json")


def stopping_before(command: str, out: Path) -> None:
    """Has cell.sh killed at a line, as by a power cut."""
    script = out / "cell.sh"
    lines = script.read_text().splitlines(keepends=True)
    (place,) = (number for number, line in enumerate(lines) if line.startswith(command))
    lines.insert(place, "kill -9 $$\n")
    script.write_text("".join(lines))


@pytest.mark.parametrize(
    "command",
    [
        'rm -f "$folder/results_file"',
        'echo "$(uname -n)',
        'rm -f "$folder/exit_code"',
        "[ ! -f",
        'echo "runs',
        '"${launch[@]}"',
    ],
)
@pytest.mark.parametrize("first", ["write 1; exit 1", "write 1"])
def test_wherever_a_start_is_killed_results_of_an_earlier_one_do_not_count(
    command: str, first: str, tmp_path: Path
) -> None:
    usage = "" if "exit" in first else '"budget_exceeded": true'
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", first, usage=usage))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    run(out)
    assert only(plan, out).state == "failed"
    stopping_before(command, out)
    run(out)
    assert only(plan, out).state in ("failed", "running")
    assert only(plan, out, fresh_minutes=-1).state == "failed"
    assert (tmp_path / "bin" / "starts").read_text() == "x\n"


def wait_for(condition: Any, seconds: float = 50) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def killed(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=20)


def test_running_then_killed_then_gone_on_with(tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", "echo at work; sleep 50; write 1"))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    process = subprocess.Popen(["bash", out / "run.sh"], stdout=subprocess.DEVNULL, start_new_session=True, text=True)
    log = only(plan, out).log
    wait_for(lambda: log.exists() and "at work" in log.read_text())
    assert only(plan, out).state == "running"
    old = time.time() - 7_200
    for path in (log, log.with_name("started")):
        os.utime(path, (old, old))
    # A second start keeps its hands off a cell that runs.
    if shutil.which("flock"):
        second = run(out)
        assert (second.returncode, second.stdout.splitlines()[0]) == (1, f"runs elsewhere: {plan.cells[0].name}")
        assert only(plan, out).state == "running"  # in silence, but it holds its lock
    killed(process)
    wait_for(lambda: only(plan, out).state == "failed")
    os.utime(log)
    if shutil.which("flock"):
        # Its log is fresh, but it was started on this machine, and its lock is free.
        assert only(plan, out).state == "failed"
        ahead = time.time() + 7_200  # the clock was set back since
        os.utime(log, (ahead, ahead))
        assert only(plan, out).state == "failed"
        os.utime(log)
    for elsewhere in ("another-machine locked\n", f"{os.uname().nodename} \n"):
        log.with_name("started").write_text(elsewhere)
        assert only(plan, out).state == "running"  # for all that the files say
    for path in (log, log.with_name("started")):
        os.utime(path, (old, old))
    row = only(plan, out)
    assert (row.state, row.detail) == ("failed", "stopped 2.0 h ago without an exit code: at work")
    assert only(plan, out, fresh_minutes=180).state == "running"
    told(tmp_path / "bin", "write 2")
    assert run(out).returncode == 0
    assert only(plan, out).state == "done"


@pytest.mark.skipif(not shutil.which("flock"), reason="needs flock")
def test_of_two_starts_at_once_the_one_that_waits_does_not_run_a_finished_cell_again(tmp_path: Path) -> None:
    plan = written(tmp_path / "plan.yaml", python=told(tmp_path / "bin", "sleep 1; write 1"))
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    command = ["bash", str(out / "cell.sh"), plan.cells[0].name]
    starts = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(start.communicate(timeout=50)[0].splitlines()[0].partition(":")[0] for start in starts)
    assert said == ["done already", "runs"]
    assert [start.returncode for start in starts] == [0, 0]
    assert (tmp_path / "bin" / "starts").read_text() == "x\n"
    assert only(plan, out).state == "done"


def test_two_real_cells_killed_half_way_and_gone_on_with(tmp_path: Path) -> None:
    """lmms-eval itself, with the simulated model."""
    plan = written(
        tmp_path / "plan.yaml",
        python=sys.executable,
        settings=[{"name": "first", "limit": 4}, {"name": "second", "limit": 6}],
        env={"CONDCHAIN_CACHE": os.environ["CONDCHAIN_CACHE"]},
    )
    out = tmp_path / "sweep"
    write_sweep(plan, out)
    first, second = (out / "cells" / cell.name for cell in plan.cells)
    process = subprocess.Popen(["bash", out / "run.sh"], stdout=subprocess.DEVNULL, start_new_session=True, text=True)
    try:
        wait_for(lambda: (second / "log.txt").exists() and (second / "log.txt").stat().st_size, seconds=300)
        assert [row.state for row in status(plan, out)] == ["done", "running"]
    finally:
        killed(process)
    before = {path: path.stat().st_mtime_ns for path in first.rglob("*")}
    assert not (second / "exit_code").exists()
    done = subprocess.run(["bash", out / "run.sh"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (second / "log.txt").read_text()[-3000:]
    assert done.stdout.splitlines() == [
        f"done already: {first.name}",
        f"runs: {second.name}",
        f"exit code 0: {second.name}",
        "0 of 2 cells are not done",
    ]
    assert {path: path.stat().st_mtime_ns for path in first.rglob("*")} == before
    rows = status(plan, out)
    assert [row.state for row in rows] == ["done", "done"]
    for row, limit in zip(rows, (4, 6), strict=True):
        (samples,) = row.log.parent.rglob("*_samples_condchain_chart_mini.jsonl")
        assert len(samples.read_text().splitlines()) == limit
