"""Options of `cotune calibrate`, as typer reads them; each is a field of `CalibrationConfig`.

Their defaults are the configuration's, so that only what was typed overrides it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path | None,
    typer.Option("--config", help="A YAML file with these options as fields.", dir_okay=False),
]
Annotations = Annotated[
    list[Path] | None, typer.Argument(help="Annotations files, as JSON lines.", dir_okay=False)
]
Trajectories = Annotated[Path | None, typer.Option(help="The conversations that were annotated.")]
Rubric = Annotated[str | None, typer.Option(help="A pack or a YAML file.")]
Judge = Annotated[
    str | None,
    typer.Option(help="Model that judges: 'local', 'scripted', or a LiteLLM model string."),
]
Strategy = Annotated[
    str | None,
    typer.Option(help="What is asked in one call: rubric, domain (usual), criterion or word."),
]
Repeats = Annotated[int | None, typer.Option(min=1, max=99, help="How often to ask.")]
Reflection = Annotated[
    str | None, typer.Option(help="Model that writes the prompts; without one, lessons do.")
]
Gold = Annotated[
    str | None,
    typer.Option(help="How several people become one: majority (usual), mean, dawid-skene."),
]
Certainty = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Share of people that agree on a label to tune by."),
]
Train = Annotated[
    float | None, typer.Option(min=0.05, max=0.9, help="Share to learn from; usually 0.25.")
]
Val = Annotated[
    float | None, typer.Option(min=0.05, max=0.9, help="Share to choose by; usually 0.25.")
]
Tested = Annotated[int | None, typer.Option(min=10, help="Conversations in the test at most.")]
Width = Annotated[
    float | None,
    typer.Option(min=0.05, max=1, help="Wanted width of the interval of kappa; usually 0.4."),
]
Rollouts = Annotated[
    int | None,
    typer.Option(min=1, help="Conversations to judge at most, the test included; usually 1000."),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Same seed, same run.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the runs; usually cotune-runs.")]
Mlflow = Annotated[
    str | None, typer.Option(help="Tracking URI of the MLflow that gets the card, too.")
]
CardAsJson = Annotated[bool, typer.Option("--json", help="Print the card as JSON.")]
