"""Personas are data."""

from __future__ import annotations

from pathlib import Path

import pytest

from cotune.agents.errors import UsageError
from cotune.simulation.persona import Reveal, Verbosity, load_personas, persona_called

OWN = """
personas:
  - name: sleepy
    description: You are tired.
    patience: 9
    phrases:
      request: ["Zzz, {amount} {noun}{terms}."]
  - name: rude
    description: You are not that rude.
"""


def test_the_built_in_personas() -> None:
    personas = load_personas()
    assert set(personas) == {
        "shopper", "bargain_hunter", "impatient_shopper", "casual", "indecisive", "rude",
    }  # fmt: skip
    assert personas["impatient_shopper"].patience < personas["shopper"].patience
    assert personas["casual"].verbosity is Verbosity.CHATTY
    assert personas["rude"].reveals is Reveal.WHEN_WRONG
    assert all(persona.description.startswith("You ") for persona in personas.values())


def test_own_personas_come_on_top(tmp_path: Path) -> None:
    file = tmp_path / "personas.yaml"
    file.write_text(OWN)
    personas = load_personas(file)
    assert personas["sleepy"].patience == 9
    assert personas["rude"].description == "You are not that rude."
    assert "shopper" in personas


def test_an_unknown_persona_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no persona 'shoper'.*bargain_hunter.*shopper"):
        persona_called("shoper", load_personas())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("personas: [{name: a, description: b, patience: 1}]", "patience"),
        ("personas: [{name: a, description: b}, {name: a, description: c}]", "'a' is given twice"),
        ("personas: [{name: a, description: b, mood: bad}]", "mood"),
        ("- name: a", "must be a mapping"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "personas.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=said):
        load_personas(file)
