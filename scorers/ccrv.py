"""CCRV-Bench: the rules for constraint satisfaction (CSR) that need no judge, and the cascade of the judge's verdicts.

Each rule is a function from a reply to a `Check`. A reply may be anything: none raises an error, and all are read in
time linear in their length. Whether there is a reply at all is asked of `replies.is_failed` before.

What follows the released scorer where the paper leaves room:

- Lines are those of `str.splitlines` for Y2: a lone carriage return and U+2028 end one too. For Y4 a line feed alone
  does.
- White space around a line does not matter, other marks do: `**Coordinate:** 12, 40` has no line that starts with
  "Coordinate:".
- Of several lines with one label the first counts.
- Digits are the decimal digits of every script, as `\\d` and `float` take them: "１２，４０" is two numbers. Signs,
  points and colons are ASCII only.
- Numbers are what the pattern finds: "12,5" and "1e3" are two each, "x1=12" is two, "120-340" is 120 and -340.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Literal

Reading = Literal["pixel", "thousandth", "fraction"]
"""How the two numbers of a coordinate line are meant."""

MIN_EXPLANATION = 20
"""Characters that an explanation must have at least."""

MAX_MARGIN = 0.25
"""The most that a box is grown on each side, as a fraction of its width and height."""

_COORDINATE = "coordinate:"
_EXPLANATION = "explanation:"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WORD_CHARACTERS = frozenset(string.ascii_lowercase + string.digits + "_")
_HYPHENS = "-\u2010\u2011\u2012\u2013\u2014\u2212"
_TO_WORDS = str.maketrans({**dict.fromkeys(string.punctuation), **dict.fromkeys(_HYPHENS, " ")})
_FORBIDDEN_PUNCTUATION = re.compile(f"[{re.escape(string.punctuation.replace('-', ''))}]")
_MAX_QUOTED = 80  # a reason goes into every sample log


@dataclass(frozen=True)
class Check:
    """The verdict of a rule.

    Attributes:
        passed: Whether the reply keeps to the constraint: CSR 1 or 0.
        reason: Why, in one sentence of bounded length, on one line.
    """

    passed: bool
    reason: str


@dataclass(frozen=True)
class GroundingCheck(Check):
    """The verdict of the rule for spatial grounding.

    Attributes:
        reading: The first reading by which the point lies in the box; None if there is none.
        passed_raw_pixel: Whether the reply passes if the numbers can only be pixels, as the released scorer has it.
    """

    reading: Reading | None
    passed_raw_pixel: bool


def check_symbolization(answer: str, forbidden_terms: Iterable[str]) -> Check:
    """Y1: no forbidden term occurs.

    A term occurs where the lower-cased reply holds it with none of a-z, 0-9 and _ next to it: "woman" occurs in
    "woman's", "snow-woman" and "womané", not in "women", "womans" and "woman_1". Its own spaces count as they are.

    Args:
        answer: The reply.
        forbidden_terms: Names of the things that symbols stand for; case and white space around them do not matter,
            and blank ones forbid nothing.

    Returns:
        The verdict; its reason names the first occurrence, with its place in the lower-cased reply, from 1.
    """
    text = answer.lower()
    terms = {term.strip().lower() for term in forbidden_terms} - {""}
    found = [(place, term) for term in terms if (place := _find_term(text, term)) is not None]
    if not found:
        return Check(True, "No forbidden term occurs.")
    place, term = min(found)
    return Check(False, f"The forbidden term {_quoted(term)} occurs at character {place + 1}.")


def check_grounding(
    answer: str, bbox_xyxy: Sequence[float], image_size: tuple[int, int], margin_fraction: float = 0.075
) -> GroundingCheck:
    """Y2: a line "Coordinate:" whose point lies in the target's box, and a line "Explanation:".

    The labels may be in any case. The coordinate line holds exactly two numbers. The explanation is what follows its
    label and the lines after it, up to a coordinate line, joined by spaces; it has at least `MIN_EXPLANATION`
    characters. The point is accepted if it lies in the grown box, border included, when read as pixels; as thousandths
    of the image's width and height, if both numbers are in 0..1000; or as fractions of them, if both are in 0..1.

    Args:
        answer: The reply.
        bbox_xyxy: Two opposite corners of the target's box, pixels: x, y, x, y.
        image_size: The image's width and height, pixels.
        margin_fraction: How far the box is grown on each side, as a fraction of its width and height; values outside
            0..`MAX_MARGIN` are clamped.

    Returns:
        The verdict, and the first reading that matched.
    """
    point = _grounded_point(answer)
    if isinstance(point, str):
        return GroundingCheck(False, point, reading=None, passed_raw_pixel=False)
    left, top, right, bottom = box = _grown(bbox_xyxy, margin_fraction)
    reading = next(
        (name for name, x, y in _readings(point, image_size) if left <= x <= right and top <= y <= bottom), None
    )
    where = f"the grown box {_numbers(box)}"
    if reading is None:
        reason = f"The point {_numbers(point)} lies outside {where} by every valid reading."
    else:
        reason = f"The point {_numbers(point)}, read as {reading}s, lies in {where}."
    return GroundingCheck(reading is not None, reason, reading, passed_raw_pixel=reading == "pixel")


def check_minimalist(answer: str, max_words: int, single_line: bool = True, forbid_punctuation: bool = True) -> Check:
    """Y4: few words, and nothing else.

    Words are counted after hyphens and dashes became spaces and other ASCII punctuation was removed: "coffee-cup" is
    two words, "don't" one. Punctuation outside ASCII stays in its word and is not forbidden. White space around the
    reply does not count.

    Args:
        answer: The reply.
        max_words: The most words that are allowed, at least 1.
        single_line: Whether the reply must be one line; only a line feed breaks one.
        forbid_punctuation: Whether ASCII punctuation other than the hyphen is forbidden.

    Returns:
        The verdict.
    """
    stripped = answer.strip()
    if not stripped:
        return Check(False, "The answer is empty.")
    lines = stripped.count("\n") + 1
    if single_line and lines > 1:
        return Check(False, f"The answer has {lines} lines; one is allowed.")
    words = len(answer.translate(_TO_WORDS).split())
    if words == 0:
        return Check(False, "The answer has no words.")
    if words > max_words:
        return Check(False, f"The answer has {words} words; the limit is {max_words}.")
    mark = _FORBIDDEN_PUNCTUATION.search(answer) if forbid_punctuation else None
    if mark:
        return Check(False, f"The answer has punctuation: {mark[0]} at character {mark.start() + 1}.")
    return Check(True, f"The answer keeps to the limit: {words} of {max_words} words.")


def cascade(r1: int, r2: int, r3: int) -> tuple[int, int, int]:
    """The judge's independent verdicts, each counted only if those before it hold.

    Args:
        r1: Entities, 0 or 1.
        r2: Interaction or mechanism, 0 or 1.
        r3: Causal outcome, 0 or 1.

    Returns:
        l1', l2', l3', each 0 or 1 and none greater than the one before it; verdicts in cascade stay as they are.
    """
    return r1, r1 & r2, r1 & r2 & r3


def dcr(l1: int, l2: int, l3: int) -> float:
    """Deep causal reasoning of one reply: (l1' + l2' + l3') / 3.

    Args:
        l1: Entities, 0 or 1.
        l2: Interaction or mechanism, 0 or 1.
        l3: Causal outcome, 0 or 1.

    Returns:
        0, 1/3, 2/3 or 1; the same for independent verdicts and for verdicts in cascade.
    """
    return sum(cascade(l1, l2, l3)) / 3


def _find_term(text: str, term: str) -> int | None:
    """Where the term first stands alone; plain search skips text without it far faster than a pattern would."""
    start = text.find(term)
    while start >= 0:
        end = start + len(term)
        if text[max(0, start - 1) : start] not in _WORD_CHARACTERS and text[end : end + 1] not in _WORD_CHARACTERS:
            return start
        start = text.find(term, start + 1)
    return None


def _grounded_point(answer: str) -> tuple[float, float] | str:
    """The numbers of a reply that has the right form, else what is wrong with the form."""
    lines = [line.strip() for line in answer.splitlines()]
    coordinate = next((line for line in lines if _has_label(line, _COORDINATE)), None)
    if coordinate is None:
        return 'No line starts with "Coordinate:".'
    explanation = list(dropwhile(lambda line: not _has_label(line, _EXPLANATION), lines))
    if not explanation:
        return 'No line starts with "Explanation:".'
    numbers = _NUMBER.findall(coordinate[len(_COORDINATE) :])
    if len(numbers) != 2:
        return f"Numbers on the coordinate line: {len(numbers)}; exactly 2 are needed."
    parts = takewhile(lambda line: not _has_label(line, _COORDINATE), explanation)
    length = len(" ".join(part for part in parts if part)[len(_EXPLANATION) :].strip())
    if length < MIN_EXPLANATION:
        return f"Characters of the explanation: {length}; at least {MIN_EXPLANATION} are needed."
    return float(numbers[0]), float(numbers[1])


def _has_label(line: str, label: str) -> bool:
    return line[: len(label)].lower() == label


def _grown(bbox_xyxy: Sequence[float], margin_fraction: float) -> tuple[float, float, float, float]:
    x1, y1, x2, y2 = bbox_xyxy
    left, right = sorted((x1, x2))
    top, bottom = sorted((y1, y2))
    margin = max(0.0, min(margin_fraction, MAX_MARGIN))
    dx, dy = margin * (right - left), margin * (bottom - top)
    return left - dx, top - dy, right + dx, bottom + dy


def _readings(point: tuple[float, float], image_size: tuple[int, int]) -> Iterator[tuple[Reading, float, float]]:
    x, y = point
    width, height = image_size
    yield "pixel", x, y
    if 0 <= x <= 1000 and 0 <= y <= 1000:
        yield "thousandth", x * width / 1000, y * height / 1000
    if 0 <= x <= 1 and 0 <= y <= 1:
        yield "fraction", x * width, y * height


def _numbers(values: Iterable[float]) -> str:
    return f"({', '.join(f'{value:g}' for value in values)})"


def _quoted(term: str) -> str:
    return repr(term if len(term) <= _MAX_QUOTED else term[:_MAX_QUOTED] + "…")
