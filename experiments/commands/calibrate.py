"""`cotune calibrate`: from people's annotations to a judge with a card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import (
    AnnotatedConversations,
    AnnotationFiles,
    ConversationTokens,
    JudgeApiBase,
    JudgeApiKeyEnv,
    Played,
    Tokens,
    Usd,
)

if TYPE_CHECKING:
    from ..calibration_run import CalibrationRun

CARD, PAGE, PROMPTS = "judge-card.json", "judge-card.html", "prompts"


def calibrate(
    annotations: AnnotationFiles,
    trajectories: AnnotatedConversations,
    rubric: Annotated[str, typer.Option(help="A pack or a YAML file.")],
    judge: Annotated[
        str, typer.Option(help="Model that judges: 'local', 'scripted', or a LiteLLM model string.")
    ],
    strategy: Annotated[
        str, typer.Option(help="What is asked in one call: rubric, domain, criterion or word.")
    ] = "domain",
    reflection: Annotated[
        str | None,
        typer.Option(help="Model that writes the prompts; without one, lessons do."),
    ] = None,
    scenarios: Played = None,
    gold: Annotated[
        str, typer.Option(help="How several people become one: majority, mean, dawid-skene.")
    ] = "majority",
    certainty: Annotated[
        float, typer.Option(min=0, max=1, help="Share of people that agree on a label to tune by.")
    ] = 0.0,
    train: Annotated[float, typer.Option(min=0.05, max=0.9, help="Share to learn from.")] = 0.25,
    val: Annotated[float, typer.Option(min=0.05, max=0.9, help="Share to choose by.")] = 0.25,
    tested: Annotated[
        int | None, typer.Option(min=10, help="Conversations in the test at most.")
    ] = None,
    width: Annotated[
        float, typer.Option(min=0.05, max=1, help="Wanted width of the interval of kappa.")
    ] = 0.4,
    rollouts: Annotated[
        int, typer.Option(min=1, help="Conversations to judge at most, the test included.")
    ] = 1000,
    tokens: Tokens = None,
    usd: Usd = None,
    api_base: JudgeApiBase = None,
    api_key_env: JudgeApiKeyEnv = None,
    repeats: Annotated[int, typer.Option(min=1, max=99, help="How often to ask.")] = 1,
    conversation_tokens: ConversationTokens = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same run.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the runs.")] = Path("cotune-runs"),
    mlflow: Annotated[
        str | None, typer.Option(help="Tracking URI of the MLflow that gets the card, too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the card as JSON.")] = False,
) -> None:
    """Make a judge agree with people, prove it on labels it never saw, and write its card."""
    from ...agents.budget import Limits
    from ...agents.errors import UsageError
    from ...agents.models import ModelSettings
    from ...rubrics.clustered_estimate import Resampling
    from ...rubrics.gold import GoldMethod
    from ...simulation.scenario_split import Shares
    from ..calibration_data import Dealing
    from ..calibration_run import CalibrationRun, Source
    from .judge import JudgeOptions
    from .options import SHORT_NAMES

    asked = JudgeOptions(judge, api_base, api_key_env, strategy, repeats, conversation_tokens)
    model = asked.judge_model()
    assert model is not None
    if gold not in set(GoldMethod):
        raise UsageError(f"--gold is '{gold}'; allowed: {', '.join(GoldMethod)}.")
    if train + val >= 0.95:
        raise UsageError(f"--train {train:g} and --val {val:g} leave too little for the test.")
    shares = Shares(train=train, val=val, test=1.0 - train - val)
    writer = None if reflection is None else SHORT_NAMES.get(reflection, reflection)
    prepared = CalibrationRun.prepare(
        Source(annotations, trajectories, rubric, scenarios, GoldMethod(gold)),
        model,
        None if writer is None else ModelSettings(model=writer, max_tokens=4096),
        dealing=Dealing(shares, seed, certainty, tested, width),
        limits=Limits(rollouts=rollouts, tokens=tokens, usd=usd),
        resampling=Resampling(seed=seed),
        out=out,
    )
    run(prepared, mlflow, as_json=as_json)


def run(prepared: CalibrationRun, mlflow: str | None, *, as_json: bool) -> None:
    """Calibrate, show, and write card, page and prompts into the run's folder, and to MLflow."""
    from rich.console import Console

    from ...agents.ledger import Ledger
    from ..calibration_card import card_of
    from ..calibration_page import render_card
    from ..calibration_tables import announce, present
    from ..progress import RunProgress
    from ..tracked_card import track_card
    from .resumable import resumable

    console, ledger = Console(stderr=as_json), Ledger()
    announce(prepared, console)
    with resumable(), prepared.journal() as journal:
        with RunProgress(console, ledger, "conversation") as progress:
            calibrated = prepared.execute(journal, ledger, progress)
        card = card_of(prepared, calibrated, ledger)
    folder = prepared.folder
    card.save(folder / CARD)
    card.bundle.save(folder / PROMPTS)
    (folder / PAGE).write_text(render_card(card, calibrated.judge.prompts), encoding="utf-8")
    present(card, console)
    console.print(f"The card: {folder / CARD}", highlight=False, soft_wrap=True)
    if as_json:
        typer.echo(card.model_dump_json(indent=2))
    if mlflow is not None:
        track_card(card, folder, mlflow)
