"""Processor time and memory of turning a large page into Markdown, against bs4 + markdownify alone.

python examples/bench/web.py [megabytes]
"""

import resource
import subprocess
import sys
import time

SHAPES = ("docs", "flat", "table")
WAYS = ("nothing", "alone", "ours")


def page(shape: str, size: int) -> str:
    units = {
        "docs": "<section><h2>Part {n}</h2><p>Some <b>bold</b> words and a <a href='/p'>link</a>, "
        "then <code>x{n}</code> and more of the text that pages are made of.</p>"
        "<ul><li>one</li><li>two <em>three</em></li></ul><pre><code class='language-py'>"
        "def f{n}(x):\n    return x + {n}\n</code></pre></section>\n",
        "flat": "<p>Paragraph {n}: words, words and <i>more</i> words of a long old page.</p>\n",
        "table": "<tr><td>{n}</td><td>name {n}</td><td>some value, a bit longer</td></tr>\n",
    }
    unit, parts, length = units[shape], [], 0
    while length < size:
        parts.append(unit.replace("{n}", str(len(parts))))
        length += len(parts[-1])
    body = "".join(parts)
    body = (
        f"<table><tr><th>a</th><th>b</th><th>c</th></tr>{body}</table>" * (shape == "table") or body
    )
    nav = "<nav>" + "<a href='/x'>entry</a>" * 50 + "</nav>"
    return f"<html><head><title>T</title></head><body>{nav}<main>{body}</main></body></html>"


def convert(way: str, raw: bytes) -> int:
    if way == "alone":
        from bs4 import BeautifulSoup
        from markdownify import MarkdownConverter

        soup = BeautifulSoup(raw, "lxml")
        return len(MarkdownConverter(heading_style="ATX").convert_soup(soup))
    if way == "ours":
        from fsagent_tools.web.clock import Clock
        from fsagent_tools.web.fetch import Download
        from fsagent_tools.web.page import page_of
        from fsagent_tools.web.url import parse_url

        url = parse_url("https://example.com/")
        answer = Download(url, 200, {"content-type": "text/html"}, raw)
        return len(page_of(answer, "markdown", Clock(120, "")).text)
    return 0


def measure(way: str, shape: str, size: int) -> None:
    """In a process of its own: processor seconds, and the peak of memory above the start."""
    raw = page(shape, size).encode()
    convert(way, page(shape, 2000).encode())  # imports are not the page's cost
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    convert(way, raw)
    spent = time.process_time() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(spent, grown / len(raw))


def main() -> None:
    size = int(float(sys.argv[1]) * 2**20) if len(sys.argv) == 2 else 2 * 2**20
    print(f"{'page':8}{'way':10}{'seconds':>10}{'memory, x page':>16}")
    for shape in SHAPES:
        for way in WAYS[1:]:
            command = [sys.executable, __file__, way, shape, str(size)]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            seconds, times = map(float, out.split())
            print(f"{shape:8}{way:10}{seconds:10.2f}{times:16.1f}")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        main()
