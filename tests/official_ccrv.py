"""Small datasets in CCRV-Bench's official layout."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from official import picture

BASELINE = "benchmark_with_rubrics_top100.json"
CONSTRAINED = "benchmark_main_set_with_rubrics_top100.json"
DIMENSIONS = ("X1_discovery", "X2_prediction", "X3_diagnosis", "X4_intervention")
SIZE = (64, 48)

CUP = {"xyxy": [10, 4, 30, 20], "xywh": [10, 4, 20, 16]}
SHELF = {"xyxy": [2, 20, 60, 26], "xywh": [2, 20, 58, 6]}


def rubric(what: str) -> dict[str, str]:
    """The three lines that a judge looks for."""
    return {
        "L1_perception_check": f"Does {what} name the cup and the shelf? (Yes/No)",
        "L2_interaction_check": f"Does {what} say that the shelf carries the cup? (Yes/No)",
        "L3_causal_check": f"Does {what} say that the cup therefore stays up? (Yes/No)",
    }


def question(image_id: int, x: str, index: int) -> dict[str, Any]:
    """A baseline question."""
    return {
        "question_text": f"What keeps cup {index} of picture {image_id} up? ({x})",
        "ground_truth_answer": f"The shelf carries cup {index}, so it stays up.",
        "target_object_id": 7,
        "causal_rationale" if x == "X4_intervention" else "rationale": "The shelf pushes up against the cup's weight.",
        "evaluation_rubric": rubric("the answer"),
    }


def node(number: int, name: str, box: dict[str, list[int]]) -> dict[str, Any]:
    """An entry of a symbol map."""
    x, y, w, h = box["xywh"]
    return {
        "object_id": number,
        "true_name": name,
        "bbox_xywh": box["xywh"],
        "bbox_xyxy": box["xyxy"],
        "center_xy": [x + w / 2, y + h / 2],
    }


def forms(x: str, index: int) -> list[dict[str, Any]]:
    """The four constrained forms; Y1 states the boxes as xyxy for the first question and as xywh for the second."""
    way = "xywh" if index else "xyxy"
    forms = [
        {
            "constraint_id": "Y1",
            "constrained_question": f"- Node_A at {CUP[way]}\n- Node_B at {SHELF[way]}\nWhat keeps Node_A up?",
            "adapted_ground_truth": "Node_B carries Node_A.",
            "constraint_spec": {
                "csr_rule": "forbidden_term_scan",
                "symbol_map": {"Node_A": node(7, "cup", CUP), "Node_B": node(8, "shelf", SHELF)},
                "forbidden_terms": ["cup", "cups", "shelf", "shelfs"],
            },
        },
        {
            "constraint_id": "Y2",
            "constrained_question": "Mark what keeps the cup up.\nCoordinate: [x, y]\nExplanation: <reason>",
            "adapted_ground_truth": "Coordinate: [31, 23]\nExplanation: Here the shelf carries the cup's weight.",
            "constraint_spec": {
                "csr_rule": "grounded_causal_explanation",
                "target_true_name": "shelf",
                "target_bbox_xywh": SHELF["xywh"],
                "target_bbox_xyxy": SHELF["xyxy"],
                "target_center_xy": [31.0, 23.0],
                "csr_bbox_margin_fraction": 0.075,
            },
        },
        {
            "constraint_id": "Y3",
            "constrained_question": "Check this claim: the cup hangs from a string. What keeps the cup up?",
            "adapted_ground_truth": "The claim is false, there is no string; the shelf carries the cup.",
            "constraint_spec": {
                "csr_rule": "contradiction_refusal",
                "original_ground_truth": f"The shelf carries cup {index}, so it stays up.",
                "expected_behavior": "first_refute_then_reason",
                "false_premise": "The cup “hangs” from a string.",
            },
        },
        {
            "constraint_id": "Y4",
            "constrained_question": "Name only what keeps the cup up\n\nConstraint: 4 words or fewer, no punctuation.",
            "adapted_ground_truth": "shelf carries cup",
            "constraint_spec": {
                "csr_rule": "dynamic_word_limit",
                "forbid_punctuation": True,
                "forbid_extra_text": True,
                "allowed_max_words": 4,
            },
        },
    ]
    for form in forms:
        form["x_dimension"] = x
        form["evaluation_rubric_main_set"] = rubric(f"the {form['constraint_id']} answer")
    return copy.deepcopy(forms)


def baseline(image_id: int) -> dict[str, Any]:
    """An image's entry in the baseline file."""
    return {
        "image_id": image_id,
        "image_path_relative": f"ICCR/VG_images_test/{image_id}.jpg",
        "primary_cluster": "supporting",
        "node_count": 2,
        "questions": {x: [question(image_id, x, index) for index in range(2)] for x in DIMENSIONS},
    }


def constrained(image_id: int) -> dict[str, Any]:
    """An image's entry in the constrained file."""
    entry = baseline(image_id)
    for x, questions in entry["questions"].items():
        for index, item in enumerate(questions):
            item["main_set_versions"] = forms(x, index)
    return entry


def write_entries(root: Path, name: str, entries: list[dict[str, Any]]) -> Path:
    """Writes one of the two files."""
    path = root / name
    path.write_text(json.dumps(entries, indent=2, ensure_ascii=False), encoding="utf-8")
    return path


def write_dataset(root: Path, images: int = 2) -> Path:
    """Writes both files and the pictures, whose ids fall as the files go on: 40, 39, ..."""
    ids = [40 - number for number in range(images)]
    for image_id in ids:
        picture(root / "VG_images_test" / f"{image_id}.jpg", f"{image_id}", SIZE)
    write_entries(root, BASELINE, [baseline(image_id) for image_id in ids])
    write_entries(root, CONSTRAINED, [constrained(image_id) for image_id in ids])
    return root
