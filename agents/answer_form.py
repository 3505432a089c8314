"""The form of an answer: a JSON object, or a bare word where a server can force one.

An agent that only chooses, such as a router, has one output field with a few possible words. As
JSON its answer is `{"agent": "search"}`, of which all but a word or two is known before. The
servers of embedded models take a grammar, and with it the answer is the word alone: fewer tokens
to generate in every call. Prompts and their worked examples stay the same for all models; the
form is chosen when they are sent.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, cast

import dspy
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from .lm import LanguageModel


class AnswerForm(Protocol):
    """How an agent writes its output fields."""

    def constraint(self) -> dict[str, Any]:
        """Return the fields of `dspy.lm15.Config` that hold the model to this form."""
        ...

    def write(self, output: str) -> str:
        """Return the answer that a worked example's output, JSON, is in this form."""
        ...

    def read(self, text: str) -> dict[str, Any]:
        """Return an answer's output fields as JSON values.

        Raises:
            ValueError: It is not in this form; says why.
        """
        ...


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object with all output fields, by a schema sent as response format."""

    signature: type[dspy.Signature]

    def constraint(self) -> dict[str, Any]:
        """Return the response format."""
        return {
            "response_format": {
                "type": "json_schema",
                "name": self.signature.__name__,
                "schema": output_schema(self.signature),
                "strict": True,
            }
        }

    def write(self, output: str) -> str:
        """Return the output as it is."""
        return output

    def read(self, text: str) -> dict[str, Any]:
        """Return the fields of the object; see `AnswerForm.read`."""
        model = _output_model(cast(Hashable, self.signature))
        try:
            return model.model_validate_json(text).model_dump(mode="json")
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in problem["loc"])
            said = f"{where}: {problem['msg']}" if where else problem["msg"]
            raise ValueError(f"not in the output schema: {said}") from error


@dataclass(frozen=True, slots=True)
class BareWord:
    """One of a few words and nothing else, by a grammar that llama.cpp's server takes.

    Attributes:
        field: The output field whose value it is.
        words: What it may be.
    """

    field: str
    words: tuple[str, ...]

    def constraint(self) -> dict[str, Any]:
        """Return the grammar, in llama.cpp's notation (GBNF)."""
        words = " | ".join(json.dumps(word, ensure_ascii=False) for word in self.words)
        return {"extensions": {"grammar": f"root ::= {words}"}}

    def write(self, output: str) -> str:
        """Return the field's value; an output without it stays as it is."""
        try:
            return str(json.loads(output)[self.field])
        except (ValueError, TypeError, KeyError):
            return output

    def read(self, text: str) -> dict[str, Any]:
        """Return the word as the field; see `AnswerForm.read`."""
        if text not in self.words:
            raise ValueError(f"{self.field}: must be one of {', '.join(self.words)}")
        return {self.field: text}


def form_for(signature: type[dspy.Signature], lm: dspy.BaseLM) -> AnswerForm:
    """Choose the form: a bare word where the signature and the model allow it, else JSON."""
    word = bare_word(signature) if isinstance(lm, LanguageModel) and lm.settings.is_local else None
    return word or JsonObject(signature)


def bare_word(signature: type[dspy.Signature]) -> BareWord | None:
    """Return the bare form of a signature whose only output is a choice of words, else None."""
    if len(signature.output_fields) != 1:
        return None
    ((name, field),) = signature.output_fields.items()
    words = TypeAdapter[Any](cast(Any, field.annotation)).json_schema().get("enum", ())
    writable = all(
        isinstance(word, str) and word and word.isprintable() and word == word.strip()
        for word in words
    )
    return BareWord(name, tuple(words)) if words and writable else None


def output_schema(signature: type[dspy.Signature]) -> dict[str, Any]:
    """Return the JSON schema of a signature's output fields."""
    return _schema(_output_model(cast(Hashable, signature)))


@lru_cache(maxsize=256)
def _output_model(signature: Any) -> type[BaseModel]:
    fields: dict[str, Any] = {
        name: (field.annotation, ...) for name, field in signature.output_fields.items()
    }
    return create_model(signature.__name__, __config__=ConfigDict(extra="forbid"), **fields)


@lru_cache(maxsize=256)
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()
