"""The reflection model: asked by proposers, its answers journaled before they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import dspy

from ...agents.agent import Agent
from ...agents.errors import FaultError, FaultOrigin
from ...agents.fingerprint import fingerprint
from ...agents.ledger import Ledger, Role, Usage, charged_to
from ...agents.lm import LanguageModel
from ...agents.prompts import Prompt
from ...simulation.journal import Journal
from ...simulation.paused import PausedError
from .proposer import ProposalFailedError


@dataclass(frozen=True, slots=True)
class ReflectionModel:
    """A language model that proposers ask.

    Attributes:
        lm: The model.
        journal: Where its answers are kept.
        ledger: Where replayed answers are counted.
        random_seed: From which each call's sampling seed is derived.
    """

    lm: LanguageModel
    journal: Journal
    ledger: Ledger
    random_seed: int

    async def ask(
        self, signature: type[dspy.Signature], instructions: Prompt, inputs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the answer's fields; one that was paid for before comes from the journal.

        Raises:
            ProposalFailedError: The answer is no use.
            PausedError: The provider gave none; asking again later may help.
            CotuneError: The run cannot go on.
        """
        content = [self.lm.identity(), instructions.text, inputs, self.random_seed]
        key = Journal.key("proposal", content)
        record = self.journal.get(key)
        if record is None:
            record = await self._paid(key, signature, instructions, inputs)
            self.journal.put(key, record)
        else:
            usage = Usage(**record["usage"])
            self.ledger.replay(Role.REFLECTION, "reflection", usage)
            if self.lm.budget is not None:
                self.lm.budget.add(usage)
        if "unusable" in record:
            raise ProposalFailedError(record["unusable"])
        return {name: record[name] for name in signature.output_fields}

    async def _paid(
        self,
        key: str,
        signature: type[dspy.Signature],
        instructions: Prompt,
        inputs: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the answer; one that is no use, too, is paid for and belongs in the journal."""
        seed = int(fingerprint([self.random_seed, key], 7), 16)
        try:
            with charged_to(key=key):
                answer = await Agent("reflection", signature).call(
                    instructions, self.lm, inputs, seed
                )
        except FaultError as error:
            if error.fault.origin is not FaultOrigin.ASSISTANT:
                raise PausedError(
                    f"The run paused: the reflection model gave no answer ({error.fault.message}). "
                    "Nothing is lost. Mend the cause and run the same command again; it goes on "
                    "from here."
                ) from error
            answer = {"unusable": f"the model gave no usable answer: {error.fault.message}"}
        return {**answer, "usage": self.ledger.collect(key).to_json()}
