"""`cotune judge`: many conversations against a rubric, shown, summed up and written down."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from ...agents.errors import UsageError
from ...agents.ledger import Ledger
from ...agents.models import ModelSettings
from ..carded_judge import CardedJudge
from ..judge_model import TIMEOUT, Asking, JudgeModel, JudgeSource, fitting_tokens
from ..judging_progress import JudgingProgress
from ..judging_run import JudgingRun
from ..judging_summary import announce, present, summary_json
from .options import SHORT_NAMES
from .resumable import resumable

SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What the command line says about the judge.

    Attributes:
        model: Model that judges; `local` and `scripted` are short for the ones we bring.
        api_base: Address of an OpenAI-compatible endpoint for it.
        api_key_env: Name of the environment variable that holds its key.
        strategy: How it is asked; see `Asking`.
        repeats: How often each question is asked.
        conversation_tokens: What a conversation may take; what suits the model when None.
        card: The card of a calibrated judge, which says all this itself.
    """

    model: str | None = None
    api_base: str | None = None
    api_key_env: str | None = None
    strategy: str = Asking.DOMAIN
    repeats: int = 1
    conversation_tokens: int | None = None
    card: Path | None = None

    def source(self) -> JudgeSource | None:
        """Return the judge to be, by its card where there is one; None when only checks decide.

        Raises:
            UsageError: Options do not go together, or the card cannot be used.
        """
        if self.card is None:
            return self.judge_model()
        if self.model is not None or self.api_base is not None:
            raise UsageError("--card says which model judges; leave out --judge and --api-base.")
        return CardedJudge.load(self.card)

    def judge_model(self) -> JudgeModel | None:
        """Return the judge to be; None when only checks decide.

        Raises:
            UsageError: Options do not go together.
        """
        if self.model is None:
            if self.api_base is not None:
                raise UsageError("--api-base goes with --judge MODEL; without a judge only checks.")
            return None
        if self.strategy not in set(Asking):
            raise UsageError(f"--strategy is '{self.strategy}'; allowed: {', '.join(Asking)}.")
        asking = Asking(self.strategy)
        if asking is Asking.WORD and self.repeats > 1:
            raise UsageError("--repeats means nothing with --strategy word: a probability is one.")
        settings = ModelSettings(
            model=SHORT_NAMES.get(self.model, self.model),
            api_base=self.api_base,
            api_key_env=self.api_key_env,
            timeout=TIMEOUT,
        )
        tokens = self.conversation_tokens or fitting_tokens(settings, asking)
        return JudgeModel(settings, asking, self.repeats, tokens)


def run(
    trajectories: Path,
    rubric: str,
    judge: JudgeOptions,
    *,
    scenarios: str | None,
    tokens: int | None,
    usd: float | None,
    out: Path,
    as_json: bool,
) -> None:
    """Run the command; see `cotune judge --help`."""
    console = Console(stderr=as_json)
    run_ = JudgingRun.prepare(
        trajectories,
        rubric,
        scenarios=scenarios,
        model=judge.source(),
        tokens=tokens,
        usd=usd,
        out=out,
    )
    announce(run_, console)
    ledger = Ledger()
    progress = JudgingProgress(console, ledger, run_.survey.conversations)
    with resumable(), run_.journal() as journal, progress:
        tally = run_.execute(journal, ledger, progress)
    record = summary_json(tally, ledger, run_)
    (run_.folder / SUMMARY).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    present(tally, ledger, run_, console)
    if as_json:
        typer.echo(json.dumps(record, indent=2))
