"""Pictures as SVG, drawn by hand: no plotting library, the same bytes each time."""

from collections.abc import Sequence
from html import escape
from math import log10
from typing import NamedTuple

WIDTH, LEFT, ROW = 760, 250, 24
FONT = 'font-family="system-ui, sans-serif" font-size="13"'
OWN, OTHER = "#2a7de1", "#8a8f98"
STYLE = (  # of a page in the light, and in the dark
    "<style>.page{fill:#fff}text{fill:#1c1f23}path{stroke:#d4d7db}"
    "@media(prefers-color-scheme:dark){.page{fill:#15171a}text{fill:#e6e6e6}path{stroke:#3a3f45}}"
    "</style>"
)
COLOURS = ("#2a7de1", "#d2691e", "#2e8b57", "#8a2be2")


def bars(title: str, values: Sequence[tuple[str, float]], own: Sequence[str] = ("edit",)) -> str:
    """Horizontal bars; those whose name begins with a word of `own` are in the colour of ours."""
    most = max([value for _, value in values], default=0) or 1
    rows = []
    for number, (name, value) in enumerate(values):
        y = 40 + number * ROW
        width = (WIDTH - LEFT - 70) * value / most
        colour = OWN if name.startswith(tuple(own)) else OTHER
        rows.append(
            f'<text x="{LEFT - 10}" y="{y + 14}" text-anchor="end" {FONT}>{escape(name)}</text>'
            f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{ROW - 6}" fill="{colour}"/>'
            f'<text x="{LEFT + width + 6:.1f}" y="{y + 14}" {FONT}>{value:.2f}</text>'
        )
    height = 50 + len(values) * ROW
    return svg(height, title, rows)


def svg(height: int, title: str, parts: Sequence[str]) -> str:
    head = f'<text x="10" y="22" {FONT} font-weight="bold">{escape(title)}</text>'
    box = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    back = f'<rect width="{WIDTH}" height="{height}" class="page"/>'
    body = "\n".join([STYLE, back, head, *parts])
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>\n{body}\n</svg>\n'


class Curve(NamedTuple):
    """Points of one line, both coordinates at least 1."""

    name: str
    points: Sequence[tuple[float, float]]


def curves(title: str, below: str, lines: Sequence[Curve]) -> str:
    """Lines over logarithmic axes, each named at its end."""
    every = [point for line in lines for point in line.points]
    wide = max([log10(x) for x, _ in every], default=1) or 1
    high = max([log10(y) for _, y in every], default=1) or 1
    width, height, left, top = WIDTH - 300, 300, 60, 40

    def at(point: tuple[float, float]) -> str:
        x, y = (log10(each) for each in point)
        return f"{left + width * x / wide:.1f},{top + height * (1 - y / high):.1f}"

    parts = []
    for power in range(int(high) + 1):
        y = top + height * (1 - power / high)
        parts.append(f'<path d="M{left} {y:.1f}H{left + width}"/>')
        parts.append(words(left - 8, y + 4, f"{10**power:,}", "end"))
    for number, line in enumerate(line for line in lines if line.points):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(map(at, line.points))
        x, y = map(float, at(line.points[-1]).split(","))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}"/>')
        parts.append(words(x + 8, y + 4, line.name, "start", colour))
    for along, _ in lines[0].points if lines else []:
        parts.append(words(float(at((along, 1)).split(",")[0]), top + height + 18, f"{along:g}"))
    parts.append(words(left + width / 2, top + height + 38, below))
    return svg(top + height + 50, title, parts)


def words(x: float, y: float, text: str, anchor: str = "middle", colour: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"' + f' style="fill:{colour}"' * bool(
        colour
    )
    return f"<text {place} {FONT}>{escape(text)}</text>"
