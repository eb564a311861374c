"""A judge that is called over a network: what fails for a while is tried again, what is malformed is asked once more.

The providers are those of `lmms_eval.llm_judge`, with its variables for their keys and addresses. It counts the tokens
too, under the source "judge".
"""

from __future__ import annotations

import os
import random
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import tenacity
from loguru import logger

from condchain_tasks.data.errors import DataError
from condchain_tasks.judging.ccrv import Ask
from condchain_tasks.judging.providers import (
    VARIABLES,
    connect,
    describe,
    http_status,
    may_pass,
    quiet_providers,
    retry_after,
)
from condchain_tasks.judging.settings import JUDGE, JudgeSettings
from condchain_tasks.judging.verdicts import MalformedVerdict, Missing, Verdict, parse_verdict

Messages = Sequence[Mapping[str, str]]

CHECK_PROMPT = 'Answer only with this JSON object: {"reasoning": "", "csr": 1}'
"""What `Judge.check` asks."""

_WITHOUT = f"{JUDGE}=none runs without a judge"
_CHECK_ATTEMPTS = 3
_CHECK_SECONDS = 5.0


@dataclass(frozen=True)
class Counts:
    """What was done.

    Attributes:
        calls: Requests to the judge, with retries and re-asks.
        cache_hits: Verdicts that were there already.
        retries: Calls made because one before had failed.
        re_asks: Calls made because the answer to one before held no verdict.
        missing: Verdicts that could not be had.
        input_tokens: As the judge reports them.
        output_tokens: As the judge reports them.
    """

    calls: int = 0
    cache_hits: int = 0
    retries: int = 0
    re_asks: int = 0
    missing: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))


class _CallFailed(Exception):
    """A call that came to nothing, in words, with the HTTP status of the answer, if there was one."""

    def __init__(self, words: str, status: int | None = None, may_pass: bool = False) -> None:
        super().__init__(words)
        self.status = status
        self.may_pass = may_pass


class _NoText(MalformedVerdict):
    """An answer in which a provider found no text."""


class Judge:
    """One judge, for any number of threads."""

    def __init__(self, settings: JudgeSettings) -> None:
        """Takes note of the settings; nothing is loaded and nobody called before the first question.

        Args:
            settings: Which judge, and how it is called.
        """
        self.settings = settings
        self._variables = VARIABLES[settings.api_type]
        self._counting = threading.Lock()
        self._connecting = threading.Lock()
        self._counts = Counts()
        self._provider: Any = None

    @property
    def counts(self) -> Counts:
        """What was done so far."""
        return self._counts

    def count(self, more: Counts) -> None:
        """Adds to what was done."""
        with self._counting:
            self._counts += more

    def ask(self, ask: Ask, stop: threading.Event | None = None) -> Verdict | Missing:
        """Has one verdict.

        Args:
            ask: What to ask.
            stop: Once it is set, no call is tried again.

        Returns:
            The verdict, or why there is none.

        Raises:
            DataError: The judge cannot be called at all, as for want of a key.
        """
        stop = stop or threading.Event()
        try:
            try:
                return self._verdict(ask, ask.messages, stop)
            except MalformedVerdict as fault:
                self.count(Counts(re_asks=1))
                return self._verdict(ask, _with_fault(ask.messages, fault), stop)
        except MalformedVerdict as fault:
            reason = f"no verdict in two answers; the second: {fault}"
        except _CallFailed as failed:
            reason = str(failed)
        self.count(Counts(missing=1))
        return Missing(reason)

    def check(self) -> None:
        """Calls the judge once, to find before any inference whether it can be called.

        Raises:
            DataError: There is no key, nobody at the address, no such model, or an answer that is none. It says what
                to set.
        """
        hasty = replace(self.settings, most_wait_s=min(self.settings.most_wait_s, 1.0))
        give_up = tenacity.stop_after_attempt(_CHECK_ATTEMPTS) | tenacity.stop_after_delay(_CHECK_SECONDS)
        try:
            with quiet_providers():
                text = self._call([{"role": "user", "content": CHECK_PROMPT}], hasty, give_up, threading.Event())
            parse_verdict(text, "csr")
        except _NoText as fault:
            raise DataError(f"The judge {self} {self._advice(_CallFailed(str(fault)))}. {_WITHOUT}.") from fault
        except MalformedVerdict as fault:
            logger.warning("The judge {} answers, but its answer to a simple question is no verdict: {}.", self, fault)
        except _CallFailed as failed:
            if failed.status == 429 and failed.may_pass:
                logger.warning("The judge {} has too many requests just now; its verdicts may take long.", self)
            else:
                raise DataError(f"The judge {self} {self._advice(failed)}. {_WITHOUT}.") from failed

    def __str__(self) -> str:
        return f"{self.settings.model} ({self.settings.api_type})"

    def _advice(self, failed: _CallFailed) -> str:
        url, key = self._variables.url, self._variables.key
        where = f"{url}, now {re.sub('//[^/]*@', '//', self._variables.address())!r}"
        if failed.status in (401, 403):
            return f"refuses the key (HTTP {failed.status}): set {key or 'the key'} to one that it accepts"
        if failed.status == 404:
            return (
                f"is not found ({failed}): set {JUDGE} to a model that is served there, or correct the address "
                f"({where}; an OpenAI-compatible one ends in /v1 for most servers)"
            )
        if failed.status is None:
            return f"gives no answer ({failed}): see that it runs, and correct the address ({where})"
        return f"cannot be used ({failed}): see what the server says, the model ({JUDGE}) and the address ({where})"

    def _verdict(self, ask: Ask, messages: Messages, stop: threading.Event) -> Verdict:
        text = self._call(messages, self.settings, tenacity.stop_after_attempt(self.settings.attempts), stop)
        return parse_verdict(text, ask.kind, material=ask.messages[-1]["content"])

    def _call(self, messages: Messages, settings: JudgeSettings, give_up: Any, stop: threading.Event) -> str:
        def pause(seconds: float) -> None:
            if stop.wait(seconds):
                raise _CallFailed("the run was stopped")

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(may_pass),
            wait=_waits(settings),
            stop=give_up,
            sleep=pause,
            before_sleep=lambda _: self.count(Counts(retries=1)),
            reraise=True,
        )
        try:
            return retrying(self._evaluate, messages)
        except (DataError, MalformedVerdict, _CallFailed):
            raise
        except Exception as error:  # every provider has errors of its own
            raise _CallFailed(self._describe(error), http_status(error), may_pass(error)) from error

    def _evaluate(self, messages: Messages) -> str:
        from lmms_eval.llm_judge import Request

        provider = self._connected()
        self.count(Counts(calls=1))
        try:
            response = provider.evaluate(Request(messages=[dict(message) for message in messages]))
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            # Providers take an answer apart without looking: a refusal has no text, another server's answer no choices.
            raise _NoText(f"it has no text ({self._describe(error)})") from error
        usage = response.usage if isinstance(response.usage, dict) else {}
        self.count(
            Counts(input_tokens=_tokens(usage, "prompt_tokens"), output_tokens=_tokens(usage, "completion_tokens"))
        )
        return str(response.content)

    def _connected(self) -> Any:
        with self._connecting:
            if self._provider is None:
                self._provider = self._connect()
            return self._provider

    def _connect(self) -> Any:
        import lmms_eval.llm_judge  # noqa: F401  (it reads a .env file, as its users expect)

        if absent := self._variables.absent():
            raise DataError(
                f"The judge {self} needs {' and '.join(absent)}: set that, or {JUDGE} to another judge. {_WITHOUT}."
            )
        if not (self._key().isascii() and self._key().isprintable()):
            raise DataError(f"{self._variables.key} holds characters that are in no key: set it anew.")
        try:
            return connect(self.settings)
        except Exception as error:  # every provider has errors of its own
            raise DataError(
                f"The judge {self} cannot be set up ({self._describe(error)}): see {self._variables.url}."
            ) from error

    def _describe(self, error: Exception) -> str:
        return describe(error, self._key())

    def _key(self) -> str:
        return os.environ.get(self._variables.key, "").strip()


def _tokens(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) else 0


def _with_fault(messages: Messages, fault: MalformedVerdict) -> Messages:
    # In the same turn: not every server takes two turns of a user, and the judge's own words may quote the reply.
    *before, last = messages
    note = f"An earlier answer to this could not be used: {fault}. Answer only with the JSON object."
    return [*before, {**last, "content": f"{last['content']}\n\n{note}"}]


def _waits(settings: JudgeSettings) -> Callable[[tenacity.RetryCallState], float]:
    backoff = tenacity.wait_random_exponential(multiplier=settings.first_wait_s, max=settings.most_wait_s)

    def seconds(state: tenacity.RetryCallState) -> float:
        wait = backoff(state)
        error = state.outcome and state.outcome.exception()
        if error and (told := retry_after(error)):
            wait = max(wait, told + random.uniform(0, settings.first_wait_s))  # not all at once
        return min(wait, settings.most_wait_s)

    return seconds
