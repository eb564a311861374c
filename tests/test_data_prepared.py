"""What is said of data when a run prepares it, and what ends the run there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import official
import official_ccrv
import official_vrex
import pytest

from condchain_tasks.data import harness
from condchain_tasks.data.request_size import Largest
from condchain_tasks.synth import causal, dataset, vrex

_LIMITED = """
import resource, signal
from condchain_tasks.data import harness
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
harness.TASK
"""


@pytest.mark.parametrize("task", ["condchain_chart_mini", "ccrv_x1_base_mini", "vrex_direct_mini"])
def test_a_disk_that_is_full_while_the_embedded_benchmark_is_drawn_is_one_sentence(tmp_path: Path, task: str) -> None:
    environment = os.environ | {"CONDCHAIN_CACHE": str(tmp_path / "cache")}
    code = _LIMITED.replace("TASK", task)  # no file may grow beyond 30,000 bytes, as if the disk were full
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"{task}: {tmp_path}/cache/mini/")
    assert "cannot be written" in last
    assert "set CONDCHAIN_CACHE" in last
    assert "Traceback" not in done.stderr
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.parametrize("write", ["chains", "scenes", "samples"])
def test_what_a_killed_generator_left_is_in_nobodys_way(tmp_path: Path, write: str) -> None:
    """In a container every start is process 1; here the process that was killed had this one's number."""
    for number in (1, os.getpid()):
        (tmp_path / f".out.{number}").mkdir()
    if write == "chains":
        dataset.write_dataset(tmp_path / "out", ["natural"], n=1, seed=0)
    elif write == "scenes":
        causal.write_dataset(tmp_path / "out", n=1)
    else:
        vrex.write_dataset(tmp_path / "out", n=1)
    left = {".out.1", f".out.{os.getpid()}"}
    assert {path.name for path in tmp_path.iterdir()} == {"out", *left}
    assert (tmp_path / "out").stat().st_mode & 0o755 == 0o755


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a volume")
def test_a_mounted_volume_is_filled(tmp_path: Path) -> None:
    out = tmp_path / "volume"
    out.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", out], capture_output=True, check=False).returncode:
        pytest.skip("this process may not mount")
    try:
        (out / ".volume-killed.part").mkdir()
        vrex.write_dataset(out, n=1)
        assert {path.name for path in out.iterdir()} == {
            *("data", "facts", "images", "synthetic.json", ".volume-killed.part")
        }
        with pytest.raises(FileExistsError):
            vrex.write_dataset(out, n=1)
    finally:
        subprocess.run(["umount", out], check=True)


@pytest.mark.parametrize("variable", ["CONDCHAIN_DATA", "CCRV_DATA", "VREX_DATA"])
def test_the_home_of_nobody_is_no_folder(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    from condchain_tasks.data.benchmarks import BENCHMARKS
    from condchain_tasks.data.errors import DataError

    benchmark = variable.partition("_")[0].lower()
    task = {"condchain": "condchain_gui", "ccrv": "ccrv", "vrex": "vrex_direct"}[benchmark]
    monkeypatch.setenv(variable, "~nobody-has-this-name/data")
    assert BENCHMARKS[benchmark].describe(task)[0] == f"{variable}=~nobody-has-this-name/data"
    with pytest.raises(DataError, match=f"{variable} names .*, which is no folder"):
        BENCHMARKS[benchmark].load(task)


def test_many_and_large_pictures_are_told_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    root = tmp_path / "data"
    official.write_domain(root, "gui", chains=2, frames=21)
    official.picture(root / "images/gui/gui0/gui0_3.png", "large", (28, 2_001))
    monkeypatch.setenv("CONDCHAIN_DATA", str(root))
    _ = harness.condchain_gui
    said = "\n".join(warnings)
    assert "condchain_gui: 21 pictures in one request: some providers refuse more than 20." in said
    assert "condchain_gui: pictures with sides up to 2,001 pixels: some providers refuse more than 2,000" in said


def test_small_requests_are_not_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]) -> None:
    official.write_domain(tmp_path / "data", "gui", chains=1, frames=20)
    monkeypatch.setenv("CONDCHAIN_DATA", str(tmp_path / "data"))
    _ = harness.condchain_gui
    assert not [warning for warning in warnings if "providers" in warning]


def test_drawn_data_in_a_folder_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    vrex.write_dataset(tmp_path / "data", n=1)
    monkeypatch.setenv("VREX_DATA", str(tmp_path / "data"))
    _ = harness.vrex_direct
    assert f"vrex_direct: the data in {tmp_path / 'data'} was drawn by condchain synth" in "\n".join(warnings)


def test_the_largest_request_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """57 x 29 pixels are 3 x 2 tokens, 28 x 28 are one; a text has a token for each 4 characters, started ones too."""
    from condchain_tasks.data.condchain import read, size
    from condchain_tasks.data.sources import Source

    root = tmp_path / "data"
    official.write_domain(root, "gui", chains=1, frames=2)
    official.picture(root / "images/gui/gui0/gui0_0.png", "", (57, 29))
    official.picture(root / "images/gui/gui0/gui0_1.png", "", (28, 28))
    record = official.record("gui", 0, "images/gui/gui0")
    record["true_path"]["full_instruction"] = "A1 " + "x" * 98
    record["false_path"]["full_instruction"] = "A1 B2 C1"
    official.write_records(root, "gui", [record])
    assert size(read(Source(root, "folder"), "gui")) == Largest(2, 57, 101, 6 + 1 + 26)


@pytest.mark.parametrize(
    "task", ["ccrv_x1_y1", "ccrv_oracle_y1", "ccrv_textonly", "vrex_direct", "vrex_planning_blind"]
)
def test_each_task_has_its_own_largest_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str) -> None:
    from condchain_tasks.data.benchmarks import benchmark_of

    monkeypatch.setenv("CCRV_DATA", str(official_ccrv.write_dataset(tmp_path / "ccrv")))
    monkeypatch.setenv("VREX_DATA", str(official_vrex.write_dataset(tmp_path / "vrex")))
    _, data = benchmark_of(task)[1].load(task)
    y1 = official_ccrv.forms("X1_discovery", 0)[0]
    known = "The shelf carries cup 0, so it stays up." + "The shelf pushes up against the cup's weight."
    options = "Where does path 0 end?" + "at the barn" + "at the barnat the millat the pond"
    expected = {
        "ccrv_x1_y1": (1, len(y1["constrained_question"])),
        "ccrv_oracle_y1": (1, len(y1["constrained_question"] + known + y1["adapted_ground_truth"])),
        "ccrv_textonly": (0, len("What keeps cup 0 of picture 40 up? (X4_intervention)")),
        "vrex_direct": (1, len("Where does path 0 end?" + options)),
    }
    if task in expected:
        assert (data.largest.pictures, data.largest.characters) == expected[task]
    else:
        assert (data.largest.pictures, data.largest.side) == (0, 0)


def test_what_an_older_version_prepared_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from condchain_tasks.data import prepared

    monkeypatch.setenv("VREX_DATA", str(official_vrex.write_dataset(tmp_path / "vrex")))
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "cache"))
    first = harness.vrex_direct["data_files"]["test"]
    monkeypatch.setattr(prepared, "_FORMAT", prepared._FORMAT - 1)
    assert harness.vrex_direct["data_files"]["test"] != first


def test_provenance_can_be_written_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_DATA", str(official_ccrv.write_dataset(tmp_path / "ccrv")))
    data = json.loads(json.dumps(harness.provenance("ccrv")))
    assert data.keys() == {"source", "root", "revision", "sha256", "remarks", "synthetic", "official"}
