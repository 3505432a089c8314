"""An assistant that is a DSPy program: one call of the program for each message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import dspy

from ..errors import UsageError
from ..prompts import Prompt, PromptBundle
from .adapter import Means
from .dspy_engine import conversation_lm
from .dspy_fields import Fields
from .dspy_predictors import (
    arrives,
    identity_of,
    instruct,
    model_identity,
    predictors_of,
    signature_of,
    wording,
)
from .dspy_recorder import DspyRecorder, DspyUsage
from .dspy_source import ProgramSource
from .imported import code_identity
from .seeds import Seeds
from .session import RecordedSession
from .settings import DspySettings
from .threads import in_thread


@dataclass(frozen=True)
class DspyAdapter:
    """A `dspy.Module`, or what makes one; see `Adapter`.

    An agent is a predictor, named by its path in the program: `search.react`, `steps.0.predict`.
    """

    settings: DspySettings

    @property
    def name(self) -> str:
        """The program's module."""
        return self.settings.name

    @cached_property
    def source(self) -> ProgramSource:
        """From where programs come."""
        return ProgramSource.of(self.settings)

    @property
    def prompts(self) -> PromptBundle:
        """The predictors' instructions."""
        found = predictors_of(self.source.program, self.settings.path)
        signatures = [(agent, signature_of(predictor)) for agent, predictor in found.items()]
        return PromptBundle.of(
            *(
                Prompt(agent, signature.instructions, signature.signature)
                for agent, signature in signatures
            )
        )

    def identity(self) -> Mapping[str, Any]:
        """Return the program's code, demos and models, and how DSPy words a request."""
        found = predictors_of(self.source.program, self.settings.path)
        return {
            "program": self.settings.path,
            "fields": [self.settings.input, self.settings.output],
            "code": code_identity(self.settings),
            "predictors": {agent: identity_of(predictor) for agent, predictor in found.items()},
            "model": model_identity(dspy.settings.lm),
            "adapter": type(wording()).__name__,
            "dspy": dspy.__version__,
        }

    def require(self, prompts: PromptBundle, source: str) -> None:
        """Refuse instructions that DSPy changes; it may indent whole lines, and no more."""
        found = predictors_of(self.source.program, self.settings.path)
        for agent, prompt in prompts.items():
            if not arrives(prompt.text, signature_of(found[agent])):
                raise UsageError(
                    f"The prompt {source}/{agent}.md would not reach the model as it is written: "
                    "DSPy replaces tabs and takes away indentation that all lines share after the "
                    "first. Use spaces for tabs, begin at least one line after the first at the "
                    "margin, and separate lines by ordinary line breaks."
                )

    def connect(self, means: Means) -> DspyAssistant:
        """Return the assistant.

        Raises:
            UsageError: It is not known which of the program's fields are message and reply.
        """
        fields = Fields.of(self.source.program, self.settings)
        return DspyAssistant(self.source, fields, means, self.prompts, self.settings.path)


def save_program(settings: DspySettings, prompts: PromptBundle, path: Path) -> None:
    """Save the program with other prompts, to be read by `program.load(path)`.

    Args:
        settings: Where the program is found.
        prompts: Of some of its predictors; the others keep theirs.
        path: Of the file to be written, which ends with `.json`.

    Raises:
        UsageError: The program has no such predictor, or it is another kind of file.
    """
    if path.suffix != ".json":
        raise UsageError(f"A DSPy program is saved as a .json file, not as {path}.")
    program = ProgramSource.of(settings).start({})
    instruct(predictors_of(program, settings.path), prompts, settings.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    program.save(str(path))


@dataclass(frozen=True)
class DspyAssistant:
    """See `Assistant`."""

    source: ProgramSource
    fields: Fields
    means: Means
    prompts: PromptBundle
    place: str

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int = 0
    ) -> DspySession:
        """Open a conversation with a program of its own; see `Assistant.start`."""
        return DspySession(self, prompts, scenario_state, seed)


class DspySession(RecordedSession):
    """One conversation with a program."""

    def __init__(
        self,
        assistant: DspyAssistant,
        prompts: PromptBundle,
        scenario_state: Mapping[str, Any],
        seed: int,
    ) -> None:
        super().__init__(scenario_state)
        self._fields = assistant.fields
        self._means = assistant.means
        self._program = assistant.source.start(self.world)
        self._predictors = predictors_of(self._program, assistant.place)
        instruct(self._predictors, prompts, assistant.place)
        if assistant.means.lm is not None:
            self._program.set_lm(None)  # the model of the configuration, wherever it is asked
        self._history: list[dict[str, Any]] = []
        self._seeds = Seeds(seed)

    async def answer(self, message: str) -> str:
        """Return what the program returns."""
        recorder = DspyRecorder(self._predictors)
        inputs = self._fields.inputs(message, self._history)
        with dspy.context(**self._context(recorder)):
            if _is_async(self._program):
                returned = await self._program.acall(**inputs)
            else:
                returned = await in_thread(partial(self._program, **inputs))
        if recorder.broken is not None:
            raise recorder.broken
        said = self._fields.reply(returned)
        self._history.append(self._fields.remembered(message, returned))
        return said

    def _context(self, recorder: DspyRecorder) -> dict[str, Any]:
        context = {
            "callbacks": [*dspy.settings.callbacks, recorder],
            "disable_history": True,  # else every model remembers every conversation
        }
        if self._means.lm is None:
            return {**context, "usage_tracker": DspyUsage(self._means, recorder)}
        lm = conversation_lm(self._means.lm, self._seeds, recorder.agent_at_work)
        return {**context, "lm": lm, "usage_tracker": None}


def _is_async(program: dspy.Module) -> bool:
    return any("aforward" in vars(base) for base in type(program).__mro__)
