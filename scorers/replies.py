"""A reply on its way from a backend to a scorer: a text, or a failure with its reason.

Backends return many things for a request that came to nothing: None, an empty string, an error message as text, a list
of parts. `read_reply` is the one place that knows them; it runs where replies leave the model, before the cache, the
rounds and the log. What it returns travels through lmms-eval, which takes text alone, as `Reply.encoded`, and is read
back by the same function. Failure texts contain things that look like answers ("H100", "None"), so a scorer looks at
`Reply.failure` before it reads anything.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

Failure = Literal["error", "budget", "empty", "not_text", "refusal", "content_filter"]
"""Why there is no reply: the backend or server reported an error; the token budget was spent; nothing or blank text
came back; something that is no text; the server's `refusal` field; the provider's content filter."""

FAILURES: tuple[Failure, ...] = get_args(Failure)

Tags = Sequence[Sequence[str]]
"""Pairs of an opening and a closing tag."""

REASONING_TAGS: Tags = (("<think>", "</think>"), ("<analysis>", "</analysis>"))
"""Those that lmms-eval knows unless `--reasoning_tags` names others."""

_NAMES: dict[Failure, tuple[str, str]] = {  # one, several
    "error": ("error", "errors"),
    "budget": ("beyond the token budget", "beyond the token budget"),
    "empty": ("empty", "empty"),
    "not_text": ("not text", "not text"),
    "refusal": ("refusal", "refusals"),
    "content_filter": ("by a content filter", "by a content filter"),
}
_MAX_DETAIL = 500
_ENCODED = re.compile(rf"\[REQUEST_FAILED ({'|'.join(FAILURES)})\] ?(.*)", re.DOTALL)
# Texts that lmms-eval's backends return in place of a reply.
_HARNESS_TEXTS: tuple[tuple[str, Failure], ...] = (
    ("[LMMS_EVAL_REQUEST_FAILED", "error"),
    ("[LMMS_EVAL_BUDGET_EXCEEDED", "budget"),
    ("[GENERATION_FAILED]", "error"),
    ("[ERROR] ", "error"),  # of the backends that make pictures and videos
    ("[SAFETY_BLOCKED:", "content_filter"),  # gemini, for every reply without text
    ('Error: can only concatenate str (not "', "not_text"),  # async_openai, for content that is no text
)
# Within the text of a failed request: what providers say when they reject a prompt for what it holds.
_FILTERED = ("content_filter", "content management policy")
_NO_FILTER = re.compile(r"\[SAFETY_BLOCKED:(?:unknown|finish_reason=(?:FinishReason\.)?(?:STOP|MAX_TOKENS))\]")
_TEXT_PARTS = (None, "text", "output_text")  # others hold thoughts, tool calls, pictures
_MIN_CUT_TAG = 4  # characters of a closing tag at the end of a reply, such as "</th", that cannot be anything else


@dataclass(frozen=True)
class Reply:
    """What came back for one request.

    Attributes:
        text: The reply, fit to be written as UTF-8; "" if the request failed.
        failure: Why there is none; None if there is a reply.
        detail: What the backend said of the failure, at most 500 characters.
        tags: The pairs of tags that thoughts stand between.
    """

    text: str
    failure: Failure | None = None
    detail: str = ""
    tags: Tags = field(default=REASONING_TAGS, repr=False, compare=False)

    @property
    def answer(self) -> str:
        """The text without reasoning: what lenient readings, judges and conversations go on with.

        It is "" if the reply was cut off within a thought: what the model would have answered is not known.
        """
        return "" if self.truncated else self._split[0]

    @property
    def truncated(self) -> bool:
        """Whether the reply was cut off within a thought."""
        return self._split[1]

    @property
    def refused(self) -> bool:
        """Whether the provider reports a refusal or its content filter."""
        return self.failure in ("refusal", "content_filter")

    @property
    def encoded(self) -> str:
        """The text that stands for it in lmms-eval, in the response cache and in the sample log."""
        return self.text if self.failure is None else f"[REQUEST_FAILED {self.failure}] {self.detail}".rstrip()

    @functools.cached_property
    def _split(self) -> tuple[str, bool]:
        return split_reasoning(self.text, self.tags)


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
        value: What a backend returned for one request, or what `Reply.encoded` made of it. A `Reply` is returned as
            it is.

    Returns:
        A failure for None, blank text, lmms-eval's failure texts and what is no text. A list of content parts is
        joined if it holds text; thoughts among them are left out. A reply that merely quotes a failure text further
        on is a reply.
    """
    if isinstance(value, Reply):
        return value
    if isinstance(value, list):
        if refusal := _refusal_part(value):
            return failed("refusal", refusal)
        if (parts := _text_parts(value)) is not None:
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
            return failed(_precisely(failure, text), text)
    return Reply(encodable(value))


def read_stripped(text: str, tags: Tags = REASONING_TAGS) -> Reply:
    """Reads the text that lmms-eval hands over to be scored, and logs as `filtered_resps`.

    Args:
        text: Whole thoughts are taken out of it already. If nothing is left, there was a reply, and no answer in it: a
            request that failed has a text of its own by then.
        tags: The pairs of tags that thoughts stand between.
    """
    return replace(read_reply(text) if text.strip() else Reply(""), tags=tags)


def split_reasoning(text: str, tags: Tags = REASONING_TAGS) -> tuple[str, bool]:
    """Takes reasoning out of a reply.

    Args:
        text: The reply, of any length.
        tags: Pairs of an opening and a closing tag; upper and lower case are the same.

    Returns:
        The text without what stands between tags, trimmed, and whether a tag was opened and never closed. From such a
        tag to the end everything is reasoning; so is everything up to a closing tag that was never opened, since chat
        templates open it in the prompt. A closing tag that is itself cut off at the end closes nothing.
    """
    truncated = False
    for opening, closing in tags:
        text, is_cut = _without_thoughts(text, opening, closing)
        truncated = truncated or is_cut
    return text.strip(), truncated


def describe_failures(failures: Iterable[Failure | None]) -> str:
    """How many there are of each kind, such as "2 empty, 1 refusal"; None is no failure, and "" means none at all."""
    counts = Counter(failure for failure in failures if failure is not None)
    return ", ".join(f"{counts[kind]} {_NAMES[kind][counts[kind] > 1]}" for kind in FAILURES if counts[kind])


def is_failed(reply: object) -> bool:
    """Whether there is nothing to score; see `read_reply`."""
    return read_reply(reply).failure is not None


def encodable(reply: str) -> str:
    """A text that can be written and sent on: half a surrogate pair, which JSON can hold, becomes a question mark.

    lmms-eval gives up a sample log, or a cached run, at the first one.
    """
    return reply.encode("utf-8", "replace").decode("utf-8")


def _precisely(failure: Failure, text: str) -> Failure:
    if failure == "error" and any(words in text for words in _FILTERED):
        return "content_filter"
    return "empty" if _NO_FILTER.fullmatch(text) else failure


def _text_parts(parts: list[object]) -> str | None:
    """The text of a list of content parts; None if it holds none."""
    texts = [
        part if isinstance(part, str) else part["text"]
        for part in parts
        if isinstance(part, str)
        or (isinstance(part, dict) and part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str))
    ]
    return "".join(texts) if texts else None


def _refusal_part(parts: list[object]) -> str:
    """What a list of content parts says of a refusal; "" if nothing."""
    said = [part.get("refusal") for part in parts if isinstance(part, dict) and part.get("type") == "refusal"]
    return " ".join(str(one) for one in said if one)


def _without_thoughts(text: str, opening: str, closing: str) -> tuple[str, bool]:
    open_tag, close_tag = _tag(opening), _tag(closing)
    kept, position = [], 0
    while opened := open_tag.search(text, position):
        kept.append(text[position : opened.start()])
        if not (closed := close_tag.search(text, opened.end())):
            return _after_last("".join(kept), close_tag), True
        position = closed.end()
    rest = _after_last("".join(kept) + text[position:], close_tag)
    return ("", True) if _ends_within(rest, closing) else (rest, False)


@functools.lru_cache(maxsize=32)
def _tag(tag: str) -> re.Pattern[str]:
    return re.compile(re.escape(tag), re.IGNORECASE)


def _after_last(text: str, tag: re.Pattern[str]) -> str:
    end = 0
    for match in tag.finditer(text):
        end = match.end()
    return text[end:]


def _ends_within(text: str, tag: str) -> bool:
    """Whether a text ends with the beginning of a tag."""
    end = text.rstrip()[-len(tag) :].lower()
    return any(end.endswith(tag[:length].lower()) for length in range(_MIN_CUT_TAG, len(tag)))
