"""Effective scores, drops against the baseline, and the tables."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condchain_tasks.scorers.ccrv import dcr
from condchain_tasks.scorers.ccrv_tables import DIMENSIONS, SETTINGS, Item, Pair, Row, edcr, paired, tabulate

LAYERS = {0: (0, 0, 0), 1: (1, 0, 0), 2: (1, 1, 0), 3: (1, 1, 1)}
THIRD = 100 / 3


def item(key: str, y: str, layers: int | None, csr: int | None = None, **other: Any) -> Item:
    """An item of which `layers` layers hold; None if the judge's verdict is missing."""
    image, x, _ = key.split("/")
    verdicts = (None, None, None) if layers is None else LAYERS[layers]
    record = dict(zip(("l1", "l2", "l3"), verdicts, strict=True))
    score = {} if layers is None else {"score": 100 * dcr(*LAYERS[layers])}
    record |= {"key": key, "image_id": image, "x": x, "y": y, "csr": csr, "csr_raw_pixel": None, "failed": False}
    return Item.from_record({**record, **score, **other})


ITEMS = [
    item("1/X1/0", "base", 3),
    item("1/X1/1", "base", 1),
    item("2/X1/0", "base", 2),
    item("2/X2/0", "base", None),
    item("1/X1/0", "Y1", 3, csr=1),
    item("1/X1/1", "Y1", 0, csr=0),
    item("2/X1/0", "Y1", 1, csr=1),
    item("2/X2/0", "Y1", 3, csr=None),
    item("1/X1/0", "Y2", 2, csr=0, csr_raw_pixel=0),
    item("1/X1/1", "Y2", None, csr=1, csr_raw_pixel=1),
    item("2/X1/0", "Y2", 0, csr=0, csr_raw_pixel=0, failed=True),
]


def row(group: str, x: str = "", y: str = "") -> Row:
    (found,) = (row for row in tabulate(ITEMS) if (row.group, row.x, row.y) == (group, x, y))
    return found


def without_errors(row: Row) -> dict[str, Any]:
    return {name: value for name, value in asdict(row).items() if not name.endswith("_se")}


# --- records

RECORD = {
    "key": "7/X2/1",
    "image_id": "7",
    "x": "X2",
    "y": "Y2",
    "l1": 1,
    "l2": 1,
    "l3": 0,
    "score": 200 / 3,
    "csr": 1,
    "csr_raw_pixel": 0,
    "failed": False,
    "question": "Where?",
}


def test_an_item_is_read_from_its_record() -> None:
    expected = Item("7/X2/1", "7", "X2", "Y2", 1, 1, 0, 200 / 3, 1, 0, False)
    assert Item.from_record(RECORD) == expected
    assert Item.from_record(json.loads(json.dumps(RECORD))) == expected


def test_an_error_says_what_to_correct() -> None:
    with pytest.raises(ValueError) as error:
        Item.from_record({**RECORD, "csr": 2})
    assert str(error.value) == (
        "CCRV record '7/X2/1', field csr: expected one of 0, 1, None, found 2. "
        "Is it from the sample log of a ccrv task?"
    )


def test_a_record_without_a_score_has_no_dcr() -> None:
    record = {**RECORD, "l1": None, "l2": None, "l3": None}
    del record["score"]
    assert Item.from_record(record).dcr is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key", None),
        ("image_id", 7),
        ("x", "X5"),
        ("x", "X1_discovery"),
        ("y", "Y1.1"),
        ("y", ""),
        ("l2", 2),
        ("l3", 0.5),
        ("score", 100.1),
        ("score", -1),
        ("score", math.nan),
        ("score", "high"),
        ("score", "50"),
        ("score", 10**400),
        ("csr", "1"),
        ("csr", [1]),
        ("csr_raw_pixel", -1),
        ("failed", None),
    ],
)
def test_a_record_with_a_wrong_value_is_told(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^CCRV record .*, field {field}: expected .*, found ") as error:
        Item.from_record({**RECORD, field: value})
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("field", sorted(RECORD.keys() - {"score", "question"}))
def test_a_record_without_a_field_is_told(field: str) -> None:
    with pytest.raises(ValueError, match=rf"^CCRV record .*, field {field}: is missing\. "):
        Item.from_record({name: value for name, value in RECORD.items() if name != field})


def test_an_error_is_short_and_one_line_whatever_stands_in_the_record() -> None:
    with pytest.raises(ValueError, match="CCRV record") as error:
        Item.from_record({**RECORD, "key": "a\n\u202e" * 100_000, "x": "\r\n" * 100_000})
    assert len(str(error.value)) < 1_000
    assert str(error.value).isprintable()


# --- one item, one pair


def test_edcr() -> None:
    assert edcr(item("1/X1/0", "Y1", 2, csr=1)) == pytest.approx(2 * THIRD)
    assert edcr(item("1/X1/0", "Y1", 2, csr=0)) == 0
    assert edcr(item("1/X1/0", "Y1", None, csr=1)) is None
    assert edcr(item("1/X1/0", "Y1", None, csr=0)) is None
    assert edcr(item("1/X1/0", "Y1", 2, csr=None)) is None


def test_pairs_by_key() -> None:
    items = [item("1/X1/0", "Y1", 0), item("1/X1/1", "base", 3), item("1/X1/0", "base", 2), item("1/X1/1", "Y4", 3)]
    assert paired(items) == [Pair(items[0], items[2]), Pair(items[3], items[1])]


def test_drops_by_hand() -> None:
    base = item("1/X1/0", "base", 2)
    kept, broken = Pair(item("1/X1/0", "Y1", 1, csr=1), base), Pair(item("1/X1/0", "Y2", 3, csr=0), base)
    assert (kept.cdi, kept.ecdi) == pytest.approx((THIRD, THIRD))
    assert (broken.cdi, broken.ecdi) == pytest.approx((-THIRD, 2 * THIRD))


@pytest.mark.parametrize(
    ("constrained", "base", "cdi", "ecdi"),
    [
        (item("1/X1/0", "Y1", 3, csr=1), None, None, None),
        (item("1/X1/0", "Y1", 3, csr=1), item("1/X1/0", "base", None), None, None),
        (item("1/X1/0", "Y1", None, csr=1), item("1/X1/0", "base", 3), None, None),
        (item("1/X1/0", "Y3", 3, csr=None), item("1/X1/0", "base", 3), 0, None),
    ],
)
def test_a_drop_is_missing_with_its_parts(
    constrained: Item, base: Item | None, cdi: float | None, ecdi: float | None
) -> None:
    (pair,) = paired([constrained] if base is None else [base, constrained])
    assert (pair.cdi, pair.ecdi) == (cdi, ecdi)


@pytest.mark.parametrize("y", ["base", "Y3"])
@pytest.mark.parametrize("function", [paired, tabulate])
def test_an_item_that_comes_twice_is_told(function: Any, y: str) -> None:
    twice = item("1/X1/0", y, 3)
    with pytest.raises(ValueError, match=f"Two CCRV items have the key '1/X1/0' and y '{y}'"):
        function([twice, item("1/X1/1", y, 3), twice])


# --- tables


def test_overall_by_hand() -> None:
    assert without_errors(row("overall")) == pytest.approx(
        {
            "group": "overall",
            "x": "",
            "y": "",
            "n": 7,
            "missing": 1,
            "failed": 1,
            "l1": 100 * 4 / 6,
            "l2": 100 * 3 / 6,
            "l3": 100 * 2 / 6,
            "dcr": 50,  # 100, 0, 33, 100, 67, -, 0
            "csr": 50,  # 1, 0, 1, -, 0, 1, 0
            "csr_raw_pixel": THIRD,  # 0, 1, 0
            "edcr": 400 / 15,  # 100, 0, 33, -, 0, -, 0
            "dcr_compliant": 200 / 3,  # 100, 33
            "base_dcr": 200 / 3,  # 100, 33, 67, -, 100, 33, 67
            "cdi": THIRD,  # 0, 33, 33, -, 33, -, 67
            "ecdi": 140 / 3,  # 0, 33, 33, -, 100, -, 67
        }
    )


def test_standard_errors_by_hand() -> None:
    # CSR 100, 0, 0, 100 on image 1 and 100, 0 on image 2: deviations of ±50 that cancel in each image, so only
    # Σ d² / (n² (n - 1)) = 6 · 2500 / (36 · 5) is left.
    assert row("overall").csr_se == pytest.approx(math.sqrt(15_000 / 180))
    # Constrained, Y1: CSR 100, 0 on image 1, 100 on image 2: deviations 100/3, -200/3; 100/3. Sums -100/3, 100/3.
    squares = (1 + 4 + 1) * THIRD**2
    assert row("y", y="Y1").csr_se == pytest.approx(math.sqrt(2 * THIRD**2 + squares / 2) / 3)
    # One item on each of two images: half the difference.
    cell = row("cell", "X1", "Y2")
    assert (cell.dcr_se, cell.cdi_se, cell.ecdi_se, cell.edcr_se) == pytest.approx((THIRD, THIRD / 2, THIRD / 2, 0))


def test_the_baseline_has_rows_of_its_own() -> None:
    base = row("y", y="base")
    assert (base.n, base.missing, base.failed) == (4, 1, 0)
    assert (base.dcr, base.l1, base.l3) == pytest.approx((200 / 3, 100, THIRD))
    assert base.dcr_se is not None
    nothing = (base.csr, base.csr_raw_pixel, base.edcr, base.dcr_compliant, base.base_dcr, base.cdi, base.ecdi)
    assert nothing == (None,) * 7
    assert (base.csr_se, base.edcr_se, base.cdi_se, base.ecdi_se) == (None,) * 4
    assert row("cell", "X1", "base").n == 3
    assert row("cell", "X2", "base").dcr is None


def test_a_cell_of_one_item() -> None:
    cell = row("cell", "X2", "Y1")
    assert (cell.n, cell.missing, cell.dcr, cell.dcr_se) == (1, 0, 100, None)
    assert (cell.csr, cell.edcr, cell.base_dcr, cell.cdi, cell.ecdi) == (None,) * 5


def test_order_of_rows() -> None:
    assert [(row.group, row.x, row.y) for row in tabulate(reversed(ITEMS))] == [
        ("overall", "", ""),
        ("x", "X1", ""),
        ("x", "X2", ""),
        ("y", "", "base"),
        ("y", "", "Y1"),
        ("y", "", "Y2"),
        ("cell", "X1", "base"),
        ("cell", "X1", "Y1"),
        ("cell", "X1", "Y2"),
        ("cell", "X2", "base"),
        ("cell", "X2", "Y1"),
    ]


def test_a_baseline_alone_has_no_overall_row() -> None:
    assert [(row.group, row.x, row.y) for row in tabulate(ITEMS[:3])] == [("y", "", "base"), ("cell", "X1", "base")]


def test_no_items() -> None:
    assert tabulate([]) == []


def test_rows_are_json() -> None:
    for found in tabulate(ITEMS):
        assert json.loads(json.dumps(asdict(found), allow_nan=False)) == asdict(found)


def _whole(layers: int, csr: int) -> list[Item]:
    keys = [f"{image}/{x}/{index}" for image in (1, 2, 3) for x in DIMENSIONS for index in (0, 1)]
    return [item(key, y, 3 if y == "base" else layers, None if y == "base" else csr) for key in keys for y in SETTINGS]


def test_a_whole_benchmark_has_thirty_rows() -> None:
    rows = tabulate(_whole(3, csr=1))
    assert [sum(row.group == group for row in rows) for group in ("overall", "x", "y", "cell")] == [1, 4, 5, 20]
    assert [row.n for row in rows if row.group != "cell"] == [96, 24, 24, 24, 24, 24, 24, 24, 24, 24]
    assert {row.n for row in rows if row.group == "cell"} == {6}


@pytest.mark.parametrize(
    ("layers", "csr", "expected"),
    [(3, 1, (100, 100, 100, 100, 0, 0)), (3, 0, (100, 0, 0, None, 0, 100)), (0, 1, (0, 100, 0, 0, 100, 100))],
)
def test_models_that_always_do_the_same(layers: int, csr: int, expected: tuple[float | None, ...]) -> None:
    for found in tabulate(_whole(layers, csr)):
        if found.y != "base":
            assert (found.dcr, found.csr, found.edcr, found.dcr_compliant, found.cdi, found.ecdi) == expected
            assert (found.base_dcr, found.dcr_se, found.cdi_se) == (100, 0, 0)


VERDICTS = st.none() | st.integers(0, 3)


@given(st.lists(st.tuples(VERDICTS, VERDICTS, st.none() | st.integers(0, 1)), min_size=1, max_size=30))
def test_what_holds_for_any_verdicts(verdicts: list[tuple[int | None, int | None, int | None]]) -> None:
    items = []
    for number, (base, layers, csr) in enumerate(verdicts):
        key = f"{number // 8}/X{number // 2 % 4 + 1}/{number % 2}"
        items += [item(key, "base", base), item(key, "Y3", layers, csr)]
    for pair in paired(items):
        if pair.ecdi is not None:
            assert pair.cdi is not None
            assert -100 <= pair.cdi <= pair.ecdi <= 100
    for found in tabulate(items):
        columns = asdict(found)
        assert all(
            0 <= columns[name] <= 100 for name in ("dcr", "csr", "edcr", "base_dcr") if columns[name] is not None
        )
        assert 0 <= found.missing <= found.n
        if found.l1 is not None:
            assert found.l1 >= found.l2 >= found.l3
            assert found.dcr == pytest.approx((found.l1 + found.l2 + found.l3) / 3)
        if found.group == "overall" and all(None not in verdict for verdict in verdicts):
            assert found.cdi == pytest.approx(found.base_dcr - found.dcr)
            assert found.ecdi == pytest.approx(found.base_dcr - found.edcr)


@given(st.permutations(ITEMS))
def test_order_of_items_does_not_matter(items: list[Item]) -> None:
    for found, expected in zip(tabulate(items), tabulate(ITEMS), strict=True):
        assert asdict(found) == pytest.approx(asdict(expected))


def test_standard_errors_are_clustered_by_image() -> None:
    apart = [replace(found, image=f"{found.image}-{number}") for number, found in enumerate(ITEMS)]
    together, separate = tabulate(ITEMS)[0], tabulate(apart)[0]
    assert without_errors(together) == without_errors(separate)
    assert together.csr_se != separate.csr_se
