"""Conversations in lock step, without any benchmark: toy chains, and a model that keeps what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

from lmms_eval.api.instance import GenerationResult, Instance, TokenCounts

import condchain_tasks.rounds as rounds
from condchain_tasks.rounds import messages, run_rounds, text


@dataclass(frozen=True)
class Counting:
    """Asks `length` times; each turn names the replies so far."""

    name: str
    length: int

    def visuals(self) -> list[Any]:
        return [f"picture of {self.name}"]

    def turn(self, replies: Sequence[str]) -> str | None:
        if len(replies) == self.length:
            return None
        return f"{self.name}, after {'+'.join(replies) or 'nothing'}"


def request(chain: Any, doc_id: int, tags: Sequence[Sequence[str]] = ()) -> Instance:
    arguments = (chain.turn([]), chain, {"temperature": 0}, tags, doc_id, "task", "test")
    metadata = {"task": "task", "doc_id": doc_id, "repeats": 1}
    return Instance(rounds.REQUEST_TYPE, arguments=arguments, idx=0, metadata=metadata)


class Model:
    """Answers each request with its number, and keeps the batches."""

    rank = 0

    def __init__(self, is_simple: bool, answer: Any = None) -> None:
        self.is_simple = is_simple
        self.batches: list[list[Instance]] = []
        self.answer = answer or (lambda instance: f"reply to {instance.args[0][-12:]}")

    def generate_until(self, requests: list[Instance]) -> list[Any]:
        self.batches.append(requests)
        return [self.answer(instance) for instance in requests]


def run(model: Model, chains: Sequence[Any], tags: Sequence[Sequence[str]] = ()) -> list[Any]:
    return run_rounds(model, [request(c, n, tags) for n, c in enumerate(chains)], model.generate_until)


LENGTHS = [2, 4, 3, 2, 4, 3]


@pytest.mark.parametrize("is_simple", [True, False])
def test_a_round_of_all_live_chains_is_one_call_and_order_is_kept(is_simple: bool) -> None:
    model = Model(is_simple, lambda instance: f"{instance.doc_id}.{len(model.batches)}")
    outputs = run(model, [Counting(f"chain {n}", length) for n, length in enumerate(LENGTHS)])
    assert [len(batch) for batch in model.batches] == [6, 6, 4, 2]
    assert [output.text for output in outputs] == [
        [f"{n}.{number}" for number in range(1, length + 1)] for n, length in enumerate(LENGTHS)
    ]
    assert [[instance.doc_id for instance in batch] for batch in model.batches] == [
        [0, 1, 2, 3, 4, 5],
        [0, 1, 2, 3, 4, 5],
        [1, 2, 4, 5],
        [1, 4],
    ]


def test_chat_models_get_turns_and_the_pictures_once() -> None:
    model = Model(is_simple=False, answer=lambda _: "yes")
    run(model, [Counting("it", 3)])
    history, to_messages, settings, doc_id, task, split = model.batches[2][0].args
    assert (settings, doc_id, task, split) == ({"temperature": 0}, 0, "task", "test")
    assert to_messages(None) == [
        {
            "role": "user",
            "content": [
                {"type": "image", "url": "picture of it"},
                {"type": "text", "text": "it, after nothing"},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
        {"role": "user", "content": [{"type": "text", "text": "it, after yes"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
        {"role": "user", "content": [{"type": "text", "text": "it, after yes+yes"}]},
    ]
    assert history == text(Counting("it", 3), ["yes", "yes"])


def test_simple_models_get_one_text_with_the_history() -> None:
    model = Model(is_simple=True, answer=lambda _: "yes")
    run(model, [Counting("it", 2)])
    context, settings, visual, doc_id, *_ = model.batches[1][0].args
    assert context == "it, after nothing\n\nYour answer was:\nyes\n\nit, after yes"
    assert (settings, visual(None), doc_id) == ({"temperature": 0}, ["picture of it"], 0)


def test_each_round_of_each_chain_has_a_text_of_its_own() -> None:
    """By which the response cache tells them apart."""
    model = Model(is_simple=False, answer=lambda _: "same")
    run(model, [Counting("a", 3), Counting("b", 3)])
    contexts = [instance.args[0] for batch in model.batches for instance in batch]
    assert len(set(contexts)) == len(contexts) == 6


@pytest.mark.parametrize("failure", ["", "[LMMS_EVAL_REQUEST_FAILED after 3 retries] (A)"])
def test_a_chain_whose_request_failed_ends_and_harms_no_other(failure: str, warnings: list[str]) -> None:
    model = Model(is_simple=True, answer=lambda i: failure if i.doc_id == 1 and len(model.batches) == 2 else "yes")
    outputs = run(model, [Counting("a", 3), Counting("b", 3), Counting("c", 3)])
    assert [output.text for output in outputs] == [["yes"] * 3, ["yes", failure], ["yes"] * 3]
    assert [len(batch) for batch in model.batches] == [3, 3, 2]
    assert any("1 of 3 chains ended early" in warning for warning in warnings)


def test_token_counts_are_summed_over_the_rounds() -> None:
    model = Model(True, lambda _: GenerationResult("yes", TokenCounts(10, 2 * len(model.batches))))
    (output,) = run(model, [Counting("a", 3)])
    assert output.token_counts == TokenCounts(30, 2 + 4 + 6, None)
    (without,) = run(Model(True), [Counting("a", 3)])
    assert without.token_counts is None


def test_reasoning_is_left_out_of_the_history_and_kept_in_the_reply() -> None:
    model = Model(is_simple=True, answer=lambda _: "<think>(A)?</think>\nno")
    (output,) = run(model, [Counting("a", 2)], tags=[["<think>", "</think>"]])
    assert output.text == ["<think>(A)?</think>\nno"] * 2
    assert model.batches[1][0].args[0] == "a, after nothing\n\nYour answer was:\nno\n\na, after no"


def test_a_reply_of_nothing_but_reasoning_leaves_no_empty_turn() -> None:
    model = Model(is_simple=False, answer=lambda _: "<think>(A)?</think>")
    run(model, [Counting("a", 2)], tags=[["<think>", "</think>"]])
    said = model.batches[1][0].args[1](None)
    assert said[1]["content"] == [{"type": "text", "text": "(no answer)"}]


def test_a_rank_with_fewer_chains_makes_as_many_calls_of_the_same_size(monkeypatch: pytest.MonkeyPatch) -> None:
    others = iter([4, 4, 3, 1, 0])
    monkeypatch.setattr(rounds, "_most_over_ranks", lambda live: max(live, next(others)))
    model = Model(is_simple=True, answer=lambda i: f"{i.doc_id}")
    outputs = run(model, [Counting("a", 1), Counting("b", 3)])
    assert [len(batch) for batch in model.batches] == [4, 4, 3, 1]
    assert [output.text for output in outputs] == [["0"], ["1"] * 3]


def test_a_conversation_without_end_is_ended() -> None:
    class Endless(Counting):
        def turn(self, replies: Sequence[str]) -> str | None:
            return "more?"

    (output,) = run(Model(True, lambda _: "yes"), [Endless("a", 0)])
    assert len(output.text) == rounds.MAX_ROUNDS


def test_a_chain_that_is_over_at_once_is_not_asked() -> None:
    model = Model(is_simple=True)
    outputs = run(model, [Counting("a", 0), Counting("b", 1)])
    assert [len(output.text) for output in outputs] == [0, 1]
    assert [len(batch) for batch in model.batches] == [1]


def test_replies_beyond_the_end_are_an_error() -> None:
    with pytest.raises(ValueError, match="over after 1 replies; there are 2"):
        messages(Counting("a", 1), ["yes", "yes"])
