"""Dialogue acts: a small reading of what the assistant does with a reply."""

from __future__ import annotations

import re
from enum import StrEnum

from ..agents.assistant import Reply
from .trajectory import Trajectory


class Act(StrEnum):
    """What a reply does; one reply may do several things."""

    ASK = "ask"  # wants an answer before it goes on
    OFFER = "offer"  # anything else? how can I help? - an answer is welcome, not needed
    CLAIM = "claim"  # says that something has been done
    REFUSE = "refuse"  # declines
    NOT_FOUND = "not_found"  # says that something cannot be had
    INFORM = "inform"  # states something


_CLOSING_OFFER = re.compile(
    # `Would you like to try something else?` waits for an answer, unlike these.
    r"\b(?:anything|what) else\b|\b(?:need|do|help (?:you )?with) something else\b"
    r"|\b(?:how|what) (?:can|may|could) I (?:help|do|get)\b"
    r"|\bcan I (?:help|assist)\b|\blet me know if\b|\bneed (?:any|more) help\b",
    re.IGNORECASE,
)
# An end of a sentence is followed by a space, so that `2.49 euros` is not two sentences.
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=[^\s.!?]))+[.!?]*")
_THING = r"(?:I(?:'ve| have)?|we(?:'ve| have)?|has been|have been|is|are|was|were|just|now)"
_DONE = r"(?:added|put|placed|removed|taken|changed|updated|ordered|set|swapped|replaced)"
_CANNOT = (
    r"(?:can(?:'t|not| not)|could(?:n't| not)|won't|will not|unable to|not able to|not allowed to"
    r"|must not|may not)"
)
_SAYS = {
    Act.CLAIM: rf"\b{_THING} (?:now |already |just )?{_DONE}\b"
    r"|\b(?:is|are) (?:now |already )?in (?:your|the) (?:cart|basket)\b"
    r"|\border (?:is|has been|was) (?:placed|confirmed)\b|\ball (?:done|set)\b|\A\W*done\b",
    Act.REFUSE: rf"\bI(?:'m afraid I)? {_CANNOT} (?!find|see|locate|understand)\w+"
    r"|\b(?:we|am|I'm|are) (?:unable to|not able to|not allowed to) (?!find|see|locate)\w+"
    r"|\bcan only help with\b|\b(?:must|have to) (?:decline|refuse)\b|\bI (?:decline|refuse)\b"
    r"|\bagainst (?:our|my|the) (?:rules|policy)\b|\bnot (?:something|anything) I can\b",
    Act.NOT_FOUND: r"\b(?:nothing|none|no \w+(?: \w+)?) (?:was|were|is|are|could be)? ?found\b"
    r"|\bnot found\b|\b(?:can't|cannot|can not|couldn't|could not|didn't|did not) find\b"
    r"|\b(?:don't|do not|no longer) (?:have|carry|sell|stock)\b|\b(?:sold out|out of stock)\b"
    r"|\b(?:is|are) not (?:available|sold|in stock)\b|\bunavailable\b|\bnone left\b"
    r"|\bthere (?:are|is) not (?:\d+|enough)\b|\bnot enough\b|\bonly \d+ (?:are |is )?left\b"
    r"|\bnone of the \w+(?: \w+)* fits?\b",
}
_PATTERNS = {act: re.compile(pattern, re.IGNORECASE) for act, pattern in _SAYS.items()}
_SAYS_NOTHING = re.compile(
    r"\W*(?:(?:hi|hello|hey|welcome|good (?:morning|afternoon|evening|day))(?: there)?\b\W*)*",
    re.IGNORECASE,
)
_NOT_UNDERSTOOD = re.compile(
    r"\bno \w+ (?:was|were) recogni[sz]ed\b|\b(?:do|did)(?:n't| not) (?:quite )?understand\b",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(rf"\b(?:not|n't|never) (?:been )?{_DONE}\b", re.IGNORECASE)


def questions(text: str) -> tuple[str, ...]:
    """Return the sentences that ask something which needs an answer."""
    asked = (sentence.strip() for sentence in _SENTENCE.findall(text) if "?" in sentence)
    return tuple(sentence for sentence in asked if not _CLOSING_OFFER.search(sentence))


def pending_question(so_far: Trajectory) -> str:
    """Return the question that the last reply left open; empty when there is none."""
    if not so_far.turns:
        return ""
    asked = questions(so_far.turns[-1].reply.text)
    return asked[-1] if asked else ""


def read_acts(reply: Reply) -> frozenset[Act]:
    """Return what a reply does.

    It is a reading of words, about as good as a hasty customer's; whether something is so is
    for the state to say.
    """
    text = reply.text.replace("\u2019", "'")
    if not text.strip():
        return frozenset()
    statements = " ".join(each for each in _SENTENCE.findall(text) if "?" not in each)
    acts = {act for act, pattern in _PATTERNS.items() if pattern.search(statements)}
    if not _SAYS_NOTHING.fullmatch(statements) and not _NOT_UNDERSTOOD.search(statements):
        acts.add(Act.INFORM)
    if _NOT_DONE.search(statements):
        acts.discard(Act.CLAIM)
    if questions(text):
        acts.add(Act.ASK)
    if _CLOSING_OFFER.search(text):
        acts.add(Act.OFFER)
    return frozenset(acts)
