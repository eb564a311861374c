"""What identifies an evaluation beside its task's name: the model's server, and what is sent to the model.

A prompt's own hash says which template was meant. A task of the user's with another `doc_to_text`, a description, a
system instruction or a chat template sends something else under the same hash; so what is sent is hashed too.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from condchain_tasks import rounds
from condchain_tasks.addresses import public_address

_HASH_DIGITS = 16
_ADDRESSES = (  # where lmms-eval's backends, or their clients, keep it
    "client.base_url",
    "client.chat.completions._base_url",
    "client._api_client._http_options.base_url",
    "base_url",
    "api_url",
)
_VARIABLES = {"claude": "ANTHROPIC_BASE_URL", "gemini": "GOOGLE_GEMINI_BASE_URL"}  # clients that are made at each call
_KINDS = {"condchain": ("domain",), "ccrv": ("y", "setting"), "vrex": ("mode", "set", "blind", "step")}
"""By benchmark the columns that decide how a row is asked."""

_STEPS = 4
# With these all templates of a conversation are seen: after a reply that can be read, and after one that cannot.
_REPLIES = ("(A)", "I do not know.", "(B)")

Doc = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """What lmms-eval puts around a task's own text; see its command line.

    Attributes:
        system_instruction: Of `--system_instruction`.
        apply_chat_template: Whether the model's template is applied before the text reaches the model.
        fewshot_as_multiturn: Whether examples are turns.
    """

    system_instruction: str | None = None
    apply_chat_template: bool = False
    fewshot_as_multiturn: bool = False


def server_of(lm: Any) -> str:
    """The address of the server that answers for a model, without secrets; "" for a model on this machine.

    Args:
        lm: A model of lmms-eval.
    """
    module = type(lm).__module__
    backend = module.rpartition(".")[2]
    written = [_attribute(lm, path) for path in _ADDRESSES]
    written += [os.environ.get(_VARIABLES.get(backend, ""))]
    if backend == "litellm":
        provider = str(getattr(lm, "model_version", "")).partition("/")[0]
        written += [os.environ.get(f"{provider.upper()}_API_BASE")]
    written += [getattr(sys.modules.get(module), "API_URL", None)]
    return next((address for one in written if (address := public_address(one))), "")


def requests_sha256(task: Any, lm: Any, context: Context) -> str:
    """Hash of what a task sends to a model.

    It is taken over documents of fixed content, one for each way of asking that the task has, so it does not depend on
    `--limit`, on ranks or on the records' own text; pictures count by their places. Chat models get turns and others
    one text: their hashes are the same if the text and its place beside the pictures are, as in MM-CondChain's natural
    and chart domains.

    Args:
        task: A task of lmms-eval that has rows.
        lm: The model: its `is_simple` decides between turns and text.
        context: What is put around the task's own text.

    Returns:
        16 hexadecimal digits.
    """
    try:
        sent: Any = [_sent(task, lm, doc, context) for doc in probes(task)]
    except Exception:  # a task of the user's can do anything with a row
        sent = [_source(getattr(task.config, name)) for name in ("description", "doc_to_text", "doc_to_messages")]
        sent += [context.system_instruction, context.apply_chat_template]
    text = json.dumps([sent, _own_system_prompt(lm)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


def sends_as_packaged(task: Any, lm: Any) -> bool:
    """Whether a task sends what this package's own of its benchmark does, a system instruction aside."""
    try:
        return all(_sent(task, lm, doc, Context()) == _packaged(doc, lm, is_conversation(task)) for doc in probes(task))
    except Exception:
        return False


def probes(task: Any) -> Iterator[Doc]:
    """Documents of fixed content: one for each combination of the columns that decide how a row is asked."""
    benchmark = _benchmark(task.task_docs[0])
    kinds = _KINDS.get(benchmark, ())
    first: dict[tuple[Any, ...], int] = {}
    for number, kind in enumerate(zip(*(task.task_docs[name] for name in kinds), strict=True)):
        first.setdefault(_asked(benchmark, kind), number)
    for key in sorted(first, key=str) or [()]:
        row = task.task_docs[first.get(key, 0)]
        doc = {name: row[name] if name in kinds else _blank(name, row[name]) for name in row}
        yield from _with_steps(doc) if benchmark == "vrex" else [doc]


def _asked(benchmark: str, kind: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*kind[:-1], kind[-1] > 0) if benchmark == "vrex" else kind


def _benchmark(row: Mapping[str, Any]) -> str:
    return next((name for name, columns in _KINDS.items() if row.keys() >= set(columns)), "")


def _blank(name: str, value: Any) -> Any:
    """Another value of the same type, the same for all rows."""
    if isinstance(value, str):
        return f"<{name}>"
    if isinstance(value, list):
        # Pictures are opened by their paths.
        return [value[0] if name == "images" else _blank(name, value[0])] * 2 if value else []
    if isinstance(value, dict):
        return {key: _blank(key, item) for key, item in value.items()}
    return type(value)(1) if isinstance(value, (int, float)) else value


def _with_steps(doc: Doc) -> Iterator[Doc]:
    """V-REX: a chain of fixed length; of a row with a given history, each of its steps."""
    count = 1 if doc["mode"] == "direct" else _STEPS
    steps = [
        {
            "question": f"<question {number}>",
            "answer": f"<answer {number}>",
            "gold": 0,
            "options": [
                {"text": f"<option {letter} of {number}>", "answer": f"<answer {letter} of {number}>", "source": ""}
                for letter in "abc"
            ],
        }
        for number in range(1, count + 1)
    ]
    for step in range(1, count + 1) if doc["step"] else (0,):
        yield doc | {"steps": steps, "length": count, "step": step}


def _sent(task: Any, lm: Any, doc: Doc, context: Context) -> Any:
    if is_conversation(task):
        return _conversation(task.chain(doc), lm)
    if not lm.is_simple:
        return _turns(task.doc_to_messages(doc))
    template = lm.apply_chat_template if context.apply_chat_template else None
    text = task.fewshot_context(
        doc, 0, context.system_instruction, context.apply_chat_template, context.fewshot_as_multiturn, template
    )
    return _one_turn(len(task.doc_to_visual(doc) or []), text)


def _packaged(doc: Doc, lm: Any, in_rounds: bool) -> Any:
    hooks = import_module(f"condchain_tasks.tasks.{_benchmark(doc)}.hooks")
    if in_rounds:
        return _conversation(hooks.chains.chain_of(doc), lm)
    if not lm.is_simple:
        return _turns(hooks.doc_to_messages(doc))
    return _one_turn(len(hooks.doc_to_visual(doc)), hooks.doc_to_text(doc))


def is_conversation(task: Any) -> bool:
    """Whether a task's documents are conversations; see `tasks.rounds_task`."""
    return callable(getattr(task, "chain", None))


def _conversation(chain: rounds.Chain, lm: Any) -> Any:
    replies: list[str] = []
    for reply in _REPLIES:
        if chain.turn([*replies, reply]) is None:
            break
        replies.append(reply)
    if lm.is_simple:
        return _one_turn(len(chain.visuals()), rounds.text(chain, replies))
    return _turns(rounds.messages(chain, replies))


def _one_turn(pictures: int, text: Any) -> Any:
    return [["user", [*["image"] * pictures, ["text", text]]]]


def _turns(messages: Sequence[Mapping[str, Any]]) -> Any:
    return [[turn["role"], [*map(_part, _parts(turn["content"]))]] for turn in messages]


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _part(part: Mapping[str, Any]) -> Any:
    return ["text", part["text"]] if part["type"] == "text" else part["type"]


def _own_system_prompt(lm: Any) -> Any:
    """The system prompt that the user gave the backend; None if it is the backend's own."""
    given = getattr(lm, "system_prompt", None)
    parameter = inspect.signature(type(lm).__init__).parameters.get("system_prompt")
    return None if parameter is None or given == parameter.default else given


def _source(value: Any) -> str:
    try:
        return inspect.getsource(value)
    except (OSError, TypeError):
        return repr(value)


def _attribute(owner: Any, path: str) -> Any:
    for name in path.split("."):
        owner = getattr(owner, name, None)
    return owner
