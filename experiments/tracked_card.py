"""A judge's card in MLflow: its figures as metrics, card, page and prompts as artifacts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..agents.errors import CotuneError
from ..agents.fingerprint import fingerprint
from ..agents.redact import public
from ..rubrics.comparison import Measure
from ..rubrics.judge_card import Earned, JudgeCard
from .mlflow_access import artifacts_beside, connected, first_line

if TYPE_CHECKING:
    from mlflow import MlflowClient

_CONTENT = "cotune.card"


def track_card(card: JudgeCard, folder: Path, uri: str, experiment: str = "cotune") -> None:
    """Write a card as a run of MLflow; the same card is not written twice.

    Args:
        card: The card.
        folder: Of the calibration; all but its journal becomes artifacts.
        uri: Tracking URI.
        experiment: Name of the experiment; created when it does not exist.

    Raises:
        CotuneError: MLflow cannot be used.
    """
    try:
        _write(connected(uri), card, folder, experiment)
    except Exception as error:  # whatever the backend raises, a person gets one message
        raise CotuneError(
            f"The card is written, but MLflow at {public(uri)} cannot be used: "
            f"{public(first_line(error))}. Check --mlflow and repeat the command; nothing is "
            "paid again."
        ) from error


def metrics_of(card: JudgeCard) -> dict[str, float]:
    """Return the card's figures by name, such as `done/kappa/both` and `overall/kappa/low`."""
    parts: dict[str, Mapping[Measure, Earned]] = {
        **{name: each.measures for name, each in card.criteria.items()},
        **{f"domain.{name}": each.measures for name, each in card.domains.items()},
        **({"overall": card.overall.measures} if card.overall else {}),
    }
    return {
        f"{name}/{measure}/{figure}": value
        for name, measures in parts.items()
        for measure, earned in measures.items()
        for figure, value in _figures(earned)
    }


def _figures(earned: Earned) -> Iterator[tuple[str, float]]:
    estimates = {
        "before": earned.before,
        "prompt": earned.prompt,
        "threshold": earned.threshold,
        "both": earned.both,
        "people": earned.people,
    }
    for name, estimate in estimates.items():
        if estimate is not None and estimate.value is not None:
            yield name, estimate.value
    for name, bound in (("low", earned.both.low), ("high", earned.both.high)):
        if bound is not None:
            yield name, bound
    if earned.by_both.value is not None:
        yield "gain", earned.by_both.value


def _write(client: MlflowClient, card: JudgeCard, folder: Path, experiment: str) -> None:
    found = client.get_experiment_by_name(experiment)
    place = artifacts_beside(client.tracking_uri, experiment)
    id_ = found.experiment_id if found else client.create_experiment(experiment, place)
    content = fingerprint(card.model_dump(mode="json", exclude={"created", "seal", "cost"}), 32)
    if client.search_runs([id_], f"tags.`{_CONTENT}` = '{content}'", max_results=1):
        return
    tags = {_CONTENT: content, "cotune.kind": "judge", "cotune.rubric": card.rubric}
    run_id = client.create_run(id_, tags=tags, run_name=folder.name).info.run_id
    params = {
        "judge": card.model.model,
        "strategy": card.asked.strategy,
        "rubric": card.rubric,
        **{f"fingerprint.{name}": value for name, value in card.fingerprints},
        **{f"conversations.{name}": str(size) for name, size in card.data.splits.items()},
    }
    for name, value in params.items():
        client.log_param(run_id, name, value)
    for name, value in metrics_of(card).items():
        client.log_metric(run_id, name, value)
    for path in sorted(folder.glob("judge-card.*")):
        client.log_artifact(run_id, str(path))
    client.log_artifacts(run_id, str(folder / "prompts"), "prompts")
    client.set_terminated(run_id, "FINISHED")
