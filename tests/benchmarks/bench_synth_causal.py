"""Time to draw, write and verify scenes with a known causal graph. Run by hand; prints one table."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes

from condchain_tasks.synth.causal import write_dataset
from condchain_tasks.synth.causal_art import boxes, draw
from condchain_tasks.synth.causal_kinds import KINDS
from condchain_tasks.synth.causal_verify import verify_dataset


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints milliseconds a scene, and the wall time of the embedded benchmark's ten scenes."""
    size = sizes(__doc__, arguments, scenes_of_a_kind=(4, 1), few=(10, 1), many=(100, 2))
    scenes = [make(Random(seed)) for make in KINDS.values() for seed in range(size.scenes_of_a_kind)]
    start = time.process_time()
    for scene in scenes:
        draw(scene.drawing)
    drawn = time.process_time()
    for scene in scenes:
        boxes(scene.drawing)
    boxed = time.process_time()
    rows = [
        ("draw, ms a picture", 1e3 * (drawn - start) / len(scenes)),
        ("boxes, ms a picture", 1e3 * (boxed - drawn) / len(scenes)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for n in (size.few, size.many):
            out = Path(folder) / str(n)
            begin = time.perf_counter()
            write_dataset(out, n=n)
            written = time.perf_counter()
            report = verify_dataset(out)
            verified = time.perf_counter()
            size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
            rows += [
                (f"write {n} scenes, s", written - begin),
                (f"verify {n} scenes, s", verified - written),
                (f"faults in {n} scenes", len(report.faults)),
                (f"MB of {n} scenes", size / 1e6),
            ]
    for name, value in rows:
        print(f"{name:<28}{value:>8.2f}")


if __name__ == "__main__":
    main()
