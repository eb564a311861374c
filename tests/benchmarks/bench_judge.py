"""Seconds for 4,000 verdicts from a local judge that answers after 50 ms.

In one run, against one server in a process of its own: all at once with the judge's own concurrency; one by one in
four threads, as a judge in `process_results` is called by lmms-eval's default (a sample, scaled up); and once more
with every verdict in the cache. Run by hand: python tests/benchmarks/bench_judge.py
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import server_beside, sizes

from condchain_tasks.judging.verdicts import Answer, Missing, Verdict

LATENCY_S = 0.05
HARNESS_THREADS = 4
VERDICT = '{"reasoning": "The cup, the table and the fall are named.", "r1": 1, "r2": 1, "r3": 1}'


def rows(number: int) -> list[dict[str, str]]:
    """Constrained items with texts as long as the official ones."""
    sentence = "The cup stands on the edge of the table, and the cat's paw pushes it towards the floor. "
    fields = ("base_question", "reference", "rationale", "question", "adapted", "rubric_l1", "rubric_l2", "rubric_l3")
    return [
        {"y": "Y1", "spec": '{"forbidden_terms": ["cup", "cups"]}'} | dict.fromkeys(fields, f"{n}: {sentence * 2}")
        for n in range(number)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    # A sample is asked one by one, and scaled up.
    options = sizes(__doc__, arguments, asks=(4_000, 40), sample=(400, 8), concurrency=(32, 8))
    with server_beside(VERDICT, LATENCY_S) as (url, most_in_flight):
        os.environ |= {"OPENAI_API_URL": url, "OPENAI_API_KEY": "x"}
        measure(options.asks, options.sample, options.concurrency, most_in_flight)


def verdicts_of(answers: Mapping[str, Answer]) -> list[Verdict | Missing]:
    """Without what it took to have them: a kept verdict took no call."""
    return [answer.verdict for answer in answers.values()]


def measure(number: int, sample: int, concurrency: int, most_in_flight: Callable[[], int]) -> None:
    from condchain_tasks.judging.batch import judge_all
    from condchain_tasks.judging.cache import VerdictCache
    from condchain_tasks.judging.ccrv import asks
    from condchain_tasks.judging.judge import Judge
    from condchain_tasks.judging.settings import JudgeSettings

    judge = Judge(JudgeSettings("local", concurrency=concurrency))
    start = time.perf_counter()
    everything = [ask for row in rows(number) for ask in asks(row, "Node_A pushes Node_B; it falls." * 5)]
    asking = time.perf_counter() - start
    judge.ask(everything[0])

    start = time.perf_counter()
    with ThreadPoolExecutor(HARNESS_THREADS) as pool:
        list(pool.map(judge.ask, everything[:sample]))
    one_by_one = (time.perf_counter() - start) * number / sample
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        verdicts = judge_all(everything, judge, VerdictCache(Path(folder)))
        batch = time.perf_counter() - start
        assert len(verdicts) == number
        assert judge.counts.missing == 0
        start = time.perf_counter()
        again = judge_all(everything, judge, VerdictCache(Path(folder)))
        warm = time.perf_counter() - start
        assert verdicts_of(again) == verdicts_of(verdicts)
    in_flight = most_in_flight()

    ideal = LATENCY_S * number / concurrency
    table = Table("way", "seconds", "x ideal", "batch is x times as fast", title=f"{number:,} verdicts")
    for name, seconds in {
        f"batch, {concurrency} calls in flight (seen: {in_flight})": batch,
        f"one by one in {HARNESS_THREADS} threads (of {sample}, scaled)": one_by_one,
        "ideal: latency x calls / concurrency": ideal,
        "batch, warm cache, with reading it": warm,
        "making the prompts": asking,
    }.items():
        table.add_row(name, f"{seconds:.2f}", f"{seconds / ideal:.2f}", f"{seconds / batch:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
