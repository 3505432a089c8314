"""A dspy adapter without boilerplate: the prompt is the system message, nothing is added.

dspy's chat adapters wrap a prompt in field markers and format instructions. For small models
that is most of what they read, and a team's prompt is no longer what is sent. Here the system
message is the prompt, its worked examples are earlier exchanges, the user message is the inputs,
and the answer's form is a JSON schema sent as response format, which servers enforce.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import dspy
from dspy.lm15 import Config, DataPart, Message, Request, Response
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from .errors import Fault, FaultError, FaultOrigin
from .reask import with_reminder
from .worked_examples import WorkedExample, split_examples

REASKS = 2


class CompactAdapter(dspy.Adapter):
    """Sends a signature's instructions, inputs and output schema as they are.

    An answer that is empty, cut off or not in the schema is asked for again, with a changed
    request (another seed, and what was wrong), at most `REASKS` times.
    """

    async def acall(
        self,
        lm: dspy.BaseLM,
        lm_kwargs: dict[str, Any],
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """Call the model once; see `dspy.Adapter.acall`.

        Raises:
            FaultError: The answer could not be used after all re-asks.
        """
        request = build_request(lm.model, lm_kwargs, signature, demos, inputs)
        fault = None
        for reask in range(REASKS + 1):
            asked = request if fault is None else _asked_again(request, reask, fault.message)
            response = cast(Response, await lm.acall(asked))
            answer = read_answer(signature, response)
            if isinstance(answer, dict):
                return [answer]
            fault = answer
        assert fault is not None
        raise FaultError(fault)


def build_request(
    model: str,
    settings: Mapping[str, Any],
    signature: type[dspy.Signature],
    demos: list[dict[str, Any]],
    inputs: Mapping[str, Any],
) -> Request:
    """Build the request for one call of a signature.

    Args:
        model: dspy's name of the model.
        settings: `temperature`, `max_tokens` and `seed`, each optional.
        signature: Its instructions are the prompt.
        demos: Worked examples beside those of the prompt, sent as earlier exchanges too.
        inputs: The signature's input fields.
    """
    instructions, examples = split_examples(signature.instructions)
    messages: list[Message] = []
    for example in (*examples, *(_worked(signature, demo) for demo in demos)):
        messages += [Message.user(example.inputs), Message.assistant(example.output)]
    messages.append(Message.user(render_inputs(signature, inputs)))
    return Request(
        model=model,
        system=instructions,
        messages=tuple(messages),
        config=Config(
            temperature=settings.get("temperature"),
            max_tokens=settings.get("max_tokens"),
            seed=settings.get("seed"),
            response_format={
                "type": "json_schema",
                "name": signature.__name__,
                "schema": output_schema(signature),
                "strict": True,
            },
        ),
    )


def output_schema(signature: type[dspy.Signature]) -> dict[str, Any]:
    """Return the JSON schema of a signature's output fields."""
    return _schema(_output_model(cast(Hashable, signature)))


def render_inputs(signature: type[dspy.Signature], inputs: Mapping[str, Any]) -> str:
    """Render input fields as `name: value` lines; a single text input stands alone."""
    names = [name for name in signature.input_fields if name in inputs]
    if len(names) == 1 and isinstance(inputs[names[0]], str):
        return inputs[names[0]]
    return "\n".join(f"{name}: {render_value(inputs[name])}" for name in names)


def render_json(value: object) -> str:
    """Render as compact JSON, as a model would write it."""
    return json.dumps(value, ensure_ascii=False)


def answer_text(response: Response) -> str:
    """Return the answer as text, without thoughts; dspy's engine has parsed some JSON already."""
    parsed = response.message.first(DataPart)
    return render_json(parsed.value) if parsed is not None else (response.text or "").strip()


def read_answer(signature: type[dspy.Signature], response: Response) -> dict[str, Any] | Fault:
    """Return the output fields as JSON values, or the fault that the answer is."""
    text = answer_text(response)
    if response.finish_reason == "length":
        return Fault(FaultOrigin.ASSISTANT, "truncated", "the answer reached the token limit")
    if not text:
        return Fault(FaultOrigin.PROVIDER, "empty_reply", "the model answered nothing")
    try:
        return (
            _output_model(cast(Hashable, signature))
            .model_validate_json(text)
            .model_dump(mode="json")
        )
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        said = f"{where}: {problem['msg']}" if where else problem["msg"]
        return Fault(FaultOrigin.ASSISTANT, "invalid_output", f"not in the output schema: {said}")


@lru_cache(maxsize=256)
def _output_model(signature: Any) -> type[BaseModel]:
    fields: dict[str, Any] = {
        name: (field.annotation, ...) for name, field in signature.output_fields.items()
    }
    return create_model(signature.__name__, __config__=ConfigDict(extra="forbid"), **fields)


@lru_cache(maxsize=256)
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _worked(signature: type[dspy.Signature], demo: Mapping[str, Any]) -> WorkedExample:
    answer = {name: demo[name] for name in signature.output_fields if name in demo}
    return WorkedExample(render_inputs(signature, demo), render_json(answer))


def render_value(value: object) -> str:
    """Render one input: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else render_json(value)


def _asked_again(request: Request, reask: int, reason: str) -> Request:
    *earlier, last = request.messages
    reminded = with_reminder(last.text or "", reask + 1, REASKS + 1, reason)
    seed = None if request.config.seed is None else request.config.seed + reask
    return replace(
        request,
        messages=(*earlier, Message.user(reminded)),
        config=replace(request.config, seed=seed),
    )
