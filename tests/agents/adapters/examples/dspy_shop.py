"""A shop as a DSPy program: a concierge hands over to a ReAct agent with a tool."""

import os

import dspy

PRODUCTS = {"oat milk": 1.95, "rye bread": 3.4}


class Route(dspy.Signature):
    """Name the product that the customer wants."""

    message: str = dspy.InputField()
    history: dspy.History = dspy.InputField()
    product: str = dspy.OutputField()


class Offer(dspy.Signature):
    """Look the product up, and offer it."""

    product: str = dspy.InputField()
    answer: str = dspy.OutputField()


class Wanted(dspy.Signature):
    """Given the fields `message`, produce the fields `answer`."""

    message: str = dspy.InputField()
    answer: str = dspy.OutputField()


def find_products(query: str) -> list[dict]:
    """Find products by name."""
    return [{"name": name, "price": price} for name, price in PRODUCTS.items() if name in query]


class Shop(dspy.Module):
    def __init__(self, lm=None):
        super().__init__()
        self.concierge = dspy.Predict(Route)
        self.search = dspy.ReAct(Offer, tools=[find_products], max_iters=3)
        self.set_lm(lm)

    async def aforward(self, message: str, history: dspy.History):
        wish = await self.concierge.acall(message=message, history=history)
        return await self.search.acall(product=wish.product)


class PlainShop(dspy.Module):
    """The same, written without `async`."""

    def __init__(self):
        super().__init__()
        self.concierge = dspy.Predict(Route)
        self.search = dspy.ReAct(Offer, tools=[find_products], max_iters=3)

    def forward(self, message: str, history: dspy.History):
        return self.search(product=self.concierge(message=message, history=history).product)


class Keeper(dspy.Module):
    """A shop with a cart: it is made from the state, and its tool changes that."""

    def __init__(self, state):
        super().__init__()

        def add_to_cart(name: str) -> str:
            """Put a product into the cart."""
            state.setdefault("cart", []).append({"name": name, "product": name, "quantity": 1})
            return "done"

        self.steps = [dspy.ReAct(Wanted, tools=[add_to_cart], max_iters=3)]

    async def aforward(self, message: str):
        return await self.steps[0].acall(message=message)


def own_model():
    """The shop with a model of its own, as in production."""
    return Shop(
        dspy.LM(
            "openai/gpt-4.1-mini",
            api_base=os.environ["OPENAI_BASE_URL"],
            api_key="none",
            cache=False,
            num_retries=0,
        )
    )


shop = Shop()
