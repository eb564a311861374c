"""Mends two faults of lmms-eval's response cache, `--use_cache`, and lets it keep conversations round by round.

It stores the text that API models return for a failed request like a reply, so that a second run is served the
failure again. And it computes an entry's key once before and once after the model saw the request, while some
models write into the request's settings, so that a second run finds nothing.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from loguru import logger

from condchain_tasks.rounds import REQUEST_TYPE, run_rounds
from condchain_tasks.scorers.replies import is_failed

_MARK = "_condchain_tasks_mended"


def mend_response_cache() -> None:
    """Keeps failed requests out of the cache and requests' settings as they are.

    Calling this again changes nothing. If lmms-eval has no place to attach to, a warning says so.
    """
    try:
        from lmms_eval.caching.response_cache import ResponseCache

        is_valid: Callable[[Any, str], bool] = ResponseCache._is_valid_response
        execute: Callable[..., list[Any]] = ResponseCache.execute
    except (ImportError, AttributeError):
        logger.warning(
            "condchain-tasks {} cannot keep failed requests out of the cache of lmms-eval {}: after failures, delete "
            "the folder of --use_cache.",
            version("condchain-tasks"),
            version("lmms_eval"),
        )
        return
    if getattr(ResponseCache, _MARK, False):
        return

    @functools.wraps(is_valid)
    def is_valid_reply(response: Any, request_type: str) -> bool:
        text = getattr(response, "text", response)
        rounds = text if isinstance(text, list) else [text]
        return is_valid(response, request_type) and not any(isinstance(r, str) and is_failed(r) for r in rounds)

    @functools.wraps(execute)
    def execute_on_copies(self: Any, lm: Any, reqtype: str, requests: list[Any]) -> list[Any]:
        if reqtype == REQUEST_TYPE:
            # A conversation is kept when all are over; its rounds are kept one by one, and a broken run goes on.
            return run_rounds(lm, requests, lambda batch: execute_on_copies(self, lm, "generate_until", batch))
        return execute(self, _CopyingRequests(lm), reqtype, requests)

    ResponseCache._is_valid_response = staticmethod(is_valid_reply)
    ResponseCache.execute = execute_on_copies
    setattr(ResponseCache, _MARK, True)


class _CopyingRequests:
    """A model that is handed requests whose settings are its own to change."""

    def __init__(self, lm: Any) -> None:
        self._lm = lm

    def __getattr__(self, request_type: str) -> Callable[[list[Any]], list[Any]]:
        method = getattr(self._lm, request_type)
        return lambda requests: method([_with_own_settings(request) for request in requests])


def _with_own_settings(request: Any) -> Any:
    twin = copy.copy(request)
    twin.arguments = tuple(dict(value) if isinstance(value, dict) else value for value in request.args)
    return twin
