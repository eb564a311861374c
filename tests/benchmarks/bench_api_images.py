"""Requests a second of gui documents (nine 1080x2340 PNG each) through lmms-eval's openai model.

Three ways to hand over a picture, in one run, against one local server that answers after 50 ms, 8 requests at a time:
ours; `Image.open(path).convert("RGB")`, as most tasks do; and without the harness, each worker sending the files'
bytes, as the official MM-CondChain script does. Run by hand: python tests/benchmarks/bench_api_images.py
"""

from __future__ import annotations

import base64
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import server_beside, sizes

FRAMES = 9
CONCURRENT = 8
LATENCY_S = 0.05


def draw(root: Path, trajectories: int) -> list[list[Path]]:
    """Phone screens at the size of real ones."""
    from condchain_tasks.synth.gui import make_world

    found: list[list[Path]] = []
    seed = 0
    while len(found) < trajectories:
        world = make_world(random.Random(seed))
        seed += 1
        if len(world.screens) < FRAMES:
            continue
        folder = root / world.draw(root, f"t{seed}")
        files = sorted(folder.iterdir())[:FRAMES]
        for file in files:
            with Image.open(file) as image:
                large = image.resize((1080, 2340), Image.Resampling.BICUBIC)
            large.save(file)
        found.append(files)
    return found


def through_the_harness(url: str, rows: list[dict[str, Any]], to_messages: Any) -> float:
    """Requests a second of the inference phase."""
    from lmms_eval.api.instance import Instance
    from lmms_eval.models import get_model

    lm = get_model("openai")(model_version="local", base_url=url, api_key="x", num_concurrent=CONCURRENT)
    lm.task_dict["bench"] = {"test": rows}
    settings = {"until": [], "max_new_tokens": 16, "temperature": 0}
    requests = [
        Instance(
            "generate_until",
            (f"{number}", to_messages, dict(settings), number, "bench", "test"),
            0,
            metadata={"task": "bench", "doc_id": number, "repeats": 1},
        )
        for number in range(len(rows))
    ]
    start = time.perf_counter()
    replies = lm.generate_until(requests)
    elapsed = time.perf_counter() - start
    assert all(reply.text == "\\boxed{A1}" for reply in replies)
    return len(rows) / elapsed


def as_the_official_script(url: str, rows: list[dict[str, Any]]) -> float:
    """Requests a second with nothing but a thread pool and the files' bytes."""
    from openai import OpenAI

    client = OpenAI(base_url=url, api_key="x")

    def send(row: dict[str, Any]) -> str | None:
        content: list[dict[str, Any]] = []
        for number, path in enumerate(row["images"], start=1):
            data = base64.b64encode(Path(path).read_bytes()).decode()
            content.append({"type": "text", "text": f"Image {number}:"})
            content.append({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}})
        content.append({"type": "text", "text": row["instruction"]})
        reply = client.chat.completions.create(model="local", messages=[{"role": "user", "content": content}])
        return reply.choices[0].message.content

    start = time.perf_counter()
    with ThreadPoolExecutor(CONCURRENT) as pool:
        replies = list(pool.map(send, rows))
    elapsed = time.perf_counter() - start
    assert all(reply == "\\boxed{A1}" for reply in replies)
    return len(rows) / elapsed


def converted(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """The usual way: decoded here, encoded anew by the harness."""
    images = [{"type": "image", "url": Image.open(path).convert("RGB")} for path in doc["images"]]
    return [{"role": "user", "content": [*images, {"type": "text", "text": doc["instruction"]}]}]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    # The usual way is so slow that it gets few requests.
    options = sizes(__doc__, arguments, requests=(200, 2), slow_requests=(8, 1), trajectories=(10, 1))
    from condchain_tasks.tasks.condchain.hooks import doc_to_messages

    with tempfile.TemporaryDirectory() as folder, server_beside("\\boxed{A1}", LATENCY_S) as (url, _):
        trajectories = draw(Path(folder), options.trajectories)
        rows = [
            {
                "images": [str(path) for path in trajectories[number // 2 % len(trajectories)]],
                "instruction": f"Chain {number}.",
                "domain": "gui",
            }
            for number in range(options.requests)
        ]
        through_the_harness(url, rows[:4], doc_to_messages)
        speeds = {
            "ours": through_the_harness(url, rows, doc_to_messages),
            "official script's way, no harness": as_the_official_script(url, rows),
            'Image.open(path).convert("RGB")': through_the_harness(url, rows[: options.slow_requests], converted),
            "ours, again": through_the_harness(url, rows, doc_to_messages),
            "official script's way, again": as_the_official_script(url, rows),
        }
        size = sum(path.stat().st_size for files in trajectories for path in files) / (len(trajectories) * FRAMES)
    table = Table("way", "requests/s", "ours is x times as fast", title=f"pictures of {size / 1e3:.0f} kB")
    for name, speed in speeds.items():
        table.add_row(name, f"{speed:.1f}", f"{speeds['ours'] / speed:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
