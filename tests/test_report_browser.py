"""The report's page in a browser: what a reader does with it, and that it stays by itself.

Skipped without Chromium or playwright. Every page that a test opens must stay silent on the console, where a browser
also tells of what the page's policy forbade, and must ask for nothing but itself and the pictures it links.
"""

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from report_samples import HOSTILE, LIMITED, hostile, large, small

from condchain_tasks.report.page import write_page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium on this machine")
expect = sync_api.expect

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 380, "height": 800}
LEADERBOARD = "#table-condchain-leaderboard"
ITEMS = 200
MISSING = "file:///nowhere/%3Cb%3E.png"  # a picture that the hostile report links


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The small and the hostile report as pages, and a folder for more."""
    folder = tmp_path_factory.mktemp("pages")
    report = small(folder)
    write_page(report, folder / "small.html")
    write_page(replace(report, sections=()), folder / "embedded.html", [folder])
    write_page(hostile(), folder / "hostile.html")
    return folder


@pytest.fixture
def visit(browser, files):
    """Opens a page by the name of its file; in the end the page must have been silent and alone."""
    said, asked, contexts = [], [], []

    def open_page(name, viewport=WIDE, **settings):
        context = browser.new_context(viewport=viewport, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append((message.location["url"], message.text)))
        page.on("pageerror", lambda error: said.append(("", str(error))))
        page.on("request", lambda request: asked.append(request.url))
        page.goto((files / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [text for url, text in said if url != MISSING] == []
    own = {
        (files / name).as_uri() for name in ("small.html", "embedded.html", "hostile.html", "large.html", "scene.png")
    }
    assert {url for url in asked if not url.startswith("data:")} <= own | {MISSING}


def figures(page, table, column):
    return page.locator(f"{table} tbody tr td:nth-child({column}) .figure").all_inner_texts()


def names(page, table):
    return [text.split("\n")[0] for text in page.locator(f"{table} tbody th").all_inner_texts()]


def chosen_key(page):
    return page.locator("#list [aria-selected=true] .key").inner_text()


def test_tables_are_filled(visit):
    page = visit("small.html")
    assert page.locator("table").count() == 7
    assert page.locator("tbody tr").count() == 4 + 2 + 2 + 4 + 2 + 3 + 2
    assert "" not in [text.strip() for text in page.locator("td, th").all_inner_texts()]
    assert page.locator(f"{LEADERBOARD} tr.published .badge").all_inner_texts() == ["published"] * 2
    assert page.locator(f"{LEADERBOARD} tbody td").first.inner_text().startswith("86.9 [83.8, 90.1]")


def test_a_click_on_a_heading_sorts(visit):
    page = visit("small.html")
    heading = page.locator(f"{LEADERBOARD} thead th").nth(1)
    heading.locator("button").click()
    assert figures(page, LEADERBOARD, 2) == ["86.9", "78.5", "60.4", "55.0"]
    assert heading.get_attribute("aria-sort") == "descending"
    heading.locator("button").click()
    assert figures(page, LEADERBOARD, 2) == ["55.0", "60.4", "78.5", "86.9"]
    assert heading.get_attribute("aria-sort") == "ascending"
    expect(page.locator("#status")).to_have_text("Path F1 by domain: sorted by Natural, ascending")


def test_headings_sort_by_keyboard(visit):
    page = visit("small.html")
    page.locator(f"{LEADERBOARD} thead button").nth(0).focus()
    page.keyboard.press("Enter")
    assert names(page, LEADERBOARD)[0].startswith("A published model")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert figures(page, LEADERBOARD, 2)[0] == "86.9"
    assert page.locator(f"{LEADERBOARD} thead [aria-sort]").count() == 1


@pytest.mark.parametrize("clicks", [1, 2])
def test_rows_without_a_figure_stay_at_the_end(visit, clicks):
    page = visit("small.html")
    for _ in range(clicks):
        page.locator(f"{LEADERBOARD} thead button").nth(3).click()
    assert names(page, LEADERBOARD)[-1].startswith("Another one")


def test_cautions_show_when_pointed_at_reached_and_touched(visit):
    page = visit("small.html")
    mark, tip = page.locator("table button.mark").first, page.locator("#tip")
    expect(tip).to_be_hidden()
    mark.hover()
    expect(tip).to_have_text(LIMITED)
    page.locator("h1").hover()
    expect(tip).to_be_hidden()
    mark.focus()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    touched = visit("small.html", NARROW, has_touch=True)
    touched.locator("table button.mark").first.tap()
    expect(touched.locator("#tip")).to_have_text(LIMITED)
    touched.locator("h1").tap()
    expect(touched.locator("#tip")).to_be_hidden()


def test_points_of_charts_show_their_values(visit):
    page = visit("small.html")
    for chart, text in {
        "condchain-balance": "large-vl",
        "condchain-depth": "Depth of the chain (layers): 2",
        "ccrv-cells": "Causal dimension: X1",
        "vrex-category": "Ability (%): 61.0 [57.0, 65.0]",
    }.items():
        page.locator(f"#chart-{chart} [data-tip]").first.hover()
        expect(page.locator("#tip")).to_contain_text(text)


def test_a_chart_leads_to_its_table(visit):
    page = visit("small.html")
    page.locator("#chart-vrex-category figcaption a").click()
    expect(page.locator("#table-vrex-category")).to_be_in_viewport()


def test_the_first_tab_skips_to_the_content(visit):
    page = visit("small.html")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_filters_narrow_the_items(visit):
    page = visit("small.html")
    expect(page.locator("#found")).to_have_text("200 of 200 items")
    assert page.locator("#filters label").all_inner_texts()[0].startswith("Model")
    page.locator("#filters").get_by_label("Model").select_option("tiny-vl")
    expect(page.locator("#found")).to_have_text("100 of 200 items")
    page.locator("#filters").get_by_label("path").select_option("false")
    expect(page.locator("#found")).to_have_text("50 of 200 items")
    page.locator("#filters").get_by_label("Verdict").select_option("right")
    page.locator("#filters").get_by_label("Task").select_option("condchain_gui")
    assert set(page.locator("#list .of").all_inner_texts()) == {"tiny-vl · condchain_gui"}
    assert set(page.locator("#list .verdict").all_inner_texts()) == {"✓\nright;"}
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#found")).to_have_text("200 of 200 items")


def test_filters_are_those_that_a_task_has(visit):
    page = visit("small.html")
    screen, task = page.locator("#filters").get_by_label("screen"), page.locator("#filters").get_by_label("Task")
    screen.select_option("dark")
    expect(page.locator("#found")).to_have_text("66 of 200 items")
    task.select_option("condchain_chart")
    expect(screen).to_be_hidden()
    expect(page.locator("#found")).to_have_text("66 of 200 items")
    task.select_option("condchain_gui")
    expect(screen).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(screen).to_be_visible()
    expect(page.locator("#found")).to_have_text("200 of 200 items")


def test_search_reads_all_texts(visit):
    page = visit("small.html")
    for text, found in {"SAMPLE 17.": 2, "natural-00003/true": 2, "gold": ITEMS, "no such text": 0}.items():
        page.locator("#search").fill(text)
        expect(page.locator("#found")).to_have_text(f"{found} of 200 items")
    expect(page.locator("#detail")).to_have_text("No item fits the filters.")
    page.locator("#search").fill("")
    expect(page.locator("#list li")).to_have_count(50)


def test_items_are_walked_through_by_keyboard(visit):
    page = visit("small.html")
    items = page.locator("#list")
    items.focus()
    page.keyboard.press("ArrowDown")
    assert items.get_attribute("aria-activedescendant") == "item-1"
    expect(page.locator("#detail h3")).to_contain_text(chosen_key(page))
    expect(page.locator("#detail .facts")).to_contain_text("tiny-vl")
    page.keyboard.press("End")
    assert chosen_key(page).startswith("natural-00099")
    expect(page.locator("#page")).to_have_text("4 of 4")
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#page")).to_have_text("4 of 4")
    assert items.get_attribute("aria-activedescendant") == "item-150"
    page.keyboard.press("ArrowUp")
    expect(page.locator("#page")).to_have_text("3 of 4")
    expect(page.locator("#item-149")).to_be_in_viewport()
    page.keyboard.press("Home")
    assert chosen_key(page) == "natural-00000/false"


def test_an_item_is_shown_whole(visit):
    page = visit("small.html")
    page.get_by_role("button", name="Next").click()
    page.locator("#list li").nth(3).click()
    assert page.locator("#list [aria-selected=true]").count() == 1
    assert page.locator("#detail h4").all_inner_texts() == ["Instruction", "Reply", "Gold", "Read", "Diverges at layer"]
    instruction, reply, gold = page.locator("#detail pre").all_inner_texts()[:3]
    assert instruction.startswith("Sample 26.") and "\nThe answer is \\boxed{" in reply and gold == "B1"


@pytest.mark.parametrize(("name", "size"), [("small.html", 1200), ("embedded.html", 768)])
def test_pictures_are_linked_or_embedded(visit, name, size):
    page = visit(name)
    picture = page.locator("#detail img")
    picture.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('#detail img').naturalWidth > 0")
    assert picture.evaluate("image => image.naturalWidth") == size
    assert picture.get_attribute("src").startswith("file:" if name == "small.html" else "data:image/webp")


def test_a_missing_picture_is_said(visit, files):
    page = visit("embedded.html")
    page.evaluate("document.querySelector('#detail img').src = 'data:image/png;base64,AAAA'")
    expect(page.locator("#detail")).to_contain_text("The picture cannot be shown. It should be at:")
    expect(page.locator("#detail .path")).to_have_text(str(files / "scene.png"))


def test_hostile_texts_do_nothing(visit):
    page = visit("hostile.html")
    before = page.locator("script, img, b, h1, svg").count()
    for row in range(len(HOSTILE)):
        page.locator("#list li").nth(row).click()
    page.locator("#filters label").first.locator("select").select_option(index=2)
    page.locator("#search").fill("<script>")
    page.locator("button.mark").nth(1).focus()
    expect(page.locator("#tip")).to_contain_text(HOSTILE[0])
    for button in page.locator("th button").all():
        button.click()
    page.locator("[data-tip]").last.hover()
    assert page.title() == page.locator("h1").inner_text() == HOSTILE[0]
    assert page.locator("script, img, b, h1, svg").count() == before
    assert page.evaluate("Object.prototype.hasOwnProperty('undefined')") is False


def test_replies_are_shown_as_text(visit):
    page = visit("hostile.html")
    for row in (0, 1, 3, 4):
        page.locator("#list li").nth(row).click()
        assert page.locator("#detail pre").all_inner_texts() == [HOSTILE[row]] * 3


def test_the_policy_holds(browser, files):
    said = []
    page = browser.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.goto((files / "small.html").as_uri())
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "document.title = 'owned'";
            document.body.append(script);
            document.body.insertAdjacentHTML("beforeend", "<p style='color: red' onclick='document.title = 1'>x</p>");
            document.body.lastElementChild.click();
            const image = new Image();
            image.src = "https://example.org/a.png";
        }"""
    )
    assert page.evaluate("fetch('https://example.org/').then(() => 'fetched', () => 'refused')") == "refused"
    assert page.title() == "Two models on three benchmarks"
    assert sum("Content Security Policy" in text for text in said) >= 5
    page.close()


def luminance(color):
    """Relative luminance by WCAG 2, of "rgb(r, g, b)"."""
    channels = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(page, selector, background):
    """Contrast by WCAG 2 of the first element's text, in HTML or SVG, with a background."""
    front = page.locator(selector).first.evaluate(
        "node => { const style = getComputedStyle(node); return node.tagName === 'text' ? style.fill : style.color; }"
    )
    back = page.locator(background).first.evaluate("node => getComputedStyle(node).backgroundColor")
    low, high = sorted((luminance(front), luminance(back)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_are_legible(visit, theme):
    page = visit("small.html", color_scheme=theme)
    card = luminance(page.locator("main > section").first.evaluate("node => getComputedStyle(node).backgroundColor"))
    assert (card > 0.8) is (theme == "light")
    for selector in ("td .figure", ".interval", ".notes li", "figcaption a", ".plot text", "table .mark", "#detail dt"):
        assert contrast(page, selector, "main > section") >= 4.5, selector
    assert contrast(page, ".badge", "tr.published th") >= 4.5


def test_the_button_changes_the_theme_of_charts_too(visit):
    page = visit("small.html", color_scheme="light")
    button = page.locator("#theme")
    expect(button).to_have_text("Dark theme")
    button.click()
    expect(button).to_have_text("Light theme")
    assert contrast(page, ".plot text", "main > section") >= 4.5
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.1
    button.click()
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.8


@pytest.mark.parametrize("name", ["small.html", "hostile.html"])
def test_a_narrow_page_does_not_scroll_sideways(visit, name):
    page = visit(name, NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.locator("table button.mark").last.focus()
    expect(page.locator("#tip")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    box = page.locator("#tip").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= NARROW["width"]


def test_print_is_light_and_without_controls(visit):
    page = visit("small.html", color_scheme="dark")
    page.emulate_media(media="print")
    assert luminance(page.locator("td .figure").first.evaluate("node => getComputedStyle(node).color")) < 0.1
    for selector in (".contents", "#theme", "#filters", ".browser-list"):
        expect(page.locator(selector)).to_be_hidden()
    expect(page.locator("#detail")).to_be_visible()


def test_tables_are_there_without_scripts(browser, files):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((files / "small.html").as_uri())
    assert page.locator("tbody tr").count() == 19
    expect(page.locator("noscript")).to_be_visible()
    context.close()


def test_a_page_of_20_000_items_is_soon_of_use(visit, files, capsys):
    write_page(large(20_000), files / "large.html")
    start = time.perf_counter()
    page = visit("large.html")
    expect(page.locator("#list li")).to_have_count(50)
    opened = time.perf_counter() - start
    start = time.perf_counter()
    page.locator("#search").fill("sample 123.")
    expect(page.locator("#found")).to_have_text("30 of 20,000 items")
    searched = time.perf_counter() - start
    page.locator("#search").fill("")
    expect(page.locator("#found")).to_have_text("20,000 of 20,000 items")
    page.locator("#list").focus()
    page.keyboard.press("End")
    expect(page.locator("#page")).to_have_text("400 of 400")
    with capsys.disabled():
        print(f"\n20,000 items: usable after {opened:.2f} s, first search {searched:.2f} s")
    assert opened < 10 and searched < 10


@pytest.mark.skipif("REPORT_SCREENSHOTS" not in os.environ, reason="REPORT_SCREENSHOTS names no folder")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_screenshots(visit, theme, viewport):
    page = visit("small.html", viewport, color_scheme=theme)
    path = Path(os.environ["REPORT_SCREENSHOTS"]) / f"report-{theme}-{viewport['width']}.png"
    page.screenshot(path=path, full_page=True)
    assert path.stat().st_size > 0
