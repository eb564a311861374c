"""Where what a model returns becomes a reply or a failure: before the response cache, conversations, and the log.

Backends of lmms-eval differ in what they return for a request that came to nothing, and some die of it. Here every
model's `generate_until` is made to return text alone, `Reply.encoded`, to the requests of this package's tasks.
Backends that hold a client of the OpenAI kind never see what is no text: a message is settled before they read it.
Other tasks' requests are answered as they always were, but for half surrogate pairs, which no file can hold, and
messages that are no text, which come back empty.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

from loguru import logger

from condchain_tasks.scorers.replies import Reply, encodable, failed, read_reply

PACKAGE = "condchain_tasks."

_MARK = "_condchain_tasks_replies"


class UnusableAnswer(RuntimeError):
    """A server's answer without any message; the backend asks again, as after any other error."""


def read_model_replies() -> None:
    """Makes every model that is made from now on return replies; calling this again changes nothing.

    If lmms-eval has no place to attach to, a warning says so.
    """
    try:
        from lmms_eval.api.model import lmms
    except ImportError:
        logger.warning(
            "condchain-tasks {} cannot read what the models of lmms-eval {} return: a request that failed may be "
            "scored as a reply.",
            version("condchain-tasks"),
            version("lmms_eval"),
        )
        return
    if getattr(lmms, _MARK, False):
        return
    make: Callable[..., None] = lmms.__init__

    @functools.wraps(make)
    def make_with_replies(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self.generate_until = functools.partial(_generate, self)

    lmms.__init__ = make_with_replies
    setattr(lmms, _MARK, True)


def is_scored_here(task: Any) -> bool:
    """Whether a task's replies are scored by this package, whoever wrote its YAML."""
    scoring = getattr(getattr(task, "config", None), "process_results", None)
    return str(getattr(scoring, "__module__", "")).startswith(PACKAGE)


def is_asked_here(task: Any) -> bool:
    """Whether a task is scored by this package, now or, of a run with `--predict_only`, later."""
    config = getattr(task, "config", None)
    # lmms-eval takes the scoring out of such a task.
    is_put_off = config is not None and getattr(config, "process_results", None) is None
    makers = [getattr(config, name, None) for name in ("doc_to_visual", "doc_to_messages")] if is_put_off else []
    return is_scored_here(task) or any(str(getattr(one, "__module__", "")).startswith(PACKAGE) for one in makers)


def is_own(request: Any) -> bool:
    """Whether a request (an lmms-eval `Instance`) is one of a task that is scored by this package."""
    makers = [argument for argument in request.args if callable(argument)]
    return any(
        is_asked_here(getattr(maker, "__self__", None)) or str(getattr(maker, "__module__", "")).startswith(PACKAGE)
        for maker in makers
    )


def _generate(lm: Any, requests: list[Any]) -> list[Any]:
    own = [is_own(request) for request in requests]
    if any(own):
        _settle_messages(lm)
    outputs = type(lm).generate_until(lm, requests)
    if any(own) and len(outputs) != len(requests):
        # Some backends add one reply too many after an error: nobody knows which reply belongs to which request.
        logger.error("The model returned {} replies to {} requests: all count as failed.", len(outputs), len(requests))
        lost = failed("error", f"{len(outputs)} replies were returned to {len(requests)} requests").encoded
        return [lost] * len(requests)
    return [_read(output) if mine else _foreign(output) for output, mine in zip(outputs, own, strict=False)]


def _read(output: Any) -> Any:
    """A model's output for one request with a reply as its text, and token counts if there were any."""
    from lmms_eval.api.instance import GenerationResult, TokenCounts, unwrap_generation_output

    if isinstance(output, GenerationResult):
        return GenerationResult(read_reply(output.text).encoded, output.token_counts)
    if isinstance(output, tuple) and len(output) == 2 and isinstance(output[1], (dict, TokenCounts)):
        _, counts = unwrap_generation_output(("", output[1]))
        return GenerationResult(read_reply(output[0]).encoded, counts)
    return read_reply(output).encoded


def _foreign(output: Any) -> Any:
    """The output for another task's request, which knows nothing of the texts that stand for failures here."""
    if isinstance(output, str):
        return "" if (reply := read_reply(output)).failure and output == reply.encoded else encodable(output)
    if isinstance(text := getattr(output, "text", None), str):
        output.text = _foreign(text)
    return output


def _settle_messages(lm: Any) -> None:
    """Settles each message that a model's client receives; again and again, since clients are replaced."""
    completions = getattr(getattr(getattr(lm, "client", None), "chat", None), "completions", None)
    create = getattr(completions, "create", None)
    if completions is None or not callable(create) or getattr(create, _MARK, False):
        return
    runs_tools = getattr(lm, "mcp_client", None) is not None

    def create_and_settle(*args: Any, **kwargs: Any) -> Any:
        response = create(*args, **kwargs)
        return _settle_later(response, runs_tools) if inspect.isawaitable(response) else _settle(response, runs_tools)

    setattr(create_and_settle, _MARK, True)
    completions.create = create_and_settle


async def _settle_later(response: Awaitable[Any], runs_tools: bool) -> Any:
    return _settle(await response, runs_tools)


def _settle(response: Any, runs_tools: bool) -> Any:
    """Puts text where a message's content is, and nothing beside it that a backend would act on.

    Args:
        response: A chat completion as a server sent it. Clients do not check it: any field may be missing, or of
            another type.
        runs_tools: Whether the backend runs the tools that a model calls; such a message is left to it.

    Raises:
        UnusableAnswer: There is no message.
    """
    choices = getattr(response, "choices", None)
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    if message is None:
        raise UnusableAnswer(f"The server's answer holds no message: {_what_it_says(response)}")
    choice = choices[0]  # type: ignore[index]  # a message was found in it
    reason = getattr(choice, "finish_reason", None)
    calls = getattr(message, "tool_calls", None)
    if runs_tools and calls:
        message.content = read_reply(getattr(message, "content", None)).text
        return response
    message.content = _reply_of(message, reason, calls).encoded
    if reason == "tool_calls":
        choice.finish_reason = "stop"
    return response


def _reply_of(message: Any, reason: object, calls: object) -> Reply:
    if refusal := getattr(message, "refusal", None):
        return failed("refusal", refusal)
    if reason == "content_filter":
        return failed("content_filter", getattr(message, "content", None) or "")
    reply = read_reply(getattr(message, "content", None))
    if reply.failure == "empty" and calls:
        return failed("not_text", f"a tool call: {calls}")
    if reply.failure == "empty" and reason not in (None, "stop"):
        return failed("empty", f"finish_reason {reason}")
    return reply


def _what_it_says(response: Any) -> str:
    error = getattr(response, "error", None)
    message = error.get("message") if isinstance(error, dict) else error
    return str(message or response)[:200]
