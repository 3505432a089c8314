"""Prompts are promoted, rolled back and promoted again, in a database and on a server."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mlflow import MlflowClient

from cotune.agents import load_bundle
from cotune.agents.errors import CotuneError, UsageError
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.experiments.run_record import RunRecord
from cotune.experiments.tracking import Tracker

from .command_line import Said, cotune
from .mlflow_server import free_port, mlflow_server
from .shipped import bundle, less_safe, not_improved, saved, shipped

ADDRESS = "mlflow:shop@production"
A, B = bundle("well"), bundle("better")
WITH_TELLER = bundle("best", "router", "search", "teller")


@dataclass(frozen=True)
class Shop:
    """Runs of one assistant, and the MLflow that they are promoted in."""

    uri: str
    runs: Path
    record: RunRecord

    def run(self, prompts: PromptBundle, **changes: object) -> str:
        return saved(shipped(self.record, prompts, self.uri, **changes), self.runs)

    def promote(self, prompts: PromptBundle, *words: str) -> Said:
        return self("promote", self.run(prompts), "--yes", *words)

    def __call__(self, *words: object) -> Said:
        runs = () if words[0] == "list" else ("--runs", self.runs)
        uri = ("--uri", self.uri) if words[0] in ("list", "rollback") else ()
        return cotune("prompts", *words, *runs, *uri)

    def production(self) -> PromptBundle:
        return load_bundle(ADDRESS, self.uri)

    @property
    def client(self) -> MlflowClient:
        return MlflowClient(self.uri)


@pytest.fixture
def shop(tmp_path: Path, mlflow_tables: Path, record: RunRecord) -> Shop:
    shutil.copy(mlflow_tables, tmp_path / "mlflow.db")
    return Shop(f"sqlite:///{tmp_path}/mlflow.db", tmp_path / "cotune-runs", record)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, mlflow_tables: Path) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    shutil.copy(mlflow_tables, folder / "server.db")
    with mlflow_server(folder, port):
        yield f"http://127.0.0.1:{port}"


def _there_and_back(shop: Shop) -> None:
    """Promote, roll back and promote again, with an agent that comes and goes."""
    assert shop.promote(A).code == 0
    assert shop.production() == A
    said = shop.promote(WITH_TELLER)
    assert said.code == 0, said.err
    assert f'load_bundle("{ADDRESS}")' in said.words
    assert shop.production() == WITH_TELLER
    back = shop("rollback", "shop")
    assert back.out == f"{ADDRESS} is again the bundle {A.fingerprint}.\n", back.err
    assert shop.production() == A
    assert shop.promote(B).code == 0
    assert shop.production() == B
    assert shop("rollback", shop.run(B)).code == 0, "a run stands for its task"
    assert shop.production() == A
    nothing = shop("rollback", "shop")
    assert nothing.code == 1
    assert "pointed to nothing" in nothing.err
    assert shop.production() == A
    versions = shop.client.search_prompt_versions("cotune-shop-router")
    assert len(versions) == 3, "each bundle is registered once"


def test_there_and_back_in_a_database(shop: Shop) -> None:
    _there_and_back(shop)


def test_there_and_back_on_a_server(server: str, tmp_path: Path, record: RunRecord) -> None:
    shop = Shop(server, tmp_path / "cotune-runs", record)
    _there_and_back(shop)
    (row,) = json.loads(shop("list", "--json").out)
    assert (row["address"], row["bundle"]) == (ADDRESS, A.fingerprint)


def test_promoting_what_is_there_changes_nothing(shop: Shop) -> None:
    shop.promote(A)
    before = shop.client.get_prompt("cotune-shop-router")
    again = shop.promote(A)
    assert again.code == 0
    assert "is this bundle already" in again.words
    assert shop.client.get_prompt("cotune-shop-router") == before
    assert len(shop.client.search_prompt_versions("cotune-shop-search")) == 1


def test_another_run_with_equal_parts_does_not_disturb_production(shop: Shop) -> None:
    shop.promote(A)
    other = shipped(shop.record, B, shop.uri)
    tracker = Tracker(shop.uri, "cotune")
    assert tracker.log(other, "<p>", tracker.begin(other))
    assert shop.production() == A
    assert load_bundle("mlflow:shop@candidate", shop.uri) == B


def test_prompts_are_exported_to_the_registry_without_an_alias(shop: Shop) -> None:
    said = shop("export", shop.run(A), "--to", "mlflow")
    assert said.code == 0, said.err
    assert "prompts:/cotune-shop-router/1" in said.out
    again = shop("export", shop.run(A), "--to", "mlflow")
    assert again.out == said.out
    version = shop.client.get_prompt_version("cotune-shop-router", 1)
    assert version is not None
    assert version.aliases == []
    with pytest.raises(UsageError, match="no prompt of the task"):
        shop.production()


def _stopping_after(moves: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real, left = MlflowClient.set_prompt_alias, [moves]

    def stopping(self: MlflowClient, name: str, alias: str, version: int) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(self, name, alias, version)

    monkeypatch.setattr(MlflowClient, "set_prompt_alias", stopping)


def test_a_promotion_that_is_interrupted_is_not_loaded_and_is_finished(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.promote(A)
    with monkeypatch.context() as patch:
        _stopping_after(1, patch)
        assert shop.promote(B).code == 130
    with pytest.raises(CotuneError, match="not one whole bundle"):
        shop.production()
    listed = shop("list")
    assert "not one whole bundle" in listed.words
    assert shop.promote(B).code == 0
    assert shop.production() == B
    assert shop("rollback", "shop").code == 0
    assert shop.production() == A


@pytest.mark.parametrize("kind", ["not better", "less safe", "simulation"])
def test_what_says_nothing_good_is_promoted_by_force_only(kind: str, shop: Shop) -> None:
    changes = {
        "not better": not_improved(),
        "less safe": less_safe(shop.record),
        "simulation": {"simulated": True},
    }[kind]
    name = shop.run(A, **changes)
    refused = shop("promote", name, "--yes")
    assert refused.code == 1
    assert "are not promoted" in refused.err
    assert "--force" in refused.err
    assert shop.client.search_prompts() == []
    forced = shop("promote", name, "--yes", "--force")
    assert forced.code == 0, forced.err
    task = "simulation-shop" if kind == "simulation" else "shop"
    assert load_bundle(f"mlflow:{task}@production", shop.uri) == A


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_person_is_asked_after_they_saw_the_conclusion(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = shop.run(A)
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    declined = shop("promote", name)
    assert declined.code == 1
    assert "unseen examples" in declined.words
    assert "% interval" in declined.words
    assert "Nothing was changed." in declined.out
    assert shop.client.search_prompts() == []
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert shop("promote", name).code == 0
    assert shop.production() == A


def test_without_a_terminal_yes_must_be_said(shop: Shop) -> None:
    said = shop("promote", shop.run(A))
    assert said.code == 2
    assert "--yes" in said.err
    assert shop.client.search_prompts() == []


def test_the_list_says_where_prompts_come_from(shop: Shop) -> None:
    name = shop.run(A)
    assert shop("list").out == "No prompts of cotune are registered there.\n"
    shop.promote(A)
    shop.promote(A, "--alias", "staging")
    said = shop("list")
    assert f"{ADDRESS} bundle {A.fingerprint}, of {name}, improved, since 2" in said.words
    rows = json.loads(shop("list", "--json").out)
    assert [row["alias"] for row in rows] == ["production", "staging"]
    assert rows[0]["versions"] == {"cotune-shop-router": 1, "cotune-shop-search": 1}


def test_an_alias_that_was_moved_by_hand_is_remembered(shop: Shop) -> None:
    shop("export", shop.run(A), "--to", "mlflow")
    for name in ("cotune-shop-router", "cotune-shop-search"):
        shop.client.set_prompt_alias(name, "production", 1)
    assert shop.production() == A
    shop.promote(B)
    assert shop("rollback", "shop").code == 0
    assert shop.production() == A


def test_the_same_name_of_another_task_is_refused(shop: Shop) -> None:
    shop.promote(PromptBundle.of(Prompt("front-desk", "Greet.")))
    clash = shipped(shop.record, PromptBundle.of(Prompt("desk", "Greet.")), shop.uri)
    name = saved(clash.model_copy(update={"task": "shop-front", "name": "clash"}), shop.runs)
    said = shop("promote", name, "--yes")
    assert said.code == 1
    assert "'cotune-shop-front-desk' already, of the task 'shop'" in said.err


@pytest.mark.parametrize("alias", ["candidate", "latest", "v3", "a b", ""])
def test_aliases_that_mean_something_else_are_refused(alias: str, shop: Shop) -> None:
    said = shop("promote", shop.run(A), "--yes", "--alias", alias)
    assert said.code == 2
    assert "--alias" in said.err


def test_a_registry_that_is_away_is_one_clear_error(shop: Shop, tmp_path: Path) -> None:
    name, away = shop.run(A), "http://me:hunter2@127.0.0.1:9"
    for words in (
        ("promote", name, "--yes", "--runs", shop.runs, "--uri", away),
        ("rollback", "shop", "--uri", away),
        ("list", "--uri", away),
        ("export", name, "--to", "mlflow", "--runs", shop.runs, "--uri", away),
    ):
        said = cotune("prompts", *words)
        assert said.code == 1, words
        assert said.err.count("\n") == 1
        assert "cannot be used" in said.err
        assert "hunter2" not in said.err
    for words in (("rollback", "shop"), ("list",)):
        said = cotune("prompts", *words, "--uri", f"sqlite:///{tmp_path}/none.db")
        assert said.code == 2, words
        assert "none.db" in said.err
    assert not (tmp_path / "none.db").exists()


def test_what_was_never_promoted_cannot_be_rolled_back(shop: Shop) -> None:
    assert shop("rollback", "shop").code == 2
