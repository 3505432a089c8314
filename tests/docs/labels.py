"""A folder as somebody has it who let people label conversations: eighty talks and their labels."""

from __future__ import annotations

from pathlib import Path

import yaml

from cotune.rubrics.annotation import write_annotations
from cotune.simulation.trajectory_file import write_trajectories

from ..optimizer.judged_talk import RUBRIC, annotated, is_kept, talk

_COUNT = 80
_CHAT = """{"id": "tea-1", "messages": [{"role": "user", "content": "Green tea?"}, \
{"role": "assistant", "content": "Here it is."}]}
"""


def write_labels(folder: Path) -> None:
    """Write conversations, a rubric, and labels as cotune and as a table has them."""
    records = [talk(number, is_kept(number)) for number in range(_COUNT)]
    write_trajectories(folder / "trajectories.jsonl", (one.trajectory for one in records))
    labels = annotated(_COUNT, is_kept)
    write_annotations(folder / "annotations.jsonl", labels)
    rubric = RUBRIC.model_dump(mode="json", exclude_none=True)
    (folder / "mine.yaml").write_text(yaml.safe_dump(rubric), encoding="utf-8")
    rows = [f"{one.conversation},{one.criterion},{one.annotator},{one.value:g}" for one in labels]
    table = "\n".join(["conversation,criterion,annotator,value", *rows])
    (folder / "labels.csv").write_text(table + "\n", encoding="utf-8")
    (folder / "logs.jsonl").write_text(_CHAT.replace("\\\n", ""), encoding="utf-8")
