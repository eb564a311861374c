"""What every causal scene is made of: nouns, things, and the scene itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from condchain_tasks.synth.causal_art import Drawing
from condchain_tasks.synth.causal_graph import MOVE, STAY, Event, Graph, Thing
from condchain_tasks.synth.natural_pen import COLOURS

NOUNS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "apple": ("apples", ("fruit", "fruits")),
    "backpack": ("backpacks", ("rucksack", "rucksacks", "bag", "bags")),
    "ball": ("balls", ("sphere", "spheres")),
    "balloon": ("balloons", ()),
    "basket": ("baskets", ("hamper", "hampers")),
    "bell": ("bells", ("gong", "gongs")),
    "belt": ("belts", ("strap", "straps", "band", "bands")),
    "board": ("boards", ("plank", "planks")),
    "boat": ("boats", ("sailboat", "sailboats", "ship", "ships")),
    "book": ("books", ("volume", "volumes")),
    "boulder": ("boulders", ("stone", "stones", "rock", "rocks")),
    "branch": ("branches", ("bough", "boughs", "limb", "limbs")),
    "brick": ("bricks", ("cinderblock", "cinderblocks")),
    "bucket": ("buckets", ("pail", "pails")),
    "cactus": ("cacti", ("cactuses", "plant", "plants")),
    "cake": ("cakes", ("gateau", "gateaux")),
    "candle": ("candles", ("taper", "tapers")),
    "car": ("cars", ("automobile", "automobiles", "vehicle", "vehicles")),
    "chain": ("chains", ()),
    "clock": ("clocks", ("timepiece", "timepieces")),
    "crane": ("cranes", ()),
    "crate": ("crates", ("chest", "chests")),
    "dam": ("dams", ("barrier", "barriers", "weir", "weirs")),
    "domino": ("dominoes", ("dominos", "tile", "tiles")),
    "drum": ("drums", ("tambour", "tambours")),
    "fan": ("fans", ("ventilator", "ventilators")),
    "hat": ("hats", ("cap", "caps")),
    "hole": ("holes", ("puncture", "punctures")),
    "hook": ("hooks", ("hanger", "hangers")),
    "ladder": ("ladders", ()),
    "lake": ("lakes", ("water", "waters", "pond", "ponds")),
    "magnet": ("magnets", ()),
    "peg": ("pegs", ("stake", "stakes")),
    "pinwheel": ("pinwheels", ("windmill", "windmills")),
    "plug": ("plugs", ("stopper", "stoppers", "cork", "corks")),
    "pulley": ("pulleys", ("wheel", "wheels")),
    "ramp": ("ramps", ("incline", "inclines")),
    "robot": ("robots", ("android", "androids")),
    "rope": ("ropes", ("cord", "cords", "string", "strings")),
    "saw": ("saws", ("handsaw", "handsaws")),
    "shelf": ("shelves", ("ledge", "ledges")),
    "stool": ("stools", ("seat", "seats")),
    "table": ("tables", ("desk", "desks")),
    "tank": ("tanks", ("aquarium", "aquariums", "basin", "basins")),
    "tap": ("taps", ("faucet", "faucets")),
    "teapot": ("teapots", ("pot", "pots")),
    "tent": ("tents", ()),
    "tractor": ("tractors", ("vehicle", "vehicles")),
    "tree": ("trees", ("oak", "oaks")),
    "trestle": ("trestles", ("pivot", "pivots", "fulcrum", "fulcrums")),
    "tyre": ("tyres", ("tire", "tires")),
    "vase": ("vases", ("jar", "jars")),
    "wagon": ("wagons", ("cart", "carts", "trailer", "trailers")),
    "wall": ("walls", ()),
    "water": ("waters", ("liquid", "liquids")),
    "waterwheel": ("waterwheels", ("wheel", "wheels")),
}
"""Plural and synonyms of every name; no text may use one of them for something else."""

FRAGILE: Mapping[str, Event] = {
    "cake": Event("be crushed"),
    "clock": Event("break"),
    "hat": Event("be crushed"),
    "vase": Event("break"),
}
"""What becomes of things on which something lands."""

COLOURED = frozenset(COLOURS) - {"brown"}


@dataclass(frozen=True)
class Scene:
    """A scene: what is there, what acts on what, how it is drawn, and what is safe to ask.

    Attributes:
        kind: A key of `causal_kinds.KINDS`.
        graph: Its things and edges.
        drawing: Its picture; the things have the same ids there.
        independent: Pairs of a thing to remove and a thing that would stay as it is all the same.
    """

    kind: str
    graph: Graph
    drawing: Drawing
    independent: tuple[tuple[str, str], ...] = ()


def thing(
    name: str,
    fate: Event = MOVE,
    *,
    id: str = "",
    colour: str = "",
    stay: Event = STAY,
    removal: str = "were taken away",
    active: str = "",
) -> Thing:
    """A thing, with its plural and its synonyms; its id is its name unless another one is given."""
    plural, synonyms = NOUNS[name]
    return Thing(id or name, name, plural, synonyms, colour, fate, stay, removal, active)


def colours(rng: Random, count: int, without: Iterable[str] = ()) -> list[str]:
    """Different colours."""
    return rng.sample(sorted(COLOURED - set(without)), count)
