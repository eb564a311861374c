r"""MM-CondChain (arXiv 2603.12266): reading an answer, path F1, and its standard error.

Two readings stand side by side. The strict one is the rule of the official scorer, which leaderboards use. The
lenient one also accepts what is plainly the same answer in other clothes, `\boxed{\text{F1}}`, `\boxed{f1}`,
`\boxed{F-1}`; it never turns an answer that is right by the strict rule into a wrong one.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from condchain_tasks.scorers.replies import Reply, read_reply
from condchain_tasks.scorers.statistics import mean

_T = TypeVar("_T")
Source = Literal["boxed", "label", "none"]

NO_OPTION = "None"
"""The label of a reply that says that no option is right, and of a reply in which no answer was found."""

_BOX = re.compile(r"\\boxed\s*\{")
# Both labels stand alone. What stands before one is looked at once its first letter is found: a pattern that starts
# with a set of characters is searched many times as fast as one that starts with a condition.
_LABEL = re.compile(r"[A-Z](?<!\w[A-Z])(?:\d+|(?<=N)one)\b")
_LOOSE_LABEL_IN_TEXT = re.compile(r"([A-Z])(?<![A-Za-z0-9][A-Z])[-_ ]?([0-9]{1,9})(?![A-Za-z0-9])")
_NO_OPTION_WORDS = frozenset({"", "none", "null", "nan"})  # officially
_MAX_LABEL = 200  # a label goes into every sample log; longer ones are never right
_NEAR_END = 500
_KINDS = bytes.maketrans((string.ascii_uppercase + string.digits).encode(), b"A" * 26 + b"0" * 10)
_TAIL = 2_000  # without a box, lenient reading looks where a person would: at the end
_MAX_BOX = 1_000  # lenient reading looks for one label in a box, not for an essay
_MAX_BOXES = 20  # and in the last boxes alone

_LOOSE_LABEL = re.compile(r"(?<![A-Za-z0-9])([A-Za-z])[-_]?([0-9]{1,9})(?![A-Za-z0-9])")
_WHOLE_REPLY = re.compile(r"\W*([A-Za-z])[-_ ]?([0-9]{1,9})\W*")
_STATED = re.compile(
    r"(?:(?i:\banswer)(?:\s+(?:is|would\s+be|should\s+be|must\s+be))?(?:\s+(?:option|choice))?\W{0,8}"
    r"|(?:答案|答え|正解|정답)(?:是|为|為|は|은|는)?\W{0,8}"
    r"|\*\*\W{0,8}(?=(?:[A-Z][-_]?[0-9]{1,9}|None)\W{0,8}\*\*))"
    r"([A-Za-z][-_]?[0-9]{1,9}|None)(?![A-Za-z0-9])"
)
_NO_OPTION_PHRASE = re.compile(
    r"(?:none(?: of (?:the|these|those|them)(?: (?:above|given|options|choices|answers))*)?|null|nan|n/a"
    r"|no (?:(?:correct|right|valid) )?(?:answer|option|choice)|以上(?:都不是|皆非))?"
)
# A command that takes an argument, or a space, says nothing of its own; one that stands by itself is a sign, such as
# a check mark.
_LATEX_FORM = re.compile(
    r"\\[A-Za-z]+\*?(?=\s*\{)|\\(?:bf|it|rm|displaystyle|left|right|quad|qquad)(?![A-Za-z])|\\[^A-Za-z]"
)
_LATEX_SIGN = re.compile(r"\\[A-Za-z]+")
_WRAPPING = str.maketrans("", "", "{}$*`'\"")
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))


@dataclass(frozen=True)
class Answer:
    """An answer that was read.

    Attributes:
        label: Such as "A1" or "F3"; "None" if no option was chosen or found.
        source: The rule that found it: "boxed", "label" (a label that stands alone in the text), "none".
    """

    label: str
    source: Source


@dataclass(frozen=True)
class Score:
    """One scored reply.

    Attributes:
        strict: The answer by the official rule.
        lenient: The answer by the lenient rule.
        correct: Whether the strict answer equals the gold label; never for a failed request.
        correct_lenient: The same for the lenient answer.
        failed: There was no reply (see `replies.is_failed`); it counts as wrong.
        no_answer: There was a reply, and the official rule found no answer in it.
    """

    strict: Answer
    lenient: Answer
    correct: bool
    correct_lenient: bool
    failed: bool
    no_answer: bool


def parse_answer(text: str | None) -> Answer:
    r"""Reads an answer by the official rule.

    The last `\boxed{...}` counts, white space before its brace allowed: its content up to the first closing brace,
    without white space at its ends and without blanks inside (U+0020 alone: a line break stays). None, null, nan, in
    any case, and nothing mean None, anything else is taken as it stands. Without a box the last label that stands
    alone (a capital letter and digits, or None) counts. Without that the answer is None.

    Args:
        text: The reply, of any length; None reads as an empty reply.

    Returns:
        The answer and the rule that found it.
    """
    text = text or ""
    boxed = _last(_boxes(text))
    if boxed is not None:
        label = boxed.strip().replace(" ", "")
        return Answer(NO_OPTION if label.lower() in _NO_OPTION_WORDS else label[:_MAX_LABEL], "boxed")
    # Most answers stand near the end. A label is a whole word, so the last one there is the last one of all.
    match = _last(_LABEL.finditer(text, max(0, len(text) - _NEAR_END)))
    if match is None and _may_hold_label(text):
        match = _last(_LABEL.finditer(text))
    if match is not None:
        return Answer(match.group()[:_MAX_LABEL], "label")
    return Answer(NO_OPTION, "none")


def parse_answer_lenient(text: str | None) -> Answer:
    r"""Reads an answer as a person would.

    What the official rule reads as a label stays as it is. Else wrappings are removed from the last box (LaTeX
    commands, braces, quotes, full-width characters, a hyphen between letter and number, lower case), and it counts
    if it then names exactly one label, or says that none of the options is right. If it names no label at all
    (`\boxed{x > 2}`), a label counts that the text states as its answer ("Answer: F1", "**F1**"), then an earlier box,
    then the last label behind the box. Without a box the last label towards the end of the text counts, also in those
    wrappings, and a reply that is nothing but a label.

    Args:
        text: The reply, of any length; None reads as an empty reply.

    Returns:
        The answer and where it was found; what cannot be normalised is returned as the official rule reads it.
    """
    return _lenient(text or "", parse_answer(text))


def score_reply(reply: Reply | str | None, gold: str) -> Score:
    """Scores one reply by both rules.

    Args:
        reply: The reply, or its text. A failed request (see `replies.read_reply`) is wrong, and so is a reply of
            nothing but reasoning. The official rule reads a reply that was cut off within its reasoning as it
            stands; the lenient one finds no answer in it.
        gold: The right label; the comparison is exact and case-sensitive.

    Returns:
        The score.
    """
    read = read_reply(reply)
    nothing = Answer(NO_OPTION, "none")
    if read.failure is not None:
        return Score(nothing, nothing, correct=False, correct_lenient=False, failed=True, no_answer=False)
    strict = parse_answer(read.text)
    lenient = parse_answer_lenient(read.answer) if read.answer else nothing
    return Score(
        strict=strict,
        lenient=lenient,
        correct=bool(read.text.strip()) and strict.label == gold,
        correct_lenient=bool(read.answer) and lenient.label == gold,
        failed=False,
        no_answer=strict.source == "none",
    )


def path_f1(true_acc: float, false_acc: float) -> float:
    """Path F1: the harmonic mean of the accuracies on true and on false paths (paper, section 4).

    Args:
        true_acc: Accuracy on true paths, per cent.
        false_acc: Accuracy on false paths, per cent.

    Returns:
        Per cent; 0 if both are 0, and not a number if either is.
    """
    total = true_acc + false_acc
    return 0.0 if total == 0 else 2 * true_acc * false_acc / total


def linearised_path_f1(correct: Sequence[float], is_true_path: Sequence[bool]) -> list[float]:
    """Splits path F1 into one term for each reply, so that a standard error can be had for it.

    Path F1 is not a mean over replies, but close to its value it is linear in the two accuracies t and f (delta
    method): dF/dt = 2f²/(t+f)², dF/df = 2t²/(t+f)². The terms' mean is path F1, and their standard error, clustered
    by pair, is that of path F1.

    Args:
        correct: 0 or 100 for each reply.
        is_true_path: For each reply, whether it belongs to a true path.

    Returns:
        One term for each reply, per cent; not a number if either kind of path is missing.
    """
    true_acc = mean(c for c, on_true in zip(correct, is_true_path, strict=True) if on_true)
    false_acc = mean(c for c, on_true in zip(correct, is_true_path, strict=True) if not on_true)
    total = true_acc + false_acc
    value = path_f1(true_acc, false_acc)
    if total == 0 or math.isnan(total):
        return [value] * len(correct)
    share = sum(is_true_path) / len(correct)
    true_slope, false_slope = 2 * false_acc**2 / total**2 / share, 2 * true_acc**2 / total**2 / (1 - share)
    return [
        value + (true_slope * (c - true_acc) if on_true else false_slope * (c - false_acc))
        for c, on_true in zip(correct, is_true_path, strict=True)
    ]


def _last(items: Iterable[_T]) -> _T | None:
    found = None
    for item in items:
        found = item
    return found


def _may_hold_label(text: str) -> bool:
    """False if there surely is none; a tenth of the time that a search for one takes."""
    return not text.isascii() or NO_OPTION in text or b"A0" in text.encode().translate(_KINDS)


def _boxes(text: str) -> Iterator[str]:
    # A regular expression would look for the closing brace anew from each of many unclosed boxes.
    opened = _BOX.search(text)
    while opened:
        end = text.find("}", opened.end())
        if end < 0:
            return
        yield text[opened.end() : end]
        opened = _BOX.search(text, end)


def _lenient(text: str, strict: Answer) -> Answer:
    if strict.source != "none" and _LABEL.fullmatch(strict.label):
        return strict
    starts = deque((opened.end() for opened in _BOX.finditer(text)), _MAX_BOXES)
    if starts:
        return _lenient_boxed(text, starts) or strict
    tail = _plain(text[-_TAIL:])
    if match := _last(_LOOSE_LABEL_IN_TEXT.finditer(tail)):
        return Answer(match[1] + match[2], "label")
    match = _WHOLE_REPLY.fullmatch(tail) if len(tail) <= _MAX_LABEL else None
    return Answer(match[1].upper() + match[2], "label") if match else strict


def _lenient_boxed(text: str, starts: Sequence[int]) -> Answer | None:
    """The answer of a reply with boxes; None if there is none, or if the box that counts names several labels."""
    boxes = [_balanced(text, start) for start in starts]
    *earlier, labels = map(_loose_labels, boxes)
    if not labels and (match := _last(_STATED.finditer(_plain(text[-_TAIL:])))):
        (label,) = _loose_labels(match[1])
        return Answer(label, "label")
    labels = labels or next(filter(None, reversed(earlier)), frozenset())
    if labels:
        label, *others = labels
        return None if others else Answer(label, "boxed")
    behind = text[starts[-1] + len(boxes[-1]) :]
    match = _last(_LOOSE_LABEL_IN_TEXT.finditer(_plain(behind[-_TAIL:])))
    return Answer(match[1] + match[2], "label") if match else None


def _balanced(text: str, start: int) -> str:
    """A box's content: up to the brace that closes it, or else as much as is looked at."""
    depth = 1
    content = text[start : start + _MAX_BOX]
    for position, char in enumerate(content):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return content[:position]
    return content


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_HYPHENS)


def _loose_labels(content: str) -> frozenset[str]:
    """The labels that a box names; `NO_OPTION` if it says that no option is right."""
    plain = _LATEX_SIGN.sub(" # ", _LATEX_FORM.sub("", _plain(content))).translate(_WRAPPING)
    if _NO_OPTION_PHRASE.fullmatch(" ".join(plain.split()).strip(" .").lower()):
        return frozenset({NO_OPTION})
    compact = re.sub(r"\s*([-_])\s*|(?<=[A-Za-z])\s+(?=[0-9])", r"\1", plain)
    return frozenset(letter.upper() + number for letter, number in _LOOSE_LABEL.findall(compact))
