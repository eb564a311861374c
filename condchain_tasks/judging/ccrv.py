"""What a judge is asked about a reply in CCRV-Bench.

A reply under judgement, like everything else that comes from a file, is data. It stands between two lines that name
it and carry a number, which is computed from all that stands between such lines: whoever writes a text cannot know
the number, so no text ends its own part or begins another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from condchain_tasks.judging.verdicts import Kind
from condchain_tasks.prompts import PromptError, fingerprint, render
from condchain_tasks.scorers.replies import encodable, is_failed

BASELINE = "ccrv_judge_baseline"
CONSTRAINED = "ccrv_judge_constrained"
PREMISE = "ccrv_judge_y3"

MAX_CHARACTERS = 20_000
"""Of any one part of a prompt."""

_RUBRIC = {"rubric_l1": "rubric_l1", "rubric_l2": "rubric_l2", "rubric_l3": "rubric_l3"}
_QUESTIONS = {
    "question": "base_question",
    "reference_answer": "reference",
    "rationale": "rationale",
    "constraint_id": "y",
    "constraint_spec": "spec",
    "constrained_question": "question",
    "adapted_answer": "adapted",
}
# From the parts of each prompt to the row's fields that fill them.
_PARTS: dict[str, dict[str, str]] = {
    BASELINE: _RUBRIC,
    CONSTRAINED: _QUESTIONS | _RUBRIC,
    PREMISE: _QUESTIONS,
}


@dataclass(frozen=True)
class Ask:
    """One thing to ask a judge.

    Attributes:
        kind: The verdict that is wanted.
        messages: The conversation, in the form of the chat API.
        key: SHA-256 of everything that decides the verdict but the judge itself, 64 hexadecimal digits.
    """

    kind: Kind
    messages: tuple[dict[str, str], ...]
    key: str


def asks(row: Mapping[str, Any], reply: str) -> list[Ask]:
    """What is to be asked about one reply.

    Args:
        row: The item: `y`, `base_question`, `reference`, `rationale`, `spec`, `question`, `adapted`, and
            `rubric_l1` to `rubric_l3`.
        reply: What the model wrote.

    Returns:
        Nothing about a reply that failed, the verdict on its causal content about every other, and about one to a
        false premise (Y3) the verdict on the constraint as well.

    Raises:
        PromptError: A template cannot be used, or leaves out the reply.
    """
    if is_failed(reply):
        return []
    if row["y"] == "base":
        return [_ask("dcr", BASELINE, row, reply)]
    about_content = _ask("dcr", CONSTRAINED, row, reply)
    return [about_content, _ask("csr", PREMISE, row, reply)] if row["y"] == "Y3" else [about_content]


def prompt_fingerprints() -> list[dict[str, str]]:
    """What identifies the judge's prompts in a result.

    Raises:
        PromptError: A template cannot be read.
    """
    return [fingerprint(name) for name in _PARTS]


def fenced(parts: Mapping[str, str]) -> dict[str, str]:
    """Puts each text between two lines of its own that no text can imitate.

    Args:
        parts: Texts by name. Of a text beyond 20,000 characters, the first and the last 10,000 are kept, with a line
            between them that says how many were left out.

    Returns:
        The same names with the fenced texts, and `boundary`, the number in their fences (32 hexadecimal digits).
    """
    texts = {name: _bounded(encodable(text)) for name, text in parts.items()}
    boundary = _boundary(texts.values())
    return {
        name: f"<<<BEGIN {name} {boundary}>>>\n{text}\n<<<END {name} {boundary}>>>" for name, text in texts.items()
    } | {"boundary": boundary}


def _ask(kind: Kind, template: str, row: Mapping[str, Any], reply: str) -> Ask:
    values = fenced({part: row[field] for part, field in _PARTS[template].items()} | {"reply": reply})
    prompt = render(template, **values)
    if prompt.count(values["reply"]) != 1:
        raise PromptError(f"The template {template}.j2 must show {{{{ reply }}}} once, as it is.")
    messages = ({"role": "user", "content": prompt},)
    decisive = json.dumps([kind, messages, fingerprint(template)["sha256"]])
    return Ask(kind, messages, hashlib.sha256(decisive.encode()).hexdigest())


def _boundary(texts: Iterable[str]) -> str:
    material = json.dumps(list(texts))
    boundary = _digest(material)
    while boundary in material:
        boundary = _digest(boundary + material)
    return boundary


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _bounded(text: str) -> str:
    left_out = len(text) - MAX_CHARACTERS
    if left_out <= 0:
        return text
    half = MAX_CHARACTERS // 2
    return f"{text[:half]}\n[{left_out} characters are left out here]\n{text[-half:]}"
