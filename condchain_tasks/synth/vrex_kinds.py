"""The kinds of scenes of the embedded V-REX benchmark."""

from __future__ import annotations

from collections.abc import Mapping

from condchain_tasks.synth.vrex_counting import COUNTING
from condchain_tasks.synth.vrex_flowchart import FLOWCHART
from condchain_tasks.synth.vrex_gui import GUI
from condchain_tasks.synth.vrex_map import MAP
from condchain_tasks.synth.vrex_pattern import PATTERN
from condchain_tasks.synth.vrex_plan import Kind
from condchain_tasks.synth.vrex_rooms import ROOMS
from condchain_tasks.synth.vrex_suspects import SUSPECTS
from condchain_tasks.synth.vrex_time import TIME
from condchain_tasks.synth.vrex_words import WORDS

KINDS: Mapping[str, Kind] = {
    kind.name: kind for kind in (FLOWCHART, PATTERN, ROOMS, SUSPECTS, TIME, MAP, GUI, COUNTING, WORDS)
}
"""By name."""

CATEGORIES = ("deduction", "guessing", "navigation", "retrieval")
"""Of V-REX; each has at least two kinds."""
