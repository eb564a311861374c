"""Options among which the right one cannot be told by its place, its length or its words."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_TRIES = 40
_SPREAD = 3


@dataclass(frozen=True)
class Options:
    """Texts in the order in which they are shown, and the index of the right one."""

    texts: tuple[str, ...]
    gold: int


def normalised(text: str) -> str:
    """A text without case, punctuation and spacing: two options must differ in this."""
    return " ".join(words(text))


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case."""
    return tuple(re.findall(r"\w+", text.lower()))


def shared_words(text: str, reference: str) -> int:
    """How many different words of `reference` a text has."""
    return len(set(words(text)) & set(words(reference)))


def draw_options(
    rng: random.Random, gold: str, fixed: Sequence[str], pool: Sequence[str], count: int, reference: str
) -> Options:
    """Draws wrong options, and shuffles them with the right one.

    The right one is the longest or the shortest, and the one that shares the most words with the reference (in number
    or as a part of its own), about as often as any other: of several draws of wrong options the one is taken that
    comes nearest to what a fair die said of all this. A fixed one is taken to be about as long as the right one, but
    to share fewer words.

    Args:
        rng: The only source of chance.
        gold: The right option.
        fixed: Wrong options that must be among them.
        pool: Other wrong options; those equal to one of the above are passed over.
        count: How many options there should be; there are fewer if the pool is small.
        reference: The question to which the options belong.
    """
    seen = {normalised(text) for text in (gold, *fixed)}
    free = [text for text in dict.fromkeys(pool) if normalised(text) not in seen]
    room = min(count - 1 - len(fixed), len(free))
    traits = {text: _traits(text, reference) for text in (gold, *fixed, *free)}
    likely = (1 + len(fixed), 1, 1)
    ranks = [(n, rng.randrange(count)) for n in likely]
    wanted = [(rank < n, rank >= count - n) for n, rank in ranks]

    def unfairness(others: Sequence[str]) -> int:
        wrong = 0
        for k, (most, least) in enumerate(wanted):
            own, found = traits[gold][k], [traits[text][k] for text in others] or [0]
            wrong += (most != (own >= max(found))) + (least != (own <= min(found)))
        return wrong

    others = min((rng.sample(free, room) for _ in range(_TRIES)), key=unfairness)
    texts = rng.sample([gold, *fixed, *others], 1 + len(fixed) + room)
    return Options(tuple(texts), texts.index(gold))


def _traits(text: str, reference: str) -> tuple[float, ...]:
    """Length, shared words, and their share of the text's own words."""
    shared = shared_words(text, reference)
    return len(text), shared, shared / max(1, len(words(text)))


def draw_numbers(rng: random.Random, gold: int, count: int) -> Options:
    """Draws wrong numbers near the right one, none below 0; the right one has any rank among them equally often."""
    below = min(rng.randrange(count), gold)
    reach = max(count, min(gold // 4, _SPREAD * count))
    lower = rng.sample(range(max(0, gold - reach), gold), below)
    upper = rng.sample(range(gold + 1, gold + 1 + reach), count - 1 - below)
    texts = [str(number) for number in (gold, *lower, *upper)]
    rng.shuffle(texts)
    return Options(tuple(texts), texts.index(str(gold)))
