"""What every benchmark's record says about whether there is a reply at all."""

from __future__ import annotations

from typing import Any

from condchain_tasks.scorers.refusals import is_refusal
from condchain_tasks.scorers.replies import Reply


def state(*replies: Reply) -> dict[str, Any]:
    """Of the replies to one sample's requests.

    Args:
        *replies: In order; a failed one ends a conversation.

    Returns:
        `failed` and `failure`: whether a request failed, and why the first of them did. `refused`: whether the
        provider reports a refusal, or a reply is one by its text (which is scored all the same). `truncated`: whether
        a reply was cut off within its reasoning.
    """
    failure = next((reply.failure for reply in replies if reply.failure), None)
    return {
        "failed": failure is not None,
        "failure": failure,
        "refused": any(reply.refused or is_refusal(reply.answer) for reply in replies),
        "truncated": any(reply.truncated for reply in replies),
    }
