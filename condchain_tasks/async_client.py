"""Mends lmms-eval's models with an asynchronous client when they are asked more than once.

`async_openai` starts an event loop in each call of `generate_until`. The client keeps connections that were opened in
one loop, and they fail in the next: in the second round of a conversation, in the second type of request of a run, in
the second slice of what the response cache keeps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_MARK = "_condchain_tasks_fresh_connections"


def mend_async_clients() -> None:
    """Gives such models new connections for each call; calling this again changes nothing."""
    from lmms_eval.api.model import lmms

    create: Callable[..., Any] = lmms.create_from_arg_string.__func__
    if getattr(lmms, _MARK, False):
        return

    @functools.wraps(create)
    def create_mended(cls: Any, *args: Any, **kwargs: Any) -> Any:
        lm = create(cls, *args, **kwargs)
        if type(getattr(lm, "client", None)).__name__ == "AsyncOpenAI":
            lm.generate_until = _on_new_connections(lm, lm.generate_until)
        return lm

    lmms.create_from_arg_string = classmethod(create_mended)
    setattr(lmms, _MARK, True)


def _on_new_connections(lm: Any, generate: Callable[[list[Any]], list[Any]]) -> Callable[[list[Any]], list[Any]]:
    def generate_until(requests: list[Any]) -> list[Any]:
        import openai

        lm.client = lm.client.copy(http_client=openai.DefaultAsyncHttpxClient())
        return generate(requests)

    return generate_until
