"""Pages as Markdown, by us and by others: what is found, what is beside it, tokens, time, memory.

pip install trafilatura html-to-markdown markdownify lxml_html_clean cssselect chardet
pip install --no-deps readability-lxml
python examples/bench/web.py PLACE [pages of each manual]

PLACE keeps the packages with real pages (see pages.py), downloaded once. Precision on news
is measured against the collectors' text and what the other two extractors take, each tool without
itself; on manuals against the element in which the generator puts the content.
"""

import re
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from pages import Sample, fetch, samples

SHAPES = ("docs", "flat", "table")
MEGABYTE = 2**20
LONGEST = 60  # seconds for one page
Grams = set[tuple[str, ...]]


def ours(raw: bytes) -> str:
    """In this process, whose time and memory are measured; a fetch converts in one of its own."""
    from fsagent_tools.web.convert import html_page
    from fsagent_tools.web.pages import decode_page

    data = decode_page(raw, "text/html").encode()
    return str(html_page(data, "https://example.com/a/b.html", "markdown")["text"])


def trafilatura(raw: bytes) -> str:
    from trafilatura import extract

    return extract(raw, output_format="markdown", include_links=True, include_tables=True) or ""


def readability(raw: bytes) -> str:
    from markdownify import markdownify
    from readability import Document
    from readability.readability import Unparseable

    try:
        return markdownify(Document(raw.decode("utf-8", "replace")).summary())
    except Unparseable:
        return ""


def compiled(raw: bytes) -> str:
    from html_to_markdown import convert

    said = convert(raw.decode("utf-8", "replace"))
    return getattr(said, "content", said) or ""


WAYS: dict[str, Callable[[bytes], str]] = {
    "ours": ours,
    "trafilatura": trafilatura,
    "readability": readability,
    "compiled": compiled,
}
EXTRACTORS = ("trafilatura", "readability")


def grams(text: str) -> Grams:
    """Runs of four words, without the addresses of links and the languages of code."""
    text = re.sub(
        r"\]\(<?[^()\s]*(?:\([^()\s]*\)[^()\s]*)*>?\)|https?://\S+|^```.*$", " ", text, flags=re.M
    )
    words = re.findall(r"\w+", text.lower().replace("\\", "").replace("_", " "))
    return set(zip(*(words[start:] for start in range(4)), strict=False))


def score(sample: Sample, said: dict[str, str]) -> dict[str, tuple[float, float, int]]:
    """Of each tool: recall, precision, tokens (words and signs)."""
    wanted = grams(sample.content)
    told = {name: grams(text) for name, text in said.items()}
    scores = {}
    for name, got in told.items():
        right = wanted
        if not sample.whole:
            right = wanted.union(*(told[other] for other in EXTRACTORS if other != name))
        tokens = len(re.findall(r"\w{1,6}|[^\w\s]", said[name]))
        scores[name] = len(got & wanted) / len(wanted), len(got & right) / max(1, len(got)), tokens
    return scores


def compare(found: list[Sample]) -> None:
    rows: dict[tuple[str, str], list[tuple[float, float, int]]] = defaultdict(list)
    spent: dict[str, float] = defaultdict(float)
    for sample in found:
        said = {}
        for name, convert in WAYS.items():
            started = time.process_time()
            said[name] = convert(sample.raw)
            spent[name] += time.process_time() - started
        if grams(sample.content):
            for name, row in score(sample, said).items():
                rows[sample.kind, name].append(row)
    print(f"{'pages':26}{'way':14}{'n':>4}{'recall':>8}{'precision':>10}{'F1':>7}{'tokens':>8}")
    for (kind, name), scores in sorted(rows.items()):
        recall, precision, tokens = (
            sum(column) / len(scores) for column in zip(*scores, strict=True)
        )
        f1 = 2 * recall * precision / (recall + precision or 1)
        print(
            f"{kind:26}{name:14}{len(scores):4}{recall:8.3f}{precision:10.3f}{f1:7.3f}{tokens:8.0f}"
        )
    print("processor seconds:", ", ".join(f"{name} {spent[name]:.2f}" for name in WAYS))


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


def measure(way: str, shape: str, size: int) -> None:
    """In a process of its own: processor seconds, and the peak of memory above the start."""
    raw = page(shape, size).encode()
    WAYS[way](page(shape, 2000).encode())  # imports are not the page's cost
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    WAYS[way](raw)
    spent = time.process_time() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(spent, grown / len(raw))


def costs() -> None:
    print(f"{'1 MB page':12}{'way':14}{'seconds':>9}{'memory, MB':>12}")
    for shape in SHAPES:
        for way in WAYS:
            command = [sys.executable, __file__, way, shape, str(MEGABYTE)]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, check=True, timeout=LONGEST
                )
            except subprocess.TimeoutExpired:
                print(f"{shape:12}{way:14}{f'> {LONGEST}':>9}{'':>12}")
                continue
            seconds, times = map(float, done.stdout.split())
            print(f"{shape:12}{way:14}{seconds:9.2f}{times:12.1f}", flush=True)


def main() -> None:
    place = Path(sys.argv[1])
    fetch(place)
    costs()  # first: a child's peak of memory begins with that of who started it
    compare(samples(place, int(sys.argv[2]) if len(sys.argv) == 3 else 12))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        main()
