"""The simulated selector: honours the constraints that its prompt mentions, in a fixed order.

A bare prompt gets the first candidate. Each check is switched on by words of the prompt that
speak of it. Hard constraints come first and can leave nothing; wishes then order what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import wishes
from ..call import Call
from ..chance import pick

Candidate = Mapping[str, Any]
NOTHING = "none"

# What in a prompt switches a check on: beginnings of words.
CHECKS: dict[str, tuple[str, ...]] = {
    "stock": ("stock", "sold out", "availab"),
    "diet": ("diet", "vegan", "allerg"),
    "exclude": ("exclu", "without", "unwanted", "not wanted"),
    "budget": ("budget", "price limit", "max_price", "limit", "afford"),
    "size": ("size",),
    "brand": ("brand",),
    "store": ("store",),
    "unit price": ("per unit", "unit price", "lowest price", "cheap", "per kilo"),
    "none": ("none", "nothing fits"),
    "quantity": ("quantit", "how many"),
}


def select(call: Call) -> dict[str, Any]:
    """Return the id of the choice, or `none`, and how many of it."""
    told = {check for check, stems in CHECKS.items() if call.instructions.mention(*stems)}
    request = call.string("request")
    candidates = [each for each in call.items("candidates") if isinstance(each, dict)]
    quantity = int(wishes.quantity(request) or 1) if "quantity" in told else 1
    fitting = [each for each in candidates if _fits(each, request, told)]
    if not fitting and ("none" in told or not candidates):
        return {"choice": NOTHING, "quantity": quantity}
    best = min(fitting or candidates, key=_preference(request, told))
    return {"choice": str(best.get("id", NOTHING)), "quantity": quantity}


def slip_of_choice(call: Call, said: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return another candidate, or `none`."""
    ids = [str(each["id"]) for each in call.items("candidates") if "id" in each]
    others = [other for other in [*ids, NOTHING] if other != said["choice"]]
    return {**said, "choice": pick(others, salt)} if others else dict(said)


def _fits(candidate: Candidate, request: str, told: set[str]) -> bool:
    limit = wishes.budget(request)
    exact = wishes.size(request) if "exactly" in request.lower() else ""
    checks = {
        "stock": bool(candidate.get("in_stock", True)),
        "diet": set(wishes.diets(request, implied=True)) <= set(candidate.get("diet", ())),
        "exclude": not any(_has(candidate, unwanted) for unwanted in wishes.excluded(request)),
        "budget": limit is None or float(candidate.get("price", 0)) <= limit,
        "size": not exact or wishes.amount(exact) == wishes.amount(str(candidate.get("size"))),
    }
    return all(fits for check, fits in checks.items() if check in told)


def _preference(request: str, told: set[str]) -> Callable[[Candidate], tuple[float, ...]]:
    """Return the key to order candidates by: named brand, asked store, price per unit."""

    def key(candidate: Candidate) -> tuple[float, ...]:
        return (
            "brand" in told and not _named(candidate.get("brand"), request),
            "store" in told and not _named(candidate.get("store"), request),
            _unit_price(candidate) if "unit price" in told else 0.0,
        )

    return key


def _unit_price(candidate: Candidate) -> float:
    return float(candidate.get("price", 0)) / (wishes.amount(str(candidate.get("size"))) or 1.0)


def _named(name: object, request: str) -> bool:
    return bool(name) and str(name).lower() in request.lower()


def _has(candidate: Candidate, unwanted: str) -> bool:
    text = f"{candidate.get('name', '')} {candidate.get('brand', '')}".lower()
    return unwanted.lower() in text
