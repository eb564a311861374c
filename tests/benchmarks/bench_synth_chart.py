"""CPU time of the chart domain: worlds, and drawing and writing PNG files. Run by hand; prints one table."""

from __future__ import annotations

import random
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from condchain_tasks.synth.chart import make_world

WORLDS = 300


def main() -> None:
    """Prints milliseconds of CPU time and kilobytes a chart, by kind; caches are warm."""
    rows: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(-20, WORLDS):
            start = time.process_time()
            world = make_world(random.Random(seed))
            made = time.process_time()
            image = world.draw(Path(folder), str(seed))
            drawn = time.process_time()
            if seed >= 0:
                size = Path(folder, image).stat().st_size
                rows[world.look.kind].append((1e3 * (made - start), 1e3 * (drawn - made), size / 1e3))
    rows["all"] = [row for kind in list(rows) for row in rows[kind]]
    print(f"{'kind':<8}{'charts':>8}{'make, ms':>12}{'draw, ms':>12}{'kB':>8}")
    for kind, measured in rows.items():
        make, draw, size = (sum(column) / len(measured) for column in zip(*measured, strict=True))
        print(f"{kind:<8}{len(measured):>8}{make:>12.2f}{draw:>12.2f}{size:>8.1f}")


if __name__ == "__main__":
    main()
