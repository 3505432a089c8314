"""The mutable world of one conversation: who shops, where, what is shown, remembered and bought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import UsageError
from ..problem import problems_of
from .catalog import Catalog, Customer, Product, Store, load_catalog

MAX_QUANTITY = 99

PreferenceKind = Literal["diet", "allergy", "brand", "store", "household", "budget", "other"]


class Preference(BaseModel):
    """A standing fact about the customer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: PreferenceKind
    value: str = Field(min_length=1)


class CartEntry(BaseModel):
    """A line of the cart as a scenario gives it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    product_id: str
    quantity: int = Field(default=1, ge=1, le=MAX_QUANTITY, strict=True)
    approved_substitute_for: str | None = None


class ScenarioState(BaseModel):
    """How the world is when the conversation starts; every field may be left out.

    Attributes:
        customer: Id of the customer; None for one the shop does not know.
        store: Id of the store chosen already.
        cart: What is in the cart already.
        shown: Ids of the products on the screen.
        out_of_stock: Ids of products that are sold out today, in every store.
        preferences: Facts remembered beyond the customer's profile.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    customer: str | None = None
    store: str | None = None
    cart: tuple[CartEntry, ...] = ()
    shown: tuple[str, ...] = ()
    out_of_stock: frozenset[str] = frozenset()
    preferences: tuple[Preference, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """What a product costs and where it is to be had.

    Attributes:
        store: The store; None when none sells it.
        price: Euros for one pack.
        stock: Packs on the shelf; 0 is sold out.
    """

    store: Store | None
    price: float
    stock: int


@dataclass(slots=True)
class CartLine:
    """How many packs of a product, and the id of the product they replace, if any."""

    quantity: int
    approved_substitute_for: str | None = None


@dataclass(slots=True)
class World:
    """One conversation's state; two worlds share only the catalogue, which never changes."""

    catalog: Catalog
    customer: Customer | None = None
    store: Store | None = None
    cart: dict[str, CartLine] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    preferences: list[Preference] = field(default_factory=list)
    out_of_stock: frozenset[str] = frozenset()
    checked_out: bool = False

    @classmethod
    def of(cls, scenario_state: Mapping[str, Any], catalog: Catalog | None = None) -> World:
        """Build the world a scenario describes; see `ScenarioState` for its fields.

        Raises:
            UsageError: A field is unknown or malformed, or an id is not in the catalogue.
        """
        catalog = catalog or load_catalog()
        state = _read(scenario_state)
        _check_references(state, catalog)
        customer = catalog.customers[state.customer] if state.customer else None
        profile = list(_profile(customer, catalog)) if customer else []
        return cls(
            catalog=catalog,
            customer=customer,
            store=catalog.stores[state.store] if state.store else None,
            cart={
                entry.product_id: CartLine(entry.quantity, entry.approved_substitute_for)
                for entry in state.cart
            },
            shown=list(state.shown),
            preferences=list(dict.fromkeys([*profile, *state.preferences])),
            out_of_stock=state.out_of_stock,
        )

    def offer(self, product: Product, store: Store | None = None) -> Offer:
        """Return the offer of `store`, else of the chosen store, else the best of all stores.

        The best is in stock, then the cheapest, then the first in the catalogue.
        """
        store = store or self.store
        unsold = Offer(None, store.price(product) if store else product.price, 0)
        offers = self._offers(product, store)
        return min(offers, key=lambda offer: (offer.stock == 0, offer.price), default=unsold)

    def stock(self, product: Product) -> int:
        """Packs on the shelf of the chosen store, else of the store that has most of them."""
        return max((offer.stock for offer in self._offers(product, self.store)), default=0)

    def total(self) -> float:
        """Euros for the whole cart."""
        products = self.catalog.products
        prices = [
            self.offer(products[id_]).price * line.quantity for id_, line in self.cart.items()
        ]
        return round(sum(prices, start=0.0), 2)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as JSON values that later changes of the world do not touch."""
        return {
            "customer": _customer_json(self.customer),
            "store": self.store.id if self.store else None,
            "store_type": self.store.type if self.store else None,
            "cart": [self._line_json(id_, line) for id_, line in self.cart.items()],
            "total": self.total(),
            "checked_out": self.checked_out,
            "shown": list(self.shown),
            "preferences": [preference.model_dump() for preference in self.preferences],
        }

    def _offers(self, product: Product, store: Store | None) -> list[Offer]:
        """Return the offers of one store or of all; those that do not sell it make none."""
        stores = [store] if store else self.catalog.stores.values()
        sold_out = product.id in self.out_of_stock
        return [
            Offer(seller, seller.price(product), 0 if sold_out else seller.inventory[product.id])
            for seller in stores
            if product.id in seller.inventory
        ]

    def _line_json(self, product_id: str, line: CartLine) -> dict[str, Any]:
        product = self.catalog.products[product_id]
        replaced = line.approved_substitute_for
        return {
            "product_id": product.id,
            "name": product.name,
            "product": product.product,
            "brand": product.brand,
            "size": product.size,
            "quantity": line.quantity,
            "price": self.offer(product).price,
            "diet": list(product.diet),
            "approved_substitute_for": replaced,
            "replaced_product": self.catalog.products[replaced].product if replaced else None,
        }


def _read(scenario_state: Mapping[str, Any]) -> ScenarioState:
    try:
        return ScenarioState.model_validate(dict(scenario_state))
    except ValidationError as error:
        place, said = next(problems_of(error, ScenarioState))
        where = ".".join(str(part) for part in place)
        raise UsageError(f"initial_state: {where}: {said}.") from error


def _check_references(state: ScenarioState, catalog: Catalog) -> None:
    def refuse(where: str, id_: str) -> NoReturn:
        raise UsageError(f"initial_state: {where}: '{id_}' is not in the catalogue.")

    if state.customer is not None and state.customer not in catalog.customers:
        refuse("customer", state.customer)
    if state.store is not None and state.store not in catalog.stores:
        refuse("store", state.store)
    replaced = [entry.approved_substitute_for for entry in state.cart]
    products = {
        "cart": [entry.product_id for entry in state.cart],
        "cart.approved_substitute_for": [id_ for id_ in replaced if id_ is not None],
        "shown": state.shown,
        "out_of_stock": sorted(state.out_of_stock),
    }
    for where, ids in products.items():
        for id_ in ids:
            if id_ not in catalog.products:
                refuse(where, id_)
    in_cart = products["cart"]
    for id_ in in_cart:
        if in_cart.count(id_) > 1:
            raise UsageError(f"initial_state: cart: '{id_}' is given twice; add up quantities.")


def _profile(customer: Customer, catalog: Catalog) -> Iterator[Preference]:
    """Yield what the shop remembers about the customer when the conversation starts."""
    yield from (Preference(kind="diet", value=value) for value in customer.diet)
    yield from (Preference(kind="allergy", value=value) for value in customer.allergies)
    yield from (Preference(kind="other", value=f"no {value}") for value in customer.avoid)
    yield from (Preference(kind="brand", value=value) for value in customer.brands)
    if customer.store is not None:
        yield Preference(kind="store", value=catalog.stores[customer.store].name)
    yield Preference(kind="household", value=str(customer.household))
    yield Preference(kind="budget", value=customer.budget)


def _customer_json(customer: Customer | None) -> dict[str, Any] | None:
    return customer.model_dump(mode="json", exclude={"orders"}) if customer else None
