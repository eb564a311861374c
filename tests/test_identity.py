"""Drawn data is told from a benchmark's own, wherever it lies; content is known by its hash, never by a count."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import official
import official_ccrv
import official_vrex
import pytest
from PIL import Image

from condchain_tasks.data import identity
from condchain_tasks.data.harness import provenance
from condchain_tasks.synth import causal, dataset, vrex


@dataclass(frozen=True)
class Kind:
    """A benchmark: a task, the variable that names its data, what makes official and drawn data, and a picture."""

    task: str
    variable: str
    official: Callable[[Path], Path]
    draw: Callable[[Path], None]
    picture: str
    part: str


KINDS = [
    Kind(
        "condchain_chart",
        "CONDCHAIN_DATA",
        official.write_dataset,
        lambda out: dataset.write_dataset(out, ["chart"], n=2, seed=1),
        "images/chart/chart1.png",
        "condchain/chart",
    ),
    Kind(
        "ccrv",
        "CCRV_DATA",
        official_ccrv.write_dataset,
        lambda out: causal.write_dataset(out, n=2, seed=1),
        "VG_images_test/40.jpg",
        "ccrv",
    ),
    Kind(
        "vrex_planning",
        "VREX_DATA",
        official_vrex.write_dataset,
        lambda out: vrex.write_dataset(out, n=4, seed=1),
        "images/s1.png",
        "vrex",
    ),
]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.part)
def kind(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kind:
    """Each benchmark, with an empty cache and its data expected in `data`."""
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(request.param.variable, str(tmp_path / "data"))
    found: Kind = request.param
    return found


def data_of(kind: Kind) -> dict[str, Any]:
    return provenance(kind.task)


def test_a_users_folder_is_neither_drawn_nor_known(kind: Kind, tmp_path: Path) -> None:
    kind.official(tmp_path / "data")
    data = data_of(kind)
    assert (data["synthetic"], data["official"]) == (False, False)


def without_facts(root: Path) -> None:
    shutil.rmtree(root / "facts")


def without_the_file(root: Path) -> None:
    without_facts(root)
    (root / "synthetic.json").unlink()


def without_records_mark(root: Path) -> None:
    without_the_file(root)
    for path in [*root.glob("data/*.jsonl"), *root.glob("*.json")]:
        path.write_text(path.read_text().replace('"synthetic": true', '"synthetic_": true'))


def with_redrawn_pictures(root: Path) -> None:
    without_the_file(root)
    redraw(root)


def redraw(root: Path) -> None:
    for path in [*root.rglob("*.png"), *root.rglob("*.jpg")]:
        image = Image.open(path).convert("RGB")
        image.info.clear()
        image.save(path)


def with_facts_alone(root: Path) -> None:
    facts = {path.name: path.read_bytes() for path in (root / "facts").iterdir()}
    without_records_mark(root)
    redraw(root)
    (root / "facts").mkdir()
    for name, content in facts.items():
        (root / "facts" / name).write_bytes(content)


@pytest.mark.parametrize(
    "change",
    [
        lambda root: None,
        without_facts,
        without_the_file,
        without_records_mark,
        with_redrawn_pictures,
        with_facts_alone,
    ],
)
def test_drawn_data_is_recognised_by_whatever_is_left_of_its_marks(
    kind: Kind, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    kind.draw(tmp_path / "elsewhere")
    change(tmp_path / "elsewhere")
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "data")
    data = data_of(kind)
    assert (data["source"], data["synthetic"], data["official"]) == ("folder", True, False)


def test_one_drawn_record_among_others_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = official.write_dataset(tmp_path / "data")
    records = [json.loads(line) for line in (root / "data/chart.jsonl").read_text().splitlines()]
    records[1]["synthetic"] = True
    official.write_records(root, "chart", records)
    monkeypatch.setenv("CONDCHAIN_DATA", str(root))
    assert provenance("condchain_chart")["synthetic"]
    assert not provenance("condchain_natural")["synthetic"]


def test_an_embedded_benchmark_is_drawn() -> None:
    data = provenance("vrex_direct_mini")
    assert (data["source"], data["synthetic"], data["official"]) == ("mini", True, False)


def test_content_is_official_by_its_hash_alone(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = kind.official(tmp_path / "data")
    released = data_of(kind)["sha256"]
    monkeypatch.setitem(identity.RELEASED, kind.part, {released: "the first release"})  # type: ignore[arg-type]
    assert data_of(kind)["official"]
    Image.effect_noise((64, 48), 9).convert("RGB").save(root / kind.picture)
    assert not data_of(kind)["official"]


def test_the_hash_is_of_the_pictures_bytes(kind: Kind, tmp_path: Path) -> None:
    """The names and sizes of the files stay as they are, and so does the time of the change."""
    root = kind.official(tmp_path / "data")
    path = root / kind.picture
    before, first = path.stat(), data_of(kind)["sha256"]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert data_of(kind)["sha256"] != first


def test_every_part_has_a_table_of_releases() -> None:
    assert identity.RELEASED.keys() == {"condchain/natural", "condchain/chart", "condchain/gui", "ccrv", "vrex"}


def test_what_made_a_dataset_stands_in_it(tmp_path: Path) -> None:
    causal.write_dataset(tmp_path / "out", n=2, seed=7)
    assert json.loads((tmp_path / "out/synthetic.json").read_text()) == {
        "synthetic": True,
        "made_by": "condchain synth",
        "benchmark": "ccrv",
        "n": 2,
        "seed": 7,
    }


def test_the_order_of_frames_is_no_other_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDCHAIN_DATA", str(official.write_dataset(tmp_path / "data")))
    assert provenance("condchain_gui")["sha256"] == provenance("condchain_gui_chrono")["sha256"]


def test_other_parts_are_other_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDCHAIN_DATA", str(official.write_dataset(tmp_path / "data")))
    assert provenance("condchain_natural")["sha256"] != provenance("condchain_chart")["sha256"]
