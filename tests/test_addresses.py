"""Addresses as they stand in results: one form for one server, and no secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condchain_tasks.addresses import public_address


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("http://host:8000/v1", "http://host:8000/v1"),
        ("http://host:8000/v1/", "http://host:8000/v1"),
        ("http://host:8000/v1/chat/completions", "http://host:8000/v1"),
        ("http://host:8000/v1/chat/completions/", "http://host:8000/v1"),
        ("http://host:8000/v1/completions", "http://host:8000/v1"),
        ("http://host:8000//v1", "http://host:8000/v1"),
        (" HTTPS://Host.Example/V1\n", "https://host.example/V1"),
        ("https://host:443/v1", "https://host/v1"),
        ("http://host:80", "http://host"),
        ("https://host:80", "https://host:80"),
        ("host:8000/v1", "http://host:8000/v1"),
        ("localhost:8000", "http://localhost:8000"),
        ("//host/v1", "http://host/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://[2001:DB8::1]/", "http://[2001:db8::1]"),
        ("https://user:password@host/v1", "https://host/v1"),
        ("https://user:p@ss@host/v1", "https://host/v1"),
        ("user:password@host/v1", "http://host/v1"),
        ("https://host/v1?key=secret&api-version=1", "https://host/v1"),
        ("https://host/v1#secret", "https://host/v1"),
        ("https://host?key=secret", "https://host"),
    ],
)
def test_one_server_has_one_address_without_secrets(written: str, address: str) -> None:
    assert public_address(written) == address


def test_the_address_of_an_address_is_itself() -> None:
    for address in ("http://host:8000/v1", "https://[::1]/a/b", "http://host"):
        assert public_address(address) == address


def test_a_clients_url_object_is_read_like_text() -> None:
    import httpx

    assert public_address(httpx.URL("https://user:password@host:8000/v1/?key=secret")) == "https://host:8000/v1"


@pytest.mark.parametrize(
    "garbage", [None, "", " ", "http://", "http://host:port/v1", "http://[::1", "http://a%40b/", "?"]
)
def test_what_names_no_host_has_no_address(garbage: object) -> None:
    assert public_address(garbage) == ""


@pytest.mark.parametrize("url", ["http://user:12/34@host/v1", "http://user:12?34@host/v1", "http://user:12#34@host/v1"])
def test_a_password_that_is_not_quoted_is_not_taken_for_a_port(url: str) -> None:
    assert public_address(url) == ""


@given(st.text())
def test_no_text_raises_and_nothing_behind_a_question_mark_is_kept(text: str) -> None:
    assert "secret" not in public_address(f"{text}?key=secret")
    assert "\n" not in public_address(text)
