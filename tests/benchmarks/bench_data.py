"""Preparing 2,000 chains of each domain in the official layout, and building their requests.

The files are there already; the cache is empty. Memory is the process's peak above that of an interpreter that has
imported nothing. Run by hand: python tests/benchmarks/bench_data.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

import official
from benchmarks.running import sizes

FRAMES = 9

PREPARE = """
import json, re, sys, time
from pathlib import Path

def peak():  # Linux; getrusage would count what the parent had before this process was its own
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

before = peak()
from condchain_tasks.data.condchain import prepare
from condchain_tasks.data.sources import Source

start = time.perf_counter()
prepared = prepare(Source(Path(sys.argv[1]), "folder"), sys.argv[2])
first = time.perf_counter() - start
start = time.perf_counter()
prepare(Source(Path(sys.argv[1]), "folder"), sys.argv[2])
print(json.dumps({"first": first, "again": time.perf_counter() - start, "memory": peak() - before,
                  "rows": str(prepared.rows)}))
"""


def write(root: Path, domain: str, chains: int) -> None:
    """Records of so many chains; all pictures are files of their own, copies of one screen."""
    source = official.picture(root / "one.png", "screen", (1080, 2340))
    records = []
    for number in range(chains):
        name = f"{domain}{number}"
        if domain == "gui":
            image = f"images/gui/{name}"
            targets = [root / image / f"{name}_{frame}.png" for frame in range(FRAMES)]
        else:
            image = f"images/{domain}/{name}.png"
            targets = [root / image]
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        records.append(official.record(domain, number, image, depth=2 + number % 5))
    official.write_records(root, domain, records)


def requests_a_second(rows: str) -> tuple[int, float]:
    """Documents a second of the harness's own request building, for a chat model."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from lmms_eval.api.task import ConfigurableMessagesTask

    from condchain_tasks.tasks.condchain import hooks

    task = ConfigurableMessagesTask(
        config={
            "task": "bench",
            "dataset_path": "parquet",
            "dataset_kwargs": {"data_files": {"test": rows}},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_visual": hooks.doc_to_visual,
            "doc_to_text": hooks.doc_to_text,
            "doc_to_messages": hooks.doc_to_messages,
            "doc_to_target": "gold",
            "generation_kwargs": {"until": []},
            "process_results": hooks.process_results,
            "metric_list": [{"metric": "path_f1", "aggregation": hooks.path_f1, "higher_is_better": True}],
            "num_fewshot": 0,
        }
    )
    start = time.perf_counter()
    task.build_all_requests()
    return len(task.instances), len(task.instances) / (time.perf_counter() - start)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    chains = sizes(__doc__, arguments, chains=(2_000, 4)).chains
    table = Table("domain", "pictures", "prepared in s", "again in s", "memory MB", "documents built/s")
    for domain in official.DOMAINS:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "data"
            write(root, domain, chains)
            done = subprocess.run(
                [sys.executable, "-c", PREPARE, str(root), domain],
                env=os.environ | {"CONDCHAIN_CACHE": f"{folder}/cache"},
                check=True,
                capture_output=True,
                text=True,
            )
            found = json.loads(done.stdout)
            os.environ["HF_DATASETS_CACHE"] = f"{folder}/hf"
            _, speed = requests_a_second(found["rows"])
            pictures = chains * (FRAMES if domain == "gui" else 1)
            table.add_row(
                domain,
                f"{pictures:,}",
                f"{found['first']:.1f}",
                f"{found['again']:.2f}",
                f"{found['memory']:.0f}",
                f"{speed:,.0f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
