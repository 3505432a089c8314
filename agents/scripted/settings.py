"""Settings of the simulation, written behind a question mark in the model string."""

from __future__ import annotations

from typing import Any, Self
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..errors import UsageError

NAMES = ("grocery",)


class ScriptedSettings(BaseModel):
    """How often the simulation errs and fails; everything is off by default.

    Attributes:
        name: Whose agents are simulated.
        seed: Seed of every draw.
        noise: Probability of a wrong answer that fits the schema.
        rate_limit: Probability that a request is refused with 429 and Retry-After.
        server_error: Probability that it fails with 500.
        timeout: Probability that it times out.
        truncated: Probability that the answer is cut off at the token limit.
        invalid_json: Probability that the answer is not JSON.
        empty: Probability that the answer is empty.
        latency_ms: How long an answer takes, in milliseconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    seed: int = 0
    noise: float = Field(default=0.0, ge=0, le=1)
    rate_limit: float = Field(default=0.0, ge=0, le=1)
    server_error: float = Field(default=0.0, ge=0, le=1)
    timeout: float = Field(default=0.0, ge=0, le=1)
    truncated: float = Field(default=0.0, ge=0, le=1)
    invalid_json: float = Field(default=0.0, ge=0, le=1)
    empty: float = Field(default=0.0, ge=0, le=1)
    latency_ms: float = Field(default=0.0, ge=0, le=60_000)

    @model_validator(mode="after")
    def _probabilities_fit(self) -> Self:
        for names in (
            ("rate_limit", "server_error", "timeout"),
            ("truncated", "invalid_json", "empty"),
        ):
            if sum(getattr(self, name) for name in names) > 1 + 1e-9:
                raise ValueError(
                    f"{', '.join(names)} exclude each other, so their sum must be <= 1"
                )
        return self

    @property
    def refuses(self) -> bool:
        """Whether any request can be refused."""
        return self.rate_limit + self.server_error + self.timeout > 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `NAME?setting=value&…`.

        Raises:
            UsageError: The name, a setting or a value is not known.
        """
        name, _, query = text.partition("?")
        if name not in NAMES:
            raise _refused(text, f"'{name}' is not simulated; known: {', '.join(NAMES)}")
        try:
            pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
        except ValueError as error:
            raise _refused(text, "after '?' come settings such as 'noise=0.1&seed=3'") from error
        values: dict[str, Any] = {"name": name}
        for setting, value in pairs:
            if setting not in _allowed():
                raise _refused(
                    text, f"unknown setting '{setting}'; allowed: {', '.join(_allowed())}"
                )
            if setting in values:
                raise _refused(text, f"the setting '{setting}' is given twice")
            values[setting] = value
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise _refused(text, _problem(error)) from error


def _allowed() -> list[str]:
    return [name for name in ScriptedSettings.model_fields if name != "name"]


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if not first["loc"]:
        return first["msg"].removeprefix("Value error, ")
    return f"setting '{first['loc'][0]}' is '{first['input']}': {first['msg'].lower()}"


def _refused(text: str, problem: str) -> UsageError:
    return UsageError(f"Model 'scripted:{text}' cannot be used: {problem}.")
