"""Requests a second of gui documents (nine 1080x2340 PNG each) through lmms-eval's openai model.

Three ways to hand over a picture, in one run, against one local server that answers after 50 ms, 8 requests at a time:
ours; `Image.open(path).convert("RGB")`, as most tasks do; and without the harness, each worker sending the files'
bytes, as the official MM-CondChain script does. Run by hand: python tests/benchmarks/bench_api_images.py
"""

from __future__ import annotations

import argparse
import base64
import multiprocessing
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from chat_server import Reply, chat_server

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


def serve(pipe: Any) -> None:
    """A server in a process of its own, so that it does not share the client's interpreter."""
    with chat_server(lambda _: Reply("\\boxed{A1}", delay_s=LATENCY_S), keep=False) as server:
        pipe.send(server.url)
        pipe.recv()


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


def main() -> None:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--slow-requests", type=int, default=8, help="for the usual way")
    options = parser.parse_args()
    from condchain_tasks.tasks.condchain.hooks import doc_to_messages

    with tempfile.TemporaryDirectory() as folder:
        trajectories = draw(Path(folder), 10)
        rows = [
            {
                "images": [str(path) for path in trajectories[number // 2 % len(trajectories)]],
                "instruction": f"Chain {number}.",
                "domain": "gui",
            }
            for number in range(options.requests)
        ]
        here, there = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(target=serve, args=(there,))
        process.start()
        url = here.recv()
        through_the_harness(url, rows[:4], doc_to_messages)
        speeds = {
            "ours": through_the_harness(url, rows, doc_to_messages),
            "official script's way, no harness": as_the_official_script(url, rows),
            'Image.open(path).convert("RGB")': through_the_harness(url, rows[: options.slow_requests], converted),
            "ours, again": through_the_harness(url, rows, doc_to_messages),
            "official script's way, again": as_the_official_script(url, rows),
        }
        here.send("stop")
        process.join()
        size = sum(path.stat().st_size for files in trajectories for path in files) / (len(trajectories) * FRAMES)
    table = Table("way", "requests/s", "ours is x times as fast", title=f"pictures of {size / 1e3:.0f} kB")
    for name, speed in speeds.items():
        table.add_row(name, f"{speed:.1f}", f"{speeds['ours'] / speed:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
