"""Time to make and verify the embedded V-REX benchmark, and to draw each kind of scene. Run by hand."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from condchain_tasks.synth.vrex import make_samples, write_dataset
from condchain_tasks.synth.vrex_kinds import KINDS
from condchain_tasks.synth.vrex_verify import verify_dataset

CHAINS = 40
"""As many as the embedded benchmark has."""

DRAWN = 360
"""Chains whose pictures are drawn to time each kind of scene."""


def main() -> None:
    """Prints the table; the first dataset also fills the caches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("cold", "warm"):
            start = time.perf_counter()
            write_dataset(Path(folder, name), CHAINS, seed)
            rows.append((f"write {CHAINS} chains ({name}), s", time.perf_counter() - start))
        start = time.perf_counter()
        report = verify_dataset(Path(folder, "warm"))
        rows.append((f"verify {CHAINS} chains ({len(report.faults)} faults), s", time.perf_counter() - start))
        size = sum(path.stat().st_size for path in Path(folder, "warm").rglob("*.png"))
    rows.append(("kB a picture", size / 1e3 / CHAINS))
    start = time.perf_counter()
    samples = make_samples(DRAWN, seed)
    rows.append(("make a chain without its picture, ms", 1e3 * (time.perf_counter() - start) / DRAWN))
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
