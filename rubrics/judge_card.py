"""A judge's card: what it is, how it was made, and how far it agrees with people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..agents.errors import CotuneError, UsageError
from ..agents.fingerprint import fingerprint
from ..agents.form_version import of_version
from ..agents.models import ModelSettings
from ..agents.problem import problems_of
from ..agents.prompts import Prompt, PromptBundle
from ..agents.text_file import read_text
from .calibrated_judge import decisions_fingerprint
from .clustered_estimate import Estimate
from .comparison import Measure
from .decision_calibration import Decision
from .rubric import Rubric
from .statistics import Conclusion

VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Asked(_Part):
    """How the judge is asked.

    Attributes:
        strategy: What in one call; `word` for one word of each criterion.
        repeats: How often.
        conversation_tokens: What a conversation may take.
        detail: What of a conversation is shown; None for what suits the strategy.
    """

    strategy: str
    repeats: int
    conversation_tokens: int
    detail: str | None = None


class CardPrompt(_Part):
    """One prompt of the judge."""

    text: str
    description: str = ""


class Earned(_Part):
    """One measure of agreement on the test, and what changed it.

    Attributes:
        before: Of the judge as it was.
        prompt: With the tuned prompts.
        threshold: With fitted thresholds instead.
        both: With both; this is the judge of the card.
        by_prompt: What the prompts alone add: a paired difference.
        by_threshold: What the thresholds alone add.
        by_both: What both add.
        people: What a person reaches against the others; None where nobody annotated twice.
    """

    before: Estimate
    prompt: Estimate
    threshold: Estimate
    both: Estimate
    by_prompt: Estimate
    by_threshold: Estimate
    by_both: Estimate
    people: Estimate | None

    @property
    def gap(self) -> float | None:
        """How far the judge is below what people reach; below 0 when it is above."""
        if self.people is None or self.people.value is None or self.both.value is None:
            return None
        return self.people.value - self.both.value


class CriterionResult(_Part):
    """A criterion on the test.

    Attributes:
        criterion: Its id.
        name: For people.
        tested: Items compared, which have a value in all variants.
        without_value: Items with a value by people that have none in some variant.
        measures: By measure.
        conclusion: Of the difference in kappa; None where it is undefined.
        prompt_gain: Mean gain on val of the prompt that decides it, in [-1, 1]; None where the
            search changed nothing.
        took_prompt: Whether the tuned prompt was taken.
        decision: Thresholds and scaling; None where the judge gives no probabilities.
        took_threshold: Whether the fitted thresholds were taken.
        brier_before: Of the judge's probabilities, on the test; None when it gives none.
        brier_after: Of the scaled ones.
        notes: What must be known beside the numbers.
    """

    criterion: str
    name: str
    tested: int
    without_value: int
    measures: dict[Measure, Earned]
    conclusion: Conclusion | None
    prompt_gain: float | None
    took_prompt: bool
    decision: Decision | None
    took_threshold: bool
    brier_before: float | None
    brier_after: float | None
    notes: tuple[str, ...]


class GroupResult(_Part):
    """A domain, or all of them, weighted by the rubric.

    Attributes:
        name: For people.
        weight: In percent.
        criteria: Ids of those it is of.
        measures: By measure.
        conclusion: Of the difference in kappa; None where it is undefined.
    """

    name: str
    weight: float
    criteria: tuple[str, ...]
    measures: dict[Measure, Earned]
    conclusion: Conclusion | None


class CardData(_Part):
    """What it was calibrated with.

    Attributes:
        annotations: Fingerprint of the labels.
        conversations: How many are annotated.
        labels: How many items.
        annotators: How many people.
        gold: How several people's values became one.
        ties: Items on which people are split evenly.
        splits: Conversations by split.
        shares: What was aimed at.
        seed: Of the split.
        left_out: Criteria that were not calibrated, and why.
    """

    annotations: str
    conversations: int
    labels: int
    annotators: int
    gold: str
    ties: int
    splits: dict[str, int]
    shares: dict[str, float]
    seed: int
    left_out: dict[str, str]


class CardCost(_Part):
    """What a verdict costs, over all that calibration asked for.

    Attributes:
        verdicts: How many were asked for.
        calls: Calls per verdict.
        tokens: Input and output tokens per verdict.
        usd: US dollars per verdict; None where no price is known.
    """

    verdicts: int
    calls: float
    tokens: float
    usd: float | None


class Fingerprints(_Part):
    """What a judge must be to be the one on the card."""

    rubric: str
    prompts: str
    model: str
    asking: str
    decisions: str


class JudgeCard(_Part):
    """A judge, calibrated and tested.

    Attributes:
        version: Of the form of the card.
        cotune: Version of cotune that made it.
        created: When.
        model: The model and how it is called; never a key.
        asked: How it is asked.
        rubric: Id of the rubric.
        prompts: By name; all that the rubric needs.
        decisions: By criterion.
        fingerprints: Of all this.
        data: What it was calibrated with.
        confidence: Of all intervals.
        criteria: By criterion, on the test.
        domains: By domain.
        overall: Over all domains; None when nothing could be compared.
        weak: What the judge should not be trusted with, a sentence each.
        cost: What a verdict costs.
        seal: Short hash of all the rest, so that it is noticed when somebody edits it.
    """

    version: Annotated[int, of_version(VERSION)] = VERSION
    cotune: str
    created: datetime
    model: ModelSettings
    asked: Asked
    rubric: str
    prompts: dict[str, CardPrompt]
    decisions: dict[str, Decision]
    fingerprints: Fingerprints
    data: CardData
    confidence: float = Field(gt=0, lt=1)
    criteria: dict[str, CriterionResult]
    domains: dict[str, GroupResult]
    overall: GroupResult | None
    weak: tuple[str, ...]
    cost: CardCost
    seal: str = ""

    def sealed(self) -> JudgeCard:
        """Return the card with a seal on all that it says now."""
        said = self.model_dump(mode="json", exclude={"seal"})
        return self.model_copy(update={"seal": fingerprint(said, 32)})

    @property
    def bundle(self) -> PromptBundle:
        """The prompts."""
        return PromptBundle.of(
            *(Prompt(name, each.text, each.description) for name, each in self.prompts.items())
        )

    @property
    def kappa(self) -> Estimate | None:
        """Agreement beyond chance overall, on the test."""
        return None if self.overall is None else self.overall.measures[Measure.KAPPA].both

    def save(self, path: Path) -> None:
        """Write the card.

        Raises:
            CotuneError: The file cannot be written.
        """
        try:
            path.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise CotuneError(f"{path} cannot be written ({error.strerror}).") from error

    @classmethod
    def load(cls, path: Path) -> JudgeCard:
        """Read a card.

        Raises:
            UsageError: It is none, or it was edited.
        """
        try:
            card = cls.model_validate_json(read_text(path, "judge card"))
        except ValidationError as error:
            said = "; ".join(
                f"{'.'.join(map(str, at)) or 'the file'}: {what}"
                for at, what in problems_of(error, cls)
            )
            raise UsageError(f"{path} is no judge card. {said}.") from error
        if card.seal != card.sealed().seal:
            raise UsageError(
                f"{path} was edited after it was written, so what it says was not tested. "
                "Calibrate again."
            )
        return card


def fingerprints_of(
    rubric: Rubric, identity: Mapping[str, Any], decisions: Mapping[str, Decision]
) -> Fingerprints:
    """Return the fingerprints of a judge.

    Args:
        rubric: By which it judges.
        identity: Of the judge that is asked; see `ModelJudge.identity`.
        decisions: How is decided.
    """
    asking = {name: identity[name] for name in ("judge", "settings", "code")}
    return Fingerprints(
        rubric=rubric.fingerprint,
        prompts=str(identity["prompts"]),
        model=fingerprint(identity["model"]),
        asking=fingerprint(asking),
        decisions=decisions_fingerprint(decisions),
    )


def differences(card: JudgeCard, found: Fingerprints) -> tuple[str, ...]:
    """Say what of a judge is not as it is on the card, a phrase each."""
    noted, now = card.fingerprints.model_dump(), found.model_dump()
    return tuple(
        f"{name} (the card: {noted[name]}, now: {now[name]})"
        for name in noted
        if noted[name] != now[name]
    )
