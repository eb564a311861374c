"""Many verdicts at a time, and those that were had before: over kills, several processes, and damage."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, chat_server

from condchain_tasks.data.errors import DataError
from condchain_tasks.judging.batch import judge_all
from condchain_tasks.judging.cache import VerdictCache, judge_folder
from condchain_tasks.judging.ccrv import Ask, asks
from condchain_tasks.judging.counts import Counts
from condchain_tasks.judging.judge import Judge
from condchain_tasks.judging.settings import JudgeSettings
from condchain_tasks.judging.verdicts import Answer, CsrVerdict, DcrVerdict, Missing

DCR = '{"reasoning": "fine", "r1": 1, "r2": 1, "r3": 0}'
VERDICT = DcrVerdict(reasoning="fine", r1=1, r2=1, r3=0)
RUBRIC = {"rubric_l1": "a", "rubric_l2": "b", "rubric_l3": "c"}
FORK = multiprocessing.get_context("fork")  # a fresh interpreter would import the harness for 10 s


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.delenv("RANK", raising=False)
    import lmms_eval.llm_judge  # noqa: F401  (before any fork)


def questions(number: int) -> list[Ask]:
    return [ask for n in range(number) for ask in asks({"y": "base", **RUBRIC}, f"Reply {n}.")]


def more_questions(number: int, name: str) -> list[Ask]:
    return [ask for n in range(number) for ask in asks({"y": "base", **RUBRIC}, f"Reply {n}, {name}.")]


def a_judge(concurrency: int = 4) -> Judge:
    return Judge(JudgeSettings("local", "openai", concurrency, 5, attempts=2, first_wait_s=0.01, most_wait_s=0.02))


def at(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_URL", server.url)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it did not happen within 10 s"
        time.sleep(0.01)


def test_all_verdicts_and_never_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = questions(20)
    judge = a_judge()
    with chat_server(lambda _: Reply(DCR)) as server:
        at(server, monkeypatch)
        first = judge_all(everything + everything[:5], judge, VerdictCache(tmp_path))
        assert first == {ask.key: Answer(VERDICT, calls=1) for ask in everything}
        assert judge.counts.calls == len(server.requests) == 20
        second = judge_all([*questions(21), everything[0]], judge, VerdictCache(tmp_path))
        assert second.keys() > first.keys()
        assert [key for key, answer in second.items() if not answer.is_cached] == [questions(21)[20].key]
        assert len(server.requests) == 21
    assert (judge.counts.calls, judge.counts.cache_hits, judge.counts.missing) == (21, 20, 0)


def test_a_warm_cache_needs_no_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = VerdictCache(tmp_path)
    for ask in questions(3):
        cache.put(ask.key, ask.kind, VERDICT)
    monkeypatch.delenv("OPENAI_API_KEY")
    assert len(judge_all(questions(3), a_judge(), VerdictCache(tmp_path))) == 3
    with pytest.raises(DataError, match="OPENAI_API_KEY"):
        judge_all(questions(4), a_judge(), VerdictCache(tmp_path))


def test_nothing_to_ask(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert judge_all([], a_judge(), VerdictCache(tmp_path)) == {}
    assert "Judging" not in capfd.readouterr().err


def test_concurrency_is_reached_and_never_exceeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(lambda _: Reply(DCR, delay_s=0.1)) as server:
        at(server, monkeypatch)
        judge_all(questions(36), a_judge(6), VerdictCache(tmp_path))
    assert server.most_in_flight == 6


@pytest.mark.parametrize(("rank", "shown"), [(None, True), ("0", True), ("1", False)])
def test_the_first_rank_shows_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], rank: str | None, shown: bool
) -> None:
    if rank is not None:
        monkeypatch.setenv("RANK", rank)
    monkeypatch.setattr("condchain_tasks.progress.QUIET_SECONDS", 0.0)
    with chat_server(lambda _: Reply(DCR, delay_s=0.2)) as server:
        at(server, monkeypatch)
        judge_all(questions(2), a_judge(), VerdictCache(tmp_path))
    assert ("Judging: 0 of 2" in capfd.readouterr().err) == shown


def test_what_is_missing_is_counted_and_asked_again_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    from loguru import logger

    summaries: list[str] = []
    handler = logger.add(summaries.append, level="INFO", format="{message}", filter="condchain_tasks")

    def answer(body: dict[str, Any]) -> Reply:
        return Reply(status=400) if "Reply 3." in body["messages"][0]["content"] else Reply(DCR)

    everything = questions(6)
    judge = a_judge()
    with chat_server(answer) as server:
        at(server, monkeypatch)
        answers = judge_all(everything, judge, VerdictCache(tmp_path))
        assert [key for key, one in answers.items() if isinstance(one.verdict, Missing)] == [everything[3].key]
        assert [one.calls for one in answers.values()] == [1] * 6
        judge_all(everything, a_judge(), VerdictCache(tmp_path))
        assert len(server.requests) == 7
    logger.remove(handler)
    assert "6 asks: 0 from the cache, 6 calls, 0 retries, 0 re-asks, 1 missing, 35 + 15 tokens" in summaries[0]
    assert "6 asks: 5 from the cache, 1 calls, 0 retries, 0 re-asks, 1 missing, 0 + 0 tokens" in summaries[1]
    assert not any("Attempt" in line for line in warnings)


def test_a_judge_that_is_gone_is_not_asked_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    judge = a_judge()
    with chat_server(lambda _: Reply(status=400)) as server:
        at(server, monkeypatch)
        answers = judge_all(questions(100), judge, VerdictCache(tmp_path))
        assert len(answers) == 100
        assert all(isinstance(one.verdict, Missing) and not one.is_cached for one in answers.values())
        assert sum(one.calls for one in answers.values()) == len(server.requests)
        assert 20 <= len(server.requests) <= 30
        assert judge.counts.missing == 100
        (warning,) = warnings
        assert "asks were given up: 20 in a row without a verdict (the last: HTTPError: HTTP 400" in warning

        asked = len(server.requests)  # the next time, one probe tells
        answers = judge_all(more_questions(50, "next"), judge, VerdictCache(tmp_path))
        assert len(answers) == 50
        assert all(isinstance(one.verdict, Missing) for one in answers.values())
        assert len(server.requests) - asked == 1
        assert judge.counts.missing == 150
        assert "49 asks were given up: it was given up before" in warnings[1]


def test_a_judge_that_is_back_is_asked_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_back = threading.Event()
    judge = a_judge()
    with chat_server(lambda _: Reply(DCR) if is_back.is_set() else Reply(status=400)) as server:
        at(server, monkeypatch)
        judge_all(questions(100), judge, VerdictCache(tmp_path))
        is_back.set()
        answers = judge_all(questions(100), judge, VerdictCache(tmp_path))
        assert answers == {ask.key: Answer(VERDICT, calls=1) for ask in questions(100)}
        is_back.clear()
        asked = len(server.requests)
        judge_all(more_questions(100, "later"), judge, VerdictCache(tmp_path))
    assert len(server.requests) - asked >= 20  # it had patience again


@pytest.mark.parametrize("silence", [0.0, 5.0])
def test_patience_is_bounded_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str], silence: float
) -> None:
    """One ask at a time, each with attempts for an hour: the first does not even come to its end."""
    judge = Judge(
        JudgeSettings("local", concurrency=1, timeout_s=0.1, attempts=10_000, most_wait_s=0.3, patience_s=0.8)
    )
    with chat_server(lambda _: Reply(status=500, delay_s=silence)) as server:
        at(server, monkeypatch)
        first, *others = questions(30)
        answers = judge_all([first, *others], judge, VerdictCache(tmp_path))
        assert 5 <= len(server.requests) <= 30
    assert len(answers) == judge.counts.missing == 30
    symptom = "timed out" if silence else "HTTP 500"
    tried = answers[first.key].verdict
    assert isinstance(tried, Missing) and symptom in tried.reason
    for ask in others:
        assert "calls without a verdict" in str(answers[ask.key]) and symptom in str(answers[ask.key])
    assert len(warnings) == 1


def test_slow_verdicts_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(JudgeSettings("local", concurrency=1, timeout_s=5, patience_s=0.2))
    with chat_server(lambda _: Reply(DCR, delay_s=0.5)) as server:
        at(server, monkeypatch)
        answers = judge_all(questions(2), judge, VerdictCache(tmp_path))
        assert answers == {ask.key: Answer(VERDICT, calls=1) for ask in questions(2)}


def _judge_everything(number: int, folder: Path, interrupted_code: int = 0) -> None:
    """What a process of its own does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        answers = judge_all(questions(number), a_judge(), VerdictCache(folder))
    except KeyboardInterrupt:
        sys.exit(interrupted_code)
    assert all(answer.verdict == VERDICT for answer in answers.values())


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(lambda _: Reply(DCR, delay_s=0.05)) as server:
        at(server, monkeypatch)
        process = FORK.Process(target=_judge_everything, args=(60, tmp_path))
        process.start()
        wait_until(lambda: len(server.requests) >= 20)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        asked = len(server.requests)
        cache = VerdictCache(tmp_path)
        kept = sum(cache.get(ask.key, ask.kind) is not None for ask in questions(60))
        assert asked - 4 <= kept < 60  # four were in flight
        judge = a_judge()
        assert len(judge_all(questions(60), judge, cache)) == 60
        assert len(server.requests) - asked == judge.counts.calls == 60 - kept


def test_an_interrupted_run_ends_at_once_and_keeps_what_it_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        number = int(body["messages"][0]["content"].partition("Reply ")[2].partition(".")[0])
        return Reply(DCR, delay_s=0 if number < 10 else 4.5)

    with chat_server(answer) as server:
        at(server, monkeypatch)
        process = FORK.Process(target=_judge_everything, args=(40, tmp_path, 7))
        process.start()
        wait_until(lambda: len(server.requests) == 14)
        start = time.monotonic()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGINT)
        process.join(10)
        assert time.monotonic() - start < 3
        assert process.exitcode == 7
    cache = VerdictCache(tmp_path)
    assert [cache.get(ask.key, ask.kind) for ask in questions(10)] == [VERDICT] * 10


def test_two_processes_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(lambda _: Reply(DCR, delay_s=0.02)) as server:
        at(server, monkeypatch)
        processes = [FORK.Process(target=_judge_everything, args=(number, tmp_path)) for number in (30, 25)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(20)
        assert [process.exitcode for process in processes] == [0, 0]
        asked = len(server.requests)
        assert len(judge_all(questions(30), a_judge(), VerdictCache(tmp_path))) == 30
        assert len(server.requests) == asked
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def key(number: int) -> str:
    return f"{number:064x}"


def line(number: int) -> str:
    return json.dumps({"key": key(number), "verdict": {"reasoning": "r", "csr": number % 2}}) + "\n"


def test_both_kinds_are_kept_apart(tmp_path: Path) -> None:
    cache = VerdictCache(tmp_path)
    odd = CsrVerdict(reasoning='Zeilen\numbruch, "…"\u2028', csr=0)
    cache.put(key(1), "dcr", VERDICT)
    cache.put(key(1), "csr", odd)
    for reader in (cache, VerdictCache(tmp_path)):
        assert (reader.get(key(1), "dcr"), reader.get(key(1), "csr")) == (VERDICT, odd)
        assert reader.get(key(2), "dcr") is None


def test_damage_is_counted_and_ignored(tmp_path: Path, warnings: list[str]) -> None:
    (tmp_path / "a.jsonl").write_text(line(1) + "not JSON\n" + line(2) + '{"key": "x"}\n[]\n' + line(3)[:-9])
    (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe\n" + line(4).replace(": 0}", ": 2}").encode() + line(5).encode())
    (tmp_path / "c.jsonl").write_bytes(b"x" * 250_000)
    (tmp_path / "foreign.txt").write_text("something else")
    cache = VerdictCache(tmp_path)
    assert [number for number in range(6) if cache.get(key(number), "csr")] == [1, 2, 5]
    assert cache.damaged == 3 + 2 + 2
    assert len(warnings) == 1


def test_many_segments_become_one_and_a_living_one_is_left(tmp_path: Path) -> None:
    living = VerdictCache(tmp_path)
    living.put(key(1_000), "csr", CsrVerdict(reasoning="", csr=1))
    for number in range(70):
        (tmp_path / f"host-{number}.jsonl").write_text(line(number))
    (tmp_path / "folded-old.tmp").write_text("left by a process that was killed")
    VerdictCache(tmp_path)
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    assert len(list(tmp_path.iterdir())) <= 5  # with the lock of the folder and that of the living segment
    living.put(key(1_001), "csr", CsrVerdict(reasoning="", csr=1))
    reader = VerdictCache(tmp_path)
    assert all(reader.get(key(number), "csr") for number in [*range(70), 1_000, 1_001])


def test_segments_of_processes_that_have_ended_are_folded(tmp_path: Path) -> None:
    def write(number: int) -> None:
        VerdictCache(tmp_path).put(key(number), "csr", CsrVerdict(reasoning="", csr=1))

    for number in range(3):
        process = FORK.Process(target=write, args=(number,))
        process.start()
        process.join()
    for number in range(3, 70):
        (tmp_path / f"host-{number}.jsonl").write_text(line(number))
    VerdictCache(tmp_path)
    assert len(list(tmp_path.glob("*.jsonl"))) == 1
    assert all(VerdictCache(tmp_path).get(key(number), "csr") for number in range(70))


def test_a_full_disk_is_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]) -> None:
    cache = VerdictCache(tmp_path)
    monkeypatch.setattr(os, "write", lambda *_: 5)
    for number in range(3):
        cache.put(key(number), "dcr", VERDICT)
    assert len(warnings) == 1
    assert all(cache.get(key(number), "dcr") == VERDICT for number in range(3))


def test_a_verdict_that_cannot_be_written_is_one_warning(tmp_path: Path, warnings: list[str]) -> None:
    cache = VerdictCache(tmp_path)
    unsafe = CsrVerdict.model_construct(reasoning="\ud800", csr=1)
    cache.put(key(0), "csr", unsafe)
    cache.put(key(1), "dcr", VERDICT)
    assert len(warnings) == 1
    assert (cache.get(key(0), "csr"), cache.get(key(1), "dcr")) == (unsafe, VERDICT)


def test_half_a_surrogate_pair_in_a_judges_words_is_kept_as_a_question_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    (ask,) = questions(1)
    with chat_server(lambda _: Reply(DCR.replace("fine", "half \\ud800 pair"))) as server:
        at(server, monkeypatch)
        judge_all([ask], a_judge(), VerdictCache(tmp_path))
    kept = VerdictCache(tmp_path).get(ask.key, "dcr")
    assert kept is not None
    assert kept.reasoning == "half ? pair"
    assert warnings == []


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="CONDCHAIN_CACHE"):
        VerdictCache(tmp_path / "file" / "judge")


def test_folders_of_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path))
    names = ["gpt-5.1", "org/model:7b", "org_model_7b", "..", "../../etc", "m" * 500, "モデル"]
    servers = ["https://api.openai.com/v1", "http://localhost:8000/v1", ""]
    folders = [judge_folder(name, server) for name in names for server in servers]
    assert len(set(folders)) == len(names) * len(servers)
    assert folders == [judge_folder(name, server) for name in names for server in servers]
    assert all(folder.parent == tmp_path / "judge" and len(folder.name) < 100 for folder in folders)
    assert folders[0].name.startswith("gpt-5.1-")


def test_counts_are_summed() -> None:
    assert Counts(calls=2, missing=1) + Counts(calls=3) - Counts(missing=1) == Counts(calls=5)
