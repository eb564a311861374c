"""What `condchain doctor` finds, and what it says is to be done."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from chat_server import Reply, chat_server
from test_cli import run

pytest.importorskip("lmms_eval")

from condchain_tasks import __version__, doctor
from condchain_tasks.doctor import Finding, examine

SECRET = "sk-0123456789abcdefghij"


def found(section: str, name: str, findings: list[Finding] | None = None) -> Finding:
    (one,) = [one for one in findings or examine() if (one.section, one.name) == (section, name)]
    return one


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` of a developer's is read."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def test_nothing_is_wrong_where_nothing_is_set() -> None:
    findings = examine()
    assert [one for one in findings if one.state == "error"] == []
    assert list(dict.fromkeys(one.section for one in findings)) == [
        "versions",
        "lmms-eval",
        "variables",
        "data",
        "caches",
        "judge",
    ]
    assert found("versions", "condchain-tasks", findings).found.startswith(f"{__version__}, ")
    assert found("versions", "filelock", findings).found == importlib.metadata.version("filelock")
    assert found("data", "ccrv_mini", findings).found in ("made at first use: embedded", "there: embedded")


def test_it_is_told_what_of_the_harness_is_patched() -> None:
    patched = found("lmms-eval", "patched").found
    assert {"TaskManager (attached)", "ResponseCache (mended)", "ConfigurableTask (stages)"} <= set(patched.split(", "))
    assert found("lmms-eval", "models").found.endswith("with condchain_sim")
    assert found("lmms-eval", "entry point").found == "condchain_tasks = condchain_tasks.plugin:manifests"


def test_exit_code_json_and_what_is_printed_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("doctor", "--json", "-")
    assert done.exit_code == 0, done.stderr
    assert {finding["state"] for finding in json.loads(done.stdout)} <= {"ok", "note", "warning"}
    monkeypatch.setenv("VREX_DATA", "/nowhere")
    done = run("doctor")
    assert done.exit_code == 1
    assert "It names no folder: correct it, or unset VREX_DATA." in done.stdout
    assert "2 errors" in done.stdout  # the variable, and the data


@pytest.mark.parametrize(
    ("distribution", "installed", "sentence"),
    [
        ("filelock", "4.0.1", "pip install 'filelock<4'"),
        ("filelock", None, "pip install 'filelock<4'"),
        ("lmms-eval", "0.8.0", "pip install 'lmms-eval<0.8,>=0.7.1'"),
        ("lmms-eval", "0.6.1", "pip install 'lmms-eval<0.8,>=0.7.1'"),
        ("torch", None, "pip install 'torch'"),
    ],
)
def test_a_version_that_does_not_do_is_an_error(
    distribution: str, installed: str | None, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(name: str) -> str:
        if name != distribution:
            return importlib.metadata.version(name)
        if installed is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(doctor, "version", changed)
    one = found("versions", distribution)
    assert (one.state, one.advice) == ("error", sentence)
    assert (installed or "not installed") in one.found


def test_an_old_python_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Version = namedtuple("Version", "major minor micro releaselevel serial")
    monkeypatch.setattr(doctor.sys, "version_info", Version(3, 9, 18, "final", 0))
    assert found("versions", "python").state == "error"


def test_without_the_entry_point_no_task_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "entry_points", lambda group: ())
    one = found("lmms-eval", "entry point")
    assert (one.found, one.state) == ("not found", "error")


def test_a_harness_that_cannot_be_imported_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> Any:
        if name.startswith("lmms_eval"):
            raise ImportError("No module named 'filelock._api'")
        raise AssertionError(name)

    monkeypatch.setattr(doctor, "importlib", SimpleNamespace(import_module=fails))
    one = found("lmms-eval", "import")
    assert (one.found, one.state) == ("ImportError: No module named 'filelock._api'", "error")


@pytest.mark.parametrize("package", ["pyarrow", "huggingface_hub", "jinja2", "PIL"])
def test_a_package_that_cannot_be_imported_ends_no_other_check(package: str, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = sys.modules['lmms_eval'] = None\n"
        "from condchain_tasks.cli import app\napp(['doctor', '--json', '-'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    findings = json.loads(done.stdout)
    assert any(package in one["found"] and one["state"] == "error" for one in findings)
    assert {one["section"] for one in findings} >= {"versions", "lmms-eval", "data", "caches", "judge"}


@pytest.mark.parametrize(
    ("value", "state", "sentence"),
    [("off", "warning", "the README says what is lost"), ("perhaps", "error", "expected off, or on")],
)
def test_patches_that_are_off_are_told_and_a_value_that_is_none_ends_no_other_check(
    value: str, state: str, sentence: str, tmp_path: Path
) -> None:
    code = "from condchain_tasks.cli import app; app(['doctor', '--json', '-'])"
    variables = os.environ | {"CONDCHAIN_PATCHES": value}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == (1 if state == "error" else 0)
    findings = json.loads(done.stdout)
    assert [one["state"] for one in findings if sentence in one["advice"]] == [state]
    assert "judge" in {one["section"] for one in findings}


# --- variables


def test_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("HF_TOKEN", "hf_verysecret")
    monkeypatch.setenv("OPENAI_API_URL", f"https://me:geheim@host:8000/v1?api_key={SECRET}")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:geheim@proxy:3128")
    shown = json.dumps([vars(one) for one in examine()])
    assert not [secret for secret in (SECRET, "geheim", "hf_verysecret") if secret in shown]
    assert found("variables", "OPENAI_API_KEY").found == "set (environment)"
    assert found("variables", "OPENAI_API_URL").found == "https://host:8000/v1 (environment)"
    assert "https://host:8000/v1" in found("judge", "gpt-5.1").found


def test_a_variable_from_a_file_that_lmms_eval_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text(f"OPENAI_API_URL=https://elsewhere/v1\nOPENAI_API_KEY={SECRET}\nUNRELATED=1\n")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    findings = examine()
    assert found("variables", "OPENAI_API_URL", findings).found == (
        f"https://elsewhere/v1 ({Path.cwd() / '.env'}, which lmms-eval reads)"
    )
    assert SECRET not in found("variables", "OPENAI_API_KEY", findings).found
    monkeypatch.setenv("OPENAI_API_URL", "https://here/v1")
    assert found("variables", "OPENAI_API_URL").found == "https://here/v1 (environment)"  # which comes first


def test_a_misspelt_variable_is_named_with_what_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_JUDGE_CONCURENCY", "8")
    monkeypatch.setenv("VREX_OXYGEN_QUOTA", "8")
    one = found("variables", "CCRV_JUDGE_CONCURENCY")
    assert (one.state, one.advice) == ("warning", "Is CCRV_JUDGE_CONCURRENCY meant?")
    assert "There are CCRV_DATA, " in found("variables", "VREX_OXYGEN_QUOTA").advice


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("CONDCHAIN_DATA", "/nowhere", "It names no folder"),
        ("CONDCHAIN_PROMPTS", "/nowhere", "is no folder"),
        ("CCRV_JUDGE_CONCURRENCY", "many", "whole number of at least 1"),
        ("API_TYPE", "telepathy", "one of openai"),
        ("CONDCHAIN_CACHE", "/tmp/a*b", "has one of * ? [ ]"),
    ],
)
def test_a_variable_with_a_value_that_it_cannot_have_is_an_error(
    name: str, value: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    one = found("variables", name)
    assert one.state == "error"
    assert sentence in one.advice


# --- data and caches


def test_data_in_a_folder_is_there_or_an_error(dataset: Path) -> None:
    assert found("data", "condchain_gui").found == f"there: CONDCHAIN_DATA={dataset}"
    (dataset / "data" / "gui.jsonl").unlink()
    one = found("data", "condchain_gui")
    assert (one.state, one.found) == ("error", f"no data/gui.jsonl there: CONDCHAIN_DATA={dataset}")
    assert found("data", "condchain_chart").state == "ok"


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "file" / "cache"))
    one = found("caches", "of this package")
    assert one.state == "error"
    assert "set CONDCHAIN_CACHE to a folder that is" in one.advice


def test_a_cache_s_place_and_size_and_the_room_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "cache"))
    assert f"{tmp_path / 'cache'}, not there yet, " in found("caches", "of this package").found
    assert not (tmp_path / "cache").exists()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "one").write_bytes(bytes(1_500_000))
    assert f"{tmp_path / 'cache'}, 1.5 MB in 1 file, " in found("caches", "of this package").found
    Usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: Usage(10**12, 0, 10**8))
    one = found("caches", "of this package")
    assert (one.state, one.found.endswith(", 100.0 MB free")) == ("warning", True)


# --- the judge


def test_the_judge_is_not_asked_unless_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(lambda request: Reply('{"reasoning": "", "csr": 1}')) as server:
        monkeypatch.setenv("OPENAI_API_URL", server.url)
        assert found("judge", "gpt-5.1").state == "note"
        assert len(server.requests) == 0
        one = found("judge", "gpt-5.1", examine(ask_judge=True))
        assert (one.state, one.found.endswith(": it answers")) == ("ok", True)
        assert len(server.requests) == 1


def test_a_judge_that_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(lambda request: Reply("", status=401)) as server:
        monkeypatch.setenv("OPENAI_API_URL", server.url)
        one = found("judge", "gpt-5.1", examine(ask_judge=True))
    assert one.state == "error"
    assert "OPENAI_API_KEY" in one.advice


@pytest.mark.parametrize(("ask", "state"), [(False, "warning"), (True, "error")])
def test_a_judge_without_a_key(ask: bool, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    one = found("judge", "gpt-5.1", examine(ask))
    assert (one.state, one.advice) == (state, "ccrv tasks need it: set OPENAI_API_KEY, or CCRV_JUDGE=none.")


@pytest.mark.parametrize("name", ["none", "rules"])
def test_no_judge_to_be_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_JUDGE", name)
    one = found("judge", name)
    assert (one.state, one.found.partition(": ")[0]) == ("note", f"CCRV_JUDGE={name}")
