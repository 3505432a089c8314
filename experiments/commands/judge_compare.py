"""`cotune judge-compare`: several judges on the same labels, and the cheapest that will do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import (
    AnnotationFiles,
    AsJson,
    ConversationTokens,
    JudgeApiBase,
    JudgeApiKeyEnv,
    Played,
    Tokens,
    Usd,
)

if TYPE_CHECKING:
    from ..judge_comparison import JudgeComparison
    from ..judge_contender import Contender
    from .judge import JudgeOptions

_Trajectories = Annotated[
    Path | None, typer.Option(help="The conversations that were annotated.", dir_okay=False)
]
_Rubric = Annotated[str, typer.Option(help="A pack or a YAML file.")]
_Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="MODEL[@STRATEGY]",
        help="A model that judges, such as local@word; may be repeated.",
    ),
]
_Cards = Annotated[
    list[Path] | None,
    typer.Option("--card", help="A calibrated judge; may be repeated.", dir_okay=False),
]
_Verdicts = Annotated[
    list[Path] | None,
    typer.Option("--verdicts", help="What `cotune judge` wrote; may be repeated.", dir_okay=False),
]
_Margin = Annotated[
    float, typer.Option(min=0.01, max=1, help="How much less kappa is as good as the best.")
]
_Strategy = Annotated[
    str, typer.Option(help="How a --judge without one is asked: rubric, domain, criterion, word.")
]
_Gold = Annotated[
    str, typer.Option(help="How several people become one: majority, mean, dawid-skene.")
]
_Out = Annotated[Path, typer.Option(help="Folder for verdicts and journals.")]


def judge_compare(
    annotations: AnnotationFiles,
    rubric: _Rubric,
    trajectories: _Trajectories = None,
    judges: _Judges = None,
    cards: _Cards = None,
    verdicts: _Verdicts = None,
    margin: _Margin = 0.1,
    strategy: _Strategy = "domain",
    conversation_tokens: ConversationTokens = None,
    api_base: JudgeApiBase = None,
    api_key_env: JudgeApiKeyEnv = None,
    scenarios: Played = None,
    gold: _Gold = "majority",
    tokens: Tokens = None,
    usd: Usd = None,
    out: _Out = Path("judge-comparison"),
    as_json: AsJson = False,
) -> None:
    """Compare judges on the same labels: agreement, paired differences and what a verdict costs."""
    from ...agents.budget import Limits
    from ..judge_comparison import JudgeComparison
    from .agreement import AgreementOptions
    from .judge import JudgeOptions

    asked = JudgeOptions(None, api_base, api_key_env, strategy, 1, conversation_tokens)
    prepared = JudgeComparison.prepare(
        AgreementOptions(rubric, gold).study(annotations),
        list(_contenders(judges or (), cards or (), asked)),
        verdicts or (),
        trajectories=trajectories,
        rubric=rubric,
        scenarios=scenarios,
        limits=Limits(tokens=tokens, usd=usd),
        out=out,
    )
    run(prepared, margin, as_json=as_json)


def run(prepared: JudgeComparison, margin: float, *, as_json: bool) -> None:
    """Have all judges judge, and show how they compare."""
    from rich.console import Console

    from ...agents.ledger import Ledger
    from ..judge_ranking import ranked
    from ..judge_ranking_tables import present_ranking, recommendation
    from ..judging_progress import JudgingProgress
    from .resumable import resumable

    console = Console(stderr=as_json)

    def watch(name: str, ledger: Ledger, total: int) -> JudgingProgress:
        console.print(f"Judge: {name}", markup=False, highlight=False, soft_wrap=True)
        return JudgingProgress(console, ledger, total)

    with resumable():
        heard = prepared.execute(watch)
    ranking = ranked(prepared.study, heard, margin)
    present_ranking(ranking, console)
    if as_json:
        said = {**ranking.to_json(), "said": list(recommendation(ranking))}
        typer.echo(json.dumps(said, indent=2, ensure_ascii=False))


def _contenders(
    judges: Sequence[str], cards: Sequence[Path], asked: JudgeOptions
) -> Iterator[Contender]:
    """Yield the judges that are to be asked; a model may say itself how, after an @."""
    from dataclasses import replace

    from ..judge_contender import Contender
    from ..judge_model import Asking

    for typed in judges:
        model, _, strategy = typed.rpartition("@")
        if strategy not in set(Asking):  # the names of some models have an @ of their own
            model, strategy = typed, asked.strategy
        options = replace(asked, model=model, strategy=strategy)
        judge = options.judge_model()
        assert judge is not None
        yield Contender.of_model(model, judge)
    for card in cards:
        yield Contender.of_card(card)
