"""Scenes in which something is under way."""

from __future__ import annotations

import math
from random import Random

from condchain_tasks.synth import causal_art as art
from condchain_tasks.synth.causal_art import GROUND, LAWNS, ROOMS, Drawing, Layer
from condchain_tasks.synth.causal_graph import Edge, Event, Graph
from condchain_tasks.synth.causal_scenes import FRAGILE, Scene, colours, thing
from condchain_tasks.synth.natural_pen import COLOURS, DARK, GREY, LIGHT, OUTLINE, WHITE, Shape, arc, box, oval

_UP = Event("stay", "up in the air")
_PUT = Event("stay", "where it is")
_STILL = Event("stand", "still")


def burning(rng: Random) -> Scene:
    """A candle burns through a rope; what hangs from it will land on something fragile."""
    load, victim = rng.choice(("bell", "backpack")), rng.choice(sorted(set(FRAGILE) - {"cake"}))
    one, two = colours(rng, 2)
    graph = Graph(
        (
            thing("hook", removal="came loose"),
            thing("rope", Event("come down"), removal="were cut through", stay=_UP),
            thing("candle", Event("burn"), active="the flame of {candle} is touching {rope}", removal="were put out"),
            thing(load, Event("fall", "onto {victim}"), id="load", colour=one, stay=_UP),
            thing(victim, FRAGILE[victim], id="victim", colour=two, stay=Event("stay", "whole")),
        ),
        (
            Edge("hook", "rope", "suspend", "the upper end of {rope} is tied to it"),
            Edge("candle", "rope", "burn", "its flame licks at the side of {rope}"),
            Edge("rope", "load", "suspend", "its lower end is tied to the top of {load}"),
            Edge("load", "victim", "crush", "{load} is right above {victim}"),
        ),
    )
    x, knot = rng.randint(270, 370), rng.randint(165, 185)
    layers = (
        Layer("", art.ceiling),
        Layer("", art.table(x, 412, 90, GROUND + 56)),
        Layer("", art.shelf(x + 92, 150, 62)),
        Layer("victim", art.known(victim, x, 412, 80, two)),
        Layer("hook", art.hook(x, 22)),
        Layer("rope", art.rope((x, 58), (x, knot))),
        Layer("load", art.known(load, x, knot + 90, 92, one)),
        Layer("candle", art.candle(x + 54, 150, 40, -48)),
    )
    return Scene("burning", graph, Drawing(rng.choice(ROOMS), rng.random() < 0.5, layers))


def sawing(rng: Random) -> Scene:
    """A saw cuts through the branch from which a tyre hangs above something fragile."""
    victim = rng.choice(sorted(FRAGILE))
    (one,) = colours(rng, 1)
    graph = Graph(
        (
            thing("tree", removal=""),
            thing("branch", Event("come down"), stay=_UP, removal=""),
            thing(
                "saw",
                Event("move", "back and forth"),
                active="{saw} is moving back and forth in {branch}",
                removal="were stopped",
            ),
            thing("rope", Event("come down"), removal="were cut", stay=_UP),
            thing("tyre", Event("fall", "onto {victim}"), stay=_UP, removal="were taken down"),
            thing(victim, FRAGILE[victim], id="victim", colour=one, stay=Event("stay", "whole")),
        ),
        (
            Edge("tree", "branch", "suspend", "{branch} grows out of its side"),
            Edge("saw", "branch", "cut", "its teeth are halfway through {branch}"),
            Edge("branch", "rope", "suspend", "the upper end of {rope} is tied around it"),
            Edge("rope", "tyre", "suspend", "its lower end is tied around {tyre}"),
            Edge("tyre", "victim", "crush", "{tyre} is right above {victim}"),
        ),
    )
    x, y = rng.randint(420, 470), 142
    trunk = ((64, GROUND + 40), (92, 330), (92, 20), (168, 20), (168, 330), (200, GROUND + 40))
    crown = [oval(cx, cy, r, 0.8 * r) for cx, cy, r in ((60, 34, 66), (130, 8, 76), (204, 18, 50))]
    limb = ((160, y - 22), (x + 70, y - 9), (x + 78, y), (x + 70, y + 9), (160, y + 22))
    cut = rng.randint(270, 300)
    drop = rng.randint(220, 236)
    tyre = art.both(
        art.shapes((DARK, (oval(x, drop + 42, 46, 46),))),
        art.shapes((GREY, (oval(x, drop + 42, 22, 22),))),
    )
    layers = (
        Layer("tree", art.shapes((art.DARK_WOOD, (trunk,)))),
        Layer("branch", art.shapes((art.DARK_WOOD, (limb,)))),
        Layer("tree", art.shapes((art.LEAVES, crown))),
        Layer("victim", art.known(victim, x, GROUND + 40, 84, one)),
        Layer("tyre", tyre),
        Layer("rope", art.rope((x, y + 2), (x, drop + 12))),
        Layer("rope", art.rope((x - 6, y - 16), (x - 6, y + 14))),
        Layer("saw", _saw(cut, y)),
        Layer("", art.motion(*(((cut + d, y + 28), (cut + d, y + 56)) for d in (-42, -32, 30, 40)))),
    )
    return Scene("sawing", graph, Drawing(rng.choice(LAWNS), rng.random() < 0.5, layers))


def _saw(x: float, y: float) -> art.Paint:
    """A saw that stands upright in a branch around (x, y), its handle on top."""
    teeth = [p for k in range(9) for p in ((x - 14, y + 62 - 14 * k), (x - 21, y + 55 - 14 * k))]
    blade = ((x + 6, y + 66), *teeth, (x - 14, y - 66), (x + 16, y - 66))
    return art.both(
        art.shapes((LIGHT, (blade,)), (COLOURS["red"], (box(x - 24, y - 104, x + 24, y - 60, 9),))),
        art.shapes((WHITE, (box(x - 11, y - 92, x + 11, y - 74, 6),))),
    )


def dominoes(rng: Random) -> Scene:
    """A ball rolls down a ramp towards a domino, which will knock a vase off its stool."""
    last = rng.choice(("vase", "clock", "teapot"))
    one, two = colours(rng, 2)
    graph = Graph(
        (
            thing("ramp", Event("slope", "down"), active="{ball} is rolling down {ramp}", removal="were level"),
            thing("ball", Event("roll", "down"), colour=one, stay=_PUT, removal="were caught"),
            thing("domino", Event("tip over"), stay=Event("stay", "upright")),
            thing("stool"),
            thing(last, Event("fall", "to the floor"), id="last", colour=two, stay=_PUT),
        ),
        (
            Edge("ramp", "ball", "roll", "{ball} is on its steep side"),
            Edge("ball", "domino", "knock", "{domino} stands right in its way"),
            Edge("domino", "last", "hit", "{last} is within its reach"),
            Edge("stool", "last", "support", "{last} stands on its top"),
        ),
    )
    foot, x = GROUND + 36, rng.randint(300, 330)
    t = rng.uniform(0.3, 0.55)
    bx, by = 40 + t * 210, 240 + t * (foot - 240)
    dots = [oval(x, foot - h, 5, 5) for h in (24, 44, 64, 94, 114)]
    tile = art.both(
        art.shapes((WHITE, (box(x - 15, foot - 138, x + 15, foot, 4),))),
        art.lines(2, ((x - 13, foot - 79), (x + 13, foot - 79))),
        art.shapes((OUTLINE, dots)),
    )
    layers = (
        Layer("ramp", art.shapes((art.WOOD, (((34, foot), (34, 240), (250, foot)),)))),
        Layer("", art.motion(*(((bx - 26 + d, by - 50 + d), (bx - 44 + d, by - 68 + d)) for d in (0, 16)))),
        Layer("ball", art.ball(bx + 22, by - 18, 26, one)),
        Layer("domino", tile),
        Layer("stool", art.stool(x + 96, foot - 76, 52, foot)),
        Layer("last", art.known(last, x + 96, foot - 76, 84, two)),
    )
    return Scene("dominoes", graph, Drawing(rng.choice(ROOMS), rng.random() < 0.5, layers))


def leak(rng: Random) -> Scene:
    """Water pours from a hole in a bucket towards the flame of a candle."""
    one = rng.choice(("green", "orange", "purple", "yellow"))
    graph = Graph(
        (
            thing("shelf"),
            thing("bucket", Event("fall", "to the floor"), colour=one, stay=_PUT, removal=""),
            thing("hole", Event("leak"), active="{hole} in {bucket} is open", removal="were sealed"),
            thing("water", Event("pour", "out"), stay=Event("stay", "inside"), removal=""),
            thing("candle", Event("go out"), stay=Event("keep burning"), removal="were moved aside"),
        ),
        (
            Edge("shelf", "bucket", "support", "{bucket} stands on its top"),
            Edge("hole", "water", "leak", "it opens in the side of {bucket}, and {water} runs through it"),
            Edge("water", "candle", "douse", "it falls straight onto the flame"),
        ),
    )
    x, y = rng.randint(200, 260), 190
    hx, hy = x + 34, y - 22
    reach, low = rng.randint(96, 120), 280
    stream = tuple((hx + reach * t, hy + (low - hy) * t * t) for t in (k / 10 for k in range(11)))
    drops = [oval(hx + reach * (1 + d), low + 16 + 90 * d, 4, 6) for d in (0, 0.12)]
    cx = hx + reach + 6
    layers = (
        Layer("shelf", art.shelf(x - 20, y, 110)),
        Layer("bucket", art.known("bucket", x, y, 118, one)),
        Layer("hole", art.shapes((OUTLINE, (oval(hx - 2, hy, 8, 9),)))),
        Layer("", art.table(cx, 400, 90)),
        Layer("candle", art.candle(cx, 400, 56)),
        Layer("water", art.both(art.strokes(art.WATER, 7, stream), art.shapes((art.WATER, drops)))),
    )
    return Scene("leak", graph, Drawing(rng.choice(ROOMS), rng.random() < 0.5, layers))


def tractor(rng: Random) -> Scene:
    """A tractor pulls a loaded wagon towards something in its way."""
    load, ahead = rng.choice(("drum", "robot", "clock")), rng.choice(("cactus", "vase"))
    one, two, three, four = colours(rng, 4)
    on = Event("move", "forward")
    graph = Graph(
        (
            thing("tractor", on, colour=one, active="{tractor} is driving towards {ahead}", removal="were stopped"),
            thing("chain", on, stay=_PUT, removal="were unhooked"),
            thing("wagon", on, colour=two, stay=_PUT, removal=""),
            thing(load, on, id="load", colour=three, stay=_PUT, removal="were lifted off"),
            thing(ahead, Event("tip over"), id="ahead", colour=four, stay=Event("stay", "upright")),
        ),
        (
            Edge("tractor", "chain", "pull", "the front end of {chain} is hooked to its rear"),
            Edge("chain", "wagon", "pull", "its rear end is hooked to the front of {wagon}"),
            Edge("wagon", "load", "carry", "{load} stands on its bed"),
            Edge("tractor", "ahead", "knock", "{ahead} stands right in its way"),
        ),
    )
    x, y = rng.randint(0, 20), 420
    body = art.both(
        art.shapes(
            (GREY, (box(x + 214, y - 118, x + 222, y - 78),)),
            (COLOURS[one], (box(x + 180, y - 82, x + 290, y - 32, 8), box(x + 258, y - 128, x + 326, y - 32, 6))),
            (LIGHT, (box(x + 268, y - 118, x + 316, y - 84, 3),)),
        ),
        art.wheel(x + 296, y - 38, 38),
        art.wheel(x + 204, y - 22, 22),
    )
    wagon = art.both(
        art.shapes((COLOURS[two], (box(x + 424, y - 66, x + 586, y - 30, 4),))),
        art.wheel(x + 460, y - 20, 20),
        art.wheel(x + 550, y - 20, 20),
    )
    layers = (
        Layer("", art.shapes((WHITE, (oval(x + 228, y - 136, 9, 8), oval(x + 244, y - 152, 12, 10))))),
        Layer("", art.motion(*(((x + 346, y - h), (x + 384, y - h)) for h in (70, 90, 110)))),
        Layer("ahead", art.known(ahead, x + 86, y + 2, 96, four)),
        Layer("load", art.known(load, x + 505, y - 66, 88, three)),
        Layer("chain", art.chain(x + 330, y - 46, x + 422, y - 46)),
        Layer("tractor", body),
        Layer("wagon", wagon),
    )
    return Scene("tractor", graph, Drawing(rng.choice(LAWNS), rng.random() < 0.5, layers))


def waterwheel(rng: Random) -> Scene:
    """Water from a tap turns a waterwheel, whose belt turns a fan, which will blow out a candle."""
    one, two = colours(rng, 2, without=("blue",))
    graph = Graph(
        (
            thing("tap", Event("run"), active="{tap} is open", removal="were turned off"),
            thing("water", Event("pour", "down"), stay=Event("stay", "in the pipe"), removal=""),
            thing("waterwheel", Event("spin"), colour=one, stay=_STILL, removal=""),
            thing("belt", Event("go round"), stay=_STILL, removal="were taken off"),
            thing("fan", Event("spin"), colour=two, stay=_STILL),
            thing("candle", Event("go out"), stay=Event("keep burning"), removal=""),
        ),
        (
            Edge("tap", "water", "leak", "{water} runs from its spout"),
            Edge("water", "waterwheel", "turn", "it falls onto the paddles of {waterwheel}"),
            Edge("waterwheel", "belt", "run", "{belt} is stretched around its axle"),
            Edge("belt", "fan", "turn", "it is stretched around the axle of {fan}"),
            Edge("fan", "candle", "douse", "its stream of air is aimed at the flame"),
        ),
    )
    x, y, far = rng.randint(180, 200), 290, rng.randint(410, 430)
    foot = GROUND + 36
    turns = [math.radians(45 * k + 20) for k in range(8)]
    paddle = ((62, -0.1), (88, -0.16), (88, 0.02), (62, 0.1))
    paddles = [_around(x, y, turn, paddle) for turn in turns]
    wheel = art.both(
        art.shapes((COLOURS[one], paddles)),
        art.lines(5, oval(x, y, 62, 62)),
        art.lines(4, *(((x, y), *_around(x, y, turn, ((60, 0),))) for turn in turns)),
        art.shapes((GREY, (oval(x, y, 18, 18),))),
    )
    spout = x - 52
    tap = art.both(
        art.shapes((GREY, (box(-10, 92, spout + 2, 112), box(spout - 12, 92, spout + 12, 142, 4)))),
        art.shapes(
            (GREY, (box(spout - 24, 74, spout - 18, 94),)), (COLOURS["red"], (box(spout - 42, 64, spout, 76, 4),))
        ),
    )
    blade = ((14, -0.5), (62, -0.32), (66, 0.2), (14, 0.4))
    blades = [_around(far, y, math.radians(90 * k + 30), blade) for k in range(4)]
    fan = art.both(
        art.strokes(GREY, 9, ((far, y), (far, foot - 4))),
        art.shapes((GREY, (box(far - 30, foot - 8, far + 30, foot, 3),)), (COLOURS[two], blades)),
        art.shapes((GREY, (oval(far, y, 14, 14),))),
    )
    belt = art.lines(4, ((x, y - 18), (far, y - 14)), ((x, y + 18), (far, y + 14)), ink=DARK)
    hold = far + 142
    legs = art.strokes(art.WOOD, 9, ((x, y), (x - 40, foot)), ((x, y), (x + 40, foot)))
    layers = (
        Layer("", legs),
        Layer("waterwheel", wheel),
        Layer("tap", tap),
        Layer("water", art.strokes(art.WATER, 9, ((spout, 144), (spout, y - 66)))),
        Layer("fan", fan),
        Layer("belt", belt),
        Layer("belt", art.lines(4, arc(x, y, 18, 18, 90, 270), arc(far, y, 14, 14, -90, 90), ink=DARK)),
        Layer("", art.motion(*(((far + 76, y + d), (far + 106, y + d)) for d in (-26, -6, 14)))),
        Layer("", art.stool(hold, y + 56, 44, foot)),
        Layer("candle", art.candle(hold, y + 56, 44, 16)),
    )
    return Scene("waterwheel", graph, Drawing(rng.choice(LAWNS), rng.random() < 0.5, layers))


def windshield(rng: Random) -> Scene:
    """A fan turns a pinwheel; a board, propped up by a boulder, shields a candle from it."""
    one, two = colours(rng, 2)
    graph = Graph(
        (
            thing("fan", Event("spin"), colour=one, active="{fan} is running", removal="were switched off"),
            thing("pinwheel", Event("spin"), colour=two, stay=_STILL),
            thing("boulder"),
            thing("board", Event("tip over"), stay=Event("stay", "upright")),
            thing("candle", Event("go out"), stay=Event("keep burning"), removal=""),
        ),
        (
            Edge("fan", "pinwheel", "turn", "its stream of air meets the blades of {pinwheel}"),
            Edge("boulder", "board", "prop", "{board} stands close against it"),
            Edge("board", "candle", "shield", "it keeps the stream of air from {fan} away from the flame"),
        ),
    )
    top, x, y = 340, rng.randint(96, 116), 224
    cage = art.both(
        art.strokes(GREY, 9, ((x, y), (x, top - 6))),
        art.shapes((GREY, (box(x - 34, top - 9, x + 34, top, 3),)), (WHITE, (oval(x, y, 62, 62),))),
        art.shapes((COLOURS[one], _blades(x, y, 52, 45, 24))),
        art.lines(2, oval(x, y, 44, 44), *(((x, y), (x + 62 * math.cos(a), y + 62 * math.sin(a)))
                                           for a in (math.radians(45 * k) for k in range(8)))),
        art.shapes((GREY, (oval(x, y, 11, 11),))),
    )  # fmt: skip
    px = x + 140
    vanes = art.both(
        art.strokes(art.WOOD, 6, ((px, y), (px, top - 6))),
        art.shapes((GREY, (box(px - 22, top - 8, px + 22, top, 3),))),
        art.shapes((COLOURS[two], _blades(px, y, 44, 10, 34))),
        art.shapes((WHITE, (oval(px, y, 7, 7),))),
    )
    bx = px + 100
    layers = (
        Layer("", art.table(320, top, 300, GROUND + 54)),
        Layer("fan", cage),
        Layer("pinwheel", vanes),
        Layer("", art.motion(*(((x + 70, y + d), (x + 92, y + d)) for d in (-34, -12, 12, 34)))),
        Layer("", art.motion(*(((px + 56, y + d), (px + 82, y + d)) for d in (-34, -12, 12, 34)))),
        Layer("board", art.shapes((art.WOOD, (box(bx, top - 176, bx + 18, top),)))),
        Layer("boulder", art.boulder(bx + 62, top, 84)),
        Layer("candle", art.candle(bx + 176, top, 74)),
    )
    pairs = (("pinwheel", "board"), ("pinwheel", "candle"), ("fan", "board"))
    return Scene("windshield", graph, Drawing(rng.choice(ROOMS), rng.random() < 0.5, layers), pairs)


def _around(x: float, y: float, turn: float, polar: Shape) -> Shape:
    """Points that are given as radius and angle about (x, y), all turned by an angle in radians."""
    return tuple((x + r * math.cos(turn + angle), y + r * math.sin(turn + angle)) for r, angle in polar)


def _blades(x: float, y: float, r: float, degrees: float, spread: float) -> list[Shape]:
    """Four blades around (x, y)."""
    blade = ((0, 0), (0.7 * r, -math.radians(spread)), (r, math.radians(0.5 * spread)))
    return [_around(x, y, math.radians(90 * k + degrees), blade) for k in range(4)]


MOVING = (burning, sawing, dominoes, leak, tractor, waterwheel, windshield)
