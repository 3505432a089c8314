"""Checks of a configuration that need no model: scenarios, judge, tracking."""

from __future__ import annotations

from collections.abc import Iterator

from ...agents.adapters.kinds import adapter_of
from ...agents.errors import CotuneError, UsageError
from ...agents.prompts import PromptBundle
from ...optimizer.example import Splits
from ...optimizer.plan import Plan, make_plan
from ...rubrics.consistency import unknown_agents
from ...rubrics.rubric import Rubric
from ...rubrics.rubric_file import load_rubric
from ...rubrics.subject import SubjectKind
from ...simulation.scenario import Scenario
from ..carded_judge import CardedJudge
from ..config import RunConfig
from ..seed_prompts import load_seed
from ..tracking import Tracker
from .finding import Finding, fine, problem, skipped, warning


def seed_prompts(config: RunConfig) -> tuple[PromptBundle | None, Finding]:
    """Return the prompts of the assistant, and how they were found."""
    try:
        prompts = load_seed(config)
        adapter_of(config.assistant).identity()  # imports a team's code, wherever prompts are
    except CotuneError as error:
        return None, problem("assistant", str(error), "Mend what it names.")
    found = f"'{config.assistant.name}' with the prompts {', '.join(prompts)}."
    return prompts, fine("assistant", found)


def scenarios_of(config: RunConfig) -> tuple[Splits[Scenario] | None, Finding]:
    """Return the scenarios by split; what is in two of them is refused."""
    try:
        splits = config.system.load_splits(config.simulation.scenarios)
    except UsageError as error:
        remedy = "Mend what it names; cotune can split whole families itself (system.split)."
        return None, problem("scenarios", str(error), remedy)
    sizes = ", ".join(f"{len(found)} {name}" for name, found in splits.named().items())
    return splits, fine("scenarios", f"{sizes}; no family in two splits.")


def rubric_of(config: RunConfig, prompts: PromptBundle | None) -> Iterator[Finding]:
    """Say whether the rubric can be used, whom it blames, and what nobody will decide."""
    try:
        rubric = load_rubric(config.system.rubric)
    except UsageError as error:
        yield problem("rubric", str(error), "Mend what it names; `cotune rubric lint` says more.")
        return
    if rubric.subject is not SubjectKind.TRAJECTORY:
        said = f"'{rubric.id}' scores single calls, not conversations."
        yield problem("rubric", said, "Take one with 'subject: trajectory'.")
        return
    yield _decided(config, rubric)
    if prompts is not None:
        yield from _blamed(rubric, prompts)


def _blamed(rubric: Rubric, prompts: PromptBundle) -> Iterator[Finding]:
    for criterion in rubric.criteria:
        for _, agent in unknown_agents(criterion, prompts):
            yield problem(
                "rubric",
                f"The criterion '{criterion.id}' names the agent '{agent}', and the "
                f"assistant has {', '.join(prompts)}: what it finds could reach no prompt.",
                "Name agents as the prompts are named.",
            )


def _decided(config: RunConfig, rubric: Rubric) -> Finding:
    has_judge = config.models.judge is not None or config.system.judge.card is not None
    open_ = [each.name for each in rubric.criteria if each.check is None]
    if open_ and not has_judge:
        return warning(
            "rubric",
            f"Nobody decides: {', '.join(open_)}. They are left out of all scores.",
            "Name a judge under models.judge or system.judge.card.",
        )
    return fine("rubric", f"'{rubric.id}' with {len(rubric.criteria)} criteria.")


def judge_of(config: RunConfig) -> Finding:
    """Say whether anybody knows how far the judge agrees with people."""
    card = config.system.judge.card
    if card is not None:
        try:
            kappa = CardedJudge.load(card).card.kappa
        except UsageError as error:
            return problem("judge", str(error), "Calibrate again with `cotune calibrate`.")
        value = None if kappa is None or kappa.value is None else f"kappa {kappa.value:.2f}"
        return fine("judge", f"Calibrated; {value or 'agreement beyond chance is undefined'}.")
    if config.models.judge is None:
        return skipped("judge", "None; checks alone decide.")
    return warning(
        "judge",
        f"'{config.models.judge.model}' has no card: nobody knows how far it agrees with people.",
        "Annotate some conversations (`cotune annotate`), run `cotune calibrate`, and name the "
        "card under system.judge.card.",
    )


def plan_of(config: RunConfig, splits: Splits[Scenario]) -> tuple[Plan | None, Finding]:
    """Return what the budget buys."""
    try:
        plan = make_plan(config, splits)
    except UsageError as error:
        return None, problem("budget", str(error), "Set what it names.")
    said = (
        f"{plan.total} conversations: at least {plan.candidates} candidates, {plan.test} to test."
    )
    return plan, fine("budget", said)


def tracking_of(config: RunConfig) -> Finding:
    """Say whether MLflow can be reached."""
    tracking = config.tracking
    try:
        Tracker(tracking.uri, tracking.experiment).check()
    except CotuneError as error:
        return problem(
            "tracking",
            str(error),
            "Start the server, or mend tracking.uri; --no-mlflow runs without it.",
        )
    return fine("tracking", f"MLflow at {tracking.uri} answers.")
