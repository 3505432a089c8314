"""Options that several commands take, as typer reads them from signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    str | None,
    typer.Option(
        help="Model to run on: 'local' (embedded), 'scripted' (a simulation), or a LiteLLM model "
        "string such as openai/gpt-4.1-mini.",
    ),
]
ApiBase = Annotated[
    str | None, typer.Option(help="Address of an OpenAI-compatible endpoint for --model.")
]
Seed = Annotated[int | None, typer.Option(min=0, help="Same seed, same run.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the runs.")]
NoMlflow = Annotated[
    bool, typer.Option("--no-mlflow", "--no-track", help="Do not track the run in MLflow.")
]
RecordAsJson = Annotated[bool, typer.Option("--json", help="Print the run's record as JSON.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Tokens = Annotated[int | None, typer.Option(min=1, help="Tokens to use at most.")]
Usd = Annotated[float | None, typer.Option(help="US dollars to spend at most.")]

AnnotationFiles = Annotated[
    list[Path], typer.Argument(help="Annotations files, as JSON lines.", dir_okay=False)
]
AnnotatedConversations = Annotated[
    Path, typer.Option(help="The conversations that were annotated.")
]
Played = Annotated[str | None, typer.Option(help="What was played: a pack or file.")]
JudgeApiBase = Annotated[
    str | None, typer.Option(help="Address of an OpenAI-compatible endpoint for --judge.")
]
JudgeApiKeyEnv = Annotated[
    str | None, typer.Option(help="Environment variable that holds the key of --judge.")
]
ConversationTokens = Annotated[
    int | None, typer.Option(min=100, help="What a conversation may take before it is cut.")
]
ReviewMlflow = Annotated[
    str, typer.Option(metavar="URI", help="Tracking URI of the MLflow in which people annotate.")
]
ReviewExperiment = Annotated[str, typer.Option(help="The experiment in which they do.")]
