"""Reading and preparing a dataset of V-REX's size: 702 samples of 2 to 6 steps, in three files.

Texts are as long as a question of 12 words and an answer of 4, by repetition. Memory is the process's peak above that
of an interpreter that has imported what reads. Run by hand: python tests/benchmarks/bench_data_vrex.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

import official_vrex as official
from benchmarks.running import sizes

LENGTHS = (2, 3, 3, 3, 4, 4, 6)  # 3.57 on average, as published

READ = """
import json, re, sys, time
from pathlib import Path
from condchain_tasks.data.sources import Source
from condchain_tasks.data.vrex import read
from condchain_tasks.data.vrex_tasks import load

def peak():  # Linux; getrusage would count what the parent had before this process was its own
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

def seconds(work, *args):
    start = time.perf_counter()
    work(*args)
    return time.perf_counter() - start

before = peak()
source = Source(Path(sys.argv[1]), "folder")
times = [seconds(read, source) for _ in range(4)]
memory = peak() - before
found = read(source)
print(json.dumps({"first": times[0], "best": min(times), "memory": memory, "rows": len(found.rows),
                  "faults": found.faults, "prepared": seconds(load, "vrex_planning_tf"),
                  "again": seconds(load, "vrex_planning_tf")}))
"""


def lengthen(value: Any, words: int = 12) -> Any:
    """Texts of so many words, and answers of four, with their own words first."""
    if isinstance(value, dict):
        return {key: lengthen(item, 4 if key == "answer" else words) for key, item in value.items()}
    if isinstance(value, list):
        return [lengthen(item, 4 if item and isinstance(item, str) else words) for item in value]
    return " ".join((value.split() + ["again"] * words)[:words]) if isinstance(value, str) else value


def record(number: int, name: str) -> dict[str, Any]:
    """A record of a chain that is as long as its number says."""
    length = LENGTHS[number % len(LENGTHS)]
    step = {
        official.PLANNING: official.pick,
        official.FOLLOWING: official.answer,
        official.HARD: lambda n, at: official.pick(n, at, 8),
    }[name]
    steps = [*(step(number, at) for at in range(1, length)), official.last(number)]
    made = official.FILES[name](number)
    return made | {"steps": lengthen(steps), "final_question": lengthen(made["final_question"])}


def write(root: Path, samples: int) -> None:
    """The dataset; its pictures are noise."""
    (root / "images").mkdir()
    encoded = root / "images" / "s0.png"
    Image.effect_noise((640, 480), 40).convert("RGB").save(encoded)
    for number in range(1, samples):
        (root / "images" / f"s{number}.png").write_bytes(encoded.read_bytes())
    for name in official.FILES:
        official.write_records(root, name, [record(number, name) for number in range(samples)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    samples = sizes(__doc__, arguments, samples=(702, 7)).samples
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "data"
        root.mkdir()
        write(root, samples)
        done = subprocess.run(
            [sys.executable, "-c", READ, str(root)],
            env=os.environ | {"VREX_DATA": str(root), "CONDCHAIN_CACHE": f"{folder}/cache"},
            check=True,
            capture_output=True,
            text=True,
        )
        found = json.loads(done.stdout)
        size = sum((root / name).stat().st_size for name in official.FILES) / 1e6
    assert not found["faults"], found["faults"][0]
    table = Table("files, MB", "records", "first read, s", "best of 4, s", "memory, MB", "prepared, s", "again, s")
    table.add_row(
        f"{size:.2f}",
        f"{found['rows']:,}",
        *(f"{found[name]:.2f}" for name in ("first", "best")),
        f"{found['memory']:.0f}",
        *(f"{found[name]:.2f}" for name in ("prepared", "again")),
    )
    Console().print(table)


if __name__ == "__main__":
    main()
