"""What a customer is about to buy."""

from dataclasses import dataclass, field

from shop import prices

BULK_FROM = 10  # pieces of one article
BULK_RATE = 5  # percent


@dataclass(frozen=True)
class Item:
    name: str
    price: int  # cents
    count: int = 1

    @property
    def total(self) -> int:
        total = self.price * self.count
        if self.count > BULK_FROM:
            total -= prices.percent(total, BULK_RATE)
        return total


@dataclass
class Cart:
    items: list[Item] = field(default_factory=list)

    def add(self, name: str, price: str, count: int = 1) -> None:
        """Add `count` pieces; the price is text such as "3.50"."""
        self.items.append(Item(name, prices.parse(price), count))

    @property
    def total(self) -> int:
        return sum(item.total for item in self.items)

    def receipt(self) -> str:
        """One line an article, then the sum."""
        lines = [f"{item.count} x {item.name}: {prices.show(item.total)}" for item in self.items]
        return "\n".join([*lines, f"total: {prices.show(self.total)}"])
