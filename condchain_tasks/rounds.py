"""Conversations whose next turn depends on the last reply, all of them in lock step, on every backend of lmms-eval.

Round r of all conversations that are still going is one `generate_until` call: a GPU or an API sees as much work at
once as it can take. Chat models get real turns, the pictures once, in the first; models without turns get one text
with the history in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from loguru import logger
from tqdm import tqdm

from condchain_tasks.scorers.replies import Failure, describe_failures, read_reply

REQUEST_TYPE = "generate_in_rounds"
"""The method of lmms-eval's models that runs conversations, and the type of the requests that it takes."""

MAX_ROUNDS = 64
"""No conversation goes on for longer."""

_NO_ANSWER = "(no answer)"  # of a reply that was nothing but reasoning; many servers refuse a turn without text

Message = dict[str, Any]
Generate = Callable[[list[Any]], list[Any]]


class Chain(Protocol):
    """A conversation, told from the side of the one who asks. It keeps no state: the replies so far decide."""

    def visuals(self) -> list[Any]:
        """The pictures of the first turn."""

    def turn(self, replies: Sequence[str]) -> str | None:
        """What is said next.

        Args:
            replies: All replies so far, without reasoning.

        Returns:
            The text of the next turn, or None if the conversation is over.
        """


def messages(chain: Chain, replies: Sequence[str]) -> list[Message]:
    """A conversation as chat messages, up to the turn that is to be answered next.

    Args:
        chain: The conversation.
        replies: All replies so far.

    Returns:
        User and assistant turns in lmms-eval's form; the first has the pictures before its text.

    Raises:
        ValueError: After these replies the conversation is over.
    """
    return _as_messages(chain, _turns(chain, replies), replies)


def text(chain: Chain, replies: Sequence[str]) -> str:
    """The same as one text, for models without turns.

    Raises:
        ValueError: After these replies the conversation is over.
    """
    return _as_text(_turns(chain, replies), replies)


def _as_messages(chain: Chain, turns: Sequence[str], replies: Sequence[str]) -> list[Message]:
    said: list[Message] = []
    for text, reply in zip(turns, (*replies, None), strict=True):
        content: list[Message] = [] if said else [{"type": "image", "url": image} for image in chain.visuals()]
        said.append({"role": "user", "content": [*content, {"type": "text", "text": text}]})
        if reply is not None:
            said.append({"role": "assistant", "content": [{"type": "text", "text": reply or _NO_ANSWER}]})
    return said


def _as_text(turns: Sequence[str], replies: Sequence[str]) -> str:
    first, *later = turns
    parts = [first]
    for reply, turn in zip(replies, later, strict=True):
        parts += [f"Your answer was:\n{reply or _NO_ANSWER}", turn]
    return "\n\n".join(parts)


def _turns(chain: Chain, replies: Sequence[str]) -> list[str]:
    turns = [chain.turn(replies[:number]) for number in range(len(replies) + 1)]
    if None in turns:
        raise ValueError(f"the conversation is over after {turns.index(None)} replies; there are {len(replies)}")
    return [turn for turn in turns if turn is not None]


@dataclass
class _Talk:
    """A conversation under way.

    Attributes:
        request: The harness's request.
        turns: What was said so far, with the turn that is to be answered next.
        replies: So far, as they came.
        plain: The same without reasoning: what the conversation goes on with.
        tokens: Token counts of each round; None of a round that reported none, as one from the cache.
        failure: Why the last request failed, which ended the conversation; None if none has.
    """

    request: Any
    turns: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    tokens: list[Any] = field(default_factory=list)
    failure: Failure | None = None

    def __post_init__(self) -> None:
        self._go_on()

    @property
    def chain(self) -> Chain:
        return self.request.args[1]  # type: ignore[no-any-return]

    @property
    def is_live(self) -> bool:
        """Whether there is a turn to be answered."""
        return len(self.turns) > len(self.replies)

    def take(self, reply: str, tokens: Any) -> None:
        """Takes a reply in. One of a failed request ends the conversation: its text must not be read as a reply."""
        read = replace(read_reply(reply), tags=self.request.args[3])
        self.replies.append(reply)
        self.plain.append(read.answer)
        self.tokens.append(tokens)
        self.failure = read.failure
        if read.failure is None and len(self.replies) < MAX_ROUNDS:
            self._go_on()

    def _go_on(self) -> None:
        turn = self.chain.turn(self.plain)
        if turn is not None:
            self.turns.append(turn)


def run_rounds(lm: Any, requests: Sequence[Any], generate: Generate) -> list[Any]:
    """Runs all conversations to their ends.

    Args:
        lm: The model. Its `is_simple` decides between one text and turns.
        requests: `Instance`s with the arguments (text, chain, generation settings, reasoning tags, document's number,
            task, split). With several ranks each rank has its own, and all make the same number of calls with
            the same number of requests, as models that are spread over ranks need.
        generate: The model's `generate_until`, or the response cache in front of it.

    Returns:
        For each request, in order, a `GenerationResult` with the list of its replies and, if every round reported its
        token counts, their sum.
    """
    from lmms_eval.api.instance import unwrap_generation_output

    talks = [_Talk(request) for request in requests]
    live = [talk for talk in talks if talk.is_live]
    with tqdm(total=len(talks), desc="rounds", unit=" chains", disable=getattr(lm, "rank", 0) != 0) as progress:
        progress.update(len(talks) - len(live))
        number = 0
        while wanted := _most_over_ranks(len(live)):
            number += 1
            progress.set_description(f"round {number}, {len(live)} chains live")
            batch = [_instance(lm, talk) for talk in live]
            # A rank with fewer chains sends one of its requests again and throws the reply away.
            padding = [_instance(lm, live[-1] if live else _Talk(talks[-1].request))] * (wanted - len(live))
            for talk, output in zip(live, generate(batch + padding), strict=False):
                reply, tokens = unwrap_generation_output(output)
                talk.take(reply, tokens)
            still = [talk for talk in live if talk.is_live]
            progress.update(len(live) - len(still))
            live = still
    if kinds := describe_failures(talk.failure for talk in talks):
        failed = sum(talk.failure is not None for talk in talks)
        logger.warning("{} of {} chains ended early because a request failed ({}).", failed, len(talks), kinds)
    return [_result(talk) for talk in talks]


def _instance(lm: Any, talk: _Talk) -> Any:
    """This round's request, in the form that this kind of model takes."""
    from lmms_eval.api.instance import Instance

    _, chain, settings, _, doc_id, task, split = talk.request.args
    turns, plain = list(talk.turns), list(talk.plain)
    history = _as_text(turns, plain)  # also what the response cache tells one round from another by
    arguments: tuple[Any, ...]
    if lm.is_simple:
        arguments = (history, dict(settings), lambda _: chain.visuals(), doc_id, task, split)
    else:
        arguments = (history, lambda _: _as_messages(chain, turns, plain), dict(settings), doc_id, task, split)
    return Instance(request_type="generate_until", arguments=arguments, idx=0, metadata=talk.request.metadata)


def _result(talk: _Talk) -> Any:
    from lmms_eval.api.instance import GenerationResult, TokenCounts

    if not talk.tokens or None in talk.tokens:
        return GenerationResult(talk.replies)  # a sum over some of the rounds would be taken for the whole
    sums = {}
    for name in ("input_tokens", "output_tokens", "reasoning_tokens"):
        counts = [count for tokens in talk.tokens if (count := getattr(tokens, name)) is not None]
        sums[name] = sum(counts) if counts else None
    return GenerationResult(talk.replies, TokenCounts(**sums))


def _most_over_ranks(live: int) -> int:
    import torch.distributed

    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return live
    counts = [0] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(counts, live)
    return max(counts)


def add_driver() -> None:
    """Gives every model of lmms-eval the method `generate_in_rounds`; calling this again changes nothing."""
    from lmms_eval.api.model import lmms

    def generate_in_rounds(self: Any, requests: list[Any]) -> list[Any]:
        return run_rounds(self, requests, self.generate_until)

    if not hasattr(lmms, REQUEST_TYPE):
        setattr(lmms, REQUEST_TYPE, generate_in_rounds)
