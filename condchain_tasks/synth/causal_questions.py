"""Questions about a causal graph, their answers, and the four constrained forms of each.

Everything said follows from the graph: an `Ask` only chooses what is asked about. An answer names the things, tells
what one does to the other, and ends with the outcome: the three layers of deep causal reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from condchain_tasks.synth.causal_graph import RELATIONS, Claim, Edge, Event, Graph, Relation, Thing

Dimension = Literal["X1", "X2", "X3", "X4"]
Layers = tuple[tuple[str, ...], ...]
"""From each inner tuple at least one phrase has to occur."""

NOTICE = "The premise below may be false. Check it against the picture before you answer."
"""Opens every question with a premise."""

DENIES = ("the premise is false",)
ACCEPTS = ("this follows", "given the premise", "as the premise says")


@dataclass(frozen=True)
class Ask:
    """What is asked.

    Attributes:
        x: X1 what acts on a thing, X2 what will become of it, X3 why it is as it is seen, X4 what would become of it
            if something were removed.
        thing: Id of the thing that is asked about.
        cause: X1, X3: id of what acts on it directly; else "".
        removed: X4: id of what is removed; else "".
        claim: The false premise.
    """

    x: Dimension
    thing: str
    cause: str
    removed: str
    claim: Claim

    @property
    def point(self) -> str:
        """Id of the thing to point at: the cause where one is asked for, else the thing asked about."""
        return self.cause or self.thing


@dataclass(frozen=True)
class Answer:
    """A question and what is right to say, with things' ids in braces for their names.

    Attributes:
        question: It asks for the reason too.
        text: The answer in sentences.
        short: The answer in a few words, without punctuation.
        named: Ids of the things that the text names.
        mechanism: Phrases that tell what acts on what.
        short_named: Ids of the things that the short answer names; the text names them too.
        short_mechanism: Phrases of which one occurs in the short answer, and one in the text.
        outcome: Phrases that tell what follows; one occurs in the short answer, and one in the text.
        rubric: What each layer has to say, in words.
    """

    question: str
    text: str
    short: str
    named: tuple[str, ...]
    mechanism: tuple[str, ...]
    short_named: tuple[str, ...]
    short_mechanism: tuple[str, ...]
    outcome: tuple[str, ...]
    rubric: tuple[str, str, str]


def answer(graph: Graph, ask: Ask) -> Answer:
    """The question and its answer, as they follow from the graph.

    Raises:
        ValueError: The graph does not have what is asked about.
    """
    if ask.x == "X1":
        return _discovery(graph, _edge(graph, ask))
    if ask.x == "X3":
        return _diagnosis(graph, _edge(graph, ask))
    return _prediction(graph, ask) if ask.x == "X2" else _intervention(graph, ask)


def _edge(graph: Graph, ask: Ask) -> Edge:
    for edge in graph.into(ask.thing):
        if edge.cause == ask.cause:
            return edge
    raise ValueError(f"there is no edge from {ask.cause!r} to {ask.thing!r}")


def _relation(edge: Edge) -> Relation:
    return RELATIONS[edge.relation]


def _base(edge: Edge) -> str:
    """As in "hold up {lamp}"."""
    return _relation(edge).base.replace("{b}", f"{{{edge.effect}}}")


def _acts(edge: Edge) -> str:
    """As in "holds up {lamp}", or "will hit {lamp}" for what is still to come."""
    relation = _relation(edge)
    verb = relation.third if _acts_now(edge) else f"will {relation.base}"
    return verb.replace("{b}", f"{{{edge.effect}}}")


def says(edge: Edge) -> str:
    """As in "{rope} holds up {lamp}"; only for an edge that acts."""
    return f"{{{edge.cause}}} {_acts(edge)}"


def rationale(graph: Graph, ask: Ask) -> str:
    """The edges that the answer goes along."""
    edges = way(graph, ask)
    acts = "; ".join(says(edge) if graph.acts(edge) else f"{{{edge.cause}}} would {_base(edge)}" for edge in edges)
    return f"What acts on what: {acts}."


def at_stake(graph: Graph, ask: Ask) -> Edge:
    """The edge that a premise is about: the last one of the answer's that acts if nobody interferes."""
    return [edge for edge in way(graph, ask) if graph.acts(edge)][-1]


def _acts_now(edge: Edge) -> bool:
    return edge.kind == "hold" or _relation(edge).now


def _acts_too(edge: Edge, other: Edge) -> bool:
    return other != edge and other.kind == edge.kind and _acts_now(other)


def _happens(thing: Thing) -> tuple[str, ...]:
    """Phrases that tell that it changes."""
    bare = Event(thing.fate.verb)
    return thing.fate.base, thing.fate.third, thing.fate.gerund, bare.base, bare.third, bare.gerund


def _stays(thing: Thing) -> tuple[str, ...]:
    """Phrases that tell that it does not change."""
    bare, kept = Event(thing.fate.verb), Event(thing.stay.verb)
    denied = (f"not {bare.base}", f"not {bare.participle}", f"from {bare.gerund}")
    return thing.stay.base, thing.stay.third, kept.base, kept.third, *denied


def _list(ids: Sequence[str]) -> str:
    """Names in a row, joined by commas and "and"."""
    *first, last = (f"{{{thing}}}" for thing in ids)
    return f"{', '.join(first)} and {last}" if first else last


def _discovery(graph: Graph, edge: Edge) -> Answer:
    thing, name = graph.thing(edge.effect), f"{{{edge.effect}}}"
    if edge.kind == "hold":
        now = "for now " if edge.effect in graph.changes() else ""
        follows = f"{now}{name} {thing.stay.third}"
    else:
        follows = f"{name} {thing.fate.third if _acts_now(edge) else f'will {thing.fate.base}'}"
    text = f"{says(edge)}: {edge.how}, so {follows}."
    return _about_edge(graph, edge, f"What {_acts(edge)}, and how?", text, follows)


def _diagnosis(graph: Graph, edge: Edge) -> Answer:
    thing, name = graph.thing(edge.effect), f"{{{edge.effect}}}"
    if edge.kind == "hold":
        yet, still = (" yet", "still ") if edge.effect in graph.changes() else ("", "")
        question = f"Why has {name} not {thing.fate.participle}{yet}?"
        follows = f"{name} has not {thing.fate.participle}{yet}"
    else:
        still, question, follows = "", f"Why is {name} {thing.fate.gerund}?", f"{name} is {thing.fate.gerund}"
    also = [f" {says(other)} as well: {other.how}." for other in graph.into(edge.effect) if _acts_too(edge, other)]
    before = [f" {says(other)} in turn: {other.how}." for other in graph.into(edge.cause) if _acts_now(other)]
    text = f"{follows} because {{{edge.cause}}} {still}{_acts(edge)}: {edge.how}.{''.join((*also, *before[:1]))}"
    return _about_edge(graph, edge, question, text, follows)


def _about_edge(graph: Graph, edge: Edge, question: str, text: str, follows: str) -> Answer:
    """An answer that rests on one edge and its contact."""
    thing, phrases = graph.thing(edge.effect), _relation(edge).phrases
    named, bare = (edge.cause, edge.effect), Event(thing.fate.verb)
    if edge.kind == "hold":
        short, outcome = f"{{{edge.cause}}} keeps {{{edge.effect}}} from {bare.gerund}", _stays(thing)
    else:
        third = _relation(edge).third.replace("{b}", f"{{{edge.effect}}}")
        short, outcome = f"{{{edge.cause}}} {third} so it {bare.third}", _happens(thing)
    rubric = (f"Names {_list(named)}.", f"Tells that {says(edge)}: {edge.how}.", f"Concludes that {follows}.")
    return Answer(question, text, short, named, phrases, named, (*phrases, "keeps"), outcome, rubric)


def way(graph: Graph, ask: Ask) -> tuple[Edge, ...]:
    """The edges that an answer goes along; the last one ends at the thing that is asked about.

    Raises:
        ValueError: The graph does not have what is asked about.
    """
    if ask.cause:
        return (_edge(graph, ask),)
    before, after = graph.changes(), graph.changes(ask.removed or None)
    if ask.removed and ask.thing in after:
        found = () if ask.thing in before else graph.path(ask.removed, ask.thing, first="hold")
    elif ask.removed and ask.thing in before:
        found = graph.path(ask.removed, ask.thing, first="drive")
    elif ask.thing in before:
        ways = [path for one in graph.things if one.active and (path := graph.path(one.id, ask.thing))]
        found = min(ways, key=len, default=())
    else:
        found = graph.into(ask.thing)[:1]
    if not found:
        raise ValueError(f"nothing in the graph answers {ask}")
    return found


def _prediction(graph: Graph, ask: Ask) -> Answer:
    target, edges = graph.thing(ask.thing), way(graph, ask)
    question = f"If nobody interferes, what will happen to {{{target.id}}} next, and why?"
    if target.id in graph.changes():
        on = " This will go on." if _relation(edges[-1]).now else ""
        text = f"{graph.thing(edges[0].cause).active}. {_chain(graph, edges, 'will')}{on}"
        return _about_chain(edges, question, text, f"will {target.fate.base}", _happening(graph, edges))
    ends = f"{{{target.id}}} will {target.stay.base}"
    text = f"{ends}. {says(edges[0])}: {edges[0].how}, and nothing is about to change that."
    return _about_edge(graph, edges[0], question, text, ends)


def _intervention(graph: Graph, ask: Ask) -> Answer:
    gone, target, edges = graph.thing(ask.removed), graph.thing(ask.thing), way(graph, ask)
    question = f"If {{{gone.id}}} {gone.removal}, what would happen to {{{target.id}}}, and why?"
    if target.id in graph.changes(gone.id):
        short = _happening(graph, edges) if len(edges) > 1 else _lacking(gone, target, target.fate, _happens(target))
        return _about_chain(edges, question, _chain(graph, edges, "would"), f"would {target.fate.base}", short)
    if target.id in graph.changes():
        short = _staying(graph, edges) if len(edges) > 1 else _lacking(gone, target, target.stay, _stays(target))
        return _about_chain(edges, question, _broken_chain(graph, edges), f"would {target.stay.base}", short)
    ends = f"{{{target.id}}} would {target.stay.base}"
    text = (
        f"{ends}, for it does not depend on {{{gone.id}}}. "
        f"{{{edges[0].cause}}} would still {_base(edges[0])}: {edges[0].how}."
    )
    return _about_edge(graph, edges[0], question, text, ends)


def _chain(graph: Graph, edges: Sequence[Edge], modal: str) -> str:
    """How a change spreads, a sentence for each edge."""
    sentences = []
    for k, edge in enumerate(edges):
        fate = graph.thing(edge.effect).fate
        if modal == "will" and _relation(edge).now:
            sentences.append(f"{says(edge)}, so {{{edge.effect}}} {fate.third}.")
            continue
        then = " then" if k else ""
        verb = f"no longer {_base(edge)}" if edge.kind == "hold" else _base(edge)
        sentences.append(f"{{{edge.cause}}} {modal}{then} {verb}, so {{{edge.effect}}} {modal} {fate.base}.")
    return " ".join(sentences)


def _broken_chain(graph: Graph, edges: Sequence[Edge]) -> str:
    """How a change that would come does not, a sentence for each edge."""
    sentences = []
    for k, edge in enumerate(edges):
        if edge.kind == "hold":
            verb = f"would then still {_base(edge)}"
        else:
            verb = f"would then not {_base(edge)}" if k else f"could no longer {_base(edge)}"
        sentences.append(f"{{{edge.cause}}} {verb}, so {{{edge.effect}}} would {graph.thing(edge.effect).stay.base}.")
    return " ".join(sentences)


@dataclass(frozen=True)
class _Short:
    """A short answer: its words, and by which phrases its mechanism and its outcome are known."""

    text: str
    mechanism: tuple[str, ...]
    outcome: tuple[str, ...]


def _happening(graph: Graph, edges: Sequence[Edge]) -> _Short:
    """The last thing changes because the one before it does."""
    cause, target = graph.thing(edges[-1].cause), graph.thing(edges[-1].effect)
    return _Short(_both(cause, cause.fate, target, target.fate), _happens(cause), _happens(target))


def _staying(graph: Graph, edges: Sequence[Edge]) -> _Short:
    """The last thing does not change because the one before it does not."""
    cause, target = graph.thing(edges[-1].cause), graph.thing(edges[-1].effect)
    return _Short(_both(cause, cause.stay, target, target.stay), _stays(cause), _stays(target))


def _both(cause: Thing, one: Event, target: Thing, other: Event) -> str:
    return f"{{{cause.id}}} {Event(one.verb).third} so {{{target.id}}} {Event(other.verb).third}"


def _lacking(gone: Thing, target: Thing, event: Event, outcome: tuple[str, ...]) -> _Short:
    """The last thing changes, or does not, for want of what acted on it."""
    return _Short(f"no {{{gone.id}}} so {{{target.id}}} {Event(event.verb).third}", (f"no {gone.name}",), outcome)


def _about_chain(edges: Sequence[Edge], question: str, text: str, ends: str, short: _Short) -> Answer:
    """An answer that goes along some edges."""
    first, last, phrases = edges[0], edges[-1], _relation(edges[-1]).phrases
    rubric = (
        f"Names {_list((first.cause, *(edge.effect for edge in edges)))}.",
        f"Tells how this comes about: {text}",
        f"Concludes that {{{last.effect}}} {ends}.",
    )
    return Answer(
        question=question,
        text=text,
        short=short.text,
        named=tuple(dict.fromkeys((first.cause, last.cause, last.effect))),
        mechanism=phrases,
        short_named=(last.cause, last.effect),
        short_mechanism=(*short.mechanism, *phrases),
        outcome=short.outcome,
        rubric=rubric,
    )


# --- texts ----------------------------------------------------------------------------------------------------


def worded(template: str, graph: Graph) -> str:
    """Names for the braces: "the red lamp" first, "the lamp" from then on."""
    seen: set[str] = set()

    def name(match: re.Match[str]) -> str:
        thing = graph.thing(match[1])
        known = thing.id in seen
        seen.add(thing.id)
        return f"the {thing.name}" if known or not thing.colour else f"the {thing.colour} {thing.name}"

    return _sentences(re.sub(r"\{(\w+)\}", name, template))


def symbolized(template: str, symbols: Mapping[str, str]) -> str:
    """Symbols for the braces."""
    return _sentences(re.sub(r"\{(\w+)\}", lambda match: symbols[match[1]], template))


def bare(template: str, graph: Graph) -> str:
    """Nouns without articles for the braces."""
    return re.sub(r"\{(\w+)\}", lambda match: graph.thing(match[1]).name, template)


def _sentences(text: str) -> str:
    return re.sub(r"(^|[.?] )([a-z])", lambda match: match[1] + match[2].upper(), text)


def claim_text(claim: Claim) -> str:
    """As in "{vase} holds up {lamp}.", or "Nothing holds up {lamp}."."""
    verb = _acts(Edge(claim.cause, claim.effect, claim.relation, ""))
    return f"{{{claim.cause}}} {verb}." if claim.cause else f"Nothing {verb}."
