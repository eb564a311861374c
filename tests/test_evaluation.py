"""What stands in the results to tell evaluations apart: the server, what is sent, whether the model is simulated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval")

from chat_server import Reply, chat_server
from harness import evaluate
from lmms_eval.models import get_model
from lmms_eval.tasks import TaskManager

from condchain_tasks.identity import server_of

PUBLIC = "http://host:8000/v1"
SECRET = "http://user:password@host:8000/v1/"
OWN_HOOKS = """
from condchain_tasks.tasks.condchain import hooks

def doc_to_text(doc):
    return hooks.doc_to_text(doc) + " Think first."

def doc_to_messages(doc):
    (turn,) = hooks.doc_to_messages(doc)
    turn["content"].append({"type": "text", "text": "Think first."})
    return [turn]

def reads_a_column(doc):
    return doc["instruction"] + {"natural-0001": "!"}[doc["id"]]
"""
OWN_TASK = """
include: {tasks}/condchain/_condchain
task: mine
dataset_kwargs: !function condchain_tasks.data.harness.condchain_natural_mini
metadata: !function condchain_tasks.tasks.condchain.hooks.metadata_condchain_natural_mini
"""


@pytest.fixture(autouse=True)
def _no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCRV_JUDGE", "none")


def metadata(task: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = evaluate(task, **{"limit": 2, **more})["configs"][task]["metadata"]
    return found


def own_task(tmp_path: Path, lines: str = "") -> TaskManager:
    import condchain_tasks

    (tmp_path / "own.py").write_text(OWN_HOOKS)
    tasks = Path(condchain_tasks.__file__).parent / "tasks"
    (tmp_path / "mine.yaml").write_text(OWN_TASK.format(tasks=tasks) + lines)
    return TaskManager("ERROR", include_path=str(tmp_path))


@pytest.mark.parametrize(
    ("backend", "arguments", "variables", "address"),
    [
        ("openai", {"base_url": SECRET}, {}, PUBLIC),
        ("openai", {}, {"OPENAI_API_BASE": SECRET}, PUBLIC),
        ("openai", {"base_url": PUBLIC}, {"OPENAI_API_BASE": "http://other"}, PUBLIC),
        ("openai", {}, {"OPENAI_BASE_URL": PUBLIC}, PUBLIC),
        ("openai", {}, {}, "https://api.openai.com/v1"),
        (
            "openai",
            {"azure_openai": True},
            {
                "AZURE_OPENAI_API_KEY": "k",
                "AZURE_OPENAI_API_BASE": "https://user:password@mine.openai.azure.com/",
                "AZURE_OPENAI_API_VERSION": "1",
            },
            "https://mine.openai.azure.com/openai",
        ),
        ("async_openai", {"base_url": SECRET}, {}, PUBLIC),
        ("async_openai", {}, {"OPENAI_API_BASE": SECRET}, PUBLIC),
        ("litellm", {}, {"OPENAI_API_BASE": SECRET}, PUBLIC),
        ("litellm", {"model": "anthropic/c"}, {"ANTHROPIC_API_BASE": "https://a"}, "https://a"),
        ("condchain_sim", {}, {"OPENAI_API_BASE": SECRET}, ""),
    ],
)
def test_the_server_is_found_wherever_its_address_comes_from(
    monkeypatch: pytest.MonkeyPatch,
    backend: str,
    arguments: dict[str, Any],
    variables: dict[str, str],
    address: str,
) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert server_of(get_model(backend)(**arguments)) == address


def test_results_of_the_simulated_model_say_so() -> None:
    found = metadata("ccrv_x1_base_mini")
    assert (found["simulated"], found["server"]) == (True, "")


def test_the_hash_does_not_depend_on_limits_and_data(dataset: Path) -> None:
    expected = metadata("condchain_natural_mini")["requests_sha256"]
    assert len(expected) == 16
    assert metadata("condchain_natural_mini", limit=1, offset=3)["requests_sha256"] == expected
    assert metadata("condchain_natural")["requests_sha256"] == expected


def test_each_way_of_asking_has_its_own_hash() -> None:
    tasks = [
        "condchain_natural_mini",
        "condchain_gui_mini",
        "ccrv_x1_base_mini",
        "ccrv_x1_y1_mini",
        "ccrv_textonly_mini",
    ]
    tasks += ["ccrv_oracle_y1_mini", "ccrv_mini", "vrex_planning_mini", "vrex_planning_blind_mini"]
    tasks += ["vrex_planning_tf_mini", "vrex_following_mini", "vrex_direct_mini"]
    configs = evaluate(tasks, limit=1)["configs"]
    assert len({configs[task]["metadata"]["requests_sha256"] for task in tasks}) == len(tasks)


def test_questions_that_are_asked_alike_have_one_hash() -> None:
    tasks = ["ccrv_x1_y2_mini", "ccrv_x4_y2_mini", "condchain_natural_mini", "condchain_chart_mini"]
    configs = evaluate(tasks, limit=1)["configs"]
    y2, other_y2, natural, chart = (configs[task]["metadata"]["requests_sha256"] for task in tasks)
    assert (y2, natural) == (other_y2, chart)


@pytest.mark.parametrize("prompt", ["vrex_goal", "vrex_told", "vrex_unread", "vrex_pick", "vrex_answer"])
def test_every_turn_of_a_conversation_is_in_its_hash(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, prompt: str
) -> None:
    import condchain_tasks.prompts

    before = metadata("vrex_planning_mini")
    packaged = Path(condchain_tasks.prompts.__file__).parent / f"{prompt}.j2"
    (tmp_path / f"{prompt}.j2").write_text(packaged.read_text() + "\nThank you.")
    monkeypatch.setenv("CONDCHAIN_PROMPTS", str(tmp_path))
    after = metadata("vrex_planning_mini")
    assert after["requests_sha256"] != before["requests_sha256"]
    assert {p["name"]: p["origin"] for p in after["prompts"]}[prompt] == "user"
    assert [p["origin"] for p in after["prompts"]].count("package") == 4


@pytest.mark.parametrize(
    ("lines", "is_packaged"),
    [
        ("", True),
        ("doc_to_text: !function own.doc_to_text", False),
        ("doc_to_text: '{{instruction}}'", False),
        ("description: 'Be brief. '", False),
        ("doc_to_text: !function own.reads_a_column", False),
    ],
)
def test_a_users_task_that_sends_something_else_has_another_hash(tmp_path: Path, lines: str, is_packaged: bool) -> None:
    packaged = metadata("condchain_natural_mini")
    own = metadata("mine", task_manager=own_task(tmp_path, lines))
    assert (own["requests_sha256"] == packaged["requests_sha256"]) is is_packaged
    assert own["prompt"]["origin"] == ("package" if is_packaged else "task")
    assert packaged["prompt"]["origin"] == "package"


def test_a_users_task_without_metadata_of_ours_is_identified_too(tmp_path: Path) -> None:
    manager = own_task(tmp_path, "doc_to_text: !function own.doc_to_text\nmetadata: {version: 7}")
    found = metadata("mine", task_manager=manager)
    assert found["version"] == 7
    assert found["requests_sha256"]


def test_what_chat_models_are_sent_is_told_by_the_same_hash_if_it_is_the_same(tmp_path: Path) -> None:
    simple = {task: metadata(task)["requests_sha256"] for task in ("condchain_natural_mini", "condchain_gui_mini")}
    manager = own_task(tmp_path, "doc_to_messages: !function own.doc_to_messages")
    with chat_server(lambda _: Reply("\\boxed{A1}")) as server:
        arguments = f"model_version=local,base_url={server.url},api_key=none,max_retries=1"
        chat = {
            task: metadata(task, model="openai", model_args=arguments, limit=1, task_manager=manager)
            for task in (*simple, "mine")
        }
    assert chat["condchain_natural_mini"]["requests_sha256"] == simple["condchain_natural_mini"]
    # Only turns have a place for "Image 1:" between the pictures.
    assert chat["condchain_gui_mini"]["requests_sha256"] != simple["condchain_gui_mini"]
    assert chat["mine"]["requests_sha256"] != simple["condchain_natural_mini"]
    assert chat["mine"]["prompt"]["origin"] == "task"
    assert chat["mine"]["server"] == server.url
    assert chat["mine"]["simulated"] is False


def test_a_system_instruction_is_in_the_hash_where_it_is_sent(warnings: list[str]) -> None:
    tasks = ["condchain_natural_mini", "vrex_planning_mini"]
    plain = evaluate(tasks, limit=1)["configs"]
    told = evaluate(tasks, limit=1, system_instruction="Be brief.")["configs"]
    changed = [plain[t]["metadata"]["requests_sha256"] != told[t]["metadata"]["requests_sha256"] for t in tasks]
    assert changed == [True, False]
    assert told[tasks[0]]["metadata"]["prompt"]["origin"] == "package"
    (said,) = [warning for warning in warnings if "--system_instruction" in warning]
    assert "does not reach the model in vrex_planning_mini: " in said


def test_a_backends_own_system_prompt_is_in_the_hash(tmp_path: Path) -> None:
    (tmp_path / "system.txt").write_text("Be brief.")
    found = []
    with chat_server(lambda _: Reply("(A)")) as server:
        for more in ("", f",system_prompt={tmp_path / 'system.txt'}"):
            arguments = f"model_version=local,base_url={server.url},api_key=none,max_retries=1{more}"
            found.append(metadata("vrex_direct_mini", model="async_openai", model_args=arguments, limit=1))
    assert found[0]["requests_sha256"] != found[1]["requests_sha256"]
    assert server.requests[-1]["messages"][0]["role"] == "system"
