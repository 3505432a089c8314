from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cotune.agents.errors import UsageError
from cotune.rubrics.checks.registry import _own_check, find_check
from cotune.rubrics.rubric_file import load_rubric, pack_names
from cotune.rubrics.subject import SubjectKind

GOOD = """\
id: shop
name: Shop
subject: call
domains:
  - {id: facts, name: Facts, weight: 60}
  - {id: style, name: Style, weight: 40}
criteria:
  - id: label
    name: Label
    domain: facts
    points: 3
    passes: right
    fails: wrong
    check: {name: equals, field: agent}
  - id: manner
    name: Manner
    domain: style
    points: 1
    scale:
      - {value: 1.0, text: kind}
      - {value: 0.5, text: dry}
      - {value: 0.0, text: rude}
    judged: true
"""


@pytest.fixture
def load(tmp_path: Path):
    def load_text(text: str):
        path = tmp_path / "shop.yaml"
        path.write_text(text, encoding="utf-8")
        return load_rubric(path)

    return load_text


def test_a_rubric_file_becomes_a_rubric(load):
    rubric = load(GOOD)

    assert [criterion.id for criterion in rubric.in_domain("facts")] == ["label"]
    assert rubric.criterion("label").check.parameters == {"field": "agent"}
    assert rubric.criterion("manner").best == "kind"
    with pytest.raises(KeyError):
        rubric.criterion("charm")


def test_the_fingerprint_follows_the_content(load):
    fingerprint = load(GOOD).fingerprint

    assert load(GOOD.replace("  - {id: facts,", "  - {  id: facts,")).fingerprint == fingerprint
    assert load(GOOD.replace("text: dry", "text: cool")).fingerprint != fingerprint
    assert load(GOOD.replace("field: agent", "field: route")).fingerprint != fingerprint


def test_the_fingerprint_follows_the_code_of_the_checks(load, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    own = GOOD.replace("{name: equals, field: agent}", "{name: 'shop_checks:right'}")

    def fingerprint(comment):
        code = f"def right(record):\n    return None  # {comment}\n"
        (tmp_path / "shop_checks.py").write_text(code, encoding="utf-8")
        sys.modules.pop("shop_checks", None)
        _own_check.cache_clear()
        return load(own).fingerprint

    first = fingerprint("never mended")
    assert fingerprint("never mended") == first
    assert fingerprint("mended") != first
    sys.modules.pop("shop_checks")
    _own_check.cache_clear()


def test_the_fingerprint_follows_the_helpers_and_word_lists_of_the_checks():
    source = find_check("said_is_true", SubjectKind.TRAJECTORY).source

    assert "def named_in" in source
    assert "claims_added:" in source


def test_a_tier_criterion_fails_on_its_lowest_tier_only(load):
    manner = load(GOOD).criterion("manner")

    assert [manner.fails_at(value) for value in (0.0, 0.4, 0.5, 1.0)] == [True, True, False, False]
    assert [manner.allows(value) for value in (0.0, 0.4, 0.5, 1.0)] == [True, False, True, True]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("weight: 40", "weight: 35", ["Line 4", "sum to 95", "100"]),
        ("{id: style", "{id: facts", ["Line 6", "'facts' is used 2 times"]),
        ("id: manner", "id: label", ["Line 15", "'label' is used 2 times"]),
        ("domain: style", "domain: taste", ["'manner', domain", "taste", "known: facts, style"]),
        ("points: 3", "points: 0", ["Line 11", "0 points", "critical"]),
        ("points: 3", "points: -1", ["Line 11", "'label', points", "found -1"]),
        ("points: 3", "points: many", ["'label', points", "found 'many'"]),
        ("    judged: true\n", "", ["'manner', check", "nothing decides"]),
        ("name: equals", "name: equal", ["'label', check", "'equal'", "known: equals"]),
        ("field: agent", "feild: agent", ["'label', check", "'feild'", "it takes: field"]),
        (", field: agent", "", ["the parameter 'field' is missing"]),
        ("field: agent", "field: [agent]", ["parameter 'field'", "['agent']"]),
        ("value: 0.5", "value: 1.0", ["'manner', scale", "[1.0, 1.0, 0.0]"]),
        ("value: 0.0", "value: 1.5", ["Line 22", "'manner', scale entry 3, value", "found 1.5"]),
        ("    passes: right\n", "", ["'label', passes", "needs the text"]),
        ("    judged: true", "    passes: x\n    judged: true", ["'manner', passes", "tiers"]),
        (
            "points: 1\n",
            "points: 1\n    weight: 2\n",
            ["Line 19", "'manner', weight", "no such field; allowed: agents"],
        ),
        ("    name: Label\n", "", ["'label', name", "missing"]),
        ("subject: call", "subject: letter", ["Line 3", "'letter'", "'call' or 'trajectory'"]),
        ("subject: call", "subject: trajectory", ["'equals' checks a call", "scores a trajectory"]),
        ("    judged: true", "    check: {name: nowhere.at:all}", ["cannot be imported"]),
        ("    judged: true", "    check: {name: json:loads}", ["must take (record"]),
        ("    judged: true", "    pass_at: 0.0\n    judged: true", ["'manner', pass_at", "1, 0.5"]),
        ("    judged: true", "    pass_at: 0.7\n    judged: true", ["'manner', pass_at", "1, 0.5"]),
        ("    judged: true", "    aggregate: mean\n    judged: true", ["scope 'turn' only"]),
        (
            "    judged: true",
            "    scope: turn\n    judged: true",
            ["needs 'aggregate'", "no turns"],
        ),
        ("    judged: true", "    applies: Never.\n    judged: true", ["never applies"]),
        ("text: dry", "text: ' '", ["scale entry 2, text", "found ' '"]),
        (
            "    check: {name: equals, field: agent}",
            "    check: {name: equals, field: agent}\n    check_proves: failure",
            ["'label', check_proves", "judged: true"],
        ),
    ],
)
def test_every_mistake_is_named_with_its_place(load, old, new, words):
    with pytest.raises(UsageError) as caught:
        load(GOOD.replace(old, new, 1))

    message = str(caught.value)
    assert "shop.yaml" in message
    assert [word for word in words if word not in message] == []


def test_a_criterion_can_say_which_tier_passes(load):
    strict = load(GOOD.replace("    judged: true", "    pass_at: 1.0\n    judged: true"))

    assert strict.criterion("manner").fails_at(0.5)
    assert not strict.criterion("manner").fails_at(1.0)


def test_a_check_of_whole_conversations_decides_no_turn(load):
    text = GOOD.replace("subject: call", "subject: trajectory")
    text = text.replace("{name: equals, field: agent}", "{name: budget}")
    assert load(text).criterion("label").check.name == "budget"

    with pytest.raises(UsageError, match="'budget' looks at whole conversations"):
        load(text.replace("{name: budget}", "{name: budget}\n    scope: turn\n    aggregate: mean"))


def test_all_mistakes_are_named_at_once(load):
    broken = GOOD.replace("weight: 40", "weight: 35").replace("name: equals", "name: equal")

    with pytest.raises(UsageError, match=r"sum to 95.*unknown call check 'equal'"):
        load(broken)


def test_a_scale_of_one_word_is_not_mistaken_for_tiers(load):
    with pytest.raises(UsageError, match=r"'label', scale: found 'maybe'") as caught:
        load(GOOD.replace("    points: 3", "    points: 3\n    scale: maybe"))

    assert "tuple" not in str(caught.value)


def test_a_mistake_in_a_tier_is_not_mistaken_for_a_wrong_word(load):
    with pytest.raises(UsageError, match=r"scale entry 2, txet: .*'text'\?") as caught:
        load(GOOD.replace("text: dry", "txet: dry"))

    assert "pass_fail" not in str(caught.value)


@pytest.mark.parametrize("text", ["- a\n- b\n", "", "id: [unclosed"])
def test_what_is_no_mapping_is_refused(load, text):
    with pytest.raises(UsageError, match=r"shop\.yaml"):
        load(text)


def test_an_unknown_pack_lists_the_packs():
    with pytest.raises(UsageError, match="magic"):
        load_rubric("magick")


@pytest.mark.parametrize("name", pack_names())
def test_every_pack_loads(name):
    assert load_rubric(name).id == name


def test_magic_is_what_was_published():
    magic = load_rubric("magic")
    points = {d.id: [c.points for c in magic.in_domain(d.id)] for d in magic.domains}

    assert points == {
        "shopping_execution": [8, 15, 6, 6, 15],
        "personalization_context": [4, 4, 4, 8],
        "conversational_quality": [2, 4, 3, 1],
        "safety_compliance": [20],
    }
    assert {d.id: d.weight for d in magic.domains} == {k: sum(v) for k, v in points.items()}
    assert [c.id for c in magic.criteria if c.critical] == [
        "cart_completeness",
        "overall_success",
        "information_integrity",
    ]
    assert all(criterion.judged and criterion.agents for criterion in magic.criteria)


def test_what_a_call_serves_is_a_criterion_of_magic():
    known = {criterion.id for criterion in load_rubric("magic").criteria}
    calls = [load_rubric(name) for name in pack_names() if name.startswith("grocery_")]
    served = [criterion.serves for rubric in calls for criterion in rubric.criteria]

    assert len(calls) == 3
    assert set(served) <= known


def test_rules_are_for_agents_that_influence_the_criterion(load):
    listed = GOOD.replace(
        "    check:", "    agents: [router]\n    rules: {router: [ask]}\n    check:"
    )
    assert load(listed).criterion("label").rules == {"router": ("ask",)}
    with pytest.raises(UsageError, match="rules for 'cook', who is not among"):
        load(listed.replace("rules: {router", "rules: {cook"))
