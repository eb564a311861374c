"""Writes the embedded V-REX benchmark: drawn scenes with known facts, and chains of questions about them.

OUT/data/planning.jsonl        which question to ask next: four options a step
OUT/data/planning_hard.jsonl   the same with eight
OUT/data/following.jsonl       the answer to each question of the chain
OUT/images/<id>.png            pictures
OUT/facts/vrex.json            what is known about each scene, and what each question asks
OUT/synthetic.json             says that all this is drawn, and by which arguments
OUT/contact_sheet/             on request: pictures beside what is asked about them, for a person to check
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from condchain_tasks.progress import track
from condchain_tasks.synth import vrex_facts, vrex_sheets
from condchain_tasks.synth.folders import new_folder
from condchain_tasks.synth.png import encode_png
from condchain_tasks.synth.vrex_facts import Facts, facts_of
from condchain_tasks.synth.vrex_kinds import KINDS
from condchain_tasks.synth.vrex_records import Json, Sample, make_sample


def make_samples(n: int, seed: int = 0) -> list[Sample]:
    """Makes chains without drawing their pictures; see `write_dataset`."""
    if n < 1:
        raise ValueError(f"n is {n}: expected at least 1 chain")
    return [make_sample(number, seed) for number in track(range(n), "Making chains")]


def write_dataset(out: Path, n: int = 40, seed: int = 0, contact_sheet: bool = False) -> None:
    """Makes a dataset of chains with pictures.

    The bytes of every file depend on the arguments alone; a chain depends on its number and the seed, not on `n`.
    The folder appears only once it is complete.

    Args:
        out: A folder that does not exist or is empty.
        n: Number of chains; the four categories take turns.
        seed: Other seeds give other scenes and other chains.
        contact_sheet: Also make pages that show each picture beside its questions and answers.

    Raises:
        FileExistsError: `out` is not empty.
        ValueError: No chain is asked for.
    """
    samples = make_samples(n, seed)
    with new_folder(out, {"benchmark": "vrex", "n": n, "seed": seed}) as aside:
        _write(aside, samples)
        if contact_sheet:
            vrex_sheets.write_contact_sheets(aside)


def _write(root: Path, samples: Sequence[Sample]) -> None:
    for folder in ("data", "images", "facts"):
        (root / folder).mkdir()
    _write_records(root / "data" / "planning.jsonl", [sample.planning for sample in samples])
    _write_records(root / "data" / "following.jsonl", [sample.following for sample in samples])
    _write_records(root / "data" / "planning_hard.jsonl", [sample.hard for sample in samples])
    facts = Facts({sample.id: facts_of(sample) for sample in samples})
    (root / "facts" / "vrex.json").write_bytes(vrex_facts.dump(facts))
    for sample in track(samples, "Drawing scenes"):
        picture = KINDS[sample.scene.kind].draw(sample.scene)
        (root / "images" / f"{sample.id}.png").write_bytes(encode_png(np.asarray(picture)))


def _write_records(file: Path, records: Sequence[Json]) -> None:
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    file.write_text(lines, encoding="utf-8", newline="\n")
