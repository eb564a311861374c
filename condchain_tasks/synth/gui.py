"""Trajectories of phone screens whose every fact is known: the gui domain.

A world is 4 to 12 screens of one app, each with the action that was taken on it. Facts are drawn first, each
uniformly from the values of its `Attribute` and without regard to any other fact; `gui_art` then draws what
they say. A clock may therefore jump between two screens: were it to follow the order of the screens, the
words of a statement could tell whether it is true.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from condchain_tasks.synth.gui_art import Part, Screen, draw_screen
from condchain_tasks.synth.gui_attributes import LOOKS, ORDINALS, part_attributes, screen_attributes, tab, text_in
from condchain_tasks.synth.gui_themes import APPS, FIELD_TEXTS, THEMES, Theme
from condchain_tasks.synth.png import encode_png
from condchain_tasks.synth.world import Attribute, Name, Scalar, Subject

MIN_SCREENS, MAX_SCREENS = 4, 12

_OPTION_KEYS = tuple(f"option_{place}" for place in range(1, 5))
_RESULT_KEYS = tuple(f"result_{place}" for place in range(1, 6))


def _draw(rng: random.Random, attributes: Sequence[Attribute]) -> dict[str, Scalar]:
    return {attribute.key: rng.choice(attribute.values) for attribute in attributes}


_Drawn = tuple[Part, tuple[Attribute, ...]]
"""An element and what may be said about it: nothing if it is only there to look at."""


def _ranked(
    rng: random.Random, part: str, key: str, attributes: tuple[Attribute, ...], labels: Sequence[str], told: int
) -> list[_Drawn]:
    """Elements that share out the values of one attribute among them; the first `told` are subjects."""
    (ranks,) = (attribute.values for attribute in attributes if attribute.key == key)
    order = rng.sample(ranks, len(labels))
    return [
        (
            Part(part, _draw(rng, attributes) | {key: rank, "label": label}),
            attributes if place < told else (),
        )
        for place, (label, rank) in enumerate(zip(labels, order, strict=True))
    ]


def _parts(rng: random.Random, kind: str, theme: Theme, facts: Mapping[str, Scalar]) -> list[_Drawn]:
    """The elements of a screen of one kind, with their facts drawn."""
    about = part_attributes(theme)

    def one(part: str) -> _Drawn:
        return Part(part, _draw(rng, about[part])), about[part]

    if kind == "launcher":
        return _ranked(rng, "app", "place", about["app"], rng.sample(APPS, 9), told=3)
    if kind in ("list", "settings"):
        labels = rng.sample(theme.labels, 6)
        return _ranked(rng, "row", "position", about[f"{kind} row"], labels, told=3)
    if kind == "dialog":
        rows = _ranked(rng, "row", "position", about["list row"], rng.sample(theme.labels, 6), told=0)
        dialog, attributes = one("dialog")
        options = dict(zip(_OPTION_KEYS, rng.sample(theme.notes, 4), strict=True))
        return [*rows, (Part("dialog", {**dialog.facts, **options}), attributes)]
    if kind == "scroll":
        labels = rng.sample(theme.labels, int(facts["cards"]))
        told = set(rng.sample(range(len(labels)), 2))
        return [
            (
                Part("card", _draw(rng, about["card"]) | {"label": label}),
                about["card"] if place in told else (),
            )
            for place, label in enumerate(labels)
        ]
    if kind == "search":
        return [one("text field"), one("keyboard")]
    if kind == "chat":
        messages = [Part("message", _draw(rng, about["message"])) for _ in range(int(facts["messages"]))]
        first, *others, last = messages
        return [
            (Part("message", {**first.facts, "label": "top"}), about["message"]),
            *((message, ()) for message in others),
            (Part("message", {**last.facts, "label": "bottom"}), about["message"]),
            one("text field"),
            one("keyboard"),
        ]
    if kind == "form":
        fields = [
            (Part(part.kind, {**part.facts, **_draw(rng, (content,))}), (content, *attributes) if attributes else ())
            for part, attributes in _ranked(
                rng, "field", "position", about["field"], rng.sample(sorted(FIELD_TEXTS), 3), told=2
            )
            for content in (text_in(FIELD_TEXTS[str(part.facts["label"])]),)
        ]
        return [*fields, one("slider")]
    return [one("picture"), one("button")]


_FIRST = ("launcher", "launcher", "list", "settings", "scroll")
_NEXT: Mapping[str, tuple[str, ...]] = {
    "launcher": ("list", "settings", "scroll", "search"),
    "list": ("detail", "search", "dialog", "scroll", "chat"),
    "settings": ("dialog", "form", "settings", "list"),
    "scroll": ("detail", "search", "list", "scroll"),
    "search": ("scroll", "list", "detail"),
    "detail": ("form", "dialog", "scroll", "chat"),
    "form": ("dialog", "detail", "list", "launcher"),
    "dialog": ("settings", "list", "detail", "chat", "form"),
    "chat": ("dialog", "list", "detail", "launcher"),
}


def _kinds(rng: random.Random) -> list[str]:
    kinds = [rng.choice(_FIRST)]
    for _ in range(rng.randint(MIN_SCREENS, MAX_SCREENS) - 1):
        kinds.append(rng.choice(_NEXT[kinds[-1]]))
    return kinds


def _screen(rng: random.Random, kind: str, theme: Theme) -> tuple[Screen, tuple[Attribute, ...], list[_Drawn]]:
    attributes = screen_attributes(kind, theme)
    unsaid = (*LOOKS, tab(theme))  # what a screen of another kind would show, such as the one behind a dialog
    facts = _draw(rng, unsaid) | _draw(rng, attributes)
    facts |= {"touch": rng.randrange(100), "tabs": " ".join(theme.tabs), "chips": " ".join(theme.chips)}
    facts |= dict(zip(_RESULT_KEYS, rng.sample(theme.typed, len(_RESULT_KEYS)), strict=True))
    drawn = _parts(rng, kind, theme, facts)
    return Screen(kind, facts, tuple(part for part, _ in drawn)), attributes, drawn


_PLAIN: Mapping[str, str] = {
    "dialog": "dialog",
    "keyboard": "keyboard",
    "text field": "text field",
    "slider": "slider",
    "picture": "framed picture",
    "button": "main button",
}
"""Elements of which a screen has no more than one, and what they are called."""
_SELECTING: Mapping[str, Scalar] = {"label": "", "position": 0, "title": "", "home": False}
"""Keys of selectors that not every subject has by nature."""


def _screen_names(image: int, screen: Screen, last: int, alike: Mapping[tuple[str, Scalar], int]) -> list[Name]:
    names = [Name(f"the screen in Image {image}", f'image == {image} and part == "screen"')]
    for text, at in (("the first screen", 1), ("the last screen", last)):
        if image == at:
            names.append(Name(text, f'image == {image} and part == "screen"'))
    if screen.kind == "launcher":
        if alike["screen", "launcher"] == 1:
            names.append(Name("the home screen", 'part == "screen" and home'))
    elif alike["title", screen.facts["title"]] == 1:
        title = screen.facts["title"]
        names.append(Name(f"the screen titled “{title}”", f'part == "screen" and title == "{title}"'))
    return names


def _part_names(image: int, part: Part, alike: Mapping[tuple[str, Scalar], int]) -> list[Name]:
    place = f'image == {image} and part == "{part.kind}"'
    if part.kind in _PLAIN:
        names = [Name(f"the {_PLAIN[part.kind]} in Image {image}", place)]
        if part.kind in ("dialog", "slider") and alike["part", part.kind] == 1:
            names.append(Name(f"the only {part.kind} in all the images", f'part == "{part.kind}"'))
        return names
    label = part.facts["label"]
    names = [Name(f"the {label} {part.kind} in Image {image}", f'{place} and label == "{label}"')]
    if "position" in part.facts:
        position = part.facts["position"]
        text = f"the {ORDINALS[position]} {part.kind} in Image {image}"
        names.append(Name(text, f"{place} and position == {position}"))
    if part.kind != "message" and alike["label", label] == 1:
        names.append(Name(f"the {part.kind} labelled “{label}”", f'part == "{part.kind}" and label == "{label}"'))
    return names


def _alike(screens: Sequence[Screen]) -> Counter[tuple[str, Scalar]]:
    """How often each thing that could be a name stands in the pictures, in whatever place."""
    counts: Counter[tuple[str, Scalar]] = Counter()
    for screen in screens:
        counts["screen", screen.kind] += 1
        counts["title", screen.facts.get("title", "")] += 1
        if screen.kind == "detail":
            counts["label", screen.facts["item"]] += 1
        for part in screen.parts:
            counts["part", part.kind] += 1
            counts["label", part.facts.get("label", "")] += 1
    return counts


@dataclass(frozen=True)
class GuiWorld:
    """A trajectory of phone screens.

    Attributes:
        subjects: The screens and some of their elements.
        screens: The frames, in order.
        domain: "gui".
    """

    subjects: tuple[Subject, ...]
    screens: tuple[Screen, ...]
    domain: str = "gui"

    def draw(self, root: Path, record_id: str) -> str:
        """See `World.draw`: a folder with one PNG a screen, numbered from 01."""
        image = f"images/gui/{record_id}"
        folder = root / image
        folder.mkdir(parents=True, exist_ok=True)
        for number, screen in enumerate(self.screens, start=1):
            path = folder / f"{record_id}_{number:02d}.png"
            path.write_bytes(encode_png(np.asarray(draw_screen(screen))))
        return image


def make_world(rng: random.Random) -> GuiWorld:
    """Draws a trajectory of 4 to 12 screens.

    Args:
        rng: The only source of chance.

    Returns:
        A world with at least 8 subjects.
    """
    theme = rng.choice(THEMES)
    frames = [_screen(rng, kind, theme) for kind in _kinds(rng)]
    screens = tuple(screen for screen, _, _ in frames)
    alike = _alike(screens)
    groups = []
    for image, (screen, about_screen, drawn) in enumerate(frames, start=1):
        facts = {attribute.key: screen.facts[attribute.key] for attribute in about_screen}
        place: dict[str, Scalar] = {**_SELECTING, "image": image, "part": "screen"}
        own = place | {"home": screen.kind == "launcher"} | facts
        names = tuple(_screen_names(image, screen, len(frames), alike))
        groups.append([Subject(f"screen-{image}", names, own, about_screen, ())])
        for part, about in drawn:
            if about:
                subject_id = f"{part.kind.replace(' ', '-')}-{image}-{len(groups[-1])}"
                own = {**place, "part": part.kind, **part.facts}
                names = tuple(_part_names(image, part, alike))
                groups[-1].append(Subject(subject_id, names, own, about, ()))
    return GuiWorld(
        tuple(
            replace(subject, related=_related(subject, index, groups))
            for index, group in enumerate(groups)
            for subject in group
        ),
        screens,
    )


def _related(subject: Subject, index: int, groups: Sequence[Sequence[Subject]]) -> tuple[str, ...]:
    """What is in the same image and in those before and after, and the same part in any image.

    Most of it lies in other images: a chain is to lead through the trajectory.
    """
    near = groups[max(0, index - 1) : index + 2]
    return tuple(
        other.id
        for group in groups
        for other in group
        if other is not subject and (group in near or other.facts["part"] == subject.facts["part"])
    )
