"""Where a judge is called, from the environment variables that `lmms_eval.llm_judge` reads."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

from condchain_tasks.addresses import public_address
from condchain_tasks.judging.settings import JudgeSettings

_CALL = "/chat/completions"
_AZURE_VERSION = "2024-02-15-preview"


@dataclass(frozen=True)
class Variables:
    """Environment variables of a provider.

    Attributes:
        url: Where it looks for its address.
        default_url: The address if that is unset, "" if it must be set.
        key: Where it looks for its key, "" if it needs none of that kind.
    """

    url: str
    default_url: str = ""
    key: str = ""

    def absent(self) -> list[str]:
        """Those that must be set and are not."""
        needed = [self.key, "" if self.default_url else self.url]
        return [name for name in needed if name and not os.environ.get(name)]

    def address(self) -> str:
        """What is set, without white space at its ends, or the default."""
        return os.environ.get(self.url, "").strip() or self.default_url

    def secret(self) -> str:
        """The key, "" if there is none."""
        return os.environ.get(self.key, "").strip()


VARIABLES = {
    "openai": Variables("OPENAI_API_URL", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "azure": Variables("AZURE_ENDPOINT", "", "AZURE_API_KEY"),
    "bedrock": Variables("AWS_REGION", "us-west-2"),
    "local": Variables("LLM_JUDGE_URL", "http://localhost:8000/v1/chat/completions"),
}


def call_address(settings: JudgeSettings) -> str:
    """The address that requests are sent to.

    What is set may be the server's address or that of the call itself, with slashes at its end or without: each is
    known by people as "the URL". A query stays. Azure's may be the resource's, or that of a deployment, which then
    counts instead of the judge's name.

    Args:
        settings: Of a judge that is called by HTTP, so of any provider but Bedrock.
    """
    scheme, host, path, query, _ = _split(VARIABLES[settings.api_type].address())
    path = path.rstrip("/")
    if settings.api_type == "azure":
        if not re.search("/openai/deployments/[^/]+", path):
            path = f"{path.removesuffix('/openai')}/openai/deployments/{quote(settings.model, safe='')}"
        query = query or f"api-version={os.environ.get('API_VERSION') or _AZURE_VERSION}"
    if not path.lower().endswith("/completions"):
        path += _CALL
    return urlunsplit((scheme, host, path, query, ""))


def server(settings: JudgeSettings) -> str:
    """Where a judge answers, for results and for the key of its verdicts: without user, password and query.

    Returns:
        Such as `https://api.openai.com/v1`; of Bedrock the region, such as `bedrock://us-west-2`.
    """
    if settings.api_type == "bedrock":
        return public_address(f"bedrock://{VARIABLES['bedrock'].address()}")
    return public_address(call_address(settings))


def _split(address: str) -> tuple[str, str, str, str, str]:
    try:
        parts = urlsplit(address)
    except ValueError:  # such as a bracket that never closes: whoever calls it says so
        return "", "", address, "", ""
    return parts.scheme, parts.netloc, parts.path, parts.query, parts.fragment
