"""Where prompts come from when cotune is done: a folder, a file, a run or MLflow's registry."""

from __future__ import annotations

from pathlib import Path

from .bundle_json import read_bundle_json
from .errors import UsageError
from .prompts import PromptBundle
from .registry_address import SCHEME, RegistryAddress

_PROMPTS = "prompts"


def load_bundle(source: str | Path, tracking_uri: str | None = None) -> PromptBundle:
    """Load the prompts of all agents.

    Args:
        source: A folder with an `AGENT.md` for each agent; a run's folder; a `.json` file that
            `cotune prompts export` wrote; or `mlflow:TASK@ALIAS`, such as
            `mlflow:grocery@production`, for what was promoted in MLflow's prompt registry.
        tracking_uri: Of MLflow, for an address of its registry; as MLflow itself finds it when
            None.

    Raises:
        UsageError: There is nothing there, or it is not as it should be.
        CotuneError: MLflow cannot be used, or what was promoted is not one whole bundle.
    """
    if str(source).startswith(SCHEME):
        from .registered_bundle import load_registered  # noqa: PLC0415  (slower than all the rest)

        return load_registered(RegistryAddress.parse(str(source)), tracking_uri)
    path = Path(source)
    if path.is_file() and path.suffix == ".json":
        return read_bundle_json(path)
    if not path.is_dir():
        raise UsageError(
            f"There are no prompts at {path}: name a folder of AGENT.md files, a run's folder, a "
            f".json file that `cotune prompts export` wrote, or {SCHEME}TASK@ALIAS."
        )
    own = path / _PROMPTS
    return PromptBundle.load(own if own.is_dir() and not any(path.glob("*.md")) else path)
