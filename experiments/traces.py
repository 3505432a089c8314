"""Conversations as MLflow traces, with their verdicts as assessments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..agents.assistant import AgentCall, ToolCall
from ..agents.fingerprint import fingerprint
from ..rubrics.verdict import Verdict
from .contrast import Contrast, Judged
from .run_record import RunRecord

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import LiveSpan

_WRITTEN = "cotune.traces"


def write_traces(
    client: MlflowClient, record: RunRecord, run_id: str, contrasts: Sequence[Contrast]
) -> None:
    """Write each side of each contrast as a trace of the run; what is there is not written again.

    Args:
        client: Connected to MLflow, whose tracking URI is set.
        record: The run.
        run_id: The MLflow run that the traces belong to.
        contrasts: The conversations.
    """
    content = fingerprint([contrast.model_dump(mode="json") for contrast in contrasts])
    run = client.get_run(run_id)
    if not contrasts or run.data.tags.get(_WRITTEN) == content:
        return
    for contrast in contrasts:
        for side, judged in (("before", contrast.before), ("after", contrast.after)):
            trace_id = _write_trace(run.info.experiment_id, run_id, contrast, side, judged)
            _write_verdicts(trace_id, record, judged)
    client.set_tag(run_id, _WRITTEN, content)


def _write_trace(
    experiment_id: str, run_id: str, contrast: Contrast, side: str, judged: Judged
) -> str:
    """Write one conversation: a span for each turn, with the calls of agents and tools inside."""
    import mlflow  # noqa: PLC0415  (imported already)

    trajectory = judged.restored()
    root = mlflow.start_span_no_context(
        f"{contrast.scenario} ({side})",
        span_type="CHAIN",
        inputs={"goal": contrast.goal, "initial_state": dict(trajectory.initial_state)},
        metadata={"mlflow.sourceRun": run_id},
        tags={
            "cotune.scenario": contrast.scenario,
            "cotune.family": contrast.family,
            "cotune.repeat": str(contrast.repeat),
            "cotune.side": side,
            "cotune.score": f"{judged.score:.3f}",
            "cotune.change": f"{contrast.change:+.3f}",
        },
        experiment_id=experiment_id,
    )
    for number, turn in enumerate(trajectory.turns, start=1):
        span = _span(root, f"turn {number}", "CHAIN", {"message": turn.message})
        for call in turn.reply.calls:
            write_call(span, call)
        span.end(outputs={"reply": turn.reply.text, "state": dict(turn.state)})
    root.end(outputs={"stop": str(trajectory.stop), "final_state": dict(trajectory.final_state)})
    return root.trace_id


def write_call(turn: LiveSpan, call: AgentCall | ToolCall) -> None:
    """Write what an agent or a tool was called with and answered, inside a turn's span."""
    if isinstance(call, AgentCall):
        _span(turn, call.agent, "AGENT", dict(call.inputs)).end(outputs=dict(call.outputs))
        return
    span = _span(turn, call.tool, "TOOL", dict(call.arguments))
    status = "ERROR" if call.error else "OK"
    span.end(outputs=call.error or call.result, attributes={"agent": call.agent}, status=status)


def _span(parent: LiveSpan, name: str, kind: str, inputs: Mapping[str, Any]) -> LiveSpan:
    import mlflow  # noqa: PLC0415  (imported already)

    return mlflow.start_span_no_context(name, span_type=kind, parent_span=parent, inputs=inputs)


def _write_verdicts(trace_id: str, record: RunRecord, judged: Judged) -> None:
    import mlflow  # noqa: PLC0415  (imported already)
    from mlflow.entities import AssessmentSource  # noqa: PLC0415

    titles, judge = record.criterion_titles, record.judged_by or "judge"
    judged_only = {each.id for each in record.criteria if each.needs_judge}
    rubric = AssessmentSource("CODE", "cotune rubric")
    mlflow.log_feedback(trace_id=trace_id, name="score", value=judged.score, source=rubric)
    for verdict in judged.scored():
        by_model = verdict.criterion in judged_only or verdict.confidence is not None
        source = AssessmentSource("LLM_JUDGE", judge) if by_model else rubric
        mlflow.log_feedback(
            trace_id=trace_id,
            name=titles.get(verdict.criterion, verdict.criterion),
            value=verdict.value,
            rationale="\n".join(_rationale(verdict, judged)),
            source=source,
            metadata={"criterion": verdict.criterion},
        )


def _rationale(verdict: Verdict, judged: Judged) -> Iterator[str]:
    """Yield why, where, and who is to blame."""
    yield verdict.rationale
    if verdict.turn is not None:
        yield f"Turn {verdict.turn + 1}."
    for blame in judged.blames:
        if blame.criterion == verdict.criterion:
            yield f"{blame.agent} ({blame.share:.0%}): {blame.reason}"
