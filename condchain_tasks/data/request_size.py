"""How large the largest request of a task is: said before anything is paid for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from condchain_tasks.data.images import look_at
from condchain_tasks.wording import counted

_PATCH = 28  # pixels on each side of what becomes one token in Qwen2.5-VL
_CHARACTERS_A_TOKEN = 4

MANY_PICTURES = 20
"""Some providers refuse a request with more pictures."""

LONG_SIDE = 2_000
"""Some providers refuse pictures with a longer side, pixels, or scale them down."""


@dataclass(frozen=True)
class Largest:
    """The largest request, each figure by itself.

    Attributes:
        pictures: In one request.
        side: The longest side of any picture, pixels.
        characters: Of one request's text, without the prompt's own words.
        tokens: Of one request, by a rule of thumb: a picture has a token for each started 28 x 28 pixels, as in
            Qwen2.5-VL, and a text one for each 4 characters.
    """

    pictures: int = 0
    side: int = 0
    characters: int = 0
    tokens: int = 0

    def __str__(self) -> str:
        sides = f" with sides up to {self.side:,} pixels" if self.pictures else ""
        return (
            f"{counted(self.pictures, 'picture')}{sides}, {self.characters:,} characters, about {self.tokens:,} tokens"
        )

    def refusals(self) -> Iterator[str]:
        """By what some providers refuse it."""
        if self.pictures > MANY_PICTURES:
            yield f"{self.pictures} pictures in one request: some providers refuse more than {MANY_PICTURES}"
        if self.side > LONG_SIDE:
            yield (
                f"pictures with sides up to {self.side:,} pixels: some providers refuse more than {LONG_SIDE:,} in a "
                "request of many pictures, or scale them down"
            )


def largest(rows: Iterable[Any], characters: Callable[[Any], int]) -> Largest:
    """The largest of the rows' requests.

    Args:
        rows: Each with `images`, paths of pictures that were looked at.
        characters: Of a row's text.
    """
    found = Largest()
    for row in rows:
        pictures = [look_at(Path(path)) for path in row.images]
        text = characters(row)
        tokens = sum(math.ceil(p.width / _PATCH) * math.ceil(p.height / _PATCH) for p in pictures)
        found = Largest(
            max(found.pictures, len(pictures)),
            max([found.side, *(max(p.width, p.height) for p in pictures)]),
            max(found.characters, text),
            max(found.tokens, tokens + math.ceil(text / _CHARACTERS_A_TOKEN)),
        )
    return found
