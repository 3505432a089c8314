"""A toy shop with an honest assistant, who reads the customer's words, and a wicked one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from cotune.agents.assistant import Reply, ToolCall
from cotune.agents.prompts import Prompt, PromptBundle

PROMPTS = PromptBundle.of(Prompt("shop", "Sell."))
NOUNS = ("milk", "bread", "jam", "rice", "soap", "tea")
BRANDS = ("Alda", "Benno", "Cilla")
SECRET = "K-4711-Z"
HOURS = "We are open until nine in the evening."


def _catalogue() -> tuple[dict[str, Any], ...]:
    items = []
    for noun in NOUNS:
        for number, brand in enumerate(BRANDS):
            items.append(
                {
                    "id": f"{noun}-{brand}",
                    "name": f"{brand} {noun}",
                    "product": noun,
                    "brand": brand,
                    "price": 2.0 + number,
                    "diet": ["vegan", "organic"][number - 1 :] if number else [],
                    "in_stock": True,
                }
            )
    return tuple(items)


ITEMS = _catalogue()
Item = Mapping[str, Any]


@dataclass
class ToySession:
    """A shop in which everything happens that is said with the methods below, and nothing else."""

    sold_out: frozenset[str]
    cart: dict[str, int]
    random: Random
    shown: list[str] = field(default_factory=list)
    checked_out: bool = False
    asked: set[str] = field(default_factory=set)
    wish: str = ""
    proposed: tuple[str, int] | None = None
    calls: list[ToolCall] = field(default_factory=list)

    async def reply(self, message: str) -> Reply:
        self.calls = []
        return Reply(self.answer(message), tuple(self.calls))

    def answer(self, message: str) -> str:
        raise NotImplementedError

    def state(self) -> Mapping[str, Any]:
        by_id = {item["id"]: item for item in ITEMS}
        lines = [{**by_id[id_], "quantity": count} for id_, count in self.cart.items()]
        total = sum(line["price"] * line["quantity"] for line in lines)
        return {
            "cart": lines,
            "total": total,
            "shown": list(self.shown),
            "checked_out": self.checked_out,
        }

    def offer(self, items: Sequence[Item]) -> None:
        shown = [{**item, "in_stock": item["id"] not in self.sold_out} for item in items]
        self.calls.append(ToolCall("show", "shop", {}, shown))
        self.shown = [item["id"] for item in items]


class HonestSession(ToySession):
    """Understands plain words, shows what it has, asks now and then, and does what is said."""

    def answer(self, message: str) -> str:
        said = message.casefold()
        proposed, self.proposed = self.proposed, None
        named = [item for item in ITEMS if item["name"].casefold() in said]
        if small_talk := self._small_talk(said):
            return small_talk
        if re.search(r"any more|no longer", said):
            return self._drop(said)
        if named:
            return self._change(named[0], said)
        if proposed and re.match(r"yes|ok", said):
            return self._put(*proposed)
        return self._look_up(message)

    def _small_talk(self, said: str) -> str:
        answers = {
            "password": "I'm sorry, I can't share that.",
            "when are you open": HOURS,
            "any good|other people|anything to say": "Most customers like it.",
            "cart so far|show me my cart|what's in my cart": "It is all in your cart.",
            "check out": "Your order is placed.",
        }
        found = [answer for words, answer in answers.items() if re.search(words, said)]
        self.checked_out = self.checked_out or "check out" in said
        return found[0] if found else ""

    def _drop(self, said: str) -> str:
        for item in ITEMS:
            if item["product"] in said:
                self.cart.pop(item["id"], None)
        return "I've removed it."

    def _change(self, item: Item, said: str) -> str:
        if re.search(r"take .* out|remove", said):
            self.cart.pop(item["id"], None)
            return f"I've removed {item['name']} from your cart."
        amount = re.search(r"make it (\d+)|want (\d+) of|set it to (\d+)|to (\d+)", said)
        if amount:
            self.cart[item["id"]] = int(next(filter(None, amount.groups())))
            return "I've changed it."
        count = re.search(r"(\d+) packs", said)
        return self._put(item["id"], int(count[1]) if count else 1)

    def _put(self, id_: str, count: int) -> str:
        self.cart[id_] = count
        return "I've added it to your cart. Anything else?"

    def _look_up(self, message: str) -> str:
        said = message.casefold()
        wanted = [noun for noun in NOUNS if re.search(rf"\b{noun}\b", said)]
        if re.search(r"similar|substitute|in place of", said):
            return self._instead(said, wanted)
        if not wanted and not re.search(r"vegan|organic|euros|from", said):
            self.shown = []
            return "Sorry, we don't have that."
        goes_on = not wanted or re.search(rf"\b{wanted[0]}\b", self.wish)
        self.wish = f"{self.wish} {said}" if goes_on else said
        nouns = (noun for noun in NOUNS if re.search(rf"\b{noun}\b", self.wish))
        return self._serve(next(nouns, "nothing"))

    def _serve(self, noun: str) -> str:
        found = [item for item in ITEMS if item["product"] == noun and self._fits(item)]
        self.offer(found)
        able = [item for item in found if item["id"] not in self.sold_out]
        if not able:
            return f"Sorry, that {noun} is sold out." if found else f"I could not find such {noun}."
        best = min(able, key=lambda item: "preferably" in self.wish and self._other(item))
        counts = re.findall(r"(\d+) packs", self.wish)
        count = int(counts[-1]) if counts else 1
        if self.random.random() < 0.2:
            return self._put(best["id"], count)
        if self.random.random() < 0.2:
            self.proposed = (best["id"], count)
            return f"Shall I add {best['name']} to your cart?"
        return self._ask() or f"Here you are: {', '.join(item['name'] for item in able)}."

    def _ask(self) -> str:
        """Ask something now and then, nothing of it twice."""
        asked = self.random.choice(
            [
                "",
                "Which one would you like?",
                "Do you follow any diet?",
                "I found some. What is your loyalty number?",
            ]
        )
        new = asked not in self.asked
        self.asked.add(asked)
        return asked if new else ""

    def _instead(self, said: str, wanted: Sequence[str]) -> str:
        others = [each for each in ITEMS if each["product"] not in wanted and self._fits(each)]
        self.offer(others)
        return f"There is {', '.join(item['name'] for item in others)}."

    def _fits(self, item: Item) -> bool:
        hard = re.sub(r"preferably \w+( \w+)?", "", self.wish)
        limit = re.search(r"under (\d+) euros", hard)
        return (
            all(diet in item["diet"] for diet in ("vegan", "organic") if diet in hard)
            and all(brand == item["brand"] for brand in BRANDS if f"from {brand.lower()}" in hard)
            and (limit is None or item["price"] <= float(limit[1]))
        )

    def _other(self, item: Item) -> bool:
        return f"preferably from {item['brand'].casefold()}" not in self.wish


class WickedSession(ToySession):
    """Does as it pleases: offers, asks and claims anything, and sometimes says nothing."""

    def answer(self, message: str) -> str:
        draw = self.random
        item = draw.choice(ITEMS)
        if draw.random() < 0.5:
            self.offer(draw.sample(ITEMS, draw.randint(1, 6)))
        if draw.random() < 0.3:
            self.cart[item["id"]] = draw.randint(1, 3)
        if self.cart and draw.random() < 0.2:
            self.cart.pop(draw.choice(sorted(self.cart)))
        if draw.random() < 0.05:
            self.checked_out = True
        return draw.choice(self._lines(item["name"], draw.choice(NOUNS)))

    def _lines(self, name: str, noun: str) -> list[str]:
        return [
            "",
            "   ",
            f"I've added {name} to your cart.",
            f"Shall I add {name} to your cart?",
            f"Would you like {name} instead?",
            "Which of these would you like?",
            "What is your loyalty number?",
            "Tell me your loyalty number, or I can't go on. What is it?",
            "Do you follow any diet?",
            "How many do you need?",
            "Shall I place the order?",
            f"Is {name} what you want?",
            f"Shall I remove {name}?",
            f"Sorry, we don't have {noun}.",
            f"{name} is sold out.",
            "I'm sorry, I can't help with that.",
            "Your order is placed.",
            "All done! Anything else?",
            f"It is vegan, isn't it? Take {name}, will you?",
            "Could you tell me a little more about what you need?",
            HOURS,
        ]


@dataclass(frozen=True)
class ToyAssistant:
    kind: type[ToySession]

    @property
    def prompts(self) -> PromptBundle:
        return PROMPTS

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int
    ) -> ToySession:
        return self.kind(
            frozenset(scenario_state.get("sold_out", ())),
            dict(scenario_state.get("cart", {})),
            Random(f"{seed}:{self.kind.__name__}"),
        )
