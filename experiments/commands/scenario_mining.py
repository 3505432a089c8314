"""`cotune scenarios mine`: scenarios as recorded conversations suggest them, to be edited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...agents.counted import counted
from ...agents.errors import UsageError
from .arguments import Tokens, Usd


def mine(
    logs: Annotated[Path, typer.Argument(help="Trajectories, as JSON lines.", dir_okay=False)],
    out: Annotated[Path, typer.Option(help="The scenario file to write, YAML.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="Model that reads each conversation once: 'local', or a LiteLLM model string. "
            "Left out, rules propose what tool calls and first messages tell."
        ),
    ] = None,
    api_base: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible endpoint for --model.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds the key of --model.")
    ] = None,
    tokens: Tokens = None,
    usd: Usd = None,
) -> None:
    """Propose scenarios from conversations: goals, facts, constraints, families.

    Personal data is masked as far as its form tells. Every proposal says in a comment what to
    check; it is meant to be edited.
    """
    from ...agents.budget import Limits
    from ...agents.ledger import Ledger
    from ...agents.models import ModelSettings
    from ...simulation.mining.proposal_file import write_proposals
    from ..scenario_mining import MiningModel
    from ..scenario_mining import mine as propose
    from .options import SHORT_NAMES
    from .resumable import resumable

    _require_writable(out)
    reader = None
    if model is not None:
        settings = ModelSettings(
            model=SHORT_NAMES.get(model, model), api_base=api_base, api_key_env=api_key_env
        )
        limits = Limits(rollouts=1, tokens=tokens, usd=usd)
        reader = MiningModel(settings, limits, out.with_name(f"{out.stem}.mining"))
    ledger = Ledger()
    with resumable():
        proposals = propose(logs, reader, ledger)
    write_proposals(out, proposals)
    families = len({each.scenario.family for each in proposals})
    typer.echo(
        f"Wrote {counted(len(proposals), 'scenario')} in "
        f"{counted(families, 'family', 'families')} to {out}. They are proposals: look for "
        "'# check:', and for names of people, which have no form by which they could be masked. "
        f"Then:\n  cotune scenarios validate {out}"
    )


def _require_writable(out: Path) -> None:
    if out.suffix not in (".yaml", ".yml"):
        raise UsageError(f"--out {out}: proposals are written as YAML; name a .yaml file.")
    if out.exists():
        raise UsageError(f"{out} exists already and is not overwritten; name another file.")
