"""Explaining: how a set of verdicts becomes a score, step by step, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from .aggregation import CriterionScore
from .criterion import Aggregate, Criterion
from .rubric import CriticalPolicy, Rubric
from .scoring import Gate, Score, score
from .verdict import Status, Verdict


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the way from verdicts to a score.

    Attributes:
        title: What is worked out.
        lines: How, one item each.
    """

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps, and the score they lead to."""

    steps: tuple[Step, ...]
    score: Score


def explain(rubric: Rubric, verdicts: Iterable[Verdict]) -> Explanation:
    """Work a score out in steps.

    Args:
        rubric: The rubric the verdicts answer to.
        verdicts: As `score` takes them.

    Raises:
        ValueError: They do not fit the rubric; see `score`.
    """
    given = list(verdicts)
    result = score(rubric, given)
    steps = (
        Step("Verdicts to criteria", tuple(_criterion_lines(rubric, given, result))),
        Step("Criteria to domains", tuple(_domain_lines(rubric, result))),
        Step("Domains to score", tuple(_overall_lines(rubric, result))),
        Step("Critical criteria", tuple(_gate_lines(rubric, result))),
        Step("Left out", tuple(_left_out_lines(rubric, result))),
    )
    return Explanation(steps, result)


def _criterion_lines(rubric: Rubric, verdicts: Sequence[Verdict], result: Score) -> Iterator[str]:
    for criterion in rubric.criteria:
        own = [verdict for verdict in verdicts if verdict.criterion == criterion.id]
        reached = result.criteria[criterion.id]
        if reached.value is None:
            said = _status(reached.status)
        else:
            turns = f" = {_turns(criterion, own)}" if criterion.per_turn else ""
            said = f"{reached.value:.3f}{turns}, {_points(criterion, reached)}"
        yield f"{criterion.id}: {said}"


def _turns(criterion: Criterion, verdicts: Sequence[Verdict]) -> str:
    name = "mean" if criterion.aggregate is Aggregate.MEAN else "minimum"
    ordered = sorted(verdicts, key=lambda verdict: verdict.turn or 0)
    values = (
        f"turn {verdict.turn}: "
        + (_status(verdict.status) if verdict.value is None else f"{verdict.value:g}")
        for verdict in ordered
    )
    return f"{name} of ({'; '.join(values)})"


def _points(criterion: Criterion, reached: CriterionScore) -> str:
    if not criterion.points:
        return "no points, it only gates"
    return f"{criterion.points * (reached.value or 0.0):g} of {criterion.points:g} points"


def _domain_lines(rubric: Rubric, result: Score) -> Iterator[str]:
    for domain in rubric.domains:
        if domain.id not in result.domains:
            yield f"{domain.id}: nothing was scored, so it carries no weight"
            continue
        scored = [
            (criterion.points, value)
            for criterion in rubric.in_domain(domain.id)
            if (value := result.criteria[criterion.id].value) is not None
        ]
        earned = fsum(points * value for points, value in scored)
        applicable = fsum(points for points, _ in scored)
        share = result.domains[domain.id]
        yield f"{domain.id}: {earned:g} of {applicable:g} applicable points = {share:.4f}"


def _overall_lines(rubric: Rubric, result: Score) -> Iterator[str]:
    parts = [
        (domain.weight, result.domains[domain.id])
        for domain in rubric.domains
        if domain.id in result.domains
    ]
    if result.score is None:
        fault = "too much is inconclusive"
        yield f"there is no score: {fault if result.judge_fault else 'no points were scored'}"
        return
    total = fsum(weight for weight, _ in parts)
    sum_ = " + ".join(f"{weight:g} × {share:.4f}" for weight, share in parts)
    yield f"({sum_}) / {total:g} = {result.score:.4f}"


def _gate_lines(rubric: Rubric, result: Score) -> Iterator[str]:
    for name in result.critical_failures:
        criterion = rubric.criterion(name)
        whole = rubric.critical_policy is CriticalPolicy.CONVERSATION
        zeroed = "everything" if whole else f"the domain {criterion.domain}"
        yield f"{name} failed: it zeroes {zeroed} in the objective, not in the score"
    passed = {True: "passed", False: "failed", None: "neither passed nor failed"}[result.passed]
    said = {
        Gate.HELD: "no critical criterion failed",
        Gate.FAILED: f"{len(result.critical_failures)} failed",
        Gate.UNDECIDED: "none failed, but one is inconclusive",
    }[result.gate]
    objective = "none" if result.objective is None else f"{result.objective:.4f}"
    yield f"{said}: the subject is {passed}; objective: {objective}"


def _left_out_lines(rubric: Rubric, result: Score) -> Iterator[str]:
    yield f"{result.not_applicable} criteria do not apply, {result.inconclusive} are inconclusive"
    verdict = "a judge fault" if result.judge_fault else "no judge fault"
    yield (
        f"inconclusive verdicts leave {result.undecided:.1%} of the score open, at most "
        f"{rubric.max_undecided:.1%} may be: {verdict}"
    )


def _status(status: Status) -> str:
    return status.replace("_", " ")
