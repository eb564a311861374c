"""The rules of CCRV-Bench on 100,000 replies and on replies of 1 MB, and its tables from 4,000 items.

Run by hand: python tests/benchmarks/bench_scoring_ccrv.py
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes

from condchain_tasks.scorers.ccrv import Check, check_grounding, check_minimalist, check_symbolization
from condchain_tasks.scorers.ccrv_tables import DIMENSIONS, SETTINGS, Item, tabulate

DIFFERENT = 500
WORDS = ["the", "boy", "pushes", "Node_A", "so", "it", "rolls", "down", "—", "and", "hits", "3", "Node_B."]
TERMS = ["woman", "womans", "women", "girl", "girls", "cart", "carts", "coffee cup", "coffee cups", "skateboard"]
RULES: dict[str, Callable[[str], Check]] = {
    "Y1, 10 terms": lambda reply: check_symbolization(reply, TERMS),
    "Y2": lambda reply: check_grounding(reply, (100, 200, 300, 400), (800, 600)),
    "Y4": lambda reply: check_minimalist(reply, 8),
}
ODD = ["woman", "womans ", "a ", "1 ", "9", "-", ".", "\n", "Coordinate:\n", "Explanation:\n", "ｆ１", "\u202eولد "]


def replies(number: int, words: int, start: str = "") -> list[str]:
    """Prose, `DIFFERENT` different ones, repeated."""
    draw = random.Random(0)
    texts = [start + " ".join(draw.choices(WORDS, k=words)) for _ in range(DIFFERENT)]
    return [texts[place % DIFFERENT] for place in range(number)]


def huge(characters: int) -> list[str]:
    """One reply for each odd piece, repeated to so many characters; as it is, and as an explanation."""
    bodies = [piece * (characters // len(piece)) for piece in ODD]
    return [start + body for body in bodies for start in ("", "Coordinate: ", "Coordinate: 1, 2\nExplanation: ")]


def seconds(rule: Callable[[str], Check], texts: Iterable[str]) -> list[float]:
    """What each reply takes."""
    taken = []
    for text in texts:
        start = time.perf_counter()
        rule(text)
        taken.append(time.perf_counter() - start)
    return taken


def items() -> list[Item]:
    """The whole benchmark: 100 images, 4 dimensions, 2 questions, a baseline and 4 constraints."""
    draw = random.Random(0)
    return [
        Item(f"{image}/{x}/{index}", str(image), x, y, 1, 1, 0, 200 / 3, draw.choice((0, 1)), None, False)
        for image in range(100)
        for x in DIMENSIONS
        for index in (0, 1)
        for y in SETTINGS
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    size = sizes(__doc__, arguments, replies=(100_000, 500), characters=(1_000_000, 10_000))
    table = Table("what", "number", "seconds", "a second", "slowest, ms")
    coordinate = "Coordinate: 120, 340\nExplanation: "
    for what, texts in (
        ("60 words", replies(size.replies, 60)),
        ("coordinate and 60 words", replies(size.replies, 60, coordinate)),
        ("1,000 words", replies(size.replies, 1_000, coordinate)),
        (f"{size.characters:,} characters, odd", huge(size.characters)),
    ):
        for name, rule in RULES.items():
            taken = seconds(rule, texts)
            total = sum(taken)
            rate, slowest = f"{len(taken) / total:,.0f}", f"{max(taken) * 1e3:.1f}"
            table.add_row(f"{name}: {what}", f"{len(taken):,}", f"{total:.1f}", rate, slowest)
    scored = items()
    start = time.perf_counter()
    tabulate(scored)
    elapsed = time.perf_counter() - start
    table.add_row("tables", f"{len(scored):,}", f"{elapsed:.2f}", f"{len(scored) / elapsed:,.0f}", "")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
