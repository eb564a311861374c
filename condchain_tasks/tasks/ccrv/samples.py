"""From one reply and its verdicts to what stands in the sample log: rules applied, layers cascaded, reasons kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from condchain_tasks.data.ccrv import Row
from condchain_tasks.judging.verdicts import Answer, CsrVerdict, DcrVerdict, Missing, Verdict
from condchain_tasks.scorers.ccrv import (
    Check,
    cascade,
    check_grounding,
    check_minimalist,
    check_symbolization,
    dcr,
)
from condchain_tasks.scorers.replies import Reply, read_reply
from condchain_tasks.tasks.states import state

_LOGGED = tuple(field.name for field in fields(Row) if field.name != "images")


def make_record(doc: Mapping[str, Any], reply: Reply | str, answers: Mapping[str, Answer]) -> dict[str, Any]:
    """Scores one reply.

    Args:
        doc: The row, or a record of an earlier run (see `data.ccrv.Row`).
        reply: The model's reply. Its reasoning is not looked at; without an answer beside it everything is 0.
        answers: The judge's, by kind: "dcr", and for Y3 "csr"; empty for a reply that failed or holds no answer.

    Returns:
        The row without its pictures, and: `r1`..`r3` (the judge's binaries), `l1`..`l3` (cascaded), `score` (DCR in
        per cent; absent if missing), `dcr_reasoning`, `csr`, `csr_reason`, `csr_reading`, `csr_raw_pixel`,
        `no_answer`, what `states.state` says, `missing` (the kinds of verdicts that could not be had), `cached` (those
        that were there already), `judge_calls` (requests to the judge that the others took, with retries and re-asks).
    """
    record: dict[str, Any] = {name: doc[name] for name in _LOGGED}  # a record of an earlier run has its scores beside
    reply = read_reply(reply)
    record |= {
        **state(reply),
        "no_answer": reply.failure is None and not any(character.isalnum() for character in reply.answer),
    }
    return with_verdicts(record | _by_rule(doc, reply.answer, _why_nothing(record, reply.answer)), answers)


def with_verdicts(record: Mapping[str, Any], answers: Mapping[str, Answer]) -> dict[str, Any]:
    """Puts verdicts into a record. What does not hang on a judge stays as it is: whether the request failed above all.

    Args:
        record: What stands in it by rule (see `make_record`), with or without earlier verdicts, which are replaced.
        answers: The judge's, by kind; not looked at if the record says that the request failed. If there are none,
            nothing was there to be judged.

    Returns:
        A new record.
    """
    judged = {name: value for name, value in record.items() if name != "score"}
    if record["failed"] or not answers:
        why = f"{_why_nothing(record, '')} Nothing was judged."
        return judged | _NO_DCR | {"dcr_reasoning": why, "missing": [], "cached": [], "judge_calls": 0}
    judged |= {
        "missing": sorted(kind for kind, answer in answers.items() if isinstance(answer.verdict, Missing)),
        "cached": sorted(kind for kind, answer in answers.items() if answer.is_cached),
        "judge_calls": sum(answer.calls for answer in answers.values()),
    }
    return judged | _dcr(answers["dcr"].verdict) | (_premise(answers["csr"].verdict) if "csr" in answers else {})


def metrics(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What a record says about each metric of its cell, with the picture that standard errors are clustered by."""
    values = {f"l{layer}": _item(record, record[f"l{layer}"]) for layer in (1, 2, 3)}
    values["dcr"] = record
    if record["y"] != "base":
        values["csr"] = _item(record, record["csr"])
        values["edcr"] = _item(record, _effective(record))
    if record["y"] == "Y2":
        values["csr_raw_pixel"] = _item(record, record["csr_raw_pixel"])
    return values | {
        "no_answer": _item(record, record["no_answer"]),
        "failed": _item(record, record["failed"]) | {"failure": record.get("failure")},
        "refused": _item(record, record.get("refused", False)),
        "missing": _item(record, bool(record["missing"])),
    }


def paired_metrics(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The same for all cells together.

    Every metric has an entry for every record, since lmms-eval reports the length of one of them as the number of
    samples; where a record says nothing about a metric, the entry has no score. Causal quality under constraints is
    told apart from that of the baseline, whose records stand under `dcr_base`.
    """
    nothing = dict.fromkeys(_CONSTRAINED, _item(record, None)) | {"dcr_base": _item(record, None)}
    values = nothing | metrics(record)
    if record["y"] == "base":
        values |= dict.fromkeys(_CONSTRAINED, _item(record, None)) | {"dcr_base": record}
    brief = {name: record[name] for name in _BRIEF} | {"dcr": record.get("score")}
    return values | dict.fromkeys(("cdi", "ecdi", "paired_cells"), brief)


def scores_of(task: str, record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the task's `process_results` gives for a sample with this record."""
    return paired_metrics(record) if task.removesuffix("_mini") == "ccrv" else metrics(record)


def record_of(sample: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record in a line of the sample log; None if the line is none of CCRV-Bench's."""
    for metric in ("dcr", "dcr_base"):
        if isinstance(record := sample.get(metric), dict) and "key" in record:
            return record
    return None


_CONSTRAINED = ("l1", "l2", "l3", "dcr", "csr", "edcr", "csr_raw_pixel")
_BRIEF = ("key", "image", "image_id", "x", "y", "l1", "l2", "l3", "csr", "csr_raw_pixel", "failed")


def _item(record: Mapping[str, Any], value: float | None) -> dict[str, Any]:
    """A metric's value of one sample: 0 to 1 in, per cent out; without a score if there is none."""
    return {"image": record["image"]} if value is None else {"image": record["image"], "score": 100.0 * value}


def _effective(record: Mapping[str, Any]) -> float | None:
    if record["csr"] is None or "score" not in record:
        return None
    return float(record["csr"] * record["score"] / 100)


_NO_DCR: dict[str, Any] = dict.fromkeys(("r1", "r2", "r3", "l1", "l2", "l3"), 0) | {"score": 0.0}


def _dcr(verdict: Verdict | Missing) -> dict[str, Any]:
    if not isinstance(verdict, DcrVerdict):
        nothing = dict.fromkeys(("r1", "r2", "r3", "l1", "l2", "l3"))
        return {**nothing, "dcr_reasoning": verdict.reason if isinstance(verdict, Missing) else ""}
    l1, l2, l3 = cascade(verdict.r1, verdict.r2, verdict.r3)
    return {
        "r1": verdict.r1,
        "r2": verdict.r2,
        "r3": verdict.r3,
        "l1": l1,
        "l2": l2,
        "l3": l3,
        "score": 100.0 * dcr(l1, l2, l3),
        "dcr_reasoning": verdict.reasoning,
    }


def _premise(verdict: Verdict | Missing) -> dict[str, Any]:
    if isinstance(verdict, CsrVerdict):
        return {"csr": verdict.csr, "csr_reason": verdict.reasoning}
    return {"csr": None, "csr_reason": verdict.reason if isinstance(verdict, Missing) else ""}


def _why_nothing(record: Mapping[str, Any], answer: str) -> str:
    """Why there is no answer to score; "" if there is one."""
    if record["failed"]:
        return "The request failed."
    if record.get("truncated"):  # unknown of an earlier version's
        return "The reply was cut off within its reasoning."
    return "" if answer else "The reply is nothing but reasoning."


def _by_rule(doc: Mapping[str, Any], answer: str, nothing: str) -> dict[str, Any]:
    """What is known of the constraint without a judge; nothing of Y3's, unless there is no answer."""
    found: dict[str, Any] = {"csr": None, "csr_reason": "", "csr_reading": None, "csr_raw_pixel": None}
    if doc["y"] == "base":
        return found
    if nothing:
        raw = 0 if doc["y"] == "Y2" else None
        return found | {"csr": 0, "csr_reason": nothing, "csr_raw_pixel": raw}
    if doc["y"] == "Y3":
        return found
    if doc["y"] == "Y2":
        grounding = check_grounding(answer, doc["bbox_xyxy"], (doc["width"], doc["height"]), doc["margin"])
        return {
            "csr": int(grounding.passed),
            "csr_reason": grounding.reason,
            "csr_reading": grounding.reading,
            "csr_raw_pixel": int(grounding.passed_raw_pixel),
        }
    check: Check = (
        check_symbolization(answer, doc["forbidden_terms"])
        if doc["y"] == "Y1"
        else check_minimalist(answer, doc["max_words"], doc["single_line"], doc["forbid_punctuation"])
    )
    return found | {"csr": int(check.passed), "csr_reason": check.reason}
