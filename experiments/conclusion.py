"""What a run found, in words that promise no more than the numbers do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from ..optimizer.held_out import HeldOut
from ..rubrics.statistics import Conclusion, Interval
from .run_record import RunRecord

_MISSING = "–"


def number(value: float | None) -> str:
    """Write a score with three decimals."""
    return _MISSING if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Write a difference with its sign; what rounds to 0 has none."""
    if value is None:
        return _MISSING
    return f"{value:+z.3f}".replace("-", "−") if round(value, 3) else "0.000"


def bounds(interval: Interval) -> str:
    """Write the bounds of a difference, or that there are none."""
    if interval.low is None or interval.high is None:
        return "no interval"
    return f"{signed(interval.low)} to {signed(interval.high)}"


def percent(interval: Interval) -> str:
    """Write an interval's confidence in percent, without the sign."""
    return f"{interval.confidence * 100:g}"


def measured(interval: Interval) -> str:
    """Write a difference with its interval."""
    return f"{signed(interval.mean)} ({percent(interval)} % interval {bounds(interval)})"


def headline(conclusion: Conclusion) -> str:
    """Return the conclusion in a word or two."""
    return {
        Conclusion.IMPROVED: "Improved",
        Conclusion.NO_EVIDENCE: "No evidence of a difference",
        Conclusion.WORSE: "Worse",
    }[conclusion]


def sentence(record: RunRecord) -> str:
    """Say the result in one sentence, with its interval; more only where it needs a warning."""
    if record.held_out is not None:
        return " ".join([_tested(record.held_out), *_warnings(record, record.held_out)])
    if record.winner == 0:
        return f"The seed stays: {record.choice}. The test split was not touched."
    return (
        f"Candidate {record.winner} was chosen but not tested: "
        f"{record.stopped or 'faults hit every pair of the test'}."
    )


def reading(record: RunRecord) -> str:
    """Say in plain language what the result allows one to believe."""
    if record.held_out is None:
        return (
            "Without a comparison on the test split nothing can be said of a difference. Val "
            "scores chose between the candidates, so they are too kind to the best of them."
        )
    difference = record.held_out.overall.difference
    if difference.low is None:
        return f"No interval could be given ({difference.method}), so nothing can be concluded."
    return f"{_COVERAGE.format(percent=percent(difference))} {_READINGS[record.conclusion]}"


def joint_sentence(record: RunRecord) -> str:
    """Say what the parts of a joint winner earn alone, on val; empty where that is not known."""
    if not record.single_changes:
        return ""
    alone = ", ".join(f"{one.agent} {signed(one.gain)}" for one in record.single_changes)
    return f"Alone on val the changes gain: {alone}; together {signed(record.val_gain)}."


SIMULATION = (
    "This is a simulation: a scripted model answers, not a language model. It shows what a run "
    "does, not what prompts are worth."
)


def simulation_html(simulated: bool) -> Markup:
    """Return for a notebook that nobody but a script answered; nothing where a model did."""
    return Markup("<p>{}</p>").format(SIMULATION) if simulated else Markup()


_COVERAGE = (
    "The interval was made by a method that covers the true mean difference in about {percent} of "
    "100 such tests on other examples of the same kind."
)
_READINGS = {
    Conclusion.IMPROVED: (
        "All of it is above 0, so luck with the test examples is an unlikely explanation: expect "
        "the winner to do better on examples like these, by an amount within the interval."
    ),
    Conclusion.NO_EVIDENCE: (
        "It includes 0, so this test cannot tell the two apart. That is no proof that they are "
        "equal: a difference anywhere in the interval is compatible with what was seen. More test "
        "examples would narrow it."
    ),
    Conclusion.WORSE: (
        "All of it is below 0: expect the winner to do worse than the seed on examples like "
        "these. Keep the seed."
    ),
}


def _tested(held_out: HeldOut) -> str:
    overall = held_out.overall
    return (
        f"{headline(held_out.conclusion)}: on {held_out.examples} unseen examples the seed scores "
        f"{number(overall.seed)} and the winner {number(overall.winner)}, a difference of "
        f"{measured(overall.difference)}."
    )


def _warnings(record: RunRecord, held_out: HeldOut) -> Iterator[str]:
    """Yield what a reader of the mean alone would miss."""
    if not held_out.deployable:
        named = [_titled(said, record.criterion_titles) for said in held_out.safety]
        yield f"Not deployable, because of what is critical: {'; '.join(named)}."
    if record.earlier_tests:
        winners = "winner" if record.earlier_tests == 1 else "winners"
        yield (
            f"This test split was used for {record.earlier_tests} earlier {winners}, so the "
            "interval is too kind."
        )


def _titled(said: str, titles: Mapping[str, str]) -> str:
    """Return what is said of a criterion with its title in place of its id."""
    for name, title in titles.items():
        said = said.replace(f"'{name}'", f"'{title}'")
    return said
