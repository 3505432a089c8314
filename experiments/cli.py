"""The command line: `cotune`.

Commands import what they need when they run, so that `cotune --help` stays fast. What a person
did wrong is answered with one paragraph and an exit code (2 for a mistake in the command or its
files, 1 for a failure), never with a traceback.
"""

from __future__ import annotations

import logging
import os
import sys
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from .commands.arguments import (
    AnnotationFiles,
    ApiBase,
    AsJson,
    ConversationTokens,
    JudgeApiBase,
    JudgeApiKeyEnv,
    Model,
    NoMlflow,
    Out,
    RecordAsJson,
    Seed,
    Tokens,
    Usd,
)

app = typer.Typer(
    name="cotune",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Improve the prompts of multi-agent assistants, and say truthfully whether it helped.",
)
optimize = typer.Typer(no_args_is_help=True, help="Optimize prompts against a rubric.")
config = typer.Typer(no_args_is_help=True, help="About configuration files.")
app.add_typer(optimize, name="optimize")
app.add_typer(config, name="config")


@app.callback(invoke_without_command=True)
def cotune(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log what gepa does.")] = False,
) -> None:
    """Set up what every command shares."""
    if version:
        from .. import __version__

        typer.echo(__version__)
        raise typer.Exit
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    if verbose:
        logging.getLogger("cotune").setLevel(logging.DEBUG)


@app.command()
def quickstart(
    scope: Annotated[
        str, typer.Option(help="What is optimized: one agent, or the whole system.")
    ] = "agent",
    model: Model = "local",
    api_base: ApiBase = None,
    seed: Seed = None,
    out: Out = None,
    no_mlflow: NoMlflow = False,
    as_json: RecordAsJson = False,
) -> None:
    """Optimize the grocery assistant, or one of its agents, up to a held-out result."""
    from .commands.options import Options
    from .commands.quickstart import run

    run(Options(model, api_base, seed, out or Path("cotune-runs"), not no_mlflow, as_json), scope)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Where to write; created if needed.")] = Path(
        "cotune-start"
    ),
    framework: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FRAMEWORK",
            help="For an assistant of your own: function, dspy, openai-agents, langgraph, "
            "pydantic-ai, google-adk or http. Left out, for the grocery assistant.",
        ),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:ATTRIBUTE",
            help="Where your assistant is, seen from here; of a service its URL. Left out, a "
            "small shop is written.",
        ),
    ] = None,
) -> None:
    """Write a folder to start from: a commented configuration and what it needs."""
    from .commands.init import run

    run(folder, framework, path)


@optimize.command("agent")
def optimize_agent(
    name: Annotated[str, typer.Argument(help="The agent whose prompt is optimized.")],
    config_file: Annotated[Path, typer.Option("--config", help="The configuration file.")],
    model: Model = None,
    api_base: ApiBase = None,
    seed: Seed = None,
    out: Out = None,
    no_mlflow: NoMlflow = False,
    as_json: RecordAsJson = False,
) -> None:
    """Evolve one agent's prompt with GEPA against a localized rubric."""
    from .commands.optimize import run
    from .commands.options import Options

    run(name, config_file, Options(model, api_base, seed, out, not no_mlflow, as_json))


@optimize.command("system")
def optimize_system(
    config_file: Annotated[Path, typer.Option("--config", help="The configuration file.")],
    rollouts: Annotated[
        int | None, typer.Option(min=1, help="Conversations to play at most, the test included.")
    ] = None,
    usd: Usd = None,
    started_from: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="RUN",
            help="A run whose winner to start from: folder, name or latest. May be repeated.",
        ),
    ] = None,
    require_calibrated: Annotated[
        float | None,
        typer.Option(
            metavar="KAPPA", help="Refuse a judge whose card says less agreement than this."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before spending.")] = False,
    model: Model = None,
    api_base: ApiBase = None,
    seed: Seed = None,
    out: Out = None,
    no_mlflow: NoMlflow = False,
    as_json: RecordAsJson = False,
) -> None:
    """Tune the prompts of all agents together on simulated conversations (MAMuT)."""
    from .commands.optimize import run_system
    from .commands.options import OptimizeOptions, Options

    common = Options(model, api_base, seed, out, not no_mlflow, as_json)
    froms = started_from or ()
    options = OptimizeOptions(common, rollouts, usd, froms, yes, require_calibrated)
    run_system(config_file, options)


@app.command()
def doctor(
    config_file: Annotated[Path, typer.Option("--config", help="The configuration file.")],
    offline: Annotated[
        bool, typer.Option("--offline", help="Look at files only; call no model and play no turn.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check an assistant and its configuration with a few turns, before money is spent."""
    from .commands.doctor import run

    run(config_file, ask_models=not offline, as_json=as_json)


@app.command()
def simulate(
    config_file: Annotated[
        Path | None,
        typer.Option("--config", help="The configuration file; a built-in one when left out."),
    ] = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="Scenarios at most.")] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Conversations per scenario, with seeds of their own.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Who plays the customer: agenda, llm or template.")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Where it runs: asyncio or ray.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes, with ray.")] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Of the configuration: train, val or test; all when left out."),
    ] = None,
    model: Model = None,
    api_base: ApiBase = None,
    seed: Seed = None,
    out: Out = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Play multi-turn conversations between simulated customers and the assistant."""
    from .commands.options import Options
    from .commands.simulate import SimulateOptions, run

    common = Options(model, api_base, seed, out, False, as_json)
    run(config_file, SimulateOptions(common, n, repeats, user, engine, workers, split))


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="Trajectories, as JSON lines.")],
    id_: Annotated[
        str | None, typer.Option("--id", help="The scenario of the conversation to show.")
    ] = None,
    number: Annotated[
        int | None, typer.Option(min=1, help="Which conversation, from 1; the first when left out.")
    ] = None,
    notes: Annotated[
        bool, typer.Option("--notes", help="Say why the customer said what they said.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> None:
    """Print one conversation readably."""
    from .commands.show import run

    run(file, id_, number, as_json=as_json, notes=notes)


@app.command()
def judge(
    trajectories: Annotated[
        Path, typer.Argument(help="Trajectories, as JSON lines.", dir_okay=False)
    ],
    rubric: Annotated[str, typer.Option(help="A pack (magic, sera, pace) or a YAML file.")],
    out: Annotated[Path, typer.Option(help="The verdicts file to write, JSON lines.")],
    scenarios: Annotated[
        str | None,
        typer.Option(help="The scenarios that were played: a pack or a file. Default: grocery."),
    ] = None,
    judge_model: Annotated[
        str | None,
        typer.Option(
            "--judge",
            help="Model that judges what checks leave open: 'local', 'scripted', or a LiteLLM "
            "model string. Left out, only checks decide.",
        ),
    ] = None,
    card: Annotated[
        Path | None,
        typer.Option(help="The card of a calibrated judge, in place of --judge.", dir_okay=False),
    ] = None,
    api_base: JudgeApiBase = None,
    api_key_env: JudgeApiKeyEnv = None,
    strategy: Annotated[
        str,
        typer.Option(
            help="What is asked in one call: the rubric, a domain, a criterion, or a word, with "
            "its probability, for each criterion (for small models)."
        ),
    ] = "domain",
    repeats: Annotated[
        int, typer.Option(min=1, max=99, help="How often to ask; the majority counts.")
    ] = 1,
    conversation_tokens: ConversationTokens = None,
    tokens: Tokens = None,
    usd: Usd = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Judge recorded conversations by a rubric: checks first, then a model if there is one."""
    from .commands.judge import JudgeOptions, run

    asked = JudgeOptions(
        judge_model, api_base, api_key_env, strategy, repeats, conversation_tokens, card
    )
    run(
        trajectories,
        rubric,
        asked,
        scenarios=scenarios,
        tokens=tokens,
        usd=usd,
        out=out,
        as_json=as_json,
    )


@app.command()
def gate(
    verdicts: Annotated[Path, typer.Argument(help="What `cotune judge` wrote.", dir_okay=False)],
    least: Annotated[
        list[str] | None,
        typer.Option(
            "--min",
            metavar="NAME=VALUE",
            help="To be reached: overall, objective, passed, conversations, a domain, a criterion.",
        ),
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option(
            "--max",
            metavar="NAME=VALUE",
            help="Not to be exceeded: inconclusive, undecided, critical_failures, failed, "
            "excluded.",
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Thresholds as YAML, with the sections min and max.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hold verdicts against thresholds; exit code 1, and why, when one is missed."""
    from .commands.gate import run

    run(verdicts, file, least or (), most or (), as_json=as_json)


@app.command()
def agreement(
    annotations: AnnotationFiles,
    verdicts: Annotated[
        Path | None,
        typer.Option(help="What `cotune judge` wrote, to hold it against people.", dir_okay=False),
    ] = None,
    rubric: Annotated[
        str | None, typer.Option(help="A pack or a YAML file: scales, domains and weights.")
    ] = None,
    gold: Annotated[
        str,
        typer.Option(help="How several people's values become one: majority, mean, dawid-skene."),
    ] = "majority",
    level: Annotated[
        str | None,
        typer.Option(help="What distances of values mean to alpha: nominal, ordinal, interval."),
    ] = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")] = 0.95,
    resamples: Annotated[int, typer.Option(min=200, help="Of the bootstrap.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure how far people agree, and how far a judge agrees with them."""
    from .commands.agreement import AgreementOptions, run

    options = AgreementOptions(rubric, gold, level, confidence, resamples, seed)
    run(annotations, verdicts, options, as_json=as_json)


@config.command("schema")
def schema() -> None:
    """Print the JSON schema of the configuration, for editors."""
    from .config import config_schema

    typer.echo(config_schema())


@config.command("check")
def check(path: Annotated[Path, typer.Argument(help="The configuration file.")]) -> None:
    """Check a configuration and say what is wrong with it."""
    from .config import load_config

    load_config(path)
    typer.echo(f"{path} is sound.")


@cache  # they would be there once more with every call
def add_groups() -> None:
    """Add the groups of commands that stand in files of their own."""
    from .commands import (
        adapter,
        annotations,
        examples,
        experiment,
        model,
        prompts,
        rubric,
        runs,
        scenarios,
        trajectories,
    )
    from .commands.annotate import annotate
    from .commands.calibrate import calibrate
    from .commands.compare import compare
    from .commands.judge_check import judge_check
    from .commands.judge_compare import judge_compare
    from .commands.report import report
    from .commands.scenario_mining import mine

    scenarios.app.command("mine")(mine)
    for name, group in (
        ("examples", examples.app),
        ("scenarios", scenarios.app),
        ("trajectories", trajectories.app),
        ("annotations", annotations.app),
        ("rubric", rubric.app),
        ("runs", runs.app),
        ("prompts", prompts.app),
        ("model", model.app),
        ("experiment", experiment.app),
        ("adapter", adapter.app),
    ):
        app.add_typer(group, name=name)
    app.command("annotate")(annotate)
    app.command("calibrate")(calibrate)
    app.command("judge-check")(judge_check)
    app.command("judge-compare")(judge_compare)
    app.command("report")(report)
    app.command("compare")(compare)


def main() -> None:
    """Run the command line."""
    from ..agents.errors import CotuneError
    from .brief import plain

    # A rubric may name checks of the user's own by import path, relative to where they work.
    sys.path.append(os.getcwd())
    add_groups()
    try:
        app()
    except CotuneError as error:
        typer.echo(plain(f"cotune: {error}"), err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        typer.echo(
            f"cotune: {error}. Mend that (a full disk, a folder that cannot be written) and "
            "repeat the command; what a run has paid for is in its journal.",
            err=True,
        )
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("cotune: stopped.", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()
