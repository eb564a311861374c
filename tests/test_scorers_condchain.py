"""The official answer rule, the lenient one beside it, path F1 and its standard error."""

from __future__ import annotations

import csv
import math
import random
import re
import statistics
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import condchain_tasks.report
from condchain_tasks.scorers.condchain import (
    Answer,
    linearised_path_f1,
    parse_answer,
    parse_answer_lenient,
    path_f1,
    score_reply,
)
from condchain_tasks.scorers.replies import is_failed

PUBLISHED = Path(condchain_tasks.report.__file__).parent / "published" / "condchain_main.csv"


@pytest.mark.parametrize(
    ("text", "label", "source"),
    [
        (r"So the answer is \boxed{A1}.", "A1", "boxed"),
        (r"\boxed{A1}, no: \boxed{B2}", "B2", "boxed"),  # the last box counts
        (r"\boxed{B2} and A1", "B2", "boxed"),  # a box before a label
        (r"\boxed{ F 3 }", "F3", "boxed"),  # blanks are removed
        (r"\boxed {F1}. Not A2", "F1", "boxed"),  # white space before the brace is allowed
        (r"\boxed{A1}; final: \boxed {F3}", "F3", "boxed"),
        ("\\boxed\n\t\u00a0\u2028{F1}. Not A2", "F1", "boxed"),
        ("\\boxed{\u00a0\n F1\t\u3000}", "F1", "boxed"),  # white space of any kind is trimmed at both ends
        ("\\boxed{F\n1}", "F\n1", "boxed"),  # inside only blanks are removed
        ("\\boxed{F\t1}", "F\t1", "boxed"),
        ("\\boxed{F\u00a01}", "F\u00a01", "boxed"),
        ("\\boxed{F\u2009 1}", "F\u20091", "boxed"),
        (r"\boxed{no ne}", "None", "boxed"),
        ("\\boxed{ \n }", "None", "boxed"),
        (r"\boxed x {A1}. B2", "B2", "label"),  # nothing but white space
        (r"\boxed{None of the above}", "Noneoftheabove", "boxed"),
        (r"\boxed{\checkmark}", r"\checkmark", "boxed"),
        (r"\boxed{}", "None", "boxed"),
        (r"\boxed{none}", "None", "boxed"),
        (r"\boxed{NULL}", "None", "boxed"),
        (r"\boxed{NaN}", "None", "boxed"),
        (r"\boxed{f1}", "f1", "boxed"),  # anything else as it stands
        (r"\boxed{F-1}", "F-1", "boxed"),
        (r"\boxed{\text{F1}}", r"\text{F1", "boxed"),  # up to the first closing brace
        (r"\boxed{A1", "A1", "label"),  # a box that is never closed is none
        ("A1 or rather B2", "B2", "label"),
        ("The answer: (C3).", "C3", "label"),
        ("A1, or None", "None", "label"),
        ("None of these, so A1", "A1", "label"),
        ("XA1 A1x a1", "None", "none"),  # labels stand alone and are capital
        ("I cannot tell.", "None", "none"),
        ("", "None", "none"),
        (None, "None", "none"),
    ],
)
def test_official_rule(text: str | None, label: str, source: str) -> None:
    assert parse_answer(text) == Answer(label, source)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{F1}",
        r"\boxed{\text{F1}}",
        r"\boxed{f1}",
        r"\boxed{F-1}",
        r"\boxed{\mathbf{F1}}",
        r"$\boxed{F1}$.",
        r"$\boxed{\mathrm{F}_{1}}$",
        r"\boxed{(F1)}",
        r"\boxed{F1.}",
        r"\boxed{F1: the red mug}",
        r"\boxed{Option F1}",
        r"\boxed{F–1}",
        r"\boxed{F − 1}",
        r"\boxed{Ｆ１}",
        r'\boxed{"F1"}',
        r"\boxed{\boxed{F1}}",
        r"\boxed{A1} first, then \boxed{\text{F1}}",
        "The answer is F-1.",
        "答案是F1。",
        # A last box that holds no label does not hide an answer,
        r"\boxed{x > 2}, so **Answer: F1**",
        r"**Answer:** F1, since \boxed{x > 2}",
        r"A2 would need \boxed{x > 2}. The answer is option F1, not A3.",
        r"**F1** $\boxed{\checkmark}$",
        r"\boxed{\text{F1}}, checked: \boxed{✓}",
        r"\boxed{x > 2}, so F-1.",
        r"\boxed{x > 2} 答案：F1",
        r"A1? \boxed{F1}. \boxed {\checkmark}",
        "\\boxed{F\n1}",
        "\\boxed{F\t1}",
        "\\boxed{F\u00a01}",
        r"\boxed{\text{F1}",
        "f1",
        "**F1**",
        "(f1).",
    ],
)
def test_lenient_reads_what_a_person_reads(text: str) -> None:
    assert parse_answer_lenient(text).label == "F1"


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{\text{None}}",
        r"\boxed{\mathrm{none}.}",
        r"\boxed{}",
        r"\boxed{\text{}}",
        "None",
        r"\boxed{None of the above}",
        r"\boxed{\text{None of the above.}}",
        r"\boxed{none of these options}",
        r"\boxed{\text{No correct option}}",
        r"\boxed{\checkmark} Answer: None",
    ],
)
def test_lenient_reads_no_option(text: str) -> None:
    assert parse_answer_lenient(text).label == "None"


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{F1 or F2}",
        r"\boxed{the red mug}",
        r"\boxed{\text{F1}, \text{A2}}",
        "nothing",
        "The H-bomb of h100",
        r"\boxed{\checkmark}",  # says neither a label nor that there is none
        r"\boxed{✓}",
        r"\boxed{\alpha1}",
        r"A1 or A2: \boxed{the red mug}",  # neither is stated
        r"Answer: F1. No: \boxed{F1 or F2}",
        r"The answer is a 3-storey house. \boxed{x}",
    ],
)
def test_lenient_does_not_guess(text: str) -> None:
    assert parse_answer_lenient(text).label == parse_answer(text).label


@given(st.text() | st.text(alphabet="\\boxed{}AF12 -None.$*text"))
@example("\\boxed{")
@example("\\boxed{" * 10 + "A1" + "}" * 10)
@example("\\boxed{A1}\\boxed{\\text{B2")
def test_lenient_never_loses_a_label_that_strict_reads(text: str) -> None:
    strict, lenient = parse_answer(text), parse_answer_lenient(text)
    for gold in ("A1", "F1", "F2", "A12", "None"):
        if strict.source != "none" and strict.label == gold:
            assert lenient == strict


@given(
    st.lists(
        st.sampled_from(["\\boxed", "{", "}", "A1", "F", "1", "none", " ", "\t", "\n", "\u00a0", "\x1c", "\u200b", "x"])
    ).map("".join)
)
@example("\\boxed {\\boxed{A1} B2}")
def test_boxes_are_those_of_the_rule(text: str) -> None:
    boxes = re.findall(r"\\boxed\s*\{([^}]*)\}", text)
    if not boxes:
        assert parse_answer(text).source != "boxed"
        return
    content = boxes[-1].strip().replace(" ", "")
    expected = "None" if content.lower() in ("", "none", "null", "nan") else content
    assert parse_answer(text) == Answer(expected, "boxed")


@pytest.mark.parametrize("before", ["B2 ", "B2x", "xB2 ", "", "B"])
@pytest.mark.parametrize("length", [*range(494, 506), 5_000])
def test_a_label_counts_wherever_it_stands(before: str, length: int) -> None:
    text = before + "." * length
    labels = re.findall(r"\b(?:[A-Z]\d+|None)\b", text)
    assert parse_answer(text).label == (labels[-1] if labels else "None")


@given(
    st.text(alphabet="ANone1. x\u0661é_", max_size=30) | st.text(alphabet="ANone1. x_", max_size=30),
    st.sampled_from(["", "-" * 480, "N" * 480, "." * 495, "." * 600]),
    st.text(alphabet="ANone1. x_", max_size=10),
)
@example("None ", "." * 600, "")
@example("A1 ", "." * 600, "a")
def test_labels_are_those_of_the_rule(before: str, filling: str, after: str) -> None:
    text = before + filling + after
    expected = re.findall(r"\b(?:[A-Z]\d+|None)\b", text)
    assert parse_answer(text) == (Answer(expected[-1], "label") if expected else Answer("None", "none"))


@pytest.mark.parametrize(
    "piece",
    [
        "\\boxed{",
        "\\boxed",
        "\\boxed \n",
        " ",
        "\\boxed{x}",
        "**",
        "answer ",
        "A1",
        "A",
        "1",
        "{",
        "}",
        "\\boxed{A",
        "\ufeff\x00",
        "ｆ",
        " - ",
        "\\",
        "\u0315\u0300",
    ],
)
def test_a_huge_reply_is_read_all_the_same(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert len(parse_answer(text).label) <= 200
    assert len(parse_answer_lenient(text).label) <= 200


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "",
        "  \n",
        "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error code: 503 - H100 A10 None",
        "[LMMS_EVAL_BUDGET_EXCEEDED]",
    ],
)
def test_a_failed_request_is_wrong_and_is_not_read(reply: str | None) -> None:
    for gold in ("A10", "H100", "None"):
        score = score_reply(reply, gold)
        assert score.failed
        assert not (score.correct or score.correct_lenient or score.no_answer)


def test_a_reply_that_quotes_a_failure_is_a_reply() -> None:
    assert not is_failed("The log says [LMMS_EVAL_REQUEST_FAILED after 5 retries]. \\boxed{A1}")


def test_a_reply_without_an_answer_is_no_failure() -> None:
    score = score_reply("I cannot tell.", "A1")
    assert (score.no_answer, score.failed, score.correct) == (True, False, False)


def test_comparison_is_case_sensitive_in_strict_only() -> None:
    score = score_reply(r"\boxed{f1}", "F1")
    assert (score.correct, score.correct_lenient) == (False, True)


@pytest.mark.parametrize(
    ("true_acc", "false_acc", "value"), [(50, 50, 50), (100, 0, 0), (0, 0, 0), (60, 30, 40), (100, 100, 100)]
)
def test_path_f1(true_acc: float, false_acc: float, value: float) -> None:
    assert path_f1(true_acc, false_acc) == pytest.approx(value)


def test_path_f1_of_half_a_benchmark_is_no_number() -> None:
    assert math.isnan(path_f1(math.nan, 50))


def test_published_table() -> None:
    with PUBLISHED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 27
    differences = []
    for row in rows:
        for domain in ("natural", "chart", "gui"):
            value = path_f1(float(row[f"{domain}_true_acc"]), float(row[f"{domain}_false_acc"]))
            differences.append(abs(value - float(row[f"{domain}_path_f1"])))
        average = statistics.mean(float(row[f"{domain}_path_f1"]) for domain in ("natural", "chart", "gui"))
        assert average == pytest.approx(float(row["avg_path_f1"]), abs=0.0101)
    # The table's accuracies are rounded to two digits, and F1 was computed before rounding.
    assert sorted(differences)[-2] <= 0.0101
    assert max(differences) <= 0.0125


def _pairs(n: int, seed: int) -> tuple[list[float], list[bool]]:
    draw = random.Random(seed)
    correct: list[float] = []
    for _ in range(n):
        easy = draw.random()
        correct += [100.0 * (draw.random() < easy), 100.0 * (draw.random() < easy * 0.7)]
    return correct, [True, False] * n


def _clustered(terms: list[float]) -> float:
    """Clustered standard error of a mean over pairs that stand next to each other."""
    center = statistics.mean(terms)
    sums = [(a - center) + (b - center) for a, b in zip(terms[::2], terms[1::2], strict=True)]
    return math.sqrt(sum(s * s for s in sums)) / len(terms)


def test_linearised_terms_average_to_path_f1() -> None:
    terms = linearised_path_f1([100, 0, 100, 100, 0, 0], [True, False, True, False, True, False])
    assert statistics.mean(terms) == pytest.approx(path_f1(200 / 3, 100 / 3))


def test_linearised_terms_by_hand() -> None:
    # t = 50, f = 50: both slopes are 2·50²/100² = 1/2, divided by the share 1/2 of each kind: 1. F1 = 50.
    assert linearised_path_f1([100, 0, 0, 100], [True, False, True, False]) == [100, 0, 0, 100]
    # Each pair's deviations cancel: within a pair one is right and one is wrong, so F1 would not vary over pairs.
    assert _clustered([100, 0, 0, 100]) == 0


def test_standard_error_is_that_of_a_bootstrap_over_pairs() -> None:
    correct, on_true = _pairs(400, seed=1)
    draw = random.Random(2)
    values = []
    for _ in range(1500):
        picked = [draw.randrange(400) for _ in range(400)]
        values.append(
            path_f1(
                statistics.fmean(correct[2 * pair] for pair in picked),
                statistics.fmean(correct[2 * pair + 1] for pair in picked),
            )
        )
    assert _clustered(linearised_path_f1(correct, on_true)) == pytest.approx(statistics.stdev(values), rel=0.08)


def test_linearised_terms_without_one_kind_of_path() -> None:
    assert all(math.isnan(term) for term in linearised_path_f1([100.0], [True]))
    assert linearised_path_f1([0.0, 0.0], [True, False]) == [0.0, 0.0]
