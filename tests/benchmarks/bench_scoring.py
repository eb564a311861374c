"""Scoring 100,000 replies of 4 kB, with every metric. Run by hand: python tests/benchmarks/bench_scoring.py"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes

from condchain_tasks.scorers.condchain import score_reply

WORDS = ["if", "the", "red", "mug", "stands", "left", "of", "Large", "lamp", "A", "then", "row", "3", "\\text{so}"]


def replies(ending: str, number: int) -> list[str]:
    """Reasoning of 4 kB, 500 different ones, with the same ending."""
    draw = random.Random(0)
    texts = []
    for _ in range(500):
        words = " ".join(draw.choices(WORDS, k=1_200))
        texts.append(words[: 4_000 - len(ending)] + ending)
    return [texts[place % 500] for place in range(number)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    number = sizes(__doc__, arguments, replies=(100_000, 1_000)).replies
    table = Table("replies end with", f"s for {number:,}", "replies/s")
    for ending in ("\\boxed{F1}", "\\boxed{\\text{F1}}", " so the answer is F1.", " so I cannot tell."):
        texts = replies(ending, number)
        start = time.perf_counter()
        for text in texts:
            score_reply(text, "F1")
        elapsed = time.perf_counter() - start
        table.add_row(ending.strip(), f"{elapsed:.1f}", f"{number / elapsed:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
