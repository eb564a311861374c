"""Scoring 100,000 replies of 4 kB, with every metric. Run by hand: python tests/benchmarks/bench_scoring.py"""

from __future__ import annotations

import random
import time

from rich.console import Console
from rich.table import Table

from condchain_tasks.scorers.condchain import score_reply

REPLIES = 100_000
WORDS = ["if", "the", "red", "mug", "stands", "left", "of", "Large", "lamp", "A", "then", "row", "3", "\\text{so}"]


def replies(ending: str) -> list[str]:
    """Reasoning of 4 kB, 500 different ones, with the same ending."""
    draw = random.Random(0)
    texts = []
    for _ in range(500):
        words = " ".join(draw.choices(WORDS, k=1_200))
        texts.append(words[: 4_000 - len(ending)] + ending)
    return [texts[number % 500] for number in range(REPLIES)]


def main() -> None:
    """Prints one table."""
    table = Table("replies end with", "s for 100,000", "replies/s")
    for ending in ("\\boxed{F1}", "\\boxed{\\text{F1}}", " so the answer is F1.", " so I cannot tell."):
        texts = replies(ending)
        start = time.perf_counter()
        for text in texts:
            score_reply(text, "F1")
        elapsed = time.perf_counter() - start
        table.add_row(ending.strip(), f"{elapsed:.1f}", f"{REPLIES / elapsed:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
