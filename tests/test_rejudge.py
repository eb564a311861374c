"""`condchain judge` on logs: what a record says of itself holds, and a damaged log is met with a sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("lmms_eval")

from chat_server import ChatServer, Reply, chat_server
from damage import damage
from logged_runs import edit, figures_of, lines_of, the_log, write_run
from typer.testing import CliRunner

from condchain_tasks.cli import app

BASE, PREMISE = "ccrv_x1_base_mini", "ccrv_x1_y3_mini"
YES = '{"reasoning": "yes", "r1": 1, "r2": 1, "r3": 1}'
OBEYS = '{"reasoning": "yes", "csr": 1}'


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a baseline cell and of a Y3 cell without a judge: 20 samples each."""
    folder = tmp_path_factory.mktemp("unjudged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCRV_JUDGE", "none")
        write_run(folder, [BASE, PREMISE], model_args="policy=oracle")
    return folder


@pytest.fixture
def run(unjudged: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(unjudged, tmp_path / "run"))


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    """A judge that finds everything right; its verdicts are kept for this test alone."""
    monkeypatch.setenv("CONDCHAIN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CCRV_JUDGE", "yes")
    with chat_server(lambda body: Reply(OBEYS if '"csr"' in body["messages"][0]["content"] else YES)) as server:
        monkeypatch.setenv("OPENAI_API_URL", server.url)
        yield server


def judged(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["judge", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def fail(text: str) -> Callable[[int, dict[str, Any]], None]:
    """Makes every fourth sample one whose request failed, as the log of an earlier version has it."""

    def change(number: int, line: dict[str, Any]) -> None:
        if number % 4 == 0:
            line["filtered_resps"] = text
            nothing = dict.fromkeys(("r1", "r2", "r3", "l1", "l2", "l3"), 0)
            line["dcr"] |= nothing | {"failed": True, "no_answer": False, "missing": [], "score": 0.0}
            if line["dcr"]["y"] == "Y3":
                line["dcr"] |= {"csr": 0, "csr_reason": "The request failed."}

    return change


@pytest.mark.parametrize("text", ["None", "", "Error: can only concatenate str", "The lamp hangs from the ceiling."])
def test_a_failed_request_stays_failed_whatever_its_logged_text_looks_like(
    judge: ChatServer, run: Path, text: str
) -> None:
    for task in (BASE, PREMISE):
        edit(the_log(run, task), fail(text))
    assert "30 samples judged, 0 still lack a verdict" in judged(str(run))
    assert len(judge.requests) == 1 + 15 + 2 * 15  # the check; 5 of 20 failed, and a premise has two verdicts
    for task in (BASE, PREMISE):
        found = figures_of(run, task)
        assert (found["failed"], found["dcr"], found["missing"]) == (25, 75, 0), task
        records = [line["dcr"] for line in lines_of(the_log(run, task))]
        assert [record["failed"] for record in records] == [True, False, False, False] * 5
    assert figures_of(run, PREMISE)["csr"] == 75
    assert "No verdict is missing." in judged(str(run))


def test_what_does_not_hang_on_the_judge_stays_as_it_was_logged(judge: ChatServer, run: Path) -> None:
    """Rules that have changed since are applied by `condchain score`, not by `condchain judge`."""
    own = {"no_answer": True, "refused": True, "failure": None}
    edit(the_log(run, BASE), lambda _, line: line["dcr"].update(own))
    judged(str(the_log(run, BASE)))
    records = [line["dcr"] for line in lines_of(the_log(run, BASE))]
    assert [{name: record[name] for name in own} for record in records] == [own] * 20
    assert all(record["score"] == 100 for record in records)


def test_a_record_that_says_not_failed_of_a_failed_reply_is_not_guessed_about(judge: ChatServer, run: Path) -> None:
    def change(number: int, line: dict[str, Any]) -> None:
        if number == 3:
            line["filtered_resps"] = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout"

    edit(the_log(run, BASE), change)
    done = CliRunner().invoke(app, ["judge", str(the_log(run, BASE))])
    assert done.exit_code == 2
    assert "sample 4, doc_id 3" in done.output and "condchain score" in done.output
    assert not judge.requests


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 10**6), st.floats(), st.text(max_size=5), st.just([]), st.just({})
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_log_is_judged_or_met_with_a_sentence(
    judge: ChatServer, unjudged: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    task = data.draw(st.sampled_from([BASE, PREMISE]))
    folder = tmp_path_factory.mktemp("damaged")
    source = the_log(unjudged, task)
    (results,) = unjudged.rglob("*_results.json")
    lines, said = lines_of(source)[:4], json.loads(results.read_text())
    said["n-samples"][task] = {"original": 4, "effective": 4}
    content = [said, lines]
    damage(data, content, JUNK)
    said, lines = (*content, None, None)[:2]
    if said is not None:
        (folder / results.name).write_text(json.dumps(said))
    listed = lines if isinstance(lines, list) else [lines]
    (folder / source.name).write_text("".join(json.dumps(line) + "\n" for line in listed))
    done = CliRunner().invoke(app, ["judge", str(folder)])
    assert done.exit_code in (0, 2), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    if done.exit_code == 2:
        assert done.output.startswith("condchain: ") and done.output.count("\n") == 1


def test_the_newest_run_is_judged_the_others_are_said_and_one_can_be_asked_for(judge: ChatServer, run: Path) -> None:
    for path in list(run.rglob("20260101_000000*")):
        shutil.copy(path, path.with_name(path.name.replace("20260101", "20260102")))
    (results,) = run.rglob("20260101_000000_results.json")
    output = judged(str(run))
    assert output.count("samples judged") == 1 and "20260102_000000-judged-" in output
    assert output.count("PASSED OVER") == 2 and "a newer run has the same settings" in output
    assert "20260101_000000-judged-" in judged(str(run), "--run", "20260101_000000")
    assert "No verdict is missing." in judged(str(run), "--run", "20260101_000000")
    assert "20260101_000000-judged-" in judged(str(results))  # the run's own files are named, and they lack verdicts
