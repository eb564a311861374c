"""Verdicts on replies about drawn scenes, computed from the scenes' facts: no model is asked.

They prove a set-up and show what a perfect judge of these scenes would say. They are simulated, and marked as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from condchain_tasks.data.errors import DataError
from condchain_tasks.judging.verdicts import Answer, CsrVerdict, DcrVerdict, Missing, Verdict
from condchain_tasks.scorers.replies import is_failed
from condchain_tasks.synth.causal_records import FACTS, ItemFacts, load_facts

TEXTS = ("key", "y", "question", "base_question", "reference", "adapted", "rubric_l1", "rubric_l2", "rubric_l3")
"""Fields of a row that say which item it is, whatever other datasets call theirs."""

_REASON = "Computed from the scene's facts."
_UNKNOWN = Missing("The facts of this item's scene are not there.")


class Rules:
    """A judge of the items whose facts it was given; it may be used from any number of threads."""

    def __init__(self) -> None:
        """Knows nothing yet."""
        self._items: dict[tuple[str, ...], ItemFacts] = {}

    def learn(self, root: Path, rows: Iterable[Mapping[str, Any]]) -> None:
        """Takes in the facts of a dataset's items.

        Args:
            root: Its folder, which `condchain synth ccrv` wrote.
            rows: Its items; see `data.ccrv.Row`.

        Raises:
            DataError: It has no facts, or none on one of the items.
        """
        facts = _read(root / FACTS)
        for row in rows:
            item = facts.get(f"{row['key']}|{row['y']}")
            if item is None:
                raise DataError(f"{root / FACTS}: expected facts on the item {row['key']}, {row['y']}. {_OTHERWISE}")
            self._items[_identity(row)] = item

    def judge(self, row: Mapping[str, Any], reply: str) -> dict[str, Answer]:
        """The verdicts on one reply, by kind, as `judging.ccrv.asks` would ask for them; none on a failed one.

        Args:
            row: The item.
            reply: What the model wrote.
        """
        if is_failed(reply):
            return {}
        item = self._items.get(_identity(row))
        found: dict[str, Verdict | Missing] = {"dcr": content(item, reply) if item else _UNKNOWN}
        if row["y"] == "Y3":
            found["csr"] = premise(item, reply) if item else _UNKNOWN
        return {kind: Answer(verdict, calls=0) for kind, verdict in found.items()}


def content(item: ItemFacts, reply: str) -> DcrVerdict:
    """Whether a reply names the things, the interaction and the outcome."""
    r1, r2, r3 = (int(_states(layer, reply)) for layer in (item.l1, item.l2, item.l3))
    return DcrVerdict.model_validate({"reasoning": _REASON, "r1": r1, "r2": r2, "r3": r3})


def premise(item: ItemFacts, reply: str) -> CsrVerdict:
    """Whether a reply denies the false premise and nowhere goes on from it."""
    denies, accepts = (any(_occurs(phrase, reply) for phrase in phrases) for phrases in (item.denies, item.accepts))
    return CsrVerdict.model_validate({"reasoning": _REASON, "csr": int(denies and not accepts)})


_OTHERWISE = (
    "CCRV_JUDGE=rules judges what `condchain synth ccrv` drew; for other data set it to a judge's name, or none."
)


def _identity(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in TEXTS)


def _read(path: Path) -> dict[str, ItemFacts]:
    try:
        return load_facts(path.read_bytes()).items
    except FileNotFoundError as error:
        raise DataError(f"{path.parents[1]} has no facts of drawn scenes ({FACTS}). {_OTHERWISE}") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise DataError(f"{path}: {error.errors()[0]['msg']}. `condchain verify` checks the data.") from error


def _states(groups: Iterable[Iterable[str]], reply: str) -> bool:
    return all(any(_occurs(phrase, reply) for phrase in group) for group in groups)


def _occurs(phrase: str, reply: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", reply.lower()) is not None
