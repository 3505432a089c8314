"""`cotune adapter`: whether an assistant takes part as it should."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from .arguments import AsJson

app = typer.Typer(no_args_is_help=True, help="About assistants of your own.")


@app.callback()
def adapter() -> None:
    """Group the commands, also while there is one only."""


@app.command()
def check(
    url: Annotated[
        str, typer.Argument(help="Base URL of the service, such as http://localhost:8000/v1.")
    ],
    message: Annotated[
        str, typer.Option(help="What a customer says to it.")
    ] = "Hello, what can you do for me?",
    prompts: Annotated[
        Path | None, typer.Option(help="Folder of prompts, where the service names none.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds a bearer token.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one answer.")] = 120.0,
    as_json: AsJson = False,
) -> None:
    """Try every rule of the HTTP adapter on a service, and say what to mend; exit code 1."""
    from pydantic import ValidationError

    from ...agents.adapters.settings import HttpSettings
    from ...agents.errors import UsageError
    from ...agents.prompts import PromptBundle
    from ..adapter_check import Outcome, ServiceCheck, findings_json

    try:
        settings = HttpSettings(
            kind="http", url=url, api_key_env=api_key_env, timeout=timeout, attempts=1
        )
    except ValidationError as error:
        raise UsageError(
            f"'{url}' is not the base URL of a service, such as http://localhost:8000/v1."
        ) from error
    texts = {} if prompts is None else PromptBundle.load(prompts).texts()
    found = asyncio.run(ServiceCheck(settings, message, texts).run())
    if as_json:
        typer.echo(json.dumps(findings_json(found), indent=2, ensure_ascii=False))
    else:
        from ..adapter_table import show

        show(found, url)
    if any(each.outcome is Outcome.FAILED for each in found):
        raise typer.Exit(1)
