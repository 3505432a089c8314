"""Grounding: what a customer can know in the course of a conversation.

That is what the scenario says of them, less what it marks as unknown, and what they have seen:
their own words and the assistant's, the items it showed, the cart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..agents.fingerprint import canonical_json
from .figures import figures_in, values_in
from .scenario import Fact, Scenario
from .trajectory import Trajectory
from .view import View

CURLY = "\u2019"
"""The apostrophe of word processors and models; texts are compared with straight ones."""

_VISIBLE = ("cart", "total", "store")
_BEHIND_THE_SCENES = {
    "unknown", "outcome", "initial_state", "expected", "acceptable", "tags", "seed",
}  # fmt: skip
_PROPER = r"[^\W\d_a-zß-öø-ÿ][\w'&.-]*\w"
_NAMES = re.compile(
    rf"\b(?:from|by|at|brand|called|named) (?P<cued>{_PROPER}(?: (?:& )?{_PROPER})*)"
    rf"|[\"“](?P<quoted>{_PROPER}(?: (?:& )?{_PROPER}){{0,3}})[\"”]"
)
_NO_NAME = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|christmas|easter|i|i'\w+"
)


def known_text(scenario: Scenario, so_far: Trajectory) -> str:
    """Return all that a customer can know, as one text in lower case to look things up in."""
    told = scenario.model_dump(mode="json", exclude=_BEHIND_THE_SCENES)
    said = [[turn.message, turn.reply.text] for turn in so_far.turns]
    states = [so_far.initial_state, *(turn.state for turn in so_far.turns)]
    screens = [{name: state.get(name) for name in _VISIBLE} for state in states]
    # What a state describes beside cart and screen, such as the customer's record, is not seen.
    record = View.at_start(so_far.initial_state).known
    items = [item for id_, item in View.of(so_far).known.items() if id_ not in record]
    return canonical_json([told, said, screens, items]).casefold().replace(CURLY, "'")


def invented(message: str, scenario: Scenario, so_far: Trajectory) -> str:
    """Return the first figure or name that neither scenario nor conversation mentions.

    Names are looked for where they hardly can be anything else: capitalized behind words such
    as `from` and `called`, and in quotation marks.
    """
    figures, names = figures_in(message), tuple(_names_in(message))
    if not (figures or names):
        return ""
    known = known_text(scenario, so_far)
    values = values_in(known) if figures else frozenset[float]()
    unheard = (
        *(figure for figure, meant in figures.items() if not meant & values),
        *(name for name in names if not all(word in known for word in _words(name))),
    )
    return next(iter(unheard), "")


def revealed(message: str, scenario: Scenario, so_far: Trajectory) -> Fact | None:
    """Return the first unknown fact whose value the message has, if nobody has said it before."""
    told = [fact for fact in scenario.unknown if _tells(message, fact)]
    known = known_text(scenario, so_far) if told else ""
    return next((fact for fact in told if not _occurs(fact.value, known)), None)


def _tells(message: str, fact: Fact) -> bool:
    """Whether a message has a fact's value; a very short one counts beside the fact's name."""
    subject = (fact.name, *fact.asked_by) if len(fact.value) <= 2 else ()
    return _occurs(fact.value, message) and (
        not subject or any(_occurs(word, message) for word in subject)
    )


def _occurs(words: str, text: str) -> bool:
    spaced = r"\s+".join(re.escape(word) for word in words.split())
    return re.search(rf"(?<!\w){spaced}(?!\w)", text, re.IGNORECASE) is not None


def _names_in(message: str) -> Iterator[str]:
    for match in _NAMES.finditer(message):
        name = match["cued"] or match["quoted"]
        if not any(_NO_NAME.fullmatch(word) for word in _words(name)):
            yield name


def _words(name: str) -> list[str]:
    return [word.removesuffix("'s").strip(".") for word in name.casefold().split() if word != "&"]
