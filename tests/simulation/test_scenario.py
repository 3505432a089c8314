from __future__ import annotations

import pytest
from pydantic import ValidationError

from cotune.simulation.scenario import Scenario

MINIMAL = {"id": "s-1", "family": "weekly-shop", "goal": "Oat milk and eggs."}


def test_a_minimal_scenario_starts_in_an_empty_world_and_expects_nothing():
    scenario = Scenario.model_validate(MINIMAL)

    assert scenario.initial_state == {}
    assert scenario.expected == {}
    assert scenario.tags == ()


def test_a_scenario_survives_json():
    scenario = Scenario.model_validate(
        {**MINIMAL, "expected": {"cart": [{"product": "egg"}]}, "tags": ["substitution"]}
    )

    assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario


def test_two_scenarios_share_no_default():
    first, second = (Scenario.model_validate(MINIMAL) for _ in range(2))

    assert first.expected is not second.expected


@pytest.mark.parametrize("change", [{"id": ""}, {"family": ""}, {"goal": ""}, {"basket": []}])
def test_empty_names_and_unknown_fields_are_refused(change):
    with pytest.raises(ValidationError):
        Scenario.model_validate({**MINIMAL, **change})


def test_a_scenario_cannot_be_changed():
    with pytest.raises(ValidationError):
        Scenario.model_validate(MINIMAL).goal = "Something else."
