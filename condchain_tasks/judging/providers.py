"""lmms-eval's judge providers, made fit for many calls at a time, and what their errors mean.

A provider calls through a library of its own, which retries, waits and fails in its own way. Here each call is one
attempt, and errors are told apart by what they carry, not by whose they are.
"""

from __future__ import annotations

import email.utils
import json
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from loguru import logger

from condchain_tasks.judging.settings import JudgeSettings

_CONNECT_SECONDS = 10.0
_MAX_WORDS = 300
_MAX_BODY = 2_000
_SHORTEST_SECRET = 8  # a local server's "x" is none
_PASSING_ERRORS = ("Connection", "Timeout", "ChunkedEncoding")


@dataclass(frozen=True)
class Variables:
    """Environment variables of a provider.

    Attributes:
        url: Where it looks for its address.
        default_url: The address if that is unset, "" if it must be set.
        key: Where it looks for its key, "" if it needs none of that kind.
    """

    url: str
    default_url: str = ""
    key: str = ""

    def absent(self) -> list[str]:
        """Those that must be set and are not."""
        needed = [self.key, "" if self.default_url else self.url]
        return [name for name in needed if name and not os.environ.get(name)]

    def address(self) -> str:
        """The address that is called."""
        return os.environ.get(self.url) or self.default_url


VARIABLES = {
    "openai": Variables("OPENAI_API_URL", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "azure": Variables("AZURE_ENDPOINT", "", "AZURE_API_KEY"),
    "bedrock": Variables("AWS_REGION", "us-west-2"),
    "local": Variables("LLM_JUDGE_URL", "http://localhost:8000/v1/chat/completions"),
}


def connect(settings: JudgeSettings) -> Any:
    """A provider whose `evaluate` makes one attempt, within `timeout_s`, from any number of threads.

    Args:
        settings: Which judge, and how it is called.
    """
    from lmms_eval.llm_judge import ServerConfig, get_server

    config = ServerConfig(
        model_name=settings.model,
        temperature=0.0,
        max_tokens=settings.max_tokens,
        timeout=settings.timeout_s,
        num_retries=1,
        max_concurrent=settings.concurrency,
        response_format="json",
    )
    provider = get_server(settings.api_type, config)
    if settings.api_type == "openai":
        # The provider's way without OpenAI's client, which costs more time of this process than the call lasts when
        # a fast judge is asked much at a time; with connections that are kept.
        provider.use_client = False
        provider._make_request = _Post(settings)
    elif settings.api_type == "azure":
        provider.client = provider.client.with_options(max_retries=0, timeout=settings.timeout_s)
    return provider


class _Post:
    """Sends a payload to an OpenAI-compatible server."""

    def __init__(self, settings: JudgeSettings) -> None:
        import requests
        from requests.adapters import HTTPAdapter

        variables = VARIABLES["openai"]
        self._session = requests.Session()
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=settings.concurrency))
        url = variables.address().rstrip("/") + "/chat/completions"
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ[variables.key].strip()}",
            "OpenAI-Organization": os.environ.get("OPENAI_ORG_ID"),
            "OpenAI-Project": os.environ.get("OPENAI_PROJECT_ID"),
        }
        # What is the same for all calls, proxies and certificates of the environment among it, is found out once:
        # it would be half of a call's work.
        self._request = self._session.prepare_request(requests.Request("POST", url))
        self._request.headers.update({name: value for name, value in headers.items() if value})
        self._options = self._session.merge_environment_settings(url, {}, None, None, None) | {
            "timeout": (min(settings.timeout_s, _CONNECT_SECONDS), settings.timeout_s),
            "allow_redirects": False,
        }

    def __call__(self, payload: dict[str, Any], timeout: float) -> Any:
        import requests

        request = self._request.copy()
        request.prepare_body(json.dumps(payload), None)
        response = self._session.send(request, **self._options)
        if response.status_code != 200:
            raise requests.HTTPError(f"HTTP {response.status_code}: {response.text[:_MAX_BODY]}", response=response)
        return response.json()


@contextmanager
def quiet_providers() -> Iterator[None]:
    """Keeps lmms-eval from logging each failed call, two lines a time; they are counted and summed up here."""
    logger.disable("lmms_eval.llm_judge")
    try:
        yield
    finally:
        logger.enable("lmms_eval.llm_judge")


def may_pass(error: BaseException) -> bool:
    """Whether the same call may succeed later: on HTTP 408, 429 and 5xx, lost connections and timeouts."""
    if "insufficient_quota" in str(error):
        return False  # HTTP 429 too, but no wait will mend it
    status = http_status(error)
    if status is not None:
        return status in (408, 429) or status >= 500
    # Each provider's library has errors of its own for this, and no two of them share a base class.
    return any(word in kind.__name__ for kind in type(error).__mro__ for word in _PASSING_ERRORS)


def http_status(error: BaseException) -> int | None:
    """The HTTP status that a provider's error stands for, None if the server has not answered."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # of botocore
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        status = getattr(response, "status_code", None)
    return status if isinstance(status, int) else None


def retry_after(error: BaseException) -> float:
    """Seconds that the server asks to wait (`Retry-After`, in seconds or as a date); 0 if it asks for none."""
    value = str((getattr(getattr(error, "response", None), "headers", None) or {}).get("retry-after", ""))
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def describe(error: BaseException, secret: str = "") -> str:
    """An error in one line of at most 300 characters, without the secret, which some servers repeat."""
    cause = error
    while http_status(error) is None and (earlier := cause.__cause__ or cause.__context__):
        cause = earlier  # libraries wrap what the system says in layers of their own
    words = f"{type(error).__name__}: {cause}"
    if len(secret) >= _SHORTEST_SECRET:
        words = words.replace(secret, "(key)")
    return " ".join("".join(c if c.isprintable() else " " for c in words).split())[:_MAX_WORDS]
