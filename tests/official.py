"""Small datasets in MM-CondChain's official layout, with pictures that tell each file apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

DOMAINS = ("natural", "chart", "gui")


def picture(path: Path, text: str, size: tuple[int, int] = (56, 56)) -> Path:
    """Draws a picture that is unlike that of any other text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).multiline_text((2, 2), text.replace("_", "\n"), fill="black")
    image.save(path)
    return path


def record(domain: str, number: int, image: str, depth: int = 3, diverge: int = 1) -> dict[str, Any]:
    """A chain of `depth` conditions that stops at layer `diverge` on its false path."""
    letters = [chr(64 + layer) for layer in range(1, depth + 1)]
    conditions = [f'(color{layer} == "red" and size{layer} > 2)' for layer in range(1, depth + 1)]

    def instruction(false_layer: int) -> str:
        steps = [
            f"If the thing is {'blue' if layer == false_layer else 'red'}, go on. Otherwise: which one? "
            f"({letter}1) left ({letter}2) right"
            for layer, letter in enumerate(letters, start=1)
        ]
        return f"Chain {number}. " + " ".join(steps)

    def pseudocode(false_layer: int) -> str:
        lines = []
        for layer, condition in enumerate(conditions, start=1):
            condition = condition.replace("red", "blue") if layer == false_layer else condition
            lines += [f"# layer {layer}: the thing", f"if {condition}:", "    continue"]
        return "\n".join(lines)

    return {
        "id": f"{domain}-{number}",
        "domain": domain,
        "image": image,
        "true_path": {
            "full_instruction": instruction(0),
            "pseudocode": pseudocode(0),
            "correct_answer": f"{letters[-1]}2",
        },
        "false_path": {
            "diverge_node": f"qa_{diverge}",
            "full_instruction": instruction(diverge),
            "pseudocode": pseudocode(diverge),
            "correct_answer": f"{letters[diverge - 1]}1",
        },
    }


def write_records(root: Path, domain: str, records: list[dict[str, Any]]) -> Path:
    """Writes JSON lines."""
    path = root / "data" / f"{domain}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item) + "\n" for item in records), encoding="utf-8")
    return path


def write_domain(root: Path, domain: str, chains: int = 3, frames: int = 3) -> list[dict[str, Any]]:
    """Writes a domain's records and pictures, and returns the records."""
    records = []
    for number in range(chains):
        name = f"{domain}{number}"
        if domain == "gui":
            image = f"images/gui/{name}"
            for frame in range(frames):
                picture(root / image / f"{name}_{frame}.png", f"{name}_{frame}")
        else:
            image = f"images/{domain}/{name}.{'jpg' if domain == 'natural' else 'png'}"
            picture(root / image, name)
        records.append(record(domain, number, image, depth=2 + number % 3, diverge=1))
    write_records(root, domain, records)
    return records


def write_dataset(root: Path, chains: int = 3) -> Path:
    """Writes all three domains."""
    for domain in DOMAINS:
        write_domain(root, domain, chains)
    return root
