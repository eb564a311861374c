"""From the replies of one conversation to what stands in the sample log: each step, how it was read, what was right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from condchain_tasks.scorers.replies import Reply, failed, read_reply
from condchain_tasks.scorers.vrex import ability, is_compliant, parse_choice_extended, parse_choice_lenient
from condchain_tasks.tasks.states import state
from condchain_tasks.tasks.vrex.chains import index_of

_NOT_LOGGED = ("images", "steps")
_MAX_REPLY = 2_000  # the log holds the whole replies beside
_NOT_ASKED = Reply("")


def make_record(doc: Mapping[str, Any], replies: Sequence[Reply | str]) -> dict[str, Any]:
    """Scores one conversation, or one teacher-forced step.

    Args:
        doc: The row (see `data.vrex.Row`).
        replies: One a step that was asked; a conversation whose request failed has fewer, the failed one last.

    Returns:
        The row without its pictures, `steps` with options, choice, rule, gold and reply of each step that was to be
        asked, and: `score` (100 or 0: the final question, or the one step), `score_lenient`, `ability`,
        `ability_lenient` (per cent; None without intermediate steps), `wrong_steps`, `compliant` (per cent of the
        steps), `no_answer` (whether some reply could not be read), and what `states.state` says. A step that was not
        reached is wrong.
    """
    asked = doc["steps"][doc["step"] - 1 : doc["step"]] if doc["step"] else doc["steps"]
    said = [read_reply(reply) for reply in replies[: len(asked)]]
    if len(said) < len(asked) and not any(reply.failure for reply in said):
        said.append(failed("error", "The conversation ended early."))
    steps = [_read(step, said[number] if number < len(said) else _NOT_ASKED) for number, step in enumerate(asked)]
    *between, last = steps
    record = {key: value for key, value in doc.items() if key not in _NOT_LOGGED}
    return record | {
        "steps": steps,
        "score": 100.0 * _is_right(last, "choice"),
        "score_lenient": 100.0 * _is_right(last, "choice_lenient"),
        "ability": _ability(between, "choice"),
        "ability_lenient": _ability(between, "choice_lenient"),
        "wrong_steps": sum(not _is_right(step, "choice") for step in between) if between else None,
        "compliant": 100.0 * sum(step["compliant"] for step in steps) / len(steps),
        "no_answer": any(step["choice"] is None for step in steps),
        **state(*said),
    }


def _read(step: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    texts = [option["text"] for option in step["options"]]
    strict, lenient = parse_choice_extended(reply.text, texts), parse_choice_lenient(reply.answer, texts)
    return {
        "question": step["question"],
        "options": texts,
        "gold": step["gold"],
        "choice": index_of(strict.letter, len(texts)),
        "rule": strict.rule,
        "choice_lenient": index_of(lenient.letter, len(texts)),
        "rule_lenient": lenient.rule,
        "compliant": is_compliant(reply.text, len(texts)),
        "reply": reply.text[:_MAX_REPLY],
    }


def _is_right(step: Mapping[str, Any], reading: str) -> bool:
    return bool(step[reading] == step["gold"])


def _ability(steps: Sequence[Mapping[str, Any]], reading: str) -> float | None:
    if not steps:
        return None
    return 100.0 * ability([step[reading] for step in steps], [step["gold"] for step in steps])
