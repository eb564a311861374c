"""Makes chains and their pictures; as a process of its own, one share of a dataset's chains.

`dataset` starts `python -m condchain_tasks.synth.worker` rather than a pool of `multiprocessing`: a pool's
processes would import the caller's main module first, and with lmms-eval as the main module that takes longer
than making a small dataset.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random

from condchain_tasks.synth import chains, sidecar
from condchain_tasks.synth.chains import Chain, ChainError
from condchain_tasks.synth.predicates import Complexity
from condchain_tasks.synth.world import World

CHAIN_ERROR = 3
"""Exit status of a process for a `ChainError`."""

_WORLDS_PER_CHAIN = 20


@dataclass(frozen=True)
class Job:
    """What a share of the chains is made from; a chain depends on nothing else.

    Attributes:
        domains: In the order of their files.
        n: Chains for each domain.
        seed: Of the dataset.
        depth: Least and greatest number of conditions.
        complexity: Of every condition, or None for both.
    """

    domains: tuple[str, ...]
    n: int
    seed: int
    depth: tuple[int, int]
    complexity: Complexity | None

    def numbers(self) -> Iterator[tuple[str, int]]:
        """Domain and number, from 1, of every chain, in order."""
        return ((domain, number) for domain in self.domains for number in range(1, self.n + 1))


@dataclass(frozen=True)
class Made:
    """A chain's line in `data/<domain>.jsonl` and its line in `facts/<domain>.jsonl`, without their ends."""

    record: str
    facts: str


def make_world(domain: str, rng: Random) -> World:
    """A world of the domain."""
    module = importlib.import_module(f"condchain_tasks.synth.{domain}")
    world: World = module.make_world(rng)
    return world


def make_chain(root: Path, domain: str, number: int, job: Job) -> Made:
    """Makes one chain and draws its picture below `root`.

    Raises:
        ChainError: As `compose_chain`.
    """
    record_id = chain_id(domain, number)
    world, chain = compose_chain(domain, number, job)
    image = world.draw(root, record_id)
    record = chains.record(chain, record_id, domain, image, world.subjects)
    facts = sidecar.chain_facts(chain, record_id, world.subjects)
    return Made(json.dumps(record, ensure_ascii=False), sidecar.dump(facts))


def chain_id(domain: str, number: int) -> str:
    """The id of a domain's chain: `natural-0001`."""
    return f"{domain}-{number:04d}"


def compose_chain(domain: str, number: int, job: Job) -> tuple[World, Chain]:
    """A world and a chain over it, not drawn yet.

    Raises:
        ChainError: The domain's worlds are too small for the depth.
    """
    record_id = chain_id(domain, number)
    stream = f"condchain/{job.seed}/{record_id}"
    for attempt in range(_WORLDS_PER_CHAIN):
        world = make_world(domain, Random(f"{stream}/world/{attempt}"))
        # The chain's stream, and with it the depth, is the same in every attempt: worlds that are too small
        # for a deep chain do not make deep chains rarer.
        try:
            return world, chains.build_chain(Random(f"{stream}/chain"), world.subjects, job.depth, job.complexity)
        except ChainError:
            continue
    raise ChainError(
        f"{record_id}: none of {_WORLDS_PER_CHAIN} scenes has facts for a chain of depth "
        f"{job.depth[0]}:{job.depth[1]}; ask for fewer conditions, or for simple ones"
    )


def make_share(root: Path, job: Job, share: int, shares: int) -> Iterator[Made]:
    """Makes every `shares`-th chain, from the one at place `share`, counted from 0."""
    for domain, number in islice(job.numbers(), share, None, shares):
        yield make_chain(root, domain, number, job)


def main(root: str, job: str, share: str, shares: str) -> None:
    """Prints the chains of a share, one JSON object a line; where one cannot be made, its error and no more.

    The exit status is then `CHAIN_ERROR`.
    """
    fields = json.loads(job)
    fields |= {"domains": tuple(fields["domains"]), "depth": tuple(fields["depth"])}
    try:
        for made in make_share(Path(root), Job(**fields), int(share), int(shares)):
            print(json.dumps(asdict(made)), flush=True)
    except ChainError as error:
        print(json.dumps({"error": str(error)}))
        sys.exit(CHAIN_ERROR)


if __name__ == "__main__":
    main(*sys.argv[1:])
