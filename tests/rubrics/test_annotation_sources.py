"""Every source gives its labels, and what is wrong in it is named by its line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.assistant import Reply
from cotune.agents.errors import UsageError
from cotune.rubrics.annotation import Annotation, read_annotations, write_annotations
from cotune.rubrics.annotation_intake import Intake
from cotune.rubrics.annotation_sources.format import Format, load_format
from cotune.rubrics.annotation_sources.label import Labels
from cotune.rubrics.annotation_sources.label_studio import read_label_studio
from cotune.rubrics.annotation_sources.table import read_csv, read_json_lines
from cotune.rubrics.annotation_sources.transcript import conversations, read_transcript
from cotune.rubrics.conversation_name import KnownConversations
from cotune.rubrics.verdict import Status
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

from .rulings import RUBRIC


def known() -> KnownConversations:
    """Two conversations of one scenario, and one of another that came from two traces."""
    turns = tuple(Turn("Hi.", Reply("Hello.", ()), {}) for _ in range(2))

    def conversation(scenario: str, **metadata: Any) -> Trajectory:
        return Trajectory(scenario, turns, {}, StopReason.SATISFIED, metadata=metadata)

    return KnownConversations(
        [
            conversation("milk", repeat=0),
            conversation("milk", repeat=1),
            conversation("tea", traces=["tr-1", "tr-2"]),
        ]
    )


def taken(labels: Labels, form: Format, **held: Any) -> tuple[list[Annotation], list[str]]:
    intake = Intake(form, held.get("rubric"), held.get("known"))
    return list(intake.take(labels)), [str(refused) for refused in intake.refused]


def csv(tmp_path: Path, text: str, form: Format | None = None, **held: Any):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    form = form or Format()
    return taken(read_csv(str(path), form), form, **held)


def json_lines(tmp_path: Path, *rows: Any, form: Format | None = None, **held: Any):
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    form = form or Format()
    return taken(read_json_lines(str(path), form), form, **held)


def short(annotations: list[Annotation]) -> list[tuple[Any, ...]]:
    return [(a.conversation, a.criterion, a.annotator, a.value or a.status) for a in annotations]


def test_a_csv_gives_values_reasons_turns_and_times(tmp_path: Path):
    found, refused = csv(
        tmp_path,
        "conversation,criterion,annotator,value,rationale,turn,time\n"
        'tea,safety,Ann,Pass,"All well,\nas ever.",1,2026-01-31T12:00\n'
        "tea,safety,Bob,0,,,\n"
        "tea,tone,Ann,N/A,,,\n"
        "tea,tone,Bob,0.5,,,\n",
        rubric=RUBRIC,
        known=known(),
    )
    assert refused == []
    first, second, third, fourth = found
    assert (first.value, first.turn, first.rationale) == (1.0, 1, "All well,\nas ever.")
    assert first.time == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert (second.value, second.turn, second.time) == (0.0, None, None)
    assert (third.value, third.status) == (None, Status.NOT_APPLICABLE)
    assert fourth.value == 0.5


def test_what_cannot_be_used_is_named_by_line_and_the_rest_kept(tmp_path: Path):
    found, refused = csv(
        tmp_path,
        "conversation,criterion,annotator,value,turn\n"
        "tea,safety,Ann,pass,\n"
        "tea,safety,Ann,pass,\n"
        "tea,safety,Ann,fail,1\n"
        "milk,safety,Ann,pass,\n"
        "beer,safety,Ann,pass,\n"
        "tea,speed,Ann,pass,\n"
        "tea,tone,Ann,0.7,\n"
        "tea,tone,Ann,meh,\n"
        "tea,tone,Ann,1,2\n"
        "tea,tone,Ann,1,x\n"
        "tea,tone,,1,\n"
        "tea,tone,Ann,,\n"
        "tea,tone,Ann,1,1,1\n"
        '"milk#repeat=1",safety,Ann,fail,\n',
        rubric=RUBRIC,
        known=known(),
    )
    assert short(found) == [
        ("tea", "safety", "Ann", 1.0),
        ("milk#repeat=1", "safety", "Ann", Status.SCORED),
    ]
    assert found[1].value == 0.0
    reasons = [
        "line 3: Ann decided about 'safety' of 'tea' before, at 2, with the same value",
        "line 4: Ann decided about 'safety' of 'tea' before, at 2, with another value",
        "line 5: 'milk' is 2 conversations; name one of them, such as milk#repeat=0",
        "line 6: there is no conversation 'beer'",
        "line 7: the rubric 'shop' has no criterion 'speed'; it has: complete, tone, safety",
        "line 8: 'tone' is 0.7; its scale is 1, 0.5, 0",
        "line 9: the value 'meh' is neither a number nor a known word",
        "line 10: 'tea' has 2 turns, so none is number 2 from 0",
        "line 11: found 'x' where a turn from 0 is",
        "line 12: 'annotator' does not say who annotated",
        "line 13: 'value' has no value",
        "line 14: it has more cells than there are columns",
    ]
    assert len(refused) == len(reasons)
    for said, expected in zip(refused, reasons, strict=True):
        assert said.startswith(expected)


def test_columns_values_and_criteria_can_be_called_anything(tmp_path: Path):
    form = Format.model_validate(
        {
            "columns": {"conversation": "dialogue", "value": "mark", "turn": "at"},
            "criterion": "Danger",
            "annotator": "expert",
            "criteria": {"Danger": "safety"},
            "values": {"None": 1, "some": 0, "?": "inconclusive"},
            "first_turn": 1,
            "delimiter": ";",
        }
    )
    found, refused = csv(tmp_path, "dialogue;mark;at\ntea;none;1\nmilk;?;\n", form)
    assert refused == []
    assert short(found) == [
        ("tea", "safety", "expert", 1.0),
        ("milk", "safety", "expert", Status.INCONCLUSIVE),
    ]
    assert found[0].turn == 0


def test_a_table_may_have_a_column_for_each_criterion_and_several_people_in_a_cell(tmp_path: Path):
    form = Format(value_columns={"Safe?": "safety", "Tone": "tone"}, separator="|")
    found, refused = csv(tmp_path, "conversation,Safe?,Tone\ntea,yes|no,\nmilk,,1||0.5\n", form)
    assert refused == []
    assert [(a.criterion, a.annotator, a.value) for a in found] == [
        ("safety", "annotator-1", 1.0),
        ("safety", "annotator-2", 0.0),
        ("tone", "annotator-1", 1.0),
        ("tone", "annotator-3", 0.5),
    ]


def test_a_csv_without_the_columns_is_a_usage_error(tmp_path: Path):
    with pytest.raises(UsageError, match="no column 'conversation', 'criterion'; found: 'id', "):
        csv(tmp_path, "id,value,annotator\n1,1,x\n")


def test_a_quote_that_is_never_closed_ends_the_reading(tmp_path: Path):
    _, refused = csv(tmp_path, 'conversation,criterion,annotator,value\na,b,c,"1\nd,e,f,1\n')
    (said,) = refused
    assert said.startswith("line 2: it is not CSV")


def test_json_lines_give_true_and_numbers_and_name_bad_lines(tmp_path: Path):
    base = {"conversation": "tea", "criterion": "safety", "annotator": "Ann"}
    found, refused = json_lines(
        tmp_path,
        {**base, "value": True},
        "",
        "{no json",
        [1],
        {**base, "annotator": "Bob", "value": 0},
        {**base, "annotator": "Cid", "value": {"a": 1}},
        {**base, "annotator": "Dan", "value": 1, "time": "soon"},
    )
    assert [(a.annotator, a.value) for a in found] == [("Ann", 1.0), ("Bob", 0.0)]
    assert [said.partition(":")[0] for said in refused] == ["line 3", "line 4", "line 6", "line 7"]
    assert "'soon' is no time" in refused[-1]


def test_ratings_have_the_scale_that_is_declared(tmp_path: Path):
    form = Format(scale=(1, 2, 3, 4, 5), criterion="overall")
    rows = [{"conversation": "a", "annotator": "x", "value": value} for value in (5, 6)]
    found, refused = json_lines(tmp_path, *rows, form=form)
    assert [a.value for a in found] == [5.0]
    assert refused == ["line 2: 'overall' is 6; its scale is 1, 2, 3, 4, 5"]


def task(results: list[dict[str, Any]], conversation: str = "tea", **more: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "data": {"conversation": conversation},
        "annotations": [{"completed_by": 7, "result": results, **more}],
    }


def result(name: str, kind: str, **value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": value}


def test_label_studio_gives_choices_and_ratings_with_their_reasons(tmp_path: Path):
    path = tmp_path / "export.json"
    path.write_text(
        json.dumps(
            [
                task(
                    [
                        result("safety", "choices", choices=["Pass"]),
                        result("tone", "rating", rating=1),
                        result("rationale", "textarea", text=["Fine."]),
                        result("rationale_tone", "textarea", text=["Kind."]),
                        result("words", "labels", labels=["x"]),
                    ],
                    updated_at="2026-01-31T12:00:00Z",
                ),
                task([result("safety", "choices", choices=["Fail"])], was_cancelled=True),
                task([result("safety", "choices", choices=["Pass", "Fail"])], "milk#repeat=0"),
                {"data": {"text": "?"}},
                {
                    **task([]),
                    "annotations": [
                        {
                            "completed_by": {"id": 9, "email": "bob@shop.test"},
                            "result": [result("safety", "choices", choices=["Fail"])],
                        }
                    ],
                },
            ]
        )
    )
    form = Format()
    labels = read_label_studio(str(path), form)
    found, refused = taken(labels, form, rubric=RUBRIC, known=known())
    assert [(a.criterion, a.annotator, a.value, a.rationale) for a in found] == [
        ("safety", "annotator-7", 1.0, "Fine."),
        ("tone", "annotator-7", 1.0, "Kind."),
        ("safety", "bob@shop.test", 0.0, ""),
    ]
    assert found[0].time == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert [said.partition(":")[0] for said in refused] == ["task 3", "task 4"]


def flat(annotator: object, **answers: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "conversation": "tea",
        "text": "yes",
        "annotator": annotator,
        "annotation_id": 5,
        "updated_at": "2026-01-31T12:00:00Z",
        **answers,
    }


def test_label_studios_short_export_gives_the_answers_that_are_named(tmp_path: Path):
    path = tmp_path / "export.json"
    tasks = [
        flat(7, safety="Pass", tone=[{"rating": 1}], rationale="Fine.", rationale_tone="Kind."),
        flat("bob@shop.org", safety={"choices": ["Pass", "Fail"]}),
        flat(None, safety="Fail"),
        {"annotation_id": 6, "annotator": 7, "safety": "Fail"},
        3,
    ]
    path.write_text(json.dumps(tasks))
    form = Format(value_columns={"safety": "safety", "tone": "tone"})
    labels = read_label_studio(str(path), form)
    found, refused = taken(labels, form, rubric=RUBRIC, known=known())
    assert [(a.criterion, a.annotator, a.value, a.rationale) for a in found] == [
        ("safety", "annotator-7", 1.0, "Fine."),
        ("tone", "annotator-7", 1.0, "Kind."),
    ]
    assert found[0].time == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert [said.partition(":")[0] for said in refused] == ["task 2", "task 3", "task 4", "task 5"]
    with pytest.raises(UsageError, match="answers stand among the task's data"):
        read_label_studio(str(path), Format())


def test_what_is_no_export_of_label_studio_is_a_usage_error(tmp_path: Path):
    path = tmp_path / "export.json"
    path.write_text("{}")
    with pytest.raises(UsageError, match="no export of Label Studio"):
        read_label_studio(str(path), Format())


TRANSCRIPT = """
USER\tA room, please.\tinform\t3,4
SYSTEM\tWhere?\trequest\t
USER\tIn Rome.\tinform\t2
USER\tOr Pisa.\tinform\t2
SYSTEM\tDone.\tbook\t
USER\tOVERALL\t\t4,4,5

USER\tHi.\tgreet\t1
CLERK\tHi.\tgreet\t
"""


def test_a_transcript_gives_ratings_by_turn_and_of_the_whole_and_its_dialogues(tmp_path: Path):
    path = tmp_path / "dialogues.txt"
    path.write_text(TRANSCRIPT)
    config = tmp_path / "form.yaml"
    config.write_text(
        'delimiter: "\\t"\nseparator: ","\nscale: [1, 2, 3, 4, 5]\n'
        'values: {"2": 2}\n'
        "transcript:\n  columns: [role, text, action, values]\n  turn_criterion: content\n"
        '  conversation: "d-{number}"\n'
    )
    form = load_format(config)
    found, refused = taken(read_transcript(str(path), form), form)
    assert [(a.conversation, a.criterion, a.turn, a.value) for a in found] == [
        ("d-1", "content", 0, 3.0),
        ("d-1", "content", 0, 4.0),
        ("d-1", "content", 1, 2.0),
        ("d-1", "overall", None, 4.0),
        ("d-1", "overall", None, 4.0),
        ("d-1", "overall", None, 5.0),
    ]
    assert [said.partition(":")[0] for said in refused] == ["line 5", "dialogue 2"]
    assert "line 10 is by 'CLERK'" in refused[1]
    (dialogue,) = conversations(str(path), form)
    assert dialogue.scenario == "d-1"
    assert [(turn.message, turn.reply.text) for turn in dialogue.turns] == [
        ("A room, please.", "Where?"),
        ("In Rome.\n\nOr Pisa.", "Done."),
    ]


def test_a_format_that_cannot_be_is_named_with_its_line(tmp_path: Path):
    config = tmp_path / "form.yaml"
    config.write_text("scale: [1]\ntranscript:\n  columns: [role, text]\n")
    with pytest.raises(UsageError, match="`columns` has no values"):
        load_format(config)
    config.write_text("values:\n  yes: 1\n")
    with pytest.raises(UsageError, match="found true; expected text in quotes"):
        load_format(config)


def test_annotations_come_back_as_they_were_written(tmp_path: Path):
    path = tmp_path / "annotations.jsonl"
    written = [
        Annotation(
            conversation="tea",
            criterion="safety",
            annotator="Ann",
            value=1.0,
            rationale="Ça va.",
            turn=2,
            time=datetime(2026, 1, 31, tzinfo=UTC),
        ),
        Annotation(
            conversation="tea", criterion="tone", annotator="Ann", status=Status.NOT_APPLICABLE
        ),
    ]
    assert write_annotations(path, written) == 2
    assert list(read_annotations(path)) == written
    path.write_text('{"conversation": "a", "criterion": "b", "annotator": "c"}\n')
    with pytest.raises(UsageError, match="line 1: the line: give a value, or the status"):
        list(read_annotations(path))
