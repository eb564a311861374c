"""CPU time of the gui domain: worlds, drawing, and writing PNG files. Run by hand; prints one table."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes

from condchain_tasks.synth.gui import make_world
from condchain_tasks.synth.gui_art import draw_screen


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints milliseconds of CPU time, averaged over some worlds; the first of them fills the caches."""
    number = sizes(__doc__, arguments, worlds=(60, 2)).worlds
    start = time.process_time()
    worlds = [make_world(random.Random(seed)) for seed in range(number)]
    made = time.process_time()
    for world in worlds:
        for screen in world.screens:
            draw_screen(screen)
    drawn = time.process_time()
    trajectories = []
    with tempfile.TemporaryDirectory() as folder:
        for seed, world in enumerate(worlds):
            before = time.process_time()
            world.draw(Path(folder), str(seed))
            trajectories.append(time.process_time() - before)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.png"))
    screens = sum(len(world.screens) for world in worlds)
    rows = (
        ("make_world, ms a world", 1e3 * (made - start) / number),
        ("draw_screen, ms a screen (cold caches)", 1e3 * (drawn - made) / screens),
        ("draw and write, ms a screen (warm)", 1e3 * sum(trajectories) / screens),
        ("draw and write, ms a trajectory (mean)", 1e3 * sum(trajectories) / number),
        ("draw and write, ms a trajectory (longest)", 1e3 * max(trajectories)),
        ("screens a trajectory", screens / number),
        ("kB a screen", size / 1e3 / screens),
    )
    for name, value in rows:
        print(f"{name:<44}{value:>8.1f}")


if __name__ == "__main__":
    main()
