"""V-REX's conversations: planning, following, and the final question alone (paper, section on evaluation)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from condchain_tasks.data.images import FileImage
from condchain_tasks.prompts import PromptError, render
from condchain_tasks.scorers.vrex import parse_choice_extended

Step = Mapping[str, Any]

PROMPTS = {
    "planning": ("vrex_goal", "vrex_told", "vrex_unread", "vrex_pick", "vrex_answer"),
    "following": ("vrex_answer",),
    "direct": ("vrex_answer",),
}
"""The templates of each mode."""

_VARIABLES = {
    "vrex_goal": ("question",),
    "vrex_told": ("question", "answer"),
    "vrex_unread": (),
    "vrex_pick": ("options",),
    "vrex_answer": ("question", "options"),
}
_MARKER = "What is the last step?"


@dataclass(frozen=True)
class _Conversation:
    """A conversation about one sample.

    Attributes:
        doc: The row (see `data.vrex.Row`).
    """

    doc: Mapping[str, Any]

    def visuals(self) -> list[FileImage]:
        """The pictures, undecoded."""
        return visuals(self.doc)


class Planning(_Conversation):
    """Picks the next question among candidates and is told its true answer; answers the final question at the end."""

    def turn(self, replies: Sequence[str]) -> str | None:
        """What is known, and the candidates or the final question."""
        number = len(replies)
        if number == len(self.doc["steps"]):
            return None
        return f"{self._known(replies)}\n\n{ask(self.doc, number)}"

    def _known(self, replies: Sequence[str]) -> str:
        if not replies:
            return render("vrex_goal", question=self.doc["final_question"])
        options = self.doc["steps"][len(replies) - 1]["options"]
        chosen = choice(replies[-1], options)
        if chosen is None:
            return render("vrex_unread")
        return render("vrex_told", question=options[chosen]["text"], answer=options[chosen]["answer"])


class Following(_Conversation):
    """Answers each question of the chain, and the final one; a chain of one step is the final question alone."""

    def turn(self, replies: Sequence[str]) -> str | None:
        """The next question with its options."""
        return None if len(replies) == len(self.doc["steps"]) else ask(self.doc, len(replies))


def chain_of(doc: Mapping[str, Any]) -> Planning | Following:
    """The conversation that a row stands for."""
    return Planning(doc) if doc["mode"] == "planning" else Following(doc)


def gold_replies(doc: Mapping[str, Any]) -> list[str]:
    """What a perfect model said before the step that a teacher-forced row asks."""
    return [f"({letter(step['gold'])})" for step in doc["steps"][: doc["step"] - 1]]


def ask(doc: Mapping[str, Any], number: int) -> str:
    """The part of a turn that asks: candidates to pick from, or a question with its options.

    Args:
        doc: The row.
        number: The step, from 0.
    """
    step = doc["steps"][number]
    texts = [option["text"] for option in step["options"]]
    if doc["mode"] == "planning" and number < len(doc["steps"]) - 1:
        return render("vrex_pick", options="\n".join(f"{letter(i)}. {text}" for i, text in enumerate(texts)))
    options = "\n".join(f"({letter(i)}) {text}" for i, text in enumerate(texts))
    return render("vrex_answer", question=step["question"], options=options)


def choice(reply: str, options: Sequence[Mapping[str, Any]]) -> int | None:
    """The option that a reply names by the official rules, or None."""
    return index_of(parse_choice_extended(reply, [option["text"] for option in options]).letter, len(options))


def index_of(named: str, options: int) -> int | None:
    """The number, from 0, of the option that a letter names; None if there is no such option."""
    index = ord(named) - ord("a") if named else options
    return index if index < options else None


def letter(index: int) -> str:
    """The capital letter of an option, counted from 0."""
    return chr(ord("A") + index)


def check_prompt(name: str) -> None:
    """Makes sure, before any request, that a template shows what it must.

    Raises:
        PromptError: It does not, or cannot be used.
    """
    values = dict.fromkeys(_VARIABLES[name], "")
    for variable in values:
        if _MARKER not in render(name, **values | {variable: _MARKER}):
            raise PromptError(f"The prompt {name}.j2 does not show {{{{ {variable} }}}}.")
    render(name, **values)


def visuals(doc: Mapping[str, Any]) -> list[FileImage]:
    """The pictures, undecoded; none for a row that shows none."""
    return [FileImage(path) for path in doc["images"]]
