"""Which addresses may be reached: public ones."""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# The IANA special-purpose registries, written out: what `ipaddress` calls global has changed
# between Python releases, and it does not know the addresses that clouds keep for themselves.
CLOSED = [
    (ipaddress.ip_network(network), kind)
    for kind, networks in {
        "a private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10",
        "a loopback": "127.0.0.0/8",
        "a link-local or metadata": "169.254.0.0/16 168.63.129.16/32",
        "a reserved": "0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 "
        "198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 3fff::/20",
        "a multicast": "224.0.0.0/4",
    }.items()
    for network in networks.split()
]
GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
EMBEDS_IPV4 = [ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96")]
METADATA = "a link-local or metadata"  # not opened by a name, only by the address itself


def embedded_ipv4(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one that only stands for it; any other as it is."""
    if any(address in network for network in EMBEDS_IPV4):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def closed_kind(address: Address) -> str:
    """What kind of address this is, such as "a private", or "" for a public one.

    IPv4-mapped and NAT64 addresses are judged by the IPv4 address inside them.
    """
    address = embedded_ipv4(address)
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_loopback:
            return "a loopback"
        if address not in GLOBAL_IPV6:
            return METADATA if address.is_link_local else "a private or reserved"
    return next((kind for network, kind in CLOSED if address in network), "")
