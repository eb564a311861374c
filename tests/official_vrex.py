"""Small V-REX datasets in the project's layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from official import picture

PLANNING = "data/planning.jsonl"
FOLLOWING = "data/following.jsonl"
HARD = "data/planning_hard.jsonl"
CATEGORIES = {"deduction": "flowchart", "guessing": "time", "navigation": "map", "retrieval": "word puzzle"}
SIZE = (56, 56)


def head(number: int, image: str = "") -> dict[str, Any]:
    """What a sample's records have in common; the four categories take turns."""
    category, scenario = list(CATEGORIES.items())[number % 4]
    return {
        "id": f"s{number}",
        "image": image or f"images/s{number}.png",
        "category": category,
        "scenario": scenario,
        "final_question": f"Where does path {number} end?",
        "source": "drawn by hand",
    }


def length(number: int) -> int:
    """Steps of a chain: 2, 3, 4, 2, ..."""
    return 2 + number % 3


def last(number: int) -> dict[str, Any]:
    """The step that asks the final question."""
    options = ["at the barn", "at the mill", "at the pond"]
    gold = number % 3
    question = head(number)["final_question"]
    return {"question": question, "answer": options[gold], "options": options, "gold": gold}


def pick(number: int, step: int, count: int = 4) -> dict[str, Any]:
    """A planning step, from 1, with `count` questions to pick from."""
    gold = (number + step) % count
    options = [
        {"question": f"What is beside turn {step}.{index}?", "answer": f"tree {index}"} for index in range(count)
    ]
    options[gold] = {"question": f"Which way does turn {step} go?", "answer": ["left", "right"][step % 2]}
    return {**options[gold], "options": options, "gold": gold}


def answer(number: int, step: int) -> dict[str, Any]:
    """A following step, from 1."""
    options = ["left", "right", "straight on", "back"]
    gold = step % 2
    return {
        "question": f"Which way does turn {step} go?",
        "answer": options[gold],
        "options": options,
        "gold": gold,
    }


def planning(number: int, image: str = "") -> dict[str, Any]:
    """A record of planning.jsonl."""
    picks = [pick(number, step) for step in range(1, length(number))]
    return {**head(number, image), "steps": [*picks, last(number)]}


def following(number: int, image: str = "") -> dict[str, Any]:
    """A record of following.jsonl."""
    answers = [answer(number, step) for step in range(1, length(number))]
    return {**head(number, image), "steps": [*answers, last(number)]}


def hard(number: int, image: str = "") -> dict[str, Any]:
    """A record of planning_hard.jsonl."""
    picks = [pick(number, step, 8) for step in range(1, length(number))]
    return {**head(number, image), "set": "hard", "steps": [*picks, last(number)]}


FILES = {PLANNING: planning, FOLLOWING: following, HARD: hard}


def write_records(root: Path, name: str, records: list[dict[str, Any]]) -> Path:
    """Writes JSON lines; half characters are kept, as JSON can write them."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def write_dataset(root: Path, samples: int = 4) -> Path:
    """Writes all three files and the pictures: samples s0, s1, ..., each with a picture of its own."""
    for number in range(samples):
        picture(root / "images" / f"s{number}.png", f"s{number}", SIZE)
    for name, record in FILES.items():
        write_records(root, name, [record(number) for number in range(samples)])
    return root
