"""Replies that are no replies.

lmms-eval's API models return a text in place of the reply when a request failed, other models an empty string.
Such text contains things that look like answers ("H100", "None"), so it is recognised before anything is read.
"""

from __future__ import annotations

_FAILURE_MARKERS = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED")


def is_failed(reply: str | None) -> bool:
    """Whether there is nothing to score: the request failed, or nothing came back.

    Args:
        reply: What the harness hands over for one request.

    Returns:
        True for what is no text, for blank text, and for lmms-eval's failure texts. A reply that merely quotes such
        a text further on is a reply.
    """
    if not isinstance(reply, str):
        return True
    text = reply.lstrip()
    return not text or text.startswith(_FAILURE_MARKERS)


def encodable(reply: str) -> str:
    """A reply that can be written and sent on: half a surrogate pair, which JSON can hold, becomes a question mark.

    lmms-eval gives up a sample log, or a cached run, at the first one.
    """
    return reply.encode("utf-8", "replace").decode("utf-8")
