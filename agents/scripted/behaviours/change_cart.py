"""The simulated cart handler: turns a message into operations on the cart.

It finds products by the words of their names, in the cart and among those shown. Whether the
amount said is kept, or always one, depends on the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .. import wishes
from ..call import Call
from ..words import content_words

Item = Mapping[str, Any]
_WHOLE_CART = {
    "checkout": r"check ?out|\bpay\b|place the order|that's (?:everything|all)",
    "clear": r"\b(?:empty|clear)\b|start over|remove everything",
    "show": r"\bshow\b|what(?:'s| is| have| i've).* (?:cart|basket)|see what|total\b",
}
# 'How about two?' and 'Can I have two?' are orders; a question is one from its start to its end.
_QUESTION = (
    r"\A\W*(?:(?:hi|hello|hey|ok|okay|so|and|but|sorry|great|thanks)\b\W*)*"
    r"(?:how (?:much|many)\b[^.!?]*\??"
    r"|(?:(?:how|what)(?! about)|which|where|when|why|is|are|does|do|did|has|have)\b[^.!?]*\?)"
    r"\W*\Z"
)
_REMOVE = r"\b(?:remove|drop|lose|delete|get rid|take .* out|don't want|no more|changed my mind)\b"
_AMOUNT = r"\b(?:make|instead|leave|only|will do|change|set|less|fewer|reduce|increase)\b"
_MORE = r"\b(?:one|another) more\b|\banother\b"
_DOUBLE = r"\b(?:doub|dub)\w*|\btwice\b"


def change_cart(call: Call) -> dict[str, Any]:
    """Return the operations."""
    message = call.string("message")
    for action, pattern in _WHOLE_CART.items():
        if re.search(pattern, message, re.IGNORECASE):
            return {"operations": [_operation(action)]}
    if re.search(_QUESTION, message, re.IGNORECASE):
        return {"operations": []}
    counts = call.instructions.mention("quantit", "amount", "how many")
    text = f"{message}\n{call.string('brief')}"
    inside = _meant(text, call.items("cart"))
    if re.search(_REMOVE, message, re.IGNORECASE):
        return {"operations": [_operation("remove", _id(item)) for item in inside[:1]]}
    if inside and (amount := _new_amount(message, inside[0])) is not None:
        return {"operations": [_operation("set_quantity", _id(inside[0]), amount)]}
    quantity = int(wishes.quantity(message) or 1) if counts else 1
    found = _meant(text, call.items("shown")) or call.items("shown")
    return {"operations": [_operation("add", _id(item), quantity) for item in found[:1]]}


def _operation(action: str, product: str = "", quantity: int = 0) -> dict[str, Any]:
    return {"action": action, "product": product, "quantity": quantity}


def _new_amount(message: str, item: Item) -> int | None:
    present = int(item.get("quantity", 1))
    if re.search(_DOUBLE, message, re.IGNORECASE):
        return present * 2
    if re.search(_MORE, message, re.IGNORECASE):
        return present + 1
    said = wishes.quantity(message)
    if said is not None and re.search(_AMOUNT, message, re.IGNORECASE):
        return int(said)
    return None


def _meant(text: str, items: Sequence[Item]) -> list[Item]:
    """Return the items that the text names, by id or by most words of the name, best first."""
    by_id = [item for item in items if _id(item) and _id(item) in text]
    said = content_words(text)
    shared = [(len(said & content_words(str(item.get("name", "")))), item) for item in items]
    ranked = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])
    return by_id or [item for _, item in ranked]


def _id(item: Item) -> str:
    """A line of the cart has a `product_id`, a product on the screen an `id`."""
    return str(item.get("product_id", item.get("id", "")))
