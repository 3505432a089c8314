from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer.drafting import Drafting
from cotune.optimizer.guards import Guards
from cotune.optimizer.proposers.lessons import LessonsProposer

PARENT = Prompt("router", "Route for {{ store }}.")
SECRET = "I'd like two litres of oat milk, please!"
GUARDS = Guards.protecting([SECRET, "Hello there, hi."], 300)

_PLAIN = st.text(st.characters(exclude_characters="{}`,([:-–—", codec="utf-8"), max_size=250)


def test_a_good_prompt_passes() -> None:
    assert GUARDS.refusal(PARENT, "Route every message for {{store}}, and be quick.") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" \n", "the prompt is empty"),
        ("  Route for {{ store }}.\n", "the prompt is unchanged"),
        ("{{ store }} " + "x" * 300, "the prompt has 312 characters; the cap is 300"),
        ("Route it.", "the placeholder '{{ store }}' is lost"),
        ("Route {{ store }} to {{ agent }}.", "the placeholder '{{ agent }}' is invented"),
        ("For {{ store }}:\n```\ncode", "a code block is not closed"),
        ("For {{ store }} these count:", "it ends with ':'"),
        ("For {{ store }} the agents (cart, ", "it ends with ','"),
        ("For {{ store }} –", "it ends with '–'"),
    ],
)
def test_what_is_refused_and_why(text: str, reason: str) -> None:
    assert reason in (GUARDS.refusal(PARENT, text) or "")


@pytest.mark.parametrize(
    "copy", [SECRET, SECRET.upper(), "i'd like\n  two litres of *oat milk* please"]
)
def test_a_copy_of_a_protected_text_is_refused_however_it_is_written(copy: str) -> None:
    reason = GUARDS.refusal(PARENT, f"For {{{{ store }}}} “{copy}” goes to search.")
    assert reason == "the prompt copies an example or a text that must stay out of it"


def test_short_common_texts_are_no_copies() -> None:
    assert GUARDS.refusal(PARENT, "In {{ store }} “hello there, hi” goes to chat.") is None


def test_words_that_only_contain_a_protected_text_are_no_copy() -> None:
    guards = Guards.protecting(["at one cat in a hat"], 300)
    assert guards.refusal(PARENT, "{{ store }}: what one cat in a hat") is None
    assert guards.refusal(PARENT, "{{ store }}: at one cat in a hatter") is None
    assert guards.refusal(PARENT, "{{ store }}: at one cat in a hat") is not None


def test_what_a_person_already_wrote_is_no_fault_of_the_new_prompt() -> None:
    odd = Prompt("router", f"```\nFor example “{SECRET}”. The message:")
    assert GUARDS.refusal(odd, f"```\nBetter. For example “{SECRET}”. The message:") is None


@given(_PLAIN)
def test_ordinary_text_passes(text: str) -> None:
    parent = Prompt("router", "The parent.")
    refused = Guards.protecting([SECRET], 300).refusal(parent, text)
    expected = not text.strip() or text.strip() == parent.text
    assert (refused is not None) == expected


@given(st.text(max_size=400))
def test_no_text_breaks_a_guard_and_a_reason_is_one_line(text: str) -> None:
    reason = GUARDS.refusal(PARENT, text)
    assert reason is None or "\n" not in reason
    assert reason is not None or "{{" in text


def test_what_the_assistant_cannot_be_told_as_it_is_written_is_refused() -> None:
    def unfit(prompts: PromptBundle) -> str | None:
        return "it fills in braces" if any("{" in one.text for one in prompts.values()) else None

    parent = PromptBundle.of(Prompt("clerk", "Serve."), Prompt("cook", "Cook {this}."))
    drafting = Drafting(LessonsProposer(), Guards.protecting([], 300), unfit, 300)
    assert drafting.refusal(parent, {"clerk": "Serve {name}."}, []) == "it fills in braces"
    assert drafting.refusal(parent, {"clerk": "Serve them."}, []) is None  # the cook's stays
    assert drafting.refusal(parent, {"clerk": ""}, []) == "clerk: the prompt is empty"
