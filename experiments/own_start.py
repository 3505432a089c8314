"""The files of a folder to start from with an assistant of one's own, in any known framework."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Template
from typing import Any

import yaml
from pydantic import ValidationError

from ..agents.adapters.kinds import adapter_of
from ..agents.errors import UsageError
from ..agents.problem import problems_of
from .config import RunConfig

FOLDER = Path(__file__).parent / "starter" / "own"
FRAMEWORKS = (
    "function", "dspy", "openai-agents", "langgraph", "pydantic-ai", "google-adk", "http",
)  # fmt: skip

_SHARED = ("checks.py", "scenarios.yaml")
_SEARCH_AGENT = {"dspy": "search.react"}  # elsewhere the stub's agent is just `search`
_FIRST = "Set OPENAI_API_KEY; OPENAI_BASE_URL for a server of your own, SHOP_MODEL for a model. "
_SERVICE = {"http": "Start the service with 'python shop.py'. "}
_OWN = "Answer the questions in rubric.yaml and put your customers into scenarios.yaml. "
_OWN_PROMPTS = "Put your prompts into prompts/, one AGENT.md each. "


@dataclass(frozen=True, slots=True)
class Start:
    """What is written.

    Attributes:
        files: Texts by path in the folder.
        first: What a person does first, a sentence.
        folders: Folders that a person fills.
    """

    files: Mapping[str, str]
    first: str
    folders: Sequence[str] = ()


@dataclass(frozen=True)
class _Blame:
    """Whom the rubric blames; where that is not known, the lines are comments."""

    agents: str
    writer: str
    no_agents: str = ""
    no_rules: str = ""


def stub(framework: str) -> Start:
    """Return a folder with a small shop in a framework, which runs at once."""
    of_framework = FOLDER / framework
    files = {"cotune.yaml": _config(_text(of_framework / "assistant.yaml").strip())}
    for path in sorted(of_framework.iterdir()):
        if path.is_file() and path.name != "assistant.yaml":
            files[path.name] = _text(path)
    if framework == "function":  # elsewhere the stub itself holds them
        prompts = sorted((FOLDER / "prompts").glob("*.md"))
        files |= {f"prompts/{path.name}": _text(path) for path in prompts}
    search = _SEARCH_AGENT.get(framework, "search")
    blame = _Blame(search, search)
    return Start({**files, **_shared(blame)}, _FIRST + _SERVICE.get(framework, ""))


def own(framework: str, path: str, target: Path) -> Start:
    """Return a folder that points to an assistant that is there already.

    Args:
        framework: One of `FRAMEWORKS`.
        path: `module:attribute`, sought from the working folder; of a service its URL.
        target: Where the folder will be.

    Raises:
        UsageError: There is no such assistant.
    """
    settings = _settings(framework, path, target)
    agents = _agents(settings, target)
    block = [f"# Who is tested.\nassistant:\n{_indented(settings)}"]
    if not agents:
        block.append("prompts: prompts          # seed prompts, one AGENT.md each")
    known = ", ".join(agents) or "writer"
    blame = _Blame(known, (agents or ["writer"])[0], "" if agents else "# ", "# ")
    files = {"cotune.yaml": _config("\n".join(block)), **_shared(blame)}
    return Start(files, _OWN) if agents else Start(files, _OWN + _OWN_PROMPTS, ("prompts",))


def _settings(framework: str, path: str, target: Path) -> dict[str, Any]:
    if framework == "http":
        return {"kind": framework, "url": path}
    # From the configuration's folder, so that the whole can be moved together.
    folder = Path(os.path.relpath(Path.cwd(), target.resolve())).as_posix()
    return {"kind": framework, "path": path, "folder": folder}


def _agents(settings: Mapping[str, Any], target: Path) -> list[str]:
    """Return the agents whose prompts the framework's own objects hold."""
    try:
        config = RunConfig.model_validate({"assistant": settings, "limits": {"rollouts": 1}})
    except ValidationError as error:
        _, said = next(problems_of(error, RunConfig))
        raise UsageError(f"--path: {said}. Give module:attribute, or for http a URL.") from error
    adapter = adapter_of(config.assistant.relative_to(target.resolve()))
    adapter.identity()  # there is such an assistant, or it says what is wrong
    return list(adapter.prompts)


def _config(assistant: str) -> str:
    return Template(_text(FOLDER / "cotune.yaml")).substitute(assistant=assistant)


def _shared(blame: _Blame) -> dict[str, str]:
    rubric = Template(_text(FOLDER / "rubric.yaml")).substitute(asdict(blame))
    return {**{name: _text(FOLDER / name) for name in _SHARED}, "rubric.yaml": rubric}


def _indented(settings: Mapping[str, Any]) -> str:
    text = yaml.safe_dump(dict(settings), sort_keys=False)
    return "\n".join(f"  {line}" for line in text.splitlines())


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
