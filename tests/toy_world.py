"""A world without a drawing: ten boxes of which everything is said in a comment of the picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from condchain_tasks.synth.world import Attribute, Name, Subject

COLOURS = ("red", "blue", "green", "white", "black")
SHAPES = ("round", "square", "oval", "flat")
LETTERS = ("A", "B", "C", "D", "E", "F")

ATTRIBUTES = (
    Attribute(
        "colour", "category", COLOURS, "{subject} is {value}", "{subject} is not {value}",
        asks="What colour is {subject}?",
    ),
    Attribute(
        "shape", "category", SHAPES, "{subject} is {value}", "{subject} is not {value}",
        asks="What shape is {subject}?",
    ),
    Attribute(
        "letter", "category", LETTERS, "{subject} bears the letter {value}",
        "{subject} does not bear the letter {value}", asks="Which letter does {subject} bear?",
    ),
    Attribute(
        "dots", "count", (2, 3, 4, 5, 6), "{subject} has exactly {value} dots",
        "{subject} does not have {value} dots", "{subject} has at least {value} dots",
        "{subject} has fewer than {value} dots", "How many dots does {subject} have?",
        {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"},
    ),
    Attribute(
        "lines", "count", (2, 3, 4, 5), "{subject} has exactly {value} lines",
        "{subject} does not have {value} lines", "{subject} has at least {value} lines",
        "{subject} has fewer than {value} lines", "How many lines does {subject} have?",
    ),
    Attribute("lid", "flag", (False, True), "{subject} has a lid", "{subject} has no lid"),
    Attribute("open", "flag", (False, True), "{subject} stands open", "{subject} does not stand open"),
)  # fmt: skip
"""Of every box."""


@dataclass(frozen=True)
class ToyWorld:
    """Boxes numbered from 1; every box but the first can also be named by its neighbour."""

    domain: str
    subjects: tuple[Subject, ...]

    def draw(self, root: Path, record_id: str) -> str:
        """Writes down the facts in place of what a picture would show."""
        image = f"images/{self.domain}/{record_id}" + {"natural": ".jpg", "chart": ".png", "gui": ""}[self.domain]
        file = root / image / f"{record_id}_01.png" if self.domain == "gui" else root / image
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (8, 8)).save(file, format="PNG", pnginfo=_text(str(self.subjects)))
        return image


def _text(comment: str) -> PngInfo:
    info = PngInfo()
    info.add_text("facts", comment)
    return info


def make_toy_world(domain: str, rng: Random, boxes: int = 10) -> ToyWorld:
    """A world of boxes in a row."""
    subjects = []
    for number in range(1, boxes + 1):
        facts = {attribute.key: rng.choice(attribute.values) for attribute in ATTRIBUTES}
        names = [Name(f"box {number}", f"number == {number}")]
        if number > 1:
            names.append(Name(f"the box to the right of box {number - 1}", f"left == {number - 1}"))
        related = (f"b{number % boxes + 1}", f"b{(number - 2) % boxes + 1}")
        subjects.append(
            Subject(f"b{number}", tuple(names), {"number": number, "left": number - 1, **facts}, ATTRIBUTES, related)
        )
    return ToyWorld(domain, tuple(subjects))
