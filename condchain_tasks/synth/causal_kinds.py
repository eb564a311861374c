"""The kinds of causal scenes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from condchain_tasks.synth.causal_kinds_moving import MOVING
from condchain_tasks.synth.causal_kinds_still import STILL
from condchain_tasks.synth.causal_scenes import Scene

KINDS: Mapping[str, Callable[[Random], Scene]] = {one.__name__: one for one in (*STILL, *MOVING)}
"""Each makes a scene that depends on the generator's state alone."""
