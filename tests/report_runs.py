"""Folders of runs as lmms-eval writes them, made by hand: small ones for tests, large ones for the benchmark."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from condchain_tasks.data.ccrv import Row
from condchain_tasks.judging.verdicts import Answer, CsrVerdict, DcrVerdict, Missing
from condchain_tasks.scorers.condchain import score_reply
from condchain_tasks.tasks.ccrv import samples as ccrv
from condchain_tasks.tasks.vrex import samples as vrex

DATE = "20260101_080000"
LATER = "20260102_080000"
GENERATION: Mapping[str, Any] = {"until": [], "max_new_tokens": 16384, "temperature": 0.0, "do_sample": False}
FAILED = "[LMMS_EVAL_REQUEST_FAILED after 3 retries] HTTP 500"

Line = dict[str, Any]


def write_run(
    root: Path,
    model: str,
    task: str,
    samples: Iterable[Line],
    *,
    date: str = DATE,
    generation: Mapping[str, Any] = GENERATION,
    metadata: Mapping[str, Any] | None = None,
    arguments: str = "",
    expected: int | None = None,
    log_samples: bool = True,
    **results: Any,
) -> Path:
    """Writes what lmms-eval leaves of one task. Called again with the same model and date, it adds a task to the run.

    Args:
        root: The folder of `--output_path`.
        model: Such as "Qwen/Qwen2.5-VL-7B-Instruct".
        task: The task's name.
        samples: Lines of the log; see `condchain_line`, `ccrv_line` and `vrex_line`.
        date: Of the run.
        generation: The generation settings.
        metadata: What the task says of itself, as far as it is not the usual.
        arguments: Further arguments of the model, such as "seed=1".
        expected: Samples that the task has; as many as are given, if left out.
        log_samples: Whether a log is written.
        **results: Parts of the results, such as `config={"limit": 8}`; merged into what stands there.

    Returns:
        The log.
    """
    folder = root / "__".join(model.split("/")[-2:])
    folder.mkdir(parents=True, exist_ok=True)
    path, listed = folder / f"{date}_results.json", list(samples)
    value = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else _empty(model, date, arguments)
    size = len(listed) if expected is None else expected
    _merge(value, {"results": {task: {"alias": task}}, "n-samples": {task: {"original": size, "effective": size}}})
    said = _metadata(task) | dict(metadata or {})
    value["configs"][task] = {"task": task, "generation_kwargs": dict(generation), "metadata": said}
    _merge(value, results)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")
    log = folder / f"{date}_samples_{task}.jsonl"
    if log_samples:
        with log.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in listed)
    return log


def prompt(name: str, wording: str = "") -> dict[str, str]:
    """A prompt's fingerprint."""
    return {"name": name, "sha256": _sha(name + wording), "origin": "user" if wording else "package"}


def _empty(model: str, date: str, arguments: str) -> dict[str, Any]:
    seeds = {"random_seed": 0, "numpy_seed": 1234, "torch_seed": 1234, "fewshot_seed": 1234}
    named = f"pretrained={model}"
    return {
        "results": {},
        "configs": {},
        "n-samples": {},
        "config": {
            "model": "qwen2_5_vl",
            "model_args": f"{named},{arguments}" if arguments else named,
            "limit": None,
            "offset": 0,
            "gen_kwargs": "",
            **seeds,
        },
        "lmms_eval_version": "unknown@unknown",
        "date": date,
        "model_source": "qwen2_5_vl",
        "model_name": model,
        "model_name_sanitized": "__".join(model.split("/")[-2:]),
        "system_instruction_sha": None,
    }


def _metadata(task: str) -> dict[str, Any]:
    benchmark = task.partition("_")[0]
    said: dict[str, Any] = {"version": 1.0, "condchain_tasks": "0.1.0"}
    name = task.replace("_chrono", "") if benchmark == "condchain" else benchmark + "_mini" * task.endswith("_mini")
    said["data"] = {"source": "hub", "root": "/data", "revision": "main", "sha256": _sha(name), "remarks": {}}
    if benchmark == "condchain":
        return said | {"prompt": prompt("condchain_gui" if "_gui" in task else "condchain")}
    if benchmark == "ccrv":
        judge = {"model": "gpt-5.1", "prompts": [prompt("ccrv_judge_baseline")]}
        return said | {"prompts": [prompt("ccrv_baseline"), prompt("ccrv_constrained")], "judge": judge}
    return said | {"prompts": [prompt("vrex_answer")]}


def _merge(value: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, part in more.items():
        if isinstance(part, Mapping) and isinstance(value.get(name), dict):
            _merge(value[name], part)
        else:
            value[name] = part


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- lines of the log, scored by the package's own rules


def condchain_line(
    number: int, reply: str = "", *, domain: str = "natural", tokens: int | None = None, **more: Any
) -> Line:
    """One reply to MM-CondChain: even numbers are true paths, odd ones the false paths of the same chains.

    On the true path "F1" is right, on the false path "A1"; the right answer is given if there is no reply.
    """
    path = "false" if number % 2 else "true"
    gold = {"true": "F1", "false": "A1"}[path]
    reply = reply or f"Let me see. \\boxed{{{gold}}}"
    score = score_reply(reply, gold)
    pair = f"{domain}-{number // 2:04}"
    item = {"score": 100.0 * score.correct, "pair": pair}
    record = {
        **item,
        "id": pair,
        "domain": domain,
        "path": path,
        "image": f"images/{domain}/{pair}.png",
        "gold": gold,
        "gold_true": "F1",
        "gold_false": "A1",
        "labels": ["A1", "A2", "F1", "F2"],
        "diverge_layer": 1 + number // 2 % 3,
        "depth": 2 + number // 2 % 5,
        "operators": 1.5,
        "complexity": ("simple", "complex", "mixed")[number // 2 % 3],
        "frames": 1,
        "pred": score.strict.label,
        "pred_source": score.strict.source,
        "pred_lenient": score.lenient.label,
        "pred_lenient_source": score.lenient.source,
        "failed": score.failed,
        "no_answer": score.no_answer,
    }
    metrics = {
        f"{path}_acc": item,
        "path_f1": record | more,
        "path_f1_lenient": {"score": 100.0 * score.correct_lenient, "pair": pair, "path": path},
        "no_answer": {"score": 100.0 * score.no_answer, "pair": pair},
        "failed": {"score": 100.0 * score.failed, "pair": pair},
    }
    return _line(number, gold, reply, metrics, tokens)


def condchain_lines(pattern: str, domain: str = "natural") -> list[Line]:
    """One line a character: 1 right, 0 wrong, "-" failed, "?" without an answer."""
    replies = {"1": "", "0": "\\boxed{B2}", "-": FAILED, "?": "I cannot tell."}
    return [condchain_line(number, replies[one], domain=domain) for number, one in enumerate(pattern)]


def ccrv_line(
    number: int,
    layers: Sequence[int] | None = (1, 1, 1),
    y: str = "base",
    *,
    x: str = "X1",
    reply: str = "The ball rolls.",
) -> Line:
    """One reply to CCRV-Bench, in the task of all items; four questions an image.

    Args:
        number: Of the baseline question.
        layers: The judge's binaries; None for no verdict.
        y: "base", or "Y1" (forbids "ball"), "Y3" or "Y4" (at most three words).
        x: The causal dimension.
        reply: The model's.
    """
    image = f"{1000 + number // 4}"
    row = Row(
        key=f"{image}/{x}/{number % 4}",
        image_id=image,
        cluster="",
        x=x,
        y=y,
        setting="standard",
        image=f"VG_images_test/{image}.jpg",
        images=[],
        width=640,
        height=480,
        question="What rolls, and why?",
        base_question="What rolls, and why?",
        reference="The ball rolls, because it was pushed.",
        adapted="",
        rationale="",
        rubric_l1="Names the ball.",
        rubric_l2="Tells that it was pushed.",
        rubric_l3="Concludes that it rolls.",
        spec="",
        forbidden_terms=["ball"] if y == "Y1" else [],
        bbox_xyxy=[],
        margin=0.0,
        max_words=3 if y == "Y4" else 0,
        forbid_punctuation=False,
        single_line=y == "Y4",
    )
    r1, r2, r3 = layers or (0, 0, 0)
    verdict = Missing("No answer.") if layers is None else DcrVerdict(reasoning="So it is.", r1=r1, r2=r2, r3=r3)
    answers = {"dcr": Answer(verdict, calls=1)}
    if y == "Y3":
        answers["csr"] = Answer(CsrVerdict(reasoning="Yes.", csr=1), calls=0)
    record = ccrv.make_record(asdict(row), reply, {} if reply == FAILED else answers)
    order = {"base": 0, "Y1": 1, "Y2": 2, "Y3": 3, "Y4": 4}[y] + 5 * ["X1", "X2", "X3", "X4"].index(x)
    return _line(20 * number + order, row.reference, reply, ccrv.paired_metrics(record), None)


def vrex_line(number: int, rights: str, mode: str = "following", *, step: int = 0, replies: Sequence[str] = ()) -> Line:
    """One chain of V-REX; `rights` has a 1 for each step that is answered right. The categories take turns."""
    options = [{"text": f"Option {letter}", "answer": "Yes."} for letter in "ABCD"]
    steps = [{"question": f"Question {place}?", "gold": 2, "options": options} for place in range(len(rights))]
    doc = {
        "id": f"v{number}",
        "category": ("deduction", "guessing", "navigation", "retrieval")[number % 4],
        "scenario": "maps",
        "final_question": "Where does it end?",
        "mode": mode,
        "set": "standard",
        "blind": False,
        "image": ["images/map.png"],
        "step": step,
        "length": len(rights),
        "steps": steps[-1:] if mode == "direct" else steps,
    }
    asked = rights[-1:] if mode == "direct" else rights[step - 1 : step] if step else rights
    given = list(replies) or ["(C)" if right == "1" else "(A)" for right in asked]
    metric = "step_acc" if step else "final_acc"
    record = vrex.make_record(doc, given)
    return _line(number, "C", given if len(given) > 1 else given[0], {metric: record}, None)


def _line(number: int, target: str, reply: Any, metrics: Line, tokens: int | None) -> Line:
    counts = [None if tokens is None else {"input_tokens": 900, "output_tokens": tokens, "reasoning_tokens": None}]
    return {
        "doc_id": number,
        "target": target,
        "filtered_resps": reply,
        "token_counts": counts,
        "doc_hash": _sha(str(number)) * 4,
        "input_media": ["images/a.png"],
        **metrics,
        "input": "Look at the image and work through the instruction below.",
    }


# --- many


@dataclass(frozen=True)
class _Kind:
    """A task's lines, as templates.

    Attributes:
        task: The task's name.
        share: Of a model's samples.
        period: After how many lines all but the names come again.
        line: From a place below the period, and whether it is right, to a line.
        name: What stands in that line for its pair, image or chain.
        renamed: From the number of the period to what is to stand there.
    """

    task: str
    share: float
    period: int
    line: Callable[[int, bool], Line]
    name: Callable[[int], str]
    renamed: Callable[[int, int], str]


def _condchain_kind(domain: str) -> _Kind:
    return _Kind(
        f"condchain_{domain}",
        0.15,
        30,
        lambda place, right: condchain_line(place, "" if right else "\\boxed{B2}", domain=domain),
        lambda place: f"{domain}-{place // 2:04}",
        lambda place, turn: f"{domain}-{turn:05}-{place // 2:02}",
    )


_CELLS = [(x, y) for x in ("X1", "X2", "X3", "X4") for y in ("base", "Y1", "Y3", "Y4")]
_KINDS = (
    *map(_condchain_kind, ("natural", "chart", "gui")),
    _Kind(
        "ccrv",
        0.4,
        4 * len(_CELLS),
        lambda place, right: ccrv_line(place % 4, (1, 1, int(right)), _CELLS[place // 4][1], x=_CELLS[place // 4][0]),
        lambda place: "1000",
        lambda place, turn: f"{1000 + turn}",
    ),
    _Kind(
        "vrex_following",
        0.15,
        4,
        lambda place, right: vrex_line(place, "1101" if right else "1000"),
        lambda place: f'"v{place}"',
        lambda place, turn: f'"v{4 * turn + place}"',
    ),
)


def write_many(root: Path, models: int, samples: int, seed: int = 0) -> int:
    """Writes whole runs of many models over the three benchmarks, a hundred thousand lines a second.

    Args:
        root: The folder.
        models: How many.
        samples: Of all models together, about.
        seed: Of the scores.

    Returns:
        The samples that were written.
    """
    rng = random.Random(seed)
    skills = [rng.uniform(0.3, 0.9) for _ in range(models)]
    written = 0
    for kind in _KINDS:
        templates = [[_template(kind, place, bool(right)) for place in range(kind.period)] for right in (0, 1)]
        n = int(samples / models * kind.share)
        for number, skill in enumerate(skills):
            with write_run(root, f"lab/model-{number:02}", kind.task, [], expected=n).open(
                "w", encoding="utf-8"
            ) as log:
                for index in range(n):
                    turn, place = divmod(index, kind.period)
                    parts = templates[rng.random() < skill][place]
                    log.write(f'{{"doc_id": {index}{kind.renamed(place, turn).join(parts)}')
            written += n
    return written


def _template(kind: _Kind, place: int, right: bool) -> list[str]:
    """A line without its number, in parts between which its name stands."""
    line = kind.line(place, right)
    text = json.dumps(line, ensure_ascii=False) + "\n"
    return text.removeprefix(f'{{"doc_id": {line["doc_id"]}').split(kind.name(place))
