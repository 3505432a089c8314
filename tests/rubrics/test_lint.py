"""`lint` names everything that is wrong with a rubric file, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from cotune.agents.errors import UsageError
from cotune.rubrics.lint import lint
from cotune.rubrics.rubric_file import STARTER, load_rubric, pack_names, rubric_path

BROKEN = """\
id: shop
subject: trajectory
domains:
  - {id: task, name: Task, weight: 60}
  - {id: tone, name: Tone, weight: 30}
criteria:
  - id: goal
    name: Goal
    domain: task
    points: 0
    passes: done
    fails: not done
    agents: [planner, poet]
    judged: true
  - id: goal
    name: Twice
    domain: taste
    points: 1
    passes: done
    fails: ""
    check: {name: equals, field: agent}
  - id: grade
    name: Grade
    domain: tone
    points: 1
    scope: turn
    scale:
      - {value: 0.5, text: middling}
      - {value: 1.0, text: best}
    applies: Never
  - id: unreadable
    name: Unreadable
    domain: tone
    points: many
    judged: true
"""


@pytest.fixture
def linted(tmp_path: Path):
    def lint_text(text: str, agents: list[str] | None = None) -> list[tuple[int, str]]:
        path = tmp_path / "shop.yaml"
        path.write_text(text, encoding="utf-8")
        return [(c.line, f"{c.place}: {c.message}") for c in lint(path, agents)]

    return lint_text


def test_every_problem_is_found_though_some_parts_cannot_be_read(linted):
    found = linted(BROKEN, ["planner", "writer"])

    expected = [
        (1, "name: this field is missing"),
        (3, "sum to 90; they must sum to 100"),
        (10, "found 0 points"),
        (13, "found the agent 'poet'; the assistant has: planner, writer"),
        (15, "the id 'goal' is used 2 times"),
        (17, "found the domain 'taste'; known: task, tone"),
        (20, "needs the text 'fails'"),
        (21, "'equals' checks a call, and the rubric scores a trajectory"),
        (22, "nothing decides this criterion"),
        (26, "needs 'aggregate': minimum or mean"),
        (27, "found tiers with values [0.5, 1.0]"),
        (30, "never applies"),
        (34, "found 'many'"),
    ]
    assert [line for line, _ in found] == [line for line, _ in expected]
    assert [text for (_, said), (_, text) in zip(found, expected, strict=True)
            if text not in said] == []  # fmt: skip


def test_an_unreadable_criterion_is_no_reason_to_miss_it_in_its_domain(linted):
    said = "\n".join(text for _, text in linted(BROKEN))

    assert "has no criterion with points" not in said


def test_a_domain_without_points_is_named(linted):
    text = BROKEN.replace("points: many", "points: 1").replace("domain: tone", "domain: task")

    assert any("domain 'tone' has no criterion with points" in said for _, said in linted(text))


@pytest.mark.parametrize("name", pack_names())
def test_the_packs_are_sound(name):
    assert lint(rubric_path(name)) == ()


def test_the_starter_is_sound_and_its_agents_are_those_it_names():
    assert lint(STARTER, ["planner", "writer"]) == ()
    assert {c.place.split(",")[0] for c in lint(STARTER, ["planner"])} == {
        f"criteria '{criterion.id}'" for criterion in load_rubric(STARTER).criteria
    }


@pytest.mark.parametrize("text", ["", "- a\n", "id: [unclosed", "id: a\nid: b\n"])
def test_what_is_no_rubric_at_all_is_refused(linted, text):
    with pytest.raises(UsageError, match=r"shop\.yaml"):
        linted(text)
