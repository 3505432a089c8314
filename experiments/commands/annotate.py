"""`cotune annotate`: send conversations to where people say what they think of them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...agents.counted import counted
from ..brief import plain
from .arguments import AsJson, ReviewExperiment, ReviewMlflow

if TYPE_CHECKING:
    from ..annotation_place import ReviewPlace
    from ..annotation_queues import Queue
    from ..annotation_sending import Sent


def annotate(
    trajectories: Annotated[
        Path, typer.Argument(help="Trajectories, as JSON lines.", dir_okay=False)
    ],
    rubric: Annotated[str, typer.Option(help="A pack or a YAML file: what people are asked.")],
    verdicts: Annotated[
        Path | None,
        typer.Option(
            help="What `cotune judge` wrote of them: the doubtful go first, and high and low "
            "scores are mixed.",
            dir_okay=False,
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=1, help="Conversations at most; as many as calibration likes by default."),
    ] = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(help="Ask about this one only. May be repeated. Default: all judged ones."),
    ] = None,
    annotator: Annotated[
        list[str] | None,
        typer.Option(help="Who is asked, by the name they log in with. May be repeated."),
    ] = None,
    mlflow: ReviewMlflow = "sqlite:///mlflow.db",
    experiment: ReviewExperiment = "cotune-annotations",
    seed: Annotated[int, typer.Option(min=0, help="Decides among equals.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Choose conversations that are worth a person's time, and send them to MLflow's review UI."""
    from ..annotation_place import ReviewPlace
    from ..annotation_queues import NOBODY
    from ..annotation_sending import ENOUGH, Wanted, send

    place = ReviewPlace(mlflow, experiment)
    people = tuple(dict.fromkeys(annotator or (NOBODY,)))
    wanted = Wanted(count or ENOUGH, tuple(criterion or ()), people, seed)
    sent = send(trajectories, rubric, verdicts, wanted, place)
    if as_json:
        typer.echo(json.dumps(sent.to_json(), indent=2))
        return
    fetch = ["cotune", "annotations", "pull", str(trajectories), "--rubric", rubric]
    for line in _told(sent, place, fetch):
        typer.echo(plain(line))


def _told(sent: Sent, place: ReviewPlace, fetch: Sequence[str]) -> Iterator[str]:
    doubtful = f", {sent.doubtful} of them doubtful" if sent.doubtful else ""
    there = sent.chosen - sent.new
    yield (
        f"{counted(sent.chosen, 'conversation')} of {sent.among:,} chosen{doubtful}: {sent.new:,} "
        f"sent{f', {there:,} were there' if there else ''}. A larger --count adds to them."
    )
    yield ""
    if place.start:
        yield f"Start:   {place.start}"
    yield f"Open:    {place.page(sent.experiment_id)}"
    for queue in sent.queues:
        yield from _queue(queue)
    yield from _where_to_answer(sent)
    where = ("--out", "annotations.jsonl", "--mlflow", place.uri, "--experiment", place.experiment)
    yield f"Fetch:   {shlex.join([*fetch, *where])}"


def _queue(queue: Queue) -> Iterator[str]:
    yield f"Queue:   {queue.name}"
    about = (
        "each item is a turn: answer for its last exchange"
        if queue.per_turn
        else "each item is the last turn; View full trace shows all before it: answer for the whole"
    )
    yield f"         {', '.join(queue.questions)}; {about}."


def _where_to_answer(sent: Sent) -> Iterator[str]:
    if sent.queues:
        yield (
            "Beside a queue, an assessment with a question's name may be added to any trace: to an "
            "earlier turn where it went wrong, or to a session for the whole conversation."
        )
    else:
        yield (
            "This server has no review queues. Open the experiment's sessions, and add to the last "
            "trace of each an assessment of the kind feedback, called like the criterion: pass, "
            "fail, n/a or unsure, with a rationale."
        )
    yield (
        "Several people need a server with log-ins (mlflow server --app-name basic-auth), or all "
        "are called 'default'."
    )
