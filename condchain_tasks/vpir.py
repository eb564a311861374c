"""The predicate language of the verifiable intermediate form (MM-CondChain, arXiv 2603.12266, section 3).

A predicate is one Python expression over the facts of a subject, a JSON object, and its value is `True` or `False`.
The language has literals, displays, comparisons and their chains, `and or not`, `in`, `is`, arithmetic,
`a if c else b`, subscripts, slices, comprehensions, and calls of `abs all any len max min round set sorted sum`.
Values and precedence are Python's, with these differences:

- every fact that a predicate names must exist, even where a short circuit would pass it by;
- `a is b` means same type and equal, which for `None`, `True` and `False` is identity: JSON has no other;
- numbers are finite, `%` does not format text, `sum` adds numbers only, a generator stands only where it is consumed
  at once, and a comprehension's name is not used before the `for` that binds it;
- a set is iterated in the order of its elements' `repr`, so that no result depends on the hash seed.

Predicates and facts come from data files and are not trusted. Only the node types in `_LANGUAGE` are ever run, facts
are exact JSON types (a subclass could run code), and everything is bounded: text, syntax tree, facts, each
intermediate value, and the work, which is counted in steps, so that the same predicate is refused everywhere.

Why not a published evaluator (`tests/benchmarks/bench_vpir.py` shows what follows): with the limits they come with,
`'%1000000000d' % 5` takes 1 GB in `simpleeval` 1.0.8 and in `asteval` 1.0.10, and `round(10, -(10 ** 8))` is not
done in 5 s; `simpleeval` spends seconds on `7 ** 3999999` and more on comparing nested repetitions; `asteval` bounds
neither loops nor lists nor powers of powers. Both read attributes, guarded by lists of forbidden names, and neither
bounds time or memory as a whole. Evaluations a second, theirs with the expression parsed beforehand and no check of
facts: a COMPLEX predicate on 12 facts runs here 1.6 times as fast as in `simpleeval` and 4 times as fast as in
`asteval`, one with a loop 3 and 6 times, a SIMPLE one 0.8 and 1.8 times.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from types import GeneratorType, MappingProxyType
from typing import Any, Literal

MAX_TEXT = 4_096
"""Characters of a predicate: far above any real one, and what bounds the time and the stack of Python's parser."""
MAX_NODES = 500
"""Expressions in a predicate: COMPLEX ones have about 40, and code outside loops then costs microseconds."""
MAX_DEPTH = 100
"""Levels of the syntax tree: evaluation nests as deeply, well within Python's default recursion limit of 1,000."""
MAX_FACT_DEPTH = 32
"""Levels of lists and dicts in a fact: comparing and hashing recurse in C, and a fact may contain itself."""
MAX_SIZE = 100_000
"""Size of all facts together and of every value, each value counting 1 plus its characters: a few MB."""
MAX_HASHED = 1_000
"""Elements put into a set or dict: colliding hashes can be built on purpose and cost the square of this."""
MAX_BITS = 1_024
"""Bits of a whole number: the range of floats, so that mixed arithmetic keeps working up to the bound."""
MAX_DIGITS = 30
"""Absolute value of the digits in `round`: beyond it nothing changes but the cost of a power of ten."""
MAX_STEPS = 1_000_000
"""Work of one evaluation, in nodes run inside loops plus the sizes of values handled: about 0.1 to 0.3 s."""
MAX_SECONDS = 2.0
"""Last resort for work that steps do not foresee, such as colliding hashes; ten times what the steps allow."""
CACHED_PREDICATES = 512
"""Predicates kept ready to run: enough for a run that tries each on many subjects; the largest take 0.2 MB."""

Family = Literal[
    "conjunction with negation",
    "disjunction with negation",
    "terminal negation",
    "mixed without negation",
    "other",
]

# What a run works on: steps left, the deadline, the named facts in order of slot, then, indexed from the end,
# the names that comprehensions bind. Nothing recurses and every generator is consumed where it stands, so one
# slot for each such name is enough.
_Frame = list[Any]
_Code = Callable[[_Frame], Any]
_Items = Callable[[_Frame], Iterator[Any]]
_Scope = Mapping[str, int | None]

_FIRST_FACT = 2
_LIMIT = 1 << MAX_BITS
_INTEGERS = frozenset({int, bool})
_NUMBERS = frozenset({int, bool, float})
_SEQUENCES = frozenset({str, list, tuple})
_CONTAINERS = frozenset({list, tuple, set, dict})
_ITERABLES = _CONTAINERS | {str}


class PredicateError(ValueError):
    """A predicate, or the facts it is applied to, is outside the language or its bounds."""


class _Reason(Exception):
    """Why a predicate is refused; the public functions add which."""


@dataclass(frozen=True)
class Analysis:
    """The logical shape of a predicate.

    Attributes:
        operators: Logical operators: n-1 for an `and` or `or` of n operands, 1 for a `not`.
        keys: Facts that it names, in the order of their first appearance in the text.
        groups: Conjunctions and disjunctions inside another logical operator.
        family: The paper's logic family. "with negation" goes by the outermost operator and a `not` anywhere;
            "terminal negation" is an outermost `not`; "mixed without negation" has `and` and `or` but no `not`.
    """

    operators: int
    keys: tuple[str, ...]
    groups: int
    family: Family

    @property
    def complexity(self) -> Literal["simple", "intermediate", "complex"]:
        """The paper's SIMPLE (at most 2 operators, at least 2 keys) or COMPLEX (at least 4, 4 and 2 groups)."""
        if self.operators <= 2 and len(self.keys) >= 2:
            return "simple"
        if self.operators >= 4 and len(self.keys) >= 4 and self.groups >= 2:
            return "complex"
        return "intermediate"


@dataclass(frozen=True)
class _Program:
    """A predicate ready to run.

    Attributes:
        run: Evaluates it on a frame.
        facts: Names of the facts, in order of slot.
        locals: The frame's last part: one place for each name that a comprehension binds.
        analysis: Its logical shape.
    """

    run: _Code
    facts: tuple[str, ...]
    locals: tuple[None, ...]
    analysis: Analysis


def evaluate(predicate: str, facts: Mapping[str, object]) -> bool:
    """Evaluates a predicate on the facts of a subject.

    Args:
        predicate: One expression; white space around it does not count.
        facts: A JSON object: a `dict`, or a `MappingProxyType` of one, whose values are str, int, float, bool,
            None, list and dict, not subclasses of them.

    Returns:
        The predicate's value.

    Raises:
        PredicateError: The predicate is outside the language, names an unknown fact, fails (division by zero, a
            missing index, a type that does not fit), has a value that is not a bool, or exceeds a bound; or the
            facts are not JSON or exceed a bound.
    """
    try:
        program = _program(_text(predicate))
        known = _checked(facts)
        try:
            named = [known[key] for key in program.facts]
        except KeyError as error:
            raise _Reason(_unknown(error.args[0], known)) from None
        value = program.run([MAX_STEPS, monotonic() + MAX_SECONDS, *named, *program.locals])
        if type(value) is not bool:
            raise _Reason(f"its value must be True or False, but it is of type {type(value).__name__}")
    except Exception as error:
        raise _error(predicate, error) from error
    return value


def analyse(predicate: str) -> Analysis:
    """Describes the logical shape of a predicate without evaluating it.

    Args:
        predicate: One expression; white space around it does not count.

    Returns:
        Its operators, keys, nested groups, logic family and complexity.

    Raises:
        PredicateError: The predicate is outside the language or its bounds.
    """
    try:
        return _program(_text(predicate)).analysis
    except Exception as error:
        raise _error(predicate, error) from error


def _text(predicate: object) -> str:
    if type(predicate) is not str:
        raise _Reason(f"it must be a str, not {type(predicate).__name__}")
    if len(predicate) > MAX_TEXT:
        raise _Reason(f"it has {len(predicate):,} characters, at most {MAX_TEXT:,} are allowed")
    return predicate


def _error(predicate: object, error: Exception) -> PredicateError:
    shown = _shown(predicate) if type(predicate) is str else "(not text)"
    detail = error.args[-1] if error.args else type(error).__name__
    reason = f"a dict has no key {detail!r}" if isinstance(error, KeyError) else str(detail)
    return PredicateError(f"predicate {shown}: {_clipped(reason)}")


def _shown(text: str) -> str:
    return repr(_clipped(text))


def _clipped(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}..."


def _unknown(key: str, known: Mapping[str, object]) -> str:
    return f"there is no fact {_shown(key)}; the facts are {_clipped(', '.join(known)) or 'empty'}"


# --- facts


def _checked(facts: object) -> dict[str, Any]:
    """Returns the facts if they are JSON and within bounds."""
    known = dict(facts) if type(facts) is MappingProxyType else facts
    if type(known) is not dict:
        raise _Reason(f"the facts must be a dict, not {type(facts).__name__}")
    room = MAX_SIZE
    for key, value in known.items():
        if type(key) is not str:
            raise _Reason(f"the name of a fact must be a str, not {type(key).__name__}")
        try:
            room = _room_after(value, room - len(key), MAX_FACT_DEPTH)
        except _Reason as reason:
            raise _Reason(f"fact {_shown(key)} {reason}") from None
    return known


def _room_after(value: Any, room: int, depth: int) -> int:
    """Returns what remains of `room` after a fact's value."""
    kind = type(value)
    room -= 1
    if kind is str:
        room -= len(value)
    elif kind is int:
        if not -_LIMIT < value < _LIMIT:
            raise _Reason(f"holds a whole number of more than {MAX_BITS:,} bits")
    elif kind is float:
        if not math.isfinite(value):
            raise _Reason("holds a number that is not finite")
    elif kind is list or kind is dict:
        if not depth:
            raise _Reason(f"is nested more than {MAX_FACT_DEPTH} levels deep")
        if kind is dict:
            for key in value:
                if type(key) is not str:
                    raise _Reason(f"holds a dict with a key of type {type(key).__name__}, not str")
                room = _room_after(key, room, 0)
            value = value.values()
        for item in value:
            room = _room_after(item, room, depth - 1)
    elif value is not None and kind is not bool:
        raise _Reason(f"holds a value of type {kind.__name__}; JSON has str, int, float, bool, None, list, dict")
    if room < 0:
        raise _Reason(f"makes the facts larger than {MAX_SIZE:,} values and characters")
    return room


# --- bounded operations on values


def _charge(frame: _Frame, steps: int) -> None:
    frame[0] -= steps
    if frame[0] < 0:
        raise _Reason(f"it takes more than {MAX_STEPS:,} steps")
    if monotonic() > frame[1]:
        raise _Reason(f"it takes more than {MAX_SECONDS:g} seconds")


def _size(value: Any) -> int:
    kind = type(value)
    if kind is str:
        return 1 + len(value)
    if kind is dict:
        return 1 + sum(map(_size, value)) + sum(map(_size, value.values()))
    if kind in _CONTAINERS:
        return 1 + sum(map(_size, value))
    return 1


def _fits(size: int) -> None:
    if size > MAX_SIZE:
        raise _Reason(f"a value is larger than {MAX_SIZE:,} values and characters")


def _gather(frame: _Frame, values: Iterable[Any]) -> list[Any]:
    """Lists the values, stopping before they grow too large."""
    gathered = []
    size = 1
    for value in values:
        size += _size(value)
        _fits(size)
        gathered.append(value)
    _charge(frame, size)
    return gathered


def _items(frame: _Frame, value: Any) -> Iterator[Any]:
    """Iterates over a container or text, or over a comprehension's generator, which charges by itself."""
    kind = type(value)
    if kind is GeneratorType:
        return value  # type: ignore[no-any-return]
    if kind not in _ITERABLES:
        raise TypeError(f"a value of type {kind.__name__} cannot be iterated over")
    if kind is set:
        _charge(frame, _size(value))
        return iter(sorted(value, key=repr))
    _charge(frame, len(value))
    return iter(value)


def _hashable(values: list[Any]) -> list[Any]:
    if len(values) > MAX_HASHED:
        raise _Reason(f"a set or dict is made of more than {MAX_HASHED:,} elements")
    return values


def _number(value: Any) -> Any:
    kind = type(value)
    if kind is int:
        if not -_LIMIT < value < _LIMIT:
            raise _Reason(f"a whole number has more than {MAX_BITS:,} bits")
    elif kind is not float or not math.isfinite(value):
        raise _Reason("a result is not a finite real number")
    return value


def _add(frame: _Frame, left: Any, right: Any) -> Any:
    if type(left) in _SEQUENCES and type(left) is type(right):
        size = _size(left) + _size(right)
        _fits(size)
        _charge(frame, size)
        return left + right
    return _number(left + right)


def _subtract(frame: _Frame, left: Any, right: Any) -> Any:
    if type(left) is set and type(right) is set:
        _charge(frame, _size(left))
        return left - right
    return _number(left - right)


def _multiply(frame: _Frame, left: Any, right: Any) -> Any:
    for sequence, times in ((left, right), (right, left)):
        if type(sequence) in _SEQUENCES and type(times) in _INTEGERS:
            size = _size(sequence) * max(times, 0)
            _fits(size)
            _charge(frame, size)
            return sequence * times
    return _number(left * right)


def _modulo(frame: _Frame, left: Any, right: Any) -> Any:
    if type(left) is str:
        raise TypeError("'%' takes numbers; it does not format text")
    return _number(left % right)


def _power(frame: _Frame, base: Any, exponent: Any) -> Any:
    if type(base) in _INTEGERS and type(exponent) in _INTEGERS:
        # |base| >= 2 ** (bits - 1), so this refuses before anything large is computed.
        bits = (int(base).bit_length() - 1) * exponent
        if bits > MAX_BITS:
            raise _Reason(f"a power has more than {MAX_BITS:,} bits")
    return _number(base**exponent)


def _shift(shift: Callable[[Any, Any], Any]) -> Callable[[_Frame, Any, Any], Any]:
    def shifted(frame: _Frame, value: Any, places: Any) -> Any:
        if type(places) in _INTEGERS and places > MAX_BITS:
            raise _Reason(f"a number is shifted by more than {MAX_BITS:,} places")
        return _number(shift(value, places))

    return shifted


_ARITHMETIC: dict[type[ast.operator], Callable[[_Frame, Any, Any], Any]] = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _multiply,
    ast.Div: lambda frame, left, right: _number(left / right),
    ast.FloorDiv: lambda frame, left, right: _number(left // right),
    ast.Mod: _modulo,
    ast.Pow: _power,
    ast.LShift: _shift(operator.lshift),
    ast.RShift: _shift(operator.rshift),
}

_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: lambda value: _number(-value),
    ast.UAdd: lambda value: _number(+value),
}


def _is(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: _is,
    ast.IsNot: lambda left, right: not _is(left, right),
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


def _compare(frame: _Frame, compare: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Compares two values; it costs at most a walk over one of them, and nothing to speak of for numbers."""
    if type(left) in _ITERABLES and type(right) in _ITERABLES:
        _charge(frame, _size(left))
    return compare(left, right)


def _search(frame: _Frame, contains: Callable[[Any, Any], Any], item: Any, container: Any) -> Any:
    """Looks for an item in a container or text, or in a generator, which stops at the first one equal."""
    kind = type(container)
    if kind is GeneratorType:
        return contains(True, (any(_compare(frame, operator.eq, item, other) for other in container),))
    if kind is str or kind is list or kind is tuple:
        _charge(frame, _size(container) if type(item) in _CONTAINERS else len(container))
    elif type(item) is tuple:
        _charge(frame, _size(item))
    return contains(item, container)


def _subscript(frame: _Frame, value: Any, index: Any) -> Any:
    if type(index) is tuple:
        _charge(frame, _size(index))
    return value[index]


def _slice(frame: _Frame, value: Any, *bounds: Any) -> Any:
    part = value[slice(*bounds)]
    _charge(frame, _size(part))
    return part


# --- functions of the language


def _any(frame: _Frame, values: Any) -> bool:
    return any(_items(frame, values))


def _all(frame: _Frame, values: Any) -> bool:
    return all(_items(frame, values))


def _set(frame: _Frame, values: Any = ()) -> set[Any]:
    return set(_hashable(_gather(frame, _items(frame, values))))


def _sorted(frame: _Frame, values: Any, reverse: Any = False) -> list[Any]:
    items = _gather(frame, _items(frame, values))
    _charge(frame, _size(items) * len(items).bit_length())
    return sorted(items, reverse=reverse)


def _sum(frame: _Frame, values: Any, start: Any = 0) -> Any:
    items = _gather(frame, _items(frame, values))
    for item in (start, *items):
        if type(item) not in _NUMBERS:
            raise TypeError(f"sum() adds numbers, not values of type {type(item).__name__}")
    return _number(sum(items, start))


def _round(frame: _Frame, number: Any, digits: Any = None) -> Any:
    if type(digits) in _INTEGERS and abs(digits) > MAX_DIGITS:
        raise _Reason(f"round() takes at most {MAX_DIGITS} digits")
    return _number(round(number, digits))


def _extreme(pick: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(frame: _Frame, *values: Any, **default: Any) -> Any:
        if len(values) == 1:
            return pick(_gather(frame, _items(frame, values[0])), **default)
        return pick(*_gather(frame, values), **default)

    return extreme


@dataclass(frozen=True)
class _Function:
    """A function of the language.

    Attributes:
        run: Takes the frame, then the arguments.
        least: The fewest positional arguments.
        most: The most positional arguments.
        keywords: Names of further arguments.
        iterates: Whether the arguments may be generators.
    """

    run: Callable[..., Any]
    least: int
    most: int
    keywords: frozenset[str] = frozenset()
    iterates: bool = True


_FUNCTIONS: Mapping[str, _Function] = MappingProxyType(
    {
        "abs": _Function(lambda frame, number: abs(number), 1, 1, iterates=False),
        "all": _Function(_all, 1, 1),
        "any": _Function(_any, 1, 1),
        "len": _Function(lambda frame, value: len(value), 1, 1, iterates=False),
        "max": _Function(_extreme(max), 1, MAX_NODES, frozenset({"default"})),
        "min": _Function(_extreme(min), 1, MAX_NODES, frozenset({"default"})),
        "round": _Function(_round, 1, 2, iterates=False),
        "set": _Function(_set, 0, 1),
        "sorted": _Function(_sorted, 1, 1, frozenset({"reverse"})),
        "sum": _Function(_sum, 1, 2, frozenset({"start"})),
    }
)


# --- from text to a program

_LANGUAGE: frozenset[type[ast.AST]] = frozenset(
    {ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, *_SIGNS, ast.BinOp, *_ARITHMETIC, ast.Compare, *_COMPARISONS}
    | {ast.IfExp, ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Load, ast.Store}
    | {ast.Subscript, ast.Slice}
    | {ast.List, ast.Tuple, ast.Set, ast.Dict}
    | {ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension}
)

_NAMES = {
    ast.Attribute: "attribute access",
    ast.Lambda: "a lambda",
    ast.NamedExpr: "an assignment expression",
    ast.JoinedStr: "an f-string",
    ast.Starred: "a starred expression",
    ast.BitOr: "the operator |",
    ast.BitAnd: "the operator &",
    ast.BitXor: "the operator ^",
    ast.Invert: "the operator ~",
    ast.MatMult: "the operator @",
}


@lru_cache(maxsize=CACHED_PREDICATES)
def _program(text: str) -> _Program:
    text = text.strip()
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise _Reason(f"it is not one Python expression: {error.msg}") from error
    except (RecursionError, MemoryError) as error:
        raise _Reason("it is nested too deeply") from error
    nodes = _nodes(tree, text)
    compiler = _Compiler()
    run = compiler.code(tree, {})
    return _Program(run, tuple(compiler.facts), (None,) * compiler.locals, _analysis(tree, nodes, compiler.keys()))


def _nodes(tree: ast.expr, text: str) -> list[tuple[ast.AST, bool]]:
    """Refuses what is not in the language or beyond the bounds, before anything else looks at the tree.

    Returns:
        Every node, and whether it stands inside a logical operator.
    """
    nodes: list[tuple[ast.AST, bool]] = []
    level: list[tuple[ast.AST, bool]] = [(tree, False)]
    depth = expressions = 0
    while level:
        nodes += level
        depth += 1
        if depth > MAX_DEPTH:
            raise _Reason(f"it is nested more than {MAX_DEPTH} levels deep")
        below: list[tuple[ast.AST, bool]] = []
        for node, inside in level:
            if type(node) not in _LANGUAGE:
                where = ast.get_source_segment(text, node)
                name = _NAMES.get(type(node), type(node).__name__)
                raise _Reason(f"{name} is not in the language{f': {_shown(where)}' if where else ''}")
            if isinstance(node, ast.Constant):
                _check_literal(node.value)
            expressions += isinstance(node, ast.expr)
            logical = inside or isinstance(node, ast.BoolOp) or _negates(node)
            below.extend((child, logical) for child in ast.iter_child_nodes(node))
        if expressions > MAX_NODES:
            raise _Reason(f"it consists of more than {MAX_NODES} expressions")
        level = below
    return nodes


def _check_literal(value: object) -> None:
    if type(value) in (int, float):
        _number(value)
    elif value is not None and type(value) not in (str, bool):
        raise _Reason(f"a literal of type {type(value).__name__} is not in the language")


def _negates(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _analysis(tree: ast.expr, nodes: list[tuple[ast.AST, bool]], keys: tuple[str, ...]) -> Analysis:
    junctions = [(node, inside) for node, inside in nodes if isinstance(node, ast.BoolOp)]
    negations = sum(_negates(node) for node, _ in nodes)
    family: Family = "other"
    if _negates(tree):
        family = "terminal negation"
    elif negations and isinstance(tree, ast.BoolOp):
        family = "conjunction with negation" if isinstance(tree.op, ast.And) else "disjunction with negation"
    elif not negations and len({type(node.op) for node, _ in junctions}) == 2:
        family = "mixed without negation"
    return Analysis(
        operators=sum(len(node.values) - 1 for node, _ in junctions) + negations,
        keys=keys,
        groups=sum(inside for _, inside in junctions),
        family=family,
    )


def _literal(node: ast.expr) -> tuple[Any, ...]:
    """Returns `(value,)` if the expression is a literal, a negative number or a display of such, else `()`.

    All evaluations may share the value, since nothing in the language changes a value.
    """
    if isinstance(node, ast.Constant):
        return (node.value,)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return tuple(-value for value in _literal(node.operand) if type(value) in (int, float))
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        parts = [_literal(element) for element in node.elts]
        values = [value for part in parts for value in part]
        if len(values) == len(parts):
            if isinstance(node, ast.List):
                return (values,)
            if isinstance(node, ast.Tuple):
                return (tuple(values),)
            if _CONTAINERS.isdisjoint(map(type, values)):  # what cannot be hashed fails when it is run
                return (set(values),)
    return ()


class _Compiler:
    """Turns a checked tree into nested closures, giving slots to the names on its way.

    Attributes:
        facts: Slot of each fact that the predicate names.
        locals: Number of names that comprehensions bind.
    """

    def __init__(self) -> None:
        self.facts: dict[str, int] = {}
        self.locals = 0
        self._places: dict[str, tuple[int, int]] = {}

    def keys(self) -> tuple[str, ...]:
        """Returns the names of the facts in the order of the text: a comprehension's `for` comes first here."""
        return tuple(sorted(self._places, key=self._places.__getitem__))

    def code(self, node: ast.expr, scope: _Scope) -> _Code:
        """Returns what evaluates an expression; `scope` has the slots of the comprehensions around it."""
        literal = _literal(node)
        if literal:
            (value,) = literal
            return lambda frame: value
        match node:
            case ast.Name():
                return operator.itemgetter(self._slot(node, scope))
            case ast.BoolOp():
                return self._junction(node, scope)
            case ast.UnaryOp():
                sign, operand = _SIGNS[type(node.op)], self.code(node.operand, scope)
                return lambda frame: sign(operand(frame))
            case ast.Compare():
                return self._comparison(node, scope)
            case ast.BinOp():
                apply = _ARITHMETIC[type(node.op)]
                left, right = self._codes([node.left, node.right], scope)
                return lambda frame: apply(frame, left(frame), right(frame))
            case ast.IfExp():
                test, body, other = self._codes([node.test, node.body, node.orelse], scope)
                return lambda frame: body(frame) if test(frame) else other(frame)
            case ast.Subscript():
                return self._selection(node, scope)
            case ast.Call():
                return self._call(node, scope)
            case ast.List():
                return self._display(node.elts, scope)
            case ast.Tuple():
                gathered = self._display(node.elts, scope)
                return lambda frame: tuple(gathered(frame))
            case ast.Set():
                gathered = self._display(node.elts, scope)
                return lambda frame: set(_hashable(gathered(frame)))
            case ast.Dict():
                keys = [key for key in node.keys if key]
                if len(keys) < len(node.values):
                    raise _Reason("unpacking with ** is not in the language")
                pairs = [ast.Tuple([*pair]) for pair in zip(keys, node.values, strict=True)]
                gathered = self._display(pairs, scope)
                return lambda frame: dict(_hashable(gathered(frame)))
            case ast.ListComp():
                items = self._loop(node, node.elt, scope)
                return lambda frame: _gather(frame, items(frame))
            case ast.SetComp():
                items = self._loop(node, node.elt, scope)
                return lambda frame: set(_hashable(_gather(frame, items(frame))))
            case ast.DictComp():
                items = self._loop(node, ast.Tuple([node.key, node.value]), scope)
                return lambda frame: dict(_hashable(_gather(frame, items(frame))))
            case ast.GeneratorExp():
                raise _Reason("a generator must be consumed where it stands: by a function, an `in` or a `for`")
        raise _Reason(f"{type(node).__name__} is not in the language")

    def _slot(self, node: ast.Name, scope: _Scope) -> int:
        if node.id in scope:
            slot = scope[node.id]
            if slot is None:
                raise _Reason(f"{_shown(node.id)} is used before the `for` that binds it")
            return slot
        place = (node.lineno, node.col_offset)
        self._places[node.id] = min(place, self._places.get(node.id, place))
        return self.facts.setdefault(node.id, _FIRST_FACT + len(self.facts))

    def _codes(self, nodes: Iterable[ast.expr], scope: _Scope) -> list[_Code]:
        return [self.code(node, scope) for node in nodes]

    def _consumed(self, node: ast.expr, scope: _Scope) -> _Code:
        """Like `code`, but where a generator may stand."""
        if isinstance(node, ast.GeneratorExp):
            return self._loop(node, node.elt, scope)
        return self.code(node, scope)

    def _junction(self, node: ast.BoolOp, scope: _Scope) -> _Code:
        *others, last = self._codes(node.values, scope)
        stops_at = isinstance(node.op, ast.Or)
        if len(others) == 1:
            (first,) = others
            if stops_at:
                return lambda frame: first(frame) or last(frame)
            return lambda frame: first(frame) and last(frame)

        def junction(frame: _Frame) -> Any:
            for operand in others:
                value = operand(frame)
                if bool(value) is stops_at:
                    return value
            return last(frame)

        return junction

    def _comparison(self, node: ast.Compare, scope: _Scope) -> _Code:
        first = self.code(node.left, scope)
        links = [
            (_search if isinstance(op, ast.In | ast.NotIn) else _compare, _COMPARISONS[type(op)], operand)
            for op, operand in zip(node.ops, [self._consumed(right, scope) for right in node.comparators], strict=True)
        ]
        if len(links) == 1:
            ((priced, compare, second),) = links
            literal = _literal(node.comparators[0])
            if literal and isinstance(node.left, ast.Name) and node.left.id not in scope:
                # A fact against a literal costs no more than the literal's size, which MAX_NODES bounds.
                slot, (value,) = self.facts[node.left.id], literal
                return lambda frame: compare(frame[slot], value)
            return lambda frame: priced(frame, compare, first(frame), second(frame))

        def chain(frame: _Frame) -> Any:
            left = first(frame)
            for priced, compare, operand in links:
                right = operand(frame)
                if not priced(frame, compare, left, right):
                    return False
                left = right
            return True

        return chain

    def _selection(self, node: ast.Subscript, scope: _Scope) -> _Code:
        value = self.code(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            bounds = [self.code(part or ast.Constant(None), scope) for part in parts]
            return lambda frame: _slice(frame, value(frame), *[bound(frame) for bound in bounds])
        index = self.code(node.slice, scope)
        return lambda frame: _subscript(frame, value(frame), index(frame))

    def _call(self, node: ast.Call, scope: _Scope) -> _Code:
        if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS or node.func.id in scope:
            raise _Reason(f"only these can be called, by name: {', '.join(_FUNCTIONS)}")
        name = node.func.id
        function = _FUNCTIONS[name]
        if not function.least <= len(node.args) <= function.most:
            raise _Reason(f"{name}() does not take {len(node.args)} positional arguments")
        if not function.keywords.issuperset(keyword.arg for keyword in node.keywords):
            raise _Reason(f"{name}() takes no keyword but: {', '.join(function.keywords) or 'none'}")
        run = function.run
        consumed = self._consumed if function.iterates else self.code
        arguments = [consumed(argument, scope) for argument in node.args]
        named = {keyword.arg or "": self.code(keyword.value, scope) for keyword in node.keywords}
        if len(arguments) == 1 and not named:
            (argument,) = arguments
            return lambda frame: run(frame, argument(frame))
        return lambda frame: run(
            frame,
            *[argument(frame) for argument in arguments],
            **{key: value(frame) for key, value in named.items()},
        )

    def _display(self, nodes: Iterable[ast.expr], scope: _Scope) -> Callable[[_Frame], list[Any]]:
        parts = self._codes(nodes, scope)
        return lambda frame: _gather(frame, (part(frame) for part in parts))

    def _loop(
        self,
        node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
        element: ast.expr,
        scope: _Scope,
    ) -> _Items:
        """Returns what yields a comprehension's elements; all its names are bound in a scope of its own."""
        names = [_target(level.target) for level in node.generators]
        inner = {**scope, **dict.fromkeys(name for level in names for name in level)}
        levels: list[tuple[_Code, Callable[[_Frame, Any], None], list[_Code]]] = []
        for level, bound in zip(node.generators, names, strict=True):
            if level.is_async:
                raise _Reason("an asynchronous comprehension is not in the language")
            # Python evaluates the first iterable outside the comprehension: `[x for x in x]` has a fact x.
            source = self._consumed(level.iter, inner if levels else scope)
            for name in bound:
                if inner[name] is None:
                    self.locals += 1
                    inner[name] = -self.locals
            slots = [slot for name in bound if (slot := inner[name]) is not None]
            bind = _bind_one(slots[0]) if isinstance(level.target, ast.Name) else _bind_all(slots)
            levels.append((source, bind, self._codes(level.ifs, inner)))
        steps = sum(isinstance(part, ast.expr) for part in ast.walk(node))
        elements = _once(self.code(element, inner))
        for source, bind, conditions in reversed(levels):
            elements = _level(steps, source, bind, conditions, elements)
        return elements


def _target(node: ast.expr) -> list[str]:
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    if not all(isinstance(name, ast.Name) for name in names):
        raise _Reason("a `for` binds a name or a tuple of names")
    return [name.id for name in names if isinstance(name, ast.Name)]


def _bind_one(slot: int) -> Callable[[_Frame, Any], None]:
    return lambda frame, value: operator.setitem(frame, slot, value)


def _bind_all(slots: list[int]) -> Callable[[_Frame, Any], None]:
    def bind(frame: _Frame, value: Any) -> None:
        items = list(_items(frame, value))
        if len(items) != len(slots):
            raise ValueError(f"{len(slots)} names cannot be bound to {len(items)} values")
        for slot, item in zip(slots, items, strict=True):
            frame[slot] = item

    return bind


def _once(value: _Code) -> _Items:
    def elements(frame: _Frame) -> Iterator[Any]:
        yield value(frame)

    return elements


def _level(
    steps: int,
    source: _Code,
    bind: Callable[[_Frame, Any], None],
    conditions: list[_Code],
    inner: _Items,
) -> _Items:
    """Returns one `for` of a comprehension, with its conditions, around what it repeats."""

    def elements(frame: _Frame) -> Iterator[Any]:
        for item in _items(frame, source(frame)):
            _charge(frame, steps)
            bind(frame, item)
            for condition in conditions:
                if not condition(frame):
                    break
            else:
                yield from inner(frame)

    return elements
