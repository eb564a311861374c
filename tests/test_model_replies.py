"""Where what a model returns becomes a reply: outputs of every form, and messages that backends never see."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

from lmms_eval.api.instance import GenerationResult, Instance, TokenCounts
from lmms_eval.api.model import lmms

from condchain_tasks.model_replies import read_model_replies


@pytest.fixture(autouse=True)
def _attached() -> None:
    read_model_replies()


class Model(lmms):
    """Returns what it is given."""

    def __init__(self, outputs: list[Any], client: Any = None) -> None:
        super().__init__()
        self.outputs = outputs
        self.client = client

    def generate_until(self, requests: list[Instance]) -> list[Any]:
        return self.outputs

    def generate_until_multi_round(self, requests: list[Instance]) -> list[Any]:
        raise NotImplementedError

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        raise NotImplementedError


class Asking(Model):
    """Reads messages as lmms-eval's backends do, once for each request."""

    def generate_until(self, requests: list[Instance]) -> list[Any]:
        return [self.client.chat.completions.create().choices[0].message.content for _ in requests]


def requests(number: int, own: bool = True) -> list[Instance]:
    def visuals(_: Any) -> list[Any]:
        return []

    visuals.__module__ = "condchain_tasks.rounds" if own else "lmms_eval.tasks.mmmu.utils"
    metadata = {"task": "task", "doc_id": 0, "repeats": 1}
    return [Instance("generate_until", ("?", {}, visuals, 0, "task", "test"), 0, metadata) for _ in range(number)]


def test_outputs_of_every_form_become_text() -> None:
    counts = TokenCounts(7, 3)
    outputs = [
        "A1",
        None,
        GenerationResult("A1", counts),
        GenerationResult(None, counts),  # type: ignore[arg-type]
        ("A1", {"input_tokens": 7, "output_tokens": 3}),
        [{"type": "text", "text": "A"}, {"type": "text", "text": "1"}],
        5,
        "half \ud83d",
    ]
    assert Model(outputs).generate_until(requests(len(outputs))) == [
        "A1",
        "[REQUEST_FAILED empty]",
        GenerationResult("A1", counts),
        GenerationResult("[REQUEST_FAILED empty]", counts),
        GenerationResult("A1", counts),
        "A1",
        "[REQUEST_FAILED not_text] int: 5",
        "half ?",
    ]


def test_other_tasks_get_what_the_model_returned() -> None:
    outputs: list[Any] = ["", None, 5, ["a", "b"], "[LMMS_EVAL_REQUEST_FAILED after 1 retries] x", GenerationResult("")]
    assert Model(outputs).generate_until(requests(6, own=False)) == outputs
    settled = ["[REQUEST_FAILED empty]", GenerationResult("[REQUEST_FAILED refusal] No."), "half \ud83d"]
    assert Model(settled).generate_until(requests(3, own=False)) == ["", GenerationResult(""), "half ?"]


@pytest.mark.parametrize("outputs", [["", "A1", "A1"], ["A1"]])
def test_replies_that_cannot_be_told_apart_are_no_replies(outputs: list[str]) -> None:
    found = Model(outputs).generate_until(requests(2))
    said = f"[REQUEST_FAILED error] {len(outputs)} replies were returned to 2 requests"
    assert found == [said] * 2


def message(content: Any = None, reason: str = "stop", **fields: Any) -> Any:
    return SimpleNamespace(
        choices=[SimpleNamespace(finish_reason=reason, message=SimpleNamespace(content=content, **fields))]
    )


def client_of(*responses: Any) -> Any:
    left = iter(responses)
    return SimpleNamespace(
        chat=SimpleNamespace(completions=SimpleNamespace(create=lambda **_: next(left))), made=responses
    )


def test_backends_see_text_alone() -> None:
    calls = [{"function": {"name": "zoom"}}]
    client = client_of(
        message([{"type": "text", "text": "A1"}]),
        message("A1", tool_calls=calls, reason="tool_calls"),
        message(None, tool_calls=calls, reason="tool_calls"),
        message("", reason="length"),
        message("Some", reason="content_filter"),
        message(None, refusal="I can't."),
    )
    assert Asking([], client).generate_until(requests(6)) == [
        "A1",
        "A1",
        "[REQUEST_FAILED not_text] a tool call: [{'function': {'name': 'zoom'}}]",
        "[REQUEST_FAILED empty] finish_reason length",
        "[REQUEST_FAILED content_filter] Some",
        "[REQUEST_FAILED refusal] I can't.",
    ]
    assert [one.choices[0].finish_reason for one in client.made[1:3]] == ["stop", "stop"]


def test_tool_calls_are_left_to_a_backend_that_runs_tools() -> None:
    client = client_of(message(None, tool_calls=[{"function": {"name": "zoom"}}], reason="tool_calls"))
    model = Asking([], client)
    model.mcp_client = object()
    model.generate_until(requests(1))
    (choice,) = client.made[0].choices
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", "")


@pytest.mark.parametrize("response", ["no JSON", SimpleNamespace(choices=None), SimpleNamespace(choices=[])])
def test_an_answer_without_a_message_is_an_error_that_says_so(response: Any) -> None:
    with pytest.raises(RuntimeError, match="holds no message"):
        Asking([], client_of(response)).generate_until(requests(1))


def test_an_error_in_place_of_a_message_is_named() -> None:
    response = SimpleNamespace(choices=None, error={"message": "The model is overloaded."})
    with pytest.raises(RuntimeError, match=r"The model is overloaded\."):
        Asking([], client_of(response)).generate_until(requests(1))
