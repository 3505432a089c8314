"""The diets that the shop knows: tags of products, and what customers keep to."""

from __future__ import annotations

from typing import Literal

Diet = Literal[
    "vegan",
    "vegetarian",
    "gluten_free",
    "lactose_free",
    "halal",
    "kosher",
    "organic",
    "sugar_free",
    "nut_free",
]
