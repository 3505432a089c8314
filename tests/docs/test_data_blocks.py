"""YAML, JSON and Python on the pages is what the models that read it take."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from cotune.agents.adapters.http_protocol import Asked, Completion, Description, Told
from cotune.experiments.calibration_config import CalibrationConfig
from cotune.experiments.config import RunConfig
from cotune.experiments.own_start import FOLDER
from cotune.optimizer.example import RecordedCall
from cotune.rubrics.annotation_sources.format import Format
from cotune.rubrics.gate import Thresholds
from cotune.rubrics.rubric import Rubric
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.verdict_file import read_verdicts
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory_json import trajectory_from_json

from .pages import Block, all_pages, commands
from .test_commands_parse import parse

BLOCKS = [block for page in all_pages() for block in page.blocks()]


def _config(content: Any) -> None:
    """Take a part of a configuration as well: what it must have besides is put in."""
    models = {"task": {"model": "scripted:grocery"}, "reflection": {"model": "scripted:grocery"}}
    given = content.get("models", {})
    RunConfig.model_validate({**content, "models": {**models, **given}})


def _scenarios(content: Any) -> None:
    for each in content:
        Scenario.model_validate(each)


def _verdicts(content: Any) -> None:
    read_verdicts(json.dumps(content), load_rubric("magic"), "a page")


def _completion(content: Any) -> None:
    Completion.model_validate(content)
    Told.model_validate(content["cotune"])


def _chat(content: Any) -> None:
    assert {"id", "metadata", "messages"} >= set(content)


def _github_job(content: Any) -> None:
    for job in content["jobs"].values():
        for step in job["steps"]:
            assert "uses" in step or "run" in step
            for words in commands(step.get("run", "")):
                if words[0] == "cotune":
                    parse(words)


READERS: list[tuple[set[str], Callable[[Any], object]]] = [
    ({"jobs"}, _github_job),
    ({"domains", "criteria"}, Rubric.model_validate),
    ({"annotations", "trajectories"}, CalibrationConfig.model_validate),
    ({"turns", "stop"}, trajectory_from_json),
    ({"choices"}, _completion),
    ({"messages", "cotune"}, lambda content: Asked.model_validate(content["cotune"])),
    ({"messages"}, _chat),
    ({"revision", "prompts"}, Description.model_validate),
    ({"inputs", "gold"}, RecordedCall.model_validate),
    ({"min", "max"}, Thresholds.model_validate),
    ({"values", "delimiter"}, Format.model_validate),
]
"""What reads a mapping that has these keys; any other is a configuration."""


def _read(content: Any) -> object:
    if isinstance(content, list):
        return _verdicts(content) if "criterion" in content[0] else _scenarios(content)
    for keys, read in READERS:
        if keys <= set(content):
            return read(content)
    return _config(content)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "yaml"], ids=str)
def test_yaml_is_what_its_reader_takes(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)  # the checks that `cotune init` writes
    _read(yaml.safe_load(block.text))


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "json"], ids=str)
def test_json_is_what_its_reader_takes(block: Block) -> None:
    _read(json.loads(block.text))


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "python"], ids=str)
def test_python_can_be_parsed(block: Block) -> None:
    compile(
        block.text, str(block), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
    )
