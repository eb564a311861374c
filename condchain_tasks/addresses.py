"""Addresses of servers, as they may stand in results and in keys: without anything secret."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_CALL = re.compile(r"(/chat)?/completions$", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}


def public_address(url: object) -> str:
    """Where a server is, in one form, without user, password, query and fragment.

    Args:
        url: An address as people and clients write it, or a client's URL object. It may lack its scheme, and may end
            in a slash or in the call, `/chat/completions`.

    Returns:
        Scheme, host, port and path, such as `https://host:8000/v1`; scheme and host in small letters, the scheme's own
        port left out. "" for None, for blank text, for what names no host, and where a password may stand in
        the host's place.
    """
    text = "".join(str(url or "").split())
    if not text:
        return ""
    if not _SCHEME.match(text):
        text = f"http://{text.lstrip('/')}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:  # a port that is no number, a bracket that never closes
        return ""
    # An @ further on may end a password with a slash or a question mark in it.
    if not host or "@" in unquote(host + parts.path + parts.query + parts.fragment):
        return ""
    scheme = parts.scheme.lower()
    named = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS.get(scheme):
        named += f":{port}"
    path = _CALL.sub("", re.sub(r"/{2,}", "/", parts.path).rstrip("/")).rstrip("/")
    return f"{scheme}://{named}{path}"
