"""What asking a judge has come to, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Counts:
    """What was done.

    Attributes:
        calls: Requests to the judge, with retries and re-asks.
        cache_hits: Verdicts that were there already.
        retries: Calls made because one before had failed.
        re_asks: Calls made because the answer to one before held no verdict.
        missing: Verdicts that could not be had.
        input_tokens: As the judge reports them.
        output_tokens: As the judge reports them.
    """

    calls: int = 0
    cache_hits: int = 0
    retries: int = 0
    re_asks: int = 0
    missing: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))
