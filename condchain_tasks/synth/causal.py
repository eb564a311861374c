"""Writes drawn scenes with a known causal graph in the official layout of CCRV-Bench, with the facts beside them.

OUT/benchmark_with_rubrics_top100.json            baseline questions, two for each image and dimension
OUT/benchmark_main_set_with_rubrics_top100.json   the same with their four constrained forms
OUT/VG_images_test/<image_id>.jpg                 pictures
OUT/facts/ccrv.json                               scene graphs, boxes, and what is right to say for each item
OUT/synthetic.json                                says that all this is drawn, and by which arguments
OUT/contact_sheet/ccrv.html                       on request: pictures beside all that is said, for a person to check
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from condchain_tasks.data.ccrv import BASELINE_FILE, CONSTRAINED_FILE, PICTURES
from condchain_tasks.data.identity import PICTURE_MARK
from condchain_tasks.progress import track
from condchain_tasks.synth import causal_records as records
from condchain_tasks.synth.causal_art import draw
from condchain_tasks.synth.causal_kinds import KINDS
from condchain_tasks.synth.causal_records import FACTS, Facts, SceneFacts
from condchain_tasks.synth.causal_sheets import write_contact_sheet
from condchain_tasks.synth.folders import new_folder

_FIRST_IMAGE = 1_000_001


def write_dataset(out: Path, n: int = 10, seed: int = 0, contact_sheet: bool = False) -> None:
    """Makes a dataset of scenes with eight questions each, and four constrained forms of each question.

    The bytes of every file depend on the arguments alone; a scene depends on its number and the seed, not on `n`.
    The folder appears only once it is complete.

    Args:
        out: A folder that does not exist or is empty.
        n: Scenes; every kind of scene occurs once before one occurs again.
        seed: Other seeds give other scenes and other questions.
        contact_sheet: Also make a page that shows each picture beside everything that is said of it.

    Raises:
        FileExistsError: `out` is not empty.
        ValueError: No scene asked for.
    """
    if n < 1:
        raise ValueError(f"n is {n}: expected at least 1 scene")
    with new_folder(out, {"benchmark": "ccrv", "n": n, "seed": seed}) as aside:
        scenes = _write(aside, n, seed)
        if contact_sheet:
            write_contact_sheet(aside, scenes)


def _write(root: Path, n: int, seed: int) -> list[SceneFacts]:
    (root / PICTURES).mkdir()
    (root / FACTS).parent.mkdir()
    scenes = []
    for number in track(range(n), "Drawing scenes"):
        stream, image_id = f"ccrv/{seed}/{number}", str(_FIRST_IMAGE + number)
        scene = KINDS[_kind(seed, number)](Random(stream))
        scenes.append(records.scene_facts(scene, image_id, stream))
        draw(scene.drawing).save(root / PICTURES / f"{image_id}.jpg", quality=92, comment=PICTURE_MARK)
    for name, constrained in ((BASELINE_FILE, False), (CONSTRAINED_FILE, True)):
        content = [records.record(facts, constrained) for facts in scenes]
        (root / name).write_text(records.dump(content), encoding="utf-8", newline="\n")
    known = {key: item for facts in scenes for key, item in records.items(facts).items()}
    (root / FACTS).write_text(records.dump_facts(Facts(tuple(scenes), known)), encoding="utf-8", newline="\n")
    return scenes


def _kind(seed: int, number: int) -> str:
    turn, place = divmod(number, len(KINDS))
    return Random(f"ccrv/{seed}/kinds/{turn}").sample(list(KINDS), len(KINDS))[place]
