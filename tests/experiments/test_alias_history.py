"""Aliases that are moved prompt by prompt, interrupted anywhere, and moved back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.errors import CotuneError
from cotune.agents.registered_bundle import AGENT, TASK
from cotune.agents.registry_address import RegistryAddress
from cotune.experiments.alias_history import (
    Step,
    agreed,
    current,
    promoted,
    read,
    rolled_back,
    written,
)
from cotune.experiments.prompt_alias import PromptAlias

WHERE = RegistryAddress("shop", "production")
NAMES = ("cart", "router", "search")


class StoppedError(BaseException):
    """The process was killed."""


@dataclass
class Registry:
    """The part of MLflow's client that moves aliases; it stops before a given write."""

    tags: dict[str, dict[str, str]] = field(
        default_factory=lambda: {name: {TASK: "shop", AGENT: name} for name in NAMES}
    )
    aliases: dict[str, int] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    writes_left: int = 10**6

    def search_prompts(self, *_: Any, **__: Any) -> Any:
        return Page(SimpleNamespace(name=name, tags=dict(tags)) for name, tags in self.tags.items())

    def get_prompt_version_by_alias(self, name: str, alias: str) -> Any:
        version = self.aliases.get(name)
        if version is None:
            return None
        return SimpleNamespace(version=version, tags={}, template="", creation_timestamp=0)

    def get_prompt_version(self, name: str, version: int) -> Any:
        return None if version in self.deleted else SimpleNamespace(version=version)

    def set_prompt_tag(self, name: str, key: str, value: str) -> None:
        self._write()
        self.tags[name][key] = value

    def set_prompt_alias(self, name: str, alias: str, version: int) -> None:
        self._write()
        self.aliases[name] = version

    def delete_prompt_alias(self, name: str, alias: str) -> None:
        self._write()
        self.aliases.pop(name, None)

    def _write(self) -> None:
        if not self.writes_left:
            raise StoppedError
        self.writes_left -= 1


class Page(list):
    token = None


def bundle_versions(number: int) -> dict[str, int]:
    """Return the versions of a bundle; every other one lacks an agent."""
    return dict.fromkeys(NAMES if number % 2 else NAMES[:2], number)


@dataclass
class Production:
    """An alias as promotions and rollbacks move it."""

    registry: Registry = field(default_factory=Registry)

    @property
    def alias(self) -> PromptAlias:
        return PromptAlias(cast(Any, self.registry), WHERE)

    @property
    def now(self) -> Mapping[str, int]:
        return dict(self.registry.aliases)

    def promote(self, number: int) -> None:
        before, versions = self.alias.histories(), bundle_versions(number)
        is_whole = self.now in [bundle_versions(one) for one in range(1, 9)]
        self.alias.move(before, promoted(before, versions, "now", is_whole=is_whole))

    def roll_back(self) -> None:
        before = self.alias.histories()
        self.alias.move(before, rolled_back(before))

    def interrupted(self, action: Callable[[], None], writes: int) -> None:
        self.registry.writes_left = writes
        with suppress(StoppedError):
            action()
        self.registry.writes_left = 10**6


def test_rollback_goes_back_step_by_step() -> None:
    production = Production()
    for number in (1, 2, 3, 1):
        production.promote(number)
    for number in (3, 2, 1):
        production.roll_back()
        assert production.now == bundle_versions(number)
    production.roll_back()
    assert production.now == {}


@given(st.integers(0, 6), st.integers(1, 5), st.integers(2, 5))
def test_an_interrupted_promotion_is_finished_by_doing_it_again(
    writes: int, before: int, after: int
) -> None:
    production = Production()
    production.promote(before)
    production.interrupted(lambda: production.promote(after), writes)
    production.promote(after)
    assert production.now == bundle_versions(after)
    production.roll_back()
    assert production.now == (bundle_versions(before) if before != after else {})


@given(st.integers(0, 6))
def test_an_interrupted_first_promotion_is_finished_and_is_one_promotion(writes: int) -> None:
    production = Production()
    production.interrupted(lambda: production.promote(1), writes)
    production.promote(1)
    assert production.now == bundle_versions(1)
    production.roll_back()
    assert production.now == {}


@given(st.integers(2, 5))
def test_an_interrupted_promotion_can_be_taken_back(writes: int) -> None:
    production = Production()
    production.promote(1)
    production.promote(2)
    production.interrupted(lambda: production.promote(3), writes)
    production.roll_back()
    assert production.now == bundle_versions(2)


@given(st.integers(2, 5))
def test_another_promotion_takes_the_place_of_an_interrupted_one(writes: int) -> None:
    production = Production()
    production.promote(1)
    production.interrupted(lambda: production.promote(3), writes)
    production.promote(5)
    assert production.now == bundle_versions(5)
    production.roll_back()
    assert production.now == bundle_versions(1)


@given(st.integers(0, 6))
def test_an_interrupted_rollback_is_finished_by_doing_it_again(writes: int) -> None:
    production = Production()
    for number in (1, 2, 3):
        production.promote(number)
    production.interrupted(production.roll_back, writes)
    if production.now != bundle_versions(2):
        production.roll_back()
    assert production.now == bundle_versions(2)
    production.roll_back()
    assert production.now == bundle_versions(1)


def test_promoting_what_is_there_writes_nothing() -> None:
    production = Production()
    production.promote(1)
    production.registry.writes_left = 0
    production.promote(1)


def test_what_was_there_before_cotune_is_remembered() -> None:
    production = Production(Registry(aliases={"router": 7, "cart": 7, "search": 7}))
    production.promote(2)
    production.roll_back()
    assert production.now == bundle_versions(7)


def test_a_deleted_version_is_found_before_anything_is_moved() -> None:
    production = Production()
    for number in (1, 3):
        production.promote(number)
    production.registry.deleted.add(1)
    with pytest.raises(CotuneError, match="was deleted"):
        production.roll_back()
    assert production.now == bundle_versions(3)


def test_a_history_that_somebody_wrote_into_is_one_clear_error() -> None:
    production = Production()
    production.registry.tags["cart"]["cotune.alias.production"] = "oops"
    with pytest.raises(CotuneError, match=r"'cotune\.alias\.production' of the prompt 'cart'"):
        production.promote(1)


def test_steps_agree_with_the_alias() -> None:
    steps = (Step(1, 1, "a"), Step(2, 2, "b"))
    assert agreed(steps, 2) == steps
    assert agreed(steps, 1) == steps[:1], "written, but the alias was not moved yet"
    assert agreed(steps, 9) == (*steps, Step(9)), "somebody moved it by hand"
    assert agreed(steps[:1], None) == ()
    assert agreed((), None) == ()


def test_steps_are_read_as_they_were_written() -> None:
    steps = (Step(1, 1, "2026-01-01"), Step(None, 2, "2026-01-02"), Step(4))
    assert read(written(steps)) == steps
    assert len(read(written(steps * 40))) == 50
    assert current(read(written(steps * 40))) == 4
    with pytest.raises(ValueError, match="no steps"):
        read('[{"colour": 1}]')
