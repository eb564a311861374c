"""CPU time of the chart domain: worlds, and drawing and writing PNG files. Run by hand; prints one table."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes

from condchain_tasks.synth.chart import make_world


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints milliseconds of CPU time and kilobytes a chart, by kind; caches are warm."""
    size = sizes(__doc__, arguments, worlds=(300, 5), warming=(20, 0))
    rows: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(-size.warming, size.worlds):
            start = time.process_time()
            world = make_world(random.Random(seed))
            made = time.process_time()
            image = world.draw(Path(folder), str(seed))
            drawn = time.process_time()
            if seed >= 0:
                kilobytes = Path(folder, image).stat().st_size / 1e3
                rows[world.look.kind].append((1e3 * (made - start), 1e3 * (drawn - made), kilobytes))
    rows["all"] = [row for kind in list(rows) for row in rows[kind]]
    print(f"{'kind':<8}{'charts':>8}{'make, ms':>12}{'draw, ms':>12}{'kB':>8}")
    for kind, measured in rows.items():
        make, draw, kilobytes = (sum(column) / len(measured) for column in zip(*measured, strict=True))
        print(f"{kind:<8}{len(measured):>8}{make:>12.2f}{draw:>12.2f}{kilobytes:>8.1f}")


if __name__ == "__main__":
    main()
