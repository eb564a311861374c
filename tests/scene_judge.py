"""A judge for the embedded CCRV-Bench that computes its verdicts from the scenes' facts, for chat_server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chat_server import Reply

from condchain_tasks.data.ccrv import read
from condchain_tasks.data.sources import Source

_PART = re.compile(r"<<<BEGIN (\w+) ([0-9a-f]+)>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
_ITEM = ("constraint_id", "constrained_question", "adapted_answer", "question", "reference_answer")
_RUBRIC = ("rubric_l1", "rubric_l2", "rubric_l3")


def scene_judge(root: Path) -> Callable[[dict[str, Any]], Reply]:
    """From a request's body to a verdict.

    Args:
        root: The dataset's folder, with `facts/ccrv.json`.
    """
    facts = json.loads((root / "facts" / "ccrv.json").read_text(encoding="utf-8"))["items"]
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
        if "rubric_l1" not in parts:
            accepts = any(_occurs(phrase, parts["reply"]) for phrase in item["accepts"])
            denies = any(_occurs(phrase, parts["reply"]) for phrase in item["denies"])
            return Reply(json.dumps({"reasoning": "computed", "csr": int(denies and not accepts)}))
        layers = {f"r{layer}": int(_holds(item[f"l{layer}"], parts["reply"])) for layer in (1, 2, 3)}
        return Reply(json.dumps({"reasoning": "computed", **layers}))

    return answer


def _holds(groups: list[list[str]], reply: str) -> bool:
    return all(any(_occurs(phrase, reply) for phrase in group) for group in groups)


def _occurs(phrase: str, reply: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", reply.lower()) is not None
