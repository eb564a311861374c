"""Does the text alone tell a true path from a false one, or the right option from its place?

A logistic regression on words and word pairs of the instruction, cross-validated over chains (both paths of a
chain in the same fold), should be at chance: 50 per cent. Run by hand:

    python tests/benchmarks/bench_text_leak.py [--chains 600] [--seed 0]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from condchain_tasks.data.condchain_source import DOMAINS
from condchain_tasks.synth import chains
from condchain_tasks.synth.worker import Job, compose_chain

FOLDS = 10


def paths_of(domain: str, job: Job) -> list[tuple[str, int, int, int]]:
    """For each path: instruction, 1 if it is the true path, the chain's number, the right option's place."""
    found = []
    for number in range(1, job.n + 1):
        world, chain = compose_chain(domain, number, job)
        record = chains.record(chain, "", domain, "", world.subjects)
        for is_true, path in enumerate((record["false_path"], record["true_path"])):
            place = int(path["correct_answer"][1:])
            found.append((path["full_instruction"], is_true, number, place))
    return found


def accuracy(texts: list[str], labels: list[int], groups: list[int]) -> tuple[float, float]:
    """Cross-validated accuracy and its standard error over chains, per cent."""
    model = make_pipeline(
        CountVectorizer(ngram_range=(1, 2), min_df=2, binary=True),
        LogisticRegression(C=0.1, max_iter=2000),
    )
    predicted = cross_val_predict(model, texts, labels, groups=groups, cv=GroupKFold(FOLDS))
    hits = np.asarray(predicted) == np.asarray(labels)
    by_chain = np.asarray([hits[np.asarray(groups) == group].mean() for group in sorted(set(groups))])
    return 100 * by_chain.mean(), 100 * by_chain.std(ddof=1) / len(by_chain) ** 0.5


def chi_square_p(counts: list[int]) -> float:
    """Chance of counts at least as uneven, by the Wilson-Hilferty approximation of the chi-square law."""
    expected = sum(counts) / len(counts)
    statistic = sum((count - expected) ** 2 / expected for count in counts)
    freedom = len(counts) - 1
    spread = 2 / (9 * freedom)
    return 1 - NormalDist().cdf(((statistic / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    options = sizes(__doc__, arguments, chains=(600, 12), seed=(0, 0))
    print("domain    chains  accuracy %      right option at 1, 2, 3, 4       p")
    for domain in DOMAINS:
        job = Job((domain,), options.chains, options.seed, (2, 6), None)
        texts, labels, groups, places = map(list, zip(*paths_of(domain, job), strict=True))
        mean, error = accuracy(texts, labels, groups)
        counts = [Counter(places)[place] for place in range(1, chains.OPTIONS + 1)]
        listed = ", ".join(map(str, counts))
        print(f"{domain:8}{options.chains:8}{mean:8.1f} ± {error:.1f}      {listed:30}{chi_square_p(counts):6.2f}")


if __name__ == "__main__":
    main()
