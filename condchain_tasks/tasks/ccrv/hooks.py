"""What the harness calls for a CCRV-Bench task; the work is done by data, prompts, judging and scorers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from condchain_tasks.data.ccrv_tasks import Subset
from condchain_tasks.data.images import FileImage
from condchain_tasks.prompts import PromptError, fingerprint, render
from condchain_tasks.scorers.ccrv_tables import Item, Pair, paired, tabulate
from condchain_tasks.scorers.replies import Reply, read_reply
from condchain_tasks.task_stages import StagedScoring
from condchain_tasks.tasks.aggregation import share
from condchain_tasks.tasks.ccrv import tables, verdicts
from condchain_tasks.tasks.ccrv.samples import make_record, metrics, paired_metrics
from condchain_tasks.tasks.metadata import task_metadata

_SAMPLE = "What keeps the lamp from falling?"


def __getattr__(name: str) -> dict[str, Any]:
    return task_metadata(__name__, name, _about)


def _about(task: str) -> dict[str, Any]:
    verdicts.check_data(task)
    return {"prompts": [_checked(prompt) for prompt in _prompts_of(task)], "judge": verdicts.describe_judge()}


def doc_to_text(doc: dict[str, Any]) -> str:
    """Both turns in one text, for models that take no system turn."""
    return f"{_system(doc)}\n\n{_user(doc)}"


def doc_to_visual(doc: dict[str, Any]) -> list[FileImage]:
    """The picture, undecoded; none for text-only settings."""
    return [FileImage(path) for path in doc["images"]]


def doc_to_messages(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """A system turn, and a user turn with the text and then the picture."""
    content: list[dict[str, Any]] = [{"type": "text", "text": _user(doc)}]
    content += [{"type": "image", "url": image} for image in doc_to_visual(doc)]
    return [
        {"role": "system", "content": [{"type": "text", "text": _system(doc)}]},
        {"role": "user", "content": content},
    ]


def _record(doc: dict[str, Any], results: Sequence[Reply | str]) -> dict[str, Any]:
    reply = read_reply(results[0])
    return make_record(doc, reply, verdicts.on(doc, reply))


def _score(doc: dict[str, Any], results: Sequence[Reply | str]) -> dict[str, dict[str, Any]]:
    return metrics(_record(doc, results))


def _score_paired(doc: dict[str, Any], results: Sequence[Reply | str]) -> dict[str, dict[str, Any]]:
    return paired_metrics(_record(doc, results))


process_results = StagedScoring(verdicts.check_judge, verdicts.ask_all, _score)
"""Scores one item of a cell. See `samples.make_record` for what stands in the sample log under `dcr`."""

process_results_paired = StagedScoring(verdicts.check_judge, verdicts.ask_all, _score_paired)
"""The same for all items together; a baseline item's record stands under `dcr_base`."""


def missing_share(items: list[dict[str, Any]]) -> float | None:
    """Items without a verdict that they need, per cent, with a warning that cannot be overlooked."""
    missing = sum(item["score"] > 0 for item in items)
    if missing and verdicts.judging():
        tables.warn_of_missing(missing, len(items))
    if missing and not verdicts.judging() and verdicts.is_to_be_told():
        tables.say_that_judging_is_off()
    if verdicts.is_simulated() and verdicts.is_to_be_told():
        tables.warn_of_simulation()
    return share(items)


def cdi(items: list[dict[str, Any]]) -> float | None:
    """Mean drop of DCR from the baseline item to its constrained forms, points.

    The harness takes its standard errors from the same list afterwards: the entries of constrained items get their
    drop as their score, and those of baseline items have none.
    """
    return _mean_drop(items, {(pair.item.key, pair.item.y): pair.cdi for pair in _pairs(items)})


def ecdi(items: list[dict[str, Any]]) -> float | None:
    """Mean drop from the baseline's DCR to the constrained form's effective DCR, points; see `cdi`."""
    return _mean_drop(items, {(pair.item.key, pair.item.y): pair.ecdi for pair in _pairs(items)})


def cells(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All tables of the paper, one dict a row (see `scorers.ccrv_tables.Row`); the X×Y matrices are printed."""
    rows = tabulate(_to_items(items))
    tables.print_matrices(rows, len(items))
    return [asdict(row) for row in rows]


def _to_items(briefs: list[dict[str, Any]]) -> list[Item]:
    return [Item.from_record(brief | {"score": brief["dcr"]}) for brief in briefs]


def _pairs(briefs: list[dict[str, Any]]) -> list[Pair]:
    return paired(_to_items(briefs))


def _mean_drop(items: list[dict[str, Any]], drops: dict[tuple[str, str], float | None]) -> float | None:
    values = [(item["image"], drops.get((item["key"], item["y"]))) for item in items]
    items[:] = [{"image": image} if drop is None else {"image": image, "score": drop} for image, drop in values]
    return share(items)


def _system(doc: dict[str, Any]) -> str:
    return render(_system_prompt(doc["y"] == "base"))


def _user(doc: dict[str, Any]) -> str:
    name = _user_prompt(doc["y"] == "base", doc["setting"])
    known = {"known": _known(doc)} if name == "ccrv_oracle" else {}
    return render(name, question=doc["question"], **known)


def _known(doc: dict[str, Any]) -> str:
    """What an oracle-informed control tells: for Y1 the adapted answer, which obeys it; else baseline and reasons."""
    return str(doc["adapted"]) if doc["y"] == "Y1" else f"{doc['reference']}\n{doc['rationale']}".strip()


def _system_prompt(baseline: bool) -> str:
    return "ccrv_baseline_system" if baseline else "ccrv_constrained_system"


def _user_prompt(baseline: bool, setting: str) -> str:
    if setting in ("cot_a", "cot_b"):
        return f"ccrv_{setting}"
    if setting in ("oracle", "oracle_textonly"):
        return "ccrv_oracle"
    return "ccrv_baseline" if baseline else "ccrv_constrained"


def _prompts_of(task: str) -> list[str]:
    subset = Subset.of(task)
    kinds = sorted({y == "base" for y in subset.ys}, reverse=True)
    return [_system_prompt(baseline) for baseline in kinds] + [
        _user_prompt(baseline, subset.setting) for baseline in kinds
    ]


def _checked(name: str) -> dict[str, str]:
    """A prompt's fingerprint, once it has been seen to work."""
    if name.endswith("_system"):
        render(name)
    else:
        known = {"known": ""} if name == "ccrv_oracle" else {}
        if _SAMPLE not in render(name, question=_SAMPLE, **known):
            raise PromptError(f"The prompt {name}.j2 does not show the question: it needs {{{{ question }}}}.")
    return fingerprint(name)
