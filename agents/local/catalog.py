"""The embedded models that are known: what they are and what their files must hash to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from ..errors import UsageError

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
FileName = Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*$")]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HubFile(_Entry):
    """A file on the Hugging Face hub.

    Attributes:
        repository: `owner/name` of the publisher's repository.
        file: The file's name in it.
    """

    repository: str
    file: FileName


class DataWheel(_Entry):
    """A wheel that carries one part of a model file.

    Attributes:
        name: The distribution's name on a Python package index.
        version: Its exact version.
        sha256: What the wheel file must hash to.
    """

    name: FileName
    version: str
    sha256: Sha256

    @property
    def requirement(self) -> str:
        """The pinned requirement, `name==version`."""
        return f"{self.name}=={self.version}"


class LocalModel(_Entry):
    """A language model that runs on this computer.

    Attributes:
        name: What people type, such as `qwen2.5-coder-1.5b`.
        title: The publisher's name and the quantization.
        file: The file's name in the store.
        bytes: The file's size.
        sha256: What the file must hash to.
        licence: SPDX identifier of the weights' licence.
        slots: Requests served at once, by default.
        context: Tokens of prompt and answer together, per slot.
        hub: The file on the Hugging Face hub.
        wheels: The same file in parts, from a Python package index.
    """

    name: str
    title: str
    file: FileName
    bytes: int = Field(gt=0)
    sha256: Sha256
    licence: str
    slots: int = Field(ge=1)
    context: int = Field(ge=512)
    hub: HubFile
    wheels: tuple[DataWheel, ...]


@cache
def catalog() -> Mapping[str, LocalModel]:
    """Return the known models by name, in the order of preference."""
    raw = yaml.safe_load(Path(__file__).with_name("models.yaml").read_text(encoding="utf-8"))
    named = [{"name": name, **fields} for name, fields in raw.items()]
    models = TypeAdapter(list[LocalModel]).validate_python(named)
    return MappingProxyType({model.name: model for model in models})


def get_model(name: str) -> LocalModel:
    """Return the model called `name`.

    Raises:
        UsageError: No such model is known.
    """
    models = catalog()
    if name not in models:
        raise UsageError(
            f"There is no embedded model '{name}'. Known: {', '.join(models)}. For another model, "
            "point `--model openai/NAME --api-base URL` at a server that runs it."
        )
    return models[name]
