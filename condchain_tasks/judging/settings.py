"""Which judge, and how it is called: from the environment, checked before anything is asked."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from condchain_tasks.data.errors import DataError

JUDGE = "CCRV_JUDGE"
CONCURRENCY = "CCRV_JUDGE_CONCURRENCY"
API_TYPE = "API_TYPE"

DEFAULT_MODEL = "gpt-5.1"
"""The judge of the CCRV-Bench paper."""

NONE = "none"
"""In a judge's place: nobody judges."""

RULES = "rules"
"""In a judge's place: verdicts are computed from drawn scenes' facts; see `judging.rules`."""

TEMPERATURE = 0.0
"""At which a judge is asked, if it takes a temperature."""

# lmms_eval.llm_judge leaves the temperature out for OpenAI-compatible servers' models that are named like these.
_WITHOUT_TEMPERATURE = ("gpt-5", "o1", "o3", "o4")

# Providers of lmms_eval.llm_judge. The asynchronous ones differ in how they run many calls at once, which is done here.
_PROVIDERS = {
    "openai": "openai",
    "async_openai": "openai",
    "azure": "azure",
    "async_azure": "azure",
    "bedrock": "bedrock",
    "local": "local",
}


@dataclass(frozen=True)
class JudgeSettings:
    """How a judge is called.

    Attributes:
        model: The name that the provider knows it by.
        api_type: The provider, as `lmms_eval.llm_judge` names it.
        concurrency: Calls in flight at most, in this process; at least 1.
        timeout_s: Seconds that one call may take.
        max_tokens: Tokens of an answer, with the judge's own reasoning.
        attempts: Calls for one answer at most, if they fail in ways that pass; at least 1.
        first_wait_s: Seconds before the second attempt, at most; doubled from one to the next.
        most_wait_s: Seconds between two attempts, at most, whatever the server asks for.
        retry_s: Seconds after which a call that failed is not tried again, whatever attempts are left.
        patience_s: Seconds without a single verdict after which a judge that was called at least five times in them is
            asked no more.
    """

    model: str
    api_type: str = "openai"
    concurrency: int = 32
    timeout_s: float = 120.0
    max_tokens: int = 4096
    attempts: int = 10
    first_wait_s: float = 1.0
    most_wait_s: float = 60.0
    retry_s: float = math.inf
    patience_s: float = 360.0

    @property
    def temperature(self) -> float | None:
        """The temperature that is sent, None if none is: lmms-eval sends none to models that take none."""
        is_left_out = self.api_type != "bedrock" and self.model.startswith(_WITHOUT_TEMPERATURE)
        return None if is_left_out else TEMPERATURE


def judge_name() -> str:
    """What `CCRV_JUDGE` says: a judge's name, `NONE` or `RULES`; `DEFAULT_MODEL` if it is not set."""
    name = os.environ.get(JUDGE, "").strip() or DEFAULT_MODEL
    return name.lower() if name.lower() in (NONE, RULES) else name


def from_environment() -> JudgeSettings | None:
    """The judge that `CCRV_JUDGE`, `CCRV_JUDGE_CONCURRENCY` and `API_TYPE` name.

    The concurrency is that of the whole run: each of `WORLD_SIZE` ranks gets an equal share of it, at least 1.

    Returns:
        The settings, or None if nobody is to be asked: for `CCRV_JUDGE=none` and `CCRV_JUDGE=rules`.

    Raises:
        DataError: A variable has a value that it cannot have.
    """
    model = judge_name()
    if model in (NONE, RULES):
        return None
    api_type = os.environ.get(API_TYPE, "").strip().lower() or "openai"
    if api_type not in _PROVIDERS:
        raise DataError(f"{API_TYPE} is {api_type!r}; the judge is called through one of {', '.join(_PROVIDERS)}.")
    share = _whole_number(CONCURRENCY, 32) // _whole_number("WORLD_SIZE", 1)
    return JudgeSettings(model, _PROVIDERS[api_type], max(1, share))


def _whole_number(variable: str, default: int) -> int:
    value = os.environ.get(variable, "").strip() or str(default)
    if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) >= 1):
        raise DataError(f"{variable} is {value[:40]!r}; it must be a whole number of at least 1.")
    return int(value)
