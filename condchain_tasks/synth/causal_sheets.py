"""A page that shows each picture beside everything that the dataset says of it, for a person to check."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment

from condchain_tasks.data.ccrv import CONSTRAINED_FILE, PICTURES
from condchain_tasks.synth.causal_art import HEIGHT, WIDTH
from condchain_tasks.synth.causal_records import SceneFacts

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>CCRV-Bench, embedded scenes</title><style>
body { font: 15px/1.45 sans-serif; margin: 24px auto; max-width: 1400px; color: #202020 }
section { border-top: 2px solid #202020; padding: 16px 0 }
figure { position: sticky; top: 8px; margin: 0 }
.scene { display: grid; grid-template-columns: {{ width }}px 1fr; gap: 24px }
svg { position: absolute; left: 0; top: 0 } svg rect { fill: none; stroke: #d0107c }
svg text { fill: #d0107c; font-size: 13px; paint-order: stroke; stroke: white; stroke-width: 3px }
pre { font: inherit; white-space: pre-wrap; margin: 0 0 8px } .answer { color: #0b6b2c } .false { color: #b3261e }
</style></head><body>
<h1>Embedded scenes</h1>
<p>Everything in green must be true of the picture, and every premise in red false.</p>
{% for scene, record in scenes %}<section>
<h2>{{ scene.image_id }}: {{ scene.kind }}</h2>
<div class="scene"><div><figure>
<img src="../{{ pictures }}/{{ scene.image_id }}.jpg" width="{{ width }}" height="{{ height }}" alt="{{ scene.kind }}">
<svg width="{{ width }}" height="{{ height }}">{% for thing, box in scene.boxes.items() %}
<rect x="{{ box[0] }}" y="{{ box[1] }}" width="{{ box[2] - box[0] }}" height="{{ box[3] - box[1] }}"/>
<text x="{{ box[0] + 3 }}" y="{{ box[1] + 14 }}">{{ scene.symbols[thing] }} {{ scene.graph.thing(thing).name }}</text>
{% endfor %}</svg></figure></div><div>
{% for dimension, questions in record.questions.items() %}{% for question in questions %}
<h3>{{ dimension }}, {{ loop.index0 }}</h3>
<pre>{{ question.question_text }}</pre><pre class="answer">{{ question.ground_truth_answer }}</pre>
<pre>{{ question.rationale }}</pre>
<ul>{% for line in question.evaluation_rubric.values() %}<li>{{ line }}</li>{% endfor %}</ul>
{% for form in question.main_set_versions %}<details><summary>{{ form.constraint_id }} {{ form.constraint_name }}:
<span class="answer">{{ form.adapted_ground_truth }}</span></summary><pre>{{ form.constrained_question }}</pre>
{% if form.constraint_spec.false_premise %}<pre class="false">{{ form.constraint_spec.false_premise }}</pre>{% endif %}
</details>{% endfor %}{% endfor %}{% endfor %}
</div></div></section>{% endfor %}
</body></html>
"""


def write_contact_sheet(root: Path, scenes: Sequence[SceneFacts]) -> None:
    """Writes `contact_sheet/ccrv.html` into a dataset's folder, whose other files are there already."""
    records: list[Mapping[str, Any]] = json.loads((root / CONSTRAINED_FILE).read_text(encoding="utf-8"))
    page = Environment(autoescape=True).from_string(_PAGE)
    text = page.render(scenes=list(zip(scenes, records, strict=True)), pictures=PICTURES, width=WIDTH, height=HEIGHT)
    (root / "contact_sheet").mkdir()
    (root / "contact_sheet" / "ccrv.html").write_text(text, encoding="utf-8", newline="\n")
