"""An import of annotations: a source read by a format, held against rubric and conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from ..agents.errors import UsageError
from ..agents.problem import problems_of
from ..rubrics.annotation import Annotation, write_annotations
from ..rubrics.annotation_intake import Intake
from ..rubrics.annotation_sources.format import Columns, Format, load_format
from ..rubrics.annotation_sources.label import Labels
from ..rubrics.annotation_sources.label_studio import read_label_studio
from ..rubrics.annotation_sources.mlflow_assessments import read_mlflow
from ..rubrics.annotation_sources.table import read_csv, read_json_lines
from ..rubrics.annotation_sources.transcript import conversations, read_transcript
from ..rubrics.conversation_name import KnownConversations
from ..rubrics.rubric_file import load_rubric
from ..simulation.importers.importer import Refused
from ..simulation.trajectory_file import read_trajectories, write_trajectories


class Source(StrEnum):
    """What annotations can be imported from."""

    CSV = "csv"
    JSONL = "jsonl"
    LABEL_STUDIO = "label-studio"
    MLFLOW = "mlflow"
    TRANSCRIPT = "transcript"


_READERS: Mapping[Source, Callable[[str, Format], Labels]] = {
    Source.CSV: read_csv,
    Source.JSONL: read_json_lines,
    Source.LABEL_STUDIO: read_label_studio,
    Source.MLFLOW: read_mlflow,
    Source.TRANSCRIPT: read_transcript,
}


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """What the command line says of a format; it goes before the file's.

    Attributes:
        file: The format, as YAML; None for the usual one.
        columns: `part=name`, such as `conversation=dialogue_id`.
        values: `written=meaning`, such as `good=1`.
        criterion: The criterion of all.
        annotator: The annotator of all.
    """

    file: Path | None = None
    columns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    criterion: str | None = None
    annotator: str | None = None

    def format(self) -> Format:
        """Return the format.

        Raises:
            UsageError: It cannot be used, or an option means nothing.
        """
        form = Format() if self.file is None else load_format(self.file)
        said = form.model_dump(exclude_unset=True)
        said["columns"] = said.get("columns", {}) | _named("--column", self.columns)
        said["values"] = said.get("values", {}) | _named("--value", self.values)
        for name, value in (("criterion", self.criterion), ("annotator", self.annotator)):
            if value is not None:
                said[name] = value
        try:
            return Format.model_validate(said)
        except ValidationError as error:
            place, what = next(problems_of(error, Format))
            raise UsageError(f"--{' '.join(map(str, place))}: {what}.") from error


@dataclass(slots=True)
class Brought:
    """What an import brought.

    Attributes:
        annotations: How many.
        conversations: How many conversations they are about.
        annotators: How many people they are by.
        by_criterion: How many are about each criterion.
        refused: What was left out.
    """

    annotations: int = 0
    conversations: int = 0
    annotators: int = 0
    by_criterion: dict[str, int] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)


def bring(
    source: str,
    kind: Source,
    form: Format,
    rubric: str | None,
    trajectories: Path | None,
    out: Path,
) -> Brought:
    """Read a source and write what can be used of it, if it is anything.

    Args:
        source: A file; for MLflow a tracking URI or an experiment.
        kind: What it is.
        form: How it is to be read.
        rubric: A pack or a file, whose criteria and scales are held against it.
        trajectories: The conversations there are.
        out: The annotations file to write.

    Raises:
        UsageError: A file cannot be read.
        CotuneError: `out` cannot be written, or MLflow cannot be used.
    """
    known = KnownConversations(read_trajectories(trajectories)) if trajectories else None
    intake = Intake(form, load_rubric(rubric) if rubric else None, known)
    return written(intake.take(_READERS[kind](source, form)), intake, out)


def written(taken: Iterable[Annotation], intake: Intake, out: Path) -> Brought:
    """Write what an intake takes, if it is anything, and say what it was.

    Raises:
        CotuneError: `out` cannot be written.
    """
    annotations = list(taken)
    if annotations:
        write_annotations(out, annotations)
    return _brought(annotations, intake.refused)


def write_conversations(source: str, form: Format, out: Path) -> int:
    """Write the dialogues of a transcript as trajectories, to be judged.

    Returns:
        How many there were.
    """
    return write_trajectories(out, conversations(source, form))


def _brought(annotations: Iterable[Annotation], refused: list[Refused]) -> Brought:
    brought = Brought(refused=refused)
    about, by = set[str](), set[str]()
    for each in annotations:
        brought.annotations += 1
        count = brought.by_criterion.get(each.criterion, 0)
        brought.by_criterion[each.criterion] = count + 1
        about.add(each.conversation)
        by.add(each.annotator)
    brought.conversations, brought.annotators = len(about), len(by)
    return brought


def _named(option: str, given: Iterable[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for each in given:
        name, sign, value = each.rpartition("=")
        if not sign or not name or not value:
            example = "conversation=dialogue_id" if option == "--column" else "good=1"
            raise UsageError(f"{option} '{each}' is no pair such as {option} {example}.")
        named[name] = value
    unknown = [name for name in named if name not in Columns.model_fields]
    if option == "--column" and unknown:
        raise UsageError(
            f"--column {unknown[0]}=…: an annotation has no such part; it has "
            f"{', '.join(Columns.model_fields)}."
        )
    return named
