"""What a failed call means: whether it may pass, when to try again, and what to tell.

Each provider's library has errors of its own, and no two of them share a base class. They are told apart here by what
they carry, not by whose they are.
"""

from __future__ import annotations

import email.utils
import math
import time

_MAX_WORDS = 300
_SHORTEST_SECRET = 8  # a local server's "x" is none
_PASSING_ERRORS = ("Connection", "Timeout", "ChunkedEncoding")


class UnreadableAnswer(Exception):
    """HTTP 200 with a body that is no answer, as gateways send it for a while."""


def may_pass(error: BaseException) -> bool:
    """Whether the same call may succeed later: on HTTP 408, 429 and 5xx, lost connections, timeouts, odd bodies."""
    if "insufficient_quota" in str(error):
        return False  # HTTP 429 too, but no wait will mend it
    status = http_status(error)
    if status is not None:
        return status in (408, 429) or status >= 500
    return isinstance(error, UnreadableAnswer) or any(
        word in kind.__name__ for kind in type(error).__mro__ for word in _PASSING_ERRORS
    )


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
    # Libraries wrap what the system says in layers of their own.
    while http_status(cause) is None and (earlier := _cause(cause)) and str(earlier).strip():
        cause = earlier
    words = f"{type(error).__name__}: {cause}"
    if len(secret) >= _SHORTEST_SECRET:
        words = words.replace(secret, "(key)")
    return " ".join("".join(c if c.isprintable() else " " for c in words).split())[:_MAX_WORDS]


def _cause(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)
