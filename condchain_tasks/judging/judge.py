"""A judge that is called over a network: what fails for a while is tried again, what is malformed is asked once more.

The providers are those of `lmms_eval.llm_judge`, with its variables for their keys and addresses.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace

import tenacity
from loguru import logger

from condchain_tasks.data.errors import DataError
from condchain_tasks.judging.ccrv import Ask
from condchain_tasks.judging.counts import Counts
from condchain_tasks.judging.endpoints import VARIABLES, server
from condchain_tasks.judging.failures import describe, http_status, may_pass, retry_after
from condchain_tasks.judging.providers import Answer as Said
from condchain_tasks.judging.providers import Messages, Provider, quiet_providers
from condchain_tasks.judging.settings import JUDGE, RULES, JudgeSettings
from condchain_tasks.judging.verdicts import Answer, MalformedVerdict, Missing, Verdict, parse_verdict

CHECK_PROMPT = 'Answer only with this JSON object: {"reasoning": "", "csr": 1}'
"""What `Judge.check` asks."""

_WITHOUT = f"{JUDGE}=none runs without a judge, and {JUDGE}={RULES} judges drawn scenes by their facts"
_PROBE_SECONDS = 30.0
_CHECK_TOKENS = 64  # a judge that rambles is not waited for
_CHECK_TOKENS_REASONING = 2_048  # some servers refuse to answer where a limit leaves no room for it
_CUT = ("length", "max_tokens")  # how servers say that the limit of tokens ended an answer


class _CallFailed(Exception):
    """A call that came to nothing, in words, with the HTTP status of the answer, if there was one."""

    def __init__(self, words: str, status: int | None = None, may_pass: bool = False) -> None:
        super().__init__(words)
        self.status = status
        self.may_pass = may_pass


class _NoText(MalformedVerdict):
    """An answer without a text."""

    def __init__(self, words: str, ending: str) -> None:
        super().__init__(words)
        self.ending = ending


class Judge:
    """One judge, for any number of threads.

    Attributes:
        settings: Which judge, and how it is called.
        is_given_up: Whether it gave no verdict for so long that it was asked no more. Whoever has much to ask then
            sets it, and begins with a probe the next time.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        """Takes note of the settings; nothing is loaded and nobody called before the first question.

        Args:
            settings: Which judge, and how it is called.
        """
        self.settings = settings
        self.is_given_up = False
        self._hasty = replace(settings, attempts=3, retry_s=5.0, most_wait_s=min(settings.most_wait_s, 1.0))
        reasons = settings.temperature is None
        self._checking = replace(self._hasty, max_tokens=_CHECK_TOKENS_REASONING if reasons else _CHECK_TOKENS)
        self._variables = VARIABLES[settings.api_type]
        self._counting = threading.Lock()
        self._connecting = threading.Lock()
        self._counts = Counts()
        self._provider: Provider | None = None

    @property
    def counts(self) -> Counts:
        """What was done so far."""
        return self._counts

    def count(self, more: Counts) -> None:
        """Adds to what was done."""
        with self._counting:
            self._counts += more

    def ask(self, ask: Ask, stop: threading.Event | None = None) -> Answer:
        """Has one verdict.

        Args:
            ask: What to ask.
            stop: Once it is set, no call is tried again.

        Raises:
            DataError: The judge cannot be called at all, as for want of a key.
        """
        return self._ask(ask, self.settings, stop or threading.Event())

    def probe(self, ask: Ask) -> Answer:
        """Has one verdict, or finds within seconds that there is none to be had.

        A call may take 30 s, and one that fails is tried again for 5 s. For the rest as `ask`.
        """
        timeout = min(self.settings.timeout_s, _PROBE_SECONDS)
        return self._ask(ask, replace(self._hasty, timeout_s=timeout), threading.Event())

    def check(self) -> None:
        """Calls the judge once, to find before any inference whether it can be called.

        It is asked for few tokens. An answer that this limit cuts short shows that the judge answers.

        Raises:
            DataError: There is no key, nobody at the address, no such model, or an answer that is none. It says what
                to set.
        """
        try:
            with quiet_providers():
                said = self._call(
                    [{"role": "user", "content": CHECK_PROMPT}], self._checking, threading.Event(), self.count
                )
            if said.ending not in _CUT:
                parse_verdict(said.text, "csr")
        except _NoText as fault:
            if fault.ending in _CUT:
                return
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
        where = f"{url}, now {server(self.settings) or 'no address'!r}"
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

    def _ask(self, ask: Ask, settings: JudgeSettings, stop: threading.Event) -> Answer:
        calls = 0

        def count(more: Counts) -> None:
            nonlocal calls
            calls += more.calls
            self.count(more)

        def verdict(messages: Messages) -> Verdict:
            said = self._call(messages, settings, stop, count)
            return parse_verdict(said.text, ask.kind, ask.messages[-1]["content"])

        try:
            try:
                return Answer(verdict(ask.messages), calls)
            except MalformedVerdict as fault:
                count(Counts(re_asks=1))
                return Answer(verdict(_with_fault(ask.messages, fault)), calls)
        except MalformedVerdict as fault:
            reason = f"no verdict in two answers; the second: {fault}"
        except _CallFailed as failed:
            reason = str(failed)
        count(Counts(missing=1))
        return Answer(Missing(reason), calls)

    def _call(
        self, messages: Messages, settings: JudgeSettings, stop: threading.Event, count: Callable[[Counts], None]
    ) -> Said:
        def attempt() -> Said:
            provider = self._connected()
            count(Counts(calls=1))
            answer = provider(messages, settings.timeout_s, settings.max_tokens)
            count(Counts(input_tokens=answer.input_tokens, output_tokens=answer.output_tokens))
            if not answer.text:
                raise _NoText(f"it has no text (ending: {answer.ending!r})", answer.ending)
            return answer

        def pause(state: tenacity.RetryCallState) -> None:
            if stop.wait(state.upcoming_sleep) and state.outcome and (error := state.outcome.exception()):
                raise error
            count(Counts(retries=1))

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(may_pass),
            wait=_waits(settings),
            stop=tenacity.stop_after_attempt(settings.attempts) | tenacity.stop_after_delay(settings.retry_s),
            before_sleep=pause,
            sleep=lambda _: None,  # it was done before: only there the error is known that ends it
            reraise=True,
        )
        try:
            return retrying(attempt)
        except (DataError, MalformedVerdict, _CallFailed):
            raise
        except Exception as error:  # every provider has errors of its own
            raise _CallFailed(self._describe(error), http_status(error), may_pass(error)) from error

    def _connected(self) -> Provider:
        with self._connecting:
            if self._provider is None:
                self._provider = self._connect()
            return self._provider

    def _connect(self) -> Provider:
        import lmms_eval.llm_judge  # noqa: F401  (it reads a .env file, as its users expect)

        if absent := self._variables.absent():
            raise DataError(
                f"The judge {self} needs {' and '.join(absent)}: set that, or {JUDGE} to another judge. {_WITHOUT}."
            )
        secret = self._variables.secret()
        if not (secret.isascii() and secret.isprintable()):
            raise DataError(f"{self._variables.key} holds characters that are in no key: set it anew.")
        try:
            return Provider(self.settings)
        except Exception as error:  # every provider has errors of its own
            raise DataError(
                f"The judge {self} cannot be set up ({self._describe(error)}): see {self._variables.url}."
            ) from error

    def _describe(self, error: Exception) -> str:
        return describe(error, self._variables.secret())


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
