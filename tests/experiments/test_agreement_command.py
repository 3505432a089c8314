"""`cotune annotations` and `cotune agreement`: from people's labels to what a judge is worth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from .airline_logs import AIRLINE, write_logs
from .command_line import cotune

RATINGS = (1.0, 0.0, 1.0, 1.0) * 5


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twenty conversations, judged; three in four were solved."""
    monkeypatch.chdir(AIRLINE)
    logs = write_logs(tmp_path / "logs.jsonl", list(RATINGS))
    out = tmp_path / "verdicts.jsonl"
    assert cotune("judge", logs, "--rubric", "airline.yaml", "--out", out).code == 0
    return tmp_path


def names(folder: Path) -> list[str]:
    lines = (folder / "verdicts.jsonl").read_text().splitlines()
    return [json.loads(line)["scenario"] for line in lines]


def labelled(folder: Path, *people: Sequence[float], criterion: str = "solved") -> Path:
    """Import labels, by people who go through all conversations."""
    source, out = folder / "labels.csv", folder / "annotations.jsonl"
    rows = [
        f"{name},{criterion},person-{who},{'pass' if value else 'fail'}"
        for who, values in enumerate(people)
        for name, value in zip(names(folder), values, strict=True)
    ]
    source.write_text("\n".join(["conversation,criterion,annotator,value", *rows, ""]))
    said = cotune(
        "annotations", "import", source, "--from", "csv", "--out", out,
        "--rubric", "airline.yaml", "--trajectories", folder / "logs.jsonl",
    )  # fmt: skip
    assert (said.code, said.err) == (0, "")
    return out


def agreement(folder: Path, *words: object):
    return cotune(
        "agreement", folder / "annotations.jsonl", "--rubric", "airline.yaml",
        "--resamples", 200, *words,
    )  # fmt: skip


def test_import_keeps_what_can_be_used_and_names_the_rest(folder: Path):
    source = folder / "labels.csv"
    first = names(folder)[0]
    source.write_text(
        f"dialogue,score\n{first},good\n{first},good\nnobody,good\n{first},terrible\n"
    )
    words = (
        "annotations", "import", source, "--from", "csv", "--out", folder / "a.jsonl",
        "--rubric", "airline.yaml", "--trajectories", folder / "logs.jsonl",
        "--column", "conversation=dialogue", "--column", "value=score",
        "--value", "terrible=0", "--criterion", "solved", "--annotator", "ann",
    )  # fmt: skip
    said = cotune(*words)
    assert said.code == 0
    assert "1 annotation of 1 conversation by 1 annotator." in said.words
    assert said.err.count("labels.csv, line ") == 3
    assert "line 4: there is no conversation 'nobody'" in said.err
    content = json.loads(cotune(*words, "--json").out)
    assert content["by_criterion"] == {"solved": 1}
    assert len(content["refused"]) == 3


def test_nothing_usable_exits_with_1_and_writes_nothing(folder: Path):
    source = folder / "labels.csv"
    source.write_text("conversation,criterion,annotator,value\nx,y,z,what\n")
    said = cotune("annotations", "import", source, "--from", "csv", "--out", folder / "a.jsonl")
    assert said.code == 1
    assert "has no annotation that can be used" in said.err
    assert not (folder / "a.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "excel"), "--from is 'excel'; allowed: csv, jsonl, label-studio"),
        (("--from", "csv", "--column", "id"), "--column 'id' is no pair such as"),
        (("--from", "csv", "--column", "id=x"), "--column id=…: an annotation has no such part"),
        (("--from", "csv", "--value", "good=well"), "--values good"),
        (("--from", "transcript"), "name a --format whose section `transcript`"),
        (("--from", "csv", "--conversations", "c.jsonl"), "goes with --from transcript"),
    ],
)
def test_an_import_that_means_nothing_exits_with_2(folder: Path, words: tuple[str, ...], said: str):
    source = folder / "labels.csv"
    source.write_text("conversation,criterion,annotator,value\n")
    result = cotune("annotations", "import", source, "--out", folder / "a.jsonl", *words)
    assert result.code == 2
    assert said in result.err


def test_show_sums_up_and_names_what_people_are_split_on(folder: Path):
    other = [1.0 - RATINGS[0], *RATINGS[1:]]
    file = labelled(folder, RATINGS, other)
    said = cotune("annotations", "show", file, "--rubric", "airline.yaml")
    assert said.code == 0
    assert f"{names(folder)[0]}, solved: 0 by 1, 1 by 1" in said.words
    content = json.loads(cotune("annotations", "show", file, "--json").out)
    assert content["criteria"]["solved"]["annotations"] == 40
    assert content["criteria"]["solved"]["ties"] == 1
    one = cotune("annotations", "show", file, "--conversation", names(folder)[0])
    assert "solved: person-0 says 1\nsolved: person-1 says 0" in one.out
    assert cotune("annotations", "show", file, "--conversation", "nobody").code == 2


def test_people_and_judge_are_measured_and_weighted(folder: Path):
    labelled(folder, RATINGS, [*RATINGS[:-2], 0.0, 0.0], RATINGS)
    said = agreement(folder, "--verdicts", folder / "verdicts.jsonl", "--json")
    assert said.code == 0
    content = json.loads(said.out)
    people, judge = content["people"]["solved"], content["criteria"]["solved"]
    assert (people["items"], people["shared"], people["annotators"]) == (
        20, 20, ["person-0", "person-1", "person-2"],
    )  # fmt: skip
    assert 0.5 < people["alpha"]["value"] < 1.0
    assert judge["measures"]["kappa"]["value"] == 1.0
    assert judge["confusion"] == [[5.0, 0.0], [0.0, 15.0]]
    assert content["judge_weighted"]["overall"]["raw"]["value"] == 1.0
    assert content["people_weighted"]["overall"]["raw"]["value"] < 1.0


def test_a_lazy_judge_is_shown_for_what_it_is(folder: Path):
    labelled(folder, [1.0] * 19 + [0.0])
    file = folder / "verdicts.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        for verdict in line["verdicts"]:
            verdict["value"] = 1.0 if verdict["criterion"] == "solved" else verdict["value"]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    said = agreement(folder, "--verdicts", file)
    assert said.code == 0
    assert (
        "solved: the judge says 'pass' of all 20 items. Its raw agreement of 95.0% is the share "
        "of 'pass' among the items and nothing it does: kappa is 0.000, and it finds 0 of 1 "
        "failures (recall 0.000)."
    ) in said.words


def test_labels_of_one_value_leave_agreement_undefined(folder: Path):
    labelled(folder, [1.0] * 20, [1.0] * 20)
    said = agreement(folder, "--verdicts", folder / "verdicts.jsonl")
    assert (
        "people say 'pass' of all 20 items, so agreement beyond chance is undefined" in said.words
    )
    assert "all annotators gave the same single value" in said.words
    content = json.loads(agreement(folder, "--verdicts", folder / "verdicts.jsonl", "--json").out)
    assert content["criteria"]["solved"]["measures"]["kappa"]["value"] is None
    assert content["people"]["solved"]["alpha"]["value"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gold", "loudest"), "--gold is 'loudest'; allowed: majority, mean, dawid-skene"),
        (("--level", "ratio"), "--level is 'ratio'; allowed: nominal, ordinal, interval"),
        (("--rubric", "magic"), "answer to the rubric 'airline', not to 'magic'"),
    ],
)
def test_a_measurement_that_means_nothing_exits_with_2(
    folder: Path, words: tuple[str, ...], said: str
):
    labelled(folder, RATINGS, criterion="overall")
    result = agreement(folder, "--verdicts", folder / "verdicts.jsonl", *words)
    assert result.code == 2
    assert said in result.err


def test_verdicts_without_a_rubric_exit_with_2(folder: Path):
    file = labelled(folder, RATINGS)
    said = cotune("agreement", file, "--verdicts", folder / "verdicts.jsonl")
    assert said.code == 2
    assert "--verdicts needs --rubric" in said.err
