"""Where data comes from: a folder, the Hub's cache, the embedded benchmark, or one sentence."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import official
import pytest

from condchain_tasks.data.condchain import prepare
from condchain_tasks.data.condchain_source import describe
from condchain_tasks.data.errors import DataError
from condchain_tasks.data.sources import Source

COMMITS = {"main": "a" * 40, "v2": "b" * 40}


def hub_cache(home: Path, domains: tuple[str, ...] = official.DOMAINS) -> Path:
    """A Hub cache with two revisions: files are blobs, and snapshots link to them."""
    repository = home / "hub" / "datasets--Accio-Lab--MM-CondChain"
    for name, commit in COMMITS.items():
        plain = home / f"plain-{name}"
        for domain in domains:
            official.write_domain(plain, domain, chains=2 if name == "main" else 3)
        for path in [path for path in plain.rglob("*") if path.is_file()]:
            blob = repository / "blobs" / hashlib.sha256(path.read_bytes()).hexdigest()
            blob.parent.mkdir(parents=True, exist_ok=True)
            blob.write_bytes(path.read_bytes())
            link = repository / "snapshots" / commit / path.relative_to(plain)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(blob, link.parent))
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / name).write_text(commit)
    return repository


def run(code: str, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a fresh process, since the Hub's client reads its environment once."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("CONDCHAIN_", "HF_"))}
    settings = {"HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "CONDCHAIN_CACHE": str(home / "cache"), **env}
    return subprocess.run(
        [sys.executable, "-c", code], env=clean | settings, capture_output=True, text=True, timeout=120
    )


PREPARE = """
from condchain_tasks.data.harness import condchain_gui, provenance
import pyarrow.parquet
rows = pyarrow.parquet.read_table(condchain_gui["data_files"]["test"])
print(len(rows), provenance("condchain_gui")["source"], provenance("condchain_gui")["revision"])
"""


def test_the_hubs_cache_is_read_offline(tmp_path: Path) -> None:
    hub_cache(tmp_path)
    done = run(PREPARE, tmp_path)
    assert done.stdout.split() == ["4", "hub", COMMITS["main"]], done.stderr


@pytest.mark.parametrize("revision", ["v2", COMMITS["v2"]])
def test_a_revision_is_honoured_and_told(tmp_path: Path, revision: str) -> None:
    hub_cache(tmp_path)
    done = run(PREPARE, tmp_path, CONDCHAIN_REVISION=revision)
    assert done.stdout.split() == ["6", "hub", COMMITS["v2"]], done.stderr


@pytest.mark.parametrize("offline", ["0", "1"])
@pytest.mark.parametrize("cached", [(), ("chart",)])
def test_no_network_and_no_data_is_one_sentence(tmp_path: Path, offline: str, cached: tuple[str, ...]) -> None:
    if cached:
        hub_cache(tmp_path, cached)
    # A port that nobody listens on stands in for a machine without network.
    done = run(PREPARE, tmp_path, HF_HUB_OFFLINE=offline, HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 1
    *_, message = done.stderr.strip().splitlines()
    assert message.startswith("condchain_gui: MM-CondChain's gui data is not in the Hub's cache")
    assert "hf download Accio-Lab/MM-CondChain" in message
    assert "CONDCHAIN_DATA" in message
    assert "condchain_gui_mini" in message
    assert "Traceback" not in done.stderr


def test_a_link_out_of_the_hubs_repository_is_refused(tmp_path: Path) -> None:
    repository = hub_cache(tmp_path, ("chart",))
    outside = official.picture(tmp_path / "outside.png", "outside")
    link = repository / "snapshots" / COMMITS["main"] / "images/chart/chart0.png"
    link.unlink()
    link.symlink_to(outside)
    done = run("from condchain_tasks.data.harness import condchain_chart", tmp_path)
    assert "leads out of the data folder" in done.stderr


def test_a_snapshot_folder_can_be_named_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "cache"))
    snapshot = hub_cache(tmp_path, ("chart",)) / "snapshots" / COMMITS["main"]
    assert prepare(Source(snapshot, "folder"), "chart").remarks == {}


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    done = run(PREPARE, tmp_path, CONDCHAIN_DATA=str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert done.stderr.strip() == (
        f"condchain_gui: CONDCHAIN_DATA names {tmp_path / 'nowhere'}, which is no folder. Correct it, or unset it."
    )


def test_the_embedded_benchmark_is_made_once(tmp_path: Path) -> None:
    code = """
import time
from condchain_tasks.data.condchain_source import mini
from condchain_tasks.data import sources
first = mini()
sources.made_once.__globals__["tempfile"] = None  # making it again would fail
assert mini() == first
print(first.kind, first.root.name == first.revision, sorted(p.name for p in (first.root / "data").iterdir()))
"""
    done = run(code, tmp_path)
    assert done.stdout.strip() == "mini True ['chart.jsonl', 'gui.jsonl', 'natural.jsonl']", done.stderr


def test_describe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "empty"))
    assert describe("condchain_gui_mini") == ("embedded", "made at first use")
    official.write_domain(tmp_path, "gui", chains=1)
    monkeypatch.setenv("CONDCHAIN_DATA", str(tmp_path))
    assert describe("condchain_gui") == (f"CONDCHAIN_DATA={tmp_path}", "there")
    assert describe("condchain")[1] == "no data/natural.jsonl there"


def test_describe_the_hub(tmp_path: Path) -> None:
    hub_cache(tmp_path, ("chart", "gui"))
    code = """
from condchain_tasks.data.condchain_source import describe
print(*(describe(task)[1] for task in ("condchain", "condchain_natural", "condchain_chart", "condchain_gui_chrono")))
"""
    assert run(code, tmp_path).stdout.strip() == "missing (offline) missing (offline) there there"
    online = run(code, tmp_path, HF_HUB_OFFLINE="0").stdout.strip()
    assert online == "fetched at first use fetched at first use there there"


def test_errors_of_the_library_are_ordinary_exceptions() -> None:
    assert issubclass(DataError, ValueError)
