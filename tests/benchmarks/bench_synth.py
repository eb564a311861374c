"""How many chains a second are made, pictures included, on all cores, and how many are verified on one.

Run by hand:

    python tests/benchmarks/bench_synth.py [--seed 0] [--workers N]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes

from condchain_tasks.synth.dataset import usable_cores, write_dataset
from condchain_tasks.synth.verify import verify_dataset

SHARE = {"natural": 10, "chart": 10, "gui": 1}
"""Trajectories take ten times as long as pictures."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    # As many trajectories as take some ten seconds, in which starting the processes counts little.
    options = sizes(__doc__, arguments, seed=(0, 0), workers=(usable_cores(), 2), trajectories=(60, 1))
    print(f"{options.workers} processes")
    print("domain    chains   made/s   MB/chain   verified/s   faults")
    with tempfile.TemporaryDirectory() as folder:
        for domain, share in SHARE.items():
            n = share * options.trajectories
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
