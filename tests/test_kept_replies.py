"""What --use_cache has on the disk: damaged files, full and read-only disks, locks that killed runs leave behind."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval")

from test_response_cache import Model, run

from condchain_tasks.response_cache import mend_response_cache

ALL = ["reply 0", "reply 1", "reply 2"]
_SMALL_DISK = """
import logging, resource, sys
from pathlib import Path
from loguru import logger
from test_response_cache import Model, run
from condchain_tasks.response_cache import mend_response_cache

mend_response_cache()
logger.remove()
logger.add(sys.stdout, level="WARNING", format="{message}")
resource.setrlimit(resource.RLIMIT_FSIZE, (%d, resource.RLIM_INFINITY))
model = Model({number: "x" * 5_000 for number in range(40)})
assert [len(reply) for reply in run(Path(sys.argv[1]), model, documents=40)] == [5_000] * 40
"""


@pytest.fixture(autouse=True)
def _mended(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LMMS_CACHE_RUN_ID", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    mend_response_cache()


def killed_runs(root: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> list[Path]:
    """The first has the reply to document 0, the second that to document 1, and so on."""
    for number, name in enumerate(names, start=1):
        monkeypatch.setenv("LMMS_CACHE_RUN_ID", name)
        run(root, Model(), documents=number, is_killed=True)
    monkeypatch.delenv("LMMS_CACHE_RUN_ID")
    (root / "cache.db").unlink(missing_ok=True)
    return [root / "runs" / name / "rank_0.db" for name in names]


def test_one_file_that_is_no_database_does_not_block_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    _, damaged = killed_runs(tmp_path, monkeypatch, "a", "b")
    damaged.write_bytes(b"no database" * 100)
    damaged.with_suffix(".audit.jsonl").unlink()
    model = Model()
    assert run(tmp_path, model) == ALL
    assert model.calls == [[1, 2]]
    (warning,) = warnings
    assert warning.startswith(f"{damaged} cannot be read (file is not a database); 0 of its replies")


def test_replies_of_a_damaged_file_come_from_the_log_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    (damaged,) = killed_runs(tmp_path, monkeypatch, "a")
    damaged.write_bytes(damaged.read_bytes()[:5_000])
    with damaged.with_suffix(".audit.jsonl").open("a") as log:
        log.write('{"cache_key": "cut o')
    model = Model()
    assert run(tmp_path, model) == ALL
    assert model.calls == [[1, 2]]
    assert "1 of its replies are taken from the log" in warnings[0]


def test_an_empty_file_does_not_block_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    empty, _ = killed_runs(tmp_path, monkeypatch, "a", "b")
    empty.write_bytes(b"")
    empty.with_suffix(".audit.jsonl").unlink()
    model = Model()
    assert run(tmp_path, model) == ALL
    assert model.calls == [[0, 2]]
    assert str(empty) in warnings[0]
    assert empty.exists()  # it may be one that a rank beside this one has just begun


def test_a_run_of_the_same_number_as_the_damaged_one_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (damaged,) = killed_runs(tmp_path, monkeypatch, "77")
    damaged.write_bytes(b"no database" * 100)
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    model = Model()
    assert run(tmp_path, model) == ALL
    assert model.calls == [[1, 2]]
    assert damaged.with_name("rank_0.db.damaged").exists()


def test_a_damaged_cache_is_made_anew_from_what_the_runs_have(tmp_path: Path, warnings: list[str]) -> None:
    run(tmp_path, Model())
    (tmp_path / "cache.db").write_bytes(b"no database" * 100)
    again, third = Model(), Model()
    assert run(tmp_path, again) == ALL
    assert run(tmp_path, third) == ALL
    assert (again.calls, third.calls) == ([], [])
    assert [f"{tmp_path / 'cache.db'} is damaged" in warning for warning in warnings] == [True]
    assert (tmp_path / "cache.db.damaged").exists()


def on_a_small_disk(root: Path, size: int) -> subprocess.CompletedProcess[str]:
    """Forty replies of 5,000 characters, where no file may have more than `size` bytes."""
    return subprocess.run(
        [sys.executable, "-c", _SMALL_DISK % size, str(root)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("size", [60_000, 150_000])
def test_a_full_disk_is_one_warning_and_no_lost_reply(tmp_path: Path, size: int) -> None:
    done = on_a_small_disk(tmp_path, size)
    assert done.returncode == 0, done.stderr
    (warning,) = done.stdout.strip().splitlines()
    assert str(tmp_path) in warning
    assert "File too large" in warning or "disk" in warning


def test_a_run_after_the_full_disk_asks_for_what_is_missing_alone(tmp_path: Path) -> None:
    assert on_a_small_disk(tmp_path, 150_000).returncode == 0
    model = Model(dict.fromkeys(range(40), "x" * 5000))
    assert [len(reply) for reply in run(tmp_path, model, documents=40)] == [5_000] * 40
    ((*missing,),) = model.calls
    assert 0 < len(missing) < 40


def test_where_nothing_at_all_can_be_written_the_run_ends_before_any_request(tmp_path: Path) -> None:
    done = on_a_small_disk(tmp_path, 2_000)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith(f"--use_cache {tmp_path} cannot be used (")


def test_a_folder_that_cannot_be_made_is_one_warning(tmp_path: Path, warnings: list[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file" / "cache", Model()) == ALL
    (warning,) = warnings
    assert "The replies of this run are not kept" in warning


def lock(root: Path, owner: dict[str, object] | None, age_s: float = 0) -> Path:
    path = root / "runs" / ".merge.lock"
    path.mkdir(parents=True)
    if owner is not None:
        (path / "owner.json").write_text(json.dumps(owner))
    os.utime(path, (path.stat().st_mtime - age_s,) * 2)
    return path


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("age_s", [0, 3_600])
def test_a_lock_of_a_killed_run_is_removed_and_the_merge_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str], age_s: float
) -> None:
    def never(_: float) -> None:
        raise AssertionError("lmms-eval waits for the lock")

    owner = {"pid": ended_process(), "hostname": socket.gethostname()} if age_s == 0 else None
    path = lock(tmp_path, owner, age_s)
    monkeypatch.setattr("lmms_eval.caching.response_cache.time.sleep", never)
    run(tmp_path, Model())
    assert not path.exists()
    assert [str(path) in warning for warning in warnings] == [True]
    with closing(sqlite3.connect(tmp_path / "cache.db")) as db:
        assert db.execute("SELECT COUNT(*) FROM responses").fetchone() == (3,)


@pytest.mark.parametrize("hostname", [socket.gethostname(), "another"])
def test_a_lock_in_use_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hostname: str) -> None:
    path = lock(tmp_path, {"pid": os.getpid(), "hostname": hostname})

    def release(_: float) -> None:
        (path / "owner.json").unlink()
        path.rmdir()

    monkeypatch.setattr("lmms_eval.caching.response_cache.time.sleep", release)
    run(tmp_path, Model())
    assert (tmp_path / "cache.db").exists()
