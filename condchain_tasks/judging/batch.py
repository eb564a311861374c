"""Many verdicts at a time."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence

from loguru import logger
from tqdm import tqdm

from condchain_tasks.judging.cache import VerdictCache
from condchain_tasks.judging.ccrv import Ask
from condchain_tasks.judging.judge import Counts, Judge
from condchain_tasks.judging.providers import quiet_providers
from condchain_tasks.judging.verdicts import Missing, Verdict

Outcome = Verdict | Missing

_LEAST_PATIENCE = 20


def judge_all(asks: Sequence[Ask], judge: Judge, cache: VerdictCache) -> dict[str, Outcome]:
    """Has all verdicts: those that are kept, and the others with the judge's full concurrency.

    Each verdict is kept as soon as it is had, so that a run that was broken off goes on where it was. A judge that
    gives no verdict many times in a row (twice as many as there are calls in flight, and 20 at least) is asked no more.

    Args:
        asks: What to ask; the same question twice is asked once.
        judge: Who is asked.
        cache: Where verdicts are kept.

    Returns:
        By each ask's key, its verdict or why there is none.

    Raises:
        DataError: The judge cannot be called at all.
    """
    if not asks:
        return {}
    start, before = time.perf_counter(), judge.counts
    outcomes: dict[str, Outcome] = {}
    waiting: dict[str, Ask] = {}
    for ask in asks:
        kept = cache.get(ask.key, ask.kind)
        if kept is None:
            waiting[ask.key] = ask
        else:
            outcomes[ask.key] = kept
    judge.count(Counts(cache_hits=len(outcomes)))
    outcomes |= _ask_all(list(waiting.values()), judge, cache)
    done = judge.counts - before
    logger.info(
        "Judge {}: {} asks: {} from the cache, {} calls, {} retries, {} re-asks, {} missing, {} + {} tokens, {:.1f} s",
        judge,
        len(outcomes),
        done.cache_hits,
        done.calls,
        done.retries,
        done.re_asks,
        done.missing,
        done.input_tokens,
        done.output_tokens,
        time.perf_counter() - start,
    )
    return outcomes


def _ask_all(asks: list[Ask], judge: Judge, cache: VerdictCache) -> dict[str, Outcome]:
    concurrency = judge.settings.concurrency
    patience = max(_LEAST_PATIENCE, 2 * concurrency)
    waiting = deque(asks)
    outcomes: dict[str, Outcome] = {}
    faults: list[BaseException] = []
    in_a_row = 0
    taking = threading.Lock()
    stop = threading.Event()

    def work() -> None:
        try:
            for ask in _drain(waiting):
                outcome = judge.ask(ask, stop)
                if not isinstance(outcome, Missing):
                    cache.put(ask.key, ask.kind, outcome)
                with taking:
                    take(ask, outcome)
        except BaseException as fault:  # raised again in the thread that waits for this one
            faults.append(fault)
            waiting.clear()

    def take(ask: Ask, outcome: Outcome) -> None:
        nonlocal in_a_row
        outcomes[ask.key] = outcome
        in_a_row = in_a_row + 1 if isinstance(outcome, Missing) else 0
        if in_a_row == patience:
            reason = f"not asked, after {patience} in a row without a verdict"
            logger.warning("Judge {}: the others are {}; of the last: {}", judge, reason, outcome)
            unasked = {ask.key: Missing(reason) for ask in _drain(waiting)}
            judge.count(Counts(missing=len(unasked)))
            outcomes.update(unasked)
        if not stop.is_set():
            progress.update(len(outcomes) - progress.n)

    is_shown = bool(asks) and os.environ.get("RANK", "0") == "0"
    with quiet_providers(), tqdm(total=len(asks), desc="judge", unit=" verdicts", disable=not is_shown) as progress:
        # Not a pool of the library's: before an interrupted run could end, the interpreter would wait for the pool's
        # threads, and they for their answers.
        workers = [threading.Thread(target=work, daemon=True) for _ in range(min(concurrency, len(asks)))]
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        finally:
            stop.set()
            waiting.clear()
    if faults:
        raise faults[0]
    return outcomes


def _drain(waiting: deque[Ask]) -> Iterator[Ask]:
    while True:
        try:
            yield waiting.popleft()
        except IndexError:
            return
