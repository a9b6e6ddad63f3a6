"""Money as integer cents; no floats near a till."""


def parse(text: str) -> int:
    """Cents of a price such as "12.50", "12.5" or "12"."""
    whole, _, cents = text.strip().partition(".")
    return int(whole) * 100 + int(cents or 0)


def show(cents: int) -> str:
    """A price with two digits behind the point."""
    return f"{cents // 100}.{cents % 100:02d}"


def percent(cents: int, rate: int) -> int:
    """`rate` percent of a price, rounded half up."""
    return (cents * rate + 50) // 100
