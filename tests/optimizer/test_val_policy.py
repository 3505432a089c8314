from __future__ import annotations

import pytest

from cotune.optimizer.settings import Search
from cotune.optimizer.val_policy import searched_val

from .tasks import examples


@pytest.mark.parametrize(("n", "expected"), [(64, 16), (32, 8), (20, 8), (8, 8), (3, 3)])
def test_a_part_is_a_quarter_and_no_fewer_than_eight(n: int, expected: int) -> None:
    val = examples("val", n)
    part = searched_val(val, Search(val="part"))
    assert len({example.id for example in part}) == expected
    assert searched_val(val, Search(val="full")) == val


def test_a_part_comes_from_all_over_val() -> None:
    val = examples("val", 32)
    part = searched_val(val, Search(val="part"))
    assert part == val[::4]
