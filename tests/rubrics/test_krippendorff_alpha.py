"""Alpha is that of the reference library and of the published examples."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

import krippendorff
import numpy as np
import pytest

from cotune.rubrics.annotation_intake import Intake
from cotune.rubrics.annotation_scale import scales_of
from cotune.rubrics.annotation_sources.format import Format
from cotune.rubrics.annotation_sources.transcript import read_transcript
from cotune.rubrics.annotator_agreement import among_annotators
from cotune.rubrics.clustered_estimate import Resampling
from cotune.rubrics.gold import by_item
from cotune.rubrics.krippendorff_alpha import Level, alpha, coincidences

from .annotating import ratings

USS = Path(
    os.environ.get("COTUNE_USS_DATA")
    or Path(__file__).resolve().parents[3] / "shared" / "data" / "uss"
)
FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
NOBODY = math.nan

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers.
EXAMPLE = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, NOBODY, NOBODY, NOBODY),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NOBODY, 3),
    (NOBODY, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NOBODY),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NOBODY),
)


def ours(by_observer: Sequence[Sequence[float]], level: Level, values: Sequence[float] = FIVE):
    table = np.array(by_observer, dtype=float)
    counts = (table[:, :, None] == np.array(values)).sum(0).astype(float)
    return float(alpha(coincidences(counts).sum(0), level, np.array(values)))


@pytest.mark.parametrize(
    ("level", "known"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_krippendorffs_own_example(level: str, known: float):
    assert ours(EXAMPLE, Level(level)) == pytest.approx(known, abs=5e-4)


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_that_of_the_library_with_values_missing(level: Level, seed: int):
    table = np.array([ratings(50, FIVE, 10 * seed + observer) for observer in range(4)])
    missing = np.array([ratings(50, (0.0, 1.0), 100 + 10 * seed + who) for who in range(4)]) > 0
    table[missing] = NOBODY
    expected = krippendorff.alpha(
        reliability_data=table, value_domain=list(FIVE), level_of_measurement=level.value
    )
    assert ours(table.tolist(), level) == pytest.approx(expected)


def test_one_value_only_is_undefined():
    assert math.isnan(ours([[3, 3, 3], [3, 3, 3]], Level.ORDINAL))


def test_items_seen_by_one_person_tell_nothing():
    with_one = [[1, 2, 2, 5], [1, 2, 3, NOBODY]]
    without = [[1, 2, 2], [1, 2, 3]]
    assert ours(with_one, Level.NOMINAL) == ours(without, Level.NOMINAL)


@pytest.mark.parametrize(("domain", "known"), [("MWOZ", 0.193), ("SGD", 0.228)])
def test_alpha_of_the_dialogue_ratings_of_uss(domain: str, known: float):
    file = USS / f"{domain}.txt"
    if not file.is_file():
        pytest.skip(f"the ratings of USS are not in {USS}; COTUNE_USS_DATA says where they are")
    form = Format.model_validate(
        {
            "delimiter": "\t",
            "separator": ",",
            "scale": FIVE,
            "transcript": {"columns": ["role", "text", "action", "values"]},
        }
    )
    annotations = list(Intake(form, None, None).take(read_transcript(str(file), form)))
    scale = scales_of(annotations, None)["overall"]
    items = by_item(annotations, None)
    found = among_annotators(items, scale, Level.ORDINAL, Resampling(resamples=200))
    assert found.items == found.shared == 1000
    assert found.alpha.value == pytest.approx(known, abs=5e-4)
