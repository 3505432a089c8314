"""How well a model judges conversations of which the world's state shows what is right.

Run it with `python -m cotune.experiments.benchmarks.judge`; it takes ten minutes with the
embedded model. Conversations with the simulated grocery assistant (`judge_conversations.py`) are
judged by every criterion of a rubric (`judge_rubric.yaml`: one question in bare words and in
detail), and each verdict is compared with that of the criterion's own check. To find wordings,
give another rubric and `--wordings`: that takes conversations of other families of scenarios.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ...agents.budget import Budget, Limits
from ...agents.ledger import Ledger, Role
from ...agents.models import ModelSettings
from ...rubrics.evaluate import evaluate
from ...rubrics.judge import Judge
from ...rubrics.judges.rendering import Detail
from ...rubrics.rubric import Rubric
from ...rubrics.rubric_file import load_rubric
from ...rubrics.subject import ConversationRecord
from ...rubrics.verdict import Verdict
from ..commands.options import SHORT_NAMES
from ..judge_model import Asking, JudgeModel
from ..model_access import open_models
from .judge_agreement import Answer, agreement, auc, refitted
from .judge_conversations import conversations

RUBRIC = Path(__file__).with_name("judge_rubric.yaml")
TOKENS = 2000
_TIMEOUT = 300.0


def arguments(description: str) -> argparse.ArgumentParser:
    """Return the arguments that say who judges by what."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", default="local", help="local, scripted or a LiteLLM string")
    parser.add_argument("--asking", type=Asking, default=Asking.WORD, choices=list(Asking))
    parser.add_argument("--rubric", type=Path, default=RUBRIC)
    parser.add_argument("--most", type=int, default=None, help="at most so many")
    parser.add_argument("--detail", type=Detail, default=None, choices=list(Detail))
    return parser


@contextmanager
def judging(given: argparse.Namespace, rubric: Rubric) -> Iterator[Judge]:
    """Give the judge that the arguments name.

    It makes one call at a time, so that the server of an embedded model reads a conversation once
    for all criteria.
    """
    model = SHORT_NAMES.get(given.model) or given.model
    settings = ModelSettings(model=model, timeout=_TIMEOUT, concurrency=1)
    asked = JudgeModel(settings, given.asking, conversation_tokens=TOKENS, detail=given.detail)
    budget = Budget(Limits(rollouts=1))
    with open_models({Role.JUDGE: settings}, Ledger(), budget) as models:
        yield asked.judge(models[Role.JUDGE], rubric)


async def answers(
    judge: Judge, rubric: Rubric, records: Sequence[ConversationRecord], console: Console
) -> dict[str, list[Answer]]:
    """Return the judge's answers by criterion."""
    found: dict[str, list[Answer]] = {each.id: [] for each in rubric.criteria}
    for number, record in enumerate(records, start=1):
        gold = {each.criterion: each.value == 1.0 for each in evaluate(rubric, record)}
        given = {
            each.criterion: _answer(gold, each)
            for each in (await judge.judge(record, rubric)).verdicts
        }
        for criterion, answer in given.items():
            found[criterion].append(answer)
        said = "; ".join(f"{name}: {answer.line}" for name, answer in given.items())
        progress = f"{number} of {len(records)}, {record.scenario.id}: {said}"
        console.print(progress, highlight=False, soft_wrap=True)
    return found


def _answer(gold: Mapping[str, bool], verdict: Verdict) -> Answer:
    said = None if verdict.value is None else verdict.value == 1.0
    return Answer(gold[verdict.criterion], said, verdict.pass_probability)


def table_of(found: Mapping[str, Sequence[Answer]]) -> Table:
    """Return the figures, two rows for a criterion where there are probabilities."""
    table = Table("criterion", "threshold", "n", "right", box=SIMPLE_HEAD)
    for column in ("kappa", "95 % interval", "AUC", "passed", "inconclusive"):
        table.add_column(column, justify="right")
    for criterion, given in found.items():
        if all(each.said is None for each in given):
            table.add_row(criterion, "", "0", "", "", "", "", "", str(len(given)))
            continue
        area = auc(given)
        table.add_row(criterion, "0.5", *_figures(given, area))
        if area is not None:
            decided, thresholds = refitted(given)
            fitted = " / ".join(f"{each:.3f}" for each in thresholds)
            table.add_row("", fitted, *_figures(decided, None))
    return table


def _figures(given: Sequence[Answer], area: float | None) -> tuple[str, ...]:
    reached = agreement(given)
    low, high = reached.interval
    return (
        str(reached.n),
        f"{reached.share:.0%}",
        f"{reached.kappa:.2f}",
        f"{low:.2f} to {high:.2f}",
        "" if area is None else f"{area:.2f}",
        f"{reached.passed:.0%}",
        str(reached.inconclusive),
    )


def main() -> None:
    """Measure and print."""
    parser = arguments("How well a model judges what the world's state shows.")
    parser.add_argument("--wordings", action="store_true", help="not the held-out conversations")
    given = parser.parse_args()
    rubric = load_rubric(str(given.rubric))
    known = asyncio.run(conversations(rubric))
    records = (known.for_wordings if given.wordings else known.held_out)[: given.most]
    with judging(given, rubric) as judge:
        begun = time.perf_counter()
        found = asyncio.run(answers(judge, rubric, records, Console(stderr=True)))
        seconds = (time.perf_counter() - begun) / sum(map(len, found.values()))
    console = Console(width=120)
    console.print(table_of(found))
    console.print(f"{given.model}, {given.asking}: {seconds:.1f} s per verdict.")


if __name__ == "__main__":
    main()
