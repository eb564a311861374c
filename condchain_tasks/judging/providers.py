"""lmms-eval's judge providers, made fit for many calls at a time.

A provider calls through a library of its own, which retries and waits in its own way. Here each call is one attempt.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from loguru import logger

from condchain_tasks.judging.endpoints import VARIABLES, call_address
from condchain_tasks.judging.failures import UnreadableAnswer, describe
from condchain_tasks.judging.settings import TEMPERATURE, JudgeSettings

Messages = Sequence[Mapping[str, str]]

_CONNECT_SECONDS = 10.0
_MAX_BODY = 2_000


@dataclass(frozen=True)
class Answer:
    """What a judge answers.

    Attributes:
        text: What it wrote, "" if it wrote nothing.
        ending: Why it ended there, in the server's words, "" if it does not say.
        input_tokens: As it reports them.
        output_tokens: As it reports them.
    """

    text: str
    ending: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


class Provider:
    """A provider of lmms-eval's, for any number of threads.

    lmms-eval counts the tokens too, under the source "judge".
    """

    def __init__(self, settings: JudgeSettings) -> None:
        """Makes ready for calls; nobody is called yet.

        Args:
            settings: Which judge, and how it is called.
        """
        from lmms_eval.llm_judge import ServerConfig

        self._config = ServerConfig(
            model_name=settings.model,
            temperature=TEMPERATURE,
            max_tokens=settings.max_tokens,
            timeout=settings.timeout_s,
            num_retries=1,
            max_concurrent=settings.concurrency,
            response_format=None if settings.api_type == "local" else "json",  # not every local server knows it
        )
        self._server = _server(settings, self._config)
        self._counts_tokens = settings.api_type != "bedrock"

    def __call__(self, messages: Messages, timeout_s: float, max_tokens: int) -> Answer:
        """Makes one attempt.

        Args:
            messages: The conversation, in the form of the chat API.
            timeout_s: Seconds that the whole answer may take (Bedrock's library has a limit of its own).
            max_tokens: Tokens of an answer.

        Raises:
            Exception: The call failed, in the provider's own way; see `failures`.
        """
        from lmms_eval.llm_judge import Request
        from lmms_eval.models.model_utils.usage_metrics import log_usage

        config = dataclasses.replace(self._config, timeout=timeout_s, max_tokens=max_tokens)
        try:
            response = self._server.evaluate(Request(messages=[dict(message) for message in messages], config=config))
        except (AttributeError, IndexError, KeyError, TypeError) as error:  # Bedrock's takes an answer as it comes
            return Answer("", describe(error))
        usage = response.usage if isinstance(response.usage, dict) else {}
        tokens = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
        if not self._counts_tokens:
            log_usage(config.model_name, None, *tokens, source="judge")
        return Answer(str(response.content), _ending(response.raw_response), *tokens)


def _server(settings: JudgeSettings, config: Any) -> Any:
    from lmms_eval.llm_judge import ServerInterface, get_server
    from lmms_eval.llm_judge.providers import OpenAIProvider

    if settings.api_type == "bedrock":
        return get_server("bedrock", config)

    class OpenAICompatible(OpenAIProvider):  # type: ignore[misc]  # lmms-eval has no types
        """For local servers and Azure too.

        lmms-eval's provider for the first counts no tokens, and that for the second knows no limit of tokens that newer
        models accept.
        """

        def __init__(self) -> None:
            ServerInterface.__init__(self, config)  # not the provider's: its client wants OPENAI_API_KEY for all
            self.api_key = VARIABLES[settings.api_type].secret() or "none"
            self.use_client = False
            self._make_request = _Post(settings)

    return OpenAICompatible()


class _Post:
    """Sends a payload to an OpenAI-compatible server.

    In place of OpenAI's client, which costs more time of this process than a call to a fast judge lasts, when it is
    asked much at a time; with connections that are kept.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        import requests

        from condchain_tasks.judging.deadlines import DeadlineAdapter

        self._session = requests.Session()
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, DeadlineAdapter(pool_maxsize=settings.concurrency))
        url = call_address(settings)
        # What is the same for all calls, proxies and certificates of the environment among it, is found out once:
        # it would be half of a call's work.
        self._request = self._session.prepare_request(requests.Request("POST", url))
        self._request.headers["Content-Type"] = "application/json"
        self._request.headers.update({name: value for name, value in _headers(settings).items() if value})
        self._options = self._session.merge_environment_settings(url, {}, None, None, None)

    def __call__(self, payload: dict[str, Any], timeout: float) -> dict[str, Any]:
        import requests

        request = self._request.copy()
        request.prepare_body(json.dumps(payload), None)
        response = self._session.send(
            request, timeout=(min(timeout, _CONNECT_SECONDS), timeout), allow_redirects=False, **self._options
        )
        if response.status_code != 200:
            raise requests.HTTPError(f"HTTP {response.status_code}: {response.text[:_MAX_BODY]}", response=response)
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            answer = None
        if not (isinstance(answer, dict) and answer.get("choices")):
            raise UnreadableAnswer(f"HTTP 200, but the body holds no answer: {response.text[:_MAX_BODY]}")
        return _in_form(answer, payload["model"])


def _headers(settings: JudgeSettings) -> dict[str, str | None]:
    if settings.api_type == "local":
        return {}
    key = VARIABLES[settings.api_type].secret()
    if settings.api_type == "azure":
        return {"api-key": key}
    return {
        "Authorization": f"Bearer {key}",
        "OpenAI-Organization": os.environ.get("OPENAI_ORG_ID"),
        "OpenAI-Project": os.environ.get("OPENAI_PROJECT_ID"),
    }


def _in_form(answer: dict[str, Any], model: str) -> dict[str, Any]:
    """An answer in the form that lmms-eval expects: some servers name no model, or give their text in parts."""
    match answer["choices"]:
        case [{"message": {"content": str(content)}}, *_]:
            text = content
        case [{"message": {"content": [*parts]}}, *_]:
            text = "".join(map(_text_of, parts))
        case _:
            text = ""
    return {
        "model": str(answer.get("model") or model),
        "choices": [{"message": {"content": text}, "finish_reason": _ending(answer)}],
        "usage": _usage(answer.get("usage")),
    }


def _ending(answer: Any) -> str:
    match answer:
        case {"choices": [{"finish_reason": str(reason)}, *_]} | {"stopReason": str(reason)}:
            return reason[:20]
    return ""


def _text_of(part: Any) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
    return ""  # what a judge thinks stands in parts of another type


def _usage(reported: Any) -> dict[str, int] | None:
    # lmms-eval adds up whatever it is told.
    names = ("prompt_tokens", "completion_tokens")
    return {name: _tokens(reported, name) for name in names} if isinstance(reported, dict) else None


def _tokens(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) else 0


@contextmanager
def quiet_providers() -> Iterator[None]:
    """Keeps lmms-eval from logging each failed call, two lines a time; they are counted and summed up here."""
    logger.disable("lmms_eval.llm_judge")
    try:
        yield
    finally:
        logger.enable("lmms_eval.llm_judge")
