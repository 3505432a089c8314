"""The agent task: one agent's prompt, scored on single calls of that agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..agents.agent import Agent
from ..agents.answer_form import BareWord, form_for
from ..agents.compact_adapter import render_inputs, render_json
from ..agents.errors import Fault, FaultError, FaultOrigin
from ..agents.fingerprint import fingerprint
from ..agents.lm import LanguageModel
from ..agents.prompts import PromptBundle
from ..rubrics.evaluate import evaluate
from ..rubrics.feedback import feedback_for
from ..rubrics.rubric import Rubric
from ..rubrics.scoring import score
from ..rubrics.subject import CallRecord
from ..rubrics.verdict import Status, Verdict
from .example import RecordedCall, Splits
from .rollout import Lesson, Rollout

_SEED_DIGITS = 7


@dataclass(frozen=True, slots=True)
class AgentTask:
    """Optimize the prompt of one agent against a rubric on recorded calls.

    Attributes:
        agent: The agent.
        seed: A bundle of that agent's prompt alone.
        splits: The recorded calls.
        rubric: A rubric whose subject is a call.
        lm: The model the agent runs on.
        random_seed: From which each call's sampling seed is derived.
    """

    agent: Agent
    seed: PromptBundle
    splits: Splits[RecordedCall]
    rubric: Rubric
    lm: LanguageModel
    random_seed: int = 0

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.name

    @property
    def concurrency(self) -> int:
        """As many rollouts as the model takes calls: each is one call.

        One where an embedded model answers with a bare word: nearly all of such a call is
        reading, which is no faster two at a time, and each slot would read the prompt itself.
        """
        bare = isinstance(form_for(self.agent.signature, self.lm), BareWord)
        return 1 if bare else self.lm.settings.concurrency

    def identity(self) -> Mapping[str, Any]:
        """Return what determines a rollout beside prompts, example and repeat."""
        return {
            "task": "agent",
            "agent": self.agent.name,
            "interface": self.agent.interface,
            "model": self.lm.identity(),
            "rubric": self.rubric.fingerprint,
            "seed": self.random_seed,
        }

    def texts(self, example: RecordedCall) -> Iterator[str]:
        """Yield the texts that the agent was given."""
        return (value for value in example.inputs.values() if isinstance(value, str))

    async def rollout(self, example: RecordedCall, candidate: PromptBundle, repeat: int) -> Rollout:
        """Call the agent once on the example's inputs and check what it returned."""
        prompt = candidate[self.agent.name]
        try:
            outputs = await self.agent.call(
                prompt, self.lm, example.inputs, self._call_seed(example, repeat)
            )
        except FaultError as error:
            if error.fault.origin is not FaultOrigin.ASSISTANT:
                return Rollout(example.id, None, fault=error.fault)
            return self._unusable(example, error.fault)
        return self._scored(example, outputs)

    def _scored(self, example: RecordedCall, outputs: dict[str, Any]) -> Rollout:
        verdicts = evaluate(self.rubric, CallRecord(example.inputs, outputs, example.gold))
        result = score(self.rubric, verdicts)
        if result.objective is None or result.inconclusive:
            return Rollout(example.id, None, fault=_undecided(verdicts))
        return Rollout(
            example.id,
            result.objective,
            objectives={
                verdict.criterion: verdict.value
                for verdict in verdicts
                if verdict.value is not None
            },
            critical_failures=result.critical_failures,
            lessons={
                self.agent.name: (
                    self._lesson(example, render_json(outputs), self._feedback(verdicts)),
                )
            },
        )

    def _feedback(self, verdicts: Sequence[Verdict]) -> str:
        """Say what was wrong; nothing when nothing was."""
        lost = any(verdict.value is not None and verdict.value < 1 for verdict in verdicts)
        return feedback_for(verdicts, self.rubric, "") if lost else ""

    def _unusable(self, example: RecordedCall, fault: Fault) -> Rollout:
        """Score an answer that could not be used: the assistant's own failure, worth nothing."""
        verdicts = evaluate(self.rubric, CallRecord(example.inputs, {}, example.gold))
        failed = [
            verdict.criterion for verdict in verdicts if verdict.status is not Status.NOT_APPLICABLE
        ]
        return Rollout(
            example.id,
            0.0,
            objectives=dict.fromkeys(failed, 0.0),
            critical_failures=tuple(
                name for name in failed if self.rubric.criterion(name).critical
            ),
            lessons={
                self.agent.name: (self._lesson(example, "(no usable answer)", fault.message),)
            },
        )

    def _lesson(self, example: RecordedCall, output: str, feedback: str) -> Lesson:
        signature = self.agent.signature
        expected = {
            name: example.gold[name] for name in signature.output_fields if name in example.gold
        }
        return Lesson(
            inputs=render_inputs(signature, example.inputs),
            output=output,
            expected=render_json(expected) if len(expected) == len(signature.output_fields) else "",
            rule=example.why,
            feedback=feedback,
        )

    def _call_seed(self, example: RecordedCall, repeat: int) -> int:
        return int(fingerprint([self.random_seed, example.id, repeat], _SEED_DIGITS), 16)


def _undecided(verdicts: Sequence[Verdict]) -> Fault:
    """Say why a call cannot be scored: a share of the criteria would be another score."""
    open_ = [verdict for verdict in verdicts if verdict.status is Status.INCONCLUSIVE]
    if not open_:
        return Fault(FaultOrigin.JUDGE, "nothing_applies", "no criterion applied to the call")
    said = f"{open_[0].criterion}: {open_[0].rationale}"
    return Fault(FaultOrigin.JUDGE, "inconclusive", said)
