"""Pictures as SVG, drawn by hand: no plotting library, the same bytes each time."""

from collections.abc import Sequence
from html import escape

WIDTH, LEFT, ROW = 760, 250, 24
FONT = 'font-family="system-ui, sans-serif" font-size="13"'
OWN, OTHER = "#2a7de1", "#8a8f98"
STYLE = (  # of a page in the light, and in the dark
    "<style>.page{fill:#fff}text{fill:#1c1f23}path{stroke:#d4d7db}"
    "@media(prefers-color-scheme:dark){.page{fill:#15171a}text{fill:#e6e6e6}path{stroke:#3a3f45}}"
    "</style>"
)


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
