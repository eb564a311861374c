"""A judge's verdict: its form, and how it is read from what a judge writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from condchain_tasks.scorers.replies import encodable

Kind = Literal["dcr", "csr"]

MAX_REASONING = 2_000
_MAX_TEXT = 50_000
_MAX_OBJECTS = 64

# What a judge thinks, at the head of what it writes; it may end before it comes to a verdict.
_THOUGHTS = re.compile(r"\s*<(think|thinking|analysis)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHTS = "</think>"
# A brace that begins an object, well written or not; others are part of a sentence.
_BEGINS_OBJECT = re.compile(r"""\{\s*(["'`“]|reasoning\b|r[123]\b|csr\b)""", re.IGNORECASE)


class MalformedVerdict(ValueError):
    """What a judge wrote holds no verdict, or more than one; the message says what is wrong, for the judge to read."""


@dataclass(frozen=True)
class Missing:
    """A verdict that could not be had, and why."""

    reason: str


def _binary(value: Any) -> int:
    if (isinstance(value, int) and value in (0, 1)) or value in ("0", "1"):
        return int(value)
    raise ValueError("must be 0 or 1")


Binary = Annotated[Literal[0, 1], BeforeValidator(_binary)]
Reasoning = Annotated[str, AfterValidator(lambda text: encodable(text)[:MAX_REASONING])]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)

    reasoning: Reasoning


class DcrVerdict(_Frozen):
    """Whether each layer holds by itself: entities, interaction, causal outcome (not yet cascaded)."""

    r1: Binary
    r2: Binary
    r3: Binary


class CsrVerdict(_Frozen):
    """Whether the constraint is satisfied."""

    csr: Binary


Verdict = DcrVerdict | CsrVerdict


@dataclass(frozen=True)
class Answer:
    """How an ask ended.

    Attributes:
        verdict: The verdict, or why there is none.
        calls: Requests to the judge that it took, with retries and re-asks; 0 if none was sent.
    """

    verdict: Verdict | Missing
    calls: int

    @property
    def is_cached(self) -> bool:
        """Whether the verdict was there already."""
        return not self.calls and not isinstance(self.verdict, Missing)


MODELS: dict[Kind, type[DcrVerdict] | type[CsrVerdict]] = {"dcr": DcrVerdict, "csr": CsrVerdict}


def parse_verdict(text: str, kind: Kind, material: str = "") -> Verdict:
    """Reads a verdict: a JSON object, alone, in a Markdown fence, or with text around it, after the judge's thoughts.

    A judge may quote the text that it judges, and that text may hold the likes of a verdict. So only objects that
    stand in no other braces count; none counts that stands word for word in the material; and if several are left,
    they must agree. `true` and `false`, `"0"` and `"1"` are read as 0 and 1, keys other than the verdict's are
    ignored, and a long reasoning is cut to 2,000 characters.

    Thoughts are what stands between `<think>` and `</think>` (or `thinking`, `analysis`) before anything else, and what
    stands before a `</think>` that the material does not hold.

    Args:
        text: What the judge wrote.
        kind: Which verdict it was asked for.
        material: What the judge was shown.

    Returns:
        The verdict; of several that agree, the last.

    Raises:
        MalformedVerdict: There is no such object, or the objects disagree.
    """
    if len(text) > _MAX_TEXT:
        raise MalformedVerdict(f"it has {len(text)} characters; a verdict has at most {_MAX_TEXT}")
    found: list[Verdict] = []
    fault = "it holds no JSON object"
    for written, value in _objects(_without_thoughts(text, material)):
        if written in material:
            fault = "its JSON object is a quotation from the prompt"
            continue
        try:
            found.append(MODELS[kind].model_validate(value))
        except ValidationError as error:
            fault = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False))
    if not found:
        raise MalformedVerdict(fault)
    if len({verdict.model_copy(update={"reasoning": ""}) for verdict in found}) > 1:
        raise MalformedVerdict("it holds several verdicts that disagree")
    return found[-1]


def _without_thoughts(text: str, material: str) -> str:
    while thoughts := _THOUGHTS.match(text):
        text = text[thoughts.end() :]
    # Some servers keep the first tag to themselves. But whoever quotes a reply that holds the last is not yet done.
    return text if _END_OF_THOUGHTS in material else text.rpartition(_END_OF_THOUGHTS)[2]


def _objects(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """JSON objects in a text with the words that they stand in; never one from inside another pair of braces."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats, strict=False)  # with line breaks in strings
    closings = _closings(text)
    start = text.find("{")
    for _ in range(_MAX_OBJECTS):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
            yield text[start:end], value
        except (ValueError, RecursionError):
            # An object that was cut short goes on to the end; a brace in a sentence is a brace.
            end = closings.get(start) or (len(text) if _BEGINS_OBJECT.match(text, start) else start + 1)
        start = text.find("{", end)
    if start >= 0:  # what was not read might disagree
        raise MalformedVerdict(f"it has more than {_MAX_OBJECTS} pairs of braces")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def _closings(text: str) -> dict[int, int]:
    """From each brace that is closed to behind the one that closes it."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for brace in re.finditer("[{}]", text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            found[opened.pop()] = brace.end()
    return found
