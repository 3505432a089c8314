"""Warm starts: a run that begins with what other runs found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ..agents.errors import UsageError
from ..agents.prompts import PromptBundle
from ..rubrics.statistics import Conclusion
from .run_folder import named_run
from .run_record import FILE_NAME, RunRecord


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Another run whose winner's prompts are started from.

    Attributes:
        run: Its name.
        agents: The agents whose prompts it changed.
        conclusion: What its test said of them.
    """

    run: str
    agents: tuple[str, ...]
    conclusion: Conclusion

    @property
    def sentence(self) -> str:
        """Say what is taken, and whether a test has confirmed it."""
        if not self.agents:
            return f"{self.run}: nothing, its winner has the prompts that are there already."
        said = {
            Conclusion.IMPROVED: "its test said: improved",
            Conclusion.NO_EVIDENCE: "its test gave no evidence that they are better",
            Conclusion.WORSE: "its test said that they are worse",
        }[self.conclusion]
        return f"{self.run}: the prompts of {', '.join(self.agents)}; {said}."


def warm_started(
    seed: PromptBundle, runs: Sequence[Path], out: Path
) -> tuple[PromptBundle, tuple[WarmStart, ...]]:
    """Return the seed with the winners' prompts of other runs in it, and what comes from where.

    Args:
        seed: The prompts of all agents.
        runs: Folders of finished runs, of single agents or of the whole assistant; a name is
            looked for in `out`.
        out: The folder for runs.

    Raises:
        UsageError: A folder holds no finished run, or two runs changed the same agent's prompt.
    """
    starts: list[WarmStart] = []
    texts: dict[str, str] = {}
    for run in runs:
        record = read_record(run, out)
        unknown = sorted(set(record.chosen.prompts) - set(seed))
        if unknown:
            raise UsageError(f"--from {run}: the assistant has no agent '{unknown[0]}'.")
        found = {
            agent: text for agent, text in record.chosen.prompts.items() if text != seed[agent].text
        }
        twice = sorted(agent for agent in found if texts.get(agent, found[agent]) != found[agent])
        if twice:
            other = next(start.run for start in starts if twice[0] in start.agents)
            raise UsageError(
                f"--from {run}: this run and {other} both changed the prompt of '{twice[0]}'. "
                "Name only one of them."
            )
        texts |= found
        starts.append(WarmStart(record.name, tuple(found), record.conclusion))
    return seed.with_texts(texts), tuple(starts)


def read_record(run: Path, out: Path) -> RunRecord:
    """Read the record of a finished run.

    Args:
        run: Its folder, or its name.
        out: The folder in which a name is looked for.

    Raises:
        UsageError: There is none, or it cannot be read.
    """
    path = named_run(run, out) / FILE_NAME
    if not path.is_file():
        raise UsageError(
            f"{run} is no finished run: there is no {path}. Name the folder of a run that has "
            f"ended, such as one under {out}."
        )
    try:
        return RunRecord.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise UsageError(
            f"{path} cannot be read: it is damaged, or another version of cotune wrote it. Run "
            "that command again; it replays for free and writes the file anew."
        ) from error
