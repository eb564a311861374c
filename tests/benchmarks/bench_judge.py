"""Seconds for 4,000 verdicts from a local judge that answers after 50 ms.

In one run, against one server in a process of its own: all at once with the judge's own concurrency; one by one in
four threads, as a judge in `process_results` is called by lmms-eval's default (a sample, scaled up); and once more
with every verdict in the cache. Run by hand: python tests/benchmarks/bench_judge.py
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from loguru import logger
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from chat_server import Reply, chat_server

LATENCY_S = 0.05
HARNESS_THREADS = 4
VERDICT = '{"reasoning": "The cup, the table and the fall are named.", "r1": 1, "r2": 1, "r3": 1}'


def serve(pipe: Any) -> None:
    """A server in a process of its own, so that it does not share the client's interpreter."""
    with chat_server(lambda _: Reply(VERDICT, delay_s=LATENCY_S), keep=False) as server:
        pipe.send(server.url)
        pipe.recv()
        pipe.send(server.most_in_flight)


def rows(number: int) -> list[dict[str, str]]:
    """Constrained items with texts as long as the official ones."""
    sentence = "The cup stands on the edge of the table, and the cat's paw pushes it towards the floor. "
    fields = ("base_question", "reference", "rationale", "question", "adapted", "rubric_l1", "rubric_l2", "rubric_l3")
    return [
        {"y": "Y1", "spec": '{"forbidden_terms": ["cup", "cups"]}'} | dict.fromkeys(fields, f"{n}: {sentence * 2}")
        for n in range(number)
    ]


def main() -> None:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asks", type=int, default=4_000)
    parser.add_argument("--sample", type=int, default=400, help="asks of the way that is scaled up")
    parser.add_argument("--concurrency", type=int, default=32)
    options = parser.parse_args()
    from condchain_tasks.judging.batch import judge_all
    from condchain_tasks.judging.cache import VerdictCache
    from condchain_tasks.judging.ccrv import asks
    from condchain_tasks.judging.judge import Judge
    from condchain_tasks.judging.settings import JudgeSettings

    logger.remove()
    logger.add(sys.stderr, level="INFO")
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(there,))
    process.start()
    os.environ |= {"OPENAI_API_URL": here.recv(), "OPENAI_API_KEY": "x"}
    judge = Judge(JudgeSettings("local", concurrency=options.concurrency))
    start = time.perf_counter()
    everything = [ask for row in rows(options.asks) for ask in asks(row, "Node_A pushes Node_B; it falls." * 5)]
    asking = time.perf_counter() - start
    judge.ask(everything[0])

    start = time.perf_counter()
    with ThreadPoolExecutor(HARNESS_THREADS) as pool:
        list(pool.map(judge.ask, everything[: options.sample]))
    one_by_one = (time.perf_counter() - start) * options.asks / options.sample
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        verdicts = judge_all(everything, judge, VerdictCache(Path(folder)))
        batch = time.perf_counter() - start
        assert len(verdicts) == options.asks
        assert judge.counts.missing == 0
        start = time.perf_counter()
        again = judge_all(everything, judge, VerdictCache(Path(folder)))
        warm = time.perf_counter() - start
        assert again == verdicts
    here.send("stop")
    in_flight = here.recv()
    process.join()

    ideal = LATENCY_S * options.asks / options.concurrency
    table = Table("way", "seconds", "x ideal", "batch is x times as fast", title=f"{options.asks} verdicts")
    for name, seconds in {
        f"batch, {options.concurrency} calls in flight (seen: {in_flight})": batch,
        f"one by one in {HARNESS_THREADS} threads (of {options.sample}, scaled)": one_by_one,
        "ideal: latency x calls / concurrency": ideal,
        "batch, warm cache, with reading it": warm,
        "making the prompts": asking,
    }.items():
        table.add_row(name, f"{seconds:.2f}", f"{seconds / ideal:.2f}", f"{seconds / batch:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
