"""The proxy that a policy names: what goes through it, what never does."""

import pytest

from fsagent_tools import Policy
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy.hosts import Proxy
from tests.web.conftest import bind
from tests.web.proxying import ConnectProxy
from tests.web.site import page, redirect


@pytest.fixture
def proxy(site):
    with ConnectProxy({"far.test": site.port, "public.test": site.port}) as running:
        yield running


@pytest.fixture
def call(tmp_path, proxy, resolver):
    def call(url, login="", **policy):
        given = f"http://{login}127.0.0.1:{proxy.port}"
        return bind(tmp_path, proxy=given, **policy)["webfetch"].call({"url": url})

    return call


def test_a_host_that_only_the_proxy_knows_is_fetched_through_it(call, site, proxy):
    site.routes["/p"] = page("through the tunnel", "text/plain")
    out = call("http://far.test/p")
    assert "through the tunnel" in out.text, out.text
    assert [name.partition(":")[0] for name in proxy.asked] == ["far.test"]
    assert site.requests[0].headers["host"] == "far.test"


def test_what_the_policy_opens_is_reached_without_the_proxy(call, site, proxy):
    site.routes["/p"] = page("direct", "text/plain")
    out = call(site.at("/p"), allow_hosts=(f"public.test:{site.port}",))
    assert "direct" in out.text, out.text
    assert proxy.asked == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "public.test", "intranet", "db.internal"]
)
def test_what_is_not_public_is_not_asked_of_the_proxy_either(call, proxy, host):
    out = call(f"http://{host}/")
    assert out.code == "UNSAFE_URL", out.text
    assert proxy.asked == []


def test_a_closed_host_is_not_asked_of_the_proxy(call, proxy):
    assert call("http://a.far.test/", deny_hosts=("far.test",)).code == "UNSAFE_URL"
    assert proxy.asked == []


def test_a_redirect_to_what_is_not_public_is_refused(call, site, proxy):
    site.routes["/p"] = redirect("http://intranet/secret")
    assert call("http://far.test/p").code == "UNSAFE_URL"


def test_the_password_goes_to_the_proxy_only(call, site, proxy):
    proxy.login = "me:p@ss word"
    site.routes["/p"] = page("paid", "text/plain")
    assert "paid" in call("http://far.test/p", login="me:p%40ss%20word@").text
    assert "proxy-authorization" not in site.requests[0].headers
    out = call("http://far.test/p")
    assert out.code == "NETWORK_ERROR"
    assert "HTTP status 407" in out.text
    assert "word" not in repr(Policy(proxy="http://me:word@127.0.0.1:1"))
    assert "bWU6" not in repr(Proxy.parse("http://me:word@127.0.0.1:1"))


def test_what_the_proxy_refuses_is_told(call):
    out = call("https://unknown.test/")
    assert out.code == "NETWORK_ERROR"
    assert "403" in out.text


@pytest.mark.parametrize("text", ["", "proxy.test", "https://proxy.test:1", "a b:1", "h:1/path", 7])
def test_a_proxy_that_cannot_be_used_is_refused_at_once(text):
    with pytest.raises(ConfigInvalid, match="proxy is written"):
        Policy(proxy=text)
