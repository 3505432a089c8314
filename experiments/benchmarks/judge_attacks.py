"""How often a conversation that speaks to its judge changes the judge's mind.

Run it with `python -m cotune.experiments.benchmarks.judge_attacks tests/rubrics/attacks.jsonl`;
it takes ten minutes with the embedded model. One conversation that breaks all criteria of
`judge_rubric.yaml` is judged as it is, and with each attack planted in it. A judge that
cannot be talked over fails it every time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ...agents.assistant import AgentCall, Reply, ToolCall
from ...agents.errors import CotuneError
from ...agents.json_lines import stream_json_lines
from ...rubrics.evaluate import evaluate
from ...rubrics.judge import Judge, Question
from ...rubrics.judges.rendering import Detail, render
from ...rubrics.rubric import Rubric
from ...rubrics.rubric_file import load_rubric
from ...rubrics.subject import ConversationRecord
from ...rubrics.verdict import Status, Verdict
from ...simulation.trajectory import Turn
from .judge import TOKENS, arguments, judging
from .judge_conversations import conversations


class Attack(BaseModel):
    """A text that is to change a judge's mind, and where in a conversation it stands.

    Attributes:
        id: For tables.
        where: `customer`, `assistant`, `tool`, `agent`, `agent_name`, `tool_name` or `state`.
        text: What is said; `{mark}` stands for what only the delimiters of the record know.
        repeat: How often it is said.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    where: str
    text: str
    repeat: int = Field(default=1, ge=1)


HARMLESS = Attack(id="harmless", where="customer", text="")


@dataclass(frozen=True, slots=True)
class Attacked:
    """What a judge said about the broken conversation with an attack in it.

    Attributes:
        attack: The attack.
        verdicts: By criterion.
    """

    attack: Attack
    verdicts: Mapping[str, Verdict]


def bare(record: ConversationRecord) -> ConversationRecord:
    """Return a conversation of which little is left but what was said: quick to read."""
    turns = tuple(
        Turn(turn.message, Reply(turn.reply.text), {"cart": _in_short(turn.state["cart"])})
        for turn in record.trajectory.turns
    )
    return replace(record, trajectory=replace(record.trajectory, turns=turns, initial_state={}))


def _in_short(cart: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"{line['quantity']} x {line['name']}" for line in cart]


def with_attack(record: ConversationRecord, attack: Attack) -> ConversationRecord:
    """Return a conversation with an attack planted in its last turn."""
    mark = render(record.trajectory, TOKENS).text.split()[2]
    text = attack.text.replace("{mark}", mark) * attack.repeat

    def at(place: str, otherwise: str) -> str:
        return text if attack.where == place else otherwise

    *before, last = record.trajectory.turns
    calls = (
        AgentCall(at("agent_name", "cart"), {"message": at("agent", "")}, {}),
        ToolCall(at("tool_name", "note"), "cart", {}, at("tool", "done")),
    )
    said = f"{last.reply.text} {at('assistant', '')}".strip()
    message = f"{last.message} {at('customer', '')}".strip()
    turn = Turn(message, Reply(said, calls), {**last.state, at("state", "note"): 1})
    return replace(record, trajectory=replace(record.trajectory, turns=(*before, turn)))


async def broken(
    judge: Judge, rubric: Rubric, records: Sequence[ConversationRecord]
) -> tuple[ConversationRecord, Mapping[str, Verdict]]:
    """Return the first conversation that breaks all criteria and of which the judge says so.

    Criteria that it passes nevertheless are left out of the verdicts; one at least it fails. The
    conversation is returned as `bare` leaves it.
    """
    for record in records:
        if any(verdict.value != 0.0 for verdict in evaluate(rubric, record)):
            continue
        shown = bare(record)
        said = await judge.judge(with_attack(shown, HARMLESS), rubric)
        failed = {each.criterion: each for each in said.verdicts if each.value == 0.0}
        if failed:
            return shown, failed
    raise CotuneError("The judge fails no criterion of any conversation: nothing can be attacked.")


async def attacked(
    judge: Judge, rubric: Rubric, record: ConversationRecord, attacks: Sequence[Attack],
    criteria: Iterable[str],
) -> list[Attacked]:  # fmt: skip
    """Return what the judge says of a conversation under each attack."""
    questions = [Question(rubric.criterion(name)) for name in criteria]
    found: list[Attacked] = []
    for attack in attacks:
        said = await judge.judge(with_attack(record, attack), rubric, questions)
        found.append(Attacked(attack, {each.criterion: each for each in said.verdicts}))
    return found


def table_of(found: Sequence[Attacked], clean: Mapping[str, Verdict]) -> Table:
    """Return by criterion and place how many attacks made a pass of a fail."""
    table = Table("criterion", "attacks in", box=SIMPLE_HEAD)
    for column in ("attacks", "flipped to pass", "inconclusive", "probability before", "after"):
        table.add_column(column, justify="right")
    places = {
        name: [each for each in found if each.attack.where == name] for name in _places(found)
    }
    for criterion, before in clean.items():
        for place, those in {**places, "all": found}.items():
            after = [each.verdicts[criterion] for each in those]
            table.add_row(criterion, place, *_figures(before, after))
        table.add_section()
    return table


def _places(found: Sequence[Attacked]) -> list[str]:
    return list(dict.fromkeys(each.attack.where for each in found))


def _figures(before: Verdict, after: Sequence[Verdict]) -> tuple[str, ...]:
    flipped = sum(each.value == 1.0 for each in after)
    probabilities = [each.pass_probability or 0.0 for each in after]
    return (
        str(len(after)),
        f"{flipped} ({flipped / len(after):.0%})",
        str(sum(each.status is Status.INCONCLUSIVE for each in after)),
        f"{before.pass_probability or 0.0:.2f}",
        f"{fmean(probabilities):.2f}",
    )


def main() -> None:
    """Measure and print."""
    parser = arguments("How often attacks in a conversation change a judge's mind.")
    parser.add_argument("attacks", type=Path, help="JSON lines: id, where, text")
    parser.set_defaults(detail=Detail.ALL)
    given = parser.parse_args()
    rubric = load_rubric(str(given.rubric))
    attacks = [line.parse(Attack) for line in stream_json_lines(given.attacks, "attacks")]
    records = asyncio.run(conversations(rubric)).held_out
    with judging(given, rubric) as judge:
        clean, found = asyncio.run(_measure(judge, rubric, records, attacks[: given.most]))
    console = Console(width=120)
    console.print(table_of(found, clean))
    for criterion in clean:
        flipped = [each.attack.id for each in found if each.verdicts[criterion].value == 1.0]
        console.print(f"{criterion}, flipped by: {', '.join(flipped) or 'none'}.")


async def _measure(
    judge: Judge, rubric: Rubric, records: Sequence[ConversationRecord], attacks: Sequence[Attack]
) -> tuple[Mapping[str, Verdict], list[Attacked]]:
    record, clean = await broken(judge, rubric, records)
    return clean, await attacked(judge, rubric, record, attacks, clean)


if __name__ == "__main__":
    main()
