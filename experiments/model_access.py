"""Opening the models of a run: servers of embedded models start and stop with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from ..agents.budget import Budget
from ..agents.connect import Served, connect
from ..agents.errors import CotuneError, FaultError, UsageError
from ..agents.ledger import Ledger, Role
from ..agents.lm import LanguageModel
from ..agents.local.catalog import get_model
from ..agents.local.server import LocalServer
from ..agents.models import LOCAL, ModelSettings
from ..agents.redact import public


def require_known(settings: Mapping[Role, ModelSettings]) -> None:
    """Refuse models that cannot exist, before anything is written or asked.

    Raises:
        UsageError: There is no such embedded model, or the key's variable is not set.
        ModelUnusableError: A model string means nothing.
    """
    for role, wanted in settings.items():
        if wanted.is_local:
            get_model(wanted.model.removeprefix(LOCAL))
        else:
            LanguageModel(wanted, role, Ledger())


@contextmanager
def serving(
    settings: Mapping[Role, ModelSettings],
) -> Iterator[tuple[dict[Role, ModelSettings], dict[str, Served]]]:
    """Run a server for each embedded model, whatever roles it has.

    Gives the settings, with no more calls in flight than a server takes, and by model string
    where each embedded model is served.

    Raises:
        CotuneError: A server does not start.
    """
    servers: dict[str, LocalServer] = {}
    with ExitStack() as stack:
        fitted = {}
        for role, wanted in settings.items():
            fitted[role] = wanted
            if not wanted.is_local:
                continue
            if wanted.model not in servers:
                started = LocalServer.of(wanted.model.removeprefix(LOCAL))
                servers[wanted.model] = stack.enter_context(started)
            slots = min(wanted.concurrency, servers[wanted.model].slots)
            fitted[role] = wanted.model_copy(update={"concurrency": slots})
        served = {
            model: Served(endpoint=server.api_base, weights=server.weights)
            for model, server in servers.items()
        }
        yield fitted, served


@contextmanager
def open_models(
    settings: Mapping[Role, ModelSettings], ledger: Ledger, budget: Budget
) -> Iterator[dict[Role, LanguageModel]]:
    """Give the models by role, those that are embedded with their servers running.

    Raises:
        CotuneError: A server does not start, a key is missing, a model string means nothing.
    """
    with serving(settings) as (fitted, served):
        yield connect(fitted, served, ledger, budget)


async def check_reachable(model: LanguageModel) -> None:
    """Ask a hosted model for one word, so that a dead endpoint costs seconds and not a run.

    Raises:
        CotuneError: It does not answer.
        UsageError: Money is limited, but the model has no known price.
    """
    settings = model.settings
    if settings.is_local or settings.is_scripted:
        return
    probe = settings.model_copy(update={"attempts": 1, "timeout": min(settings.timeout, 30.0)})
    try:
        await LanguageModel(probe, model.role, model.ledger, model.budget).acall("Say: ready")
    except FaultError as error:
        if error.fault.kind == "rate_limit":  # busy is reachable; the run has patience
            return
        where = f" at {public(settings.api_base)}" if settings.api_base else ""
        raise CotuneError(
            f"The {model.role} model '{settings.model}'{where} does not answer: "
            f"{error.fault.message}. No rollout was started. Check the address and that its server "
            "runs, then run the same command again."
        ) from error
    limited = model.budget is not None and model.budget.limits.usd is not None
    if limited and model.ledger.total.unpriced:
        raise UsageError(
            f"limits.usd is set, but no price is known for the {model.role} model "
            f"'{settings.model}', so money could not be counted. Give it a price: "
            f"models.{model.role}.price: {{input: …, output: …}}, in dollars per million tokens."
        )
