"""What MLflow is told about a run, as plain values; nothing here knows MLflow's API."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..optimizer.held_out import Comparison
from ..rubrics.clustered_estimate import Estimate
from .conclusion import reading, sentence
from .front_charts import front_page
from .record_parts import CandidateRecord
from .run_record import FILE_NAME as RECORD_FILE
from .run_record import RunAbout, RunRecord, config_yaml
from .tracked_curves import Curves, Decided, Point

About = RunAbout | RunRecord
"""What MLflow is told when a run begins, or afterwards when it could not be told then."""

_MAX_PARAM = 500
_NOT_IN_NAMES = re.compile(r"[^\w\-. :/]")
_TABLES = ("candidates.json", "pareto_front.json", "held_out.json", "ledger.json", "faults.json")


def params_of(about: About) -> dict[str, str]:
    """Return the short settings by dotted name; long ones are in the configuration artifact."""
    settings = {
        "task_kind": about.kind,
        **{f"version.{name}": value for name, value in about.versions.items()},
        **dict(_flat(about.config)),
    }
    texts = {_NOT_IN_NAMES.sub("_", name): _text(value) for name, value in settings.items()}
    return {name: text for name, text in texts.items() if 0 < len(text) <= _MAX_PARAM}


def begin_tags(about: About) -> dict[str, str]:
    """Return the tags of a run that begins."""
    return {
        "mlflow.source.name": "cotune",
        "mlflow.source.type": "LOCAL",
        "cotune.state": "running",
        "cotune.simulated": _text(about.simulated),
        "cotune.command": about.command,
        **({"cotune.started_from": " ".join(about.started_from)} if about.started_from else {}),
    }


def end_tags(record: RunRecord, registered: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of a finished run.

    Args:
        record: The run.
        registered: URI of the registered prompt by agent.
    """
    tables = [{"path": path, "type": "table"} for path in _TABLES]
    return {
        "mlflow.note.content": f"**{sentence(record)}**\n\n{reading(record)}",
        "mlflow.loggedArtifacts": json.dumps(tables),  # by this MLflow knows tables
        "cotune.state": "finished",
        "cotune.conclusion": str(record.conclusion),
        "cotune.winner": str(record.winner),
        "cotune.winner_fingerprint": record.chosen.fingerprint,
        "cotune.seed_fingerprint": record.seed.fingerprint,
        "cotune.stopped": record.stopped,
        **{f"cotune.prompt.{agent}": uri for agent, uri in registered.items()},
    }


def metrics_of(record: RunRecord) -> list[Point]:
    """Return the curves over rollouts, then the final values at the last rollout."""
    finals = dict(_finals(record))
    return [*_curves(record), *(Point(name, finals[name], record.rollouts) for name in finals)]


def artifacts_of(record: RunRecord, report: str) -> dict[str, str]:
    """Return the files of a run by path."""
    tables = (
        _candidate_rows(record.candidates),
        _candidate_rows(one for one in record.candidates if _on_a_front(one)),
        _held_out_rows(record),
        _ledger_rows(record),
        [one.model_dump() for one in record.faults],
    )
    return {
        "report.html": report,
        RECORD_FILE: record.model_dump_json(indent=2),
        "config.yaml": config_yaml(record.config),
        "pareto_front.html": front_page(record),
        "prompts/changes.diff": record.diff,
        **_candidate_files(record),
        **_prompt_files("seed", record.seed),
        **_prompt_files("winner", record.chosen),
        **_card_file(record),
        **{path: _table(rows) for path, rows in zip(_TABLES, tables, strict=True)},
    }


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{prefix}{name}.")
        elif inner is not None:
            yield f"{prefix}{name}", inner


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _curves(record: RunRecord) -> Iterator[Point]:
    curves = Curves()
    spent = {one.candidate: one.usd for one in record.invocation.moments}
    for one in record.candidates:
        yield from curves.candidate(Decided.read(one), spent.get(one.number, 0.0))
    for moment in record.invocation.moments:
        yield from curves.moment(moment)


def _finals(record: RunRecord) -> Iterator[tuple[str, float]]:
    yield "rollouts", record.rollouts
    yield "candidates", len(record.candidates)
    yield "prompt_length/seed", record.seed.length
    yield "prompt_length/winner", record.chosen.length
    if record.val_gain is not None:
        yield "val_gain", record.val_gain
    if record.overfit is not None:
        yield "overfit", record.overfit
    if record.card is not None and (kappa := record.card.kappa) is not None:
        yield from ((f"judge/{name}", value) for name, value in _kappa(kappa) if value is not None)
    if record.held_out is not None:
        yield "held_out/examples", record.held_out.examples
        yield "held_out/lost", record.held_out.lost
        yield "held_out/deployable", float(record.held_out.deployable)
        for name, comparison in comparisons_of(record):
            yield from points_compared(f"held_out/{name}", comparison)
    for role, usage in record.by_role.items():
        yield f"calls/{role}", usage.calls
        yield f"tokens/{role}", usage.tokens
        yield f"usd/{role}", usage.cost
    for origin, count in _faults_by_origin(record).items():
        yield f"faults/{origin}", count


def _kappa(kappa: Estimate) -> tuple[tuple[str, float | None], ...]:
    return ("kappa", kappa.value), ("kappa/low", kappa.low), ("kappa/high", kappa.high)


def comparisons_of(record: RunRecord) -> list[tuple[str, Comparison]]:
    """Return the comparisons of the test by name: overall, objectives, then rates of failures."""
    if record.held_out is None:
        return []
    failures = {f"failures/{name}": one for name, one in record.held_out.critical.items()}
    parts = {**record.held_out.objectives, **failures}
    return [("overall", record.held_out.overall), *sorted(parts.items())]


def points_compared(name: str, comparison: Comparison) -> Iterator[tuple[str, float]]:
    """Yield the metrics of a comparison."""
    yield f"{name}/seed", comparison.seed
    yield f"{name}/winner", comparison.winner
    difference = comparison.difference
    yield f"{name}/difference", difference.mean
    if difference.low is not None and difference.high is not None:
        yield f"{name}/low", difference.low
        yield f"{name}/high", difference.high


def _faults_by_origin(record: RunRecord) -> dict[str, int]:
    origins: dict[str, int] = defaultdict(int)
    for one in record.faults:
        origins[one.origin] += one.count
    return origins


def _on_a_front(one: CandidateRecord) -> bool:
    return one.on_example_front or one.on_objective_front


def _candidate_rows(candidates: Iterable[CandidateRecord]) -> list[dict[str, Any]]:
    found = list(candidates)
    names = sorted({name for one in found for name in one.objectives})
    return [
        {
            **one.model_dump(mode="json", exclude={"objectives", "prompts", "val"}),
            **{f"val.{name}": one.objectives.get(name) for name in names},
        }
        for one in found
    ]


def _held_out_rows(record: RunRecord) -> list[dict[str, Any]]:
    failures = {f"failures/{name}": title for name, title in record.criterion_titles.items()}
    titles = {**record.objective_titles, **failures}
    return [
        {
            "score": name,
            "title": titles.get(name, name),
            "seed": comparison.seed,
            "winner": comparison.winner,
            "difference": comparison.difference.mean,
            "low": comparison.difference.low,
            "high": comparison.difference.high,
            "confidence": comparison.difference.confidence,
            "p_value": comparison.p_value,
            "examples": comparison.difference.n,
            "families": comparison.difference.clusters,
            "method": comparison.difference.method,
        }
        for name, comparison in comparisons_of(record)
    ]


def _ledger_rows(record: RunRecord) -> list[dict[str, Any]]:
    replayed = record.invocation.replayed_by
    return [{**one.model_dump(), "replayed": replayed(one.role, one.agent)} for one in record.usage]


def _candidate_files(record: RunRecord) -> dict[str, str]:
    """Return what each candidate changed in its parent's prompts, and why."""
    files = {}
    for one in record.candidates:
        if one.parent is not None:
            diff = record.candidates[one.parent].bundle.diff(one.bundle)
            why = "\n".join(f"# {line}" for line in (one.reason, one.diagnosis) if line)
            files[f"candidates/{one.number:03}.diff"] = f"{why}\n{diff}\n"
    return files


def _prompt_files(folder: str, one: CandidateRecord) -> dict[str, str]:
    return {f"prompts/{folder}/{agent}.md": f"{text}\n" for agent, text in one.prompts.items()}


def _card_file(record: RunRecord) -> dict[str, str]:
    return {} if record.card is None else {"judge-card.json": record.card.model_dump_json(indent=2)}


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write a table as MLflow reads it. `log_table` would append to the one of an earlier call."""
    columns = list(rows[0]) if rows else []
    data = [[row[column] for column in columns] for row in rows]
    return json.dumps({"columns": columns, "data": data}, ensure_ascii=False)
