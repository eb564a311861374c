"""Aggregations that several benchmarks' tasks share.

A sample's value of a metric is a dict; its `score`, per cent, is absent where there is none to average.
"""

from __future__ import annotations

from typing import Any

from loguru import logger

from condchain_tasks.scorers.replies import describe_failures
from condchain_tasks.scorers.statistics import mean


def share(items: list[dict[str, Any]]) -> float | None:
    """Mean score, per cent; None, which lmms-eval prints as N/A, if there is none."""
    scores = [item["score"] for item in items if "score" in item]
    return mean(scores) if scores else None


def macro_mean(figures: list[float | None], sizes: list[int], weight_by_size: bool) -> float | None:
    """Mean of a group's tasks, each with the same weight; None if one of them has no figure.

    lmms-eval's own mean fails on the missing figure, and the run's results are lost.

    Args:
        figures: One a task.
        sizes: The tasks' numbers of samples; not needed.
        weight_by_size: False.
    """
    known = [figure for figure in figures if figure is not None]
    return mean(known) if known and len(known) == len(figures) else None


def failed_share(items: list[dict[str, Any]]) -> float | None:
    """Failed requests, per cent, with a warning that names their kinds if there are any."""
    failed = sum(item["score"] > 0 for item in items)
    if failed:
        kinds = describe_failures(
            item["failure"] for item in items
        )  # unknown of replies that an earlier version scored
        logger.warning(
            "{} of {} requests failed{}. They count as wrong: these figures are not comparable with any other. Run "
            "again with --use_cache to send only what is missing.",
            failed,
            len(items),
            f" ({kinds})" if kinds else "",
        )
    return share(items)
