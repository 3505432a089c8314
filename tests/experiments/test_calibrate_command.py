"""`cotune calibrate`, `cotune judge --card` and `cotune judge-check`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from cotune.agents.ledger import Role
from cotune.agents.lm import LanguageModel
from cotune.experiments import calibration_run, judging_run
from cotune.rubrics.annotation import Annotation, write_annotations
from cotune.rubrics.comparison import Measure
from cotune.rubrics.judge_card import JudgeCard
from cotune.rubrics.statistics import Conclusion
from cotune.simulation.trajectory_file import write_trajectories

from ..optimizer.judged_talk import RUBRIC, LearningModel, annotated, answered, is_kept, talk
from .command_line import Said, cotune
from .system_runs import CONFIG, typed, write_config


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> list[LearningModel]:
    """The models that were opened; each leans until it is taught."""
    opened: list[LearningModel] = []

    @contextmanager
    def open_models(settings: Any, ledger: Any, budget: Any) -> Iterator[dict[Role, LanguageModel]]:
        model = LearningModel(ledger)
        opened.append(model)
        yield {Role.JUDGE: model}

    for module in (calibration_run, judging_run):
        monkeypatch.setattr(module, "open_models", open_models)
    return opened


def prepare(
    folder: Path, said: Sequence[Annotation], count: int = 80, kept: Callable[[int], bool] = is_kept
) -> None:
    folder.mkdir(exist_ok=True)
    records = [talk(number, kept(number)) for number in range(count)]
    write_trajectories(folder / "t.jsonl", (record.trajectory for record in records))
    write_annotations(folder / "a.jsonl", said)
    rubric = RUBRIC.model_dump(mode="json", exclude_none=True)
    (folder / "r.yaml").write_text(yaml.safe_dump(rubric))


def calibrate(folder: Path, *more: object) -> Said:
    files = (folder / "a.jsonl", "--trajectories", folder / "t.jsonl", "--rubric")
    how = ("--judge", "scripted", "--strategy", "word", "--rollouts", 400, "--out", folder / "o")
    return cotune("calibrate", *files, folder / "r.yaml", *how, *more)


def card_in(folder: Path) -> Path:
    (found,) = (folder / "o").glob("judge-*/judge-card.json")
    return found


def test_a_judge_that_leans_is_put_right_by_prompt_and_by_threshold(
    tmp_path: Path, model: list[LearningModel]
):
    prepare(tmp_path, annotated(80, is_kept))
    said = calibrate(tmp_path)
    assert said.code == 0, said.err
    assert "The judge agrees better with people than before: kappa 0.000 before" in said.words
    card = JudgeCard.load(card_in(tmp_path))
    kappa = card.criteria["kept"].measures[Measure.KAPPA]
    assert (kappa.before.value, kappa.prompt.value, kappa.threshold.value) == (0.0, 1.0, 1.0)
    assert kappa.both.value == 1.0
    assert card.criteria["kept"].conclusion is Conclusion.IMPROVED
    assert card.overall is not None
    assert card.overall.conclusion is Conclusion.IMPROVED
    assert card.cost.verdicts > 0
    page = card_in(tmp_path).with_suffix(".html").read_text()
    assert "There was no parcel." in page
    asked = model[0].asked
    assert calibrate(tmp_path).code == 0
    assert (asked > 0, model[1].asked) == (True, 0)
    again = JudgeCard.load(card_in(tmp_path))
    assert again.model_copy(update={"created": card.created, "seal": card.seal}) == card


def test_noise_is_no_evidence(tmp_path: Path):
    prepare(tmp_path, annotated(80, hash_bit))
    said = calibrate(tmp_path)
    assert said.code == 0, said.err
    card = JudgeCard.load(card_in(tmp_path))
    assert card.criteria["kept"].conclusion is Conclusion.NO_EVIDENCE
    assert "There is no evidence that the judge agrees better" in said.words
    assert any("may be chance" in each for each in card.weak)


def hash_bit(number: int) -> bool:
    """A coin that has nothing to do with the talk."""
    return (number * 2654435761 >> 7) % 2 == 0


def test_five_labels_are_refused_with_how_many_it_takes(tmp_path: Path):
    prepare(tmp_path, annotated(5, is_kept))
    said = calibrate(tmp_path)
    assert said.code == 2
    assert "kept: 5 labels, at least 30 are needed" in said.err
    assert "no wider than 0.4 about 62 in the test, so 124 in all" in said.err


def test_a_constant_criterion_is_undefined_and_the_other_is_calibrated(tmp_path: Path):
    constant = annotated(80, lambda _: True, ("polite",))
    prepare(tmp_path, [*annotated(80, is_kept), *constant])
    said = calibrate(tmp_path)
    assert said.code == 0, said.err
    assert "polite: undefined: people say 'pass' of all 80 items" in said.words
    assert list(JudgeCard.load(card_in(tmp_path)).criteria) == ["kept"]
    prepare(tmp_path / "alone", constant)
    refused = calibrate(tmp_path / "alone")
    assert refused.code == 2
    assert "undefined" in refused.err


def test_a_lazy_judge_is_shown_for_what_it_is(tmp_path: Path):
    def most(number: int) -> bool:
        return number % 20 != 0

    prepare(tmp_path, annotated(320, most), 320, most)
    said = calibrate(tmp_path, "--rollouts", 1200)
    assert said.code == 0, said.err
    card = JudgeCard.load(card_in(tmp_path))
    kept = card.criteria["kept"].measures
    assert (kept[Measure.RAW].before.value or 0.0) > 0.9
    assert kept[Measure.KAPPA].before.value == 0.0
    assert kept[Measure.BALANCED].before.value == 0.5


def test_a_judge_that_always_passes_and_cannot_learn_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def always(self: LearningModel, request: object) -> object:
        return answered(0.9)

    def most(number: int) -> bool:
        return number % 20 != 0

    monkeypatch.setattr(LearningModel, "respond", always)
    prepare(tmp_path, annotated(320, most), 320, most)
    said = calibrate(tmp_path, "--rollouts", 1200)
    assert said.code == 0, said.err
    assert "kept: the judge says 'pass' of all 160 items. Its raw agreement of 95.0% is the" in (
        said.words
    )
    assert "kappa is 0.000, and it finds 0 of 8 failures (recall 0.000)" in said.words
    assert JudgeCard.load(card_in(tmp_path)).criteria["kept"].conclusion is Conclusion.NO_EVIDENCE


def test_the_card_judges_as_it_was_tested_and_no_other_way(tmp_path: Path):
    prepare(tmp_path, annotated(80, is_kept))
    assert calibrate(tmp_path).code == 0
    files = (tmp_path / "t.jsonl", "--rubric", tmp_path / "r.yaml", "--out", tmp_path / "v.jsonl")
    said = cotune("judge", *files, "--card", card_in(tmp_path))
    assert said.code == 0, said.err
    lines = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    values = [line["verdicts"][0]["value"] for line in lines]
    assert values == [float(is_kept(number)) for number in range(80)]
    both = cotune("judge", *files, "--card", card_in(tmp_path), "--judge", "local")
    assert "leave out --judge" in both.err
    other = yaml.safe_load((tmp_path / "r.yaml").read_text())
    other["criteria"][0]["passes"] = "Something else."
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(other))
    changed = cotune("judge", *files, "--card", card_in(tmp_path))
    assert changed.code == 2
    assert "not the one that was tested; different are: rubric" in changed.err


def test_an_edited_card_is_refused(tmp_path: Path):
    prepare(tmp_path, annotated(80, is_kept))
    assert calibrate(tmp_path).code == 0
    path = card_in(tmp_path)
    content = json.loads(path.read_text())
    content["decisions"]["kept"]["cuts"] = [0.1]
    path.write_text(json.dumps(content))
    files = (tmp_path / "t.jsonl", "--rubric", tmp_path / "r.yaml", "--out", tmp_path / "v.jsonl")
    said = cotune("judge", *files, "--card", path)
    assert said.code == 2
    assert "was edited after it was written" in said.err


def test_tiers_are_told_by_a_judge_of_one_word(tmp_path: Path):
    prepare(tmp_path, annotated(80, is_kept))
    rubric = yaml.safe_load((tmp_path / "r.yaml").read_text())
    tiers = [{"value": value, "text": f"Tier {value}."} for value in (1.0, 0.5, 0.0)]
    rubric["criteria"][0] |= {"scale": tiers, "passes": "", "fails": ""}
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(rubric))
    said = calibrate(tmp_path)
    assert said.code == 0, said.err
    card = JudgeCard.load(card_in(tmp_path))
    low, high = card.decisions["kept"].cuts
    assert low <= high
    assert card.criteria["kept"].measures[Measure.KAPPA].both.value == 1.0
    assert card.criteria["kept"].brier_after is None
    files = (tmp_path / "t.jsonl", "--rubric", tmp_path / "r.yaml", "--out", tmp_path / "v.jsonl")
    assert cotune("judge", *files, "--card", card_in(tmp_path)).code == 0
    lines = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert {line["verdicts"][0]["value"] for line in lines} == {0.0, 1.0}


@pytest.mark.parametrize(("turned", "code"), [(False, 0), (True, 1)])
def test_drift_is_seen_on_new_labels(tmp_path: Path, turned: bool, code: int):
    prepare(tmp_path, annotated(80, is_kept))
    assert calibrate(tmp_path).code == 0
    new = tmp_path / "new"
    prepare(new, annotated(80, lambda number: is_kept(number) is not turned))
    files = (new / "a.jsonl", "--trajectories", new / "t.jsonl", "--rubric", tmp_path / "r.yaml")
    said = cotune("judge-check", *files, "--card", card_in(tmp_path), "--out", new / "check")
    assert said.code == code, said.err
    assert ("Calibrate the judge again" in said.words) is turned


def with_card(folder: Path, card: Path, rubric: object) -> tuple[object, ...]:
    judge = {"rubric": str(rubric), "judge": {"card": str(card)}}
    return typed(write_config(folder, system={**CONFIG["system"], **judge}))


def test_a_run_asks_for_the_card_of_its_judge(tmp_path: Path):
    prepare(tmp_path, annotated(80, is_kept))
    assert calibrate(tmp_path).code == 0
    bare = cotune(*typed(write_config(tmp_path)), "--require-calibrated", 0.5)
    assert bare.code == 2
    assert "--require-calibrated needs a judge with a card" in bare.err
    path = card_in(tmp_path)
    content = json.loads(path.read_text())
    content["overall"]["measures"]["kappa"]["both"]["value"] = 0.31
    JudgeCard.model_validate(content).sealed().save(path)
    low = cotune(*with_card(tmp_path, path, tmp_path / "r.yaml"), "--require-calibrated", 0.5)
    assert low.code == 2
    assert "the judge reaches kappa 0.310" in low.err
    other = cotune(*with_card(tmp_path, path, "magic"))
    assert other.code == 2
    assert "not the one that was tested; different are: rubric" in other.err


def configured(folder: Path, **more: object) -> Path:
    """Write a configuration beside what it names."""
    fields = {
        "annotations": ["a.jsonl"], "trajectories": "t.jsonl", "rubric": "r.yaml",
        "judge": {"model": "scripted:grocery", "timeout": 9}, "strategy": "word",
        "rollouts": 400, "out": "o", **more,
    }  # fmt: skip
    path = folder / "calibrate.yaml"
    path.write_text(yaml.safe_dump(fields, sort_keys=False))
    return path


def test_a_file_says_what_options_say_and_options_go_before_it(tmp_path: Path):
    prepare(tmp_path, annotated(80, is_kept))
    said = cotune("calibrate", "--config", configured(tmp_path, seed=3, train=0.3))
    assert said.code == 0, said.err
    card = JudgeCard.load(card_in(tmp_path))
    assert (card.data.seed, card.data.shares["train"], card.model.timeout) == (3, 0.3, 9)
    other = tmp_path / "other"
    more = ("--seed", 4, "--out", other / "o", "--judge", "scripted", "--val", 0.2)
    assert cotune("calibrate", "--config", tmp_path / "calibrate.yaml", *more).code == 0
    card = JudgeCard.load(card_in(other))
    assert (card.data.seed, card.data.shares["train"], card.data.shares["val"]) == (4, 0.3, 0.2)
    assert card.model.timeout == 300


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"wide": 1}, "calibrate.yaml cannot be used. Line 11, wide:"),
        ({"strategy": "all"}, "calibrate.yaml cannot be used. Line 8, strategy:"),
        ({"judge": {"model": "x/y", "timeout": 0}}, "judge.timeout:"),
        ({"strategy": "word", "repeats": 3}, "repeats mean nothing with the strategy 'word'"),
        ({"train": 0.6, "val": 0.4}, "train 0.6 and val 0.4 leave too little for the test"),
        ({"judge": None}, "give --judge MODEL, or 'judge' in the file of --config"),
    ],
)
def test_a_configuration_that_cannot_be_used_exits_with_2(
    tmp_path: Path, fields: dict[str, object], said: str
):
    prepare(tmp_path, annotated(40, is_kept), 40)
    result = cotune("calibrate", "--config", configured(tmp_path, **fields))
    assert result.code == 2
    assert said in result.err


def test_options_that_mean_nothing_exit_with_2(tmp_path: Path):
    prepare(tmp_path, annotated(40, is_kept), 40)
    wrong = calibrate(tmp_path, "--gold", "loudest")
    assert wrong.code == 2
    assert "--gold: " in wrong.err
    bare = cotune("calibrate", tmp_path / "a.jsonl", "--rubric", tmp_path / "r.yaml")
    assert bare.code == 2
    assert "give --trajectories FILE, or 'trajectories' in the file of --config" in bare.err
