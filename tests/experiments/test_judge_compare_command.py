"""`cotune judge-compare`: which judge is good enough, and which of those costs least."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from dspy.lm15 import Request, Response
from dspy.lm15 import Usage as LmUsage

from cotune.agents.budget import Budget
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings, Price
from cotune.experiments import calibration_run, judging_run
from cotune.rubrics.annotation import Annotation, write_annotations
from cotune.simulation.trajectory_file import write_trajectories

from ..optimizer.judged_talk import RUBRIC, LearningModel, annotated, answered, is_kept, talk
from .command_line import Said, cotune

RIGHT = {"good": 0.95, "cheap": 0.94, "poor": 0.6, "free": 0.95, "fair": 0.85}
PRICES = {"good": 10.0, "cheap": 1.0, "poor": 0.1, "fair": 1.0}


class PricedModel(LanguageModel):
    """Is right about a parcel as often as its name says, and costs what its name says."""

    def __init__(self, settings: ModelSettings, ledger: Ledger, budget: Budget) -> None:
        self.name = settings.model.partition("/")[2]
        price = PRICES.get(self.name)
        priced = price and Price(input=price, output=price)
        known = settings.model_copy(update={"price": priced, "api_base": "http://nowhere"})
        super().__init__(known, Role.JUDGE, ledger, budget)

    async def _send(self, request: Request) -> Response:
        assert self.budget is not None
        self.budget.check_call()
        text = request.messages[-1].text or ""
        is_right = random.Random(text).random() < RIGHT[self.name]  # what is hard is hard for all
        passes = 0.9 if ("Here is" in text) is is_right else 0.1
        return replace(answered(passes), usage=LmUsage(input_tokens=100, output_tokens=1))


class Opened:
    """The models that were opened, and how many calls they answered."""

    def __init__(self) -> None:
        self.ledgers: list[Ledger] = []

    def paid(self) -> int:
        """Return how many calls were paid for, and forget them."""
        usages = [ledger.total for ledger in self.ledgers]
        self.ledgers.clear()
        return sum(each.calls - each.replayed for each in usages)


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Judges that are not asked over any network."""
    seen = Opened()

    @contextmanager
    def open_models(
        settings: Mapping[Role, ModelSettings], ledger: Ledger, budget: Budget
    ) -> Iterator[dict[Role, LanguageModel]]:
        seen.ledgers.append(ledger)
        if settings[Role.JUDGE].is_scripted:
            yield {Role.JUDGE: LearningModel(ledger)}
        else:
            yield {Role.JUDGE: PricedModel(settings[Role.JUDGE], ledger, budget)}

    async def reachable(model: LanguageModel) -> None:
        """Every model is."""

    for module in (calibration_run, judging_run):
        monkeypatch.setattr(module, "open_models", open_models)
        monkeypatch.setattr(module, "check_reachable", reachable)
    return seen


def prepare(folder: Path, said: list[Annotation] | None = None, count: int = 200) -> None:
    write_trajectories(
        folder / "t.jsonl", (talk(number, is_kept(number)).trajectory for number in range(count))
    )
    write_annotations(folder / "a.jsonl", annotated(count, is_kept) if said is None else said)
    rubric = RUBRIC.model_dump(mode="json", exclude_none=True)
    (folder / "r.yaml").write_text(yaml.safe_dump(rubric))


def compare(folder: Path, *more: object) -> Said:
    files = (folder / "a.jsonl", "--trajectories", folder / "t.jsonl", "--rubric")
    how = ("--strategy", "word", "--out", folder / "o")
    return cotune("judge-compare", *files, folder / "r.yaml", *how, *more)


def judges(*names: str) -> list[str]:
    return [word for name in names for word in ("--judge", f"openai/{name}")]


def content(said: Said) -> dict[str, Any]:
    assert said.code == 0, said.err
    return json.loads(said.out)


def by_name(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"].removeprefix("openai/"): each for each in found["judges"]}


def test_the_cheapest_that_is_shown_to_be_as_good_is_recommended(tmp_path: Path, opened: Opened):
    prepare(tmp_path)
    found = content(compare(tmp_path, *judges("good", "cheap", "poor"), "--json"))
    assert opened.paid() == 600  # the annotated criterion alone
    one = by_name(found)
    assert {name: each["good_enough"] for name, each in one.items()} == {
        "good@word": True, "cheap@word": True, "poor@word": False,
    }  # fmt: skip
    assert found["recommended"] == "openai/cheap@word"
    assert one["poor@word"]["less_than_best"]["high"] < -found["margin"]
    assert one["cheap@word"]["cost"]["usd"] == pytest.approx(101e-6)
    assert one["cheap@word"]["cost"]["tokens"] == 101
    assert one["cheap@word"]["cost"]["seconds"] is not None
    assert "by no more than 0.1 of kappa" in found["said"][0]


def test_judging_again_pays_for_nothing_and_a_new_judge_for_itself(tmp_path: Path, opened: Opened):
    prepare(tmp_path, count=40)
    first = content(compare(tmp_path, *judges("good", "cheap"), "--json"))
    assert opened.paid() == 80
    again = content(compare(tmp_path, *judges("good", "cheap"), "--json"))
    assert opened.paid() == 0
    assert again == first
    assert compare(tmp_path, *judges("poor", "cheap")).code == 0
    assert opened.paid() == 40


def test_few_labels_recommend_the_best_and_say_how_many_would_do(tmp_path: Path):
    prepare(tmp_path, count=60)
    said = compare(tmp_path, *judges("good", "fair"), "--margin", 0.3)
    assert said.code == 0, said.err
    assert "Take openai/good@word, the best: no other judge is shown to be behind it" in said.words
    assert "openai/fair@word may be good enough: at the same difference about" in said.words


def test_a_margin_decides_what_is_good_enough(tmp_path: Path):
    prepare(tmp_path)
    strict = content(compare(tmp_path, *judges("good", "fair"), "--margin", 0.05, "--json"))
    assert strict["recommended"] == "openai/good@word"
    lax = content(compare(tmp_path, *judges("good", "fair"), "--margin", 0.5, "--json"))
    assert lax["recommended"] == "openai/fair@word"


def test_money_is_limited_over_all_judges_together(tmp_path: Path, opened: Opened):
    prepare(tmp_path, count=40)
    said = compare(tmp_path, *judges("good", "cheap"), "--tokens", 5000)
    assert said.code == 1
    assert "budget is spent" in said.err
    assert 40 <= opened.paid() < 60
    assert compare(tmp_path, *judges("good", "cheap"), "--tokens", 20_000).code == 0


def test_cards_and_verdicts_take_part(tmp_path: Path, opened: Opened):
    prepare(tmp_path)
    files = (tmp_path / "a.jsonl", "--trajectories", tmp_path / "t.jsonl")
    rubric = ("--rubric", tmp_path / "r.yaml", "--strategy", "word")
    calibrated = cotune(
        "calibrate", *files, *rubric, "--judge", "scripted", "--rollouts", 800,
        "--out", tmp_path / "c",
    )  # fmt: skip
    assert calibrated.code == 0, calibrated.err
    (card,) = (tmp_path / "c").glob("judge-*/judge-card.json")
    verdicts = tmp_path / "v.jsonl"
    judged = cotune(
        "judge", tmp_path / "t.jsonl", *rubric, "--judge", "openai/cheap", "--out", verdicts
    )
    assert judged.code == 0, judged.err
    opened.paid()
    found = content(
        compare(tmp_path, "--card", card, "--verdicts", verdicts, *judges("cheap"), "--json")
    )
    names = by_name(found)
    assert names[str(card)]["overall"]["kappa"]["value"] == 1.0
    assert names[str(verdicts)]["cost"]["usd"] == pytest.approx(101e-6)
    assert names[str(verdicts)]["overall"] == names["cheap@word"]["overall"]


def test_labels_of_one_value_recommend_nobody(tmp_path: Path):
    prepare(tmp_path, annotated(40, lambda _: True), 40)
    said = compare(tmp_path, *judges("good", "poor"))
    assert said.code == 0, said.err
    assert "No judge can be recommended: agreement beyond chance is undefined" in said.words


def test_a_judge_of_unknown_price_is_named(tmp_path: Path):
    prepare(tmp_path)
    found = content(compare(tmp_path, *judges("good", "free", "cheap"), "--json"))
    assert by_name(found)["free@word"]["cost"]["usd"] is None
    assert found["recommended"] == "openai/cheap@word"
    assert any("of unknown price: openai/free@word" in each for each in found["said"])


def test_a_lazy_judge_is_named_in_the_comparison(tmp_path: Path):
    def most(number: int) -> bool:
        return number % 20 != 0

    prepare(tmp_path, annotated(200, most))
    write_trajectories(
        tmp_path / "t.jsonl", (talk(number, most(number)).trajectory for number in range(200))
    )
    said = compare(tmp_path, "--judge", "scripted", *judges("good"))
    assert "the judge says 'pass' of all 200 items. Its raw agreement of 95.0%" in said.words
    assert "Take openai/good@word, the best" in said.words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--judge", "openai/good"), "takes two judges or more, each named once"),
        ((*judges("good"), *judges("good")), "takes two judges or more, each named once"),
        ((*judges("good", "poor"), "--strategy", "all"), "--strategy is 'all'; allowed: rubric"),
    ],
)
def test_what_means_nothing_exits_with_2(tmp_path: Path, words: tuple[str, ...], said: str):
    prepare(tmp_path, count=10)
    result = compare(tmp_path, *words)
    assert result.code == 2
    assert said in result.err
