"""Replies and failures: what is told from what, and what a reply says beside its reasoning."""

from __future__ import annotations

from dataclasses import replace

import pytest

from condchain_tasks.scorers.condchain import score_reply
from condchain_tasks.scorers.replies import (
    FAILURES,
    REASONING_TAGS,
    Reply,
    describe_failures,
    failed,
    is_failed,
    read_reply,
    read_stripped,
    split_reasoning,
)
from condchain_tasks.scorers.vrex import parse_choice_lenient


@pytest.mark.parametrize(
    ("value", "failure"),
    [
        (None, "empty"),
        ("", "empty"),
        (" \n\t", "empty"),
        ([], "not_text"),
        (5, "not_text"),
        (True, "not_text"),
        ({"text": "A1"}, "not_text"),
        ([{"type": "image_url", "image_url": {}}], "not_text"),
        ([{"type": "text", "text": " "}], "empty"),
        ([{"type": "refusal", "refusal": "No."}], "refusal"),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] H100", "error"),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error code: 400 - {'code': 'content_filter'}", "content_filter"),
        (
            "[LMMS_EVAL_REQUEST_FAILED after 5 retries] The response was filtered due to the prompt triggering Azure "
            "OpenAI's content management policy.",
            "content_filter",
        ),
        ("[LMMS_EVAL_BUDGET_EXCEEDED]", "budget"),
        ("[GENERATION_FAILED] out of memory", "error"),
        ("[ERROR] Unknown", "error"),
        ("[SAFETY_BLOCKED:finish_reason=FinishReason.SAFETY,HARM=HIGH]", "content_filter"),
        ("[SAFETY_BLOCKED:finish_reason=FinishReason.MAX_TOKENS]", "empty"),
        ("[SAFETY_BLOCKED:unknown]", "empty"),
        ('Error: can only concatenate str (not "NoneType") to str', "not_text"),
        ('Error: can only concatenate str (not "list") to str', "not_text"),
    ],
)
def test_what_is_no_reply_is_a_failure_with_its_reason(value: object, failure: str) -> None:
    assert (read_reply(value).failure, read_reply(value).text) == (failure, "")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("A1", "A1"),
        (" A1\n", " A1\n"),
        ([{"type": "text", "text": "\\boxed{"}, {"type": "text", "text": "A1}"}], "\\boxed{A1}"),
        (["A", "1"], "A1"),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "B2"}]}, {"type": "text", "text": "A1"}], "A1"),
        ([{"type": "reasoning", "text": "B2"}, {"type": "output_text", "text": "A1"}], "A1"),
        ("half \ud83d of it", "half ? of it"),
        ("The log says [LMMS_EVAL_REQUEST_FAILED after 5 retries]. \\boxed{A1}", None),
        ("Error: the mug is blue, so A1.", None),
        ("[ERROR]: the mug is blue, so A1.", None),
        ("[REQUEST_FAILED nonsense] A1", None),
    ],
)
def test_what_is_a_reply_is_kept(value: object, text: str | None) -> None:
    assert read_reply(value) == Reply(str(value) if text is None else text)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_travels_as_text_and_is_read_back(failure: str) -> None:
    reply = failed(next(one for one in FAILURES if one == failure), "no\nroom " + "x" * 1_000)
    assert reply.encoded.startswith(f"[REQUEST_FAILED {failure}] no room xxx")
    assert len(reply.detail) == 500
    assert read_reply(reply.encoded) == reply
    assert read_reply(reply) is reply
    assert read_reply(failed(reply.failure or "error").encoded).failure == failure
    assert is_failed(reply.encoded)


def test_failures_are_counted_by_kind() -> None:
    assert describe_failures(["empty", None, "refusal", "empty"]) == "2 empty, 1 refusal"
    assert describe_failures(["error", "refusal", "error", "refusal"]) == "2 errors, 2 refusals"
    assert describe_failures([None, None]) == ""


@pytest.mark.parametrize(
    ("text", "rest", "is_cut"),
    [
        ("(B)", "(B)", False),
        ("<think>(A)?</think>\n(B)", "(B)", False),
        ("<analysis>(A)?</analysis>(B)", "(B)", False),
        ("<THINK>(A)?</Think>(B)", "(B)", False),
        ("<think>1</think>x<think>2</think>y", "xy", False),
        ("<think>1<think>2</think>3</think>(B)", "(B)", False),
        ("It could be (A).</think>(B)", "(B)", False),
        ("It could be (A).</analysis>\n\n(B)", "(B)", False),
        ("<think>(A)?</think>", "", False),
        ("<think>It could be (A) or A1, but", "", True),
        ("<analysis>It could be (A) or A1, but", "", True),
        ("Let me see. <think>It could be (A)", "Let me see.", True),
        ("<think>1</think>(B)<think>or (A)", "(B)", True),
        ("1</think>(B)<think>or (A)", "(B)", True),
        ("<think>It is (A).</think", "", True),  # one token short of the limit
        ("It is (A).\n</think", "", True),  # the same where the prompt has opened the tag
        ("<think>", "", True),
        ("a < b > c", "a < b > c", False),
        ("", "", False),
    ],
)
def test_reasoning_is_taken_out(text: str, rest: str, is_cut: bool) -> None:
    assert split_reasoning(text) == (rest, is_cut)


def test_reasoning_stands_between_the_tags_that_were_named() -> None:
    assert split_reasoning("[THINK](A)[/THINK](B)", [["[THINK]", "[/THINK]"]]) == ("(B)", False)
    assert split_reasoning("[THINK](A)", [["[THINK]", "[/THINK]"]]) == ("", True)
    assert split_reasoning("<think>(A)", ()) == ("<think>(A)", False)
    assert split_reasoning("<think>(A)" * 100_000) == ("", True)


def test_a_reply_cut_off_in_its_thought_has_no_answer() -> None:
    reply = Reply("Surely (B).\n<think>It could be (A)")
    assert (reply.answer, reply.truncated) == ("", True)
    assert replace(reply, tags=()).answer == reply.text
    assert (failed("empty").answer, failed("empty").truncated) == ("", False)


def test_nothing_but_reasoning_is_a_reply_without_an_answer() -> None:
    """lmms-eval has taken it out by then, and a request that failed has a text of its own."""
    assert read_stripped(" ") == Reply("")
    assert read_stripped(failed("empty").encoded).failure == "empty"
    assert read_stripped("<think>(A)", REASONING_TAGS).truncated


@pytest.mark.parametrize("gold", ["None", "A1"])
@pytest.mark.parametrize(
    "reply",
    [
        failed("refusal", "None, A1"),
        failed("empty"),
        None,
        "",
        'Error: can only concatenate str (not "NoneType") to str',
    ],
)
def test_a_failed_request_is_never_right(reply: Reply | str | None, gold: str) -> None:
    score = score_reply(reply, gold)
    assert (score.correct, score.correct_lenient, score.failed) == (False, False, True)


def test_readings_of_a_reply_that_was_cut_off_in_its_thought() -> None:
    """The official reading takes it as it stands, the lenient one finds nothing."""
    text = "<think>It could be (A) or A1, but"
    right, none = score_reply(text, "A1"), score_reply(text, "None")
    assert (right.strict.label, right.correct, right.lenient.source) == ("A1", True, "none")
    assert (right.correct_lenient, none.correct_lenient, right.failed) == (False, False, False)
    assert parse_choice_lenient(Reply(text).answer, ["left", "right"]).letter == ""


def test_a_reply_of_nothing_but_reasoning_is_wrong_and_not_failed() -> None:
    score = score_reply(read_stripped(""), "None")
    assert (score.correct, score.correct_lenient, score.failed, score.no_answer) == (False, False, False, True)
