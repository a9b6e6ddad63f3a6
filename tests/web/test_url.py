"""Hosts that end in a number are IPv4 addresses as the URL standard reads them, or refused."""

from ipaddress import ip_address

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.errors import InvalidArguments, UnsafeUrl
from fsagent_tools.policy.addresses import Guard
from fsagent_tools.policy.hosts import HostRule
from fsagent_tools.web.urls import parse_url


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"),
        ("127.0.0.01", "127.0.0.1"), ("00000127.0.0.1", "87.0.0.1"), ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"), ("2130706433", "127.0.0.1"), ("0x7f000001", "127.0.0.1"),
        ("0x7F.1", "127.0.0.1"), ("0x.0x.0x.0x", "0.0.0.0"), ("0", "0.0.0.0"),
        ("4294967295", "255.255.255.255"), ("1.16777215", "1.255.255.255"),
        ("\uff11\uff12\uff17.1", "127.0.0.1"),
    ],
)  # fmt: skip
def test_a_host_that_ends_in_a_number_is_an_address(host, address):
    assert parse_url(f"http://{host}/").host == address


@pytest.mark.parametrize(
    "host",
    ["1.2.3.4.5", "256.1.1.1", "1.2.3.256", "1.16777216", "4294967296", "09.1.1.1", "a.1", "1..2",
     "a.0x1", "1.2.3.0xg.09", "foo.09", "0x100000000", "9" * 60],
)  # fmt: skip
def test_what_ends_in_a_number_and_is_no_address_is_refused(host):
    with pytest.raises(InvalidArguments, match="malformed"):
        parse_url(f"http://{host}/")


@pytest.mark.parametrize("host", ["a.b1", "1.2.3.com", "0x1g", "1a", "127.0.0.1.com", "a.0b1"])
def test_other_hosts_are_names(host):
    assert parse_url(f"http://{host}/").host == host


@pytest.mark.parametrize("host", ["0177.0.0.1", "127.0.0.01", "000.0.0.01", "999.1", "0x7f.1"])
def test_a_fetch_of_digits_and_dots_is_an_outcome(host, root):
    fetch = toolset("workspace").bind(Workspace(root))["webfetch"]
    refused = fetch.call({"url": f"http://{host}:1/", "timeout": 5})
    assert refused.code in ("UNSAFE_URL", "VALIDATION_ERROR", "NETWORK_ERROR", "TIMEOUT")


@pytest.mark.parametrize(
    ("rule", "url"),
    [
        ("9.9.9.9", "http://[::ffff:9.9.9.9]/"),
        ("9.9.9.9", "http://[64:ff9b::909:909]/"),
        ("9.9.9.9:80", "http://[::ffff:909:909]/"),
        ("[2620:FE:0:0::FE]", "http://[2620:fe::fe]/"),
        ("2620:00fe::fe", "http://[2620:fe::fe]/"),
        ("::ffff:9.9.9.9", "http://[::ffff:909:909]/"),
    ],
)
def test_an_address_is_denied_in_all_its_spellings(rule, url):
    guard, asked = Guard(deny=(HostRule.parse(rule),)), parse_url(url)
    with pytest.raises(UnsafeUrl, match="deny_hosts"):
        guard.check_addresses(asked.host, asked.port, [ip_address(asked.host)])


def test_an_address_of_a_rule_that_is_none_is_refused():
    with pytest.raises(ValueError, match="1:2:3"):
        HostRule.parse("[1:2:3]")
