"""Every search provider against a local server that speaks its documented shape."""

import json
import os
import sqlite3
from urllib.parse import parse_qs, urlsplit

import pytest

from fsagent_tools import Toolset, Workspace
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.types import Entry
from fsagent_tools.web.search import KEY_VARIABLES, SearchSettings, normal_url
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
    return Toolset("web", (Entry("websearch", show=("num_results",)),)).bind(workspace)["websearch"]


@pytest.fixture(params=SHAPES)
def provider(request, site, tmp_path):
    settings = SearchSettings(request.param, f"http://127.0.0.1:{site.port}", "k3y")
    return request.param, tool(tmp_path, settings)


def test_a_provider_is_asked_and_read_as_documented(provider, site):
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
        (401, "no", {}, "UNAUTHORIZED", "_KEY"),
        (429, "slow down", {"Retry_After": "17"}, "RATE_LIMITED", "17 s"),
        (500, "oops", {}, "HTTP_ERROR", "later"),
        (400, "bad query", {}, "HTTP_ERROR", "bad query"),
        (200, "{not json", {}, "NETWORK_ERROR", "unknown form"),
        (200, "[]", {}, "NETWORK_ERROR", "unknown form"),
        (
            200,
            '{"results": 3, "web": {"results": 3}, "organic": 3, "items": 3, "data": 3}',
            {},
            "NETWORK_ERROR",
            "form",
        ),
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


def test_a_provider_that_is_not_set_up_says_which_variable_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("FSAGENT_SEARCH_PROVIDER", "brave")
    assert "BRAVE_API_KEY" in tool(tmp_path).call({"query": "x"}).text
    monkeypatch.setenv("FSAGENT_SEARCH_PROVIDER", "searxng")
    assert "FSAGENT_SEARCH_BASE_URL" in tool(tmp_path).call({"query": "x"}).text
    monkeypatch.setenv("FSAGENT_SEARCH_PROVIDER", "gopher")
    assert tool(tmp_path).call({"query": "x"}).code == "CONFIG_INVALID"


def test_a_key_in_the_environment_chooses_its_provider_and_stays_with_it(monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", "t")
    assert SearchSettings.from_environment() == SearchSettings("tavily", "", "t")
    monkeypatch.delenv("TAVILY_API_KEY")
    assert SearchSettings.from_environment() == SearchSettings("")
    assert SearchSettings.of("exa").api_key == ""
    assert "t'" not in repr(SearchSettings("tavily", "", "secret"))


def test_a_base_url_that_is_none_is_refused():
    with pytest.raises(ConfigInvalid, match="base_url"):
        SearchSettings("searxng", "localhost:8080")


RESULT = """<div class="result results_links web-result "><h2 class="result__title">
<a rel="nofollow" class="result__a" href="{}">{}</a></h2>
<a class="result__snippet" href="{}">A <b>snip</b> of it</a></div>"""
COUNTED = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2Fa%3Fb%3D1&rut=abc"
PAID = RESULT.format("https://ad.example/", "Buy", "x").replace("web-result", "result--ad")
FOUND = RESULT.format(COUNTED, "One", COUNTED) + RESULT.format("https://two.example/", "Two", "x")
NOTHING = '<div id="links"><div class="no-results">No results.</div></div>'
BLOCKED = """<form id="challenge-form" action="//duckduckgo.com/anomaly.js">
<div class="anomaly-modal__title">
Unfortunately, bots use DuckDuckGo too.</div></form>"""


@pytest.fixture
def keyless(site, tmp_path, monkeypatch):
    """DuckDuckGo, which the host chose by name, with its address on loopback."""
    pytest.importorskip("lxml")
    monkeypatch.setenv("FSAGENT_SEARCH_PROVIDER", "duckduckgo")
    monkeypatch.setenv("FSAGENT_SEARCH_BASE_URL", f"http://127.0.0.1:{site.port}")
    return tool(tmp_path)


def test_without_a_service_the_variables_are_named_and_an_address_alone_is_of_searxng(
    tmp_path, monkeypatch
):
    out = tool(tmp_path).call({"query": "x"})
    assert out.code == "NOT_CONFIGURED"
    assert all(name in out.text for name in KEY_VARIABLES.values())
    monkeypatch.setenv("FSAGENT_SEARCH_BASE_URL", "http://127.0.0.1:1")
    assert SearchSettings.from_environment() == SearchSettings("searxng", "http://127.0.0.1:1")


def test_duckduckgo_is_asked_and_read_where_it_is_named(keyless, site):
    site.routes["/html/"] = page(f'<div id="links">{PAID}{FOUND}</div>')
    out = keyless.call({"query": "größe"})
    assert [row["url"] for row in out.data["results"]] == [
        "https://one.example/a?b=1",
        "https://two.example/",
    ]
    assert "1. One\n   https://one.example/a?b=1\n   A snip of it" in out.text
    first = site.requests[0]
    assert parse_qs(first.body.decode())["q"] == ["größe"]
    assert first.headers["User-Agent"].startswith("fsagent-tools/")


@pytest.mark.parametrize("status", [200, 202])
def test_duckduckgo_that_wants_a_person_says_so(keyless, site, status):
    site.routes["/html/"] = page(BLOCKED, status=status)
    out = keyless.call({"query": "x"})
    assert out.code == "RATE_LIMITED"
    assert "another search service" in out.text


def test_duckduckgo_without_results_and_in_another_form(keyless, site):
    site.routes["/html/"] = page(NOTHING)
    assert keyless.call({"query": "x"}).text.startswith("No results")
    site.routes["/html/"] = page("<p>Welcome to the hotel</p>")
    assert keyless.call({"query": "x"}).code == "NETWORK_ERROR"
    site.routes["/html/"] = page("")
    assert keyless.call({"query": "x"}).code == "NETWORK_ERROR"


def test_more_pages_are_asked_for_until_there_is_enough(site, tmp_path):
    def answer(handler):
        number = int(parse_qs(urlsplit(handler.path).query)["pageno"][0])
        rows = [(f"T{number}", f"https://p{number}.example/{n}") for n in range(10)]
        page(json.dumps(tavily(rows if number < 4 else [])), "application/json")(handler)

    site.routes["/search"] = answer
    bound = tool(tmp_path, SearchSettings("searxng", f"http://127.0.0.1:{site.port}"))
    assert len(bound.call({"query": "x", "num_results": 25}).data["results"]) == 25
    assert len(site.requests) == 3
    assert len(bound.call({"query": "x", "num_results": 50}).data["results"]) == 30
    assert len(site.requests) == 7


def test_engines_that_failed_are_named_and_answers_shown(site, tmp_path):
    blocked = [["google", "Suspended: CAPTCHA"], ["brave", "timeout"]]
    said = {"results": [], "answers": [], "infoboxes": [], "unresponsive_engines": blocked}
    site.routes["/search"] = page(json.dumps(said), "application/json")
    bound = tool(tmp_path, SearchSettings("searxng", f"http://127.0.0.1:{site.port}"))
    out = bound.call({"query": "x"})
    assert "google: Suspended: CAPTCHA; brave: timeout" in out.text
    assert "other or fewer words" not in out.text
    said["answers"] = ["1 km", {"answer": "0.62 miles", "url": "https://u.example/"}]
    said["infoboxes"] = [{"infobox": "Kilometre", "content": "A unit.", "urls": []}]
    site.routes["/search"] = page(json.dumps(said), "application/json")
    out = bound.call({"query": "x"})
    for line in ("Answer: 1 km", "Answer: 0.62 miles - https://u.example/", "Kilometre - A unit."):
        assert line in out.text


def test_the_answer_box_alone_is_an_answer(site, tmp_path):
    said = {"answerBox": {"title": "Tallest", "answer": "828 m"}, "searchParameters": {"q": "x"}}
    site.routes["/search"] = page(json.dumps(said), "application/json")
    bound = tool(tmp_path, SearchSettings("serper", f"http://127.0.0.1:{site.port}", "k"))
    assert "Answer: Tallest - 828 m" in bound.call({"query": "x"}).text


BOXES = {
    "serper": (
        "/search",
        {"knowledgeGraph": {"title": "Ox", "type": "Animal", "description": "It pulls."}},
        "Answer: Ox - Animal - It pulls.",
    ),
    "brave": (
        "/res/v1/web/search",
        {"infobox": {"results": [{"title": "Ox", "long_desc": "It pulls."}]}},
        "Answer: Ox - It pulls.",
    ),
}


@pytest.mark.parametrize("name", BOXES)
def test_a_box_of_facts_is_shown_above_the_hits(name, site, tmp_path):
    path, box, line = BOXES[name]
    said = {**SHAPES[name][0](HITS), **box}
    site.routes[path] = page(json.dumps(said), "application/json")
    bound = tool(tmp_path, SearchSettings(name, f"http://127.0.0.1:{site.port}", "k"))
    text = bound.call({"query": "x"}).text
    assert line in text
    assert text.index(line) < text.index("1. One & only")


def test_a_service_that_is_not_reached_says_whom_to_ask(tmp_path, resolver):
    out = tool(tmp_path, SearchSettings("brave", "", "k")).call({"query": "x"})
    assert out.code == "NETWORK_ERROR"
    assert "brave was not reached: The host api.search.brave.com was not found." in out.text
    assert "ask the user whether this machine reaches api.search.brave.com" in out.text
    assert "spelling" not in out.text


def test_an_address_of_ours_is_no_way_into_the_local_network(tmp_path, resolver, site):
    resolver.names["api.search.brave.com"] = ["127.0.0.1"]
    out = tool(tmp_path, SearchSettings("brave", "", "k")).call({"query": "x"})
    assert (out.code, site.requests) == ("UNSAFE_URL", [])


@pytest.mark.slow
def test_a_real_searxng_answers(tmp_path):
    """Where the environment names one; it may be without any engine of the public network."""
    base = os.environ.get("SEARXNG_URL")
    if not base:
        pytest.skip("SEARXNG_URL names no SearXNG")
    out = tool(tmp_path, SearchSettings("searxng", base)).call({"query": "python"})
    assert out.ok, out.text
    assert out.data["results"] or out.text.startswith(("No results", "[web"))


def test_a_service_that_is_not_known_is_refused_with_those_that_are(tmp_path):
    wrong = tool(tmp_path, SearchSettings("gopher", "http://127.0.0.1:1")).call({"query": "x"})
    assert "Use one of exa, tavily" in wrong.text


def test_two_spellings_of_one_url_are_one():
    assert normal_url("https://www.a.example/x/?utm_source=b&q=1#top") == normal_url(
        "http://a.example/x?q=1"
    )
