"""Every script about speed works: it prints its table in its `--quick` form, and leaves nothing running."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

pytest.importorskip("lmms_eval")

from benchmarks.running import server_beside, sizes

FOLDER = Path(__file__).parent / "benchmarks"
NEEDED = {"bench_text_leak": "sklearn", "bench_report": "psutil", "bench_rounds": "qwen_vl_utils"}


def is_open(url: str) -> bool:
    with socket.socket() as client:
        client.settimeout(2)
        return client.connect_ex((urlsplit(url).hostname or "", urlsplit(url).port or 0)) == 0


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("bench_*.py")))
def test_a_script_prints_its_table_and_leaves_nothing_running(
    name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_URL", "OPENAI_API_KEY", "HF_DATASETS_CACHE", "HF_HUB_OFFLINE"):
        monkeypatch.setenv(variable, os.environ.get(variable, ""))  # so that it is put back
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    threads = set(threading.enumerate())
    importlib.import_module(f"benchmarks.{name}").main(["--quick"])
    printed = capfd.readouterr().out
    assert len([line for line in printed.splitlines() if any(character.isdigit() for character in line)]) >= 1
    assert multiprocessing.active_children() == []
    left = [one for one in threading.enumerate() if one not in threads and not one.daemon and one.is_alive()]
    assert [one for one in left if not one.name.startswith(("ThreadPoolExecutor", "asyncio"))] == []


def test_a_server_ends_with_a_script_that_fails() -> None:
    others = multiprocessing.active_children()
    with pytest.raises(ZeroDivisionError), server_beside("(A)", 0.0) as (url, most_in_flight):
        assert is_open(url)
        assert most_in_flight() == 0
        (process,) = (one for one in multiprocessing.active_children() if one not in others)
        raise ZeroDivisionError
    assert not is_open(url)
    assert not psutil.pid_exists(process.pid or 0)


def test_sizes_are_as_they_are_meant_as_small_as_quick_or_as_given() -> None:
    def chosen(*arguments: str) -> dict[str, int]:
        return vars(sizes("What is measured.", arguments, chains=(200, 4), one_by_one=(20, 2)))

    assert chosen() == {"chains": 200, "one_by_one": 20}
    assert chosen("--quick") == {"chains": 4, "one_by_one": 2}
    assert chosen("--quick", "--one-by-one", "7") == {"chains": 4, "one_by_one": 7}
