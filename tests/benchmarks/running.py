"""What the scripts here share: their sizes, and a server that ends with them."""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from chat_server import Reply, chat_server


def sizes(doc: str | None, arguments: Sequence[str] | None, **usual_and_quick: tuple[int, int]) -> SimpleNamespace:
    """How much is measured, as the command line says: each size is an option of its own.

    Args:
        doc: What the script measures.
        arguments: Of the command line; None for this process's own.
        **usual_and_quick: Each size as it is meant, and as small as with `--quick`, which shows that the script works
            and measures nothing.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="so little that the figures mean nothing")
    for name, (usual, _) in usual_and_quick.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, help=f"{usual:,} if left out")
    given = vars(parser.parse_args(arguments))
    chosen = {
        name: given[name] if given[name] is not None else both[given["quick"]] for name, both in usual_and_quick.items()
    }
    return SimpleNamespace(**chosen)


@contextmanager
def server_beside(text: str, latency_s: float) -> Iterator[tuple[str, Callable[[], int]]]:
    """A chat server in a process of its own, so that it does not share the client's interpreter.

    It ends with the block, whatever happens there.

    Args:
        text: What it answers to anything.
        latency_s: Seconds that it takes.

    Yields:
        Its address, and what tells the most requests that it had in hand at once.
    """
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there, text, latency_s), daemon=True)
    process.start()
    there.close()

    def most_in_flight() -> int:
        here.send(None)
        return int(here.recv())

    try:
        yield here.recv(), most_in_flight
    finally:
        process.terminate()
        process.join()
        here.close()


def _serve(pipe: Any, text: str, latency_s: float) -> None:
    with chat_server(lambda _: Reply(text, delay_s=latency_s), keep=False) as server:
        pipe.send(server.url)
        while True:
            pipe.recv()
            pipe.send(server.most_in_flight)
