"""What the harness calls for a V-REX task; the work is done by data, prompts, rounds and scorers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loguru import logger

from condchain_tasks import rounds
from condchain_tasks.data.images import FileImage
from condchain_tasks.data.vrex_tasks import Variant
from condchain_tasks.prompts import fingerprint
from condchain_tasks.scorers.replies import Reply
from condchain_tasks.scorers.vrex_metrics import CATEGORIES, linearised_macro_average
from condchain_tasks.tasks.aggregation import share
from condchain_tasks.tasks.metadata import task_metadata
from condchain_tasks.tasks.rounds_task import RoundsTask
from condchain_tasks.tasks.vrex import chains
from condchain_tasks.tasks.vrex import tables as _tables
from condchain_tasks.tasks.vrex.samples import make_record


def __getattr__(name: str) -> dict[str, Any]:
    return task_metadata(__name__, name, _about)


def _about(task: str) -> dict[str, Any]:
    names = chains.PROMPTS[Variant.of(task).mode]
    for prompt in names:
        chains.check_prompt(prompt)
    return {"prompts": [fingerprint(prompt) for prompt in names]}


class VrexTask(RoundsTask):
    """Planning or following: a conversation a sample."""

    def chain(self, doc: dict[str, Any]) -> rounds.Chain:
        """The conversation about a sample."""
        return chains.chain_of(doc)


def doc_to_text(doc: dict[str, Any]) -> str:
    """The turn that is to be answered, after the history that the row comes with."""
    return rounds.text(chains.chain_of(doc), chains.gold_replies(doc))


def doc_to_visual(doc: dict[str, Any]) -> list[FileImage]:
    """The pictures, undecoded."""
    return chains.visuals(doc)


def doc_to_messages(doc: dict[str, Any]) -> list[rounds.Message]:
    """The same as turns."""
    return rounds.messages(chains.chain_of(doc), chains.gold_replies(doc))


def doc_to_target(doc: dict[str, Any]) -> str:
    """The right option's letter, of the step that is asked or of the final question."""
    return chains.letter(doc["steps"][doc["step"] - 1]["gold"])


def process_results(doc: dict[str, Any], results: Sequence[Reply | str]) -> dict[str, dict[str, Any]]:
    """Scores the final question, asked alone. See `samples.make_record` for what `final_acc` carries."""
    record = make_record(doc, results)
    return {
        "final_acc": record,
        "final_acc_lenient": _item(record, record["score_lenient"]),
        **_health(record),
    }


def process_rounds(doc: dict[str, Any], results: Sequence[Reply | str]) -> dict[str, dict[str, Any]]:
    """Scores a conversation. Every metric has an entry for every sample; some of them without a score."""
    record = make_record(doc, results)
    own = {f"ability_{name}": _item(record, None) for name in CATEGORIES}
    own[f"ability_{record['category']}"] = _item(record, record["ability"])
    return {
        "ability": _item(record, record["ability"]),
        **own,
        "ability_lenient": _item(record, record["ability_lenient"]),
        "recovery": _item(record, record["score"] if record["wrong_steps"] else None),
        "paired_tables": record,
        **process_results(doc, results),
    }


def process_step(doc: dict[str, Any], results: Sequence[Reply | str]) -> dict[str, dict[str, Any]]:
    """Scores one step after a perfect history."""
    record = make_record(doc, results)
    return {
        "step_acc": record,
        "step_acc_lenient": _item(record, record["score_lenient"]),
        "paired_tables": record,
        **_health(record),
    }


def macro_average(items: list[dict[str, Any]]) -> float | None:
    """Mean of the categories' means, per cent.

    The harness takes its standard errors from the same list afterwards: its entries are replaced by the samples'
    linearised shares in the average.
    """
    scored = [item for item in items if "score" in item]
    missing = [name for name in CATEGORIES if name not in {item["category"] for item in scored}]
    if scored and missing:
        logger.warning("No samples of {}: the average over categories is not the published figure.", ", ".join(missing))
    terms = iter(linearised_macro_average([i["score"] for i in scored], [i["category"] for i in scored]))
    items[:] = [
        {"id": item["id"], "category": item["category"]} | ({"score": next(terms)} if "score" in item else {})
        for item in items
    ]
    return share(items)


def tables(items: list[dict[str, Any]]) -> dict[str, Any]:
    """Accuracy by category, by number of wrong steps, by chain length and by step; printed, and kept in the results."""
    return _kept(items, ("category", "wrong_steps", "length", "step"))


def step_tables(items: list[dict[str, Any]]) -> dict[str, Any]:
    """The same for teacher-forced steps: by category, by chain length and by step."""
    return _kept(items, ("category", "length", "step"))


def _kept(items: list[dict[str, Any]], kinds: tuple[str, ...]) -> dict[str, Any]:
    found = _tables.tabulate(items, kinds)
    _tables.print_tables(found, items)
    items[:] = [{"id": item["id"]} for item in items]  # a table has no standard error of its own
    return found


def _health(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        "compliance": _item(record, record["compliant"]),
        "no_answer": _item(record, 100.0 * (record["no_answer"] and not record["failed"])),
        "failed": _item(record, 100.0 * record["failed"]) | {"failure": record["failure"]},
        "refused": _item(record, 100.0 * record["refused"]),
    }


def _item(record: dict[str, Any], score: float | None) -> dict[str, Any]:
    item = {"id": record["id"], "category": record["category"]}
    return item if score is None else {**item, "score": score}
