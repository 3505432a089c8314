"""A run's prompts written as files that other programs read."""

from __future__ import annotations

from pathlib import Path

from ..agents.bundle_json import bundle_json
from ..agents.errors import CotuneError, UsageError
from ..agents.prompts import Prompt, PromptBundle, require_name
from .conclusion import sentence
from .run_record import RunRecord

_PROMPTS = "prompts"


def winner_of(record: RunRecord, folder: Path) -> PromptBundle:
    """Return a run's winner: the texts of its record, with the descriptions of its folder.

    Args:
        record: The run.
        folder: The run's folder, in whose `prompts/` somebody may have changed something.
    """
    beside = folder / _PROMPTS
    known = PromptBundle.load(beside) if any(beside.glob("*.md")) else PromptBundle()
    texts = record.chosen.prompts
    described = {agent: known[agent].description for agent in texts if agent in known}
    return PromptBundle.of(
        *(Prompt(agent, text, described.get(agent, "")) for agent, text in texts.items())
    )


def export_folder(bundle: PromptBundle, target: Path) -> tuple[str, ...]:
    """Write an `AGENT.md` for each agent.

    Returns:
        The agents whose text the files do not keep to the letter.

    Raises:
        UsageError: The folder holds a file that would be read as another agent's prompt, or an
            agent has a name that no file can have.
    """
    for agent in bundle:
        require_name(agent, target)
    others = sorted(path.name for path in target.glob("*.md") if path.stem not in bundle)
    if others:
        raise UsageError(
            f"The folder {target} holds {others[0]}, which would be read as one more prompt. Take "
            "it away, or name another folder with --out."
        )
    bundle.save(target)
    kept = PromptBundle.load(target)
    return tuple(agent for agent, prompt in bundle.items() if kept[agent].text != prompt.text)


def export_json(bundle: PromptBundle, record: RunRecord, target: Path) -> None:
    """Write all prompts into one file, with where they come from and what the test said."""
    about = {
        "task": record.task,
        "run": record.name,
        "simulated": record.simulated,
        "conclusion": str(record.conclusion),
        "deployable": record.deployable,
        "said": sentence(record),
    }
    target.write_text(bundle_json(bundle, about), encoding="utf-8")


def export_dspy(bundle: PromptBundle, record: RunRecord, target: Path) -> None:
    """Write what a DSPy program loads: the run's own program, or one with the agents' names.

    Raises:
        UsageError: The run's program cannot be imported from here.
    """
    from ..agents.adapters.dspy_program import save_program  # noqa: PLC0415  (imports dspy)
    from ..agents.adapters.settings import DspySettings  # noqa: PLC0415
    from ..agents.dspy_state import save_state  # noqa: PLC0415

    assistant = record.config.get("assistant", {})
    if assistant.get("kind") == "dspy":
        save_program(DspySettings.model_validate(assistant), bundle, target)
    else:
        save_state(bundle, target)


def require_free(target: Path, *, force: bool) -> None:
    """Refuse to overwrite, and make the folder that the target stands in.

    Raises:
        UsageError: There is something already.
        CotuneError: The folder cannot be made.
    """
    taken = any(target.iterdir()) if target.is_dir() else target.exists()
    if taken and not force:
        raise UsageError(
            f"{target} exists already and is not overwritten; name another with --out, or "
            "overwrite it with --force."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CotuneError(f"{target} cannot be written: {error}.") from error
