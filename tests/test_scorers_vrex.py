"""Reading a choice by the official rules and as a person would; the form that was asked for; ability."""

from __future__ import annotations

import math
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from condchain_tasks.scorers.vrex import Choice, ability, is_compliant, parse_choice, parse_choice_lenient

OPTIONS = ["the red dog", "a blue cat", "3", "7"]
WORDS = ["stone", "wood", "glass", "iron"]
EIGHT = [f"How tall is post {number}0?" for number in range(8)]
FAILED = [None, "", "  \n\t", "[LMMS_EVAL_REQUEST_FAILED after 5 retries] (B)", "[LMMS_EVAL_BUDGET_EXCEEDED]"]
PIECES = [
    *("(", ")", "(b)", "(B", "A ", "a", "b", "G", "(G)", "**", "answer: ", "Answer is ", "I would ", "option ", "\n"),
    *("\t", " ", "1", "12 ", "\\boxed{", "[a", "e.g.", "\u0315\u0300", "ﷺ", "“", "?", "İ", "\ud800", "\x00", "stone"),
]


# --- the official rules


@pytest.mark.parametrize(
    ("text", "letter", "rule"),
    [
        ("(B)", "b", "parenthesis"),
        ("I say (d), not (A).", "d", "parenthesis"),
        ("A. It is (C)", "c", "parenthesis"),  # before a line that starts with a letter
        ("( B )", "b", "lone letter"),
        ("B. stone", "b", "line"),
        ("Well.\nc) glass", "c", "line"),
        ("One sees a thing.\nB. it is", "b", "line"),  # before the article
        ("  B. stone", "b", "lone letter"),  # the line starts with a space
        ("B.stone", "b", "lone letter"),
        ("B", "b", "lone letter"),
        ("**B**", "b", "lone letter"),
        ("My choice: B, as D is iron", "b", "lone letter"),
        ("Answer: C", "c", "lone letter"),
        ("This is a stone, so B", "a", "lone letter"),  # the article
        ("e.g. i.e. wood", "b", "contained"),  # neither is E
        ("i.e. E", "e", "lone letter"),
        ("bd 1b", "b", "lone letter"),  # only letters beside it count
        ("There are 4. Answer: 2", "b", "number"),
        ("I count 3 or 4", "c", "number"),
        ("0 7 13 x5 5", "e", "number"),  # 1 to 6, alone
        ("answer: 12, so 6", "f", "number"),
        ("STONE!", "a", "equal"),
        ("“Wood”", "b", "equal"),
        ("it is glass", "c", "contained"),
        ("ron", "d", "contained"),
        ("stoen", "a", "close"),  # 4 of 5 letters in common: 0.8
        ("xyz", "", "none"),
        ("?!", "a", "contained"),  # nothing is left of it, and nothing is in everything
        ("(G)", "a", "contained"),
        ("()", "a", "contained"),
    ],
)
def test_official_rules(text: str, letter: str, rule: str) -> None:
    assert parse_choice(text, WORDS) == Choice(letter, rule)


@pytest.mark.parametrize("text", FAILED)
def test_no_reply_is_no_answer(text: str | None) -> None:
    nothing = Choice("", "none")
    assert (parse_choice(text, OPTIONS), parse_choice_lenient(text, OPTIONS)) == (nothing, nothing)
    assert not is_compliant(text, 4)


@given(st.text(alphabet="aBfgzé1267_ .-", max_size=12))
def test_a_lone_letter_or_number_is_the_first_of_its_kind(text: str) -> None:
    lower = f" {text.lower()} "
    triples = list(zip(lower, lower[1:], lower[2:], strict=False))
    beside = set(string.ascii_lowercase)
    letters = [c for before, c, after in triples if c in "abcdef" and before not in beside and after not in beside]
    numbers = [c for before, c, after in triples if c in "123456" and not f"{before}{after}".strip(" .-")]
    choice = parse_choice(text, WORDS)
    if letters and choice.rule != "line":
        assert choice == Choice(letters[0], "lone letter")
    elif numbers and not letters:
        assert choice == Choice(string.ascii_lowercase[int(numbers[0]) - 1], "number")
    else:
        assert choice.rule not in ("lone letter", "number")


def test_a_letter_beyond_the_options_stays_as_it_is() -> None:
    assert parse_choice("(F)", WORDS) == Choice("f", "parenthesis")
    assert parse_choice("6", WORDS) == Choice("f", "number")
    assert parse_choice("(H)", WORDS).letter == "a"
    assert parse_choice_lenient("(F)", WORDS) == Choice("", "contradictory")


@pytest.mark.parametrize("reading", [parse_choice, parse_choice_lenient])
def test_with_eight_options_letters_reach_to_h(reading: object) -> None:
    assert reading("(H)", EIGHT).letter == "h"  # type: ignore[operator]
    assert reading("G. this one", EIGHT).letter == "g"  # type: ignore[operator]
    assert reading("h", EIGHT).letter == "h"  # type: ignore[operator]


def test_with_eight_options_numbers_reach_to_8() -> None:
    assert parse_choice("8", EIGHT) == Choice("h", "number")
    assert parse_choice("9", EIGHT) == Choice("", "none")
    assert parse_choice("7", EIGHT[:6]).rule != "number"


def test_equal_comes_before_contained() -> None:
    assert parse_choice("wood", ["woodwork", "wood"]) == Choice("b", "equal")
    assert parse_choice("woods", ["woodwork", "wood"]) == Choice("b", "contained")


def test_the_first_of_equal_options_counts() -> None:
    assert parse_choice("wood", ["stone", "wood", "wood"]).letter == "b"
    assert parse_choice("wodo", ["stone", "wood", "wood"]) == Choice("b", "close")


def test_close_has_a_threshold_and_a_bound() -> None:
    assert parse_choice("wxyz" * 3 + "qrst", ["wxyz" * 3 + "lmno"]) == Choice("a", "close")  # 2 · 12 / 32 = 0.75
    assert parse_choice("wxyz" * 3 + "qrstu", ["wxyz" * 3 + "lmno"]) == Choice("", "none")  # 24 / 33
    long = "quick zulu " * 60
    assert parse_choice(long + "y", [long + "z"]) == Choice("", "none")


# --- the lenient reading


@pytest.mark.parametrize(
    "text",
    [
        "(B)",
        "(b)",
        "( B )",
        "B",
        "b",
        "B.",
        "B)",
        "B:",
        "[B]",
        "**B**",
        "**(B)**",
        "**B.**",
        '"B"',
        "- B",
        "（Ｂ）",
        "$\\boxed{B}$",
        "\\boxed{\\text{B}}",
        "Answer: B",
        "answer: b",
        "**Answer:** B",
        "**Answer: (B)**",
        "Answer: **B**",
        "The answer is B.",
        "The answer is (B) because the dog is red.",
        "The correct answer is option B",
        "The best option is (B).",
        "Option B",
        "option b.",
        "I would choose B here",
        "I choose option (B)",
        "I'd go with B",
        "B. a blue cat",
        "B) a blue cat",
        "(B) a blue cat",
        "**B. a blue cat**",
        "(B) because (A) is too small",
        "B because it is blue",
        "(B)\n\nThe others, (A), (C) and (D), are wrong.",
        "(B)\r\n\r\nA cat is shown.",
        "\n\n(B)",
        "Let me think. A dog and a cat.\n\n(B)",
        "A dog is seen.\nAnswer: B\n",
        "(A) is red and (C) is a number, so (B) is correct.",
        "(A) x (B) y (C) z (D) w. Answer: B",
        "A. x\nB. y\nC. z\nD. w\n\nThe answer is B",
        "(B) is the blue one",
        "I think (B) fits",
        "Perhaps option B",
        "a blue cat",
        "A blue cat.",
        "Answer: a blue cat",
        "So the answer is a blue cat.",
        "It meows.\n\nA blue cat",
        "Answer: B\n\nTherefore the answer is (B).",
    ],
)
def test_lenient_reads_what_a_person_reads(text: str) -> None:
    assert parse_choice_lenient(text, OPTIONS).letter == "b"


@pytest.mark.parametrize(
    "text",
    [
        "This is a stone",
        "A stone lies there",
        "The answer is a stone",
        "Answer: A stone, perhaps",
        "?!",
        "...",
        "()",
        "(G)",
        "**",
        "I cannot tell.",
        "2",  # an option's number, or a count?
        "car(s)",
        "f(a) rises",
        "it is a blue",
    ],
)
def test_lenient_takes_none_of_the_harmful_rules(text: str) -> None:
    assert parse_choice_lenient(text, OPTIONS).letter == ""


@pytest.mark.parametrize(
    "text",
    [
        "(A) or (B)",
        "(A), (B)",
        "A or B",
        "Answer: B or C",
        "(B)\n\nAnswer: (C)",
        "Answer: B. No, the answer is C.",
        "B\nC",
        "(B) the red dog",  # B's letter, A's text
        "(A) the red dog (B) a blue cat (C) 3 (D) 7",  # the options repeated
        "A. the red dog\nB. a blue cat\nC. 3\nD. 7",
        "Between option A and option C",
        "Not (A), perhaps (C)",
    ],
)
def test_lenient_reads_nothing_into_a_contradiction(text: str) -> None:
    assert parse_choice_lenient(text, OPTIONS).letter == ""


def test_lenient_says_how_it_was_found() -> None:
    assert parse_choice_lenient("(B)", OPTIONS).rule == "stated"
    assert parse_choice_lenient("I think (B) fits", OPTIONS).rule == "mentioned"
    assert parse_choice_lenient("I think (A) or (B) fits", OPTIONS).rule == "contradictory"


def test_an_own_text_has_to_be_that_of_one_option() -> None:
    assert parse_choice_lenient("Wood", ["wood", "Wood "]).letter == ""
    assert parse_choice_lenient("7", OPTIONS).letter == "d"
    assert parse_choice_lenient("-7", ["7", "-7"]).letter == "b"
    assert parse_choice_lenient(".", ["", "."]).letter == ""


def test_a_single_letter_names_an_option() -> None:
    assert parse_choice_lenient("A", ["B", "A"]).letter == "a"


def test_of_a_long_reply_both_ends_are_read() -> None:
    filling = "It is hard to say. " * 10_000
    assert parse_choice_lenient(f"(B)\n{filling}", WORDS).letter == "b"
    assert parse_choice_lenient(f"{filling}\n(C)", WORDS).letter == "c"
    assert parse_choice_lenient(f"{filling}(C)\n{filling}", WORDS).letter == ""


@given(st.integers(0, 3), st.sampled_from(["", "\n", "\r\n", "\n\nIt is made of it.", "\n\nBecause (A) is not."]))
def test_a_compliant_reply_is_read_alike(number: int, rest: str) -> None:
    text = f"({string.ascii_uppercase[number]}){rest}"
    letter = string.ascii_lowercase[number]
    assert is_compliant(text, 4)
    assert parse_choice(text, WORDS).letter == parse_choice_lenient(text, WORDS).letter == letter


@given(
    st.text() | st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.lists(st.text(max_size=8) | st.sampled_from(PIECES), min_size=1, max_size=8),
)
@example("", [""])
@example("?", ["?", "!"])
def test_any_reply_is_read(text: str, options: list[str]) -> None:
    strict, lenient = parse_choice(text, options), parse_choice_lenient(text, options)
    assert strict.letter in ("", *("abcdefgh" if len(options) > 6 else "abcdef"))
    assert (strict.letter == "") == (strict.rule == "none")
    assert lenient.letter in ("", *string.ascii_lowercase[: len(options)])
    assert (lenient.letter == "") == (lenient.rule in ("none", "contradictory"))
    assert isinstance(is_compliant(text, len(options)), bool)


@pytest.mark.parametrize("piece", ["(", "(G)", "**", "answer: ", "I would ", "12 ", "\u0315\u0300", "\x00"])
def test_a_huge_reply_is_read_all_the_same(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert parse_choice(text, WORDS).letter in ("", *"abcdef")
    assert parse_choice_lenient(text, WORDS).letter in ("", *"abcd")


# --- the form


@pytest.mark.parametrize(
    ("text", "n_options", "compliant"),
    [
        ("(A)", 4, True),
        ("(D)\n\nBecause.", 4, True),
        ("(D)\r\n\r\nBecause.", 4, True),
        ("(E)", 4, False),
        ("(F)", 6, True),
        ("(G)", 6, False),
        ("(H)", 8, True),
        ("(I)", 26, False),
        ("(a)", 4, False),
        (" (A)", 4, False),
        ("(A) ", 4, False),
        ("(A).", 4, False),
        ("A", 4, False),
        ("**(A)**", 4, False),
        ("\n(A)", 4, False),
        ("Because.\n(A)", 4, False),
        ("(AB)", 4, False),
        ("()", 4, False),
    ],
)
def test_compliance(text: str, n_options: int, compliant: bool) -> None:
    assert is_compliant(text, n_options) is compliant


# --- ability


@pytest.mark.parametrize(
    ("chosen", "gold", "share"),
    [
        ("abc", "abc", 1),
        ("abc", "abd", 2 / 3),
        (["a", ""], ["b", "c"], 0),
        ([0, None, 2, 1], [0, 1, 2, 3], 0.5),
        ([1], [1, 0], 0.5),  # the chain ended after one step
        ([], [1, 0], 0),
    ],
)
def test_ability(chosen: list[object], gold: list[object], share: float) -> None:
    assert ability(chosen, gold) == pytest.approx(share)


def test_ability_needs_steps() -> None:
    assert math.isnan(ability([], []))
    with pytest.raises(ValueError, match="each of 1 steps, found 2"):
        ability("ab", "a")
