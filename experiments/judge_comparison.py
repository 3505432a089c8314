"""A comparison of judges: each judges the same annotated conversations, and nothing twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from ..agents.budget import BudgetExhaustedError, Limits
from ..agents.errors import UsageError
from ..agents.ledger import Ledger, Role, Usage
from ..rubrics.agreement import Rulings
from ..rubrics.annotation import OVERALL
from ..rubrics.judging import JudgingObserver
from ..rubrics.ruling_file import read_rulings
from .agreement_run import AgreementStudy, read_judge
from .annotated_file import write_annotated
from .judge_contender import Contender, asked_part
from .judge_cost import TimedLedger, VerdictCost, verdicts_by_model
from .judging_run import JudgingRun
from .model_access import require_known

Watch = Callable[[str, Ledger, int], AbstractContextManager[JudgingObserver]]
"""Shows a judge at work: its name, its ledger, and how many conversations there are."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A judge that has judged.

    Attributes:
        rulings: What it said.
        cost: What a verdict costs; None where nobody knows.
    """

    rulings: Rulings
    cost: VerdictCost | None


@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """Judges to be compared.

    Attributes:
        study: The annotations; of a study with a rubric.
        runs: By name, the judges that are asked.
        given: By name, the verdicts that are there already.
        limits: What may be spent on all of them together.
    """

    study: AgreementStudy
    runs: Mapping[str, JudgingRun]
    given: Mapping[str, Path]
    limits: Limits

    @classmethod
    def prepare(
        cls,
        study: AgreementStudy,
        contenders: Sequence[Contender],
        given: Sequence[Path],
        *,
        trajectories: Path | None,
        rubric: str,
        scenarios: str | None,
        limits: Limits,
        out: Path,
    ) -> JudgeComparison:
        """Read and check everything.

        Raises:
            UsageError: Something is missing or wrong, or there are fewer than two judges.
            CotuneError: A model cannot be used, or the folder cannot be written.
        """
        _require_several([*(each.name for each in contenders), *map(str, given)])
        criteria = compared_criteria(study)
        runs: dict[str, JudgingRun] = {}
        if contenders:
            annotated = _annotated(study, criteria, trajectories, out)
            for each in contenders:
                require_known({Role.JUDGE: each.source.settings})
                run = JudgingRun.prepare(
                    annotated,
                    rubric,
                    scenarios=scenarios,
                    model=each.by(study.known_rubric),
                    tokens=limits.tokens,
                    usd=limits.usd,
                    out=out / f"{_file_name(each.name)}.jsonl",
                )
                runs[each.name] = replace(run, rubric=asked_part(run.rubric, criteria, each.asking))
        return cls(study, runs, {str(path): path for path in given}, limits)

    def execute(self, watch: Watch) -> dict[str, Heard]:
        """Have all judges judge what is not in their journals; returns them by name.

        Raises:
            CotuneError: A model cannot be used, a run paused, or the budget does not suffice.
        """
        spent = Usage()
        heard: dict[str, Heard] = {}
        for name, run in self.runs.items():
            ledger = TimedLedger()
            heard[name] = self._judged(name, replace(run, limits=self._left(spent)), ledger, watch)
            spent += ledger.total
        for name, path in self.given.items():
            rulings, _ = read_judge(path, self.study.rubric)
            cost = VerdictCost.beside(path, verdicts_by_model(read_rulings(path)))
            heard[name] = Heard(rulings, cost)
        return heard

    def _judged(self, name: str, run: JudgingRun, ledger: TimedLedger, watch: Watch) -> Heard:
        with run.journal() as journal:
            try:
                with watch(name, ledger, run.survey.conversations) as observer:
                    run.execute(journal, ledger, observer)
            finally:
                seconds = ledger.seconds_per_call(journal)
        usage = ledger.by_role().get(Role.JUDGE, Usage())
        verdicts = verdicts_by_model(read_rulings(run.out))
        rulings, _ = read_judge(run.out, self.study.rubric)
        return Heard(rulings, VerdictCost.of(usage, verdicts, seconds))

    def _left(self, spent: Usage) -> Limits:
        """Return what the judges before have left of the budget."""
        tokens, usd = self.limits.tokens, self.limits.usd
        if (tokens is not None and spent.tokens >= tokens) or (
            usd is not None and spent.cost >= usd
        ):
            raise BudgetExhaustedError(
                f"{spent.tokens:,} tokens and ${spent.cost:.4f} are used, and not all judges have "
                "been asked; give more, and what was paid for is not paid again"
            )
        return Limits(
            tokens=None if tokens is None else tokens - spent.tokens,
            usd=None if usd is None else usd - spent.cost,
        )


def compared_criteria(study: AgreementStudy) -> tuple[str, ...]:
    """Return the annotated criteria that judges are asked about, in the rubric's order.

    Raises:
        UsageError: There are none.
    """
    judged = {each.id for each in study.known_rubric.criteria if each.judged}
    found = tuple(name for name in study.scales if name in judged or name == OVERALL)
    if not found:
        raise UsageError(
            f"No judge is asked about what is annotated ({', '.join(study.scales)}): in the rubric "
            f"'{study.known_rubric.id}' none of it has `judged: true`."
        )
    return found


def _require_several(names: Sequence[str]) -> None:
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError(
            "A comparison takes two judges or more, each named once: --judge MODEL, --card CARD or "
            f"--verdicts FILE; found {', '.join(names) or 'none'}."
        )


def _annotated(
    study: AgreementStudy, criteria: Collection[str], trajectories: Path | None, out: Path
) -> Path:
    if trajectories is None:
        raise UsageError("--judge and --card read conversations: name --trajectories.")
    names = {each.conversation for each in study.items if each.criterion in criteria}
    return write_annotated(trajectories, names, out)


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.@-]+", "-", name).strip("-")
