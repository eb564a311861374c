"""A judge for drawn scenes that speaks the chat API, for chat_server: `judging.rules` behind the prompts of a model."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chat_server import Reply

from condchain_tasks.data.ccrv import read
from condchain_tasks.data.sources import Source
from condchain_tasks.judging.rules import content, premise
from condchain_tasks.synth.causal_records import FACTS, load_facts

_PART = re.compile(r"<<<BEGIN (\w+) ([0-9a-f]+)>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
_ITEM = ("constraint_id", "constrained_question", "adapted_answer", "question", "reference_answer")
_RUBRIC = ("rubric_l1", "rubric_l2", "rubric_l3")


def scene_judge(root: Path) -> Callable[[dict[str, Any]], Reply]:
    """From a request's body to a verdict.

    Args:
        root: The dataset's folder, with `facts/ccrv.json`.
    """
    facts = load_facts((root / FACTS).read_bytes()).items
    rows = read(Source(root, "folder")).rows
    by_rubric = {tuple(getattr(row, name) for name in _RUBRIC): facts[f"{row.key}|base"] for row in rows}
    by_question = {
        (row.y, row.question, row.adapted, row.base_question, row.reference): facts[f"{row.key}|{row.y}"]
        for row in rows
    }

    def answer(request: dict[str, Any]) -> Reply:
        prompt = request["messages"][0]["content"]
        parts = {name: text for name, _, text in _PART.findall(prompt)}
        if "reply" not in parts:
            return Reply('{"reasoning": "", "csr": 1}')  # the check before a run
        if "constrained_question" in parts:
            item = by_question[tuple(parts[name] for name in _ITEM)]
        else:
            item = by_rubric[tuple(parts[name] for name in _RUBRIC)]
        judge = content if "rubric_l1" in parts else premise
        return Reply(judge(item, parts["reply"]).model_dump_json())

    return answer
