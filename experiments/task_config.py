"""What is optimized, and on what: the parts of the configuration that belong to one job each."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..agents.problem import inconsistent
from ..optimizer.example import RecordedCall, Splits
from ..simulation.scenario import Scenario
from ..simulation.scenario_file import load_scenarios
from ..simulation.scenario_split import Shares, split_scenarios


class SplitSizes(BaseModel):
    """How many examples of each split are used at most; None is all.

    Attributes:
        train: Of the train split.
        val: Of the val split.
        test: Of the test split.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    train: int | None = Field(default=None, gt=0)
    val: int | None = Field(default=None, gt=0)
    test: int | None = Field(default=None, gt=0)


class AgentTaskConfig(BaseModel):
    """What one agent is optimized with.

    Attributes:
        examples: Folder with train.jsonl, val.jsonl and test.jsonl.
        rubric: A rubric file, or the name of a pack that comes with cotune.
        use: How many of the examples are used.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    examples: Path
    rubric: str = Field(min_length=1)
    use: SplitSizes = SplitSizes()

    def load_splits(self) -> Splits[RecordedCall]:
        """Read the examples that are used.

        Raises:
            UsageError: A file is missing or wrong.
        """
        return Splits.load(self.examples).limited(self.use.train, self.use.val, self.use.test)

    def relative_to(self, base: Path) -> AgentTaskConfig:
        """Return it with paths that are relative to a folder."""
        changes = {"examples": base / self.examples, "rubric": rubric_at(base, self.rubric)}
        return self.model_copy(update=changes)


class FamilySplit(BaseModel):
    """How scenarios are dealt out to train, val and test, whole families at a time.

    Attributes:
        shares: How large each split should be.
        seed: Another seed gives another split.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    shares: Shares = Shares()
    seed: int = 0


class ScenarioFiles(BaseModel):
    """Scenarios that are split already: three files, or packs.

    Attributes:
        train: Shown to proposers with feedback.
        val: Decides which candidate is better.
        test: Touched once, at the end.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    train: str = Field(min_length=1)
    val: str = Field(min_length=1)
    test: str = Field(min_length=1)


class JudgeConfig(BaseModel):
    """How `models.judge` is asked about what checks leave open.

    Attributes:
        strategy: What is asked in one call: the whole rubric, a domain, a criterion; or a word
            with its probability for each criterion, for small models.
        repeats: How often each question is asked; the majority counts. Not with `word`.
        conversation_tokens: What a conversation may take before it is cut; what suits the model
            when absent.
        card: Card of a calibrated judge, which says all this and the model itself, in place of
            `models.judge`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    strategy: Literal["rubric", "domain", "criterion", "word"] = "domain"
    repeats: int = Field(default=1, ge=1, le=99)
    conversation_tokens: int | None = Field(default=None, ge=100)
    card: Path | None = None

    @model_validator(mode="after")
    def _a_probability_is_one(self) -> Self:
        if self.strategy == "word" and self.repeats > 1:
            raise inconsistent([(("repeats",), "means nothing with the strategy 'word'; leave it")])
        return self

    def relative_to(self, base: Path) -> JudgeConfig:
        """Return it with paths that are relative to a folder."""
        return self.model_copy(update={"card": self.card and base / self.card})


class SystemConfig(BaseModel):
    """What the whole assistant is optimized with.

    Attributes:
        rubric: A rubric file, or the name of a pack, that scores conversations.
        split: How `simulation.scenarios` are split.
        scenarios: Scenarios that are split already, instead.
        use: How many of the scenarios are used.
        judge: How `models.judge` is asked; without one only checks decide.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rubric: str = Field(default="magic", min_length=1)
    split: FamilySplit | None = None
    scenarios: ScenarioFiles | None = None
    use: SplitSizes = SplitSizes()
    judge: JudgeConfig = JudgeConfig()

    @model_validator(mode="after")
    def _split_once(self) -> Self:
        if self.split is not None and self.scenarios is not None:
            twice = "the scenarios here are split already; leave out one of 'split' and 'scenarios'"
            raise inconsistent([(("split",), twice)])
        return self

    def load_splits(self, scenarios: str) -> Splits[Scenario]:
        """Read the scenarios that are used.

        Args:
            scenarios: The pack or file that is split, unless there are files that are.

        Raises:
            UsageError: A file is missing or wrong, or a split would be empty.
        """
        return self._all(scenarios).limited(self.use.train, self.use.val, self.use.test)

    def relative_to(self, base: Path) -> SystemConfig:
        """Return it with paths that are relative to a folder."""
        files = self.scenarios
        if files is not None:
            found = {name: scenarios_at(base, str(file)) for name, file in files}
            files = files.model_copy(update=found)
        changes = {"rubric": rubric_at(base, self.rubric), "judge": self.judge.relative_to(base)}
        return self.model_copy(update={**changes, "scenarios": files})

    def _all(self, scenarios: str) -> Splits[Scenario]:
        if self.scenarios is not None:
            files = self.scenarios
            return Splits(*(load_scenarios(file) for file in (files.train, files.val, files.test)))
        split = self.split or FamilySplit()
        return Splits(**split_scenarios(load_scenarios(scenarios), split.shares, split.seed))


def rubric_at(base: Path, rubric: str) -> str:
    """Return where a rubric is: a path is relative to `base`, a plain name is a pack."""
    return str(base / rubric) if rubric.endswith((".yaml", ".yml")) else rubric


def scenarios_at(base: Path, scenarios: str) -> str:
    """Return where scenarios are: a path is relative to `base`, a plain name is a pack."""
    is_file = scenarios.endswith((".yaml", ".yml", ".jsonl"))
    return str(base / scenarios) if is_file else scenarios
