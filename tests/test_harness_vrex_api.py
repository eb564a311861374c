"""V-REX on backends of every kind: the turns that a server receives, batches, caches, failures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

import official_vrex
from chat_server import ChatServer, Reply, chat_server
from harness import evaluate, figures

from condchain_tasks.data.harness import RunNotPossible
from condchain_tasks.prompts import render

SAMPLES = 4
LENGTHS = [official_vrex.length(number) for number in range(SAMPLES)]  # 2, 3, 4, 2


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four samples in the documented layout, named by VREX_DATA."""
    root = official_vrex.write_dataset(tmp_path / "vrex", SAMPLES)
    monkeypatch.setenv("VREX_DATA", str(root))
    return root


def arguments(url: str, concurrency: int = 8) -> str:
    return f"model_version=local,base_url={url},api_key=none,num_concurrent={concurrency},timeout=30,max_retries=1"


def turns(request: dict[str, Any]) -> list[tuple[str, str, int]]:
    """Who speaks, what is said, and how many pictures are shown."""
    found = []
    for turn in request["messages"]:
        content = turn["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        said = "".join(part["text"] for part in parts if part["type"] == "text")
        found.append((turn["role"], said, sum(part["type"] != "text" for part in parts)))
    return found


def picks_b(request: dict[str, Any]) -> Reply:
    """Picks B, and says in which turn."""
    return Reply(f"(B)\n\nSaid in turn {len(request['messages'])}.")


def conversation(server: ChatServer, marker: str) -> list[list[tuple[str, str, int]]]:
    """All requests of the sample whose first turn holds the marker, the shortest first."""
    found = [turns(request) for request in server.requests]
    return sorted((said for said in found if marker in said[0][1]), key=len)


@pytest.mark.parametrize("backend", ["openai", "async_openai"])
def test_planning_tells_the_true_answer_of_what_was_picked(data: Path, backend: str) -> None:
    with chat_server(picks_b) as server:
        results = evaluate("vrex_planning", model=backend, model_args=arguments(server.url))
    assert len(server.requests) == sum(LENGTHS)
    said = conversation(server, "Where does path 2 end?")
    assert [len(one) for one in said] == [1, 3, 5, 7]
    assert said[3][:5] == said[2]
    roles = [(role, pictures) for role, _, pictures in said[3]]
    assert roles == [("user", 1), *[("assistant", 0), ("user", 0)] * 3]
    steps = official_vrex.planning(2)["steps"]
    goal = render("vrex_goal", question="Where does path 2 end?")
    listing = "\n".join(f"{letter}. {o['question']}" for letter, o in zip("ABCD", steps[0]["options"], strict=True))
    assert said[0][0][1] == f"{goal}\n\n{render('vrex_pick', options=listing)}"
    for number in range(3):
        picked = steps[number]["options"][1]
        assert said[3][2 * number + 1][1] == f"(B)\n\nSaid in turn {2 * number + 1}."
        assert said[3][2 * number + 2][1].startswith(
            render("vrex_told", question=picked["question"], answer=picked["answer"])
        )
    final = "\n".join(f"({letter}) {o}" for letter, o in zip("ABC", steps[3]["options"], strict=True))
    assert said[3][6][1].endswith(render("vrex_answer", question="Where does path 2 end?", options=final))
    record = results["samples"]["vrex_planning"][2]["final_acc"]
    assert [step["choice"] for step in record["steps"]] == [1, 1, 1, 1]
    assert record["ability"] == pytest.approx(100 * sum(step["gold"] == 1 for step in steps[:3]) / 3)


@pytest.mark.parametrize("backend", ["openai", "async_openai"])
def test_following_asks_the_right_questions_and_keeps_the_models_answers(data: Path, backend: str) -> None:
    with chat_server(picks_b) as server:
        results = evaluate("vrex_following", model=backend, model_args=arguments(server.url))
    steps = official_vrex.following(1)["steps"]
    samples = results["samples"]["vrex_following"]
    assert [sample["final_acc"]["id"] for sample in samples] == ["s0", "s1", "s2", "s3"]
    assert [len(sample["resps"][0][0]) for sample in samples] == LENGTHS
    # Two samples ask the same first question; the picture tells them apart, and the last turn names the path.
    said = next(one for one in map(turns, server.requests) if len(one) == 5 and "path 1" in one[-1][1])
    for number, step in enumerate(steps):
        options = "\n".join(f"({letter}) {o}" for letter, o in zip("ABCD", step["options"], strict=False))
        assert said[2 * number][1] == render("vrex_answer", question=step["question"], options=options)


def test_direct_and_teacher_forced_are_single_requests(data: Path) -> None:
    with chat_server(picks_b) as server:
        evaluate(["vrex_direct", "vrex_planning_tf"], model="openai", model_args=arguments(server.url))
    sizes = Counter(len(turns(request)) for request in server.requests)
    # Direct: four requests of one turn. Teacher-forced: step s of a chain has s - 1 rounds of history.
    assert sizes == {1: SAMPLES + 4, 3: 4, 5: 2, 7: 1}
    steps = official_vrex.planning(2)["steps"]
    forced = next(one for one in map(turns, server.requests) if len(one) == 7)
    for number in range(3):
        gold = steps[number]["gold"]
        assert forced[2 * number + 1][1] == f"({'ABCD'[gold]})"
        told = render("vrex_told", question=steps[number]["question"], answer=steps[number]["answer"])
        assert forced[2 * number + 2][1].startswith(told)


def test_an_asynchronous_client_answers_every_type_of_request(data: Path) -> None:
    """Each call has an event loop of its own: three rounds and more, and then the final question alone."""
    with chat_server(picks_b) as server:
        results = evaluate("vrex", model="async_openai", model_args=arguments(server.url))
    assert len(server.requests) == 2 * sum(LENGTHS) + SAMPLES
    for task in ("vrex_planning", "vrex_following", "vrex_direct"):
        assert figures(results, task)["failed"] == 0


def test_blind_variants_show_no_picture(data: Path) -> None:
    with chat_server(picks_b) as server:
        tasks = ["vrex_planning_blind", "vrex_following_blind", "vrex_direct_blind"]
        evaluate(tasks, model="openai", model_args=arguments(server.url))
    assert len(server.requests) == 2 * sum(LENGTHS) + SAMPLES
    assert {pictures for request in server.requests for _, _, pictures in turns(request)} == {0}


def test_a_reply_that_cannot_be_read_is_wrong_and_the_chain_goes_on(data: Path) -> None:
    with chat_server(lambda _: Reply("§§ ¿¿¿ 0")) as server:
        results = evaluate("vrex_planning", model="openai", model_args=arguments(server.url))
    found = figures(results, "vrex_planning")
    assert len(server.requests) == sum(LENGTHS)
    assert (found["ability"], found["failed"]) == (0, 0)
    assert any(render("vrex_unread") in said for request in server.requests for _, said, _ in turns(request))
    assert found["compliance"] == 0


def test_a_failed_request_ends_its_chain_and_harms_no_other(data: Path, warnings: list[str]) -> None:
    def answer(request: dict[str, Any]) -> Reply:
        first = turns(request)[0][1]
        return Reply("", 500) if "path 2" in first and len(request["messages"]) > 1 else picks_b(request)

    with chat_server(answer) as server:
        results = evaluate("vrex_planning", model="openai", model_args=arguments(server.url))
    records = [sample["final_acc"] for sample in results["samples"]["vrex_planning"]]
    assert [record["failed"] for record in records] == [False, False, True, False]
    assert (records[2]["score"], records[2]["wrong_steps"]) == (
        0,
        sum(s["choice"] != s["gold"] for s in records[2]["steps"][:-1]),
    )
    assert [len(record["steps"]) for record in records] == LENGTHS
    assert figures(results, "vrex_planning")["failed"] == 25
    assert any(warning.startswith("1 of 4 requests failed (1 error).") for warning in warnings)


def test_a_second_run_with_the_cache_sends_nothing_and_failures_are_sent_again(data: Path, tmp_path: Path) -> None:
    broken = True

    def answer(request: dict[str, Any]) -> Reply:
        first = turns(request)[0][1]
        return Reply("", 500) if broken and "path 2" in first and len(request["messages"]) == 5 else picks_b(request)

    cache = str(tmp_path / "cache")
    with chat_server(answer) as server:
        run = lambda: evaluate(  # noqa: E731
            "vrex_planning", model="openai", model_args=arguments(server.url), use_cache=cache
        )
        first = run()
        assert figures(first, "vrex_planning")["failed"] == 25
        broken = False
        sent = len(server.requests)
        second = run()
        assert len(server.requests) - sent == 2  # the third and fourth turn of the chain that had failed
        assert figures(second, "vrex_planning")["failed"] == 0
        sent = len(server.requests)
        third = run()
        assert len(server.requests) == sent
    assert third["results"] == second["results"]


def test_a_round_is_in_flight_at_once(data: Path) -> None:
    def slow(request: dict[str, Any]) -> Reply:
        return Reply(picks_b(request).text, delay_s=0.2)

    with chat_server(slow) as server:
        evaluate("vrex_planning", model="openai", model_args=arguments(server.url, concurrency=SAMPLES))
    assert server.most_in_flight == SAMPLES


def test_reasoning_is_read_by_nobody(data: Path) -> None:
    with chat_server(lambda _: Reply("<think>(A) looks good.</think>\n(B)")) as server:
        from argparse import Namespace

        options = Namespace(reasoning_tags='[["<think>", "</think>"]]', process_with_media=False)
        results = evaluate("vrex_planning", model="openai", model_args=arguments(server.url), cli_args=options)
    assert all(
        step["choice"] == 1 for sample in results["samples"]["vrex_planning"] for step in sample["final_acc"]["steps"]
    )
    assert not any("<think>" in said for request in server.requests for _, said, _ in turns(request))


def test_no_data_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VREX_DATA", raising=False)
    with pytest.raises(RunNotPossible, match=r"vrex_direct: .*V-REX.*VREX_DATA"):
        evaluate("vrex_direct")
