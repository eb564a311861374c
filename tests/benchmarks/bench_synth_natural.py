"""CPU time of the natural domain: worlds, drawing, and writing JPEG files. Run by hand; prints one table."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes

from condchain_tasks.synth.natural import make_world
from condchain_tasks.synth.natural_art import draw_scene


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints milliseconds of CPU time, averaged over some worlds; the first of them fills the caches."""
    number = sizes(__doc__, arguments, worlds=(200, 3)).worlds
    start = time.process_time()
    worlds = [make_world(random.Random(seed)) for seed in range(number)]
    made = time.process_time()
    for world in worlds:
        draw_scene(world.scene)
    drawn = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        for seed, world in enumerate(worlds):
            world.draw(Path(folder), str(seed))
        written = time.process_time()
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.jpg"))
    rows = (
        ("make_world, ms a world", 1e3 * (made - start) / number),
        ("draw_scene, ms a picture (cold caches)", 1e3 * (drawn - made) / number),
        ("draw and write, ms a picture (warm)", 1e3 * (written - drawn) / number),
        ("kB a picture", size / 1e3 / number),
        ("attributes a world", sum(len(s.attributes) for w in worlds for s in w.subjects) / number),
    )
    for name, value in rows:
        print(f"{name:<44}{value:>8.1f}")


if __name__ == "__main__":
    main()
