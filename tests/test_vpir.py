"""The predicate language: its meaning, its bounds, and what it refuses."""

from __future__ import annotations

import operator
import tracemalloc
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st

from condchain_tasks import vpir
from condchain_tasks.vpir import PredicateError, analyse, evaluate

FACTS: dict[str, Any] = {
    "colour": "red",
    "size": 3,
    "height": 12.5,
    "hidden": False,
    "label": None,
    "parts": ["lid", "handle", "lid"],
    "series": [4, 1, 3],
    "pairs": [["a", 1], ["b", 2]],
    "box": {"x": 10, "y": [20, 30]},
    "sum": 7,
}


# --- meaning

TRUE = [
    # literals and displays
    "True",
    "not None",
    "1_000 == 1000.0",
    "0x10 == 16 and 1e3 == 1000",
    "'a' 'b' == \"ab\"",
    "[1, 'a', None, True] == [1, 'a', None, True]",
    "(1, 2) == (1, 2) and () == () and (1, 2) != [1, 2]",
    "{1, 2, 2} == {2, 1}",
    "{'a': 1, 'b': size}['b'] == 3",
    "{} == {} and {size: 1} == {3: 1}",
    "[size, [size]] == [3, [3]]",
    "-5 == 0 - 5 and - -5 == 5 and +5 == 5 and -True == -1",
    # comparisons and chains
    "1 < size <= 3 != 4",
    "not 1 < 5 < size",
    "1 < 2 > 1 == 1",
    "colour == 'red' and colour != 'blue' and colour < 'rf'",
    "size == 3.0 and True == 1",
    "[1, 2] < [1, 3] and {1} < {1, 2} and (1,) < (1, 0)",
    "parts == ['lid', 'handle', 'lid']",
    # membership
    "'lid' in parts and 'knob' not in parts",
    "'and' in parts[1] and '' in colour",
    "colour in ('red', 'blue') and colour in {'red'} and size not in [1, 2]",
    "'x' in box and 10 not in box",
    "(1, 2) in {(1, 2)} and [1] in [[1]] and (1, 2) not in {1: 2}",
    "3 in (x for x in series) and 5 not in (x for x in series)",
    "2 in (4 // x for x in [2, 0])",
    # identity
    "label is None and hidden is False and size is not None and (1 == 1) is True",
    "1 is not True and 1 is not 1.0 and 0 is not False",
    "size is 3 and colour is 'red' and [1] is [1] and [1] is not [2]",
    # logic keeps Python's values and short circuits
    "(0 or 'x') == 'x' and (0 and 1 / 0) == 0 and ('' or 0 or None) is None",
    "(1 and 2 and 3) == 3 and (1 and 0 and 1 / 0) == 0",
    "True or 1 / 0",
    "not (False and 1 / 0)",
    "not not size",
    "not hidden and size > 2 or 1 / 0",
    # arithmetic and its precedence
    "1 + 2 * 3 == 7 and (1 + 2) * 3 == 9",
    "7 // 2 == 3 and -7 // 2 == -4 and 7 % 3 == 1 and -7 % 3 == 2 and 7 / 2 == 3.5",
    "2 ** 3 ** 2 == 512 and -2 ** 2 == -4 and 2 ** -1 == 0.5 and 0 ** 0 == 1",
    "1 << 4 == 16 and 256 >> 4 == 16 and 1 << 2 + 1 == 8",
    "10 - 3 - 2 == 5 and 100 / 10 / 2 == 5",
    "True + True == 2 and size * height == 37.5",
    "'ab' + 'c' == 'abc' and [1] + [2] == [1, 2] and (1,) + (2,) == (1, 2)",
    "'ab' * 2 == 'abab' and 2 * [0] == [0, 0] and [1] * -1 == [] and (1,) * True == (1,)",
    "{1, 2, 3} - {2} == {1, 3}",
    "1 ** 10 ** 30 == 1 and (-1) ** (10 ** 30 + 1) == -1 and 0 ** 10 ** 30 == 0",
    # conditional expressions
    "(1 if hidden else 2) == 2",
    "(1 / 0 if hidden else size) == 3",
    "'a' if size > 5 else 'b' if size > 4 else True",
    # subscripts and slices
    "parts[0] == 'lid' and parts[-1] == 'lid' and colour[1] == 'e' and (5, 6)[1] == 6",
    "box['y'][1] == 30 and pairs[1][0] == 'b'",
    "{(1, 2): 3}[1, 2] == 3",
    "series[1:] == [1, 3] and series[:-1] == [4, 1] and series[::-1] == [3, 1, 4] and series[:] == series",
    "colour[::2] == 'rd' and series[10:] == [] and series[size - 2 : 2] == [1]",
    "series[:: 10 ** 100] == [4] and series[-(10 ** 100) : 10 ** 100] == series",
    # comprehensions
    "[x * 2 for x in series] == [8, 2, 6]",
    "[x for x in series if x > 1 if x < 4] == [3]",
    "[(x, y) for x in [1, 2] for y in [x, 9] if y != 1] == [(1, 9), (2, 2), (2, 9)]",
    "{len(p) for p in parts} == {3, 6}",
    "{k: v for k, v in pairs} == {'a': 1, 'b': 2}",
    "[k for k in box] == ['x', 'y'] and [c for c in 'ab'] == ['a', 'b']",
    "[[y for y in [x, x + 1]] for x in [1, 5]] == [[1, 2], [5, 6]]",
    "[size for size in [size, 9]] == [3, 9] and size == 3",
    "[x for x in [1, 2] for x in [x * 10]] == [10, 20]",
    "[x for x in (y + 1 for y in [1])] == [2]",
    "[b for a, (b) in pairs] == [1, 2] and [x for (x,) in [[5]]] == [5]",
    "[x + size for x in series] == [7, 4, 6]",
    "any(x == y for x in series for y in [x - 1, 3])",
    "[x for x in {'b', 'c', 'a', 'd'}] == ['a', 'b', 'c', 'd']",
    # functions
    "len(parts) == 3 and len(colour) == 3 and len(box) == 2 and len(set()) == 0 and len(()) == 0",
    "any([0, 1]) and not any([]) and all([]) and not all([1, 0]) and any(parts)",
    "any(1 / x > 0 for x in [1, 0]) and not all(1 / x < 0 for x in [1, 0])",
    "min(series) == 1 and max(series) == 4 and max(3, 9, 5) == 9 and min('b', 'a') == 'a'",
    "min([], default=5) == 5 and max((x for x in []), default=None) is None and max([1], default=5) == 1",
    "max([1, 2], [1, 3]) == [1, 3] and min({3, 2}) == 2 and max(box) == 'y'",
    "sum(series) == 8 and sum([0.5, 1]) == 1.5 and sum([], 4) == 4 and sum([1], start=4) == 5",
    "sum(x > 1 for x in series) == 2",
    "set(parts) == {'lid', 'handle'} and set() == set([]) and set('aab') == {'a', 'b'}",
    "sorted(series) == [1, 3, 4] and sorted(parts, reverse=True)[0] == 'lid' and sorted('ba') == ['a', 'b']",
    "sorted({3, 1, 2}) == [1, 2, 3] and sorted([[2], [1, 5]]) == [[1, 5], [2]]",
    "abs(-3) == 3 and abs(-2.5) == 2.5",
    "round(2.5) == 2 and round(3.14159, 2) == 3.14 and round(1234, -2) == 1200 and round(2.6, None) == 3",
    # a fact may be named like a function
    "sum > 6 and sum([sum, 1]) == 8",
    # form
    "  size == 3\n",
    "(size\n  == 3)",
    "size == 3  # three stripes",
]


@pytest.mark.parametrize("predicate", TRUE)
def test_value(predicate: str) -> None:
    assert evaluate(predicate, FACTS) is True
    assert evaluate(f"not ({predicate}\n)", FACTS) is False


def test_facts_stay_as_they_are_and_may_be_read_only() -> None:
    facts = {"series": [3, 1, 2], "box": {"b": 1, "a": 2}}
    predicate = "sorted(series) == [1, 2, 3] and [k for k in box] == ['b', 'a'] and series * 2 != series"
    assert evaluate(predicate, facts)
    assert evaluate(predicate, MappingProxyType(facts))
    assert facts == {"series": [3, 1, 2], "box": {"b": 1, "a": 2}}


def test_literals_are_the_same_in_every_evaluation() -> None:
    predicate = "[x for x in [3, 1]] + [[2]] * n == [3, 1] + [[2]] * n"
    assert all(evaluate(predicate, {"n": n}) for n in (0, 2, 1))


FAILS = [
    ("size", "must be True or False, but it is of type int"),
    ("colour and hidden or label", "of type NoneType"),
    ("size > missing", "no fact 'missing'; the facts are colour, size"),
    ("True or missing", "no fact 'missing'"),
    ("1 / (size - 3) > 0", "division by zero"),
    ("size % 0 == 0", "modulo"),
    ("0 ** -1 > 0", "negative power"),
    ("parts[3] == 'lid'", "list index out of range"),
    ("box['z'] == 1", "a dict has no key 'z'"),
    ("colour > size", "'>' not supported between instances of 'str' and 'int'"),
    ("colour + size == 1", "str"),
    ("size in size", "int"),
    ("size in colour", "requires string"),
    ("len(size) == 1", "len()"),
    ("abs(colour) == 1", "abs()"),
    ("round(colour) == 1", "__round__"),
    ("-colour == 1", "str"),
    ("size[0] == 1", "subscriptable"),
    ("set(parts)[0] == 'lid'", "subscriptable"),
    ("parts['lid'] == 1", "indices"),
    ("min([]) == 1", "empty"),
    ("max(1, 2, default=3) == 1", "default"),
    ("max(size) == 1", "cannot be iterated over"),
    ("any(size)", "cannot be iterated over"),
    ("sorted([1, 'a']) == []", "not supported"),
    ("sum(['a']) == 'a'", "sum() adds numbers"),
    ("sum([1], 2, start=3) == 1", "sum"),
    ("[a for a, b in [[1, 2, 3]]] == []", "2 names cannot be bound to 3 values"),
    ("{[1]} == {1}", "unhashable"),
    ("{parts: 1} == {}", "unhashable"),
    ("series in {1, 2}", "unhashable"),
    ("1.5 << 2 == 6", "unsupported operand"),
    ("1 << -1 == 0", "negative shift"),
    ("10.0 ** 400 > 1", "400 > 1': Numerical result out of range"),
    ("1e308 * 10 > 1", "not a finite real number"),
    ("(-8) ** 0.5 == 1", "not a finite real number"),
]


@pytest.mark.parametrize(("predicate", "reason"), FAILS)
def test_failure_names_predicate_and_reason(predicate: str, reason: str) -> None:
    with pytest.raises(PredicateError) as caught:
        evaluate(predicate, FACTS)
    assert str(caught.value).startswith(f"predicate {predicate!r}: ")
    assert reason in str(caught.value)


# --- what is refused

OUTSIDE = [
    # other syntax
    "colour.upper() == 'RED'",
    "().__class__.__base__.__subclasses__() == []",
    "'{0.__class__}'.format(1) == ''",
    "(lambda: True)()",
    "(x := 3) == 3",
    "[y := 1, y] == [1, 1]",
    "f'{size}' == '3'",
    "[*series] == series",
    "max(*series) == 4",
    "{**box} == box",
    "max(**box) == 4",
    "(yield)",
    "(yield from series)",
    "(await size) == 3",
    "[x async for x in series] == []",
    "import os",
    "size = 3",
    "size == 3; True",
    "size == 3\nsize == 3",
    "del size",
    "print(1)",
    "`1`",
    "1 <> 2",
    "",
    "   ",
    "#",
    "size ==",
    "(size == 3",
    "~size == -4",
    "size | 1 == 3",
    "size & 1 == 1",
    "size ^ 1 == 2",
    "size @ 1 == 3",
    "... == 1",
    "b'a' == 'a'",
    "1j == 1",
    "1e999 > 1",
    "__debug__.x",
    # calls
    "__import__('os').system('true') == 0",
    "eval('True')",
    "open('/etc/passwd') == 1",
    "getattr(size, 'real') == 3",
    "type(size) == 3",
    "str(size) == '3'",
    "range(3) == 1",
    "colour()",
    "len",
    "len(len) == 1",
    "(len)(parts)(1)",
    "[len][0](parts) == 3",
    "(len if True else len)(parts) == 3",
    "[max(1, 2) for max in [1]] == [2]",
    "len() == 0",
    "len(parts, parts) == 3",
    "len(obj=parts) == 3",
    "sorted(parts, key=len) == parts",
    "max(parts, key=len) == 1",
    "round(1.5, ndigits=1) == 1.5",
    "set(a=1) == 1",
    "sorted() == []",
    "min() == 1",
    # generators and names of comprehensions
    "(x for x in series)",
    "(x for x in series) == 1",
    "len(x for x in series) == 3",
    "[(x for x in series)] == 1",
    "min((x for x in series), (x for x in series)) == 1",
    "x == 1 and [x for x in series] == series",
    "[y for x in y for y in series] == []",
    "[x for x in series if z for z in series] == []",
    "[1 for x[0] in series] == []",
    "[1 for [a, b] in pairs] == []",
    "[1 for a, (b, c) in pairs] == []",
    "[1 for a, *b in pairs] == []",
    "[1 for size.x in pairs] == []",
    # slices that are not
    "box[1:2] == 1",
    "series[1:2, 0] == 1",
    "series['a':] == 1",
    "size[1:] == 1",
    "(1:2) == 1",
    # depth
    "(" * 199 + "True" + ")" * 199 + " and 1 / 0",
    "(" * 2_000 + "True" + ")" * 2_000,
    "not " * 1_000 + "True",
    "-" * 4_000 + "1 == 1",
    "[" * 190 + "]" * 190 + " == []",
    "1 if True else " * 250 + "True",
    "+".join(["size"] * 400) + " > 1",
    "2" + "**2" * 1_300 + " > 1",
    "True == (" * 150 + "True" + ")" * 150,
    "parts" + "[0]" * 1_000 + " == 1",
    "{" * 500,
    "[x for x in " * 150,
    # numbers
    "9" * 4_000 + " > 1",
    "0x" + "f" * 4_000 + " > 1",
    "0x1" + "0" * 256 + " > 1",
    "9 ** 9 ** 9 > 1",
    "2 ** 1024 > 1",
    "10 ** 10 ** 10 ** 10 > 1",
    "size ** 100000000 > 1",
    "(-3) ** 100000001 < 1",
    "1 << 10 ** 10 > 1",
    "1 << 1024 > 1",
    "1 << (1 << 1000) > 1",
    "1 >> 10 ** 300 == 0",
    "2 ** 1000 * 2 ** 1000 > 1",
    "sum([2 ** 1023, 2 ** 1023]) > 1",
    "[x ** x ** x for x in [9]] == []",
    "round(10, -(10 ** 9)) == 0",
    "round(1.5, 10 ** 300) == 1.5",
    "round(5, -31) == 0",
    # repetition and concatenation
    "len('a' * 10 ** 10) > 1",
    "len([0] * 10 ** 10) > 1",
    "len(10 ** 300 * (0,)) > 1",
    "len('abc' * 50000) > 1",
    "len([[0] * 1000] * 1000) > 1",
    "len(['a' * 1000] * 1000) > 1",
    "len('a' * 90000 + 'a' * 90000) > 1",
    "[[[[0] * 99] * 99] * 99] * 99 == [[[[0] * 99] * 99] * 99] * 99",
    "len([" + ", ".join(["'a' * 99999"] * 200) + "]) == 1",
    "max(" + ", ".join(["[0] * 99999"] * 200) + ") == [0]",
    "len(['a' * 50000 for x in [0] * 1000]) > 1",
    "len([[0] * 50000 for x in [0] * 1000]) > 1",
    "len({x: 'a' * 50000 for x in [1, 2, 3]}) > 1",
    "all(len('a' * 99999) > 1 for x in [0] * 1000)",
    # text formatting
    "'%1000000000d' % 5 == ''",
    "'%s' % size == '3'",
    "'%(a)s' % box == ''",
    # sum is for numbers
    "sum([[1], [2]], []) == [1, 2]",
    "sum([[1], [2]]) == [1, 2]",
    "sum([], 'a') == 'a'",
    # sets
    "{{1}} == {1}",
    "{set()} == {1}",
    "{[]: 1} == {}",
    "len(set([0] * 1001)) == 1",
    "len({x for x in [0] * 1001}) == 1",
    "len({x: x for x in [0] * 1001}) == 1",
    # loops
    "any(False for a in [0] * 1000 for b in [0] * 1000 for c in [0] * 1000)",
    "len([1 for a in [0] * 1000 for b in [0] * 1000 for c in [0] * 1000 if False]) == 0",
    "[[[0 for c in [0] * 999] for b in [0] * 999] for a in [0] * 999] == []",
    "all(sorted([0] * 50000) for x in [0] * 1000)",
    "all(sum([1] * 9999) for x in [0] * 9999)",
    "all(s in s for x in [0] * 99999 for s in ['a' * 50000])",
    "all(t == [0] * 9999 for x in [0] * 9999 for t in [[0] * 9999])",
    "all({t: 1}[t] for x in [0] * 9999 for t in [(0,) * 9999])",
    "all(t in {1} or True for x in [0] * 9999 for t in [(0,) * 9999])",
    "all([1 for x in s] for x in [0] * 9999 for s in [{'a' * 90000}])",
    "all(t[1:] for x in [0] * 9999 for t in [[0] * 9999])",
    "all(max(t, t) for x in [0] * 9999 for t in [[0] * 9999])",
    # characters
    "size\x00 == 3",
    "'\x00' == colour",
    "\ud800 == 1",
    "'\udfff' == colour",
    "\ufeffsize == 3",
    "size\u200b == 3",
    "ſum([1]).x == 1",
    "a" * 4_097,
    " " * 5_000 + "True",
]


@pytest.mark.parametrize("predicate", OUTSIDE, ids=lambda text: ascii(text[:40]))
def test_hostile_predicate_is_refused_within_bounded_memory(predicate: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(PredicateError) as caught:
            evaluate(predicate, FACTS)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 2_000
    assert "seconds" not in str(caught.value), "the steps must refuse it before the clock does"


@pytest.mark.parametrize(
    "predicate", [None, 3, b"True", ["True"], {"a": 1}, 1 << 20_000, object()], ids=lambda value: type(value).__name__
)
def test_what_is_not_text_is_refused(predicate: Any) -> None:
    for call in (analyse, lambda text: evaluate(text, FACTS)):
        with pytest.raises(PredicateError, match="must be a str"):
            call(predicate)


class Loud(Exception):
    """Raised by facts that run code when they are used."""


def loud(base: type) -> type:
    def shout(*args: Any) -> Any:
        raise Loud

    names = ["eq", "lt", "gt", "hash", "len", "iter", "getitem", "contains", "bool", "add", "index", "repr", "str"]
    return type(f"Loud{base.__name__}", (base,), {f"__{name}__": shout for name in names})


@pytest.mark.parametrize("base", [dict, list, str, int, float, tuple, object, OrderedDict])
@pytest.mark.parametrize("place", ["alone", "in a list", "in a dict", "unused"])
def test_facts_of_a_subclass_are_refused_without_running_their_code(base: type, place: str) -> None:
    value = loud(base)()
    facts = {"alone": {"a": value}, "in a list": {"a": [1, value]}, "in a dict": {"a": {"b": value}}}
    with pytest.raises(PredicateError, match="type Loud") as caught:
        evaluate("a == 1", facts.get(place, {"a": 1, "b": value}))
    assert not isinstance(caught.value.__cause__, Loud)


@pytest.mark.parametrize("facts", [loud(dict)(), OrderedDict(a=1), [("a", 1)], None, "a", 3])
def test_facts_must_be_a_dict(facts: Any) -> None:
    with pytest.raises(PredicateError, match="must be a dict, not"):
        evaluate("a == 1", facts)


def test_facts_that_contain_themselves_are_refused() -> None:
    one: list[Any] = []
    one.append(one)
    two: dict[str, Any] = {}
    two.update(a=two, b=two)
    for value in (one, [one, one], two):
        with pytest.raises(PredicateError, match=r"fact 'a' (is nested more than|makes the facts larger)"):
            evaluate("True", {"a": value})


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "not finite"),
        (float("-inf"), "not finite"),
        (1 << 1_024, "1,024 bits"),
        (-(1 << 1_024), "1,024 bits"),
        (b"a", "type bytes"),
        ((1, 2), "type tuple"),
        ({1, 2}, "type set"),
        ([1j], "type complex"),
        ({1: 2}, "key of type int"),
        ({"a": {None: 2}}, "key of type NoneType"),
        (nested(33), "nested"),
        ("a" * 100_000, "larger"),
        ([0] * 100_000, "larger"),
        ({"a" * 50_000: "a" * 50_000}, "larger"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_facts_outside_json_or_the_bounds_are_refused(value: Any, reason: str) -> None:
    with pytest.raises(PredicateError, match=f"fact 'a' .*{reason}"):
        evaluate("True", {"a": value})


def test_facts_need_names() -> None:
    with pytest.raises(PredicateError, match="name of a fact must be a str, not int"):
        evaluate("True", {1: 2})  # type: ignore[dict-item]


# --- the bounds themselves: the last thing inside is accepted, the first outside is not


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ("True" + " " * 4_092, "True" + " " * 4_093),
        (" or ".join(["True"] * 499), " or ".join(["True"] * 500)),
        ("not " * 98 + "True", "not " * 100 + "True"),
        (f"{2**1024 - 1} > 0", f"{2**1024} > 0"),
        ("2 ** 1023 > 0", "2 ** 1023 + 2 ** 1023 > 0"),
        ("1 << 1023 > 0", "2 << 1023 > 0"),
        ("round(0.5, -30) == 0", "round(0.5, -31) == 0"),
        ("len([0] * 50000) == 50000", "len([0] * 50001) == 50001"),
        ("len('a' * 50000) == 50000", "len('a' * 50001) == 50001"),
        ("len(set([0] * 1000)) == 1", "len(set([0] * 1001)) == 1"),
    ],
    ids=["text", "nodes", "depth", "literal", "power", "shift", "digits", "list", "str", "set"],
)
def test_bounds(inside: str, outside: str) -> None:
    assert evaluate(inside, {}) is True
    with pytest.raises(PredicateError):
        evaluate(outside, {})


def test_facts_up_to_the_bounds_are_accepted() -> None:
    assert evaluate("len(a) == 99996", {"a": [0] * 99_996, "b": True})
    assert evaluate("a == a", {"a": nested(32)})
    assert evaluate("a > 0 and -a < 0", {"a": (1 << 1_024) - 1})


def test_colliding_hashes_stay_cheap() -> None:
    # Multiples of this prime all have the hash 0, so a set of them compares each with each.
    prime = 2**61 - 1
    assert evaluate("len(set(a)) == 1000", {"a": [number * prime for number in range(1_000)]})


def test_comparing_long_texts_costs_steps() -> None:
    # Texts of different storage width are compared character by character.
    facts = {"a": "x" * 40_000 + "\u00e9", "b": "x" * 40_000 + "\u2603", "n": list(range(1_000))}
    with pytest.raises(PredicateError, match="steps"):
        evaluate("all(a < b for i in n)", facts)


def test_clock_is_the_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(1_000))
    monkeypatch.setattr(vpir, "monotonic", lambda: next(seconds))
    with pytest.raises(PredicateError, match="takes more than 2 seconds"):
        evaluate("any(False for x in [0] * 100)", {})


def test_recursion_near_the_interpreters_limit_is_refused_too() -> None:
    def deep(levels: int) -> bool:
        return deep(levels - 1) if levels else evaluate("not " * 98 + "True", {})

    outcomes = set()
    for levels in range(0, 1_000, 20):
        try:
            outcomes.add(deep(levels))
        except PredicateError as error:
            outcomes.add("recursion" in str(error))
        except RecursionError:  # the test's own calls
            break
    assert outcomes == {True}


# --- logical shape


@pytest.mark.parametrize(
    ("predicate", "operators", "groups", "family", "complexity"),
    [
        ("(a and b) and ((c and d) or (e and f))", 5, 4, "mixed without negation", "complex"),
        ("((a and b) or c) and (d and not e)", 5, 3, "conjunction with negation", "complex"),
        ("(a or b) and (c and not d)", 4, 2, "conjunction with negation", "complex"),
        ("((a and b) or (c and d)) and e", 4, 3, "mixed without negation", "complex"),
        ("not a or (b and c)", 3, 1, "disjunction with negation", "intermediate"),
        ("not (a and b)", 2, 1, "terminal negation", "simple"),
        ("not ((a and b) or (c and d))", 4, 3, "terminal negation", "complex"),
        ("a and b", 1, 0, "other", "simple"),
        ("a and b and c", 2, 0, "other", "simple"),
        ("a or b or c or d or e", 4, 0, "other", "intermediate"),
        ("a", 0, 0, "other", "intermediate"),
        ("a > 3 and a < 5", 1, 0, "other", "intermediate"),
        ("a not in b and c is not None", 1, 0, "other", "simple"),
        ("(a and b) == (c or d)", 2, 0, "mixed without negation", "simple"),
        ("(a and not b) == c", 2, 0, "other", "simple"),
        ("any(x and (a or b) for x in c) and d", 3, 2, "mixed without negation", "intermediate"),
        ("(a and b and c and d) or (not a and not b)", 7, 2, "disjunction with negation", "complex"),
    ],
)
def test_analysis(predicate: str, operators: int, groups: int, family: str, complexity: str) -> None:
    analysis = analyse(predicate)
    assert (analysis.operators, analysis.groups) == (operators, groups)
    assert (analysis.family, analysis.complexity) == (family, complexity)


@pytest.mark.parametrize(
    ("predicate", "keys"),
    [
        ("b > a and b < c", ("b", "a", "c")),
        ("[x + k for x in series if y] == z", ("k", "series", "y", "z")),
        ("[x for x in x] == x", ("x",)),
        ("any(n == size for n, m in pairs)", ("size", "pairs")),
        ("sum([a]) == sum", ("a", "sum")),
        ("(a if b else c) == {d: e}[f][g:h]", ("a", "b", "c", "d", "e", "f", "g", "h")),
        ("(b ==\n a)", ("b", "a")),
        ("True", ()),
    ],
)
def test_analysis_lists_facts_in_the_order_of_the_text(predicate: str, keys: tuple[str, ...]) -> None:
    assert analyse(predicate).keys == keys


@pytest.mark.parametrize("predicate", ["a.b", "a |", "f(a)", "a" * 5_000, "\x00", "(x for x in a)"])
def test_analysis_refuses_what_is_outside_the_language(predicate: str) -> None:
    with pytest.raises(PredicateError):
        analyse(predicate)


# --- properties


@dataclass(frozen=True)
class Expression:
    """An expression's text and, as the reference, what Python's own operators make of it."""

    text: str
    value: Callable[[dict[str, Any]], Any]


def finite(value: Any) -> Any:
    if type(value) is complex or (type(value) is float and abs(value) == float("inf")):
        raise OverflowError
    if type(value) is int and value.bit_length() > vpir.MAX_BITS:
        raise OverflowError
    return value


def times(left: Any, right: Any) -> Any:
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple) and isinstance(count, int) and len(sequence) * count > 30:
            reject()
    return left * right


def power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > 2 * vpir.MAX_BITS:
        if abs(base) > 1:
            raise OverflowError
        reject()
    return base**exponent


def shift(left: Any, right: Any) -> Any:
    if isinstance(right, int) and right > vpir.MAX_BITS:
        raise OverflowError
    return left << right


def remainder(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise TypeError
    return left % right


def same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


def total(values: Any) -> Any:
    values = list(values)
    if any(type(value) not in (int, bool, float) for value in values):
        raise TypeError
    return sum(values)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": times,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": remainder,
    "**": power,
    "<<": shift,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": same,
    "is not": lambda left, right: not same(left, right),
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "not {}": operator.not_,
    "-{}": operator.neg,
    "+{}": operator.pos,
    "len({})": len,
    "any({})": any,
    "all({})": all,
    "min({})": min,
    "max({})": max,
    "sum({})": total,
    "sorted({})": sorted,
    "len(set({}))": lambda value: len(set(value)),
    "abs({})": abs,
    "round({})": round,
}
RANDOM_FACTS: dict[str, Any] = {
    "n": 3,
    "f": -2.5,
    "s": "abc",
    "t": True,
    "none": None,
    "l": [3, 1, 2],
    "words": ["b", "a"],
    "d": {"a": 1, "b": [2]},
}


def compound(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    def binary(op: str, left: Expression, right: Expression) -> Expression:
        text = f"({left.text} {op} {right.text})"
        return Expression(text, lambda names: finite(BINARY[op](left.value(names), right.value(names))))

    def unary(form: str, operand: Expression) -> Expression:
        text = f"({form.format(operand.text)})"
        return Expression(text, lambda names: finite(UNARY[form](operand.value(names))))

    def either(left: Expression, right: Expression) -> Expression:
        return Expression(f"({left.text} or {right.text})", lambda names: left.value(names) or right.value(names))

    def both(first: Expression, second: Expression, third: Expression) -> Expression:
        return Expression(
            f"({first.text} and {second.text} and {third.text})",
            lambda names: first.value(names) and second.value(names) and third.value(names),
        )

    def chain(first: Expression, second: Expression, third: Expression) -> Expression:
        return Expression(
            f"({first.text} < {second.text} != {third.text})",
            lambda names: first.value(names) < (middle := second.value(names)) and middle != third.value(names),
        )

    def conditional(test: Expression, body: Expression, other: Expression) -> Expression:
        return Expression(
            f"({body.text} if {test.text} else {other.text})",
            lambda names: body.value(names) if test.value(names) else other.value(names),
        )

    def display(first: Expression, second: Expression) -> Expression:
        return Expression(f"[{first.text}, {second.text}]", lambda names: [first.value(names), second.value(names)])

    def subscript(value: Expression, index: Expression) -> Expression:
        return Expression(f"{value.text}[{index.text}]", lambda names: value.value(names)[index.value(names)])

    def part(value: Expression, start: Expression, step: Expression) -> Expression:
        return Expression(
            f"{value.text}[{start.text}::{step.text}]",
            lambda names: value.value(names)[start.value(names) :: step.value(names)],
        )

    def loop(source: Expression, element: Expression, condition: Expression) -> Expression:
        def run(names: dict[str, Any]) -> Iterator[Any]:
            for item in source.value(names):
                inner_names = {**names, "n": item}
                if condition.value(inner_names):
                    yield element.value(inner_names)

        text = f"{element.text} for n in {source.text} if {condition.text}"
        return Expression(f"[{text}]", lambda names: list(run(names)))

    def search(source: Expression, element: Expression) -> Expression:
        text = f"any({element.text} for n in {source.text})"
        return Expression(text, lambda names: any(element.value({**names, "n": item}) for item in source.value(names)))

    return st.one_of(
        st.builds(binary, st.sampled_from(list(BINARY)), inner, inner),
        st.builds(unary, st.sampled_from(list(UNARY)), inner),
        st.builds(either, inner, inner),
        st.builds(both, inner, inner, inner),
        st.builds(chain, inner, inner, inner),
        st.builds(conditional, inner, inner, inner),
        st.builds(display, inner, inner),
        st.builds(subscript, inner, inner),
        st.builds(part, inner, inner, inner),
        st.builds(loop, inner, inner, inner),
        st.builds(search, inner, inner),
    )


def leaf(value: Any) -> Expression:
    return Expression(repr(value), lambda names: value)


def name(key: str) -> Expression:
    return Expression(key, lambda names: names[key])


expressions = st.recursive(
    st.one_of(
        st.sampled_from(sorted(RANDOM_FACTS)).map(name),
        st.sampled_from([0, 1, 2, 7, 0.5, 1e200, "a", "", None, True, False, [1, 2], [], (1, "a")]).map(leaf),
    ),
    compound,
    max_leaves=8,
)


@settings(max_examples=600, deadline=None)
@given(expressions)
def test_value_is_pythons(expression: Expression) -> None:
    try:
        expected = finite(expression.value(RANDOM_FACTS))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        with pytest.raises(PredicateError):
            evaluate(f"({expression.text}) is None or True", RANDOM_FACTS)
        return
    assume(len(repr(expected)) < 2_000)
    assert evaluate(f"({expression.text}) is ({expected!r})", RANDOM_FACTS) is True


TOKENS = """
    a b size parts colour 1 0 9 -2 1.5 'x' '%d' None True ( ) [ ] { } , : . = == < >= != in not and or is if else for
    + - * / // % ** << >> ~ | := lambda len( sum( max( sorted( set( any( round( reverse= default= *parts
"""
tokens = st.lists(st.sampled_from(TOKENS.split()), max_size=24).map(" ".join)


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(st.characters(), max_size=40), tokens))
@example("\ud800")
@example("'\\ud800' == colour")
@pytest.mark.filterwarnings("ignore")
def test_any_text_is_a_value_or_a_predicate_error(text: str) -> None:
    for call in (analyse, lambda predicate: evaluate(predicate, FACTS)):
        try:
            call(text)
        except PredicateError as error:
            assert str(error).startswith("predicate ")
            str(error).encode()


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner),
    )
)
def test_any_facts_are_a_value_or_a_predicate_error(value: Any) -> None:
    try:
        assert evaluate("a == a and a is a and a in [a]", {"a": value}) is True
    except PredicateError as error:
        assert "fact 'a'" in str(error)
