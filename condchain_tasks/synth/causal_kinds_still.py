"""Scenes in which everything is at rest as long as nobody interferes."""

from __future__ import annotations

import math
from random import Random

from condchain_tasks.synth import causal_art as art
from condchain_tasks.synth.causal_art import GROUND, LAWNS, ROOMS, Drawing, Layer
from condchain_tasks.synth.causal_graph import Edge, Event, Graph
from condchain_tasks.synth.causal_scenes import FRAGILE, Scene, colours, thing
from condchain_tasks.synth.natural_pen import COLOURS, DARK, GREY, LIGHT, arc, box, oval

_FLOOR = GROUND + 30
_UP = Event("stay", "up in the air")
_PUT = Event("stay", "in its place")
_WHOLE = Event("stay", "whole")


def stack(rng: Random) -> Scene:
    """Things stand on each other on a table, and another one beside them."""
    upper, beside = rng.choice(("vase", "clock", "teapot")), rng.choice(("cactus", "robot"))
    one, two, three = colours(rng, 3)
    x, fall = rng.randint(200, 260), Event("fall", "to the floor")
    graph = Graph(
        (
            thing("table"),
            thing("crate", fall, stay=_PUT),
            thing("drum", fall, colour=one, stay=_PUT),
            thing(upper, fall, id="upper", colour=two, stay=_PUT),
            thing(beside, fall, id="beside", colour=three, stay=_PUT),
        ),
        (
            Edge("table", "crate", "support", "{crate} stands on its top"),
            Edge("crate", "drum", "support", "{drum} stands on its lid"),
            Edge("drum", "upper", "support", "{upper} stands on its skin"),
            Edge("table", "beside", "support", "{beside} stands on its top"),
        ),
    )
    layers = (
        Layer("table", art.table(320, 330, 210, GROUND + 50)),
        Layer("crate", art.crate(x, 330, 92)),
        Layer("drum", art.known("drum", x, 240, 74, one)),
        Layer("upper", art.known(upper, x, 186, 84, two)),
        Layer("beside", art.known(beside, x + 200, 330, 100, three)),
    )
    pairs = (("crate", "beside"), ("beside", "crate"), ("upper", "drum"), ("drum", "crate"))
    return Scene("stack", graph, Drawing(rng.choice(ROOMS), rng.random() < 0.5, layers), pairs)


def pulley(rng: Random) -> Scene:
    """A boulder and a bucket balance each other over a pulley, the bucket above something fragile."""
    victim = rng.choice(sorted(FRAGILE))
    one, two = colours(rng, 2)
    drop = Event("drop", "to the floor")
    graph = Graph(
        (
            thing("pulley"),
            thing("rope", Event("come down"), removal="were cut through", stay=_UP),
            thing("boulder", drop, stay=_UP, removal="were untied"),
            thing("bucket", Event("drop", "onto {victim}"), colour=one, stay=_UP, removal="were untied"),
            thing(victim, FRAGILE[victim], id="victim", colour=two, stay=_WHOLE),
        ),
        (
            Edge("pulley", "rope", "suspend", "{rope} runs over its rim"),
            Edge("rope", "boulder", "suspend", "one end of {rope} is tied around {boulder}"),
            Edge("rope", "bucket", "suspend", "one end of {rope} is tied to the handle of {bucket}"),
            Edge("boulder", "bucket", "balance", "it pulls with its weight at the other end of {rope}"),
            Edge("bucket", "boulder", "balance", "it pulls with its weight at the other end of {rope}"),
            Edge("bucket", "victim", "crush", "{bucket} hangs right above {victim}"),
        ),
    )
    x, low = rng.randint(290, 350), rng.randint(160, 190)
    left, right, r, y = x - 62, x + 62, 62, 112
    line = ((left, low + 60), (left, y), *arc(x, y, r, r, 180, 360), (right, y), (right, low))
    layers = (
        Layer("", art.ceiling),
        Layer("", art.strokes(GREY, 12, ((x, 20), (x, y)))),
        Layer("", art.table(right, 408, 76, GROUND + 56)),
        Layer("victim", art.known(victim, right, 408, 78, two)),
        Layer("pulley", art.both(art.wheel(x, y, r - 5), art.shapes((GREY, (oval(x, y, 7, 7),))))),
        Layer("boulder", art.boulder(left, low + 124, 96)),
        Layer("bucket", art.known("bucket", right, low + 84, 84, one)),
        Layer("bucket", art.lines(2.5, arc(right, low + 22, 38, 24, 180, 360))),
        Layer("rope", art.rope(*line)),
        Layer("rope", art.rope(*arc(left, low + 84, 44, 10, 20, 160))),
    )
    return Scene("pulley", graph, Drawing(rng.choice(ROOMS), rng.random() < 0.5, layers), (("victim", "bucket"),))


def tank(rng: Random) -> Scene:
    """A boat floats in a tank whose drain is plugged."""
    (one,) = colours(rng, 1, without=("blue",))
    graph = Graph(
        (
            thing("table"),
            thing("tank", Event("fall", "to the floor"), stay=_PUT, removal="were broken"),
            thing("plug", stay=_PUT, removal="were pulled out"),
            thing("water", Event("run out"), stay=Event("stay", "at its level"), removal="were drained"),
            thing("boat", Event("sink", "to the bottom"), colour=one, stay=Event("stay", "on the surface")),
        ),
        (
            Edge("table", "tank", "support", "{tank} stands on its top"),
            Edge("tank", "water", "contain", "its glass surrounds {water} at the bottom and on all sides"),
            Edge("plug", "water", "plug", "it sits tight in the drain in the side of {tank}"),
            Edge("water", "boat", "float", "its surface bears the hull of {boat}"),
        ),
    )
    x, level = rng.randint(300, 340), rng.randint(215, 240)
    left, right, top, foot = x - 140, x + 140, 160, 330
    glass = ((left, top), (left, foot - 4), (right, foot - 4), (right, top))
    stopper = (
        (DARK, (box(right - 8, foot - 40, right + 16, foot - 20, 3),)),
        (COLOURS["red"], (box(right + 14, foot - 46, right + 26, foot - 14, 4),)),
    )
    layers = (
        Layer("table", art.table(x, foot, 190, GROUND + 50)),
        Layer("tank", art.shapes(((236, 243, 246), (box(left, top, right, foot - 4),)))),
        Layer("boat", art.known("boat", x - rng.randint(-40, 40), level + 22, 112, one)),
        Layer("water", art.shapes((art.WATER, (box(left + 5, level, right - 5, foot - 9),)))),
        Layer("tank", art.strokes(LIGHT, 6, glass)),
        Layer("plug", art.shapes(*stopper)),
    )
    pairs = (("boat", "water"), ("plug", "tank"), ("water", "tank"))
    return Scene("tank", graph, Drawing(rng.choice(ROOMS), rng.random() < 0.5, layers), pairs)


def chock(rng: Random) -> Scene:
    """A brick, pinned by a peg, blocks a car on a slope; at its foot stands what the car would knock over."""
    ahead = rng.choice(("cactus", "vase"))
    one, two, three = colours(rng, 3)
    graph = Graph(
        (
            thing("peg", stay=_PUT, removal="were pulled out"),
            thing("brick", Event("slide away"), stay=_PUT),
            thing("car", Event("roll", "down the slope"), colour=one, stay=_PUT, removal="were lifted off"),
            thing("hat", Event("fall", "to the ground"), colour=two, stay=_PUT),
            thing(ahead, Event("tip over"), id="ahead", colour=three, stay=Event("stay", "upright")),
        ),
        (
            Edge("peg", "brick", "pin", "it is driven into the slope right below {brick}"),
            Edge("brick", "car", "chock", "it is wedged under the front wheel of {car}"),
            Edge("car", "hat", "support", "{hat} lies on its roof"),
            Edge("car", "ahead", "knock", "{ahead} stands at the foot of the slope"),
        ),
    )
    pivot, angle = (280.0, 330.0), 20.0
    x = rng.randint(200, 236)
    nose = x + 58

    def on_slope(paint: art.Paint) -> art.Paint:
        return art.tilted(paint, angle, pivot)

    slope = ((0, GROUND + 36), (0, 228), (550, GROUND + 28), (560, GROUND + 36))
    layers = (
        Layer("", art.shapes((art.STRAW, (slope,)))),
        Layer("ahead", art.known(ahead, 588, GROUND + 36, 84, three)),
        Layer("hat", on_slope(art.known("hat", x - 4, 330 - 90, 62, two))),
        Layer("car", on_slope(art.known("car", x, 330, 134, one, flip=True))),
        Layer("peg", on_slope(art.shapes((art.WOOD, (((nose + 42, 284), (nose + 58, 284), (nose + 50, 362)),))))),
        Layer("brick", on_slope(art.bricks(nose, 300, nose + 42, 329, 14.5))),
    )
    pairs = (("hat", "car"), ("ahead", "car"))
    return Scene("chock", graph, Drawing(rng.choice(LAWNS), rng.random() < 0.5, layers), pairs)


def dam(rng: Random) -> Scene:
    """A braced dam holds back a lake with a boat on it; behind the dam stands a tent."""
    one, two = colours(rng, 2, without=("blue",))
    graph = Graph(
        (
            thing("boulder", removal="were rolled away"),
            thing("dam", Event("give way"), stay=Event("stay", "upright")),
            thing("lake", Event("rush out"), stay=_PUT, removal="were drained"),
            thing("boat", Event("run aground"), colour=one, stay=Event("stay", "on the surface")),
            thing("tent", Event("be flooded"), colour=two, stay=Event("stay", "dry")),
        ),
        (
            Edge("boulder", "dam", "brace", "it lies close against the dry side of {dam}"),
            Edge("dam", "lake", "dam", "it stands like a wall at the edge of {lake}"),
            Edge("lake", "boat", "float", "its surface bears the hull of {boat}"),
            Edge("lake", "tent", "flood", "{tent} stands low on the dry side"),
        ),
    )
    level, x = rng.randint(230, 260), rng.randint(270, 300)
    layers = (
        Layer("boat", art.known("boat", x - rng.randint(110, 170), level + 26, 130, one)),
        Layer("lake", art.shapes((art.WATER, (box(-20, level, x, GROUND + 40),)))),
        Layer("", art.lines(2, *(((px, level + 40 + 9 * k), (px + 40, level + 40 + 9 * k))
                                 for k, px in enumerate((30, 130, 70, 190, 20))), ink=(176, 214, 240))),
        Layer("tent", art.known("tent", 540, GROUND + 40, 130, two)),
        Layer("boulder", art.boulder(x + 84, GROUND + 40, 96)),
        Layer("dam", art.bricks(x, level - 40, x + 40, GROUND + 40, 18)),
    )  # fmt: skip
    pairs = (("tent", "lake"), ("boat", "lake"), ("lake", "dam"))
    return Scene("dam", graph, Drawing(rng.choice(LAWNS), rng.random() < 0.5, layers), pairs)


def ladder(rng: Random) -> Scene:
    """A bucket hangs on a ladder that leans against a wall; below stands something fragile."""
    victim = rng.choice(sorted(FRAGILE))
    one, two = colours(rng, 2)
    graph = Graph(
        (
            thing("wall", removal=""),
            thing("brick"),
            thing("ladder", Event("fall", "down"), stay=Event("stay", "upright")),
            thing("bucket", Event("fall", "onto {victim}"), colour=one, stay=_UP, removal="were taken down"),
            thing(victim, FRAGILE[victim], id="victim", colour=two, stay=_WHOLE),
        ),
        (
            Edge("wall", "ladder", "prop", "the upper end of {ladder} leans against it"),
            Edge("brick", "ladder", "brace", "it lies against the feet of {ladder}, which cannot slide past it"),
            Edge("ladder", "bucket", "suspend", "{bucket} hangs on one of its rungs"),
            Edge("bucket", "victim", "crush", "{bucket} is right above {victim}"),
        ),
    )
    x = rng.randint(150, 190)
    foot, head = (x + 250.0, _FLOOR + 2.0), (x + 8.0, 70.0)

    def along(t: float, side: float) -> tuple[float, float]:
        return head[0] + t * (foot[0] - head[0]) + side, head[1] + t * (foot[1] - head[1])

    rungs = [(along(t, -13), along(t, 13)) for t in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)]
    rails = [(along(0, side), along(1, side)) for side in (-13.0, 13.0)]
    at = along(0.4, 0)
    layers = (
        Layer("wall", art.bricks(x - 120, 60, x, _FLOOR)),
        Layer("victim", art.known(victim, at[0] - 10, _FLOOR + 8, 78, two)),
        Layer("ladder", art.both(art.strokes(art.WOOD, 6, *rungs), art.strokes(art.WOOD, 8, *rails))),
        Layer("bucket", art.known("bucket", at[0] - 10, at[1] + 94, 76, one)),
        Layer("bucket", art.lines(3, arc(at[0] - 10, at[1] + 38, 33, 38, 180, 360))),
        Layer("brick", art.bricks(foot[0] + 14, _FLOOR - 24, foot[0] + 70, _FLOOR + 4, 14)),
    )
    pairs = (("victim", "bucket"), ("bucket", "ladder"))
    return Scene("ladder", graph, Drawing(rng.choice(LAWNS), rng.random() < 0.5, layers), pairs)


def seesaw(rng: Random) -> Scene:
    """A boulder on the lower end of a board keeps a robot, with a hat on, up at the other end."""
    one, two = colours(rng, 2)
    graph = Graph(
        (
            thing("trestle"),
            thing("board", Event("fall", "to the ground"), stay=_PUT),
            thing("boulder", removal="were rolled off"),
            thing("robot", Event("come down"), colour=one, stay=_UP),
            thing("hat", Event("come down"), colour=two, stay=_UP),
        ),
        (
            Edge("trestle", "board", "support", "{board} lies across its top"),
            Edge("board", "robot", "support", "{robot} stands on the upper end of {board}"),
            Edge("boulder", "robot", "balance", "it weighs down the lower end of {board}"),
            Edge("robot", "hat", "support", "{hat} sits on its head"),
        ),
    )
    foot, low, high = GROUND + 32, (96.0, GROUND + 24.0), (544.0, 240.0)
    rise = (high[1] - low[1]) / (high[0] - low[0])
    near, far = rng.randint(130, 150), rng.randint(470, 500)
    slant = math.degrees(math.atan(rise))
    apex = low[1] + rise * (320 - low[0])

    def on_board(x: float) -> float:
        return low[1] + rise * (x - low[0]) - 6

    layers = (
        Layer("trestle", art.shapes((art.DARK_WOOD, (((320, apex), (376, foot), (264, foot)),)))),
        Layer("board", art.strokes(art.WOOD, 14, (low, high))),
        Layer("boulder", art.tilted(art.boulder(near, on_board(near), 92), slant, (near, on_board(near)))),
        Layer("robot", art.known("robot", far, on_board(far) + 4, 106, one, antenna=False)),
        Layer("hat", art.known("hat", far, on_board(far) - 92, 56, two)),
    )
    pairs = (("robot", "board"), ("hat", "robot"))
    return Scene("seesaw", graph, Drawing(rng.choice(LAWNS), rng.random() < 0.5, layers), pairs)


def balloon(rng: Random) -> Scene:
    """A balloon is tied to a boulder; right above it hangs a bell."""
    one, two = colours(rng, 2)
    graph = Graph(
        (
            thing("boulder"),
            thing("rope", Event("float up"), removal="were cut through", stay=_PUT),
            thing("balloon", Event("float up"), colour=one, stay=_PUT),
            thing("bell", Event("ring"), colour=two, stay=Event("stay", "silent"), removal="were taken down"),
        ),
        (
            Edge("boulder", "rope", "anchor", "the lower end of {rope} is tied around it"),
            Edge("rope", "balloon", "tether", "its upper end is tied to the neck of {balloon}"),
            Edge("balloon", "bell", "hit", "{bell} hangs right above it"),
        ),
    )
    x, neck = rng.randint(250, 390), rng.randint(290, 320)
    layers = (
        Layer("", art.ceiling),
        Layer("", art.hook(x, 22)),
        Layer("bell", art.known("bell", x, 142, 84, two)),
        Layer("rope", art.rope((x, neck - 14), (x, 372))),
        Layer("balloon", art.known("balloon", x, neck + 22, 128, one)),
        Layer("boulder", art.boulder(x, GROUND + 44, 104)),
        Layer("rope", art.rope(*arc(x, 374, 42, 10, 15, 165))),
    )
    return Scene("balloon", graph, Drawing(rng.choice(ROOMS), rng.random() < 0.5, layers), (("bell", "balloon"),))


def crane(rng: Random) -> Scene:
    """A magnet on a crane's chain holds up a car; below stands something fragile."""
    victim = rng.choice(sorted(FRAGILE))
    one, two = colours(rng, 2)
    graph = Graph(
        (
            thing("crane", removal=""),
            thing("chain", Event("come down"), removal="were cut through", stay=_UP),
            thing("magnet", Event("fall"), removal="were switched off", stay=_UP),
            thing("car", Event("fall", "onto {victim}"), colour=one, stay=_UP),
            thing(victim, FRAGILE[victim], id="victim", colour=two, stay=_WHOLE),
        ),
        (
            Edge("crane", "chain", "suspend", "the upper end of {chain} is fastened to its arm"),
            Edge("chain", "magnet", "suspend", "{magnet} is fastened to its lower end"),
            Edge("magnet", "car", "suspend", "the roof of {car} sticks to it by magnetic force"),
            Edge("car", "victim", "crush", "{car} is right above {victim}"),
        ),
    )
    x, drop = rng.randint(380, 450), rng.randint(150, 180)
    mast = art.both(
        art.shapes((COLOURS["yellow"], (box(70, 60, 80, GROUND + 34), box(120, 60, 130, GROUND + 34)))),
        art.strokes(COLOURS["yellow"], 5, *(((75 + 50 * (k % 2), 80 + 44 * k), (125 - 50 * (k % 2), 124 + 44 * k))
                                            for k in range(8))),
        art.shapes((COLOURS["yellow"], (box(30, 60, x + 40, 82, 3),)), (DARK, (box(24, 50, 60, 100, 4),)),
                   (GREY, (box(50, GROUND + 30, 150, GROUND + 46, 3),))),
    )  # fmt: skip
    horseshoe = (
        *arc(x, drop + 44, 40, 40, 180, 360), (x + 40, drop + 64), (x + 18, drop + 64),
        *arc(x, drop + 44, 18, 18, 360, 180), (x - 18, drop + 64), (x - 40, drop + 64),
    )  # fmt: skip
    tips = [box(x + k * 29 - 11, drop + 56, x + k * 29 + 11, drop + 68) for k in (-1, 1)]
    side = 116
    layers = (
        Layer("crane", mast),
        Layer("chain", art.chain(x, 84, x, drop + 6)),
        Layer("magnet", art.shapes((COLOURS["red"], (horseshoe,)), (LIGHT, tips))),
        Layer("car", art.known("car", x - 0.09 * side, drop + 69 + 0.7 * side, side, one)),
        Layer("victim", art.known(victim, x, GROUND + 40, 88, two)),
    )
    pairs = (("victim", "car"), ("car", "magnet"))
    return Scene("crane", graph, Drawing(rng.choice(LAWNS), rng.random() < 0.5, layers), pairs)


STILL = (stack, pulley, tank, chock, dam, ladder, seesaw, balloon, crane)
