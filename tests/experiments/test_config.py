from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from cotune import experiments
from cotune.agents.errors import UsageError
from cotune.experiments.config import config_schema, load_config

STARTER = Path(str(experiments.__file__)).parent / "starter" / "cotune.yaml"
GOOD = """\
# What a run needs.
agents:
  router:
    examples: examples/routing
    rubric: grocery_routing
  selector: {examples: examples/selector, rubric: mine.yaml}
models:
  task: {model: "scripted:grocery"}
proposer: lessons
limits:
  rollouts: 100
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "run.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


Written = Callable[[str], Path]


def complaint(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_config(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_paths_are_relative_to_the_file_and_packs_are_names(written: Written) -> None:
    path = written(GOOD.replace("proposer", "prompts: mine\nproposer"))
    config = load_config(path)
    assert config.agents["router"].examples == path.parent / "examples" / "routing"
    assert config.agents["router"].rubric == "grocery_routing"
    assert config.agents["selector"].rubric == str(path.parent / "mine.yaml")
    assert config.prompts == path.parent / "mine"
    assert config.out == path.parent / "cotune-runs"


def test_an_absolute_path_stays_as_it_is(written: Written, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    config = load_config(written(f"{GOOD}out: {elsewhere}\n"))
    assert config.out == elsewhere


def test_the_starter_is_a_good_configuration(tmp_path: Path) -> None:
    copy = tmp_path / "cotune.yaml"
    copy.write_text(STARTER.read_text(encoding="utf-8"), encoding="utf-8")
    assert set(load_config(copy).agents) >= {"router", "search", "selector"}


def test_the_engine_gets_what_the_file_says(written: Written) -> None:
    config = load_config(written(f"{GOOD}seed: 7\nsearch: {{minibatch: 9}}\n"))
    engine = config
    assert (engine.seed, engine.limits.rollouts, engine.search.minibatch) == (7, 100, 9)


def test_an_agent_that_is_not_configured_is_named_with_those_that_are(written: Written) -> None:
    config = load_config(written(GOOD))
    assert config.agent_task("router") is config.agents["router"]
    with pytest.raises(UsageError, match=r"'cart'.*router, selector"):
        config.agent_task("cart")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # unknown fields
        ("proposer:", "propser:", "Line 9, propser: no such field; did you mean 'proposer'?"),
        ("    rubric:", "    rubrik:", "Line 5, agents.router.rubrik: no such field; did you mean"),
        ('{model: "s', '{temprature: 1, model: "s', "Line 8, models.task.temprature: no such fie"),
        ("rollouts: 100", "rollouts: 100\n  euros: 3", "Line 12, limits.euros: no such field; all"),
        # wrong types and values out of range
        (
            "rollouts: 100",
            "rollouts: many",
            "Line 11, limits.rollouts: found 'many'; expected a whole number.",
        ),
        (
            "rollouts: 100",
            "rollouts: 0",
            "Line 11, limits.rollouts: found 0; expected a number greater th",
        ),
        (
            "    rubric: grocery_routing",
            "    rubric: ''",
            "Line 5, agents.router.rubric: found",
        ),
        (
            "limits:\n  rollouts: 100",
            "limits: 100",
            "Line 10, limits: found 100; expected a mapping with rollouts",
        ),
        (
            "proposer: lessons",
            "seed: -1",
            "Line 9, seed: found -1; expected a number of at least 0",
        ),
        (
            "proposer: lessons",
            "fault_threshold: 1.5",
            "Line 9, fault_threshold: found 1.5; expected",
        ),
        (
            "proposer: lessons",
            "test: {confidence: 2}",
            "Line 9, test.confidence: found 2; expected",
        ),
        # bad literals
        (
            "proposer: lessons",
            "proposer: guess",
            "Line 9, proposer: found 'guess'; allowed: 'lessons' or",
        ),
        (
            "proposer: lessons",
            "assistant: bank",
            "Line 9, assistant: found 'bank'; expected a mapping such as {kind: grocery, …}",
        ),
        # missing fields
        ("    examples: examples/routing\n", "", "Line 3, agents.router.examples: this field is "),
        (
            'models:\n  task: {model: "scripted:grocery"}\n',
            "",
            "models: the assistant 'grocery' needs 'task: {model: …}'",
        ),
        ('{model: "scripted:grocery"}', "{}", "Line 8, models.task.model: this field is missing"),
        # not YAML
        ("  rollouts: 100", "  rollouts: [100", "is not valid YAML, line 12"),
        (
            "proposer: lessons",
            "proposer: lessons\nproposer: lessons",
            "line 10: 'proposer' is",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line(written: Written, old: str, new: str, said: str) -> None:
    assert old in GOOD
    assert said in complaint(written(GOOD.replace(old, new, 1)))


def test_what_is_allowed_is_said(written: Written) -> None:
    assert "'lessons' or 'reflection'" in complaint(written(GOOD.replace("lessons", "x")))


def test_all_mistakes_are_named_at_once(written: Written) -> None:
    message = complaint(written(GOOD.replace("lessons", "x").replace("100", "x")))
    assert "Line 9, proposer" in message
    assert "Line 11, limits.rollouts" in message


@pytest.mark.parametrize("text", ["", "- a\n", "agents"])
def test_what_is_no_mapping_is_refused(written: Written, text: str) -> None:
    assert "must be a mapping; found" in complaint(written(text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "No such file" in complaint(tmp_path / "nowhere.yaml")


def test_reflection_needs_a_model(written: Written) -> None:
    reflective = GOOD.replace("lessons", "reflection")
    assert "models.reflection" in complaint(written(reflective))
    model = '  reflection: {model: "openai/big"}\nproposer'
    assert load_config(written(reflective.replace("proposer", model))).proposer == "reflection"


def test_a_kind_of_customer_is_judged_as_its_kind(written: Written) -> None:
    for user, said in (
        ("agenda", "simulation.user: found 'agenda'; expected a mapping such as {kind: agenda, …}"),
        ("{kind: agneda}", "simulation.user.kind: found 'agneda'; did you mean 'agenda'?"),
        ("{kind: llm, personnas: x}", "simulation.user.personnas: no such field; did you mean"),
        ("{kind: fixed, messages: [' ']}", "simulation.user.messages entry 1: found ' '; a cus"),
    ):
        assert said in complaint(written(f"{GOOD}simulation: {{user: {user}}}\n"))


def test_nothing_but_a_model_is_needed(written: Written) -> None:
    config = load_config(written("models: {task: {model: scripted:grocery}}"))
    assert config.limits.rollouts is None
    assert config.models.of_customers == config.models.task


def test_the_schema_accepts_a_good_file_and_refuses_a_bad_one() -> None:
    schema = json.loads(config_schema())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for good in (GOOD, STARTER.read_text(encoding="utf-8")):
        assert [error.message for error in validator.iter_errors(yaml.safe_load(good))] == []
    for bad in ("proposer: guess", "propser: lessons"):
        assert not validator.is_valid(yaml.safe_load(GOOD.replace("proposer: lessons", bad)))
