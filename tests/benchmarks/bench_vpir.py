"""Speed of the predicate language, and what its bounds are worth beside two published evaluators.

Run by hand: `python tests/benchmarks/bench_vpir.py`. `simpleeval` and `asteval` are compared if they are installed:
each keeps the parsed expression, is offered the language's functions only, and has the limits it comes with.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import sizes

from condchain_tasks import vpir

HOSTILE_BYTES = 2 << 30

Facts = Mapping[str, object]
Run = Callable[[Facts], object]

FACTS: Facts = {
    "kind": "mug",
    "colour": "red",
    "material": "glass",
    "pattern": "striped",
    "position": "left",
    "text": "GOOD MORNING",
    "size": 3,
    "stripes": 5,
    "height": 12.5,
    "occluded": False,
    "has_handle": True,
    "neighbours": ["plate", "spoon", "vase"],
}

PREDICATES = {
    "SIMPLE": 'colour == "red" and stripes > 4',
    "COMPLEX": '(colour == "red" and size >= 2) and ((stripes > 7 and not occluded) or (height < 20 and has_handle))',
    "COMPLEX, a loop in it": '(any([len(n) > 4 for n in neighbours]) or occluded) and (colour in ["red", "blue"]'
    ' and not (size > 4 or "plate" not in neighbours))',
}

HOSTILE = {
    "attribute access": "[].__class__.__base__ == 1",
    "format attribute": "'{0.__class__}'.format(1) == ''",
    "power": "7 ** 3999999 > 1",
    "power of powers": "((9 ** 9999) ** 9999) > 1",
    "repeated text": "len('a' * 10 ** 10) > 1",
    "repeated list": "len([0] * 10 ** 9) > 1",
    "format width": "len('%1000000000d' % 5) > 1",
    "loops, 10^9": "any([False for a in [0] * 1000 for b in [0] * 1000 for c in [0] * 1000])",
    "nested lists compared": "[[[[0] * 99] * 99] * 99] * 99 == [[[[0] * 99] * 99] * 99] * 99",
    "rounding": "round(10, -(10 ** 8)) == 0",
    "value not a bool": "1",
}

FUNCTIONS = {f.__name__: f for f in (len, any, all, min, max, sum, set, sorted, abs, round)}


def with_vpir(predicate: str) -> Run:
    return lambda facts: vpir.evaluate(predicate, facts)


def with_simpleeval(predicate: str) -> Run:
    from simpleeval import EvalWithCompoundTypes

    evaluator = EvalWithCompoundTypes(functions=FUNCTIONS)
    tree = evaluator.parse(predicate)

    def run(facts: Facts) -> object:
        evaluator.names = facts
        return evaluator.eval(predicate, previously_parsed=tree)

    return run


def with_asteval(predicate: str) -> Run:
    from asteval import Interpreter

    comprehensions = {"ifexp": True, "listcomp": True, "setcomp": True, "dictcomp": True}
    interpreter = Interpreter(dict(FUNCTIONS), minimal=True, use_numpy=False, config=comprehensions)
    tree = interpreter.parse(predicate)

    def run(facts: Facts) -> object:
        interpreter.symtable.update(facts)
        value = interpreter.run(tree)
        if interpreter.error:
            raise ValueError(interpreter.error[0].get_error())
        return value

    return run


ENGINES = {"vpir": with_vpir, "simpleeval": with_simpleeval, "asteval": with_asteval}


def per_second(run: Run, seconds: float) -> float:
    """Evaluations a second of processor time."""
    count, start = 0, time.process_time()
    while (elapsed := time.process_time() - start) < seconds:
        for _ in range(200):
            run(FACTS)
        count += 200
    return count / elapsed


def attempt(engine: str, predicate: str, answer: Connection) -> None:
    """Evaluates a hostile predicate in a process of its own and sends what became of it."""
    resource.setrlimit(resource.RLIMIT_AS, (HOSTILE_BYTES, HOSTILE_BYTES))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    try:
        ENGINES[engine](predicate)(FACTS)
        outcome = "RAN"
    except MemoryError:
        outcome = f"OUT OF {HOSTILE_BYTES >> 30} GB"
    except Exception:
        outcome = "refused"
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    answer.send(f"{outcome}, {1000 * (time.perf_counter() - start):,.0f} ms, {megabytes:,.0f} MB")


def outcome(engine: str, predicate: str, patience: float) -> str:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=attempt, args=(engine, predicate, theirs))
    process.start()
    theirs.close()
    try:
        return str(ours.recv()) if ours.poll(patience) else f"STILL RUNNING after {patience:g} s"
    except EOFError:
        return "PROCESS DIED"
    finally:
        process.kill()
        process.join()


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints one table."""
    size = sizes(__doc__, arguments, milliseconds=(500, 5), hostile_ms=(5_000, 2_000))
    seconds, patience = size.milliseconds / 1e3, size.hostile_ms / 1e3
    engines = [name for name in ENGINES if name == "vpir" or find_spec(name)]
    rows = [("evaluations a second", *engines)]
    for name, predicate in PREDICATES.items():
        expected = vpir.evaluate(predicate, FACTS)
        runs = [ENGINES[engine](predicate) for engine in engines]
        assert all(run(FACTS) is expected for run in runs), predicate
        rows.append((name, *(f"{per_second(run, seconds):,.0f}" for run in runs)))
    fresh = (f"{PREDICATES['COMPLEX']} and size != {number + 100}" for number in range(10**9))
    rows.append(
        ("COMPLEX, each seen once", f"{per_second(lambda facts: vpir.evaluate(next(fresh), facts), seconds):,.0f}")
    )
    rows.append(("COMPLEX, analyse", f"{per_second(lambda facts: vpir.analyse(PREDICATES['COMPLEX']), seconds):,.0f}"))
    rows.append(("what becomes of", *engines))
    for name, predicate in HOSTILE.items():
        rows.append((name, *(outcome(engine, predicate, patience) for engine in engines)))
    for row in rows:
        print("".join(f"{cell:<32}" for cell in row).rstrip())


if __name__ == "__main__":
    main()
