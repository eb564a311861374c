"""Special tokens of models in a benchmark's texts, which would be taken for what they name.

A local model's processor counts the places for pictures in the prompt and fails where a question names one more; a
server ends the turn where a question says so. Whoever wrote the text meant its characters.
"""

from __future__ import annotations

import re

SENT_BROKEN = "texts with a special token of some model, which is sent with a blank in it"
"""What is said of such a text."""

_SPECIAL = re.compile(
    r"<\|[\w./-]{1,60}\|>"  # Qwen, Llama, Phi, GLM, InternVL and others
    r"|<｜[\w▁./-]{1,60}｜>"  # DeepSeek
    r"|</?(?:s|bos|eos|pad|unk|mask|image|img|video|audio|vision|box|ref|quad|patch)>"
    r"|<(?:IMG_CONTEXT|ImageHere|image_placeholder|image_soft_token|(?:start|end)_of_(?:image|turn))>"
    r"|\[/?(?:INST|IMG|IMG_BREAK|IMG_END|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
    r"|<</?SYS>>"
)


def special_tokens(text: str) -> list[str]:
    """Those that stand in a text, each once."""
    return list(dict.fromkeys(_SPECIAL.findall(text)))


def broken_up(text: str) -> str:
    """The text with a blank after the first character of each, so that no tokenizer takes them for tokens."""
    return _SPECIAL.sub(lambda token: f"{token[0][0]} {token[0][1:]}", text)
