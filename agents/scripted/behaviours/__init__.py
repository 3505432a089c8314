"""One simulated agent per output schema, found by the schema's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dspy.lm15 import Request

from ..call import Call
from ..schemas import minimal_instance
from ..slips import slip
from .brief import brief
from .change_cart import change_cart
from .customer import customer, slip_of_role
from .judge import judge, slip_of_value
from .prefer import prefer
from .propose import propose, propose_jointly
from .respond import respond
from .route import route
from .search import search
from .select import select, slip_of_choice


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How one simulated agent acts.

    Attributes:
        inputs: The fields of its message, in order.
        answer: From a call to the output fields.
        slip: From a call, the answer meant and a salt to a plausible wrong answer.
    """

    inputs: tuple[str, ...]
    answer: Callable[[Call], dict[str, Any]]
    slip: Callable[[Call, Mapping[str, Any], str], dict[str, Any]] = slip


BEHAVIOURS: Mapping[str, Behaviour] = {
    "Route": Behaviour(("message",), route),
    "Brief": Behaviour(("message", "history", "preferences", "agent"), brief),
    "Search": Behaviour(("message", "previous"), search),
    "Select": Behaviour(("request", "candidates"), select, slip_of_choice),
    "Prefer": Behaviour(("message", "known"), prefer),
    "ChangeCart": Behaviour(("message", "brief", "cart", "shown"), change_cart),
    "Respond": Behaviour(("message", "history", "events"), respond),
    "CustomerTurn": Behaviour(
        (
            "persona",
            "goal",
            "wants",
            "knows",
            "does_not_know",
            "news",
            "screen",
            "cart",
            "not_done",
            "conversation",
            "problems",
        ),
        customer,
        slip_of_role,
    ),
    "Judgement": Behaviour(("conversation", "about", "criteria"), judge, slip_of_value),
    "Proposal": Behaviour(
        ("agent", "purpose", "present_prompt", "calls", "turned_down", "length_limit"), propose
    ),
    "JointProposal": Behaviour(
        (
            "agents_to_change",
            "other_agents",
            "hand_offs",
            "conversations",
            "rules",
            "turned_down",
            "length_limit",
        ),
        propose_jointly,
    ),
}


def behaviour_for(request: Request) -> Behaviour:
    """Return who answers; for a schema nobody knows, whoever says the least it allows."""
    name = str((request.config.response_format or {}).get("name", ""))
    return BEHAVIOURS.get(name, _LEAST)


_LEAST = Behaviour(("message",), lambda call: minimal_instance(call.schema))
