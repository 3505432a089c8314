"""Scenario files: what is sound is read, and every complaint says where and what to do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.errors import UsageError
from cotune.simulation.scenario import ItemErrand, Outcome, Scenario
from cotune.simulation.scenario_file import (
    check_scenarios,
    compact,
    load_scenarios,
    scenario_path,
    write_scenarios,
)

DOCS = Path(__file__).parents[2] / "docs" / "scenarios.md"


def minimal(id_: str = "s-1", **fields: Any) -> dict[str, Any]:
    return {"id": id_, "family": "f", "goal": "Shop.", **fields}


def jsonl(folder: Path, *entries: Any) -> Path:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in entries]
    path = folder / "scenarios.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def written(folder: Path, text: str) -> Path:
    path = folder / "scenarios.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_pack_is_known_by_name() -> None:
    assert load_scenarios("grocery") == load_scenarios(scenario_path("grocery"))


def test_the_example_of_the_docs_is_sound(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml[^\n]*\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    (scenario,) = load_scenarios(written(tmp_path, example))
    fields = set(compact(scenario))
    mentioned = {name for name in Scenario.model_fields if f"`{name}`" in DOCS.read_text("utf-8")}
    assert fields == set(Scenario.model_fields) - {"acceptable", "outcome"}
    assert mentioned == set(Scenario.model_fields), "every field is explained"
    assert {errand.kind for errand in scenario.errands} == {
        "item", "change", "question", "statement"
    }  # fmt: skip


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    item = ItemErrand(id="a", item="crème fraîche", quantity=2)
    scenarios = (
        Scenario(id="a", family="f", goal="Kauf \u2028 ein.", errands=(item,)),
        Scenario(id="b", family="f", goal="Nothing.", outcome=Outcome.REFUSED),
    )
    write_scenarios(tmp_path / "out.jsonl", scenarios)
    assert load_scenarios(tmp_path / "out.jsonl") == scenarios
    line = (tmp_path / "out.jsonl").read_text(encoding="utf-8").split("\n")[0]
    assert json.loads(line)["errands"] == [
        {"id": "a", "kind": "item", "item": "crème fraîche", "quantity": 2}
    ]
    assert "crème" in line, "people can read it"


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    file = check_scenarios(jsonl(tmp_path, minimal("a"), "", "  ", minimal("b", persona=3)))
    assert [one.id for one in file.scenarios] == ["a"]
    assert [(one.line, one.field) for one in file.problems] == [(4, "persona")]


def test_every_problem_of_every_line_is_named(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path,
        minimal("a", budget=-1, seed="x"),
        "{oops",
        minimal("b"),
        {"id": "c", "family": "f"},
        ["no mapping"],
    )
    file = check_scenarios(path)
    found = [(one.line, one.field) for one in file.problems]
    assert found == [(1, "budget"), (1, "seed"), (2, ""), (4, "goal"), (5, "")]
    assert [one.id for one in file.scenarios] == ["b"]
    assert "found -1" in file.problems[0].said


@pytest.mark.parametrize(
    ("errand", "field", "said"),
    [
        pytest.param(
            {"kind": "question", "id": "q", "say": "?", "abuot": []},
            "errands.0.abuot",
            "did you mean 'about'? Allowed: about, expects, id, insists, kind, say",
            id="a field of another kind is not proposed",
        ),
        pytest.param(
            {"kind": "item", "id": "a", "item": "milk", "quantity": -2},
            "errands.0.quantity",
            "found -2",
            id="value",
        ),
        pytest.param(
            {"kind": "errand", "id": "a"},
            "errands.0.kind",
            "'item', 'change', 'question', 'statement'",
            id="unknown kind",
        ),
        pytest.param(
            {"id": "a", "item": "milk"}, "errands.0.kind", "allowed: 'item', ", id="no kind"
        ),
    ],
)
def test_an_errand_is_judged_as_its_kind(
    tmp_path: Path, errand: dict[str, Any], field: str, said: str
) -> None:
    (problem,) = check_scenarios(jsonl(tmp_path, minimal(errands=[errand]))).problems
    assert problem.field == field
    assert said in problem.said


def test_an_errand_of_a_revision_is_judged_as_its_kind(tmp_path: Path) -> None:
    errand = {"kind": "change", "id": "a", "say": "Pay."}
    revision = {"turn": 2, "say": "Oh.", "errands": [errand]}
    (problem,) = check_scenarios(jsonl(tmp_path, minimal(revisions=[revision]))).problems
    assert problem.field == "revisions.0.errands.0.reached"


def test_yaml_complaints_name_the_very_line(tmp_path: Path) -> None:
    text = """
- id: a
  family: f
  goal: Shop.
  errands:
    - kind: item
      id: milk
      item: milk
      quantity: many
- {id: b, family: f, goal: Shop., colour: red}
"""
    found = check_scenarios(written(tmp_path, text)).problems
    assert [(one.line, one.field) for one in found] == [(9, "errands.0.quantity"), (10, "colour")]


def test_an_id_that_is_taken_is_refused(tmp_path: Path) -> None:
    path = jsonl(tmp_path, minimal("a"), minimal("b"), minimal("a", goal="Other."))
    with pytest.raises(UsageError, match=r"line 3: id: 'a' is taken \(line 1\)"):
        load_scenarios(path)


def test_loading_names_the_first_problem_and_counts_the_others(tmp_path: Path) -> None:
    path = jsonl(tmp_path, minimal(goal=""), minimal(persona=1), "nonsense")
    with pytest.raises(UsageError) as caught:
        load_scenarios(path)
    said = str(caught.value)
    assert said.startswith(f"{path}, line 1: goal: found ''")
    assert "More problems: 2." in said
    assert f"cotune scenarios validate {path}" in said


@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_a_blank_opening_is_refused_with_what_to_do(tmp_path: Path, blank: str) -> None:
    path = jsonl(tmp_path, minimal("a"), minimal("b", opening=blank))
    with pytest.raises(UsageError) as caught:
        load_scenarios(path)
    said = str(caught.value)
    assert said.startswith(f"{path}, line 2: opening: found {blank!r}; ")
    assert "leave the field out" in said


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        pytest.param({"goal": "  "}, "goal", id="goal"),
        pytest.param({"facts": [{"name": "a", "value": " "}]}, "facts.0.value", id="fact"),
        pytest.param(
            {"errands": [{"kind": "item", "id": "a", "item": "b", "say": " "}]},
            "errands.0.say",
            id="request",
        ),
        pytest.param(
            {"errands": [{"kind": "statement", "id": "a", "say": " "}]},
            "errands.0.say",
            id="statement",
        ),
        pytest.param(
            {"constraints": [{"field": "diet", "operator": "is", "value": "vegan", "say": " "}]},
            "constraints.0.say",
            id="term",
        ),
        pytest.param(
            {"revisions": [{"turn": 2, "say": " ", "drop": ["x"]}]}, "revisions.0.say", id="change"
        ),
    ],
)
def test_words_that_say_nothing_are_refused(
    tmp_path: Path, fields: dict[str, Any], place: str
) -> None:
    (problem,) = check_scenarios(jsonl(tmp_path, minimal(**fields))).problems
    assert problem.field == place
    assert "a customer cannot say nothing" in problem.said


def test_ids_that_do_not_fit_are_named_at_their_lines(tmp_path: Path) -> None:
    text = """
- id: a
  family: f
  goal: Shop.
  errands:
    - {kind: item, id: milk, item: milk}
    - {kind: item, id: milk, item: oat milk}
  revisions:
    - turn: 2
      say: No milk.
      drop: [milk, mlik]
"""
    found = check_scenarios(written(tmp_path, text)).problems
    assert [(one.line, one.field) for one in found] == [
        (7, "errands.1.id"),
        (11, "revisions.0.drop.1"),
    ]
    assert "there is no errand 'mlik'" in found[1].said
    assert found[1].said.endswith("there is: milk")


def test_what_is_not_json_is_said_with_its_place_in_the_line(tmp_path: Path) -> None:
    (problem,) = check_scenarios(jsonl(tmp_path, '{"id": "a"')).problems
    assert problem.said == "the line is not valid JSON: expecting ',' delimiter at character 11"


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        pytest.param("a.jsonl", "\n \n", "holds no scenario", id="blank"),
        pytest.param("a.yaml", "[]", "holds no scenario", id="empty list"),
        pytest.param("a.yaml", "# later\n", "holds no scenario", id="empty"),
        pytest.param("a.yaml", "id: a", "expected a list of entries", id="no list"),
        pytest.param("a.yaml", "- id: a\n  id: b", "'id' is given twice", id="repeated key"),
        pytest.param("a.json", "[]", r"\.jsonl \(one a line\) and \.yaml", id="another kind"),
    ],
)
def test_files_that_hold_no_scenarios_are_refused(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=complaint):
        load_scenarios(tmp_path / name)


def test_a_file_that_is_not_there_may_have_been_meant_as_a_pack() -> None:
    with pytest.raises(UsageError, match=r"'grocer'. Did you mean the pack 'grocery'\?.*: grocery"):
        load_scenarios("grocer")
