"""Causal graphs of drawn scenes: things, what one does to another, and what follows when one is removed.

Every thing of a scene either stays as it is seen or changes, in one way that is its own (a lamp falls, a boat sinks).
An edge says how a change spreads: whoever *holds* something makes it change by being removed or by changing; whoever
*drives* something makes it change by changing while it is there. What is already in motion changes in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["hold", "drive"]

VERBS: Mapping[str, tuple[str, str, str]] = {
    "be crushed": ("is crushed", "being crushed", "been crushed"),
    "be flooded": ("is flooded", "being flooded", "been flooded"),
    "break": ("breaks", "breaking", "broken"),
    "burn": ("burns", "burning", "burned"),
    "come down": ("comes down", "coming down", "come down"),
    "drop": ("drops", "dropping", "dropped"),
    "fall": ("falls", "falling", "fallen"),
    "float up": ("floats up", "floating up", "floated up"),
    "give way": ("gives way", "giving way", "given way"),
    "go round": ("goes round", "going round", "gone round"),
    "go out": ("goes out", "going out", "gone out"),
    "keep burning": ("keeps burning", "burning on", "kept burning"),
    "leak": ("leaks", "leaking", "leaked"),
    "move": ("moves", "moving", "moved"),
    "pour": ("pours", "pouring", "poured"),
    "ring": ("rings", "ringing", "rung"),
    "roll": ("rolls", "rolling", "rolled"),
    "run out": ("runs out", "running out", "run out"),
    "run": ("runs", "running", "run"),
    "run aground": ("runs aground", "running aground", "run aground"),
    "rush out": ("rushes out", "rushing out", "rushed out"),
    "sink": ("sinks", "sinking", "sunk"),
    "slide away": ("slides away", "sliding away", "slid away"),
    "slope": ("slopes", "sloping", "sloped"),
    "spin": ("spins", "spinning", "spun"),
    "stand": ("stands", "standing", "stood"),
    "stay": ("stays", "staying", "stayed"),
    "tip over": ("tips over", "tipping over", "tipped over"),
}
"""Third person, gerund and participle of every verb that events use."""


@dataclass(frozen=True)
class Event:
    """What a thing does: a key of `VERBS`, and what follows the verb; a name in braces is a thing's id."""

    verb: str
    tail: str = ""

    @property
    def base(self) -> str:
        return f"{self.verb} {self.tail}".rstrip()

    @property
    def third(self) -> str:
        return f"{VERBS[self.verb][0]} {self.tail}".rstrip()

    @property
    def gerund(self) -> str:
        return f"{VERBS[self.verb][1]} {self.tail}".rstrip()

    @property
    def participle(self) -> str:
        return f"{VERBS[self.verb][2]} {self.tail}".rstrip()


MOVE, STAY = Event("move"), Event("stay", "where it is")


@dataclass(frozen=True)
class Relation:
    """What one thing does to another.

    Attributes:
        kind: How a change spreads along it.
        base: Verb phrase with `{b}` for the other thing: "hold up {b}".
        third: The same in the third person.
        phrases: Words of the mechanism by which it is recognised in a text.
        now: It drives while one looks, and not only in what comes next.
        common: Many things could do it, so that it can be said of the wrong one.
    """

    kind: Kind
    base: str
    third: str
    phrases: tuple[str, ...]
    now: bool = False
    common: bool = False


RELATIONS: Mapping[str, Relation] = {
    "suspend": Relation(
        "hold", "hold up {b}", "holds up {b}", ("hold up", "holds up", "held up", "hangs from"), common=True
    ),
    "support": Relation("hold", "support {b}", "supports {b}", ("support", "supports", "supported"), common=True),
    "contain": Relation("hold", "keep {b} inside", "keeps {b} inside", ("keep", "keeps", "inside"), common=True),
    "plug": Relation("hold", "seal in {b}", "seals in {b}", ("seal in", "seals in", "sealed in")),
    "float": Relation("hold", "keep {b} afloat", "keeps {b} afloat", ("afloat", "float", "floats")),
    "chock": Relation("hold", "block {b}", "blocks {b}", ("block", "blocks", "blocked"), common=True),
    "pin": Relation("hold", "pin {b} in place", "pins {b} in place", ("pin", "pins", "in place")),
    "dam": Relation("hold", "hold back {b}", "holds back {b}", ("hold back", "holds back", "held back"), common=True),
    "prop": Relation("hold", "prop up {b}", "props up {b}", ("prop up", "props up", "propped up"), common=True),
    "brace": Relation("hold", "brace {b}", "braces {b}", ("brace", "braces", "braced"), common=True),
    "tether": Relation("hold", "tie down {b}", "ties down {b}", ("tie down", "ties down", "tied down")),
    "anchor": Relation("hold", "anchor {b}", "anchors {b}", ("anchor", "anchors", "anchored")),
    "balance": Relation("hold", "balance {b}", "balances {b}", ("balance", "balances", "balanced"), common=True),
    "shield": Relation("hold", "shield {b}", "shields {b}", ("shield", "shields", "shielded")),
    "cut": Relation("drive", "cut through {b}", "cuts through {b}", ("cut through", "cuts through")),
    "burn": Relation("drive", "burn through {b}", "burns through {b}", ("burn through", "burns through")),
    "crush": Relation("drive", "strike {b}", "strikes {b}", ("strike", "strikes"), common=True),
    "hit": Relation("drive", "hit {b}", "hits {b}", ("hit", "hits"), common=True),
    "knock": Relation("drive", "knock over {b}", "knocks over {b}", ("knock over", "knocks over"), common=True),
    "flood": Relation("drive", "pour into {b}", "pours into {b}", ("pour into", "pours into")),
    "douse": Relation("drive", "put out {b}", "puts out {b}", ("put out", "puts out")),
    "roll": Relation("drive", "send {b} downhill", "sends {b} downhill", ("downhill",), now=True),
    "leak": Relation("drive", "let out {b}", "lets out {b}", ("let out", "lets out"), now=True),
    "pull": Relation("drive", "pull {b}", "pulls {b}", ("pull", "pulls", "pulled"), now=True, common=True),
    "carry": Relation(
        "drive", "carry {b} along", "carries {b} along", ("carry", "carries", "carried"), now=True, common=True
    ),
    "run": Relation("drive", "drive {b}", "drives {b}", ("drive", "drives", "driven"), now=True),
    "turn": Relation("drive", "turn {b}", "turns {b}", ("turn", "turns", "turned"), now=True),
}


@dataclass(frozen=True)
class Thing:
    """A thing of a scene.

    Attributes:
        id: What edges and texts call it; unique in the scene.
        name: A noun; unique in the scene.
        plural: Of the name.
        synonyms: Other nouns for it, singular and plural.
        colour: Said when it is first mentioned, or "".
        fate: How it changes.
        stay: What it does if it does not change; names no other thing.
        removal: What is done to it in an intervention, as in "if the rope ..."; "": it is never removed.
        active: A clause that tells its own motion, if it has one; it then changes in any case.
    """

    id: str
    name: str
    plural: str
    synonyms: tuple[str, ...]
    colour: str = ""
    fate: Event = MOVE
    stay: Event = STAY
    removal: str = "were taken away"
    active: str = ""

    @property
    def terms(self) -> tuple[str, ...]:
        """Every noun for it."""
        return (self.name, self.plural, *self.synonyms)


@dataclass(frozen=True)
class Edge:
    """What `cause` does to `effect`; `how` is a clause that tells by which contact."""

    cause: str
    effect: str
    relation: str
    how: str

    @property
    def kind(self) -> Kind:
        return RELATIONS[self.relation].kind


@dataclass(frozen=True)
class Graph:
    """The things of a scene and the edges between them."""

    things: tuple[Thing, ...]
    edges: tuple[Edge, ...]

    def thing(self, thing_id: str) -> Thing:
        """The thing of an id.

        Raises:
            ValueError: There is none.
        """
        for thing in self.things:
            if thing.id == thing_id:
                return thing
        raise ValueError(f"there is no thing {thing_id!r}")

    def into(self, thing_id: str) -> tuple[Edge, ...]:
        """The edges that end at a thing."""
        return tuple(edge for edge in self.edges if edge.effect == thing_id)

    def changes(self, removed: str | None = None) -> frozenset[str]:
        """The ids of all things that change if nothing is done, or after one thing has been removed."""
        changed = {thing.id for thing in self.things if thing.active} - {removed}
        while True:
            spread = {edge.effect for edge in self.edges if self._spreads(edge, changed, removed)} - {removed}
            if spread <= changed:
                return frozenset(changed)
            changed |= spread

    def acts(self, edge: Edge) -> bool:
        """Whether it does what it says if nobody interferes: it holds, or what drives is moving or will be."""
        return edge.kind == "hold" or edge.cause in self.changes()

    def _spreads(self, edge: Edge, changed: set[str], removed: str | None) -> bool:
        return edge.cause in changed or (edge.kind == "hold" and edge.cause == removed)

    def path(self, source: str, target: str, first: Kind | None = None) -> tuple[Edge, ...]:
        """The shortest way along edges, the first of them of the kind given, if one is; empty if there is none."""
        ways: dict[str, tuple[Edge, ...]] = {source: ()}
        queue = [source]
        for at in queue:
            for edge in self.edges:
                if edge.cause == at and edge.effect not in ways and (first in (None, edge.kind) or at != source):
                    ways[edge.effect] = (*ways[at], edge)
                    queue.append(edge.effect)
        return ways.get(target, ())


@dataclass(frozen=True)
class Claim:
    """A statement about a graph: `cause` stands in `relation` to `effect`; without a cause, that nothing does."""

    cause: str
    relation: str
    effect: str

    def holds(self, graph: Graph) -> bool:
        """Whether the graph says so; who acts on something only through others counts as acting on it."""
        if not self.cause:
            return not any(edge.relation == self.relation and graph.acts(edge) for edge in graph.into(self.effect))
        return bool(graph.path(self.cause, self.effect))
