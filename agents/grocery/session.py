"""One conversation with the grocery assistant: who is asked in a turn, and in what order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from ..assistant import Reply
from ..prompts import PromptBundle
from . import rules, tools, wording
from .cart_desk import change_cart
from .finder import Query
from .open_turn import OpenTurn
from .rules import Candidate
from .world import World

NONE_FITS = "none"


class GrocerySession:
    """Routes each message to an agent, hands over what it has to know, and replies.

    The router sees the message alone. Search, selector and cart see neither the conversation
    nor what is remembered about the customer: all they know of it is what the briefer writes.
    """

    def __init__(self, lm: dspy.BaseLM, prompts: PromptBundle, world: World, seed: int = 0) -> None:
        self._lm = lm
        self._prompts = prompts
        self._world = world
        self._seed = seed
        self._exchanges: list[tuple[str, str]] = []
        self._query: dict[str, Any] | None = None
        self._stands_in_for: dict[str, str] = {}

    async def reply(self, message: str) -> Reply:
        """Answer the customer's message; see `Session.reply`."""
        turn = OpenTurn(
            self._lm, self._prompts, self._world, self._seed, len(self._exchanges), message
        )
        await self._handle(turn)
        history = wording.history(self._exchanges)
        said = await turn.ask("responder", message=message, history=history, events=turn.events)
        self._exchanges.append((message, said["reply"]))
        return Reply(said["reply"], tuple(turn.calls))

    def state(self) -> Mapping[str, Any]:
        """Return the world's snapshot; see `World.snapshot`."""
        return self._world.snapshot()

    async def _handle(self, turn: OpenTurn) -> None:
        routed = await turn.ask("router", message=turn.message)
        match routed["agent"]:
            case "search":
                await self._search(turn)
            case "selector":
                await self._choose_from_screen(turn)
            case "cart":
                brief = await self._brief(turn, "cart")
                await change_cart(turn, brief, tools.shown(self._world), self._stands_in_for)
            case "preferences":
                await self._prefer(turn)

    async def _brief(self, turn: OpenTurn, agent: str) -> str:
        facts = turn.use("briefer", tools.recall) or []
        orders = turn.use("briefer", tools.past_orders) or []
        products = self._world.catalog.products
        bought = [products[item["id"]] for order in orders for item in order["items"]]
        said = await turn.ask(
            "briefer",
            message=turn.message,
            history=wording.history(self._exchanges),
            preferences=wording.profile(facts, bought),
            agent=agent,
        )
        return said["brief"]

    async def _search(self, turn: OpenTurn) -> None:
        brief = await self._brief(turn, "search")
        wish = _hand_off(turn.message, brief)
        said = await turn.ask("search", message=wish, previous=self._query)
        if not said["product"].strip():
            turn.events.append("No product was recognized in the request.")
            return
        self._query = said
        query = Query.model_validate(said)
        candidates = self._look_up(turn, query)
        choice = await self._select(turn, wish, candidates) if candidates else None
        if choice is None:
            return
        asked = rules.as_ordered(self._world, query, turn.message)
        differences = rules.differences(self._world, asked, choice)
        if differences:
            turn.events.append(wording.needs_approval(choice, differences))
            return
        await change_cart(turn, brief, [choice], self._stands_in_for)

    def _look_up(self, turn: OpenTurn, query: Query) -> list[dict[str, Any]]:
        """Find what is asked for, else what may stand in for it, and put it on the screen."""
        found = turn.use("search", tools.find_products, query=query)
        if found is None:  # there is no such store, which the events say by now
            query = query.model_copy(update={"store": ""})
            found = turn.use("search", tools.find_products, query=query)
        if not found:
            turn.events.append(f"Nothing was found for '{query.product}'.")
            return []
        if query.store:
            self._enter(turn, query.store)
        candidates = self._with_substitutes(turn, query, found)
        turn.use("search", tools.show, product_ids=[each["id"] for each in candidates])
        turn.events.append(wording.screen(candidates))
        return candidates

    def _enter(self, turn: OpenTurn, name: str) -> None:
        store = self._world.catalog.stores_called(name)[0]
        if rules.has_whole_cart(self._world, store):
            turn.use("search", tools.choose_store, store=store.id)
        else:
            turn.events.append(f"The order stays where it is: {store.name} lacks part of the cart.")

    def _with_substitutes(
        self, turn: OpenTurn, query: Query, found: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        asked = rules.as_ordered(self._world, query, turn.message)
        sold_out = rules.sold_out_wish(self._world, asked, found)
        if sold_out is None:
            self._stands_in_for = {}
            return found
        instead = turn.use("search", tools.substitutes, product_id=sold_out) or []
        wanted = [each for each in found if each["id"] == sold_out]
        candidates = list({each["id"]: each for each in [*wanted, *instead, *found]}.values())
        candidates = candidates[: tools.CANDIDATE_LIMIT]
        self._stands_in_for = {each["id"]: sold_out for each in candidates[1:]}
        return candidates

    async def _choose_from_screen(self, turn: OpenTurn) -> None:
        on_screen = tools.shown(self._world)
        if not on_screen:
            turn.events.append("There is nothing on the screen to choose from.")
            return
        brief = await self._brief(turn, "selector")
        choice = await self._select(turn, _hand_off(turn.message, brief), on_screen)
        if choice is not None:
            await change_cart(turn, brief, [choice], self._stands_in_for)

    async def _select(
        self, turn: OpenTurn, wish: str, candidates: Sequence[Candidate]
    ) -> dict[str, Any] | None:
        """Return the chosen candidate with the quantity wished for, if any can be had."""
        on_offer = wording.as_read(candidates)
        said = await turn.ask("selector", request=wish, candidates=on_offer)
        if said["choice"] == NONE_FITS:
            turn.events.append("None of the products on the screen fits the request.")
            return None
        choice = turn.use("selector", tools.choose, product_id=said["choice"])
        if choice is None:
            return None
        turn.events.append(f"Recommended: {wording.product(choice)}.")
        return {**choice, "quantity": said["quantity"]}

    async def _prefer(self, turn: OpenTurn) -> None:
        known = turn.use("preferences", tools.recall) or []
        said = await turn.ask("preferences", message=turn.message, known=known)
        for change in said["changes"]:
            kind, value = change["kind"], change["value"]
            match change["action"]:
                case "remember":
                    turn.use("preferences", tools.remember, kind=kind, value=value)
                case "forget":
                    turn.use("preferences", tools.forget, kind=kind, value=value)
        remembered = wording.known(tools.recall(self._world))
        turn.events.append(f"Remembered about the customer: {remembered}.")


def _hand_off(message: str, brief: str) -> str:
    """Return what the next agent reads: the customer's words, and what the briefer adds."""
    return brief if message in brief else f"{message}\n{brief}".strip()
