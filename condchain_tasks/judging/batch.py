"""Many verdicts at a time."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext

from loguru import logger

from condchain_tasks.judging.cache import VerdictCache
from condchain_tasks.judging.ccrv import Ask
from condchain_tasks.judging.counts import Counts
from condchain_tasks.judging.judge import Judge
from condchain_tasks.judging.providers import quiet_providers
from condchain_tasks.judging.verdicts import Answer, Missing
from condchain_tasks.progress import Progress, progress

_LEAST_ASKS = 20
_LEAST_CALLS = 5
_LOOK_SECONDS = 0.2


def judge_all(asks: Sequence[Ask], judge: Judge, cache: VerdictCache) -> dict[str, Answer]:
    """Has all verdicts: those that are kept, and the others with the judge's full concurrency.

    Each verdict is kept as soon as it is had, so that a run that was broken off goes on where it was.

    A judge that gives no verdict is given up: after twice as many asks in a row as there are calls in flight (20 at
    least), or after `JudgeSettings.patience_s` in which it was called five times at least. What is left is missing
    then. The next time it is asked for one verdict first, and if it gives none within seconds, all are missing.

    Args:
        asks: What to ask; the same question twice is asked once.
        judge: Who is asked.
        cache: Where verdicts are kept.

    Returns:
        By each ask's key, its verdict or why there is none, and the calls that it took.

    Raises:
        DataError: The judge cannot be called at all.
    """
    if not asks:
        return {}
    start, before = time.perf_counter(), judge.counts
    answers: dict[str, Answer] = {}
    waiting: dict[str, Ask] = {}
    for ask in asks:
        kept = cache.get(ask.key, ask.kind)
        if kept is None:
            waiting[ask.key] = ask
        else:
            answers[ask.key] = Answer(kept, calls=0)
    judge.count(Counts(cache_hits=len(answers)))
    if waiting:
        with quiet_providers():
            batch = _Batch(list(waiting.values()), judge, cache)
            batch.run()
        answers |= batch.answers
    done = judge.counts - before
    logger.info(
        "Judge {}: {} asks: {} from the cache, {} calls, {} retries, {} re-asks, {} missing, {} + {} tokens, {:.1f} s",
        judge,
        len(answers),
        done.cache_hits,
        done.calls,
        done.retries,
        done.re_asks,
        done.missing,
        done.input_tokens,
        done.output_tokens,
        time.perf_counter() - start,
    )
    return answers


class _Patience:
    """How long a judge has given no verdict, in asks, seconds and calls."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._most_asks = max(_LEAST_ASKS, 2 * judge.settings.concurrency)
        self.renew()

    def renew(self) -> None:
        """There was a verdict."""
        self._asks, self._since, self._calls_before = 0, time.monotonic(), self._judge.counts.calls

    def spend(self) -> None:
        """An ask was in vain."""
        self._asks += 1

    def end(self) -> str:
        """Why it is at its end, "" if it is not."""
        if self._judge.is_given_up:
            return "it was given up before, and gives no verdict now"
        if self._asks >= self._most_asks:
            return f"{self._asks} in a row without a verdict"
        seconds = time.monotonic() - self._since
        calls = self._judge.counts.calls - self._calls_before
        if seconds >= self._judge.settings.patience_s and calls >= _LEAST_CALLS:
            return f"{seconds:.0f} s and {calls} calls without a verdict"
        return ""


class _Batch:
    """Asks that are not answered yet, and what came of the others."""

    def __init__(self, asks: Sequence[Ask], judge: Judge, cache: VerdictCache) -> None:
        self.answers: dict[str, Answer] = {}
        self._waiting = deque(asks)
        self._unasked: list[Ask] = []
        self._reason = self._last = ""  # why they are not asked, and why the last that was is missing
        self._judge = judge
        self._cache = cache
        self._patience = _Patience(judge)
        self._faults: list[BaseException] = []
        self._taking = threading.Lock()
        self._stop = threading.Event()
        self._moving = Progress(len(asks))

    def run(self) -> None:
        """Has all answers; how far that is is shown by the first rank."""
        is_shown = os.environ.get("RANK", "0") == "0"
        with progress("Judging", len(self._waiting)) if is_shown else nullcontext(self._moving) as self._moving:
            try:
                if self._judge.is_given_up:
                    self._probe()
                self._work_in_threads()
                self._miss_unasked()
            finally:
                self._stop.set()
                self._waiting.clear()
            self._moving.advance(len(self.answers) - self._moving.done)
        if self._faults:
            raise self._faults[0]

    def _probe(self) -> None:
        ask = self._waiting.popleft()
        answer = self._judge.probe(ask)
        self._judge.is_given_up = isinstance(answer.verdict, Missing)
        self._take(ask, answer)

    def _work_in_threads(self) -> None:
        # Not a pool of the library's: before an interrupted run could end, the interpreter would wait for the pool's
        # threads, and they for their answers.
        number = min(self._judge.settings.concurrency, len(self._waiting))
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(number)]
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive():
                worker.join(_LOOK_SECONDS)
                with self._taking:
                    self._end_with_patience()

    def _work(self) -> None:
        try:
            for ask in _drain(self._waiting):
                self._take(ask, self._judge.ask(ask, self._stop))
        except BaseException as fault:  # raised again in the thread that waits for this one
            self._faults.append(fault)
            self._waiting.clear()

    def _take(self, ask: Ask, answer: Answer) -> None:
        verdict = answer.verdict
        if not isinstance(verdict, Missing):
            self._cache.put(ask.key, ask.kind, verdict)
        with self._taking:
            self.answers[ask.key] = answer
            if isinstance(verdict, Missing):
                self._last = verdict.reason
                self._patience.spend()
                self._end_with_patience()
            else:
                self._patience.renew()
            if not self._stop.is_set():
                self._moving.advance(len(self.answers) - self._moving.done)

    def _end_with_patience(self) -> None:
        if not self._stop.is_set() and (reason := self._patience.end()):
            self._judge.is_given_up = True
            self._reason = reason
            self._unasked = list(_drain(self._waiting))
            self._stop.set()  # nor are the calls in flight tried again

    def _miss_unasked(self) -> None:
        if not self._reason:
            return
        reason = f"{self._reason} (the last: {self._last or 'no answer yet'})"
        self.answers |= {ask.key: Answer(Missing(f"not asked: {reason}"), calls=0) for ask in self._unasked}
        self._judge.count(Counts(missing=len(self._unasked)))
        logger.warning("Judge {}: {} asks were given up: {}", self._judge, len(self._unasked), reason)


def _drain(waiting: deque[Ask]) -> Iterator[Ask]:
    while True:
        try:
            yield waiting.popleft()
        except IndexError:
            return
