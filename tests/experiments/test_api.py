"""cotune from Python: the same as the commands, in calls."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import cotune
from cotune.agents.errors import UsageError
from cotune.agents.prompts import PromptBundle
from cotune.experiments.api import configured
from cotune.experiments.config import RunConfig
from cotune.experiments.optimization import Optimization

from .command_line import cotune as typed_cotune
from .command_line import record
from .system_runs import typed, write_config


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("api")


@pytest.fixture(scope="module")
def found(folder: Path) -> Optimization:
    return cotune.optimize_system(write_config(folder), progress=False)


def test_a_system_is_optimized_as_by_the_command(folder: Path, found: Optimization) -> None:
    assert found.record.conclusion == "improved"
    assert found.report.is_file()
    assert found.tracking is None
    assert PromptBundle.load(found.folder / "prompts") == found.prompts
    assert typed_cotune(*typed(folder / "system.yaml")).code == 0
    again = record(folder / "cotune-runs")
    changing = {"invocation", "command"}
    assert again.model_dump(exclude=changing) == found.record.model_dump(exclude=changing)


def test_a_result_shows_itself(found: Optimization) -> None:
    shown = found._repr_html_()
    assert "Improved: on 16 unseen examples" in shown
    assert "This is a simulation" in shown
    assert str(found.report) in shown
    frame = found.to_dataframe()
    assert len(frame) == len(found.record.candidates)
    assert "shopping_execution" in frame.columns


def test_runs_and_prompts_are_compared(folder: Path, found: Optimization) -> None:
    seed = found.folder / "test" / "seed.verdicts.jsonl"
    compared = cotune.compare(seed, found.folder)
    assert compared.found.held_out.conclusion == found.record.conclusion
    assert "B is better" in compared._repr_html_()
    assert "This is a simulation" in compared._repr_html_()
    frame = compared.to_dataframe()
    assert list(frame.index[:1]) == ["score"]
    found.record.seed.bundle.save(folder / "seed")
    config = folder / "system.yaml"
    played = cotune.compare(folder / "seed", found.folder, config, progress=False)
    same = ["a", "b", "difference", "n"]
    assert played.to_dataframe()[same].equals(frame[same])


def test_a_comparison_that_means_nothing_is_refused(folder: Path, found: Optimization) -> None:
    seed = found.folder / "test" / "seed.verdicts.jsonl"
    with pytest.raises(UsageError, match="name two"):
        cotune.compare(found.folder, found.folder)
    with pytest.raises(UsageError, match="name two"):
        cotune.compare(found.folder, found.folder, folder / "system.yaml", progress=False)
    with pytest.raises(UsageError, match="split is about prompts"):
        cotune.compare(seed, found.folder, split="val")
    with pytest.raises(UsageError, match="agent is about prompts"):
        cotune.compare(seed, found.folder, agent="router")
    with pytest.raises(UsageError, match="seed is about prompts"):
        cotune.compare(seed, found.folder, seed=1)


def test_conversations_are_played_and_judged_also_in_a_notebook(folder: Path) -> None:
    config = folder / "system.yaml"

    async def notebook() -> None:
        played = cotune.simulate(config, scenarios=5, progress=False, out=folder / "played")
        assert played.summary.conversations == 5
        verdicts = folder / "v.jsonl"
        tally = cotune.judge(played.trajectories, "magic", verdicts, progress=False)
        assert tally.score.n == 5
        assert verdicts.is_file()

    asyncio.run(notebook())


def test_a_router_is_optimized_with_changed_settings(tmp_path: Path) -> None:
    assert typed_cotune("init", tmp_path / "shop").code == 0
    config = configured(tmp_path / "shop" / "cotune.yaml", out=tmp_path / "runs", seed=7)
    models = {"task": {"model": "scripted:grocery"}}
    found = cotune.optimize_agent("router", config, models=models, progress=False)
    assert found.record.config["seed"] == 7
    assert found.record.simulated
    assert found.folder.parent == tmp_path / "runs"


def test_what_is_not_in_a_configuration_is_refused(folder: Path) -> None:
    config = write_config(folder)
    with pytest.raises(UsageError, match=r"sed: .*seed"):
        configured(config, sed=7)
    with pytest.raises(UsageError, match=r"limits\.rollouts"):
        configured(config, limits={"rollouts": 0})
    assert isinstance(configured(config), RunConfig)


def test_prompts_load_without_the_optimizer() -> None:
    """In a process of its own: this one has imported everything."""
    code = (
        "import sys, cotune; cotune.load_bundle; "
        "print(sorted({'dspy', 'gepa', 'mlflow', 'pydantic', 'litellm'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'optimise'"):
        cotune.optimise  # noqa: B018
