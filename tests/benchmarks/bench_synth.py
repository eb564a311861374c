"""How many chains a second are made, pictures included, on all cores, and how many are verified on one.

Run by hand:

    python tests/benchmarks/bench_synth.py [--seed 0] [--workers N]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from condchain_tasks.synth.dataset import usable_cores, write_dataset
from condchain_tasks.synth.verify import verify_dataset

CHAINS = {"natural": 600, "chart": 600, "gui": 60}
"""Enough of each for some ten seconds, in which starting the processes counts little."""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=usable_cores())
    options = parser.parse_args()
    print(f"{options.workers} processes")
    print("domain    chains   made/s   MB/chain   verified/s   faults")
    with tempfile.TemporaryDirectory() as folder:
        for domain, n in CHAINS.items():
            out = Path(folder) / domain
            start = time.perf_counter()
            write_dataset(out, [domain], n, options.seed, workers=options.workers)
            made = n / (time.perf_counter() - start)
            size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / n / 1e6
            start = time.perf_counter()
            report = verify_dataset(out)
            verified = n / (time.perf_counter() - start)
            print(f"{domain:8}{n:8}{made:9.1f}{size:11.2f}{verified:13.1f}{len(report.faults):9}")


if __name__ == "__main__":
    main()
