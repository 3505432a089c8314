"""A dspy adapter without boilerplate: the prompt is the system message, nothing is added.

dspy's chat adapters wrap a prompt in field markers and format instructions. For small models
that is most of what they read, and a team's prompt is no longer what is sent. Here the system
message is the prompt, its worked examples are earlier exchanges, the user message is the inputs,
and servers enforce the form of the answer: a JSON schema, or a grammar (`answer_form.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import dspy
from dspy.lm15 import Config, DataPart, Message, Request, Response

from .answer_form import AnswerForm, JsonObject, form_for
from .errors import Fault, FaultError, FaultOrigin
from .reask import with_reminder
from .worked_examples import WorkedExample, split_examples

REASKS = 2


class CompactAdapter(dspy.Adapter):
    """Sends a signature's instructions, inputs and form of answer as they are.

    An answer that is empty, cut off or not in that form is asked for again, with a changed
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
        form = form_for(signature, lm)
        request = build_request(lm.model, lm_kwargs, signature, demos, inputs, form)
        fault = None
        for reask in range(REASKS + 1):
            asked = request if fault is None else _asked_again(request, reask, fault.message)
            response = cast(Response, await lm.acall(asked))
            answer = read_answer(form, response)
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
    form: AnswerForm | None = None,
) -> Request:
    """Build the request for one call of a signature.

    Args:
        model: dspy's name of the model.
        settings: `temperature`, `max_tokens` and `seed`, each optional.
        signature: Its instructions are the prompt.
        demos: Worked examples beside those of the prompt, sent as earlier exchanges too.
        inputs: The signature's input fields.
        form: How the answer is to be written; JSON by default.
    """
    form = form or JsonObject(signature)
    # Not `signature.instructions`: there dspy has straightened tabs and indentation.
    instructions, examples = split_examples(signature.__doc__ or "")
    messages: list[Message] = []
    for example in (*examples, *(_worked(signature, demo) for demo in demos)):
        messages += [Message.user(example.inputs), Message.assistant(form.write(example.output))]
    messages.append(Message.user(render_inputs(signature, inputs)))
    return Request(
        model=model,
        system=instructions,
        messages=tuple(messages),
        config=Config(
            temperature=settings.get("temperature"),
            max_tokens=settings.get("max_tokens"),
            seed=settings.get("seed"),
            **form.constraint(),
        ),
    )


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


def read_answer(form: AnswerForm, response: Response) -> dict[str, Any] | Fault:
    """Return the output fields as JSON values, or the fault that the answer is."""
    text = answer_text(response)
    if response.finish_reason == "length":
        return Fault(FaultOrigin.ASSISTANT, "truncated", "the answer reached the token limit")
    if not text:
        return Fault(FaultOrigin.PROVIDER, "empty_reply", "the model answered nothing")
    try:
        return form.read(text)
    except ValueError as error:
        return Fault(FaultOrigin.ASSISTANT, "invalid_output", str(error))


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
