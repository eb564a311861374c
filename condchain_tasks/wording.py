"""Numbers in sentences."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number and what it counts: "1 chain", "1,200 chains".

    Args:
        count: How many.
        noun: What one of them is called.
        plural: What several are called; left out, the noun with an s.
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
