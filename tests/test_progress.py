"""What is shown of a piece of work while it lasts."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from report_runs import ccrv_line, condchain_lines, write_run

from condchain_tasks import progress as module
from condchain_tasks.progress import progress, track
from condchain_tasks.report.build import build
from condchain_tasks.report.evaluations import read_runs
from condchain_tasks.report.page import write_page
from condchain_tasks.synth import causal, causal_verify, dataset, verify, vrex, vrex_verify

WORK = """
import sys, time
from condchain_tasks.progress import progress, track
from condchain_tasks.synth import causal, causal_verify, dataset, verify, vrex, vrex_verify
for item in track(range(3), "Reading runs"):
    time.sleep({pause})
print("done")
"""


def on_a_terminal(code: str, **variables: str) -> str:
    """What a Python program draws on a terminal, its output and its errors."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "40"} | variables
    with subprocess.Popen([sys.executable, "-c", code], stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        drawn = b""
        try:
            while block := os.read(ours, 4096):
                drawn += block
        except OSError:  # the other side is closed
            pass
        finally:
            os.close(ours)
    assert process.returncode == 0, drawn
    return drawn.decode()


def test_items_are_handed_on_in_their_order() -> None:
    assert list(track("abc", "Letters")) == ["a", "b", "c"]


def test_an_item_counts_once_the_caller_is_through_with_it() -> None:
    with progress("Work", 3) as shown:
        assert (shown.done, shown.total) == (0, 3)
        shown.advance()
        shown.advance(2)
        assert shown.done == 3


def test_threads_may_advance_at_the_same_time() -> None:
    with progress("Work") as shown, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: [shown.advance() for _ in range(2_000)], range(8)))
        assert shown.done == 16_000


def test_a_terminal_shows_a_bar_at_once() -> None:
    drawn = on_a_terminal(WORK.format(pause=0.3))
    assert "Reading runs" in drawn
    assert "0/3" in drawn
    assert "2/3" in drawn
    assert drawn.rstrip().endswith("done")


def test_a_bar_is_gone_when_the_work_is_done() -> None:
    drawn = on_a_terminal(WORK.format(pause=0.3))
    after = drawn[drawn.rindex("Reading runs") :]
    assert "\x1b[2K" in after  # the line is erased
    assert "\x1b[?25h" in after  # and the cursor shown again


def test_work_within_work_adds_a_bar_to_the_display() -> None:
    code = """
import time
from condchain_tasks.progress import progress, track
from condchain_tasks.synth import causal, causal_verify, dataset, verify, vrex, vrex_verify
for outer in track("ab", "Folders"):
    for inner in track("xyz", "Files"):
        time.sleep(0.15)
"""
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", on_a_terminal(code))
    assert re.search(r"Folders.* 0/2 .*\r?\n\s*Files.* 1/3", drawn)
    assert re.search(r"Folders.* 1/2 .*\r?\n\s*Files.* 1/3", drawn)


def test_what_is_printed_meanwhile_stands_above_the_bar() -> None:
    code = """
import sys, time
from condchain_tasks.progress import track
for item in track(range(3), "Work"):
    time.sleep(0.2)
    print(f"NOTE {item}", file=sys.stderr)
"""
    drawn = on_a_terminal(code)
    assert all(re.search(rf"(^|\n|\r|\x1b\[2K)NOTE {item}\r?\n", drawn) for item in range(3))


def test_a_terminal_without_cursor_movement_gets_no_control_characters() -> None:
    drawn = on_a_terminal(WORK.format(pause=0.1), TERM="dumb")
    assert drawn.replace("\r\n", "\n") == "done\n"


@pytest.mark.parametrize("variables", [{}, {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "TERM": "xterm"}])
def test_nothing_is_said_of_short_work_where_there_is_no_terminal(variables: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORK.format(pause=0.1)], capture_output=True, text=True, env=os.environ | variables
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_long_work_gets_plain_lines_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    soon(monkeypatch)
    with progress("Drawing chains", 4_000) as shown:
        shown.advance(1_234)
        wait_for_a_line(capsys, "Drawing chains: 1,234 of 4,000\n")


def test_work_of_unknown_length_shows_how_much_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    soon(monkeypatch)
    with progress("Judging") as shown:
        shown.advance(7)
        wait_for_a_line(capsys, "Judging: 7\n")


def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines come without a wait."""
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(module, "LINE_SECONDS", 0.05)


def wait_for_a_line(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Fails if nothing, or anything with control characters, is printed within some seconds."""
    printed = ""
    for _ in range(200):
        printed += capsys.readouterr().err
        if line in printed:
            break
        time.sleep(0.05)
    assert line in printed
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", printed)


def test_work_goes_on_where_stderr_is_closed() -> None:
    code = "import sys; sys.stderr.close();" + WORK.format(pause=0)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n")


def test_an_error_in_the_work_ends_the_display(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), progress("Work", 1):
        raise ZeroDivisionError
    assert list(track("ab", "Later work")) == ["a", "b"]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[module.Progress]:
    """Everything whose progress is shown from here on."""
    found: list[module.Progress] = []

    class Recorded(module.Progress):
        def __init__(self, total: int | None) -> None:
            super().__init__(total)
            found.append(self)

    monkeypatch.setattr(module, "Progress", Recorded)
    return found


@pytest.mark.parametrize("workers", [1, 2])
def test_every_chain_that_is_drawn_advances_the_display(
    tmp_path: Path, shown: list[module.Progress], workers: int
) -> None:
    dataset.write_dataset(tmp_path / "out", ["natural", "chart"], n=3, seed=1, workers=workers)
    assert [(one.done, one.total) for one in shown] == [(6, 6)]


def test_reading_runs_and_making_a_report_is_shown(tmp_path: Path, shown: list[module.Progress]) -> None:
    for model in ("a", "b", "c"):
        write_run(tmp_path, model, "condchain_natural", condchain_lines("1101"))
    write_run(tmp_path, "a", "ccrv", [ccrv_line(0)])
    runs = read_runs([tmp_path])
    assert [(one.done, one.total) for one in shown] == [(4, 4)]
    made = build(runs)
    assert [(one.done, one.total) for one in shown[1:]] == [(2, 2)]  # sections
    write_page(made, tmp_path / "report.html")
    charts = sum(len(section.charts) for section in made.sections)
    assert charts > 0
    assert [(one.done, one.total) for one in shown[2:]] == [(charts, charts)]


def test_drawing_and_checking_scenes_and_chains_is_shown(tmp_path: Path, shown: list[module.Progress]) -> None:
    dataset.write_dataset(tmp_path / "condchain", ["natural"], n=2, seed=1)
    causal.write_dataset(tmp_path / "ccrv", n=2)
    vrex.write_dataset(tmp_path / "vrex", n=4)
    assert [(one.done, one.total) for one in shown] == [(2, 2), (2, 2), (4, 4), (4, 4)]  # vrex: made, then drawn

    shown.clear()
    verify.verify_dataset(tmp_path / "condchain")
    causal_verify.verify_dataset(tmp_path / "ccrv")
    vrex_verify.verify_dataset(tmp_path / "vrex")
    assert [(one.done, one.total) for one in shown] == [(2, 2), (2, 2), (4, 4)]
