"""Mends lmms-eval's response cache, `--use_cache`, and lets it keep conversations round by round.

It stores the text that stands for a failed request like a reply, or takes it back from its log, so that a second run is
served the failure again. It computes an entry's key once before and once after the model saw the request, while some
models write into the request's settings, so that a second run finds nothing. It stores replies only when the last one
is there. Its key knows neither the model's server nor, for chat models, what is sent; it does know the judge and the
data's folder, on which no reply depends. What becomes of replies on the disk stands in `kept_replies`.
"""

from __future__ import annotations

import copy
import functools
import hashlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from loguru import logger

from condchain_tasks.data.cache import cache_root
from condchain_tasks.identity import server_of
from condchain_tasks.kept_replies import keep_replies_whatever_happens
from condchain_tasks.model_replies import is_asked_here
from condchain_tasks.rounds import REQUEST_TYPE, run_rounds
from condchain_tasks.scorers.replies import is_failed

_MARK = "_condchain_tasks_mended"
_OWN_FINGERPRINTS = "_condchain_tasks_fingerprints"
_KEPT_AT_ONCE = 256  # requests; a run that is killed loses no more


def mend_response_cache() -> None:
    """Keeps failed requests out of the cache and requests' settings as they are.

    Calling this again changes nothing. If lmms-eval has no place to attach to, a warning says so.
    """
    try:
        from lmms_eval.caching.response_cache import ResponseCache

        is_valid: Callable[[Any, str], bool] = ResponseCache._is_valid_response
        execute: Callable[..., list[Any]] = ResponseCache.execute
        look_up: Callable[[Any, str], Any] = ResponseCache._lookup
        for name in ("create", "finalize", "_log_to_audit", "_store"):
            getattr(ResponseCache, name)
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
    keep_replies_whatever_happens(ResponseCache)
    create: Callable[..., Any] = ResponseCache.create.__func__
    log: Callable[..., None] = ResponseCache._log_to_audit

    @functools.wraps(is_valid)
    def is_valid_reply(response: Any, request_type: str) -> bool:
        return is_valid(response, request_type) and not _holds_failure(response)

    @functools.wraps(create)
    def create_for_requests(cls: Any, /, cache_root: str, **kwargs: Any) -> Any:
        return create(cls, cache_root, **kwargs | {"task_dict": _as_keyed(kwargs.get("task_dict") or {})})

    @functools.wraps(look_up)
    def look_up_reply(self: Any, cache_key: str) -> Any:
        found = look_up(self, cache_key)
        return None if _holds_failure(found) else found  # stored by a run without this package, or before it knew

    @functools.wraps(execute)
    def execute_on_copies(self: Any, lm: Any, reqtype: str, requests: list[Any]) -> list[Any]:
        if reqtype == REQUEST_TYPE:
            # A conversation is kept when all are over; its rounds are kept one by one, and a broken run goes on.
            return run_rounds(lm, requests, lambda batch: execute_on_copies(self, lm, "generate_until", batch))
        _tell_apart(self, lm, requests)
        replies = []
        for start in range(0, len(requests), _KEPT_AT_ONCE):
            replies += execute(self, _CopyingRequests(lm), reqtype, requests[start : start + _KEPT_AT_ONCE])
        return replies

    @functools.wraps(log)
    def log_to_audit(self: Any, request_type: str, *args: Any, **kwargs: Any) -> None:
        if not is_valid_reply(args[4], request_type):
            kwargs |= {"cache_key": "", "deterministic": False}  # such a line is never taken back into the cache
        log(self, request_type, *args, **kwargs)

    ResponseCache.create = classmethod(create_for_requests)
    ResponseCache._is_valid_response = staticmethod(is_valid_reply)
    ResponseCache.execute = execute_on_copies
    ResponseCache._log_to_audit = log_to_audit
    ResponseCache._lookup = look_up_reply
    setattr(ResponseCache, _MARK, True)


class _Keyed:
    """A task as the cache's keys know it."""

    def __init__(self, task: Any) -> None:
        self._task = task

    def dump_config(self) -> dict[str, Any]:
        config: dict[str, Any] = self._task.dump_config()
        metadata = config.get("metadata")
        if not is_asked_here(self._task) or not isinstance(metadata, dict):
            return config
        metadata = {name: value for name, value in metadata.items() if name != "judge"}
        if isinstance(data := metadata.get("data"), dict):
            metadata["data"] = data.get("sha256")
        if str(cache_root()) in str(config.get("dataset_kwargs")):  # rows prepared from that data, wherever it lies
            config = config | {"dataset_kwargs": None}
        return config | {"metadata": metadata}


def _as_keyed(tasks: Any) -> Any:
    if isinstance(tasks, dict):
        return {name: _as_keyed(task) for name, task in tasks.items()}
    return _Keyed(tasks) if hasattr(tasks, "dump_config") else tasks


def _tell_apart(cache: Any, lm: Any, requests: Sequence[Any]) -> None:
    """Puts into the cache's keys what lmms-eval leaves out of them: the server, and what a task sends.

    It keys by the model's arguments, and a server can be named by a variable; and by a text, which chat models are not
    sent. The rows' hash is in the key by way of the tasks' metadata.
    """
    if server := server_of(lm):
        cache._model_fingerprint_hash = _hash(f"{cache.model_fingerprint}|{server}")
    known = cache.__dict__.setdefault(_OWN_FINGERPRINTS, dict(cache._task_fingerprints))
    for request in requests:
        sent = (request.metadata or {}).get("requests_sha256", "")
        if sent:
            cache._task_fingerprints[request.task_name] = f"{known.get(request.task_name, '')}|{sent}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _holds_failure(response: Any) -> bool:
    text = getattr(response, "text", response)
    return any(isinstance(one, str) and is_failed(one) for one in (text if isinstance(text, list) else [text]))


class _CopyingRequests:
    """A model that is handed requests whose settings are its own to change."""

    def __init__(self, lm: Any) -> None:
        self._lm = lm

    def __getattr__(self, request_type: str) -> Callable[[list[Any]], list[Any]]:
        method = getattr(self._lm, request_type)
        return lambda requests: method(list(map(_with_own_settings, requests)))


def _with_own_settings(request: Any) -> Any:
    twin = copy.copy(request)
    twin.arguments = tuple(dict(value) if isinstance(value, dict) else value for value in request.args)
    return twin
