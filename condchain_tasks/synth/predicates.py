"""Conditions: logic templates, atoms with a true and a false form, and their English.

A condition is a tree: an `Atom`, the `Not` of a tree, or a `Group` of trees joined by `and` or by `or`. `str`
gives its predicate in the VPIR language, `parse` reads that back, and `render` gives its English.

**English.** The rule that `render` follows, and that a reader can follow back to the one tree:

1. An atom, or the negation of one, is a clause that names its subject.
2. A group of clauses joins them by a plain "and" or "or" ("A, B and C" if there are three). A group whose
   deepest part is such a group puts a comma before the word: ", and", ", or". A group above that puts
   "; and also" or "; or else" between its parts, and so does a condition's outermost `and` group where it
   goes on after an "either": "either A or B, and C" could be read as "either A, or B and C". The strongest
   separator of a text is thus that of its outermost group, and a part holds weaker ones only.
3. An `or` group starts with "either". "but" stands for "and" between a clause that affirms and one that has
   a "not" or a "no".
4. The negation of a group is "it is not true that", followed by "both" before an `and` group; only a whole
   condition may be one.

**Exchangeability.** Whether a statement is true must not show in its words. For every form of an atom the
pair (true text, false text) is as likely as the same pair the other way round, given that the actual value is
uniform over the attribute's values: equality with the actual value against equality with a uniformly drawn
other one; membership in a pair, where the actual value gives way to another; and for counts "at least k"
against "fewer than k", with k drawn from {n, n + 1}, so that n = k and n = k - 1 lead to k equally often.
Where that k lies outside the range, the count is the lowest or the highest value, and one of these two is
stated against the other one.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from random import Random
from typing import Literal, cast

from condchain_tasks import vpir
from condchain_tasks.synth.world import Attribute, Scalar

Complexity = Literal["simple", "complex"]
Operator = Literal["==", "in", ">=", "<", "is"]

_OPERATORS: Mapping[type[ast.cmpop], Operator] = {
    ast.Eq: "==",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.Is: "is",
}


@dataclass(frozen=True)
class Atom:
    """One comparison: `colour == "red"`, `colour in ("red", "blue")`, `stripes >= 3`, `lid is True`."""

    key: str
    op: Operator
    value: Scalar | tuple[Scalar, Scalar]

    def __str__(self) -> str:
        if isinstance(self.value, tuple):
            return f"{self.key} {self.op} ({', '.join(map(_literal, self.value))})"
        return f"{self.key} {self.op} {_literal(self.value)}"


@dataclass(frozen=True)
class Not:
    """The negation of an atom or, at the root of a condition only, of a group."""

    part: Atom | Group

    def __str__(self) -> str:
        return f"not ({self.part})"


@dataclass(frozen=True)
class Group:
    """Two or more parts joined by one connective."""

    connective: Literal["and", "or"]
    parts: tuple[Node, ...]

    def __str__(self) -> str:
        texts = (f"({part})" if isinstance(part, Group) else str(part) for part in self.parts)
        return f" {self.connective} ".join(texts)


Node = Atom | Not | Group


def _literal(value: Scalar) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def parse(predicate: str) -> Node:
    """Reads a predicate of the form that `str` gives; a bare name `lid` reads as `lid is True`.

    Raises:
        ValueError: The text is no predicate (`vpir.PredicateError`), or has parts that conditions do not have.
    """
    vpir.analyse(predicate)  # refuses what is malformed, and what is too deep to walk
    return _node(ast.parse(predicate.strip(), mode="eval").body)


def _node(tree: ast.expr) -> Node:
    match tree:
        case ast.BoolOp(op=op, values=values):
            return Group("and" if isinstance(op, ast.And) else "or", tuple(map(_node, values)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            part = _node(operand)
            if isinstance(part, Not):
                raise ValueError("a double negation: conditions do not have them")
            return Not(part)
        case ast.Name(id=key):
            return Atom(key, "is", True)
        case ast.Compare(left=ast.Name(id=key), ops=[ast.In()], comparators=[ast.Tuple(elts=[_, _] as pair)]):
            return Atom(key, "in", (_value(pair[0]), _value(pair[1])))
        case ast.Compare(left=ast.Name(id=key), ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return Atom(key, _OPERATORS[type(op)], _value(right))
    raise ValueError(f"conditions have no part like {ast.unparse(tree)[:200]!r}")


def _value(tree: ast.expr) -> Scalar:
    match tree:
        case ast.Constant(value=str() | int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    raise ValueError(f"conditions compare with no value like {ast.unparse(tree)[:200]!r}")


def literals(node: Node) -> Iterator[Atom | Not]:
    """The statements of a condition, from left to right: atoms, each with the `not` before it if any."""
    match node:
        case Atom() | Not(Atom()):
            yield node
        case Not():
            yield from literals(node.part)
        case Group():
            for part in node.parts:
                yield from literals(part)


def atoms(node: Node) -> Iterator[Atom]:
    """The atoms of a condition, from left to right."""
    for literal in literals(node):
        atom = literal.part if isinstance(literal, Not) else literal
        assert isinstance(atom, Atom)
        yield atom


def substitute(node: Node, replacements: Mapping[str, Atom]) -> Node:
    """The same condition with every atom replaced by the one given for its key."""
    match node:
        case Atom(key):
            return replacements[key]
        case Not(part):
            return Not(cast("Atom | Group", substitute(part, replacements)))
        case Group(connective, parts):
            return Group(connective, tuple(substitute(part, replacements) for part in parts))


def changed_atoms(first: Node, second: Node) -> tuple[tuple[Atom, Atom], ...] | None:
    """The places where two conditions of one logic over the same keys differ; None if logic or keys do."""
    if _outline(first) != _outline(second):
        return None
    both = zip(atoms(first), atoms(second), strict=True)
    return tuple((before, after) for before, after in both if before != after)


def _outline(node: Node) -> Node:
    return substitute(node, {atom.key: Atom(atom.key, "is", True) for atom in atoms(node)})


# --- Templates ----------------------------------------------------------------------------------------------

FAMILY_WEIGHTS: Mapping[str, float] = {
    "conjunction with negation": 44.6,
    "mixed without negation": 42.1,
    "disjunction with negation": 8.8,
    "terminal negation": 2.1,
    "other": 2.4,
}
"""Share of each logic family in MM-CondChain, per cent (arXiv 2603.12266)."""


@dataclass(frozen=True)
class Template:
    """A condition whose atoms are the placeholders A, B, C, ...: its logic without its statements.

    Attributes:
        family: One of `FAMILY_WEIGHTS`.
        logic: The tree; its atoms' keys are the placeholders.
    """

    family: str
    logic: Node

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The placeholders, from left to right."""
        return tuple(_slots(self.logic, lists=True))

    @cached_property
    def flips(self) -> tuple[tuple[Mapping[str, bool], str], ...]:
        """All (truth values, placeholder) such that the condition is true, and false once that one flips."""
        keys = [slot.key for slot in self.slots]
        found = []
        for values in product((False, True), repeat=len(keys)):
            truth = dict(zip(keys, values, strict=True))
            if _holds(self.logic, truth):
                found += [(truth, key) for key in keys if not _holds(self.logic, truth | {key: not truth[key]})]
        return tuple(found)


@dataclass(frozen=True)
class Slot:
    """A placeholder of a template.

    Attributes:
        negated: A `not` stands before it; flags and thresholds would read there like their own opposites.
        lists: It may say "red or blue": outside of `or` groups only, as there one more "or" would be hard to read.
    """

    key: str
    negated: bool
    lists: bool


def _slots(node: Node, lists: bool) -> Iterator[Slot]:
    match node:
        case Atom(key):
            yield Slot(key, negated=False, lists=lists)
        case Not(Atom(key)):
            yield Slot(key, negated=True, lists=False)
        case Not():
            yield from _slots(node.part, lists)
        case Group():
            for part in node.parts:
                yield from _slots(part, lists and node.connective == "and")


def _holds(node: Node, truth: Mapping[str, bool]) -> bool:
    match node:
        case Atom(key):
            return truth[key]
        case Not(part):
            return not _holds(part, truth)
        case Group(connective, parts):
            return (all if connective == "and" else any)(_holds(part, truth) for part in parts)


def _templates(logics: Mapping[str, Sequence[str]]) -> Mapping[str, tuple[Template, ...]]:
    return {
        family: tuple(Template(family, parse(logic)) for logic in family_logics)
        for family, family_logics in logics.items()
    }


TEMPLATES: Mapping[Complexity, Mapping[str, tuple[Template, ...]]] = {
    "simple": _templates(
        {
            "conjunction with negation": ("A and not B",),
            "mixed without negation": (
                "A and (B or C)",
                "(A or B) and C",
                "A or (B and C)",
                "(A and B) or C",
            ),
            "disjunction with negation": ("A or not B",),
            "terminal negation": ("not (A and B)", "not (A or B)"),
            "other": ("A and B", "A or B", "A and B and C"),
        }
    ),
    "complex": _templates(
        {
            "conjunction with negation": (
                "((A and B) or C) and (D and not E)",
                "(A or B) and (C and not D)",
                "(A and not B) and (C or D)",
                "(A and not B) and (C or (D and E))",
            ),
            "mixed without negation": (
                "(A and B) and ((C and D) or (E and F))",
                "((A and B) or (C and D)) and E",
                "(A or B) and (C or (D and E))",
                "(A and B) or (C and (D or E))",
            ),
            "disjunction with negation": (
                "(A and not B) or (C and D)",
                "(A and B) or (C and not D)",
                "(A and not B) or (C and (D or E))",
            ),
            "terminal negation": ("not ((A and B) or (C and D))", "not ((A or B) and (C or D))"),
            "other": ("(A and B) and (C and D) and E", "A and (B and C) and (D and E)"),
        }
    ),
}
"""Templates by complexity and family, the paper's four among them."""


def draw_template(rng: Random, complexity: Complexity | None) -> Template:
    """Draws a family by the paper's weights, then one of its templates uniformly.

    Args:
        rng: Source of randomness.
        complexity: None: either, half and half.
    """
    by_family = TEMPLATES[complexity] if complexity else rng.choice(tuple(TEMPLATES.values()))
    (family,) = rng.choices(tuple(FAMILY_WEIGHTS), tuple(FAMILY_WEIGHTS.values()))
    return rng.choice(by_family[family])


def fewest_keys(complexity: Complexity | None) -> int:
    """Keys of the smallest template that `draw_template` can draw."""
    return min(
        len(template.slots)
        for name, families in TEMPLATES.items()
        for templates in families.values()
        for template in templates
        if complexity in (name, None)
    )


# --- Pairs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """A condition and its minimal counterfactual.

    Attributes:
        true: Holds for the subject's facts.
        false: Does not hold; it differs from `true` in one atom.
    """

    true: Node
    false: Node


def draw_pair(rng: Random, template: Template, attributes: Sequence[Attribute], facts: Mapping[str, Scalar]) -> Pair:
    """Fills a template with statements about a subject.

    The truth values of the statements and the one that flips are uniform over `Template.flips`.

    Args:
        rng: Source of randomness.
        template: The logic.
        attributes: One for each slot, in order; no flag for a negated slot.
        facts: The subject's facts.
    """
    truth, flipped = rng.choice(template.flips)
    statements = {}
    counterfactual = {}
    for slot, attribute in zip(template.slots, attributes, strict=True):
        holds, fails = draw_atoms(rng, attribute, facts[attribute.key], slot)
        statements[slot.key], opposite = (holds, fails) if truth[slot.key] else (fails, holds)
        counterfactual[slot.key] = opposite if slot.key == flipped else statements[slot.key]
    return Pair(substitute(template.logic, statements), substitute(template.logic, counterfactual))


def draw_atoms(rng: Random, attribute: Attribute, actual: Scalar, slot: Slot) -> tuple[Atom, Atom]:
    """Draws two statements on one attribute that differ as little as possible, (true, false).

    See the module's docstring for their distribution.
    """
    key, values = attribute.key, attribute.values
    if attribute.kind == "flag":
        return Atom(key, "is", actual), Atom(key, "is", not actual)
    if attribute.kind == "count" and attribute.at_least and not slot.negated and rng.random() < 2 / 3:
        return _thresholds(rng, key, cast(int, actual), cast("tuple[int, ...]", values))
    others = [value for value in values if value != actual]
    if attribute.kind == "category" and slot.lists and len(values) >= 4 and rng.random() < 1 / 3:
        replacement, companion = rng.sample(others, 2)
        holds, fails = (sorted((value, companion), key=values.index) for value in (actual, replacement))
        return Atom(key, "in", (holds[0], holds[1])), Atom(key, "in", (fails[0], fails[1]))
    return Atom(key, "==", actual), Atom(key, "==", rng.choice(others))


def _thresholds(rng: Random, key: str, actual: int, values: tuple[int, ...]) -> tuple[Atom, Atom]:
    k = actual + rng.randrange(2)
    if k not in values[1:]:
        return Atom(key, "==", actual), Atom(key, "==", values[0] if actual == values[-1] else values[-1])
    reached, missed = Atom(key, ">=", k), Atom(key, "<", k)
    return (reached, missed) if actual >= k else (missed, reached)


# --- English ------------------------------------------------------------------------------------------------

_KINDS: Mapping[str, tuple[Operator, ...]] = {
    "flag": ("is",),
    "category": ("==", "in"),
    "count": ("==", ">=", "<"),
}
"""The comparisons that an attribute of each kind has sentences for."""

_SEPARATORS = {"and": (" and ", ", and ", "; and also "), "or": (" or ", ", or ", "; or else ")}


def word(attribute: Attribute, value: Scalar) -> str:
    """How a value of the attribute reads."""
    return attribute.words.get(value, str(value))


def render(node: Node, attributes: Mapping[str, Attribute], subject: str) -> str:
    """The English of a condition about one subject, by the rule in the module's docstring.

    Args:
        node: The condition, at most three groups deep.
        attributes: By key, at least those that the condition tests.
        subject: The noun phrase that names the subject.

    Returns:
        A sentence, capitalised, without full stop.

    Raises:
        ValueError: The condition tests an unknown key, nests deeper, or has a form without English.
    """
    match node:
        case Not(Group(connective) as group):
            both = "both " if connective == "and" else ""
            text = f"it is not true that {both}{_phrase(group, attributes, subject, _height(group))}"
        case Group("and", parts) if any(isinstance(part, Group) and part.connective == "or" for part in parts[:-1]):
            text = _phrase(node, attributes, subject, max(3, _height(node)))
        case _:
            text = _phrase(node, attributes, subject, _height(node))
    return text[:1].upper() + text[1:]


def _phrase(node: Node, attributes: Mapping[str, Attribute], subject: str, strength: int) -> str:
    if not isinstance(node, Group):
        return clause(node, attributes, subject)
    if strength > 3:
        raise ValueError(f"{strength} groups inside one another; English is defined for 3")
    texts = [_phrase(part, attributes, subject, _height(part)) for part in node.parts]
    separator = _SEPARATORS[node.connective][strength - 1]
    if strength == 1 and [_denies(part, attributes) for part in node.parts] == [False, True]:
        separator = separator.replace("and", "but")
    text = separator.join(texts) if strength > 1 else ", ".join(texts[:-1]) + separator + texts[-1]
    return f"either {text}" if node.connective == "or" else text


def _denies(node: Node, attributes: Mapping[str, Attribute]) -> bool:
    match node:
        case Not():
            return True
        case Atom(key, "is", False):  # "is in the lower row" denies nothing
            return re.search(r"\bnot?\b", attributes[key].denies, re.IGNORECASE) is not None
    return False


def _height(node: Node) -> int:
    return 1 + max(map(_height, node.parts)) if isinstance(node, Group) else 0


def clause(node: Node, attributes: Mapping[str, Attribute], subject: str) -> str:
    """The English of an atom or of a negated atom: a clause in lower case that names the subject.

    Raises:
        ValueError: As `render`.
    """
    match node:
        case Atom() as atom:
            negated = False
        case Not(Atom(op="==") as atom):
            negated = True
        case _:
            raise ValueError(f"no English for {node}")
    attribute = attributes.get(atom.key)
    if attribute is None:
        raise ValueError(f"the subject has no attribute {atom.key!r}")
    values = atom.value if isinstance(atom.value, tuple) else (atom.value,)
    if atom.op not in _KINDS[attribute.kind] or not set(values) <= set(attribute.values):
        raise ValueError(f"{atom} does not fit the {attribute.kind} {atom.key}, one of {attribute.values}")
    match atom.op:
        case ">=":
            sentence = attribute.at_least
        case "<":
            sentence = attribute.fewer
        case "is":
            sentence = attribute.says if atom.value else attribute.denies
        case _:
            sentence = attribute.denies if negated else attribute.says
    text = " or ".join(word(attribute, value) for value in values)
    return (sentence[:1].lower() + sentence[1:]).replace("{subject}", subject).replace("{value}", text)
