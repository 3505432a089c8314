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
    r"\b(?:anything|something|what) else\b|\b(?:how|what) (?:can|may|could) I (?:help|do|get)\b"
    r"|\bcan I (?:help|assist)\b|\blet me know if\b|\bneed (?:any|more) help\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")


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
    """Return what a reply does."""
    acts = {Act.INFORM} if reply.text.strip() else set[Act]()
    if questions(reply.text):
        acts.add(Act.ASK)
    if _CLOSING_OFFER.search(reply.text):
        acts.add(Act.OFFER)
    return frozenset(acts)
