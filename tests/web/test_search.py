"""Every search provider against a local server that speaks its documented shape."""

import json
import sqlite3
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

from fsagent_tools.actions.websearch import websearch
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.tools import Entry, Toolset
from fsagent_tools.web.search import ask
from fsagent_tools.web.search.provider import normal
from fsagent_tools.web.search.settings import KEY_VARIABLES, SearchSettings
from fsagent_tools.workspace import Workspace
from tests.web.site import page

HITS = [("<b>One</b> &amp; only", "https://one.example/a"), ("Two", "https://www.two.example/")]


def exa(rows):
    return {"results": [{"title": t, "url": u, "publishedDate": "2024-05-06T00:00:00.000Z",
                         "highlights": ["snip"]} for t, u in rows]}  # fmt: skip


def tavily(rows):
    return {"results": [{"title": t, "url": u, "content": "snip", "score": 1} for t, u in rows]}


def brave(rows):
    found = {"results": [{"title": t, "url": u, "description": "snip", "age": "2 days ago"}
                         for t, u in rows]}  # fmt: skip
    return {"type": "search", **({"web": found} if rows else {})}


def serper(rows):
    return {"organic": [{"title": t, "link": u, "snippet": "snip"} for t, u in rows]}


SHAPES = {  # provider: shape, path, where the key goes, what the key looks like there
    "exa": (exa, "/search", "x-api-key", "k3y"),
    "tavily": (tavily, "/search", "Authorization", "Bearer k3y"),
    "brave": (brave, "/res/v1/web/search", "X-Subscription-Token", "k3y"),
    "serper": (serper, "/search", "X-API-KEY", "k3y"),
    "searxng": (tavily, "/search", "Authorization", "Bearer k3y"),
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in (*KEY_VARIABLES.values(), "FSAGENT_SEARCH_PROVIDER", "FSAGENT_SEARCH_BASE_URL",
                 "FSAGENT_SEARCH_API_KEY"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


def tool(path, settings=None):
    workspace = Workspace(path, search=settings)
    return Toolset("web", (Entry(websearch, show=("num_results",)),)).bind(workspace)["websearch"]


@pytest.fixture(params=SHAPES)
def provider(request, site, tmp_path):
    settings = SearchSettings(request.param, f"http://127.0.0.1:{site.port}", "k3y")
    return request.param, tool(tmp_path, settings)


def test_a_provider_is_asked_and_read_as_documented(provider, site, engine):
    name, bound = provider
    shape, path, header, key = SHAPES[name]
    site.routes[path] = page(json.dumps(shape([*HITS, HITS[0]])), "application/json")
    out = bound.call({"query": "größe & rise", "num_results": 7})
    assert out.text.startswith("[web search results - untrusted content")
    assert "1. One & only" in out.text
    assert "   https://one.example/a\n   snip\n\n2. Two" in out.text
    assert [row["url"] for row in out.data["results"]] == [url for _, url in HITS]
    asked = site.requests[0]
    sent = json.loads(asked.body) if asked.body else parse_qs(urlsplit(asked.path).query)
    assert asked.headers[header] == key
    assert "größe & rise" in str(sent)
    assert name == "searxng" or "7" in str(sent)


@pytest.mark.parametrize(
    ("status", "body", "headers", "code", "says"),
    [
        (401, "no", {}, "UNAUTHORIZED", "API_KEY"),
        (429, "slow down", {"Retry_After": "17"}, "RATE_LIMITED", "17 s"),
        (500, "oops", {}, "HTTP_ERROR", "later"),
        (400, "bad query", {}, "HTTP_ERROR", "bad query"),
        (200, "{not json", {}, "NETWORK_ERROR", "unknown form"),
        (200, "[]", {}, "NETWORK_ERROR", "unknown form"),
        (200, '{"results": 3, "web": {"results": 3}, "organic": 3}', {}, "NETWORK_ERROR", "form"),
    ],
)
def test_a_provider_that_fails_is_an_error_with_the_next_step(
    provider, site, status, body, headers, code, says
):
    name, bound = provider
    site.routes[SHAPES[name][1]] = page(body, "application/json", status, **headers)
    out = bound.call({"query": "x"})
    assert (out.code, says in out.text) == (code, True), out.text
    assert "k3y" not in out.text


def test_no_result_says_so(provider, site):
    name, bound = provider
    site.routes[SHAPES[name][1]] = page(json.dumps(SHAPES[name][0]([])), "application/json")
    out = bound.call({"query": "x"})
    assert (out.ok, out.data["results"]) == (True, [])
    assert out.text.startswith("No results")


def test_domains_hold_whatever_the_provider_answers(provider, site):
    name, bound = provider
    site.routes[SHAPES[name][1]] = page(json.dumps(SHAPES[name][0](HITS)), "application/json")
    only = bound.call({"query": "x"}, include_domains=("two.example",))
    without = bound.call({"query": "x"}, exclude_domains=("two.example",))
    assert [row["url"] for row in only.data["results"]] == [HITS[1][1]]
    assert [row["url"] for row in without.data["results"]] == [HITS[0][1]]


def test_searxng_over_a_real_full_text_index(site, tmp_path):
    base = sqlite3.connect(":memory:", check_same_thread=False)
    base.execute("create virtual table pages using fts5(title, url unindexed, content)")
    base.executemany("insert into pages values (?, ?, ?)", [
        ("Rivers", "https://r.example/", "The river rises in spring."),
        ("Roads", "https://s.example/", "The road was closed."),
        ("Floods", "https://f.example/", "A river, a river, and a flood."),
    ])  # fmt: skip

    def answer(handler):
        form = parse_qs(urlsplit(handler.path).query)
        assert form["format"] == ["json"]
        rows = base.execute(
            "select title, url, content from pages where pages match ? order by rank", form["q"]
        )
        found = [dict(zip(("title", "url", "content"), row, strict=True)) for row in rows]
        page(json.dumps({"query": form["q"][0], "results": found}), "application/json")(handler)

    site.routes["/search"] = answer
    bound = tool(tmp_path, SearchSettings("searxng", f"http://127.0.0.1:{site.port}"))
    assert [r["title"] for r in bound.call({"query": "river"}).data["results"]] == [
        "Floods",
        "Rivers",
    ]
    assert bound.call({"query": "mountain"}).data["results"] == []
    site.routes["/search"] = page("Forbidden", status=403)
    assert "search.formats" in bound.call({"query": "river"}).text


def test_no_provider_says_which_settings_there_are(tmp_path, monkeypatch):
    out = tool(tmp_path).call({"query": "x"})
    assert out.code == "NOT_CONFIGURED"
    assert all(name in out.text for name in (*KEY_VARIABLES.values(), "FSAGENT_SEARCH_PROVIDER"))
    monkeypatch.setenv("FSAGENT_SEARCH_PROVIDER", "brave")
    assert "BRAVE_API_KEY" in tool(tmp_path).call({"query": "x"}).text
    monkeypatch.setenv("FSAGENT_SEARCH_PROVIDER", "searxng")
    assert "FSAGENT_SEARCH_BASE_URL" in tool(tmp_path).call({"query": "x"}).text
    monkeypatch.setenv("FSAGENT_SEARCH_PROVIDER", "gopher")
    assert tool(tmp_path).call({"query": "x"}).code == "CONFIG_INVALID"


def test_a_key_in_the_environment_chooses_its_provider_and_stays_with_it(monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", "t")
    assert SearchSettings.from_environment() == SearchSettings("tavily", "", "t")
    assert SearchSettings.of("exa").api_key == ""
    assert "t'" not in repr(SearchSettings("tavily", "", "secret"))


def test_a_base_url_that_is_none_is_refused():
    with pytest.raises(ConfigInvalid, match="base_url"):
        SearchSettings("searxng", "localhost:8080")


PLUGIN = """
from fsagent_tools.web.search.provider import Hit, ProviderRequest

class Own:
    base_url = ""
    needs_key = False

    def ask(self, query, settings):
        return ProviderRequest("/own?q=" + query.text, {})

    def hits(self, answer):
        return [Hit("Own", answer["u"])]

own = Own()
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A distribution with a provider, laid out as pip installs one."""
    installed = tmp_path / "site-packages"
    info = installed / "own_search-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-search\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{ask.GROUP}]\nown = own_search:own\n")
    (installed / "own_search.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(installed)
    ask.find_provider.cache_clear()
    yield
    ask.find_provider.cache_clear()
    sys.modules.pop("own_search", None)


def test_a_third_party_registers_a_provider_by_entry_point(site, tmp_path, plugin):
    site.routes["/own"] = page('{"u": "https://own.example/"}', "application/json")
    bound = tool(tmp_path, SearchSettings("own", f"http://127.0.0.1:{site.port}"))
    assert bound.call({"query": "x"}).data["results"][0]["url"] == "https://own.example/"
    assert site.requests[0].path == "/own?q=x"
    wrong = tool(tmp_path, SearchSettings("gopher", "http://127.0.0.1:1")).call({"query": "x"})
    assert "searxng, own" in wrong.text


def test_two_spellings_of_one_url_are_one():
    assert normal("https://www.a.example/x/?utm_source=b&q=1#top") == normal(
        "http://a.example/x?q=1"
    )
