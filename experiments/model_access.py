"""Opening the models of a run: servers of embedded models start and stop with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ..agents.budget import Budget
from ..agents.errors import CotuneError, FaultError, UsageError
from ..agents.ledger import Ledger, Role
from ..agents.lm import LanguageModel
from ..agents.local.server import LocalServer
from ..agents.models import LOCAL, ModelSettings
from ..agents.redact import public


@contextmanager
def open_models(
    settings: dict[Role, ModelSettings], ledger: Ledger, budget: Budget
) -> Iterator[dict[Role, LanguageModel]]:
    """Give the models by role; one server runs per embedded model, whatever roles it has.

    Raises:
        CotuneError: A server does not start, a key is missing, a model string means nothing.
    """
    servers: dict[str, LocalServer] = {}
    with ExitStack() as stack:
        models = {}
        for role, wanted in settings.items():
            server = None
            if wanted.is_local:
                server = servers.get(wanted.model)
                if server is None:
                    started = LocalServer.of(wanted.model.removeprefix(LOCAL))
                    server = servers[wanted.model] = stack.enter_context(started)
            models[role] = _connect(wanted, role, ledger, budget, server)
        yield models


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


def _connect(
    settings: ModelSettings,
    role: Role,
    ledger: Ledger,
    budget: Budget,
    server: LocalServer | None,
) -> LanguageModel:
    if server is None:
        return LanguageModel(settings, role, ledger, budget)
    slots = min(settings.concurrency, server.slots)
    settings = settings.model_copy(update={"concurrency": slots})
    served = {"endpoint": server.api_base, "weights": server.weights}
    return LanguageModel(settings, role, ledger, budget, **served)
