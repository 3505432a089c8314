"""A setup is data without secrets, and builds the player that it describes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cotune.agents.assistant import Reply
from cotune.agents.connect import Served
from cotune.agents.errors import UsageError
from cotune.agents.ledger import Ledger, Role
from cotune.agents.models import ModelSettings
from cotune.simulation.conversation import ConversationLimits
from cotune.simulation.engines.in_process import InProcess
from cotune.simulation.player import Player
from cotune.simulation.scenario import Scenario
from cotune.simulation.setup import Setup
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.trajectory_file import write_trajectories
from cotune.simulation.users.agenda.user import AgendaUsers
from cotune.simulation.users.fixed import FixedUsers
from cotune.simulation.users.llm import LlmUsers
from cotune.simulation.users.replay import FirstLineUsers, ReplayUsers
from cotune.simulation.users.settings import (
    AgendaUserSettings,
    FirstLineUserSettings,
    FixedUserSettings,
    LlmUserSettings,
    ReplayUserSettings,
    TemplateUserSettings,
    UserSettings,
)
from cotune.simulation.users.template import TemplateUsers
from cotune.simulation.work import Work

KEY = "COTUNE_TEST_KEY"
SCRIPTED = ModelSettings(model="scripted:grocery", max_tokens=4000)


def setup(**changes: Any) -> Setup:
    whole = {"models": {Role.TASK: SCRIPTED}, "user": FixedUserSettings(messages=("hi",))}
    return Setup(**{**whole, **changes})


def identity(**changes: Any) -> str:
    return Player.of(setup(**changes), Ledger()).identity


async def test_a_player_plays_and_says_what_it_cost_whom() -> None:
    ledger = Ledger()
    player = Player.of(setup(), ledger)
    scenario = Scenario(id="s", family="f", goal="milk")
    played = await player.play(Work(scenario, player.assistant.prompts))
    assert played.trajectory.fault is None
    assert played.spending == ledger.totals
    assert {role for role, _ in played.spending} == {Role.TASK}
    assert "router" in {agent for _, agent in played.spending}


def test_a_setup_holds_the_keys_name_and_never_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "s3cret")
    model = ModelSettings(model="openai/gpt-4.1-mini", api_key_env=KEY)
    sent = setup(models={Role.TASK: model}).model_dump_json()
    Player.of(Setup.model_validate_json(sent), Ledger())
    assert KEY in sent
    assert "s3cret" not in sent


def test_what_determines_a_conversation_is_in_the_identity() -> None:
    assert identity() == identity()
    warm = SCRIPTED.model_copy(update={"temperature": 1.0})
    others = {
        identity(),
        identity(models={Role.TASK: warm}),
        identity(user=FixedUserSettings(messages=("hello",))),
        identity(limits=ConversationLimits(turns=3)),
    }
    assert len(others) == 4


def test_patience_and_speed_are_not() -> None:
    patient = SCRIPTED.model_copy(update={"concurrency": 2, "attempts": 9, "max_wait": 1.0})
    assert identity(models={Role.TASK: patient}) == identity()
    assert identity(limits=ConversationLimits(seconds=5)) == identity()


def test_a_local_model_is_called_where_it_is_served_and_known_by_its_weights() -> None:
    local = ModelSettings(model="local:tiny")

    def served(endpoint: str, weights: str) -> str:
        at = {"local:tiny": Served(endpoint=endpoint, weights=weights)}
        return identity(models={Role.TASK: local}, served=at)

    assert served("http://127.0.0.1:1/v1", "a") == served("http://127.0.0.1:2/v1", "a")
    assert served("http://127.0.0.1:1/v1", "a") != served("http://127.0.0.1:1/v1", "b")


def test_a_missing_model_is_named() -> None:
    with pytest.raises(UsageError, match=r"models\.task"):
        Player.of(setup(models={}), Ledger())
    with pytest.raises(UsageError, match=r"models\.user"):
        Player.of(setup(user=LlmUserSettings()), Ledger())


LOGS = Trajectory("s", (Turn("hi", Reply("hello"), {}),), {}, StopReason.SATISFIED)


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        (AgendaUserSettings(), AgendaUsers),
        (LlmUserSettings(minimum_turns=2), LlmUsers),
        (TemplateUserSettings(), TemplateUsers),
        (FixedUserSettings(messages=("a",)), FixedUsers),
        (ReplayUserSettings(logs=Path("logs.jsonl")), ReplayUsers),
        (FirstLineUserSettings(logs=Path("logs.jsonl"), then=LlmUserSettings()), FirstLineUsers),
    ],
)
def test_every_kind_of_customer_is_built_from_its_settings(
    tmp_path: Path, settings: UserSettings, kind: type
) -> None:
    write_trajectories(tmp_path / "logs.jsonl", [LOGS])
    models = {Role.TASK: SCRIPTED, Role.USER: SCRIPTED}
    sent = setup(models=models, user=settings.relative_to(tmp_path)).model_dump(mode="json")
    player = Player.of(Setup.model_validate(sent), Ledger())
    assert type(player.users) is kind
    assert set(player.models) == {Role.TASK, Role.USER}


def test_processes_share_out_the_calls_in_flight() -> None:
    settings = setup(models={Role.TASK: SCRIPTED.model_copy(update={"concurrency": 8})})
    assert settings.divided(3).models[Role.TASK].concurrency == 2
    assert settings.divided(20).models[Role.TASK].concurrency == 1


@pytest.mark.parametrize(("calls", "conversations"), [(4, 8), (40, 64)])
def test_no_more_conversations_are_in_flight_than_the_model_can_serve(
    calls: int, conversations: int
) -> None:
    models = {Role.TASK: SCRIPTED.model_copy(update={"concurrency": calls})}
    assert InProcess(Player.of(setup(models=models), Ledger()), 64).concurrency == conversations
