"""The comparison of the paper: four arms, the same budget, the same held-out scenarios.

Build, Judge, Optimize (arXiv 2603.03565) compares prompts that were improved agent by agent with
prompts of the whole assistant improved together. This runs both on the grocery assistant, and
MAMuT from the seed and from the agents' winners.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from ...agents.budget import BudgetExhaustedError, Limits
from ...agents.errors import CotuneError, UsageError
from ...agents.prompts import PromptBundle
from ...optimizer.plan import make_plan
from ...simulation.journal import Journal
from ..config import RunConfig
from ..model_access import check_reachable, serving
from ..run_folder import JOURNAL
from ..system_run import SystemRun
from .arms import WHOLE, Arm, Stage, part_of, stages
from .clock import Clock
from .comparison import Comparison, compare
from .curves import curve_of
from .record import MagicRecord, arm_records, magic_record, node_record, pair_records
from .stage_runner import StageEnd, StageRunner, Watch, tested


@dataclass(frozen=True, slots=True)
class MagicRun:
    """Everything about a comparison that can be checked before anything is spent.

    Attributes:
        system: The assistant, its scenarios and its rubric.
        limits: Rollouts of each arm; tokens and money of everything together.
        rollouts: Of each arm, for search and selection.
        minutes: How long it may take; None is no limit.
        stages: All stages, in the order in which they run.
    """

    system: SystemRun
    limits: Limits
    rollouts: int
    minutes: float | None
    stages: tuple[Stage, ...]

    @classmethod
    def prepare(cls, config: RunConfig, minutes: float | None, command: str) -> MagicRun:
        """Read and check everything.

        Args:
            config: The configuration; `limits.rollouts` is each arm's for search and selection.
            minutes: How long it may take; None is no limit.
            command: What was typed.

        Raises:
            UsageError: Something is missing or wrong, or a stage cannot try one candidate.
            CotuneError: A model cannot be used, or the folder cannot be written.
        """
        rollouts = config.limits.rollouts
        if rollouts is None:
            raise UsageError(
                "limits.rollouts is missing: nothing is optimized without a limit. Give it in the "
                "configuration or as --rollouts; it is each arm's budget for search and selection."
            )
        splits = config.system.load_splits(config.simulation.scenarios)
        tests = 2 * len(splits.test) * config.test.repeats
        apart = config.model_copy(update={"out": config.out / "magic"})
        system = SystemRun.prepare(_allowing(apart, rollouts + tests), (), command)
        run = cls(
            system, config.limits, rollouts, minutes, tuple(stages(rollouts, tuple(system.seed)))
        )
        run._require_a_candidate_each()
        return run

    @property
    def folder(self) -> Path:
        """Where journal and results are."""
        return self.system.folder

    @property
    def total(self) -> int:
        """Rollouts of all stages, their tests and the comparison, at most."""
        compared = len(Arm) * len(self.system.splits.test) * self.system.config.test.repeats
        searched = sum(stage.rollouts + tested(self.system) for stage in self.stages)
        return searched + compared

    def journal(self) -> Journal:
        """Open the journal that all stages share."""
        return Journal(self.folder / JOURNAL)

    def execute(self, journal: Journal, watch: Watch) -> MagicRecord:
        """Run all stages, compare the arms, and draw the curves; or go on with it.

        Raises:
            PausedError: Too many faults; the same command goes on.
            CotuneError: A model cannot be used, or the budget does not allow the comparison.
        """
        clock = Clock(self.minutes, self.total)
        with serving(self.system.models()) as (models, served):

            async def run() -> MagicRecord:
                async with AsyncExitStack() as closing:
                    runner = StageRunner(
                        self.system,
                        self.limits,
                        journal,
                        models,
                        served,
                        closing,
                        watch,
                        clock,
                        self.total,
                    )
                    return await self._run(runner)

            return asyncio.run(run())

    async def _run(self, runner: StageRunner) -> MagicRecord:
        await self._require_reachable(runner)
        ends: list[StageEnd] = []
        for stage in self.stages:
            ends.append(await runner.run(stage, self._start(stage, ends)))
        arms = {arm: combined(self.system.seed, ends, arm) for arm in Arm}
        compared = await self._compare(runner, arms)
        every = self.system.about.simulated
        curves = [await curve_of(end, runner, every=every) for end in ends]
        return magic_record(
            self.system.about,
            rollouts=self.rollouts,
            minutes=self.minutes,
            scenarios={name: len(each) for name, each in self.system.splits.named().items()},
            arms=arm_records(arms, ends, compared),
            pairs=pair_records(compared),
            nodes=tuple(node_record(end, curve) for end, curve in zip(ends, curves, strict=True)),
            conversations=runner.journal.count("conversation"),
            calls=sum(one.total.calls - one.total.replayed for one in runner.ledgers),
            seconds=round(runner.clock.seconds, 1),
        )

    def _start(self, stage: Stage, ends: Iterable[StageEnd]) -> PromptBundle:
        """Return the prompts that a stage starts from: for (d)'s last, its agents' winners."""
        if stage.node == WHOLE:
            return combined(self.system.seed, ends, stage.arm)
        return self.system.seed

    async def _compare(self, runner: StageRunner, arms: Mapping[Arm, PromptBundle]) -> Comparison:
        test, config = self.system.splits.test, self.system.config
        most = len(arms) * len(test) * config.test.repeats
        try:
            with runner.scoring("comparison", WHOLE, self.system.seed, most) as evaluator:
                return await compare(arms, test, evaluator, config)
        except BudgetExhaustedError as error:
            raise CotuneError(
                f"The comparison does not fit in what is left: {error.limit}. The stages are in "
                "the journal; allow more with --tokens or --usd, and the same command goes on."
            ) from error

    async def _require_reachable(self, runner: StageRunner) -> None:
        for model in self.system.build(runner.means(self.total, timed=False)).models:
            await check_reachable(model)

    def _require_a_candidate_each(self) -> None:
        for stage in self.stages:
            allowed = stage.rollouts + tested(self.system)
            try:
                make_plan(_allowing(self.system.config, allowed), self.system.splits)
            except UsageError as error:
                raise UsageError(
                    f"--rollouts {self.rollouts} leaves {stage.rollouts} for {stage.name}, which "
                    "does not buy one candidate. Allow more, or take fewer scenarios with --val. "
                    f"With its test that stage has {allowed}: {error}"
                ) from error


def combined(seed: PromptBundle, ends: Iterable[StageEnd], arm: Arm) -> PromptBundle:
    """Return the prompts of an arm: the seed's, and what its stages made of them, in order."""
    bundle = seed
    for end in ends:
        if end.stage.arm is arm and end.result is not None:
            bundle = bundle.with_texts(end.result.winner.bundle.texts())
    return bundle


def _allowing(config: RunConfig, rollouts: int) -> RunConfig:
    limits = part_of(config.limits, 1.0, rollouts)
    return config.model_copy(update={"limits": limits})
