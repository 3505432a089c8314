"""From settings to customers: the one place that knows all kinds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...agents.errors import UsageError
from ...agents.ledger import Role
from ...agents.lm import LanguageModel
from ..persona import load_personas
from ..trajectory import Trajectory
from ..trajectory_file import read_trajectories
from ..user import UserKind
from .agenda.user import AgendaUsers
from .fixed import FixedUsers
from .llm import LlmUsers
from .replay import FirstLineUsers, ReplayUsers
from .settings import (
    AgendaUserSettings,
    FirstLineUserSettings,
    FixedUserSettings,
    LlmUserSettings,
    ReplayUserSettings,
    TemplateUserSettings,
    UserSettings,
)
from .template import TemplateUsers


def user_kind(settings: UserSettings, models: Mapping[Role, LanguageModel]) -> UserKind:
    """Return the kind of customers that settings describe.

    Args:
        settings: Which kind, and what it needs.
        models: The run's models; those of kind `llm` call the one in the role `user`.

    Raises:
        UsageError: A file cannot be used, or there is no such model.
    """
    match settings:
        case AgendaUserSettings(personas=personas):
            return AgendaUsers(load_personas(personas))
        case LlmUserSettings(personas=personas, minimum_turns=turns):
            return LlmUsers(_model(models), load_personas(personas), minimum_turns=turns)
        case TemplateUserSettings():
            return TemplateUsers()
        case FixedUserSettings(messages=messages):
            return FixedUsers(messages)
        case ReplayUserSettings(logs=logs, then=then):
            return ReplayUsers(_by_scenario(logs), user_kind(then, models))
        case FirstLineUserSettings(logs=logs, then=then):
            return FirstLineUsers(_by_scenario(logs), user_kind(then, models))


def _model(models: Mapping[Role, LanguageModel]) -> LanguageModel:
    if Role.USER not in models:
        raise UsageError(
            "Customers of the kind 'llm' need a model, and there is none in the role 'user'. Name "
            "one in 'models.user', or choose the kind 'agenda', which needs none."
        )
    return models[Role.USER]


def _by_scenario(logs: Path) -> dict[str, Trajectory]:
    """Return the first log of each scenario; repeats of one may follow it."""
    first: dict[str, Trajectory] = {}
    for log in read_trajectories(logs):
        first.setdefault(log.scenario, log)
    return first
