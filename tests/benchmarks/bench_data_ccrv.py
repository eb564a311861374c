"""Reading a dataset of CCRV-Bench's size: 100 pictures, 800 baseline questions, 3,200 constrained ones.

Texts are as long as the official ones on average, so that the two files have the official sizes. Memory is the
process's peak above that of an interpreter that has imported what reads. Run by hand:
python tests/benchmarks/bench_data_ccrv.py
"""

from __future__ import annotations

import json
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

import official_ccrv as official
from benchmarks.running import sizes

LENGTHS = {  # characters
    "question_text": 105,
    "rationale": 300,
    "causal_rationale": 300,
    "constrained_question": 640,
    "adapted_ground_truth": 215,
    "false_premise": 190,
    "L1_perception_check": 185,
    "L2_interaction_check": 200,
    "L3_causal_check": 220,
}

READ = """
import json, re, sys, time
from pathlib import Path
from condchain_tasks.data.ccrv import read
from condchain_tasks.data.sources import Source

def peak():  # Linux; getrusage would count what the parent had before this process was its own
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

before = peak()
times = []
for _ in range(4):
    start = time.perf_counter()
    found = read(Source(Path(sys.argv[1]), "folder"))
    times.append(time.perf_counter() - start)
print(json.dumps({"first": times[0], "best": min(times), "memory": peak() - before, "rows": len(found.rows),
                  "faults": found.faults}))
"""


def lengthen(value: Any, name: str = "") -> Any:
    """Texts as long as `LENGTHS` says, by repetition; symbol maps of four nodes and lists of 16 terms."""
    if isinstance(value, dict):
        if name == "symbol_map":
            value = {f"Node_{letter}": value["Node_A" if letter in "AC" else "Node_B"] for letter in "ABCD"}
        return {key: lengthen(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return value * 4 if name == "forbidden_terms" else [lengthen(item) for item in value]
    if isinstance(value, str) and name in LENGTHS:
        return (f"{value} " * (LENGTHS[name] // len(value) + 1))[: LENGTHS[name]].strip()
    return value


def write(root: Path, images: int) -> None:
    """The dataset; its pictures are noise, the size and weight of Visual Genome's."""
    ids = range(2_300_000, 2_300_000 + images)
    (root / "VG_images_test").mkdir()
    for image_id in ids:
        picture = Image.effect_noise((500, 375), 40).convert("RGB")
        picture.save(root / "VG_images_test" / f"{image_id}.jpg", quality=85)
    official.write_entries(root, official.BASELINE, [lengthen(official.baseline(image_id)) for image_id in ids])
    official.write_entries(root, official.CONSTRAINED, [lengthen(official.constrained(image_id)) for image_id in ids])


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    images = sizes(__doc__, arguments, images=(100, 2)).images
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, images)
        done = subprocess.run([sys.executable, "-c", READ, folder], check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        megabytes = [(root / name).stat().st_size / 1e6 for name in (official.BASELINE, official.CONSTRAINED)]
    assert not found["faults"], found["faults"][0]
    table = Table("files, MB", "items", "first read, s", "best of 4, s", "memory, MB")
    table.add_row(
        " + ".join(f"{size:.2f}" for size in megabytes),
        f"{found['rows']:,}",
        f"{found['first']:.2f}",
        f"{found['best']:.2f}",
        f"{found['memory']:.0f}",
    )
    Console().print(table)


if __name__ == "__main__":
    main()
