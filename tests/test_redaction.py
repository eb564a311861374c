"""What is written and printed of settings: nothing secret, wherever it stands, and the rest as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condchain_tasks.data.fields import shown
from condchain_tasks.redaction import LEFT_OUT, is_secret, redacted

SECRET = "s3cretS3cret"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"model=m,base_url=http://user:{SECRET}@host:80/v1,n=1", "model=m,base_url=http://host/v1,n=1"),
        (f"base_url=https://host/v1?key={SECRET},n=1", "base_url=https://host/v1,n=1"),
        (f"base_url=https://host/v1#{SECRET}", "base_url=https://host/v1"),
        (f"base_url=user:{SECRET}@host/v1", "base_url=http://host/v1"),
        (f"base_url=http://user:x/{SECRET}@host/v1", f"base_url={LEFT_OUT}"),
        (f"model=m,api_key={SECRET},n=1", f"model=m,api_key={LEFT_OUT},n=1"),
        (f"model=m,api_key={SECRET},{SECRET}", f"model=m,api_key={LEFT_OUT}"),
        (f"model=m, HF_TOKEN = {SECRET}", f"model=m, HF_TOKEN = {LEFT_OUT}"),
        (f'extra={{"api_key": "{SECRET}", "n": 1}}', f'extra={{"api_key": "{LEFT_OUT}", "n": 1}}'),
        (f'{{"base_url": "http://u:{SECRET}@h"}}', '{"base_url": "http://h"}'),
        ({"base_url": f"http://u:{SECRET}@h/v1", "n": 1}, {"base_url": "http://h/v1", "n": 1}),
        ({"a": [{"OPENAI_API_KEY": SECRET, "n": 1.5}]}, {"a": [{"OPENAI_API_KEY": LEFT_OUT, "n": 1.5}]}),
        ({"headers": {"X": SECRET}, "auth": ["me", SECRET]}, {"headers": LEFT_OUT, "auth": LEFT_OUT}),
        (["--api-key", SECRET, "--n", 3], ["--api-key", LEFT_OUT, "--n", 3]),
        (f"serve --api-key {SECRET} --n 3", f"serve --api-key {LEFT_OUT} --n 3"),
        (f"Authorization: Bearer {SECRET}", f"Authorization: {LEFT_OUT} {LEFT_OUT}"),
        (f"{{'api_key': '{SECRET}', 'n': 1}}", f"{{'api_key': {LEFT_OUT}, 'n': 1}}"),
        (f"wrong key sk-{SECRET}, sorry", f"wrong key {LEFT_OUT}, sorry"),
        (f"at https://u:{SECRET}@h/v1: refused", "at https://h/v1: refused"),
        (f"at user:{SECRET}@host:8000: refused", "at host:8000: refused"),
    ],
)
def test_secrets_are_left_out_and_the_rest_stays(value: Any, expected: Any) -> None:
    assert redacted(value) == expected
    assert SECRET not in json.dumps(redacted(value))
    assert SECRET not in shown(value)


@pytest.mark.parametrize(
    "value",
    [
        "pretrained=Qwen/Qwen2.5-VL-7B-Instruct,max_pixels=602112,device_map=cuda:0,use_cache=True",
        {"max_new_tokens": 64, "until": [], "temperature": 0.0, "do_sample": False, "seed": None},
        "http://127.0.0.1:8000/v1",
        {"api_key": None, "token": False, "password": ""},
        "At 10:30 the ball, seen from a:b, rolls (3:2).",
        "gpt-5.1",
        3,
        None,
    ],
)
def test_what_is_no_secret_stays_as_it_is(value: Any) -> None:
    assert redacted(value) == value


def test_names_of_secrets() -> None:
    assert all(map(is_secret, ["api_key", "apikey", "OPENAI_API_KEY", "x-api-key", "token", "DB_PASSWORD", "Cookie"]))
    assert not any(map(is_secret, ["max_new_tokens", "keys_per_page", "tokenizer", "author", "model", ""]))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(_JSON)
def test_any_value_is_taken_and_comes_out_as_json(value: Any) -> None:
    json.dumps(redacted(value))
    assert redacted(redacted(value)) == redacted(value)


@pytest.mark.parametrize("text", ["a" * 300_000, "a:" * 150_000, "key" * 100_000, "a=" * 150_000, "://" * 100_000])
def test_long_texts_come_out_as_they_were(text: str) -> None:
    assert redacted(text) == text  # a quadratic reading would not end


def test_what_is_nested_without_end_is_said_to_be() -> None:
    value: list[Any] = []
    value.append(value)
    assert shown(value) == "what is nested too deeply"
