"""Short talks of which the truth is known, people who annotate them, and a judge that can learn.

For the tests of calibration. Whether it is kept can be read off the reply; the judge leans to PASS
until its prompt has a rule or an example.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dspy.lm15 import Message, Request, Response, TokenLogprob, TopLogprob
from dspy.lm15 import Usage as LmUsage

from cotune.agents.assistant import Reply
from cotune.agents.budget import Budget, Limits
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.optimizer.annotated_conversation import AnnotatedConversation, split_conversations
from cotune.optimizer.class_weights import ClassWeights
from cotune.optimizer.judge_parts import JudgeParts
from cotune.optimizer.judge_task import JudgeTask
from cotune.rubrics.annotation import Annotation
from cotune.rubrics.gold import GoldLabel, by_item, gold
from cotune.rubrics.judges.inquiry import Strategy, judge_prompts
from cotune.rubrics.judges.word import WordJudge, WordSettings
from cotune.rubrics.rubric import Rubric
from cotune.rubrics.subject import ConversationRecord
from cotune.simulation.journal import Journal
from cotune.simulation.scenario import Scenario
from cotune.simulation.scenario_split import Shares
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

RUBRIC = Rubric.model_validate(
    {
        "id": "talk",
        "name": "Talk",
        "subject": "trajectory",
        "domains": [{"id": "all", "name": "All", "weight": 100}],
        "criteria": [
            {
                "id": "kept", "name": "Kept", "domain": "all", "points": 1,
                "passes": "Kept.", "fails": "Not kept.", "judged": True,
            },
            {
                "id": "polite", "name": "Polite", "domain": "all", "points": 1,
                "passes": "Polite.", "fails": "Rude.", "judged": True,
            },
        ],
    }
)  # fmt: skip
THIRDS = Shares(train=0.3, val=0.3, test=0.4)
SCALES = {"kept": (0.0, 1.0), "polite": (0.0, 1.0)}


def talk(number: int, kept: bool) -> ConversationRecord:
    """One exchange; the number makes it unlike all others."""
    said = f"Here is parcel {number}." if kept else f"No parcel {number} today."
    turn = Turn(f"Bring me parcel {number}.", Reply(said, ()), {})
    name = f"t-{number}"
    trajectory = Trajectory(name, (turn,), {}, StopReason.SATISFIED)
    return ConversationRecord(trajectory, Scenario(id=name, family="f", goal="A parcel."))


def annotated(
    count: int, truth: Callable[[int], bool], criteria: Sequence[str] = ("kept",)
) -> list[Annotation]:
    """What two people say of the first talks; they are of one mind."""
    return [
        Annotation(
            conversation=f"t-{number}",
            criterion=criterion,
            annotator=person,
            value=float(truth(number)),
            rationale="The parcel came." if truth(number) else "There was no parcel.",
        )
        for number in range(count)
        for criterion in criteria
        for person in ("ada", "ben")
    ]


def is_kept(number: int) -> bool:
    return number % 2 == 0


def conversations(
    annotations: Sequence[Annotation], kept: Callable[[int], bool] = is_kept
) -> list[AnnotatedConversation]:
    labels: dict[str, list[GoldLabel]] = {}
    for label in gold(by_item(annotations, RUBRIC), SCALES):
        labels.setdefault(label.item.conversation, []).append(label)
    return [
        AnnotatedConversation(name, talk(number, kept(number)), tuple(found))
        for name, found in labels.items()
        for number in (int(name.removeprefix("t-")),)
    ]


class LearningModel(LanguageModel):
    """Leans to PASS; once it was taught anything, it knows better.

    Attributes:
        asked: How many calls there were.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        settings = ModelSettings(model="scripted:grocery", concurrency=4)
        super().__init__(settings, Role.JUDGE, ledger or Ledger())
        self.asked = 0

    async def respond(self, request: Request) -> Response:
        self.asked += 1
        text = request.messages[-1].text or ""
        taught = len(request.messages) > 1 or "## Rules" in str(request.system)
        wobble = random.Random(text).uniform(-0.02, 0.02)
        kept = "Here is" in text
        passes = (0.9 if kept else 0.1) if taught else (0.75 if kept else 0.65)
        return answered(passes + wobble)


def answered(passes: float) -> Response:
    """One word, with its probabilities."""
    words = {"PASS": passes, "FAIL": 1.0 - passes}
    top = tuple(TopLogprob(word, math.log(each)) for word, each in words.items())
    return Response(
        id=None,
        model="learning",
        message=Message.assistant("PASS"),
        finish_reason="stop",
        usage=LmUsage(),
        logprobs=(TokenLogprob("PASS", top[0].logprob, top=top),),
    )


@dataclass(frozen=True)
class Bench:
    """A judge task with what it works on."""

    task: JudgeTask
    model: LearningModel
    journal: Journal
    ledger: Ledger
    budget: Budget


@contextmanager
def bench(
    folder: Path, found: Sequence[AnnotatedConversation], rollouts: int = 1000
) -> Iterator[Bench]:
    model = LearningModel()
    budget = Budget(Limits(rollouts=rollouts))
    prompts = judge_prompts(RUBRIC, Strategy.CRITERION, "word")
    judge = WordJudge(model, prompts, WordSettings())
    splits = split_conversations(found, THIRDS, 0, 0.0)
    criteria = {label.item.criterion for one in found for label in one.labels}
    weights = ClassWeights.of([*splits.train, *splits.val])
    with Journal(folder / "journal.sqlite") as journal:
        parts = JudgeParts(judge, RUBRIC, criteria, journal, model.ledger, budget)
        task = JudgeTask(parts, splits, weights)
        yield Bench(task, model, journal, model.ledger, budget)
