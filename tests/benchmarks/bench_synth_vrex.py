"""Time to make and verify the embedded V-REX benchmark, and to draw each kind of scene. Run by hand."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes

from condchain_tasks.synth.vrex import make_samples, write_dataset
from condchain_tasks.synth.vrex_kinds import KINDS
from condchain_tasks.synth.vrex_verify import verify_dataset


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table; the first dataset also fills the caches."""
    # As many chains as the embedded benchmark has; and chains whose pictures are drawn to time each kind of scene.
    options = sizes(__doc__, arguments, seed=(0, 0), chains=(40, 4), drawn=(360, 36))
    seed, count = options.seed, options.chains
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("cold", "warm"):
            start = time.perf_counter()
            write_dataset(Path(folder, name), count, seed)
            rows.append((f"write {count} chains ({name}), s", time.perf_counter() - start))
        start = time.perf_counter()
        report = verify_dataset(Path(folder, "warm"))
        rows.append((f"verify {count} chains ({len(report.faults)} faults), s", time.perf_counter() - start))
        size = sum(path.stat().st_size for path in Path(folder, "warm").rglob("*.png"))
    rows.append(("kB a picture", size / 1e3 / count))
    start = time.perf_counter()
    samples = make_samples(options.drawn, seed)
    rows.append(("make a chain without its picture, ms", 1e3 * (time.perf_counter() - start) / options.drawn))
    for kind in KINDS.values():
        scenes = [sample.scene for sample in samples if sample.scene.kind == kind.name]
        start = time.perf_counter()
        for scene in scenes:
            kind.draw(scene)
        rows.append((f"draw {kind.name}, ms", 1e3 * (time.perf_counter() - start) / len(scenes)))
    for label, value in rows:
        print(f"{label:<44}{value:>8.2f}")


if __name__ == "__main__":
    main()
