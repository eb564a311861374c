"""A reply on its way from a backend to a scorer: a text, or a failure with its reason.

Backends return many things for a request that came to nothing: None, an empty string, an error message as text, a list
of parts. `read_reply` is the one place that knows them; it runs where replies leave the model, before the cache, the
rounds and the log. What it returns travels through lmms-eval, which takes text alone, as `Reply.encoded`, and is read
back by the same function. Failure texts contain things that look like answers ("H100", "None"), so a scorer looks at
`Reply.failure` before it reads anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

Failure = Literal["error", "budget", "empty", "not_text", "refusal", "content_filter"]
"""Why there is no reply: the backend or server reported an error; the token budget was spent; nothing or blank text
came back; something that is no text; the server's `refusal` field; the provider's content filter."""

FAILURES: tuple[Failure, ...] = get_args(Failure)

_MAX_DETAIL = 500
_ENCODED = re.compile(rf"\[REQUEST_FAILED ({'|'.join(FAILURES)})\] ?(.*)", re.DOTALL)
# Texts that lmms-eval's backends return in place of a reply.
_HARNESS_TEXTS: tuple[tuple[str, Failure], ...] = (
    ("[LMMS_EVAL_REQUEST_FAILED", "error"),
    ("[LMMS_EVAL_BUDGET_EXCEEDED", "budget"),
)


@dataclass(frozen=True)
class Reply:
    """What came back for one request.

    Attributes:
        text: The reply, fit to be written as UTF-8; "" if the request failed.
        failure: Why there is none; None if there is a reply.
        detail: What the backend said of the failure, at most 500 characters.
    """

    text: str
    failure: Failure | None = None
    detail: str = ""

    @property
    def encoded(self) -> str:
        """The text that stands for it in lmms-eval, in the response cache and in the sample log."""
        return self.text if self.failure is None else f"[REQUEST_FAILED {self.failure}] {self.detail}".rstrip()


def failed(failure: Failure, detail: object = "") -> Reply:
    """A failed request.

    Args:
        failure: Its reason.
        detail: What is known of it; cut to 500 characters.
    """
    return Reply("", failure, " ".join(encodable(str(detail)).split())[:_MAX_DETAIL])


def read_reply(value: object) -> Reply:
    """Tells a reply from a failed request.

    Args:
        value: What a backend returned for one request, or what `Reply.encoded` made of it.

    Returns:
        A failure for None, blank text, lmms-eval's failure texts and what is no text. A list of content parts is
        joined if it holds text. A reply that merely quotes a failure text further on is a reply.
    """
    if isinstance(value, list) and (parts := _text_parts(value)) is not None:
        value = parts
    if value is None:
        return failed("empty")
    if not isinstance(value, str):
        return failed("not_text", f"{type(value).__name__}: {value!r}")
    text = value.lstrip()
    if not text:
        return failed("empty")
    if match := _ENCODED.fullmatch(text):
        failure = next(one for one in FAILURES if one == match[1])
        return Reply("", failure, match[2][:_MAX_DETAIL])
    for start, failure in _HARNESS_TEXTS:
        if text.startswith(start):
            return failed(failure, text)
    return Reply(encodable(value))


def is_failed(reply: object) -> bool:
    """Whether there is nothing to score; see `read_reply`."""
    return read_reply(reply).failure is not None


def encodable(reply: str) -> str:
    """A text that can be written and sent on: half a surrogate pair, which JSON can hold, becomes a question mark.

    lmms-eval gives up a sample log, or a cached run, at the first one.
    """
    return reply.encode("utf-8", "replace").decode("utf-8")


def _text_parts(parts: list[object]) -> str | None:
    """The text of a list of content parts; None if it holds none."""
    texts = [
        part if isinstance(part, str) else part["text"]
        for part in parts
        if isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str))
    ]
    return "".join(texts) if texts else None
