"""A conversation's verdicts, together with who gave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .agent_feedback import AgentFeedback, agent_feedback
from .credit import credit
from .rubric import Rubric
from .subject import ConversationRecord
from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All verdicts of one subject.

    Attributes:
        verdicts: In the rubric's order; see `evaluate` and `score`.
        by: What gave them, name by name: the rubric's fingerprint and, where a model judged, the
            model and its prompts' fingerprint.
    """

    verdicts: tuple[Verdict, ...]
    by: Mapping[str, str] = field(default_factory=dict)

    def feedback_for(
        self, agent: str, rubric: Rubric, record: ConversationRecord
    ) -> tuple[AgentFeedback, ...]:
        """Return what an agent is to blame for in a conversation, the gravest first.

        Args:
            agent: Its name in the prompt bundle.
            rubric: The rubric that the verdicts answer to.
            record: The conversation they are about.
        """
        return agent_feedback(rubric, credit(rubric, self.verdicts, record), agent)
