"""What the harness calls for an MM-CondChain task; the work is done by data, prompts and scorers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from condchain_tasks.data.images import FileImage
from condchain_tasks.prompts import PromptError, fingerprint, render
from condchain_tasks.scorers.condchain import linearised_path_f1, score_reply
from condchain_tasks.scorers.replies import Reply, read_reply
from condchain_tasks.scorers.statistics import mean
from condchain_tasks.tasks.metadata import task_metadata
from condchain_tasks.tasks.states import state

_SAMPLE = "If the mug is red, go on. Otherwise answer: (A1) left, (A2) right."


def __getattr__(name: str) -> dict[str, Any]:
    return task_metadata(__name__, name, _about)


def _about(task: str) -> dict[str, Any]:
    prompt = _prompt("gui" if "_gui" in task else "")
    if _SAMPLE not in render(prompt, instruction=_SAMPLE):
        raise PromptError(f"The prompt {prompt}.j2 does not show the instruction: it needs {{{{ instruction }}}}.")
    return {"prompt": fingerprint(prompt)}


def doc_to_text(doc: dict[str, Any]) -> str:
    """The prompt without its pictures."""
    return render(_prompt(doc["domain"]), instruction=doc["instruction"])


def doc_to_visual(doc: dict[str, Any]) -> list[FileImage]:
    """The pictures, undecoded."""
    return [FileImage(path) for path in doc["images"]]


def doc_to_messages(doc: dict[str, Any]) -> list[dict[str, Any]]:
    """One user turn: the picture and the text; in gui each picture after its number."""
    content: list[dict[str, Any]] = []
    for number, image in enumerate(doc_to_visual(doc), start=1):
        if doc["domain"] == "gui":
            content.append({"type": "text", "text": f"Image {number}:"})
        content.append({"type": "image", "url": image})
    content.append({"type": "text", "text": doc_to_text(doc)})
    return [{"role": "user", "content": content}]


def process_results(doc: dict[str, Any], results: Sequence[Reply | str]) -> dict[str, dict[str, Any]]:
    """Scores one reply.

    Args:
        doc: The row (see `data.condchain.Row`).
        results: The list of one reply.

    Returns:
        For each metric that the reply bears on its score, 0 or 100, with the pair that it is clustered by.
        `path_f1` carries everything that a later report needs.
    """
    reply = read_reply(results[0])
    score = score_reply(reply, doc["gold"])
    record = {key: value for key, value in doc.items() if key not in ("instruction", "images")} | {
        "frames": len(doc["images"]),
        "pred": score.strict.label,
        "pred_source": score.strict.source,
        "pred_lenient": score.lenient.label,
        "pred_lenient_source": score.lenient.source,
        "no_answer": score.no_answer,
        **state(reply),
    }

    def item(value: bool, **more: Any) -> dict[str, Any]:
        return {"score": 100.0 * value, "pair": doc["pair"], **more}

    return {
        f"{doc['path']}_acc": item(score.correct),
        "path_f1": item(score.correct, **record),
        "path_f1_lenient": item(score.correct_lenient, path=doc["path"]),
        "no_answer": item(score.no_answer),
        "failed": item(score.failed, failure=record["failure"]),
        "refused": item(record["refused"]),
    }


def path_f1(items: list[dict[str, Any]]) -> float | None:
    """Path F1, per cent; None, which lmms-eval prints as N/A, if a kind of path is missing, as under `--limit 1`.

    The harness takes its standard errors from the same list afterwards. They are those of path F1 once each entry
    is the reply's linearised share in it, so the list's entries are replaced (the entries themselves, which stand in
    the sample log, stay as they are).
    """
    is_true = [item["path"] == "true" for item in items]
    if len(set(is_true)) < 2:
        items[:] = [{"pair": item["pair"]} for item in items]
        return None
    terms = linearised_path_f1([item["score"] for item in items], is_true)
    items[:] = [{"score": term, "pair": item["pair"]} for term, item in zip(terms, items, strict=True)]
    return mean(terms)


def _prompt(domain: str) -> str:
    return "condchain_gui" if domain == "gui" else "condchain"
