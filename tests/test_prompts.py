"""Prompts as files that a user can replace."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import condchain_tasks.prompts as prompts
from condchain_tasks.prompts import PromptError, fingerprint, render


@pytest.fixture
def overrides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONDCHAIN_PROMPTS", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["condchain", "condchain_gui"])
def test_the_protocols_contract(name: str) -> None:
    text = render(name, instruction="If the mug is red, go on.")
    assert text.index("image") < text.index("If the mug is red, go on.") < text.index(r"\boxed{letter-number}")
    assert text.index(r"\boxed{letter-number}") < text.index(r"\boxed{None}")
    assert "option" in text


def test_an_instruction_is_data() -> None:
    assert "{{ 7 * 7 }}{% raw %}" in render("condchain", instruction="{{ 7 * 7 }}{% raw %}")


def test_fingerprint() -> None:
    raw = (Path(prompts.__file__).parent / "condchain.j2").read_bytes()
    assert fingerprint("condchain") == {
        "name": "condchain",
        "sha256": hashlib.sha256(raw).hexdigest()[:16],
        "origin": "package",
    }


def test_a_users_file_takes_the_place_of_one_and_leaves_the_other(overrides: Path) -> None:
    (overrides / "condchain_gui.j2").write_text("Mine: {{ instruction }}")
    assert render("condchain_gui", instruction="x") == "Mine: x"
    assert fingerprint("condchain_gui")["origin"] == "user"
    assert fingerprint("condchain")["origin"] == "package"


def test_a_misspelt_file_is_an_error(overrides: Path) -> None:
    (overrides / "condchian.j2").write_text("{{ instruction }}")
    with pytest.raises(PromptError, match=r"holds condchian\.j2; a prompt is replaced by .*condchain\.j2"):
        render("condchain", instruction="x")


def test_an_empty_folder_is_an_error(overrides: Path) -> None:
    with pytest.raises(PromptError, match=r"holds no \*\.j2 file"):
        render("condchain", instruction="x")


def test_a_folder_that_does_not_exist_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONDCHAIN_PROMPTS", str(tmp_path / "none"))
    with pytest.raises(PromptError, match="no folder"):
        fingerprint("condchain")


def test_a_byte_order_mark_is_no_part_of_the_prompt(overrides: Path) -> None:
    (overrides / "condchain.j2").write_bytes(b"\xef\xbb\xbf{{ instruction }}")
    assert render("condchain", instruction="x") == "x"


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ question }}", "'question' is undefined. The template may use: instruction"),
        ("{% if %}", "cannot be used as a prompt"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ instruction + 1 }}", "str"),
        ("{% include 'x' %}", "no loader"),
        ("{{ instruction.__class__.__mro__ }}", "unsafe"),
        (b"\xff\xfe", "cannot be used as a prompt"),
    ],
)
def test_a_template_that_does_not_work(overrides: Path, template: str | bytes, reason: str) -> None:
    (overrides / "condchain.j2").write_bytes(template.encode() if isinstance(template, str) else template)
    with pytest.raises(PromptError, match=reason):
        render("condchain", instruction="x")
