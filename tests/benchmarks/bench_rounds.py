"""Lock step against one conversation at a time: 200 V-REX chains on a local server that answers after 50 ms.

The yardstick is lmms-eval's own loop for `generate_until_agentic`, which sends one request at a time; it is run on a
part of the chains and scaled. The floor is what 50 ms a request allow: for each round, live chains over concurrency,
rounded up. Then the driver alone, with a model that answers at once; and a tiny local Qwen2.5-VL on the CPU, batches
of 8 against batches of 1.

    python tests/benchmarks/bench_rounds.py
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import server_beside, sizes
from lmms_eval.api.instance import Instance
from lmms_eval.evaluator import _run_generate_until_agentic
from lmms_eval.models import get_model
from loguru import logger
from rich.console import Console
from rich.table import Table
from tiny_model import make_tiny_qwen

from condchain_tasks import rounds
from condchain_tasks.data.sources import Source
from condchain_tasks.data.vrex import read
from condchain_tasks.synth.vrex import write_dataset
from condchain_tasks.tasks.vrex.chains import Planning

LATENCY_S = 0.05


def make_chains(root: Path, n: int) -> list[Planning]:
    write_dataset(root, n=n, seed=1)
    rows = read(Source(root, "folder")).rows
    return [Planning(asdict(row)) for row in rows if (row.mode, row.set) == ("planning", "standard")]


def request(chain: Planning, number: int) -> Instance:
    settings = {"temperature": 0, "max_new_tokens": 16, "until": []}
    arguments = (chain.turn([]), chain, settings, (), number, "vrex", "test")
    metadata = {"task": "vrex", "doc_id": number, "repeats": 1}
    return Instance(rounds.REQUEST_TYPE, arguments=arguments, idx=0, metadata=metadata)


def agentic_request(chain: Planning, number: int) -> Instance:
    def next_turn(doc: Any, previous_output: list[str], **_: Any) -> tuple[Any, ...]:
        if chain.turn(previous_output) is None:
            return None, "", True, previous_output, None
        return None, rounds.text(chain, previous_output), False, previous_output, None

    settings = {"temperature": 0, "max_new_tokens": 16, "until": []}
    arguments = (chain.turn([]), settings, lambda _: chain.visuals(), next_turn, number, "vrex", "test")
    metadata = {"task": "vrex", "doc_id": number, "repeats": 1}
    return Instance("generate_until_agentic", arguments=arguments, idx=0, metadata=metadata)


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def model(name: str, arguments: str, batch_size: int, chains: list[Planning]) -> Any:
    found = get_model(name).create_from_arg_string(arguments, {"batch_size": batch_size, "device": "cpu"})
    found.task_dict["vrex"] = {"test": [dict(chain.doc) for chain in chains]}
    return found


class Instant:
    """A model that answers at once."""

    is_simple = False
    rank = 0

    def generate_until(self, requests: list[Any]) -> list[str]:
        for instance in requests:
            instance.args[1](None)
        return ["(A)"] * len(requests)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    size = sizes(__doc__, arguments, chains=(200, 4), one_by_one=(20, 2), local=(24, 2))
    logger.remove()
    with tempfile.TemporaryDirectory() as folder, server_beside("(A)", LATENCY_S) as (url, _):
        compare(Path(folder), url, size.chains, size.one_by_one, size.local)


def compare(folder: Path, url: str, number: int, one_by_one: int, local: int) -> None:
    """Runs everything, with data and model in a folder."""
    chains = make_chains(folder / "vrex", number)
    requests = [request(chain, number) for number, chain in enumerate(chains)]
    lengths = [len(chain.doc["steps"]) for chain in chains]
    live = [sum(length > turn for length in lengths) for turn in range(max(lengths))]
    table = Table("what", "requests", "seconds", "requests/s", "against one at a time", "against the floor")
    base = f"model_version=local,base_url={url},api_key=none,timeout=60"

    one = model("openai", f"{base},num_concurrent=1", 1, chains)
    part = [agentic_request(chain, number) for number, chain in enumerate(chains[:one_by_one])]
    sent = sum(lengths[:one_by_one])
    alone = seconds(lambda: _run_generate_until_agentic(one, part)) / sent * sum(lengths)
    table.add_row(f"one at a time ({one_by_one} chains, scaled)", str(sum(lengths)), f"{alone:.1f}", "", "1", "")
    for concurrency in (8, 32):
        lm = model("openai", f"{base},num_concurrent={concurrency}", 1, chains)
        lm.generate_until([rounds._instance(lm, rounds._Talk(requests[0]))])  # connections, imports
        took = seconds(lambda lm=lm: rounds.run_rounds(lm, requests, lm.generate_until))
        floor = sum(math.ceil(count / concurrency) for count in live) * LATENCY_S
        table.add_row(
            f"lock step, {concurrency} concurrent",
            str(sum(lengths)),
            f"{took:.2f}",
            f"{sum(lengths) / took:.0f}",
            f"{alone / took:.1f} times",
            f"{took / floor:.2f} times {floor:.2f} s",
        )
    instant = Instant()
    took = seconds(lambda: rounds.run_rounds(instant, requests, instant.generate_until))
    table.add_row(
        "the driver alone", str(sum(lengths)), f"{took:.2f}", f"{1000 * took / sum(lengths):.2f} ms each", "", ""
    )
    pretrained = make_tiny_qwen(folder / "qwen")
    arguments = f"pretrained={pretrained},device_map=cpu,attn_implementation=sdpa,max_pixels=50176"
    few = requests[:local]
    sent = sum(lengths[:local])
    slow = 0.0
    for batch_size in (1, 8):
        lm = model("qwen2_5_vl", arguments, batch_size, chains)
        took = seconds(lambda lm=lm: rounds.run_rounds(lm, few, lm.generate_until))
        slow = slow or took
        name = f"tiny Qwen2.5-VL on the CPU, batches of {batch_size}"
        table.add_row(name, str(sent), f"{took:.1f}", f"{sent / took:.1f}", f"{slow / took:.2f} times", "")
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
