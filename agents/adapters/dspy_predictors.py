"""The predictors of a DSPy program: their names as agents, their instructions, their identity."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import dspy

from ..errors import UsageError
from ..fingerprint import fingerprint
from ..prompts import PromptBundle
from ..recording import as_json

_INDEX = re.compile(r"\[(['\"]?)(.*?)\1\]")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]")


def predictors_of(program: dspy.Module, place: str) -> dict[str, dspy.Predict]:
    """Return a program's predictors by agent name.

    Raises:
        UsageError: There are none, or two would have the same name.
    """
    found: dict[str, dspy.Predict] = {}
    for path, predictor in program.named_predictors():
        agent = _NOT_IN_A_NAME.sub("_", _INDEX.sub(r".\2", path))
        if agent in found:
            raise UsageError(
                f"In the program '{place}' two predictors would be called '{agent}'; rename one of "
                "the attributes or keys that lead to them."
            )
        found[agent] = predictor
    if not found:
        raise UsageError(
            f"The program '{place}' has no predictors: DSPy finds those that are attributes of a "
            "module, or in lists and dictionaries that are, outside of compiled sub-modules."
        )
    return found


def instruct(predictors: Mapping[str, dspy.Predict], prompts: PromptBundle, place: str) -> None:
    """Give predictors their instructions; all else about them stays, demos too.

    Raises:
        UsageError: There is no such predictor.
    """
    for agent, prompt in prompts.items():
        if agent not in predictors:
            known = ", ".join(predictors)
            raise UsageError(f"The program '{place}' has no predictor '{agent}'; it has: {known}.")
        predictor = predictors[agent]
        predictor.signature = signature_of(predictor).with_instructions(prompt.text)


def signature_of(predictor: dspy.Predict) -> type[dspy.Signature]:
    """Return a predictor's signature, whose type dspy declares wider than it is."""
    return cast(type[dspy.Signature], predictor.signature)


def wording() -> dspy.Adapter:
    """Return what words a program's requests."""
    return dspy.settings.adapter or dspy.ChatAdapter()


def arrives(text: str, signature: type[dspy.Signature]) -> bool:
    """Whether all lines of an instruction stand in the system message, whole and in order."""
    instructed = signature.with_instructions(text)
    lines = text.split("\n")
    if instructed.instructions != text or text.splitlines() != lines:
        return False
    sent, start = wording().format_system_message(instructed), 0
    for line in lines:
        start = sent.find(line, start)
        if start < 0:
            return False
        start += len(line)
    return True


def identity_of(predictor: dspy.Predict) -> Mapping[str, Any]:
    """Return what of a predictor determines an answer, beside its instructions."""
    fields = [
        [name, str(each.annotation), as_json(each.json_schema_extra)]
        for name, each in signature_of(predictor).fields.items()
    ]
    known = [fields, [dict(demo) for demo in predictor.demos], predictor.config]
    return {"of": fingerprint(as_json(known)), "model": model_identity(predictor.lm)}


def model_identity(lm: dspy.BaseLM | None) -> Mapping[str, Any] | None:
    """Return what of a model determines an answer; its other settings may hold secrets."""
    if lm is None:
        return None
    known = ("temperature", "max_tokens", "api_base")
    return {"model": lm.model, **{name: lm.kwargs[name] for name in known if name in lm.kwargs}}
