"""An agent: a named part of an assistant, with a dspy signature and a prompt that instructs it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import dspy

from .answer_form import bare_word, output_schema
from .compact_adapter import CompactAdapter, render_value
from .errors import FaultError
from .ledger import charged_to
from .prompts import Prompt
from .worked_examples import HEADING

_ADAPTER = CompactAdapter()


@dataclass(frozen=True, slots=True)
class Agent:
    """One named part of an assistant.

    Attributes:
        name: Its name in the prompt bundle.
        signature: Its inputs and outputs; the instructions come from the prompt.
    """

    name: str
    signature: type[dspy.Signature]

    @property
    def interface(self) -> dict[str, Any]:
        """What it receives and returns, as JSON; with the prompt it determines what is sent."""
        return {
            "inputs": list(self.signature.input_fields),
            "outputs": output_schema(self.signature),
            "bare_word": bare_word(self.signature) is not None,
        }

    def _values(self, inputs: Mapping[str, Any]) -> dict[str, str]:
        """Return what placeholders may name: the input fields, as the model would read them.

        Inputs are data: one that looks like an examples section must not become one.
        """
        return {
            name: render_value(value).replace(HEADING, f"#{HEADING}")
            for name, value in inputs.items()
        }

    async def call(
        self, prompt: Prompt, lm: dspy.BaseLM, inputs: Mapping[str, Any], seed: int
    ) -> dict[str, Any]:
        """Call the agent once and return its output fields as JSON values.

        Args:
            prompt: What it is told.
            lm: The model it runs on.
            inputs: The signature's input fields, JSON values.
            seed: Sampling seed.

        Raises:
            FaultError: It gave no usable answer; the fault says whose fault it is and names
                the agent.
        """
        predictor = _predictor(cast(Hashable, self.signature), prompt.render(self._values(inputs)))
        with (
            charged_to(agent=self.name),
            dspy.context(lm=lm, adapter=_ADAPTER, disable_history=True, trace=None),
        ):
            try:
                prediction = await predictor.acall(**inputs, config={"seed": seed})
            except FaultError as error:
                raise FaultError(error.fault.said_of(self.name)) from error
        return {name: prediction[name] for name in self.signature.output_fields}


@lru_cache(maxsize=512)
def _predictor(signature: Any, instructions: str) -> dspy.Predict:
    instructed = signature.with_instructions(instructions)
    instructed.__name__ = signature.__name__  # dspy forgets it; the schema is named after it
    return dspy.Predict(instructed)
