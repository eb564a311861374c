"""The rules for constraint satisfaction, and the cascade of verdicts."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condchain_tasks.scorers.ccrv import (
    Check,
    GroundingCheck,
    cascade,
    check_grounding,
    check_minimalist,
    check_symbolization,
    dcr,
)

BOX = (100, 200, 300, 400)  # grown by 7.5 %: 85..315 and 185..415
SIZE = (800, 600)
WHY = "\nExplanation: The boy pushes the cart, so it rolls."
ODD = ["", " \n\t", "?!...", "１２０", "\u202eولد يدفع العربة", "\ufeff\x00", "-", "\r\n\r\n", "Coordinate:", "\u2028"]
ODD_PIECES = [
    "woman",
    "a",
    "a ",
    "-",
    "- ",
    "1",
    "1.",
    "-1",
    "Coordinate:",
    "Explanation:\n",
    "\n",
    "\r",
    ".",
    "ｆ",
    "İ",
]


# --- Y1


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("Node_A pushes Node_B.", True),
        ("The woman pushes Node_B.", False),
        ("WOMAN", False),
        ("A woman's hand", False),  # an apostrophe is no neighbour that counts
        ("A snow-woman", False),
        ("womané", False),  # only a-z, 0-9 and _ are
        ("女woman子", False),
        ("éwoman", False),
        ("woman１", False),  # a digit of another script is no neighbour that counts
        ("ſwoman", False),
        ("women", True),
        ("womans", True),
        ("woman1", True),
        ("woman_1", True),
        ("_woman", True),
        ("superwoman", True),
        ("superwoman and a woman", False),  # a later occurrence counts
        ("wo man", True),
        ("ｗｏｍａｎ", True),
        ("wo\u202eman", True),
        ("", True),
    ],
)
def test_symbolization(answer: str, passed: bool) -> None:
    assert check_symbolization(answer, ["woman", "cart"]).passed is passed


@pytest.mark.parametrize(
    ("term", "answer", "passed"),
    [
        ("  Woman\n", "the woman", False),  # case and outer white space of a term do not matter
        ("", "the woman", True),
        ("   ", "the woman", True),
        ("c++ (book)", "A C++ (book) falls", False),  # no pattern
        (".*", "anything", True),
        ("a.b", "axb", True),
        ("coffee cup", "a coffee cup", False),
        ("coffee cup", "a coffee  cup", True),  # as it is
        ("a a", "xa a a", False),  # occurrences may overlap
        ("İ", "İ", False),
    ],
)
def test_symbolization_takes_terms_as_they_are(term: str, answer: str, passed: bool) -> None:
    assert check_symbolization(answer, [term]).passed is passed


def test_symbolization_without_terms() -> None:
    assert check_symbolization("The woman", []).passed


def test_symbolization_names_the_first_occurrence() -> None:
    check = check_symbolization("The Cart hits a woman.", ["woman", "cart"])
    assert check == Check(False, "The forbidden term 'cart' occurs at character 5.")


@given(
    st.text(alphabet="aAbB_1 -'é.\n", max_size=40),
    st.lists(st.text(alphabet="aAb1 .*(_é", max_size=4), max_size=4),
)
def test_symbolization_is_the_rule(answer: str, terms: list[str]) -> None:
    clean = [term.strip().lower() for term in terms if term.strip()]
    used = [term for term in clean if re.search(rf"(?<![a-z0-9_]){re.escape(term)}(?![a-z0-9_])", answer.lower())]
    assert check_symbolization(answer, terms).passed is not bool(used)


# --- Y2


@pytest.mark.parametrize(
    ("line", "reading"),
    [
        ("Coordinate: 120, 340", "pixel"),
        ("Coordinate: 85, 185", "pixel"),  # corners of the grown box
        ("Coordinate: 315, 415", "pixel"),
        ("Coordinate: 84.99, 185", None),
        ("Coordinate: 85, 415.01", None),
        # In thousandths the box is 106.25..393.75 and 308.33..691.67.
        ("Coordinate: 250, 500", "thousandth"),
        ("Coordinate: 393.75, 691", "thousandth"),
        ("Coordinate: 394, 691", None),
        ("Coordinate: 250, 1001", None),
        ("Coordinate: -250, 500", None),
        # In fractions it is 0.10625..0.39375 and 0.30833..0.69167.
        ("Coordinate: 0.25, 0.5", "fraction"),
        ("Coordinate: 0.11, 0.69", "fraction"),
        ("Coordinate: 0.25, 1.5", None),
        ("Coordinate: 200, 350", "pixel"),  # pixels first, although thousandths match as well
        # The form of the line.
        ("COORDINATE:120,340", "pixel"),
        ("   coordinate: 120 340", "pixel"),
        ("\u3000Coordinate: 120, 340\t", "pixel"),
        ("Coordinate: (120, 340)", "pixel"),
        ("Coordinate: [120.0; 340.00] px", "pixel"),
        ("Coordinate: x is 120 and y is 340", "pixel"),
        ("Coordinate: １２０，３４０", "pixel"),  # decimal digits of any script
        ("Coordinate: ١٢٠, ٣٤٠", "pixel"),
        ("Coordinate: 120-340", None),  # 120 and -340
        ("Coordinate: .25, .5", None),  # 25 and 5
        ("Coordinate: 1e3", None),  # 1 and 3
        ("Coordinate: 120,5", None),  # 120 and 5
        ("Coordinate: 1,200, 340", None),  # a thousands separator makes three numbers
        ("Coordinate: 1 200, 340", None),
        ("Coordinate: ², ³", None),  # superscripts are no decimal digits
        ("Coordinate: −120, 340", "pixel"),  # a sign is ASCII only
        ("Coordinate: 120．5, 340", None),  # and so is a point
        ("Coordinate: 120", None),
        ("Coordinate: 120, 340, 350", None),
        ("Coordinate: x1=120, y1=340", None),
        ("Coordinate: one hundred and twenty, three hundred and forty", None),
        ("Coordinate:\n120, 340", None),
        ("Coordinate: " + "9" * 400 + ", 340", None),
        ("**Coordinate:** 120, 340", None),
        ("- Coordinate: 120, 340", None),
        ("Coordinate : 120, 340", None),
        ("Coordinate：120, 340", None),
        ("Coordinates: 120, 340", None),
        ("\u200fCoordinate: 120, 340", None),
        ("The Coordinate: 120, 340", None),
        ("120, 340", None),
    ],
)
def test_grounding_point(line: str, reading: str | None) -> None:
    check = check_grounding(line + WHY, BOX, SIZE)
    assert (check.passed, check.reading) == (reading is not None, reading)
    assert check.passed_raw_pixel is (reading == "pixel")


@pytest.mark.parametrize(
    ("explanation", "passed"),
    [
        ("\nExplanation: 12345678901234567890", True),
        ("\nExplanation: 1234567890123456789", False),
        ("\nExplanation:    1234567890123456789     ", False),
        ("\nexplanation:\n\n  1234567890\n123456789", True),  # 10 + a space + 9
        ("\nExplanation: 1234567890\n12345678", False),
        ("\nExplanation: 1234567890\n\n \n12345678", False),  # blank lines add nothing
        ("\r\nExplanation: 1234567890\r\n123456789\r\n", True),
        ("\nExplanation: short\nExplanation: 12345678901234", True),  # the second is text like any other
        ("\nExplanation: short\nCoordinate: 12345678901234567890", False),  # ends at a coordinate line
        ("\n  EXPLANATION: 推车被男孩推动所以它沿着斜坡向下滚动起来", True),
        ("\n**Explanation:** 12345678901234567890", False),
        (" Explanation: 12345678901234567890", False),  # on the coordinate line
        ("", False),
    ],
)
def test_grounding_explanation(explanation: str, passed: bool) -> None:
    assert check_grounding("Coordinate: 120, 340" + explanation, BOX, SIZE).passed is passed


def test_grounding_takes_the_first_coordinate_line() -> None:
    inside, outside = "Coordinate: 120, 340", "Coordinate: 9999, 9999"
    assert check_grounding(f"{inside}\n{outside}{WHY}", BOX, SIZE).passed
    assert not check_grounding(f"{outside}\n{inside}{WHY}", BOX, SIZE).passed


def test_grounding_in_the_other_order() -> None:
    assert check_grounding(f"First I look.{WHY}\nCoordinate: 120, 340", BOX, SIZE).passed


@pytest.mark.parametrize(
    ("margin", "x", "passed"),
    [(0, 300, True), (0, 300.5, False), (0.25, 350, True), (0.25, 350.5, False), (9, 350.5, False), (-1, 300, True)],
)
def test_grounding_margin_is_clamped(margin: float, x: float, passed: bool) -> None:
    assert check_grounding(f"Coordinate: {x}, 399{WHY}", BOX, (10, 10), margin).passed is passed


def test_grounding_box_from_any_two_corners() -> None:
    assert check_grounding(f"Coordinate: 85, 415{WHY}", (300, 400, 100, 200), SIZE).reading == "pixel"


def test_grounding_box_beyond_its_image() -> None:
    assert check_grounding(f"Coordinate: -5, 3{WHY}", (-20, -10, 50, 60), SIZE).reading == "pixel"


@pytest.mark.parametrize(
    ("point", "passed"), [("85, 197", True), ("315, 243", True), ("84.9, 197", False), ("85, 196.9", False)]
)
def test_grounding_box_grows_by_its_own_width_and_height(point: str, passed: bool) -> None:
    assert check_grounding(f"Coordinate: {point}{WHY}", (100, 200, 300, 240), SIZE).passed is passed


@pytest.mark.parametrize(
    ("point", "box", "reading"),
    [
        ("1000, 1000", (700, 500, 900, 700), "thousandth"),  # 800, 600
        ("1001, 1000", (700, 500, 900, 700), None),
        ("1000, 1001", (700, 500, 900, 700), None),
        ("0, -60", (-50, -50, 50, 50), None),  # -60 pixels are outside, -60 thousandths would not be
        ("-60, 0", (-50, -50, 50, 50), None),
        ("1, 1", (700, 500, 900, 700), "fraction"),
        ("1.01, 1", (700, 500, 900, 700), None),
        ("1, 1.01", (700, 500, 900, 700), None),
        ("-0.1, 0.1", (-90, 50, -70, 70), None),  # -80, 60
        ("0.1, -0.1", (70, -70, 90, -50), None),
    ],
)
def test_grounding_ranges_of_the_readings(point: str, box: tuple[int, int, int, int], reading: str | None) -> None:
    assert check_grounding(f"Coordinate: {point}{WHY}", box, SIZE).reading == reading


def test_grounding_box_without_area() -> None:
    assert check_grounding(f"Coordinate: 7, 8{WHY}", (7, 8, 7, 8), (10, 10)).passed
    assert not check_grounding(f"Coordinate: 7, 8.5{WHY}", (7, 8, 7, 8), (10, 10)).passed


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", 'No line starts with "Coordinate:".'),
        ("Coordinate: 1, 2", 'No line starts with "Explanation:".'),
        ("Coordinate: 1, 2, 3" + WHY, "Numbers on the coordinate line: 3; exactly 2 are needed."),
        ("Coordinate: 1, 2\nExplanation: It rolls.", "Characters of the explanation: 9; at least 20 are needed."),
        (
            "Coordinate: 900, 20.5" + WHY,
            "The point (900, 20.5) lies outside the grown box (85, 185, 315, 415) by every valid reading.",
        ),
        (
            "Coordinate: 0.25, 0.5" + WHY,
            "The point (0.25, 0.5), read as fractions, lies in the grown box (85, 185, 315, 415).",
        ),
    ],
)
def test_grounding_says_why(answer: str, reason: str) -> None:
    assert check_grounding(answer, BOX, SIZE).reason == reason


def test_grounding_without_the_right_form_has_no_reading() -> None:
    answer = "Coordinate: 120, 340\nExplanation: It rolls."
    check = check_grounding(answer, BOX, SIZE)
    assert (check.passed, check.reading, check.passed_raw_pixel) == (False, None, False)


COORDINATES = st.integers(-2_000, 4_000)
MARGINS = st.floats(-1, 2)


def _check(x: float, y: float, box: tuple[int, int, int, int], margin: float) -> GroundingCheck:
    return check_grounding(f"Coordinate: {x:.6f}, {y:.6f}{WHY}", box, SIZE, margin)


@given(st.tuples(*[COORDINATES] * 4), st.integers(0, 64), st.integers(0, 64), MARGINS)
def test_a_point_in_the_box_passes(box: tuple[int, int, int, int], a: int, b: int, margin: float) -> None:
    x1, y1, x2, y2 = box
    check = _check(x1 + (x2 - x1) * a / 64, y1 + (y2 - y1) * b / 64, box, margin)
    assert (check.passed, check.reading, check.passed_raw_pixel) == (True, "pixel", True)


@given(
    st.integers(0, 700), st.integers(0, 500), st.integers(2, 100), st.integers(2, 100), st.floats(0, 1), st.floats(0, 1)
)
def test_a_point_in_the_box_passes_in_other_units(
    left: int, top: int, width: int, height: int, right_by: float, down_by: float
) -> None:
    x, y = left + width * right_by, top + height * down_by
    box = (left - 1, top - 1, left + width + 1, top + height + 1)  # what is written of a number is rounded
    assert _check(x / 800 * 1000, y / 600 * 1000, box, 0).passed
    assert _check(x / 800, y / 600, box, 0).passed


@given(st.tuples(*[COORDINATES] * 4), COORDINATES, COORDINATES, MARGINS, MARGINS)
def test_a_larger_margin_never_fails_a_point(
    box: tuple[int, int, int, int], x: int, y: int, margin: float, other: float
) -> None:
    smaller, larger = sorted((margin, other))
    assert _check(x, y, box, smaller).passed <= _check(x, y, box, larger).passed


@given(st.tuples(*[COORDINATES] * 4), COORDINATES, COORDINATES)
def test_pixels_alone_pass_no_more(box: tuple[int, int, int, int], x: int, y: int) -> None:
    check = _check(x, y, box, 0.075)
    assert check.passed_raw_pixel <= check.passed


# --- Y4


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("cart rolls", 2),
        ("  cart\trolls \n", 2),
        ("coffee-cup falls", 3),
        ("coffee‐cup‑on‒the–very—edge−now", 7),
        ("don't fall", 2),
        ("a_b", 1),
        ("3.5", 1),
        ("- cart -", 1),
        ("推车 滚动。", 2),
        ("１２", 1),
    ],
)
def test_minimalist_counts_words(answer: str, words: int) -> None:
    assert check_minimalist(answer, words, forbid_punctuation=False).passed
    if words > 1:
        check = check_minimalist(answer, words - 1, forbid_punctuation=False)
        assert check == Check(False, f"The answer has {words} words; the limit is {words - 1}.")


@pytest.mark.parametrize("answer", ["", " ", "\n\r\n", "\u2028"])
def test_minimalist_empty(answer: str) -> None:
    assert check_minimalist(answer, 5, single_line=False) == Check(False, "The answer is empty.")


@pytest.mark.parametrize("answer", ["...", "-", "—", "?! -", "''"])
def test_minimalist_needs_a_word(answer: str) -> None:
    assert check_minimalist(answer, 5, forbid_punctuation=False) == Check(False, "The answer has no words.")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", "\u2028\n"])
def test_minimalist_single_line(end: str) -> None:
    answer = f"cart{end}rolls"
    assert not check_minimalist(answer, 5).passed
    assert check_minimalist(answer, 5, single_line=False).passed
    assert check_minimalist(f"{end}cart rolls{end}", 5).passed  # ends around the answer do not count


@pytest.mark.parametrize("space", ["\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_minimalist_only_a_line_feed_breaks_a_line(space: str) -> None:
    assert check_minimalist(f"cart{space}rolls", 2) == Check(True, "The answer keeps to the limit: 2 of 2 words.")
    assert check_minimalist(f"cart{space}rolls", 1).reason == "The answer has 2 words; the limit is 1."


@pytest.mark.parametrize("mark", "!\"#$%&'()*+,./:;<=>?@[\\]^_`{|}~")
def test_minimalist_punctuation(mark: str) -> None:
    answer = f" cart {mark}rolls"
    assert check_minimalist(answer, 5) == Check(False, f"The answer has punctuation: {mark} at character 7.")
    assert check_minimalist(answer, 5, forbid_punctuation=False).passed


@pytest.mark.parametrize("answer", ["well-known cart", "cart – rolls", "cart rolls。", "cart’s wheel", "«cart»"])
def test_minimalist_allows_hyphens_and_what_is_not_ascii(answer: str) -> None:
    assert check_minimalist(answer, 5).passed


def test_minimalist_says_why() -> None:
    assert check_minimalist("cart\nrolls", 5).reason == "The answer has 2 lines; one is allowed."
    assert check_minimalist("cart rolls", 5).reason == "The answer keeps to the limit: 2 of 5 words."


@given(st.text(alphabet="ab -.,\n\r\x0b\u2028\u00a0—'", max_size=40), st.integers(1, 10))
def test_minimalist_is_the_rule(answer: str, max_words: int) -> None:
    stripped = answer.strip()
    words = re.sub(r"[.,']", "", re.sub("[-—]", " ", stripped)).split()
    expected = 1 <= len(words) <= max_words and "\n" not in stripped and not set(stripped) & set(".,'")
    assert check_minimalist(answer, max_words).passed is expected


@given(st.text(max_size=60), st.integers(1, 10), st.booleans(), st.booleans())
def test_minimalist_a_looser_rule_never_fails_more(answer: str, words: int, single: bool, plain: bool) -> None:
    strict = check_minimalist(answer, words).passed
    assert strict <= check_minimalist(answer, words + 1, single, plain).passed


# --- any reply

NUMBERS = st.floats() | st.integers(-(10**9), 10**9)


def _all_checks(answer: str, numbers: list[float]) -> list[Check]:
    return [
        check_symbolization(answer, ["woman", "a", "- -", ".", "1"]),
        check_grounding(answer, numbers[:4], SIZE, numbers[4]),
        check_minimalist(answer, 5),
    ]


def _assert_sound(check: Check) -> None:
    assert 0 < len(check.reason) <= 250
    assert len(check.reason.splitlines()) == 1


@given(st.text() | st.sampled_from(ODD), st.lists(NUMBERS, min_size=5, max_size=5))
def test_any_reply_and_any_numbers_get_a_verdict(answer: str, numbers: list[float]) -> None:
    for check in _all_checks(answer, numbers):
        _assert_sound(check)


@given(st.lists(NUMBERS, min_size=5, max_size=5), st.lists(NUMBERS, max_size=3), st.text())
def test_any_numbers_in_the_right_form_get_a_verdict(numbers: list[float], given: list[float], why: str) -> None:
    line = ", ".join(map(str, given))
    _assert_sound(check_grounding(f"Coordinate: {line}\nExplanation: {why}", numbers[:4], SIZE, numbers[4]))


@given(st.text(), st.lists(st.text(), max_size=4))
def test_any_terms_get_a_verdict(answer: str, terms: list[str]) -> None:
    _assert_sound(check_symbolization(answer, terms))
    _assert_sound(check_symbolization(" ".join(terms), terms))


def test_a_long_term_is_cut_in_the_reason() -> None:
    _assert_sound(check_symbolization("a" * 5_000, ["a" * 5_000]))


@pytest.mark.parametrize("piece", ODD_PIECES)
@pytest.mark.parametrize("start", ["", "Coordinate: ", "Coordinate: 1, 2\nExplanation: "])
def test_a_huge_reply_gets_a_verdict(piece: str, start: str) -> None:
    for check in _all_checks(start + piece * (1_000_000 // len(piece)), [*BOX, 0.075]):
        _assert_sound(check)


# --- DCR


def test_cascade_and_dcr_by_hand() -> None:
    assert [cascade(*verdicts) for verdicts in product((0, 1), repeat=3)] == [
        (0, 0, 0),
        (0, 0, 0),
        (0, 0, 0),
        (0, 0, 0),
        (1, 0, 0),
        (1, 0, 0),
        (1, 1, 0),
        (1, 1, 1),
    ]
    assert [dcr(*verdicts) for verdicts in product((0, 1), repeat=3)] == pytest.approx(
        [0, 0, 0, 0, 1 / 3, 1 / 3, 2 / 3, 1]
    )


@pytest.mark.parametrize("verdicts", list(product((0, 1), repeat=3)))
def test_dcr_of_a_cascade_is_that_of_its_verdicts(verdicts: tuple[int, int, int]) -> None:
    assert dcr(*cascade(*verdicts)) == dcr(*verdicts)


@pytest.mark.parametrize("verdicts", list(product((0, 1), repeat=3)))
@pytest.mark.parametrize("layer", [0, 1, 2])
def test_dcr_never_falls_with_a_verdict(verdicts: tuple[int, int, int], layer: int) -> None:
    raised = [1 if number == layer else verdict for number, verdict in enumerate(verdicts)]
    assert dcr(*verdicts) <= dcr(*raised)
