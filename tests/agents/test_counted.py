from __future__ import annotations

import pytest

from cotune.agents.counted import counted


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 calls"), (1, "1 call"), (2, "2 calls"), (12_000, "12,000 calls")],
)
def test_a_number_has_its_noun_in_the_right_form(count: int, said: str) -> None:
    assert counted(count, "call") == said


def test_a_plural_of_its_own() -> None:
    assert counted(1, "family", "families") == "1 family"
    assert counted(3, "family", "families") == "3 families"
