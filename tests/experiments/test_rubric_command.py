"""`cotune rubric new|validate|show|explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cotune.agents.errors import UsageError
from cotune.experiments.commands.rubric import app
from cotune.rubrics.rubric_file import load_rubric, pack_names


def rubric(*words: object, stdin: str | None = None) -> Result:
    """Type a command; what a person did wrong is raised, as the command line expects."""
    result = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def started(tmp_path: Path) -> Path:
    path = tmp_path / "rubrics" / "my.yaml"
    rubric("new", path)
    return path


def test_a_new_rubric_is_sound_and_full_of_questions(started: Path) -> None:
    text = started.read_text(encoding="utf-8")

    assert load_rubric(started).id == "my_rubric"
    assert text.count("?") >= 10
    assert rubric("validate", started, "--agents", "planner, writer").exit_code == 0


def test_a_rubric_that_exists_is_not_overwritten(started: Path) -> None:
    with pytest.raises(UsageError, match="not overwritten"):
        rubric("new", started)


def test_validate_names_each_problem_on_a_line_of_its_own(started: Path) -> None:
    text = started.read_text(encoding="utf-8")
    text = text.replace("weight: 70", "weight: 60").replace("aggregate: minimum", "aggregate: sum")
    started.write_text(text, encoding="utf-8")
    result = rubric("validate", started, "--agents", "planner")
    lines = text.splitlines()

    problems = [line for line in result.stderr.splitlines() if line.startswith(f"{started}:")]
    places = [lines[int(line[len(str(started)) + 1 :].split(":")[0]) - 1] for line in problems]
    assert result.exit_code == 2
    assert [place.split("#")[0].strip().split(":")[0] for place in places] == [
        "domains", "agents", "agents", "aggregate",
    ]  # fmt: skip
    assert "4 problems" in result.stderr


@pytest.mark.parametrize("name", ["magic", "sera", "pace"])
def test_the_packs_name_the_grocery_assistants_agents(name: str) -> None:
    assert "is sound" in rubric("validate", name, "--assistant", "grocery").stdout


@pytest.mark.parametrize(
    "words", [["--agents", "a", "--assistant", "grocery"], ["--assistant", "fashion"]]
)
def test_agents_that_cannot_be_known_are_a_usage_error(words: list[str]) -> None:
    with pytest.raises(UsageError, match="--agents"):
        rubric("validate", "magic", *words)


@pytest.mark.parametrize("command", ["validate", "show"])
def test_an_unknown_rubric_lists_the_packs(command: str) -> None:
    with pytest.raises(UsageError, match="magic, pace"):
        rubric(command, "magick")


@pytest.mark.parametrize("name", pack_names())
def test_show_prints_every_criterion(name: str) -> None:
    text, content = rubric("show", name).stdout, json.loads(rubric("show", name, "--json").stdout)
    loaded = load_rubric(name)

    assert [criterion.id for criterion in loaded.criteria if criterion.id not in text] == []
    assert content["fingerprint"] == loaded.fingerprint
    assert len(content["criteria"]) == len(loaded.criteria)


SAID = json.dumps([{"criterion": "quantity", "value": 1}, {"criterion": "tone_brand", "value": 0}])


def test_explain_shows_the_calculation_from_a_file_or_from_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.json"
    path.write_text(SAID, encoding="utf-8")

    typed = rubric("explain", "magic", "--verdicts", "-", stdin=SAID).stdout
    read = rubric("explain", "magic", "--verdicts", path).stdout

    assert typed == read
    assert "(50 × 1.0000 + 10 × 0.0000) / 60 = 0.8333" in typed


def test_explain_as_json_has_the_score_and_the_steps() -> None:
    content = json.loads(rubric("explain", "magic", "--verdicts", "-", "--json", stdin=SAID).stdout)

    assert content["score"] == pytest.approx(50 / 60)
    assert content["domains"] == {"shopping_execution": 1.0, "conversational_quality": 0.0}
    assert content["steps"][0]["title"] == "Verdicts to criteria"


@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        ("magic", "[", "not JSON"),
        ("magic", '[{"criterion": "charm", "value": 1}]', "charm"),
        ("sera", '[{"criterion": "pii_echo", "value": 1}]', "one verdict per turn"),
    ],
)
def test_verdicts_that_do_not_fit_are_a_usage_error(name: str, said: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        rubric("explain", name, "--verdicts", "-", stdin=said)
