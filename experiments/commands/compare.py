"""`cotune compare`: two runs, bundles of prompts or verdicts files, in pairs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import ApiBase, AsJson, Model, Out, Seed, Tokens, Usd

if TYPE_CHECKING:
    from rich.console import Console

    from ...optimizer.settings import HeldOutTest
    from ..compared import Compared
    from ..config import RunConfig
    from .options import Options

    Sides = tuple[tuple[Compared, Compared], HeldOutTest, int]

_OUT = Path("cotune-runs")
_SPLIT = "test"

_Side = Annotated[
    Path,
    typer.Argument(
        help="A finished run (folder, name or latest), a verdicts file, or with --config a folder "
        "of prompts, exported prompts or mlflow:TASK@ALIAS.",
        show_default=False,
    ),
]


def compare(
    a: _Side,
    b: _Side,
    config_file: Annotated[
        Path | None,
        typer.Option("--config", help="Of the assistant; both sides' prompts are played first."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="Call this agent alone, in place of whole conversations.")
    ] = None,
    split: Annotated[str, typer.Option(help="What is played: train, val or test.")] = _SPLIT,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="How often each example is played on each side.")
    ] = None,
    tokens: Tokens = None,
    usd: Usd = None,
    model: Model = None,
    api_base: ApiBase = None,
    seed: Seed = None,
    out: Out = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 when B is worse, or less safe.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two runs, bundles of prompts or verdicts files in pairs: is B better than A?"""
    from .options import Options

    options = Options(model, api_base, seed, out, False, as_json)
    played = MatchOptions(options, config_file, agent, split, repeats, tokens, usd)
    run(a, b, played, strict=strict)


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """What may be said of how two bundles are played.

    Attributes:
        common: What other commands have, too.
        config_file: Of the assistant; None where nothing is played.
        agent: The agent that is called alone.
        split: What is played.
        repeats: How often each example is.
        tokens: Tokens to use at most.
        usd: US dollars to spend at most.
    """

    common: Options
    config_file: Path | None
    agent: str | None
    split: str
    repeats: int | None
    tokens: int | None
    usd: float | None

    def config(self, file: Path) -> RunConfig:
        """Return the configuration with these options instead."""
        from ..config import load_config

        config = self.common.applied_to(load_config(file))
        said = {"tokens": self.tokens, "usd": self.usd}
        limits = {name: value for name, value in said.items() if value is not None}
        changes: dict[str, object] = {"limits": config.limits.model_copy(update=limits)}
        if self.repeats is not None:
            changes["test"] = config.test.model_copy(update={"repeats": self.repeats})
        return config.model_copy(update=changes)

    def require_nothing_played(self) -> None:
        """Refuse options that mean nothing where nothing is played.

        Raises:
            UsageError: There is one.
        """
        from ..compared import require_nothing_played

        given = {
            "--agent": self.agent,
            "--split": None if self.split == _SPLIT else self.split,
            "--repeats": self.repeats,
            "--tokens": self.tokens,
            "--usd": self.usd,
            "--model": self.common.model,
            "--api-base": self.common.api_base,
        }
        require_nothing_played(given, "--config")


def run(a: Path, b: Path, options: MatchOptions, *, strict: bool) -> None:
    """Compare, and show what came of it.

    Raises:
        UsageError: A side is not what it should be, or both have nothing in common.
    """
    from rich.console import Console

    from ..compared import compare as compared
    from ..compared import require_two
    from ..compared_tables import comparison_json, present_comparison

    console = Console(stderr=options.common.as_json)
    require_two(a, b)
    if options.config_file is None:
        sides, settings, seed = _read(a, b, options)
    else:
        sides, settings, seed = _played(a, b, options, options.config_file, console)
    shown = compared(*sides, settings, seed)
    present_comparison(shown, console)
    if options.common.as_json:
        typer.echo(json.dumps(comparison_json(shown), indent=2, ensure_ascii=False))
    if strict and shown.is_worse:
        raise typer.Exit(1)


def _read(a: Path, b: Path, options: MatchOptions) -> Sides:
    """Return both sides as they were played before."""
    from ...optimizer.settings import HeldOutTest
    from ..compared import side_of

    options.require_nothing_played()
    out = options.common.out or _OUT
    one, other = (side_of(each, out) for each in (a, b))
    return (one, other), HeldOutTest(), options.common.seed or 0


def _played(a: Path, b: Path, options: MatchOptions, file: Path, console: Console) -> Sides:
    """Play both sides' prompts and return what came of it."""
    from ...agents.ledger import Ledger
    from ..bundle_match import BundleMatch
    from ..compared import bundle_of
    from ..compared_tables import announce_match
    from ..progress import RunProgress
    from .resumable import resumable

    config = options.config(file)
    bundles = {str(each): bundle_of(str(each), config.out) for each in (a, b)}
    match = BundleMatch.prepare(config, options.agent, bundles, options.split)
    announce_match(match, console)
    ledger = Ledger()
    noun = "conversation" if options.agent is None else "rollout"
    with resumable(), match.run.journal() as journal, RunProgress(console, ledger, noun) as told:
        match.execute(journal, ledger, told)
    one, other = match.sides()
    return (one, other), config.test, config.seed
