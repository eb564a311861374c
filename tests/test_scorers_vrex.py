"""Reading a choice by the official rules and as a person would; the form that was asked for; ability."""

from __future__ import annotations

import difflib
import math
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from condchain_tasks.scorers.vrex import (
    Choice,
    ability,
    is_compliant,
    parse_choice,
    parse_choice_extended,
    parse_choice_lenient,
)

OPTIONS = ["the red dog", "a blue cat", "3", "7"]
WORDS = ["stone", "wood", "glass", "iron"]
EIGHT = [f"How tall is post {number}0?" for number in range(8)]
ASKED = [
    "What is the silver car doing?",
    "How many cars are visible?",
    "Is the ground wet or dry?",
    "Which color is the sign?",
]
FAILED: list[object] = [
    None,
    5,
    True,
    [],
    {"text": "(B)"},
    [{"type": "text", "text": "(B)"}],
    "",
    "  \n\t",
    "[LMMS_EVAL_REQUEST_FAILED after 5 retries] (B)",
    "[LMMS_EVAL_BUDGET_EXCEEDED]",
]
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
        ("  B. stone", "b", "line"),  # after white space
        ("Well.\n\n\t\u00a0C)\u2003glass", "c", "line"),  # of any kind, over blank lines
        ("Well. B. stone\n  c) glass", "c", "line"),
        ("Well.\rB. stone", "b", "lone letter"),  # a line begins after a line feed alone
        ("B.stone", "b", "lone letter"),
        ("B", "b", "lone letter"),
        ("**B**", "b", "lone letter"),
        ("My choice: B, as D is iron", "b", "lone letter"),
        ("Answer: C", "c", "lone letter"),
        ("This is a stone, so B", "a", "lone letter"),  # the article
        ("e.g. i.e. wood", "b", "contained"),  # neither is E
        ("one.g. wood", "b", "contained"),  # an E with a letter before it
        ("x_e.g. wood", "e", "lone letter"),  # not at a word boundary, yet no letter is beside it
        ("the answerd", "d", "answer"),  # ends a word right behind "answer"
        ("answers", "", "none"),
        ("i.e. E", "e", "lone letter"),
        ("bd 1b", "b", "lone letter"),  # only letters beside it count
        ("There are 4. Answer: 2", "b", "number"),
        ("I count 3 or 4", "c", "number"),
        ("0 7 13 x5 5", "e", "number"),  # 1 to 6, alone
        ("There are 4, so answer 2", "b", "number"),
        ("There are 4. Answer :\n: 2", "b", "number"),
        ("There are 4. answer2", "b", "number"),
        ("There are 4, no answer 27", "d", "number"),
        ("é3 ３ ٣ 5", "e", "number"),  # a letter of any script is beside it; digits are ASCII
        ("answer: 12, so 6", "f", "number"),
        ("STONE!", "a", "equal"),
        ("“Wood”", "b", "contained"),  # quotes outside ASCII stay
        ('("Wood!")', "b", "equal"),
        ("  [Wood].  ", "b", "equal"),
        ("glass ... glass", "c", "contained"),
        ("Question: wood", "b", "equal"),
        (" SELECTED \n QUESTION - 'wood'", "b", "equal"),
        ("The question: wood", "b", "contained"),
        ("it is glass", "c", "contained"),
        ("ron", "d", "contained"),
        ("stoen", "a", "close"),  # 4 of 5 letters in common: 0.8
        ("xyz", "", "none"),
        ("?!", "", "none"),  # nothing is left of it: officially A
        ("()", "", "none"),
        ("Question:", "", "none"),
        ("(G)", "c", "contained"),  # in "glass"
        ("(X)", "", "none"),
    ],
)
def test_official_rules(text: str, letter: str, rule: str) -> None:
    assert parse_choice(text, WORDS) == Choice(letter, rule)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Selected question: Is the ground moist or dry?", "c"),
        ("There are 3 cars. Answer 2", "b"),
        ("Options a and b are wrong.\n   C) It is dry", "c"),
        ("Step 1 shows it, so answer 3", "c"),
        ("(X)", ""),
        ("the ( sign", ""),
        ("Question - How many cars are visible", "b"),
        ("not c\n\tB) yes", "b"),
    ],
)
def test_official_rules_on_questions_to_pick(text: str, letter: str) -> None:
    assert parse_choice(text, ASKED).letter == letter


@pytest.mark.parametrize("text", FAILED)
def test_no_reply_is_no_answer(text: str | None) -> None:
    nothing = Choice("", "none")
    assert (parse_choice(text, OPTIONS), parse_choice_lenient(text, OPTIONS)) == (nothing, nothing)
    assert not is_compliant(text, 4)


# The rule once more, as it is stated: one character after the other, without the patterns of the scorer.


def _is_word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")


def _word_ends(text: str, place: int) -> bool:
    return _is_word(text, place - 1) != _is_word(text, place)


def _after_answer(text: str, wanted: str) -> str | None:
    for start in range(len(text)):
        if text.startswith("answer", start):
            place = start + len("answer")
            while place < len(text) and (text[place] == ":" or text[place].isspace()):
                place += 1
            if place < len(text) and text[place] in wanted and _word_ends(text, place + 1):
                return text[place]
    return None


def _abbreviated(text: str, long: str, short: str) -> str:
    result, place = "", 0
    while place < len(text):
        if text.startswith(long, place) and not _is_word(text, place - 1):
            result, place = result + short, place + len(long)
        else:
            result, place = result + text[place], place + 1
    return result


def _ends_removed(text: str) -> str:
    text = text.strip().lower()
    for marks in ("\"'()[]{}", string.punctuation + " "):
        while text and text[0] in marks:
            text = text[1:]
        while text and text[-1] in marks:
            text = text[:-1]
    result = ""
    for char in text:
        if not char.isspace():
            result += char
        elif not result.endswith(" "):
            result += " "
    return result


def _without_introduction(text: str) -> str:
    rest = text.lstrip()
    if rest[:8].lower() == "selected" and rest[8:9].isspace():
        rest = rest[8:].lstrip()
    if rest[:8].lower() == "question" and rest[8:].lstrip()[:1] in (":", "-"):
        return rest[8:].lstrip()[1:]
    return text


def _stated_rule(text: str, options: list[str]) -> str:
    letters = "abcdefABCDEF"
    for place in range(len(text) - 2):
        if text[place] == "(" and text[place + 1] in letters and text[place + 2] == ")":
            return text[place + 1].lower()
    for start in [0, *(place + 1 for place, char in enumerate(text) if char == "\n")]:
        line = text[start:].lstrip()
        if line[:1] and line[0] in letters and line[1:2] in (".", ")") and line[2:3].isspace():
            return line[0].lower()
    lower = _abbreviated(_abbreviated(text.lower().strip(), "e.g.", "eg"), "i.e.", "ie")
    padded = f" {lower} "
    for before, char, after in zip(padded, padded[1:], padded[2:], strict=False):
        if char in "abcdef" and not {before, after} & set(string.ascii_lowercase):
            return char
    if letter := _after_answer(lower, "abcdef"):
        return letter
    number = _after_answer(lower, "123456")
    for place, char in enumerate(lower):
        if not number and char in "123456" and not _is_word(lower, place - 1) and not _is_word(lower, place + 1):
            number = char
    if number:
        return "abcdef"[int(number) - 1]
    reply, texts = _ends_removed(_without_introduction(text)), [_ends_removed(option) for option in options]
    if not reply:
        return ""  # a departure
    places = [place for place, option in enumerate(texts) if option == reply]
    places += [place for place, option in enumerate(texts) if option and (reply in option or option in reply)]
    places += [texts.index(option) for option in difflib.get_close_matches(reply, texts, 1, 0.75)]
    return "abcdef"[places[0]] if places and places[0] < 6 else ""


SPACES = [" ", "  ", "\n", "\n\n", "\t", "\r", "\u00a0", "\u2028", "\x0b"]
PARTS = [
    *("(", ")", "(b)", "(G)", "B", "c", "a", "B.", "D)", "e)", "e.g.", "i.e.", "x", "_", "é", "ſ", "answer", "Answer:"),
    *("1", "6", "7", "12", "٣", ":", "-", ".", "?", '"', "'", "[", "{", "question", "Selected question:", "SELECTED"),
    *("stone", "wood", "WOOD", "glas", "iron", "stoen", "How many", "İ", "“", *SPACES, *SPACES),
]
REPLIES = st.lists(st.sampled_from(PARTS), max_size=9).map("".join) | st.text(
    alphabet="aBfgz1267_ .:()\n-?", max_size=12
)
TEXTS = st.lists(st.sampled_from([*WORDS, " ", "?", "how many", "g", "(", "!", "“", "\t"]), max_size=4).map("".join)


@settings(max_examples=1_000)
@given(REPLIES, st.lists(TEXTS, min_size=1, max_size=8) | st.just(WORDS) | st.just(ASKED))
@example("e.g.i.e. x", ["x"])
@example("\n" * 5 + "  b) x", ["x"])
@example("g", ["x"] * 6 + ["g"])
@example("\t'x", ["\tx"])
def test_the_official_rules_as_they_are_stated(text: str, options: list[str]) -> None:
    expected = "" if not text.strip() else _stated_rule(text, options)
    assert parse_choice(text, options).letter == expected


def test_an_option_beyond_the_sixth_counts_as_nothing() -> None:
    assert parse_choice("How tall is post 70?", [*WORDS, "x", "y", "How tall is post 70?"]) == Choice("", "none")
    assert parse_choice("glow", ["x"] * 6 + ["glow", "glows"]) == Choice("", "none")


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
    assert parse_choice("(H)", WORDS).letter == ""
    assert parse_choice_lenient("(F)", WORDS) == Choice("", "contradictory")


@pytest.mark.parametrize("reading", [parse_choice_extended, parse_choice_lenient])
def test_with_eight_options_letters_reach_to_h(reading: object) -> None:
    assert reading("(H)", EIGHT).letter == "h"  # type: ignore[operator]
    assert reading("G. this one", EIGHT).letter == "g"  # type: ignore[operator]
    assert reading("h", EIGHT).letter == "h"  # type: ignore[operator]


def test_with_eight_options_numbers_reach_to_8() -> None:
    assert parse_choice_extended("8", EIGHT) == Choice("h", "number")
    assert parse_choice_extended("9", EIGHT) == Choice("", "none")
    assert parse_choice_extended("How tall is post 70?", ["x"] * 7 + ["How tall is post 70?"]) == Choice("h", "equal")


@given(REPLIES, st.lists(TEXTS, min_size=1, max_size=6))
def test_up_to_six_options_nothing_is_extended(text: str, options: list[str]) -> None:
    assert parse_choice_extended(text, options) == parse_choice(text, options)


def test_eight_options_have_no_official_rule() -> None:
    assert parse_choice("(H)", EIGHT) == Choice("a", "contained")  # there is an h in "how"
    assert parse_choice("7", WORDS).rule != "number"


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
        "答案：B",
        "答案是B。",
        "正确答案：B选项",
        "所以选B。",
        "答えはBです。",
        "정답: B",
        "정답은 B입니다.",
        "La réponse est B",
        "La réponse correcte est l'option B.",
        "Die richtige Antwort ist B.",
        "La respuesta es B.",
        "Final Answer B",
        "**Final Answer**\nB",
        "<answer>B</answer>",
        "<answer>\nB\n</answer>",
        "It meows. <answer>(B)</answer>",
        "Answer - B",
        "B，a blue cat",
        "B, a blue cat",
        "B - a blue cat",
        "(B) – blue",
        "B：a blue cat",
        "It meows.\nB, a blue cat",
        "The answer is $B$.",
        "\\boxed{B. a blue cat}",
        "\\boxed{\\textbf{B}}",
        "\\boxed {B}",
        "$\\boxed{\\text{(B) a blue cat}}$",
        "We see \\boxed{B} since (A) is wrong",
        "Option A shows a dog. (C) is a number. Therefore, B.",
        "(A) shows a dog.\n(C) is a number.\n\nTherefore, (B).",
        "A. The dog is red: wrong.\nC. No.\nThus B.",
        "A, C and D are all wrong, so B.",
        "因此，B。",
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
        "A dog, red, runs.",
        "A, B and C are all wrong",
        "A, B, C: all wrong",
        "A - B = 3",
        "A - 3 is left",
        "B-movie",
        "A.I. is shown",
        "Let $B$ be a set, and $a$ a number.",
        "Final Answer A dog",
        "The answer is a - b",
        "Therefore, A dog.",
        "La réponse est a peu près juste",
        "答案不是B",
        "我不选B",
        "\\boxed{a dog}",
        "\\boxed{a-b}",
        "\\boxed{A-1}",
        "\\boxed{A, B}",
        "A - red dog\nB - cat\nC - a three\nD - a seven\nHard to say.",
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
        "答案：A、B",
        "答案是A或B",
        "The answer is $A$ or $B$.",
        "La réponse est B ou C",
        "The final answer B or C",
        "B, the red dog",  # B's letter, A's text
        "\\boxed{A} or \\boxed{B}",
        "\\boxed{A. red, B. blue}",
        "So B, or C.",
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
    assert parse_choice_lenient("D - 7", OPTIONS).letter == "d"
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
    assert strict.letter in ("", *"abcdef")
    assert (strict.letter == "") == (strict.rule == "none")
    assert lenient.letter in ("", *string.ascii_lowercase[: len(options)])
    assert (lenient.letter == "") == (lenient.rule in ("none", "contradictory"))
    assert isinstance(is_compliant(text, len(options)), bool)


@pytest.mark.parametrize(
    "piece", ["(", "(G)", "**", "answer: ", "I would ", "12 ", "\u0315\u0300", "\x00", "\n", " ", "answer", ":"]
)
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
